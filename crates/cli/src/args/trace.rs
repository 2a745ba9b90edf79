//! Arguments of `ssdlab trace`.

use std::path::PathBuf;

use base::{Bytes, Nanos, Ratio};
use clap::{Args as ClapArgs, Subcommand};
use load::trace::export::ExportFormat;
use load::trace::format::{
    Event, Format as TraceFormat, FormatOptions, NamedFormat, TimeUnit, WaitUnit,
};
use load::trace::{ImportOptions, Layout, TraceError};

use run::Test;

use super::{CommonArgs, DriveArgs, Format, RunArgs};

/// The verbs for traces.
#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Print statistics of a trace: counts, sizes, queue depths, sequential share, footprint, idle
    /// times
    Info(TraceInfoArgs),
    /// Read a trace of another tool into an ssdlab trace
    Import(TraceImportArgs),
    /// Write a trace in a format of another tool
    Convert(TraceConvertArgs),
    /// Make a trace whose statistics equal published ones: heavy-2011, light-2011, destroyer-2013
    Synth(TraceSynthArgs),
    /// Learn a scenario from a trace, for similar work: `synth` with the file, longer or scaled
    Model(TraceImportArgs),
    /// Record the commands of a running system to a device, with the kernel's block tracer (needs
    /// root)
    Record(TraceRecordArgs),
    /// Replay a trace on targets; the same as `ssdlab run replay TARGET --set trace=TRACE`
    Replay(Box<TraceReplayArgs>),
}

/// The trace and the options for reading it.
#[derive(Debug, ClapArgs)]
pub struct TraceInput {
    /// Trace file of any known format; `-` is standard input; for blktrace, one of its files names
    /// all. Or `synth:SCENARIO[?scale=1/10&seed=1]`
    #[arg(value_name = "TRACE")]
    pub trace: String,
    /// Format of the trace, or `None` if it is found out
    #[arg(long, value_name = "FORMAT", value_parser = parse::<NamedFormat>, help = help_of_from())]
    pub from: Option<NamedFormat>,
    /// Only these streams: processes, disks or volumes, as the format distinguishes them; `trace
    /// info` lists them
    #[arg(long, value_name = "N,...", value_delimiter = ',', allow_negative_numbers = true, value_parser = super::whole::<u32, 0, { u32::MAX as u64 }>)]
    pub stream: Vec<u32>,
    /// Layout of disks, volumes and files with their own addresses in one address space:
    /// `side-by-side`, one behind the other (the default), or `overlay`, all from byte 0
    #[arg(long, value_name = "LAYOUT", default_value = "side-by-side", hide_default_value = true, value_parser = parse::<Layout>)]
    pub streams: Layout,
    /// Unit of times, for a file that deviates from its format: s, ms, us, ns, filetime (ticks of
    /// 100 ns since 1601), datetime (`2016-02-22 10:00:00.013`, UTC)
    #[arg(long, value_name = "UNIT", value_parser = parse::<TimeUnit>)]
    pub time_unit: Option<TimeUnit>,
    /// Block traces: the event that counts as an I/O, `queue` (before merging, the default) or
    /// `issue` (commands that the device received)
    #[arg(long, value_name = "EVENT", value_parser = parse::<Event>)]
    pub event: Option<Event>,
    /// fio logs of version 2: the meaning of a wait, `fio` (ms after the start, the default) or
    /// `doc` (us after the preceding wait)
    #[arg(long, value_name = "UNIT", value_parser = parse::<WaitUnit>)]
    pub wait_unit: Option<WaitUnit>,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// The help of `--from`, which names every format.
fn help_of_from() -> String {
    let formats = TraceFormat::all().filter(|format| !format.needs_columns());
    let names: Vec<_> = formats.map(TraceFormat::name).collect();
    format!(
        "Format of the trace, where it should not be found out: {}; or the columns of a CSV file in their order, e.g. \
         `csv:time=us,-,op,offset=sectors,length=bytes,volume` (docs/formats/trace.md)",
        names.join(", ")
    )
}

impl TraceInput {
    /// Options of the library for reading it.
    pub fn options(&self) -> ImportOptions {
        let named = self.from.clone();
        ImportOptions {
            format: named.as_ref().map(|named| named.format),
            format_options: FormatOptions {
                wait_unit: self.wait_unit,
                event: self.event,
                time_unit: self.time_unit,
                csv: named.and_then(|named| named.csv),
            },
            streams: self.stream.iter().copied().collect(),
            layout: self.streams,
        }
    }
}

/// Arguments of `trace info`.
#[derive(Debug, ClapArgs)]
pub struct TraceInfoArgs {
    #[command(flatten)]
    pub input: TraceInput,
}

/// Arguments of `trace import` and `trace model`.
#[derive(Debug, ClapArgs)]
pub struct TraceImportArgs {
    #[command(flatten)]
    pub input: TraceInput,
    /// File to write
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
}

/// Arguments of `trace convert`.
#[derive(Debug, ClapArgs)]
pub struct TraceConvertArgs {
    #[command(flatten)]
    pub input: TraceInput,
    /// Format to write: iolog (version 3), msr, blkparse
    #[arg(long, value_name = "FORMAT", value_parser = parse::<ExportFormat>)]
    pub to: ExportFormat,
    /// File to write
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
}

/// Arguments of `trace synth`.
#[derive(Debug, ClapArgs)]
pub struct TraceSynthArgs {
    /// heavy-2011, light-2011, destroyer-2013, or the path of a scenario file (TOML)
    #[arg(value_name = "SCENARIO")]
    pub scenario: String,
    /// Trace file to write
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// Scale of all totals, e.g. `1/10`
    #[arg(long, value_name = "SHARE", default_value = "1")]
    pub scale: Ratio,
    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = super::whole::<u64, 0, { u64::MAX }>)]
    pub seed: u64,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `trace record`.
