//! `ssdlab trace`: reads, analyses and writes traces.

mod comparison;
mod info;
mod input;
mod record;
mod show;

use std::path::{Path, PathBuf};

use base::{Bytes, Ratio};
use clap::{Args as ClapArgs, Subcommand};
use info::TraceInfoArgs;
use input::{ExcerptArgs, TraceInput, judge, open, open_apart, parse, write_trace};
use load::trace::export::{ExportFormat, export};
use load::trace::store::TraceReader;
use load::trace::synth::model::Learner;
use load::trace::synth::{Scenario, Synth};
use load::trace::{Addresses, Source, TraceError, TraceInfo};
use record::TraceRecordArgs;
use run::Test;

use crate::args::heading;
use crate::args::repeat::RepeatArgs;
use crate::args::{
    CommonArgs, ExecutionArgs, Format, JobsArg, ParallelArg, RunArgs, TestArgs, parse_setting,
    whole,
};
use crate::failure::EXIT_DONE;
use crate::inputs::Inputs;
use crate::output_file::OutputFile;
use crate::ui::out::{data, talk};
use crate::ui::table::bytes;

const EXAMPLES: &str = "\
Examples:
  ssdlab trace record /dev/nvme0n1 -o work.trace --duration 10m
  ssdlab trace info work.trace
  ssdlab trace replay work.trace sim:samsung-840-pro-256gb";

const OF_INFO: &str = "\
Examples:
  ssdlab trace info msr-cambridge.csv.gz
  ssdlab trace info 'synth:light-2011?scale=1/10'
  ssdlab trace info disks.csv --from csv:time=us,op,offset=bytes,length=bytes --format json";

const OF_IMPORT: &str = "\
Examples:
  ssdlab trace import blk.blktrace.0 -o work.trace
  ssdlab trace import msr.csv --stream 1,2 --streams overlay -o two.trace
  ssdlab trace import log.iolog --wait-unit doc -o work.trace";

const OF_CONVERT: &str = "\
Examples:
  ssdlab trace convert work.trace --to iolog -o work.iolog
  ssdlab trace convert msr.csv --stream 3 --to msr -o disk-3.csv
  ssdlab trace convert synth:light-2011 --to blkparse -o light.txt";

const OF_SYNTH: &str = "\
Examples:
  ssdlab trace synth destroyer-2013 -o destroyer.trace
  ssdlab trace synth heavy-2011 --scale 1/10 --seed 7 -o heavy.trace
  ssdlab trace synth ./my-scenario.toml -o my.trace";

const OF_MODEL: &str = "\
Examples:
  ssdlab trace model work.trace -o like-work.toml
  ssdlab trace model msr.csv --stream 3 -o disk-3.toml
  ssdlab trace model work.trace -o like-work.toml --format json";

const OF_RECORD: &str = "\
Examples:
  ssdlab trace record /dev/nvme0n1 --duration 10m -o work.trace
  ssdlab trace record /dev/nvme0n1 -o work.trace  # until Ctrl-C
  ssdlab trace record /dev/sda --event issue -o work.trace";

const OF_REPLAY: &str = "\
Examples:
  ssdlab trace replay work.trace sim:samsung-840-pro-256gb
  ssdlab trace replay synth:light-2011 /dev/nvme1n1 --erase SERIAL --idle cap:25ms
  ssdlab trace replay work.trace sim:samsung-840-pro-256gb --from-time 2h --until 150m --repeat 3
  ssdlab trace replay work.trace 'file:disk?size=8GiB' --form open --mapping wrap";

/// The verbs for traces.
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub enum TraceCommand {
    /// Print statistics of a trace: counts, sizes, queue depths, sequential share, footprint, idle
    /// times
    #[command(after_help = OF_INFO)]
    Info(TraceInfoArgs),
    /// Read a trace of another tool into an ssdlab trace
    #[command(after_help = OF_IMPORT)]
    Import(TraceImportArgs),
    /// Write a trace in a format of another tool
    #[command(after_help = OF_CONVERT)]
    Convert(TraceConvertArgs),
    /// Make a trace whose statistics equal published ones: heavy-2011, light-2011, destroyer-2013
    #[command(after_help = OF_SYNTH)]
    Synth(TraceSynthArgs),
    /// Learn a scenario from a trace, for similar work: `synth` with the file, longer or scaled
    #[command(after_help = OF_MODEL)]
    Model(TraceImportArgs),
    /// Record the commands of a running system to a device, with the kernel's block tracer (needs
    /// root)
    #[command(after_help = OF_RECORD)]
    Record(TraceRecordArgs),
    /// Replay a trace on targets; the same as `ssdlab run replay TARGET --set trace=TRACE`
    #[command(after_help = OF_REPLAY)]
    Replay(Box<TraceReplayArgs>),
}

