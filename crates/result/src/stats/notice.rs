//! "Would I notice?": the effects of a run that a person can feel, without another drive for
//! comparison.
//!
//! There are two thresholds. A person feels a wait of about 0.1 s as lag, and by the reviews of the
//! time 50 MB/s of random writes serve a desktop. The load of a consistency run is far heavier than
//! that of a desktop. A "no" is therefore a strong answer, and a "yes" applies to this load. If the
//! test sets a rate, the MB/s depend on the test and not on the drive: then only waits count.

use super::findings::{count, percent, time};
use super::latency::{Latencies, WAIT_NS};
use super::rates::{full_intervals, mb_per_s};
use crate::marks::Reason;
use crate::rows::PhaseRows;
use crate::schema::{Finding, MarkKind, Run};

/// Random writes that serve a desktop, decimal MB/s.
pub const DESKTOP_MB_PER_S: f64 = 50.0;
/// Waits are rare: fewest seconds and commands for an answer.
pub const SECONDS_MIN: usize = 30;
/// See [`SECONDS_MIN`].
pub const COMMANDS_MIN: u64 = 10_000;

/// The effects of a load that a person could notice.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Notice {
    /// Commands that took 0.1 s or longer.
    pub waits: u64,
    /// All commands.
    pub commands: u64,
    /// Seconds of the load.
    pub seconds: usize,
    /// Sum of the latencies of those commands, from the lower edges of their bins.
    pub waited_ns: u64,
    /// Share of the seconds that moved less than 50 MB/s; `None` if the test set the rate.
    pub slow_share: Option<f64>,
}

impl Notice {
    /// The effects in the rows of a phase. `is_paced` tells whether the test set the rate of its
    /// commands.
    pub fn of(rows: &PhaseRows, is_paced: bool) -> Self {
        let mut notice = Self { seconds: rows.seconds.len(), ..Self::default() };
        for (lower_ns, bin) in Latencies::of(rows, 0..u32::MAX).histogram().bins() {
            notice.commands += bin;
            if lower_ns >= WAIT_NS {
                notice.waits += bin;
                notice.waited_ns = notice.waited_ns.saturating_add(lower_ns.saturating_mul(bin));
            }
        }
        let rates: Vec<f64> =
            full_intervals(&rows.seconds).into_iter().filter_map(mb_per_s).collect();
        let slow_share = super::summary::share_below(&rates, DESKTOP_MB_PER_S);
        notice.slow_share = slow_share.filter(|_| !is_paced);
        notice
    }

