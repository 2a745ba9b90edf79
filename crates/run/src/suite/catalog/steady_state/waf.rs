//! Write amplification by pattern: the price of random writes, and the gain from skew.
//!
//! Method (after SSD-iq: Haas et al., "SSD-iq: Uncovering the Hidden Side of SSD Performance", PVLDB
//! 18(11), 2025): for each pattern a purge, a sequential fill of the span, 4 KiB writes of
//! `overwrites` spans at QD 32 until cleaning is steady, and one more span that is measured. The
//! ranks of a pattern are scattered over the span, unless it says `contiguous`. Patterns are written
//! as in workload files: `zipf(0.8)`; `zones(10:90)` gives 90% of the writes to 10% of the data;
//! `read-only(30%)` leaves 30% of the data alone after the fill. Differences: SSD-iq keeps 4 x 128
//! commands outstanding, and writes 5 to 9 spans.
//!
//! Interpretation: 1 is ideal. Uniform writes depend on the spare area alone. With skew, a drive
//! that separates hot from cold data gets far below its uniform value; one that mixes them gains
//! little. Data that is never written costs a drive that moves it again and again. Where nothing
//! counts, the rate on spare blocks over the steady rate implies a WAF; it compares a drive with
//! itself only.
//!
//! On a simulated drive the test simulates a part of the drive by default (`scale`): its write
//! amplification and its rates in steady state are those of the whole drive, for a part of the work.

use crate::error::RunError;
use crate::params::Param;
use crate::suite::amplification::{Amplification, Source};
use crate::suite::drive_share::{self, ShareOfDrive};
use crate::suite::keys::{Block, Content, Count, Key, QueueDepth, Reading, entry, settings};
use crate::suite::{
    Chapter, Chart, Conditions, Definition, Figures, Measurements, Notes, Part, ReviewEntry, Site,
    Step, TestSettings, open_loop, rates, steps,
};
use base::OpKind;
use load::{Order, Workload};
use result::schema::{Table, TableRow};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "waf",
    heading: "Write amplification",
    question: "how much does the drive write for each page of the host, and does skew help it?",
    closed_loop: Some(open_loop::QUEUE_FULL),
    reviews: &[
        ReviewEntry {
            settings: "patterns=uniform;zipf(0.8);zones(10:90) overwrites=2",
            needs_counters: true,
            ..ReviewEntry::FULL
        },
        ReviewEntry {
            whole: true,
            ..ReviewEntry::alone(
                "patterns=uniform;zones(10:90) overwrites=1",
                "the other patterns, and a steady state where one span of writes is too few: the mark `not steady` says \
                 so. It writes the whole target six times",
            )
        },
    ],
    charts: &[Chart::Curves { table: "zipf", units: &["WAF"], log_rows: false }],
    ..Definition::of::<Settings>(Chapter::SteadyState, 3)
};

/// A pattern with its names.
struct Pattern {
    /// As the user wrote it.
    text: String,
    /// Name of its step: the text in letters, digits and underscores.
    step: String,
    order: Order,
}

impl Pattern {
    fn read(text: &str) -> Result<Self, RunError> {
        let text = text.trim();
        let refused = |why: &str| {
            RunError::Usage(format!("`--set patterns=` has `{text}`, which cannot be used: {why}"))
        };
        let order: Order = text.parse().map_err(|error| refused(&format!("{error}")))?;
        if !order.is_independent() {
            return Err(refused(
                "expected a pattern of random writes such as uniform, zipf(0.8), zones(10:90) or read-only(30%)",
            ));
        }
        let words = text.split(|c: char| !c.is_ascii_alphanumeric());
        let step = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_");
        Ok(Self { text: text.to_owned(), step, order })
    }

    /// Name of the phase before the measured one.
    fn settling(&self) -> String {
        format!("precondition_{}", self.step)
    }

    /// The exponent of a Zipf distribution as text, 0 for uniform; `None` for another pattern.
    fn theta(&self) -> Option<String> {
        let thousandths = match &self.order {
            Order::Uniform => 0,
            Order::Zipf { theta, .. } => theta.thousandths,
            _ => return None,
        };
        Some((f64::from(thousandths) / 1000.0).to_string())
    }
}

settings! {
    /// Patterns and volumes.
    struct Settings {
        patterns: Patterns = Param::new(
            "patterns",
            "uniform; zipf(0.2); zipf(0.4); zipf(0.6); zipf(0.8); zipf(1); zones(20:80); \
             zones(10:90); read-only(30%); read-only(60%)",
            "patterns with semicolons between, as in workload files",
        );
        overwrites: Count = Param::new("overwrites", "4", "spans written before the measured one");
        block_bytes: Block = Param::new("block", "4KiB", "size and alignment of the commands");
        queue_depth: QueueDepth = Param::new("queue_depth", "32", "commands kept outstanding");
        simulated: ShareOfDrive = drive_share::SCALE;
        data: Content = steps::DATA;
    }
}

/// Patterns with semicolons between.
enum Patterns {}

entry! {
    Vec<Pattern>: |value| value.iter().map(|pattern| pattern.text.clone()).collect::<Vec<_>>(),
}