/// Arguments of `trace import` and `trace model`.
#[derive(Debug, ClapArgs)]
pub struct TraceImportArgs {
    #[command(flatten)]
    pub input: TraceInput,
    /// File to write
    #[arg(long, short, value_name = "FILE", help_heading = heading::OUTPUT)]
    pub output: PathBuf,
}

/// Arguments of `trace convert`.
#[derive(Debug, ClapArgs)]
pub struct TraceConvertArgs {
    #[command(flatten)]
    pub input: TraceInput,
    /// Format to write: iolog (version 3), msr, blkparse
    #[arg(long, value_name = "FORMAT", value_parser = parse::<ExportFormat>, help_heading = heading::OUTPUT)]
    pub to: ExportFormat,
    /// File to write
    #[arg(long, short, value_name = "FILE", help_heading = heading::OUTPUT)]
    pub output: PathBuf,
}

/// Arguments of `trace synth`.
#[derive(Debug, ClapArgs)]
pub struct TraceSynthArgs {
    /// heavy-2011, light-2011, destroyer-2013, or the path of a scenario file (TOML)
    #[arg(value_name = "SCENARIO")]
    pub scenario: String,
    /// Trace file to write
    #[arg(long, short, value_name = "FILE", help_heading = heading::OUTPUT)]
    pub output: PathBuf,
    /// Scale of all totals, e.g. `1/10`
    #[arg(long, value_name = "SHARE", default_value = "1", help_heading = heading::TEST)]
    pub scale: Ratio,
    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = whole::<u64, 0, { u64::MAX }>, help_heading = heading::TEST)]
    pub seed: u64,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    pub format: Format,
}

/// Arguments of `trace replay`.
#[derive(Debug, ClapArgs)]
pub struct TraceReplayArgs {
    /// Trace file of any known format, or `synth:SCENARIO[?scale=1/10&seed=1]`
    #[arg(value_name = "TRACE")]
    pub trace: String,
    /// Targets: `sim:NAME[?key=value&...]`, `file:PATH?size=8GiB`, `/dev/...`, `null:`
    #[arg(required = true, value_name = "TARGET")]
    pub targets: Vec<String>,
    /// Pauses: `real`, `none`, or a limit such as `cap:25ms`
    #[arg(long, value_name = "POLICY", help_heading = heading::TEST)]
    pub idle: Option<String>,
    /// `closed`: keep recorded queue depths; `open`: keep recorded times
    #[arg(long, value_name = "FORM", help_heading = heading::TEST)]
    pub form: Option<String>,
    /// Addresses beyond the span: `wrap`, `scale`, or `offset:BYTES`
    #[arg(long, value_name = "MAPPING", help_heading = heading::TEST)]
    pub mapping: Option<String>,
    #[command(flatten, next_help_heading = heading::TEST)]
    pub excerpt: ExcerptArgs,
    /// Set another parameter of the test, e.g. `flush=false`
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_setting, help_heading = heading::TEST)]
    pub settings: Vec<(String, String)>,
    /// Bytes to use from LBA 0, e.g. `64GiB`
    #[arg(long, value_name = "BYTES", help_heading = heading::TEST)]
    pub span: Option<Bytes>,
    #[command(flatten)]
    pub common: CommonArgs,
    #[command(flatten)]
    pub execution: ExecutionArgs,
}

impl TraceReplayArgs {
    /// The same as arguments of `run`.
    pub fn into_run(self) -> RunArgs {
        let named = [
            ("trace", Some(self.trace)),
            ("idle", self.idle),
            ("form", self.form),
            ("mapping", self.mapping),
        ];
        let named = named
            .into_iter()
            .chain(self.excerpt.settings())
            .filter_map(|(key, value)| Some((key.to_owned(), value?)));
        let settings = named.chain(self.settings).collect();
        let Self { targets, span, common, execution, .. } = self;
        let (test, spare, quick, workload) = (Test::REPLAY, Vec::new(), false, None);
        RunArgs {
            test: TestArgs { test, targets, spare, span, settings, quick, workload, common },
            execution,
            read_only: false,
            jobs: JobsArg::default(),
            parallel: ParallelArg::default(),
            repeat: RepeatArgs::default(),
        }
    }
}

pub fn run(command: TraceCommand) -> anyhow::Result<u8> {
    match command {
        TraceCommand::Info(args) => info::run(&args),
        TraceCommand::Import(args) => import_trace(&args),
        TraceCommand::Model(args) => model(&args),
        TraceCommand::Convert(args) => convert(&args),
        TraceCommand::Synth(args) => synth(&args),
        TraceCommand::Record(args) => record::run(&args),
        TraceCommand::Replay(args) => super::run::run(&args.into_run()),
    }
}

