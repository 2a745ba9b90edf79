//! Messages from the measuring threads to the writer.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::SyncSender;

use base::Nanos;

use super::row::IoRow;

/// A phase, as its rows name it.
#[derive(Clone, Debug)]
pub struct IosPhase {
    /// Position in the phases of the run.
    pub index: usize,
    /// Name of the phase.
    pub name: String,
    /// Names of its jobs; none in a phase without jobs.
    pub jobs: Vec<String>,
    /// Start on the target's clock.
    pub start: Nanos,
    /// Measuring threads.
    pub workers: usize,
}

/// The reaction to a full queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// Lose the rows and count them: the target works in real time.
    Lose,
    /// Wait for the writer: the time of the target stands still meanwhile.
    Wait,
}

/// Rows on their way to the writer.
#[derive(Debug)]
pub(super) struct Batch {
    /// Number of the thread within the phase.
    pub(super) worker: usize,
    /// The seconds before this one are complete, of this thread.
    pub(super) complete: u32,
    pub(super) rows: Vec<IoRow>,
}

/// The begin of a phase.
#[derive(Debug)]
pub(super) struct Begin {
    pub(super) phase: IosPhase,
    /// Counts its lost rows.
    pub(super) lost: Arc<AtomicU64>,
}

/// Messages to the writer.
#[derive(Debug)]
pub(super) enum Message {
    /// The rows from here on are those of this phase.
    Begin(Begin),
    /// Rows of the phase.
    Rows(Batch),
    /// Copy the rows of the first phases, this many, from the file of an earlier run.
    Keep(PathBuf, usize),
    /// The run has ended: complete the file.
    Finish,
    /// The run has no regular end: remove the file.
    Abandon,
}

/// The connection of the taps of one phase to the writer.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) start: Nanos,
    pub(super) when_full: WhenFull,
    pub(super) sender: SyncSender<Message>,
    /// Rows that were chosen and got lost.
    pub(super) lost: Arc<AtomicU64>,
}
