//! `ssdlab trace record`: the commands of a running system to a device.

use std::path::PathBuf;
use std::time::Duration;

use base::Nanos;
use clap::Args as ClapArgs;
use device::host::tracer::BlockTracer;
use load::trace::format::{BlktraceSource, Event};
use load::trace::import::OrderedRecords;
use load::trace::{Source, StreamSet};

use super::input::{parse, tell_problems, write_trace};
use crate::args::Format;
use crate::args::heading;
use crate::failure::EXIT_DONE;
use crate::inputs::Inputs;
use crate::output_file::OutputFile;
use crate::prepare::restore_settings;
use crate::stop;
use crate::ui::out::{data, talk};

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
    #[arg(long, short, value_name = "FILE", help_heading = heading::OUTPUT)]
    pub output: PathBuf,
    /// Event that counts as an I/O, `queue` (before merging) or `issue` (commands that the device
    /// received)
    #[arg(long, value_name = "EVENT", default_value = "queue", value_parser = parse::<Event>)]
    pub event: Event,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    pub format: Format,
}

pub fn run(args: &TraceRecordArgs) -> anyhow::Result<u8> {
    // The tracer's settings are put back, however impatient somebody is.
    let stop = stop::patient_button()?;
    let duration = args.duration.map(|duration| Duration::from_nanos(duration.0));
    // Remains of an earlier recording would be taken for findings.
    restore_settings();
    let mut file = OutputFile::create(&args.output, "-o", &Inputs::default())?;
    let tracer = BlockTracer::start(&args.device, duration, stop)?;
    talk!("recording {}; Ctrl-C ends it", args.device.display());
    let losses = tracer.losses();
    let what = args.device.display().to_string();
    let raw = BlktraceSource::new(vec![(what.clone(), Box::new(tracer))], args.event)?;
    let mut source = OrderedRecords::new(Box::new(raw), what, StreamSet::default()).recorded();
    let ios = write_trace(&mut source, &mut file)?;
    let lost_events = losses.events();
    tell_problems(&source, ios)?;
    file.put_in_place()?;
    if lost_events > 0 {
        talk!("warning: the kernel dropped {lost_events} events: the trace has gaps");
    }
    match args.format {
        Format::Text => {
            talk!("{ios} I/Os recorded, {lost_events} events lost");
            data!("{}", args.output.display());
        }
        Format::Json => {
            let document = serde_json::json!({
                "output": args.output, "ios": ios, "lost_events": lost_events,
                "trace": source.info(), "problems": source.problems(),
            });
            data!("{document}");
        }
    }
    Ok(EXIT_DONE)
}