fn import_trace(args: &TraceImportArgs) -> anyhow::Result<u8> {
    let mut file = begin(&args.output, &Inputs::default().trace(&args.input.trace))?;
    let mut source = open_apart(&args.input)?;
    let ios = write_trace(source.as_mut(), &mut file)?;
    judge(&args.input, source.as_ref(), ios)?;
    file.put_in_place()?;
    tell_volumes(&written_info(&args.output)?);
    tell_written(args.input.format, source.as_ref(), ios, 0, &args.output);
    Ok(EXIT_DONE)
}

/// The description of a trace after its write: only its end knows all volumes.
fn written_info(path: &Path) -> Result<TraceInfo, TraceError> {
    let what = path.display().to_string();
    let file = base::file::open_regular(path).map_err(TraceError::read(&what))?;
    Ok(TraceReader::new(file, &what)?.info())
}

/// Prints the places of volumes with their own addresses on stderr.
fn tell_volumes(info: &TraceInfo) {
    let (volumes, span) = (info.volumes.len(), bytes(info.span_bytes.unwrap_or(0)));
    match info.addresses {
        Addresses::OfEach if volumes > 1 => talk!(
            "{volumes} volumes with addresses of their own are kept apart; what reads the trace lays them side by side in \
             {span} (--streams overlay: on top of each other; --stream N: some of them)"
        ),
        Addresses::SideBySide if volumes > 1 => talk!(
            "{volumes} volumes with addresses of their own were laid side by side in {span} (--streams overlay: on top \
             of each other; --stream N: some of them)"
        ),
        Addresses::Overlaid => {
            talk!("volumes with addresses of their own lie on top of each other");
        }
        _ => {}
    }
}

/// Learns a scenario and writes it as TOML.
fn model(args: &TraceImportArgs) -> anyhow::Result<u8> {
    let mut file = begin(&args.output, &Inputs::default().trace(&args.input.trace))?;
    let mut source = open(&args.input)?;
    let mut learner = Learner::default();
    let mut ios = 0;
    while let Some(record) = source.next_record()? {
        learner.add(&record);
        ios += 1;
    }
    judge(&args.input, source.as_ref(), ios)?;
    let name = args.output.file_stem().unwrap_or_default().to_string_lossy();
    let text = learner.scenario(&name, &source.info())?.to_toml()?;
    file.write_all(text.as_bytes())?;
    file.put_in_place()?;
    tell_written(args.input.format, source.as_ref(), ios, 0, &args.output);
    Ok(EXIT_DONE)
}

fn synth(args: &TraceSynthArgs) -> anyhow::Result<u8> {
    let mut source = Synth::new(&Scenario::load(&args.scenario)?, args.scale, args.seed)?;
    let mut file = begin(&args.output, &Inputs::default().scenario(&args.scenario))?;
    let ios = write_trace(&mut source, &mut file)?;
    file.put_in_place()?;
    tell_written(args.format, &source, ios, 0, &args.output);
    Ok(EXIT_DONE)
}

fn convert(args: &TraceConvertArgs) -> anyhow::Result<u8> {
    let mut file = begin(&args.output, &Inputs::default().trace(&args.input.trace))?;
    let mut source =
        if args.to.has_volumes() { open_apart(&args.input)? } else { open(&args.input)? };
    let what = file.name();
    let exported = export(source.as_mut(), args.to, file.content(), &what)?;
    let (ios, left_out) = (exported.ios, exported.not_expressible);
    judge(&args.input, source.as_ref(), ios)?;
    file.put_in_place()?;
    tell_volumes(&source.info());
    if left_out > 0 {
        talk!(
            "warning: {left_out} I/Os have no words in the format {} and were left out",
            args.to.name()
        );
    }
    tell_written(args.input.format, source.as_ref(), ios, left_out, &args.output);
    Ok(EXIT_DONE)
}

fn tell_written(format: Format, source: &dyn Source, ios: u64, left_out: u64, path: &Path) {
    match format {
        Format::Text => data!("{}", path.display()),
        Format::Json => {
            let document = serde_json::json!({
                "output": path.display().to_string(), "ios": ios, "left_out_ios": left_out,
                "trace": source.info(), "problems": source.problems(),
            });
            data!("{document}");
        }
    }
}

/// Begins the output file of a long command.
fn begin(path: &Path, inputs: &Inputs) -> anyhow::Result<OutputFile> {
    let file = OutputFile::create(path, "-o", inputs)?;
    file.remove_when_stopped()?;
    Ok(file)
}
