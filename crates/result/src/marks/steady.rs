//! Was a drive in steady state during a window of its load?
//!
//! A window without writes needs no cleaning. A simulated drive tells whether it cleans up: it
//! moves pages, or it erases superblocks that need no move (whole zones, data in LBA order). It must
//! do so in both halves of the window, so that a beginning does not count. A drive that tells
//! nothing must have written its span twice before the window, and its pace must keep the rule of
//! the SNIA PTS over five equal rounds of it: the scatter of single seconds is legitimate.

use base::{OpKind, TelemetryRow};

use crate::rows::SecondRow;
use crate::stats::rates::seconds;
use crate::stats::steady::{PTS_RANGE_SHARE_MAX, PTS_SLOPE_SHARE_MAX, PTS_WINDOW, Window};

/// Writes of the span before a window of a drive that tells nothing about itself.
pub const SPANS_WRITTEN_MIN: f64 = 2.0;

const NO_CLEANING: &str = "garbage collection was not seen: 0 pages moved";

/// The writes before a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Before {
    /// Bytes written since the drive was fresh, as far as it is known.
    pub written_bytes: u64,
    /// Span of the writes, or `None` if it is unknown.
    pub span_bytes: Option<u64>,
}

impl Before {
    /// The writes so far and those of the rows that come next.
    #[must_use]
    pub fn then(self, rows: &[SecondRow]) -> Self {
        let written_bytes = self.written_bytes.saturating_add(written(rows));
        Self { written_bytes, ..self }
    }
}

/// The reason why a drive was not in steady state over these rows, or `None` if it was.
pub fn obstacle(rows: &[SecondRow], before: Before) -> Option<String> {
    if written(rows) == 0 && rows.iter().any(|row| row.ios[OpKind::Read.index()] > 0) {
        return None;
    }
    if rows.iter().any(|row| row.telemetry.is_some()) {
        return no_cleaning(rows);
    }
    few_spans(before).or_else(|| drift(rows))
}

/// The reason why no part of a drive's past can be steady: over all these phases it never cleaned up,
/// or it tells nothing and wrote too little, together with what was before. `None` if there is none.
pub fn obstacle_of_past(phases: &[&[SecondRow]], before: Before) -> Option<String> {
    if phases.iter().any(|rows| cleaning_start(rows).is_some()) {
        return None;
    }
    if phases.iter().any(|rows| rows.iter().any(|row| row.telemetry.is_some())) {
        return Some(NO_CLEANING.to_owned());
    }
    few_spans(phases.iter().fold(before, |before, rows| before.then(rows)))
}

/// The first second from which on cleaning is seen; `None` without it, and for a drive that tells
/// nothing.
pub fn cleaning_start(rows: &[SecondRow]) -> Option<u32> {
    rows.iter().find(|row| row.telemetry.is_some_and(|it| cleans(&it))).map(|row| row.second)
}

fn written(rows: &[SecondRow]) -> u64 {
    rows.iter().map(|row| row.bytes[OpKind::Write.index()]).sum()
}

fn cleans(row: &TelemetryRow) -> bool {
    row.gc_moved_pages + row.folded_pages + row.erased_superblocks > 0
}

fn no_cleaning(rows: &[SecondRow]) -> Option<String> {
    let (early, late) = rows.split_at(rows.len() / 2);
    let is_seen = |rows: &[SecondRow]| cleaning_start(rows).is_some();
    match (is_seen(early) || early.is_empty(), is_seen(late)) {
        (true, true) => None,
        (false, true) => Some("garbage collection began only during these seconds".to_owned()),
        _ if is_seen(early) => Some("garbage collection was not seen until the end".to_owned()),
        _ => Some(NO_CLEANING.to_owned()),
    }
}

fn few_spans(Before { written_bytes, span_bytes }: Before) -> Option<String> {
    let Some(span_bytes) = span_bytes.filter(|bytes| *bytes > 0) else {
        return Some("nobody knows to which span was written, and how much before".to_owned());
    };
    let spans = written_bytes as f64 / span_bytes as f64;
    // Rounded down, so that the text never says 2.0 of 2.
    let shown = (spans * 10.0).floor() / 10.0;
    (spans < SPANS_WRITTEN_MIN)
        .then(|| format!("{shown:.1} times the span written before; {SPANS_WRITTEN_MIN} needed"))
}

/// The pace by the rule of the PTS over five rounds.
fn drift(rows: &[SecondRow]) -> Option<String> {
    let rounds = rounds(rows);
    let Some(window) = Window::last(&rounds, PTS_WINDOW) else {
        return Some(format!("{} seconds; {PTS_WINDOW} needed", rows.len()));
    };
    let share = |value: f64| value / window.mean.max(f64::MIN_POSITIVE);
    let (range, slope) = (share(window.range), share(window.slope_excursion()));
    let percent = |share: f64| 100.0 * share;
    if window.is_pts_steady() {
        None
    } else if range > PTS_RANGE_SHARE_MAX {
        Some(format!(
            "five equal rounds differ by {:.0}% of their mean; {:.0}% permitted",
            percent(range),
            percent(PTS_RANGE_SHARE_MAX)
        ))
    } else {
        Some(format!(
            "the pace drifts by {:.0}% of its mean; {:.0}% permitted",
            percent(slope),
            percent(PTS_SLOPE_SHARE_MAX)
        ))
    }
}

