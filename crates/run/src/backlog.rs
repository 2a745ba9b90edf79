//! Due commands of an open loop that found the queue full: the target does not keep up.

use base::Nanos;
use result::stats::findings::time;
use result::stats::latency::WAIT_NS;

/// The waits of an open loop for room in its queue, in the order of issue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Issued commands.
    ios: u64,
    /// Number of them that waited for room.
    waited_ios: u64,
    longest_ns: u64,
    /// Due time of the first command that waited.
    first_ns: Option<u64>,
    /// Due time of the first command that waited since the queue last had room, or `None` if it has room.
    since_ns: Option<u64>,
    /// Due time of the first command whose wait a person feels, or `None` without one.
    felt_ns: Option<u64>,
}

impl Backlog {
    /// Counts the issue of a command that was due at `due_ns`, where the last room came free at
    /// `freed_ns`.
    #[inline]
    pub(crate) fn issued(&mut self, due_ns: u64, freed_ns: u64) {
        self.ios += 1;
        let waited_ns = freed_ns.saturating_sub(due_ns);
        if waited_ns == 0 {
            self.since_ns = None;
            return;
        }
        self.waited_ios += 1;
        self.longest_ns = self.longest_ns.max(waited_ns);
        self.first_ns.get_or_insert(due_ns);
        let since_ns = *self.since_ns.get_or_insert(due_ns);
        if waited_ns >= WAIT_NS {
            self.felt_ns.get_or_insert(since_ns);
        }
    }

    /// Time at which the target began to fall behind: a command waited for room as long as a person
    /// feels, or most commands waited; `None` if it kept up.
    pub fn begin(&self) -> Option<Nanos> {
        let most_waited = self.waited_ios * 2 > self.ios;
        self.felt_ns.or(self.first_ns.filter(|_| most_waited)).map(Nanos)
    }

    /// The sentence about it in a phase that began at `start`, or `None` if the target kept up.
    pub(crate) fn sentence(&self, who: &str, start: Nanos) -> Option<String> {
        let begin = self.begin()?;
        Some(format!(
            "{who}: the target could not keep up from second {}: {} of {} commands found the queue full when they were \
             due, and waited up to {} for room; their latencies contain the wait",
            begin.0.saturating_sub(start.0) / Nanos::SECOND.0,
            self.waited_ios,
            self.ios,
            time(self.longest_ns as f64)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// The second of the begin, of commands due every 10 ms that wait this long.
    fn second(waits_ms: &[u64]) -> Option<u64> {
        let mut backlog = Backlog::default();
        for (due_ns, wait_ms) in (0..).step_by(10 * MS as usize).zip(waits_ms) {
            backlog.issued(due_ns, due_ns + wait_ms * MS);
        }
        backlog.begin().map(|begin| begin.0 / Nanos::SECOND.0)
    }

    #[test]
    fn a_target_falls_behind_where_the_waits_begin_that_grow() {
        let mut waits = vec![0; 1000];
        assert_eq!(second(&waits), None);
        // Short waits in second 1, and a row of waits from second 3 on that a person feels at last.
        waits[150] = 20;
        assert_eq!(second(&waits), None);
        (300..420).for_each(|i| waits[i] = (i - 299) as u64);
        assert_eq!(second(&waits), Some(3));
        let mut backlog = Backlog::default();
        backlog.issued(5_000 * MS, 5_200 * MS);
        let text = backlog.sentence("phase `replay`", Nanos(1_000 * MS)).unwrap();
        assert!(text.contains("could not keep up from second 4: 1 of 1 commands"), "{text}");
    }

    #[test]
    fn a_load_of_which_most_waits_is_too_much() {
        assert_eq!(second(&[0, 0, 1, 1, 1]), Some(0));
        assert_eq!(second(&[0, 0, 0, 1, 1]), None);
    }
}
