//! The structure of time: pauses between issues, and the bursts between the pauses.

use serde::Serialize;

use crate::trace::Record;

/// A pause of this length ends a burst; replays of later suites cap idle time at the same 25 ms.
const BURST_PAUSE_NS: u64 = 25_000_000;

/// Upper ends of the bins of pauses.
const BINS: [(u64, &str); 7] = [
    (100_000, "< 100 us"),
    (1_000_000, "100 us-1 ms"),
    (25_000_000, "1-25 ms"),
    (1_000_000_000, "25 ms-1 s"),
    (10_000_000_000, "1-10 s"),
    (60_000_000_000, "10-60 s"),
    (u64::MAX, ">= 60 s"),
];

/// Pauses of one range of lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PauseBin {
    /// Range of lengths.
    pub length: &'static str,
    /// Pauses.
    pub count: u64,
    /// Sum of their lengths.
    pub total_ns: u64,
}

/// Times between issues.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pauses {
    /// Pauses by length.
    pub bins: Vec<PauseBin>,
    /// The longest one.
    pub longest_ns: u64,
    /// Bursts: I/Os without a pause of 25 ms between them.
    pub bursts: u64,
    /// I/Os of a burst, mean.
    pub burst_ios_mean: f64,
    /// I/Os of the longest burst.
    pub burst_ios_max: u64,
    /// Time from issue to issue with every pause capped at 25 ms: the longest wait of a replay with
    /// `cap:25ms`.
    pub capped_ns: u64,
}

#[derive(Default)]
pub(super) struct PauseCounter {
    last_ns: Option<u64>,
    counts: [(u64, u64); BINS.len()],
    longest_ns: u64,
    bursts: u64,
    ios: u64,
    burst_ios: u64,
    burst_ios_max: u64,
    capped_ns: u64,
}

impl PauseCounter {
    pub(super) fn add(&mut self, record: &Record) {
        self.ios += 1;
        let pause_ns = self.last_ns.map(|last| record.issue_ns.saturating_sub(last));
        self.last_ns = Some(record.issue_ns);
        if let Some(pause_ns) = pause_ns {
            let bin = BINS.iter().position(|&(end, _)| pause_ns < end).unwrap_or(BINS.len() - 1);
            self.counts[bin].0 += 1;
            self.counts[bin].1 += pause_ns;
            self.longest_ns = self.longest_ns.max(pause_ns);
            self.capped_ns += pause_ns.min(BURST_PAUSE_NS);
        }
        if pause_ns.is_none_or(|pause_ns| pause_ns >= BURST_PAUSE_NS) {
            self.bursts += 1;
            self.burst_ios = 0;
        }
        self.burst_ios += 1;
        self.burst_ios_max = self.burst_ios_max.max(self.burst_ios);
    }

    pub(super) fn pauses(&self) -> Pauses {
        let bins = BINS.iter().zip(self.counts);
        let bins =
            bins.map(|(&(_, length), (count, total_ns))| PauseBin { length, count, total_ns });
        Pauses {
            bins: bins.collect(),
            longest_ns: self.longest_ns,
            bursts: self.bursts,
            burst_ios_mean: super::share(self.ios, self.bursts),
            burst_ios_max: self.burst_ios_max,
            capped_ns: self.capped_ns,
        }
    }
}
