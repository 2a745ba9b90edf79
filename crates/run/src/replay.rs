//! Replay of a trace: the recorded commands on this target, with their order, depth and (if wanted)
//! their time.
//!
//! ```text
//! trace -> feed (record to commands that fit the target) -> drive (when to issue) -> target -> meter (figures)
//! ```
//!
//! **Closed form** (the default). A trace contains the times of issue, but not the causes of waits.
//! The recorded queue depth approximates these: a command recorded at depth d is issued as soon as
//! fewer than d are outstanding. A command recorded at depth 1 began with an idle drive; it also
//! waits for its recorded pause, counted from the preceding issue and shortened by the idle policy.
//! A drive that is faster than the recorded one ends its bursts sooner and gets no deeper queues.
//! Commands without a known depth wait for their pause alone.
//!
//! **Open form.** Every command is issued at its recorded time (pauses shortened by the idle
//! policy), independent of the drive; only a full queue delays it. Its latency counts from the
//! recorded time, because that is how long the recorded program would have waited; the time in the
//! drive is a figure beside it. The result reports the lateness of issues.

mod drive;
mod feed;
mod meter;

use std::str::FromStr;

use base::{Bytes, Nanos};

use crate::error::RunError;
use crate::recorder::LENGTH_MAX;

pub use drive::{Observer, replay};
use feed::ReplayCommand;
pub use feed::{Changes, Feed};
pub use meter::{Meter, Total, Totals};

/// The treatment of time without issues in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// Pauses as recorded.
    Real,
    /// Pauses as recorded, limited to this.
    Cap(Nanos),
    /// No pauses.
    None,
}

impl Idle {
    /// The remaining length of a pause.
    pub fn pause_ns(self, recorded_ns: u64) -> u64 {
        match self {
            Self::Real => recorded_ns,
            Self::Cap(cap) => recorded_ns.min(cap.0),
            Self::None => 0,
        }
    }

    /// Whether a few commands may take years: otherwise there is at most a second for each.
    fn is_open_ended(self) -> bool {
        match self {
            Self::Real => true,
            Self::Cap(cap) => cap > Nanos::SECOND,
            Self::None => false,
        }
    }
}

impl FromStr for Idle {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("cap:")) {
            ("real", _) => Ok(Self::Real),
            ("none", _) => Ok(Self::None),
            (_, Some(cap)) => cap.parse().map(Self::Cap).map_err(|error| error.to_string()),
            _ => Err("expected real, none or a longest pause such as cap:25ms".to_owned()),
        }
    }
}

/// The condition for the issue of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The recorded queue depth.
    Closed,
    /// The recorded time.
    Open,
}

impl FromStr for Form {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "closed" => Ok(Self::Closed),
            "open" => Ok(Self::Open),
            _ => {
                Err("expected closed (keep recorded depths) or open (keep recorded times)"
                    .to_owned())
            }
        }
    }
}

/// The place of a recorded address on the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// At the address modulo the span.
    Wrap,
    /// At the same part of the span as of the trace's own address space.
    Scale,
    /// At the address plus this; commands outside the span are omitted and counted.
    Offset(Bytes),
}

impl FromStr for Mapping {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("offset:")) {
            ("wrap", _) => Ok(Self::Wrap),
            ("scale", _) => Ok(Self::Scale),
            (_, Some(bytes)) => {
                bytes.parse().map(Self::Offset).map_err(|error: base::UnitError| error.to_string())
            }
            _ => Err("expected wrap, scale or offset:BYTES".to_owned()),
        }
    }
}

/// A replay before its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplaySpec {
    /// Name of the trace: a file of any format, or `synth:SCENARIO[?scale=1/10&seed=1]`.
    pub trace: String,
    /// Bytes read and written, if the trace tells beforehand.
    pub moved_bytes: Option<(u64, u64)>,
    /// The treatment of pauses.
    pub idle: Idle,
    /// The condition for the issue of a command.
    pub form: Form,
    /// The place of a recorded address.
    pub mapping: Mapping,
    /// Bytes that may be used, from LBA 0.
    pub span_bytes: u64,
    /// Most commands outstanding.
    pub queue_depth_max: u32,
    /// Longest command; longer ones are split.
    pub transfer_bytes_max: u32,
    /// Offsets and lengths are multiples of this; others are widened (deallocations narrowed).
    pub block_bytes: u32,
    /// Whether to issue flushes, those in front of writes included.
    pub keep_flush: bool,
    /// Whether to issue deallocations.
    pub keep_trim: bool,
}

impl ReplaySpec {
    /// Opens the trace.
    ///
    /// # Errors
    /// If there is no such trace, or it cannot be replayed with this mapping.
    pub fn feed(&self) -> Result<Feed, RunError> {
        if self.trace == "-" {
            let hint = "a replay reads its trace from a file: import standard input into one first";
            return Err(RunError::Usage(hint.to_owned()));
        }
        let source = load::trace::open(&self.trace, &load::trace::ImportOptions::default())?;
        Feed::new(source, self)
    }

    /// Refuses a trace without a command to issue; `feed` is at its start, and advances.
    ///
    /// # Errors
    /// [`RunError::Usage`] with its name; [`RunError::Trace`] if it cannot be read.
    pub fn check_content(&self, feed: &mut Feed) -> Result<(), RunError> {
        if feed.next_command()?.is_some() {
            return Ok(());
        }
        Err(RunError::Usage(format!(
            "{} is empty: it holds no command that this replay would issue (ssdlab trace info shows its content)",
            self.trace
        )))
    }

    /// Wait of a command for its time, from the preceding one; `None` if only depth decides.
    fn wait_ns(&self, command: &ReplayCommand) -> Option<u64> {
        let waits = self.form == Form::Open || command.queue_depth <= 1;
        waits.then(|| self.idle.pause_ns(command.pause_ns))
    }

    /// Reads the trace once if its length or the depth must be known before the run: refuses a
    /// trace whose pauses alone exceed the longest phase, and returns the deepest recorded depth,
    /// 0 if it is not known or not `wanted`.
    ///
    /// # Errors
    /// [`RunError::Usage`] with its length; [`RunError::Trace`] if it cannot be read.
    pub fn survey(&self, wanted: bool) -> Result<u32, RunError> {
        if !self.idle.is_open_ended() && !wanted {
            return Ok(0);
        }
        let (mut feed, mut waits_ns, mut deepest) = (self.feed()?, 0_u64, 0);
        while let Some(command) = feed.next_command()? {
            waits_ns = waits_ns.saturating_add(self.wait_ns(&command).unwrap_or(0));
            deepest = deepest.max(command.queue_depth);
        }
        if waits_ns <= LENGTH_MAX.0 {
            return Ok(deepest.into());
        }
        Err(RunError::Usage(format!(
            "the pauses of {} that are kept take {:.1} days, and a replay may take 30: there is a row for each second; \
             shorten them with --set idle=cap:25ms or --set idle=none (`trace replay`: --idle)",
            self.trace,
            Nanos(waits_ns).as_secs_f64() / 86_400.0
        )))
    }
}
