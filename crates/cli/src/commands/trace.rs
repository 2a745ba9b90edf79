//! `ssdlab trace`: reads, analyses and writes traces.

mod comparison;
mod info;
mod record;
mod show;

use std::path::Path;

use load::trace::export::export;
use load::trace::store::{TraceReader, TraceWriter};
use load::trace::synth::model::Learner;
use load::trace::synth::{Scenario, Synth};
use load::trace::{Addresses, ImportOptions, Layout, Source, TraceError, TraceInfo};

use crate::args::Format;
use crate::args::trace::{
    TraceCommand, TraceConvertArgs, TraceImportArgs, TraceInput, TraceSynthArgs,
};
use crate::failure::EXIT_DONE;
use crate::inputs::Inputs;
use crate::output_file::OutputFile;
use crate::ui::out::{data, talk};
use crate::ui::table::bytes;

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

/// Opens a trace of any format, its streams in one address space.
fn open(input: &TraceInput) -> Result<Box<dyn Source>, TraceError> {
    load::trace::open(&input.trace, &input.options())
}

/// The same for commands that distinguish volumes: these keep their own addresses, unless the user
/// overlays them.
fn open_apart(input: &TraceInput) -> Result<Box<dyn Source>, TraceError> {
    let options = input.options();
    let layout = if options.layout == Layout::Overlay { Layout::Overlay } else { Layout::Apart };
    load::trace::open(&input.trace, &ImportOptions { layout, ..options })
}

/// Prints the problems of a reader on stderr; an error if it could read nothing.
fn tell_problems(source: &dyn Source, ios: u64) -> Result<(), TraceError> {
    let problems = source.problems();
    for sentence in problems.sentences() {
        talk!("warning: {sentence}");
    }
    if ios == 0 && problems.bad_lines > 0 {
        let first = problems.first_bad_lines.first();
        let at = first.map_or_else(String::new, |bad| format!("; line {}: {}", bad.at, bad.reason));
        return Err(TraceError::Usage(format!(
            "none of its {} lines could be read{at}; name the format with --from",
            problems.bad_lines
        )));
    }
    Ok(())
}

/// As [`tell_problems`]; also refuses an empty result: the options excluded every I/O.
fn judge(input: &TraceInput, source: &dyn Source, ios: u64) -> Result<(), TraceError> {
    tell_problems(source, ios)?;
    if ios > 0 {
        return Ok(());
    }
    let (trace, others) = (&input.trace, source.problems().other_devices);
    let streams = input.options().streams;
    Err(TraceError::Usage(if others > 0 && !streams.is_all() {
        format!(
            "{trace} has no I/O of stream {}, and {others} of others{}; leave --stream away for all of them",
            streams.list(),
            names(&source.info().streams)
        )
    } else {
        format!(
            "{trace} holds no I/O; name another file, its format (--from), or for block traces the event (--event)"
        )
    }))
}

/// The streams with a name.
fn names(streams: &[String]) -> String {
    const SHOWN_MAX: usize = 12;
    if streams.is_empty() {
        return String::new();
    }
    let named = streams.iter().enumerate().filter(|(_, name)| !name.is_empty());
    let shown = named.take(SHOWN_MAX);
    let shown: Vec<_> = shown.map(|(number, name)| format!("{number} is {name}")).collect();
    let more = if streams.len() > SHOWN_MAX { ", ..." } else { "" };
    format!(" ({}{more})", shown.join(", "))
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
    let file = OutputFile::create(path, inputs)?;
    file.remove_when_stopped()?;
    Ok(file)
}

/// Writes all records of a source into an ssdlab trace; returns their number.
fn write_trace(source: &mut dyn Source, file: &mut OutputFile) -> Result<u64, TraceError> {
    let what = file.name();
    let mut writer = TraceWriter::new(file.content(), &what)?;
    while let Some(record) = source.next_record()? {
        writer.push(&record)?;
    }
    Ok(writer.finish(&source.info())?.1)
}
