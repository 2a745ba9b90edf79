//! Write amplification (WAF) of a step, with its source.
//!
//! A simulated drive counts its pages. Real drives count, if they do, the bytes that they program
//! (OCP log C0h); these counters are read during a run. Without them only the rate is left: a drive
//! that programs four pages for each of the host is about a fourth as fast as one that programs
//! one. That estimate is too high where cleaning also reads (SSD-iq: 2.14 implied, 1.89 counted), and
//! too low where the controller limits the fresh rate. It compares a drive only with itself.

use base::TelemetryRow;
use result::rows::{PhaseRows, SecondRow};
use result::schema::{Mark, MarkKind, Phase};
use result::stats::health::{waf_around, waf_between};
use result::stats::rates::waf;

use super::{Figures, Measurements, Part};

/// The first writes after a fill go to spare blocks: this share of the span, in percent, belongs to
/// the fresh rate.
const FRESH_PERCENT: u64 = 2;
/// A WAF that differs by more than this share from the one before is not steady.
const STEADY_SHARE: f64 = 0.05;
/// Source of the health of drives that are read only between phases.
const ATA: &str = "ata-smart";

/// The source of a write amplification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The pages of a simulated drive.
    Simulated,
    /// The drive's own counters.
    Counters,
    /// The rate alone.
    Rate,
}

impl Source {
    /// Its words, for conditions.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Simulated => "pages counted by the simulated drive",
            Self::Counters => "counters of the drive",
            Self::Rate => "implied by the rate: the drive counts no NAND writes",
        }
    }
}

/// The write amplification of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Amplification {
    /// Pages or bytes programmed for each of the host; `None` if nothing counts them.
    pub(crate) counted: Option<f64>,
    /// The rate on spare blocks over the rate of the step; `None` if one of them is unknown.
    pub(crate) implied: Option<f64>,
    /// The counted value in the last quarter of the step before, or `None` if it is unknown.
    before: Option<f64>,
    /// Source of the best known value.
    pub(crate) source: Source,
}

impl Amplification {
    /// The WAF of `step`, which continues the writes of `settling` on a drive whose first
    /// `span_bytes` were filled before.
    pub(crate) fn of(
        measured: &Measurements<'_>,
        span_bytes: u64,
        settling: Part<'_>,
        step: Part<'_>,
    ) -> Self {
        let seconds = &settling.rows.seconds;
        let settled = &seconds[seconds.len() * 3 / 4..];
        let simulated = waf(&step.rows.seconds);
        let by_counters = simulated.is_none().then(|| counted(measured, step)).flatten();
        let source = match (simulated, by_counters) {
            (Some(_), _) => Source::Simulated,
            (None, Some(_)) => Source::Counters,
            (None, None) => Source::Rate,
        };
        Self {
            counted: simulated.or(by_counters),
            implied: fresh_rate(settling, span_bytes)
                .zip(step.mb_per_s().filter(|rate| *rate > 0.0))
                .map(|(fresh, steady)| fresh / steady),
            before: waf(settled),
            source,
        }
    }

    /// Adds `<name>.waf` and `<name>.waf_implied`, and marks a WAF that still changes.
    pub(crate) fn add_to(this: Option<Self>, figures: &mut Figures, name: &str) {
        let metric = format!("{name}.waf");
        figures.marks.extend(this.and_then(|this| this.unsteady(&metric)));
        figures.metrics.insert(metric, this.and_then(|this| this.counted));
        let implied = this.and_then(|this| this.implied);
        figures.metrics.insert(format!("{name}.waf_implied"), implied);
    }

    /// The mark of a WAF that differs from the one before: it is not steady.
    fn unsteady(&self, metric: &str) -> Option<Mark> {
        let (now, before) = (self.counted?, self.before?);
        ((now / before - 1.0).abs() > STEADY_SHARE).then(|| Mark {
            metric: metric.to_owned(),
            kind: MarkKind::NotSteady,
            text: format!("not steady: {before:.2} before this step, {now:.2} in it"),
            levels: Some([before, now]),
        })
    }
}

/// A step as two: what comes before its last `bytes`, and these; in whole rows.
pub(crate) fn split(part: Part<'_>, bytes: u64) -> [(Phase, PhaseRows); 2] {
    let rows = &part.rows.seconds;
    let moved = |row: &SecondRow| row.bytes.iter().sum::<u64>();
    let mut left = bytes;
    let late = rows.iter().rev().take_while(|row| {
        let belongs = left > 0;
        left = left.saturating_sub(moved(row));
        belongs
    });
    let (early, late) = rows.split_at(rows.len() - late.count());
    [early, late].map(|rows| {
        let start_ns = rows.first().map_or(0, |row| row.start_ns);
        let phase = Phase {
            start_ns: part.phase.start_ns.saturating_add(start_ns),
            duration_ns: rows.iter().map(|row| row.duration_ns).sum(),
            ios: rows.iter().flat_map(|row| row.ios).sum(),
            bytes: rows.iter().map(moved).sum(),
            ..part.phase.clone()
        };
        let shifted =
            |row: &SecondRow| SecondRow { start_ns: row.start_ns - start_ns, ..row.clone() };
        (phase, PhaseRows { seconds: rows.iter().map(shifted).collect(), latencies: Vec::new() })
    })
}