    /// The metrics `notice_waits`, `notice_waited_s` and `notice_slow_seconds_share`.
    pub fn metrics(&self) -> [(&'static str, Option<f64>); 3] {
        let known = self.commands > 0;
        let waited_s = self.waited_ns as f64 / 1e9;
        let is_in_turn = waited_s <= self.seconds as f64;
        [
            ("notice_waits", known.then_some(self.waits as f64)),
            ("notice_waited_s", (known && is_in_turn).then_some(waited_s)),
            ("notice_slow_seconds_share", self.slow_share),
        ]
    }

    /// The reason why so few commands and seconds answer nothing, or `None` if they do.
    pub fn obstacle(&self) -> Option<Reason> {
        let is_enough = self.seconds >= SECONDS_MIN && self.commands >= COMMANDS_MIN;
        let commands = if self.commands < 1_000 {
            self.commands.to_string()
        } else {
            count(self.commands as f64)
        };
        let text = format!("{commands} commands in {} s are too few", self.seconds);
        (!is_enough).then_some(Reason { kind: MarkKind::FewSamples, text })
    }

    /// The answer in plain words; `None` without measurements.
    pub fn finding(&self) -> Option<Finding> {
        if self.commands == 0 {
            return None;
        }
        let Some(obstacle) = self.obstacle() else { return Some(self.answer()) };
        let text = format!("Would I notice? Nobody can tell: {} for rare waits.", obstacle.text);
        Some(Finding { text, metric: "notice_waits".to_owned() })
    }

    fn answer(&self) -> Finding {
        let answer = match (self.waits, self.slow_share) {
            (0, None | Some(0.0)) => "No",
            (0, Some(_)) => "Hardly, unless you write this much yourself",
            (_, Some(0.0)) => "Now and then",
            _ => "Yes, under this load",
        };
        let seconds = self.slow_share.map(|share| slow_words(self.waits, share));
        let text = format!(
            "Would I notice? {answer}: {}{}.",
            self.wait_words(),
            seconds.unwrap_or_default()
        );
        let by_seconds = self.waits == 0 && self.slow_share.is_some();
        let metric = if by_seconds { "notice_slow_seconds_share" } else { "notice_waits" };
        Finding { text, metric: metric.to_owned() }
    }

    fn wait_words(&self) -> String {
        match self.waits {
            0 => "no command took 0.1 s or longer".to_owned(),
            1 => format!("one command took 0.1 s or longer ({})", time(self.waited_ns as f64)),
            many => format!(
                "{} of {} commands took 0.1 s or longer",
                count(many as f64),
                count(self.commands as f64)
            ),
        }
    }
}

/// The part of the sentence about slow seconds, joined to that about waits.
fn slow_words(waits: u64, share: f64) -> String {
    let joint = if (waits == 0) == (share == 0.0) { "and" } else { "but" };
    let seconds = if share == 0.0 {
        "no second".to_owned()
    } else {
        format!("{} of the seconds", percent(share))
    };
    format!(", {joint} {seconds} fell below the 50 MB/s that serve a desktop")
}

/// Whether the configuration of a run sets the rate of its commands, so that its MB/s do not depend
/// on the drive.
pub fn is_paced(run: &Run) -> bool {
    let rate = run.config.get("rate").and_then(serde_json::Value::as_str);
    rate.is_some_and(|rate| rate != "max")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{LatencyRow, SecondRow};
    use base::OpKind;

    /// Seconds that move this number of bytes, and latencies in ns with their counts.
    fn rows(bytes: &[u64], latencies: &[(u64, u64)]) -> PhaseRows {
        let second = |bytes: &u64| SecondRow {
            duration_ns: 1_000_000_000,
            bytes: [0, *bytes, 0, 0],
            ..SecondRow::default()
        };
        let bin = |&(lower_ns, count): &(u64, u64)| LatencyRow {
            second: 0,
            op: OpKind::Write,
            lower_ns,
            count,
        };
        PhaseRows {
            seconds: bytes.iter().map(second).collect(),
            latencies: latencies.iter().map(bin).collect(),
        }
    }

    fn text(bytes: &[u64], latencies: &[(u64, u64)]) -> String {
        Notice::of(&rows(bytes, latencies), false).answer().text
    }

    #[test]
    fn an_even_drive_is_not_noticed() {
        let text = text(&[60_000_000; 4], &[(50_000, 1_000)]);
        assert_eq!(
            text,
            "Would I notice? No: no command took 0.1 s or longer, and no second fell below the \
             50 MB/s that serve a desktop."
        );
    }

    #[test]
    fn waits_and_slow_seconds_are_counted() {
        let notice =
            Notice::of(&rows(&[60_000_000, 10_000_000], &[(50_000, 98), (1 << 28, 2)]), false);
        assert_eq!((notice.waits, notice.commands, notice.slow_share), (2, 100, Some(0.5)));
        let waited_s = notice.metrics()[1].1.unwrap();
        // Two waits of 0.268 s, to within a bin.
        assert!((waited_s / 0.537 - 1.0).abs() < 0.01, "{waited_s}");
        let side_by_side = Notice::of(&rows(&[60_000_000], &[(1 << 28, 32)]), false);
        assert_eq!(side_by_side.metrics()[1].1, None, "8.6 s of waits in a second");
        let text = notice.answer().text;
        assert!(text.contains("Yes, under this load: 2 of 100 commands"), "{text}");
        assert!(text.contains("50% of the seconds"), "{text}");
    }

    #[test]
    fn either_alone_has_its_own_answer() {
        assert!(text(&[60_000_000], &[(1 << 30, 1)]).contains("Now and then: one command"));
        assert!(text(&[1_000_000], &[(50_000, 9)]).contains("Hardly, unless"));
        assert_eq!(Notice::of(&PhaseRows::default(), false).finding(), None);
    }

    #[test]
    fn few_commands_and_seconds_answer_nothing() {
        let of = |seconds: usize, commands| {
            Notice::of(&rows(&vec![60_000_000; seconds], &[(50_000, commands)]), false)
        };
        let text = |seconds, commands| of(seconds, commands).finding().unwrap().text;
        assert_eq!(
            text(2, 672),
            "Would I notice? Nobody can tell: 672 commands in 2 s are too few for rare waits."
        );
        assert!(text(29, 10_000).contains("Nobody can tell"));
        assert!(text(30, 10_000).starts_with("Would I notice? No:"), "{}", text(30, 10_000));
        assert_eq!(of(30, 9_999).obstacle().unwrap().kind, MarkKind::FewSamples);
    }

    #[test]
    fn all_but_one_second_is_not_all_of_them() {
        let mut bytes = [1_000_000; 2_000];
        bytes[0] = 60_000_000;
        let text = text(&bytes, &[(50_000, 9)]);
        assert!(text.contains("more than 99.9% of the seconds fell below"), "{text}");
    }

    #[test]
    fn a_rate_of_the_test_is_not_held_against_the_drive() {
        let paced = |latencies| Notice::of(&rows(&[4_096_000; 9], latencies), true);
        let even = paced(&[(50_000, 9_000)]);
        assert_eq!(even.metrics()[2], ("notice_slow_seconds_share", None));
        let finding = even.answer();
        assert_eq!(finding.text, "Would I notice? No: no command took 0.1 s or longer.");
        assert_eq!(finding.metric, "notice_waits");
        let text = paced(&[(50_000, 8_999), (1 << 30, 1)]).answer().text;
        assert!(
            text.starts_with("Would I notice? Yes, under this load: one command took"),
            "{text}"
        );
        assert!(!text.contains("50 MB/s"), "{text}");
    }
}