#[derive(Debug, ClapArgs)]
pub struct TraceRecordArgs {
    /// Block device, e.g. `/dev/nvme0n1`
    #[arg(value_name = "DEVICE")]
    pub device: PathBuf,
    /// Duration; default: until an interrupt (Ctrl-C), which keeps the recording
    #[arg(long, value_name = "TIME")]
    pub duration: Option<Nanos>,
    /// Trace file to write; on another device, or it records its own writes
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// Event that counts as an I/O, `queue` (before merging) or `issue` (commands that the device
    /// received)
    #[arg(long, value_name = "EVENT", default_value = "queue", value_parser = parse::<Event>)]
    pub event: Event,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t)]
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
    #[arg(long, value_name = "POLICY")]
    pub idle: Option<String>,
    /// `closed`: keep recorded queue depths; `open`: keep recorded times
    #[arg(long, value_name = "FORM")]
    pub form: Option<String>,
    /// Addresses beyond the span: `wrap`, `scale`, or `offset:BYTES`
    #[arg(long, value_name = "MAPPING")]
    pub mapping: Option<String>,
    /// Set another parameter of the test, e.g. `flush=false`
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = super::parse_setting)]
    pub settings: Vec<(String, String)>,
    /// Bytes to use from LBA 0, e.g. `64GiB`
    #[arg(long, value_name = "BYTES")]
    pub span: Option<Bytes>,
    #[command(flatten)]
    pub common: CommonArgs,
    #[command(flatten)]
    pub drive: DriveArgs,
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
        let named = named.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
        let settings = named.chain(self.settings).collect();
        let mut run = RunArgs::part(Test::REPLAY, settings, self.common, self.drive);
        (run.test.targets, run.test.span) = (self.targets, self.span);
        run
    }
}

impl TraceCommand {
    /// Output on stdout.
    pub fn format(&self) -> Format {
        match self {
            Self::Info(args) => args.input.format,
            Self::Import(args) | Self::Model(args) => args.input.format,
            Self::Convert(args) => args.input.format,
            Self::Synth(args) => args.format,
            Self::Replay(args) => args.common.format,
            Self::Record(args) => args.format,
        }
    }
}

fn parse<T: std::str::FromStr<Err = TraceError>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: TraceError| error.to_string())
}