impl Key for Patterns {
    type Value = Vec<Pattern>;

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<Vec<Pattern>, RunError> {
        let patterns: Vec<Pattern> =
            params.text(name).split(';').map(Pattern::read).collect::<Result<_, _>>()?;
        let is_twice = |at: &usize| patterns[..*at].iter().any(|p| p.step == patterns[*at].step);
        match (0..patterns.len()).find(is_twice) {
            None => Ok(patterns),
            Some(at) => Err(RunError::Usage(format!(
                "`--set {name}=` has `{}` twice; expected each pattern once",
                patterns[at].text
            ))),
        }
    }
}

impl TestSettings for Settings {
    fn conditions(&self) -> Conditions {
        self.simulated.conditions()
    }

    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        let span = self.simulated.span_bytes;
        let of_pattern = |pattern: &Pattern| {
            let settle = span.saturating_mul(self.overwrites.into());
            let settle = steps::to_its_end(&pattern.settling(), self.writes(pattern, span, settle));
            let measured = steps::to_its_end(&pattern.step, self.writes(pattern, span, span));
            [self.simulated.purge(), site.fill("prepare", span), settle, measured]
        };
        steps::once(self.patterns.iter().flat_map(of_pattern))
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let mut figures = Figures::default();
        let mut table = rates::table("patterns", "Write amplification", "pattern", &COLUMNS);
        let mut zipf = rates::table("zipf", "Write amplification by skew", "zipf exponent", &CURVE);
        let mut known = Vec::new();
        for pattern in &self.patterns {
            let step = measured.complete(&pattern.step);
            let found = self.amplification(measured, pattern, step);
            let row = row(&mut figures, measured, pattern, step, found);
            let theta =
                pattern.theta().map(|label| TableRow { label, values: curve_values(found) });
            zipf.rows.extend(theta);
            table.rows.push(row);
            known.extend(found.map(|found| (pattern, found)));
        }
        let source = known.first().map(|(_, found)| found.source.words().to_owned());
        for table in [&mut table, &mut zipf] {
            table.conditions.extend(source.clone().map(|words| ("WAF".to_owned(), words)));
        }
        figures.findings.extend(known.iter().filter_map(|(p, found)| sentence(measured, p, found)));
        figures.tables.extend([table, in_order(zipf)]);
        figures
    }
}

const COLUMNS: [(&str, &str); 4] =
    [("counted", "WAF"), ("implied by rate", "WAF"), ("rate", "MB/s"), ("commands", "IOPS")];
const CURVE: [(&str, &str); 2] = [("counted", "WAF"), ("implied by rate", "WAF")];

impl Settings {
    fn amplification(
        &self,
        measured: &Measurements<'_>,
        pattern: &Pattern,
        step: Option<Part<'_>>,
    ) -> Option<Amplification> {
        let settling = measured.complete(&pattern.settling())?;
        Some(Amplification::of(measured, self.simulated.span_bytes, settling, step?))
    }

    fn writes(&self, pattern: &Pattern, span_bytes: u64, total_bytes: u64) -> Workload {
        let order = pattern.order.clone();
        let (block, depth) = (self.block_bytes, self.queue_depth);
        let workload = Workload::new(OpKind::Write, order, block, depth, span_bytes);
        Workload { limit_bytes: Some(total_bytes), data: self.data.kind, ..workload }
    }
}

/// The figures of one pattern, and their row.
fn row(
    figures: &mut Figures,
    measured: &Measurements<'_>,
    pattern: &Pattern,
    step: Option<Part<'_>>,
    found: Option<Amplification>,
) -> TableRow {
    let name = format!("waf.{}", pattern.step);
    Amplification::add_to(found, figures, &name);
    rates::add_rates(figures, &name, step);
    rates::mark_unsteady(figures, measured, &name, step);
    let rates = [step.and_then(|part| part.mb_per_s()), step.and_then(|part| part.iops())];
    TableRow {
        label: pattern.text.clone(),
        values: curve_values(found).into_iter().chain(rates).collect(),
    }
}

fn curve_values(found: Option<Amplification>) -> Vec<Option<f64>> {
    vec![found.and_then(|found| found.counted), found.and_then(|found| found.implied)]
}

/// The rows from the least skew on.
fn in_order(mut table: Table) -> Table {
    let theta = |row: &TableRow| row.label.parse().unwrap_or(0.0);
    table.rows.sort_by(|a, b| f64::total_cmp(&theta(a), &theta(b)));
    table
}

fn sentence(
    measured: &Measurements<'_>,
    pattern: &Pattern,
    found: &Amplification,
) -> Option<result::schema::Finding> {
    let Pattern { text, step, .. } = pattern;
    Some(match (found.source, found.counted, found.implied) {
        (Source::Rate, _, Some(implied)) => {
            let text = format!(
                "slows down by a factor of {implied:.2} under writes by `{text}`, which implies a write \
                 amplification of about that; it counts no NAND writes"
            );
            rates::finding(measured, &format!("waf.{step}.waf_implied"), &text)
        }
        (_, Some(counted), _) => {
            let text = format!("programs {counted:.2} pages for each page written by `{text}`");
            rates::finding(measured, &format!("waf.{step}.waf"), &text)
        }
        _ => return None,
    })
}
