//! From a file of any format to records in order: detect, parse, sort within a window, count
//! outstanding I/Os.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

use super::clock::Clock;
use super::format::{
    BoxedInput, Event, Format, FormatOptions, LineSource, Raw, RawSource, Reader, TimeUnit, detect,
};
use super::input::Input;
use super::plausible::Times;
use super::{
    Addresses, Excerpt, Layout, Origin, Problems, Record, Source, StreamSet, TraceError, TraceInfo,
};

/// Window of I/Os that may stand in front of an earlier one. An I/O beyond it gets a later time,
/// and is counted.
const WINDOW: usize = 1 << 16;

/// Most tracked completions; more than any queue has.
const OUTSTANDING_MAX: usize = 1 << 16;

const ONLY_ISSUES: &str =
    "it holds no events of queueing (Q): its I/Os are the commands that the device received (D)";

const NO_COMPLETIONS: &str =
    "it holds no completions (C): queue depths and service times are unknown";

/// Options for reading a file.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The format, or `None` to detect it.
    pub format: Option<Format>,
    /// Options of the format.
    pub format_options: FormatOptions,
    /// The selected streams (processes, disks, volumes).
    pub streams: StreamSet,
    /// Layout of volumes with their own addresses in one address space.
    pub layout: Layout,
    /// The part that is read; [`super::open()`] takes it out.
    pub excerpt: Excerpt,
}

/// Opens a trace of any format, ssdlab's own included; `-` is the standard input. Streams keep
/// their own addresses: [`super::open()`] lays them out.
///
/// # Errors
/// If the file cannot be read or has no known format.
pub fn import(path: &Path, options: &ImportOptions) -> Result<Box<dyn Source>, TraceError> {
    let mut options = options.clone();
    let input = Input::open(path)?;
    let format = options.format.map_or_else(|| detect(&input.head, &input.what), Ok)?;
    format.check(&options.format_options, &input.what)?;
    let event = &mut options.format_options.event;
    let has_only_issues = event.is_none() && format.has_only_issues(&input.head);
    if has_only_issues {
        *event = Some(Event::Issue);
    }
    let format_options = &options.format_options;
    let (raw, what) = match format.reader() {
        Reader::Ordered(open) => return Ok(chosen(open(input)?, &options.streams)),
        Reader::Raw(open) => open(input, format_options)?,
        Reader::Lines(_) | Reader::Parser(_) | Reader::Columns(_) => {
            (lines(format, input.whole, &input.what, &options)?, input.what)
        }
    };
    let source = format!("{what}, {}", format.name());
    let mut ordered = OrderedRecords::new(raw, source, options.streams.clone());
    ordered.addresses = format.addresses(format_options);
    ordered.time_unit = format.time_unit(format_options);
    ordered.clock.counter_ns = format.counter_ns(format_options);
    ordered.has_only_issues = has_only_issues;
    Ok(Box::new(ordered))
}

/// A text format from an open input.
///
/// # Errors
/// If the format has no lines.
pub fn lines(
    format: Format,
    input: BoxedInput,
    what: &str,
    options: &ImportOptions,
) -> Result<Box<dyn RawSource>, TraceError> {
    let parser = format
        .lines(&options.format_options)
        .ok_or_else(|| TraceError::Usage(format!("{} is no text format", format.name())))?;
    Ok(Box::new(LineSource::new(input, what, parser)))
}

/// The I/Os of the selected streams.
pub(super) fn chosen(source: Box<dyn Source>, streams: &StreamSet) -> Box<dyn Source> {
    if streams.is_all() {
        return source;
    }
    Box::new(StreamChoice { source, streams: streams.clone(), left_out: 0 })
}

/// Records in order of time, with time from the first one and queue depths.
pub struct OrderedRecords {
    clock: Clock,
    source: String,
    origin: Origin,
    streams: StreamSet,
    addresses: Addresses,
    /// The unit of the file's times; `None` if there is no choice.
    time_unit: Option<TimeUnit>,
    /// Whether its I/Os are the events of issue because it holds none of queueing.
    has_only_issues: bool,
    ios: u64,
    /// I/Os read ahead; those from `next` on are still to come, sorted up to the last refill.
    window: Vec<Raw>,
    next: usize,
    ended: bool,
    depth: Depth,
    epoch_ns: Option<u64>,
    last_ns: u64,
    late_ios: u64,
    other_devices: u64,
}

impl OrderedRecords {
    /// Sorts the I/Os of `raw`, limited to those of `streams`; `source` describes the trace.
    pub fn new(raw: Box<dyn RawSource>, source: String, streams: StreamSet) -> Self {
        Self {
            clock: Clock::new(raw, None),
            source,
            origin: Origin::Imported,
            streams,
            addresses: Addresses::Shared,
            time_unit: None,
            has_only_issues: false,
            ios: 0,
            window: Vec::new(),
            next: 0,
            ended: false,
            depth: Depth::default(),
            epoch_ns: None,
            last_ns: 0,
            late_ios: 0,
            other_devices: 0,
        }
    }

