//! `ssdlab trace`: read, count, write traces.

mod comparison;
mod info;
mod record;
mod show;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use load::trace::export::export;
use load::trace::store::TraceWriter;
use load::trace::synth::model::Learner;
use load::trace::synth::{Scenario, Synth};
use load::trace::{Source, TraceError};

use crate::args::Format;
use crate::args::trace::{
    TraceCommand, TraceConvertArgs, TraceImportArgs, TraceInput, TraceSynthArgs,
};
use crate::failure::EXIT_DONE;

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

/// Opens a trace of any format.
fn open(input: &TraceInput) -> Result<Box<dyn Source>, TraceError> {
    load::trace::open(&input.trace, &input.options())
}

/// Says on stderr what could not be taken as it was; an error where nothing could be read.
fn tell_problems(source: &dyn Source, ios: u64) -> Result<(), TraceError> {
    let problems = source.problems();
    for sentence in problems.sentences() {
        eprintln!("warning: {sentence}");
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

fn import_trace(args: &TraceImportArgs) -> anyhow::Result<u8> {
    let mut source = open(&args.input)?;
    let ios = write_trace(source.as_mut(), &args.output)?;
    tell_problems(source.as_ref(), ios)?;
    tell_written(args.input.format, source.as_ref(), ios, 0, &args.output);
    Ok(EXIT_DONE)
}

/// Learns a scenario and writes it as TOML.
fn model(args: &TraceImportArgs) -> anyhow::Result<u8> {
    let mut source = open(&args.input)?;
    let mut learner = Learner::default();
    let mut ios = 0;
    while let Some(record) = source.next_record()? {
        learner.add(&record);
        ios += 1;
    }
    tell_problems(source.as_ref(), ios)?;
    let name = args.output.file_stem().unwrap_or_default().to_string_lossy();
    let text = learner.scenario(&name, &source.info())?.to_toml()?;
    write_file(&args.output, |out, what| {
        out.write_all(text.as_bytes()).map_err(TraceError::write(what))
    })?;
    tell_written(args.input.format, source.as_ref(), ios, 0, &args.output);
    Ok(EXIT_DONE)
}

fn synth(args: &TraceSynthArgs) -> anyhow::Result<u8> {
    let mut source = Synth::new(&Scenario::load(&args.scenario)?, args.scale, args.seed)?;
    let ios = write_trace(&mut source, &args.output)?;
    tell_written(args.format, &source, ios, 0, &args.output);
    Ok(EXIT_DONE)
}

fn convert(args: &TraceConvertArgs) -> anyhow::Result<u8> {
    let mut source = open(&args.input)?;
    let mut exported = None;
    write_file(&args.output, |out, what| {
        exported = Some(export(source.as_mut(), args.to, out, what)?);
        Ok(())
    })?;
    let (ios, left_out) = exported.map_or((0, 0), |done| (done.ios, done.not_expressible));
    tell_problems(source.as_ref(), ios)?;
    if left_out > 0 {
        eprintln!(
            "warning: {left_out} I/Os have no words in the format {} and were left out",
            args.to.name()
        );
    }
    tell_written(args.input.format, source.as_ref(), ios, left_out, &args.output);
    Ok(EXIT_DONE)
}

fn tell_written(format: Format, source: &dyn Source, ios: u64, left_out: u64, path: &Path) {
    match format {
        Format::Text => println!("{}", path.display()),
        Format::Json => {
            let document = serde_json::json!({
                "output": path, "ios": ios, "left_out_ios": left_out,
                "trace": source.info(), "problems": source.problems(),
            });
            println!("{document}");
        }
    }
}

/// Writes all records of a source into an ssdlab trace; returns how many.
fn write_trace(source: &mut dyn Source, path: &Path) -> Result<u64, TraceError> {
    let mut records = 0;
    write_file(path, |out, what| {
        let mut writer = TraceWriter::new(out, what)?;
        while let Some(record) = source.next_record()? {
            writer.push(&record)?;
        }
        records = writer.finish(&source.info())?.1;
        Ok(())
    })?;
    Ok(records)
}

/// Writes a file under another name and renames it when it is whole, so that no half trace is left under the name.
fn write_file(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>, &str) -> Result<(), TraceError>,
) -> Result<(), TraceError> {
    let what = path.display().to_string();
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let file = File::create(&part).map_err(TraceError::write(&what))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    let written = write(&mut out, &what)
        .and_then(|()| out.flush().map_err(TraceError::write(&what)))
        .and_then(|()| std::fs::rename(&part, path).map_err(TraceError::write(&what)));
    if written.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    written
}
