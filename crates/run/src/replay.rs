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
mod spec;

use base::Nanos;
use load::trace::ImportOptions;

use crate::error::RunError;
use crate::recorder::LENGTH_MAX;

pub use drive::{Observer, replay};
use feed::ReplayCommand;
pub use feed::{Changes, Feed};
pub use meter::{Meter, Total, Totals};
pub use spec::{Form, Idle, Mapping, ReplaySpec};

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
        let options = ImportOptions { excerpt: self.excerpt, ..ImportOptions::default() };
        let source = load::trace::open(&self.trace, &options)?;
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
