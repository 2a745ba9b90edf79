//! `ssdlab trace info`: the statistics of a trace.

use clap::Args as ClapArgs;
use load::trace::stats::TraceStats;

use super::input::{TraceInput, judge, open, tell_problems};
use super::{comparison, show};
use crate::args::Format;
use crate::failure::EXIT_DONE;
use crate::ui::out::data;

/// Arguments of `trace info`.
#[derive(Debug, ClapArgs)]
pub struct TraceInfoArgs {
    #[command(flatten)]
    pub input: TraceInput,
}

pub fn run(args: &TraceInfoArgs) -> anyhow::Result<u8> {
    let mut source = open(&args.input)?;
    let mut stats = TraceStats::default();
    while let Some(record) = source.next_record()? {
        stats.add(&record);
    }
    let summary = stats.summary();
    if args.input.options().streams.is_all() {
        // An empty trace is nothing wrong, only empty.
        tell_problems(source.as_ref(), summary.ios)?;
    } else {
        judge(&args.input, source.as_ref(), summary.ios)?;
    }
    let info = source.info();
    match args.input.format {
        Format::Text if summary.ios == 0 => {
            data!(
                "{} trace: {}\n  0 commands: the trace is empty",
                info.origin.name(),
                info.source
            );
        }
        Format::Text => {
            // The remarks of the reader on the file itself were told above.
            let told = source.problems().sentences();
            let mut info = info;
            info.warnings.retain(|warning| !told.contains(warning));
            show::print(&info, &summary);
        }
        Format::Json => {
            let published = info.published.as_ref();
            let comparison = published.map(|published| comparison::pairs(published, &summary));
            let document = serde_json::json!({
                "trace": info, "summary": summary, "comparison": comparison, "problems": source.problems(),
            });
            data!("{document:#}");
        }
    }
    Ok(EXIT_DONE)
}