    /// Marks the import as a recording of ssdlab's own.
    #[must_use]
    pub fn recorded(mut self) -> Self {
        self.origin = Origin::Recorded;
        self
    }

    /// Reads until the window is full twice over and sorts it: the first half is then in order
    /// against all I/Os within a window behind it. Sorting I/Os that are in order costs one pass.
    fn refill(&mut self) -> Result<(), TraceError> {
        self.window.drain(..self.next);
        self.next = 0;
        while self.window.len() < 2 * WINDOW {
            let Some(raw) = self.clock.next_raw()? else {
                self.ended = true;
                break;
            };
            if !self.streams.takes(raw.record.stream) {
                self.other_devices += 1;
                continue;
            }
            self.window.push(raw);
        }
        self.window.sort_by_key(|raw| raw.record.issue_ns);
        Ok(())
    }

    fn place(&mut self, raw: Raw) -> Record {
        let mut record = raw.record;
        let epoch_ns = *self.epoch_ns.get_or_insert(record.issue_ns);
        let since = record.issue_ns.checked_sub(epoch_ns).filter(|&ns| ns >= self.last_ns);
        self.late_ios += u64::from(since.is_none());
        record.issue_ns = since.unwrap_or(self.last_ns);
        self.last_ns = record.issue_ns;
        self.ios += 1;
        if self.clock.raw().lacks_completions() {
            record.queue_depth = 0;
        }
        if let Some(service_ns) = raw.service_ns {
            record.queue_depth = self.depth.issued(record.issue_ns, service_ns);
        }
        record
    }
}

impl Source for OrderedRecords {
    fn next_record(&mut self) -> Result<Option<Record>, TraceError> {
        if !self.ended && self.next + WINDOW >= self.window.len() {
            self.refill()?;
        }
        let Some(&raw) = self.window.get(self.next) else { return Ok(None) };
        self.next += 1;
        Ok(Some(self.place(raw)))
    }

    fn info(&self) -> TraceInfo {
        TraceInfo {
            origin: self.origin,
            source: self.source.clone(),
            streams: self.clock.raw().stream_names(),
            epoch_ns: self.epoch_ns.unwrap_or(0),
            addresses: self.addresses,
            volumes: vec![],
            span_bytes: None,
            warnings: self.problems().sentences(),
            published: None,
        }
    }

    fn problems(&self) -> Problems {
        let mut problems = self.clock.raw().problems();
        self.clock.add_to(&mut problems);
        problems.late_ios += self.late_ios;
        problems.other_devices += self.other_devices;
        let (unit, ios, length_ns) = (self.time_unit, self.ios, self.last_ns);
        problems.time_doubt =
            Times { unit, ios, epoch_ns: self.epoch_ns.unwrap_or(0), length_ns }.doubt();
        if self.has_only_issues {
            problems.remarks.push(ONLY_ISSUES.to_owned());
        }
        if ios > 0 && self.clock.raw().lacks_completions() {
            problems.remarks.push(NO_COMPLETIONS.to_owned());
        }
        problems
    }
}

/// Counts outstanding I/Os from times of issue and service.
#[derive(Default)]
struct Depth {
    ends: BinaryHeap<Reverse<u64>>,
}

impl Depth {
    fn issued(&mut self, issue_ns: u64, service_ns: u64) -> u16 {
        while self.ends.peek().is_some_and(|&Reverse(end)| end <= issue_ns) {
            self.ends.pop();
        }
        if self.ends.len() == OUTSTANDING_MAX {
            self.ends.pop();
        }
        self.ends.push(Reverse(issue_ns.saturating_add(service_ns)));
        u16::try_from(self.ends.len()).unwrap_or(u16::MAX)
    }
}

/// Some of the streams of a trace.
struct StreamChoice {
    source: Box<dyn Source>,
    streams: StreamSet,
    left_out: u64,
}

impl Source for StreamChoice {
    fn next_record(&mut self) -> Result<Option<Record>, TraceError> {
        while let Some(record) = self.source.next_record()? {
            if self.streams.takes(record.stream) {
                return Ok(Some(record));
            }
            self.left_out += 1;
        }
        Ok(None)
    }

    fn info(&self) -> TraceInfo {
        let mut info = self.source.info();
        info.volumes.retain(|volume| self.streams.takes(volume.stream));
        info
    }

    fn problems(&self) -> Problems {
        let mut problems = self.source.problems();
        problems.other_devices += self.left_out;
        problems
    }
}
