//! Pauses of the controller while the host writes: it saves its own tables, and no command is taken up meanwhile.
//!
//! Phenomenon: the seconds of a drive that writes at random scatter, each by itself and not in waves. Source: firmware
//! saves the journal of its map, counters and lists of blocks beside the host's data (SPDK FTL, pblk); the moments and
//! the lengths depend on what has changed since, which is as good as drawn. Simplifications: times from one pause to the
//! next are exponential but for straight lines, lengths even from half to one and a half of the mean; a save programs no
//! page; all processors stop, while dies and link end what they have; a pause that falls into a time without writes is
//! over when the next one comes, or keeps it for its rest. Test: `tests/formulas/evenness.rs`.

use base::Rng;

/// Frequency and length of pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PausePlan {
    /// Mean time from one pause to the next.
    pub interval_ns: u64,
    /// Mean length.
    pub length_ns: u64,
}

/// The pauses of one drive.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Pauses {
    plan: PausePlan,
    rng: Rng,
    /// The next pause, or `None` before the first write: a drive that was made new counts from there.
    due_ns: Option<u64>,
}

impl Pauses {
    /// The pauses of a drive that nobody has written to.
    pub fn new(plan: PausePlan, seed: u64) -> Self {
        Self { plan, rng: Rng::split(seed, "pauses"), due_ns: None }
    }

    /// A write has come: the time for which the controller is not there for it.
    #[inline]
    pub fn wait_ns(&mut self, now_ns: u64) -> u64 {
        let PausePlan { interval_ns, length_ns } = self.plan;
        let due_ns = self.due_ns.unwrap_or_else(|| now_ns + self.rng.exponential(interval_ns));
        self.due_ns = Some(due_ns);
        if now_ns < due_ns {
            return 0;
        }
        let end_ns = due_ns + length_ns / 2 + self.rng.below(length_ns);
        self.due_ns = Some(end_ns.max(now_ns) + self.rng.exponential(interval_ns));
        end_ns.saturating_sub(now_ns)
    }
}