/// Adds `<prefix>waf`, `gc_moved_pages` and `erased_superblocks` of a step; null where the drive does
/// not tell them.
pub(crate) fn add_inside(
    figures: &mut Figures,
    prefix: &str,
    measured: &Measurements<'_>,
    part: Option<Part<'_>>,
) {
    let rows = part.map_or(&[][..], |part| &part.rows.seconds);
    let by_counters = || part.and_then(|part| counted(measured, part));
    let is_simulated = rows.iter().any(|row| row.telemetry.is_some());
    let sum = |value: fn(&TelemetryRow) -> u64| {
        let telemetry = rows.iter().filter_map(|row| row.telemetry.as_ref());
        is_simulated.then(|| telemetry.map(value).sum::<u64>() as f64)
    };
    for (end, value) in [
        ("waf", if is_simulated { waf(rows) } else { by_counters() }),
        ("gc_moved_pages", sum(|row| row.gc_moved_pages)),
        ("erased_superblocks", sum(|row| row.erased_superblocks)),
    ] {
        figures.metrics.insert(format!("{prefix}{end}"), value);
    }
}

/// WAF by the counters of a real drive.
fn counted(measured: &Measurements<'_>, step: Part<'_>) -> Option<f64> {
    let health = measured.run.health.as_ref()?;
    let start_ns = step.phase.start_ns;
    let end_ns = start_ns.saturating_add(step.phase.duration_ns);
    let is_sata = health.before.as_ref().is_some_and(|before| before.source == ATA);
    let waf = if is_sata { waf_around } else { waf_between };
    waf(&health.samples, start_ns, end_ns)
}

/// MB/s of the first writes after the fill: at least a second.
fn fresh_rate(settling: Part<'_>, span_bytes: u64) -> Option<f64> {
    let (mut bytes, mut ns) = (0_u64, 0_u64);
    for row in &settling.rows.seconds {
        let more = row.bytes.iter().sum::<u64>();
        if bytes > 0 && (bytes + more).saturating_mul(100) > span_bytes * FRESH_PERCENT {
            break;
        }
        (bytes, ns) = (bytes + more, ns + row.duration_ns);
    }
    (ns > 0 && bytes > 0).then(|| bytes as f64 * 1e3 / ns as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_bytes_of_a_step_have_rows_and_rates_of_their_own() {
        let row = |second: u32| SecondRow {
            second,
            start_ns: u64::from(second) * 1_000_000_000,
            duration_ns: 1_000_000_000,
            ios: [0, 2, 0, 0],
            bytes: [0, 10, 0, 0],
            ..SecondRow::default()
        };
        let rows = PhaseRows { seconds: (0..10).map(row).collect(), latencies: Vec::new() };
        let phase = Phase { start_ns: 7, ios: 20, bytes: 100, ..Phase::default() };
        let [early, late] = split(Part { phase: &phase, rows: &rows }, 25);
        let seen = |(phase, rows): &(Phase, PhaseRows)| {
            (phase.start_ns, phase.duration_ns, phase.ios, phase.bytes, rows.seconds.len())
        };
        assert_eq!(seen(&early), (7, 7_000_000_000, 14, 70, 7));
        assert_eq!(seen(&late), (7_000_000_007, 3_000_000_000, 6, 30, 3));
        assert_eq!(late.1.seconds[0].start_ns, 0);
    }

    #[test]
    fn an_amplification_that_still_changes_is_marked_with_both_values() {
        let found = |before| {
            let source = Source::Simulated;
            let this = Amplification { counted: Some(3.0), implied: Some(2.5), before, source };
            let mut figures = Figures::default();
            Amplification::add_to(Some(this), &mut figures, "waf.uniform");
            assert_eq!(figures.metrics["waf.uniform.waf"], Some(3.0));
            assert_eq!(figures.metrics["waf.uniform.waf_implied"], Some(2.5));
            figures.marks
        };
        let [mark] = &found(Some(2.0))[..] else { panic!("no mark") };
        assert_eq!((mark.metric.as_str(), mark.levels), ("waf.uniform.waf", Some([2.0, 3.0])));
        assert_eq!(mark.text, "not steady: 2.00 before this step, 3.00 in it");
        assert!(found(Some(2.9)).is_empty() && found(None).is_empty());
    }
}
