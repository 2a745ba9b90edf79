//! `ssdlab trace record`: the commands of a running system to a device.

use std::time::Duration;

use device::host::tracer::BlockTracer;
use load::trace::format::BlktraceSource;
use load::trace::import::Ordered;
use load::trace::{Source, StreamSet};

use super::{tell_problems, write_trace};
use crate::args::Format;
use crate::args::trace::TraceRecordArgs;
use crate::failure::EXIT_DONE;
use crate::inputs::Inputs;
use crate::output_file::OutputFile;
use crate::prepare::restore_settings;
use crate::stop;
use crate::ui::out::{data, talk};

pub fn run(args: &TraceRecordArgs) -> anyhow::Result<u8> {
    // The tracer's settings are put back, however impatient somebody is.
    let stop = stop::patient_button()?;
    let duration = args.duration.map(|duration| Duration::from_nanos(duration.0));
    // Remains of an earlier recording would be taken for findings.
    restore_settings();
    let mut file = OutputFile::create(&args.output, &Inputs::default())?;
    let tracer = BlockTracer::start(&args.device, duration, stop)?;
    talk!("recording {}; Ctrl-C ends it", args.device.display());
    let losses = tracer.losses();
    let what = args.device.display().to_string();
    let raw = BlktraceSource::new(vec![(what.clone(), Box::new(tracer))], args.event)?;
    let mut source = Ordered::new(Box::new(raw), what, StreamSet::default()).recorded();
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