/// Commands per second in five equal parts of the rows; empty for fewer rows.
fn rounds(rows: &[SecondRow]) -> Vec<f64> {
    if rows.len() < PTS_WINDOW {
        return Vec::new();
    }
    let ends = (0..=PTS_WINDOW).map(|round| round * rows.len() / PTS_WINDOW);
    let ends: Vec<_> = ends.collect();
    let rate = |ends: &[usize]| {
        let rows = &rows[ends[0]..ends[1]];
        let ios: u64 = rows.iter().flat_map(|row| row.ios).sum();
        let time_s = seconds(rows.iter().map(|row| row.duration_ns).sum());
        ios as f64 / time_s.max(f64::MIN_POSITIVE)
    };
    ends.windows(2).map(rate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPAN: u64 = 1_000_000;

    /// Seconds of writes at these rates; a drive that tells its moved pages, or nothing.
    fn rows(rates: &[u64], moved: Option<&dyn Fn(usize) -> u64>) -> Vec<SecondRow> {
        let row = |(at, &ios): (usize, &u64)| SecondRow {
            second: at as u32,
            start_ns: at as u64 * 1_000_000_000,
            duration_ns: 1_000_000_000,
            ios: [0, ios, 0, 0],
            bytes: [0, ios * 4_096, 0, 0],
            telemetry: moved.map(|moved| TelemetryRow {
                host_pages: ios,
                gc_moved_pages: moved(at),
                ..TelemetryRow::default()
            }),
            ..SecondRow::default()
        };
        rates.iter().enumerate().map(row).collect()
    }

    fn before(spans: f64) -> Before {
        Before { written_bytes: (spans * SPAN as f64) as u64, span_bytes: Some(SPAN) }
    }

    #[test]
    fn a_drive_that_tells_is_steady_only_while_it_cleans() {
        let of =
            |moved: &dyn Fn(usize) -> u64| obstacle(&rows(&[900; 20], Some(moved)), before(9.0));
        assert_eq!(of(&|_| 0).unwrap(), "garbage collection was not seen: 0 pages moved");
        assert!(of(&|at| u64::from(at > 14)).unwrap().contains("began only"));
        assert!(of(&|at| u64::from(at < 5)).unwrap().contains("until the end"));
        assert_eq!(of(&|at| u64::from(at % 8 == 0)), None, "in both halves");
        assert_eq!(cleaning_start(&rows(&[9; 9], Some(&|at| u64::from(at > 3)))), Some(4));
    }

    #[test]
    fn superblocks_that_are_erased_without_a_move_are_cleaning_too() {
        let mut zoned = rows(&[900; 20], Some(&|_| 0));
        for row in zoned.iter_mut().step_by(3) {
            row.telemetry.as_mut().unwrap().erased_superblocks = 1;
        }
        assert_eq!(obstacle(&zoned, before(0.0)), None);
    }

    #[test]
    fn a_silent_drive_needs_two_spans_and_an_even_pace() {
        let of = |rates: &[u64], spans| obstacle(&rows(rates, None), before(spans));
        let scatter: Vec<u64> = (0..100).map(|at| 600 + at % 2 * 600).collect();
        assert_eq!(of(&scatter, 2.0), None, "single seconds may differ");
        assert_eq!(of(&scatter, 1.99).unwrap(), "1.9 times the span written before; 2 needed");
        let falls: Vec<u64> = (0..100).map(|at| if at < 40 { 900 } else { 500 }).collect();
        assert!(of(&falls, 3.0).unwrap().starts_with("five equal rounds differ by 6"));
        let slope: Vec<u64> = (0..100).map(|at| 1_000 + at * 18 / 10).collect();
        assert!(of(&slope, 3.0).unwrap().contains("drifts by 1"), "{:?}", of(&slope, 3.0));
        assert_eq!(of(&[900; 4], 3.0).unwrap(), "4 seconds; 5 needed");
        let unknown = Before { span_bytes: None, ..before(9.0) };
        assert!(obstacle(&rows(&scatter, None), unknown).unwrap().contains("nobody knows"));
    }

    #[test]
    fn a_past_is_judged_by_all_its_phases() {
        let (fresh, cleaning) = (rows(&[9; 9], Some(&|_| 0)), rows(&[9; 9], Some(&|at| at as u64)));
        assert_eq!(obstacle_of_past(&[&cleaning, &fresh], before(0.0)), None);
        assert_eq!(obstacle_of_past(&[&fresh], before(0.0)).as_deref(), Some(NO_CLEANING));
        let silent = rows(&[250; 1], None);
        assert_eq!(obstacle_of_past(&[&silent, &silent], before(0.0)), None);
        assert!(obstacle_of_past(&[&silent], before(0.0)).unwrap().starts_with("1.0 times"));
    }

    #[test]
    fn reads_need_no_cleaning() {
        let mut reads = rows(&[900; 4], Some(&|_| 0));
        for row in &mut reads {
            (row.ios, row.bytes) = ([900, 0, 0, 0], [900 * 4_096, 0, 0, 0]);
        }
        assert_eq!(obstacle(&reads, before(0.0)), None);
        assert_eq!(before(1.0).then(&reads), before(1.0), "reads are no writes");
        assert!(before(1.0).then(&rows(&[900; 4], None)).written_bytes > SPAN);
    }
}
