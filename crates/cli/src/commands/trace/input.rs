//! The trace that a command reads: its options, its problems, its copy.

use std::num::NonZeroU32;

use base::Nanos;
use clap::Args as ClapArgs;
use load::trace::format::{
    Event, Format as TraceFormat, FormatOptions, NamedFormat, TimeUnit, WaitUnit,
};
use load::trace::store::TraceWriter;
use load::trace::{Excerpt, ImportOptions, Layout, Source, TraceError};

use crate::args::heading;
use crate::args::{Format, whole};
use crate::output_file::OutputFile;
use crate::ui::out::talk;

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
    #[arg(long, value_name = "N,...", value_delimiter = ',', allow_negative_numbers = true, value_parser = whole::<u32, 0, { u32::MAX as u64 }>)]
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
    #[command(flatten)]
    pub excerpt: ExcerptArgs,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    pub format: Format,
}

/// The part of a trace.
#[derive(Debug, ClapArgs)]
pub struct ExcerptArgs {
    /// Begin at this time after the first I/O of the trace, e.g. `2h`
    #[arg(long, value_name = "TIME")]
    pub from_time: Option<Nanos>,
    /// End before this time after the first I/O of the trace, e.g. `150m`
    #[arg(long, value_name = "TIME")]
    pub until: Option<Nanos>,
    /// Take no more than this number of I/Os
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u64, 1, { u64::MAX }>)]
    pub limit: Option<u64>,
    /// Take the part this number of times, each pass behind the one before
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u32, 1, { u32::MAX as u64 }>)]
    pub repeat: Option<u32>,
}

impl ExcerptArgs {
    fn excerpt(&self) -> Excerpt {
        Excerpt {
            from: self.from_time.unwrap_or(Nanos(0)),
            until: self.until,
            limit: self.limit,
            passes: self.repeat.and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN),
        }
    }

    /// The same as parameters of the test `replay`.
    pub fn settings(&self) -> impl Iterator<Item = (&'static str, Option<String>)> {
        [
            ("from_time", self.from_time.map(|time| time.to_string())),
            ("until", self.until.map(|time| time.to_string())),
            ("limit", self.limit.map(|limit| limit.to_string())),
            ("passes", self.repeat.map(|passes| passes.to_string())),
        ]
        .into_iter()
    }
}

/// The help of `--from`, which names every format.
fn help_of_from() -> String {
    let formats = TraceFormat::all().filter(|format| !format.needs_columns());
    let names: Vec<_> = formats.map(TraceFormat::name).collect();
    format!(
        "Format of the trace, where it should not be found out: {}; or the columns of a CSV file in their order, e.g. \
         `csv:time=us,-,op,offset=sectors,length=bytes,volume` (docs/reference/formats/trace.md)",
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
            excerpt: self.excerpt.excerpt(),
        }
    }
}

pub fn parse<T: std::str::FromStr<Err = TraceError>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: TraceError| error.to_string())
}

/// Opens a trace of any format, its streams in one address space.
pub fn open(input: &TraceInput) -> Result<Box<dyn Source>, TraceError> {
    load::trace::open(&input.trace, &input.options())
}

/// The same for commands that distinguish volumes: these keep their own addresses, unless the user
/// overlays them.
pub fn open_apart(input: &TraceInput) -> Result<Box<dyn Source>, TraceError> {
    let options = input.options();
    let layout = if options.layout == Layout::Overlay { Layout::Overlay } else { Layout::Apart };
    load::trace::open(&input.trace, &ImportOptions { layout, ..options })
}

/// Prints the problems of a reader on stderr; an error if it could read nothing.
pub fn tell_problems(source: &dyn Source, ios: u64) -> Result<(), TraceError> {
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
pub fn judge(input: &TraceInput, source: &dyn Source, ios: u64) -> Result<(), TraceError> {
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

/// Writes all records of a source into an ssdlab trace; returns their number.
pub fn write_trace(source: &mut dyn Source, file: &mut OutputFile) -> Result<u64, TraceError> {
    let what = file.name();
    let mut writer = TraceWriter::new(file.content(), &what)?;
    while let Some(record) = source.next_record()? {
        writer.push(&record)?;
    }
    Ok(writer.finish(&source.info())?.1)
}
