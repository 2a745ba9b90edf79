//! Append zones: the price of several sequential streams, as log-structured stores and zoned file
//! systems write them.
//!
//! Method (after the zone streams of SSD-iq: Haas et al., PVLDB 18(11), 2025): for each number of
//! zones, each size and with and without deallocation a purge, a sequential fill, and appends of
//! `overwrites` spans and of one more, which is measured. A command continues one of the active zones
//! at random; a full zone is exchanged for a random one that is not active, which is deallocated
//! first if asked. Differences: commands of 128 KiB at QD 32 in place of 512 KiB at QD 1.
//!
//! Interpretation: 1 is ideal. The zones that are written at the same time share the drive's blocks;
//! when one of them is rewritten, the others are still valid there, and cleaning must move them.
//! More zones and smaller ones make that worse, deallocation makes the end of a zone known early,
//! and placement handles (`handles`) keep zones apart.

use base::{Bytes, OpKind};
use load::{Order, Workload};
use result::schema::{Finding, Table, TableRow};
use serde_json::Value;

use crate::error::RunError;
use crate::params::{Param, Params};
use crate::suite::amplification::{Amplification, split};
use crate::suite::keys::{Block, Count, Entry, Key, List, Plain, QueueDepth, Reading, settings};
use crate::suite::{
    Chapter, Chart, Definition, Figures, Measurements, Notes, Part, ReviewEntry, Site, Step,
    TestSettings, open_loop, rates, steps,
};

/// The test.
pub(crate) const DEFINITION: Definition = Definition {
    name: "streams",
    heading: "Append zones",
    question: "what do several sequential streams at a time cost, and does deallocation help?",
    closed_loop: Some(open_loop::QUEUE_FULL),
    reviews: &[ReviewEntry {
        whole: true,
        ..ReviewEntry::alone(
            "zones=1,8 zone_sizes=1GiB deallocate=true overwrites=1",
            "other numbers and sizes of zones, zones that are overwritten without deallocation, and a steady state where \
             one span of writes is too few. It writes the whole target six times",
        )
    }],
    charts: &[
        Chart::Curves { table: "waf", units: &["WAF"], log_rows: true },
        Chart::Curves { table: "rates", units: &["MB/s"], log_rows: true },
    ],
    ..Definition::of::<Settings>(Chapter::SteadyState, 5)
};

/// A size of zones, and their treatment before they are written again.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Kind {
    /// As asked.
    size: Bytes,
    /// On this target: in proportion to a small simulated drive.
    zone_bytes: u64,
    deallocate: bool,
}

impl Kind {
    /// Name of the step with this number of zones.
    fn step(self, zones: u32) -> String {
        let end = if self.deallocate { "deallocated" } else { "overwritten" };
        format!("zones{zones}_{}_{end}", self.size)
    }

    /// Its column.
    fn words(self) -> String {
        let end = if self.deallocate { "deallocated" } else { "overwritten" };
        format!("{}, {end}", self.size)
    }
}

settings! {
    /// Numbers and sizes of the zones.
    struct Settings {
        zones: List<u32> = Param::new("zones", "1,2,4,8,16,32", "zones written at a time");
        kinds: Kinds = Param::new("zone_sizes", "256MiB,1GiB,4GiB", "sizes of a zone"),
            with Param::new(
                "deallocate",
                "true,false",
                "whether a zone is deallocated before it is written again",
            );
        handles: Plain<u8> = Param::new(
            "handles",
            "0",
            "placement handles that zones share; 0: none",
        );
        overwrites: Count = Param::new(
            "overwrites",
            "2",
            "spans appended before the measured one",
        );
        block_bytes: Block = Param::new("block", "128KiB", "size of the commands");
        queue_depth: QueueDepth = Param::new("queue_depth", "32", "commands kept outstanding");
    }
}

/// Sizes and treatments that the target permits; a note tells what a default cannot have.
enum Kinds {}

impl Key for Kinds {
    type Value = Vec<Kind>;

    fn read(Reading { name, params, site, notes }: Reading<'_>) -> Result<Vec<Kind>, RunError> {
        let sizes: Vec<Bytes> = params.list(name)?;
        let mut treatments: Vec<bool> = params.list("deallocate")?;
        if !site.limits.deallocate && !params.is_set("deallocate") {
            treatments.retain(|deallocate| !deallocate);
            let target = &site.identity.name;
            notes.push(format!("{target} cannot deallocate: zones are only overwritten"));
        }
        let block_bytes = params.block_bytes("block")?;
        let scaled = |size: Bytes| match site.identity.scale() {
            Some(scale) if !params.is_set(name) => {
                scale.of(size.0).next_multiple_of(block_bytes.into())
            }
            _ => size.0,
        };
        let of_size = |size: &Bytes| {
            let (size, zone_bytes) = (*size, scaled(*size));
            treatments.iter().map(move |&deallocate| Kind { size, zone_bytes, deallocate })
        };
        Ok(sizes.iter().flat_map(of_size).collect())
    }
}

impl Entry for Vec<Kind> {
    fn entries(&self, _: &str) -> Vec<(String, Value)> {
        let mut sizes: Vec<u64> = self.iter().map(|kind| kind.zone_bytes).collect();
        sizes.dedup();
        steps::entries([("zone_bytes", sizes.into())])
    }
}

impl TestSettings for Settings {
    fn check(
        &mut self,
        params: &Params,
        site: &Site<'_>,
        notes: &mut Notes,
    ) -> Result<(), RunError> {
        let is_set = ["zones", "zone_sizes"].iter().any(|name| params.is_set(name));
        let left_out = self.left_out(site);
        if let Some(why) = left_out.first().filter(|_| is_set) {
            return Err(RunError::Usage(format!(
                "`--set zones={} --set zone_sizes={}`: {why}",
                params.text("zones"),
                params.text("zone_sizes")
            )));
        }
        notes.extend(left_out);
        Ok(())
    }

    fn steps(&self, site: &Site<'_>, _: &mut Notes) -> Vec<Step> {
        let mut phases = Vec::new();
        for (zones, kind) in
            self.all().filter(|(zones, kind)| self.fits(site, *zones, *kind).is_ok())
        {
            // One step: a second one would begin other zones and leave the active ones half written.
            let appends = self.appends(site, kind, zones, self.overwrites.saturating_add(1));
            phases.extend([steps::purge(), site.fill("precondition", site.span_bytes)]);
            phases.push(steps::to_its_end(&kind.step(zones), appends));
        }
        steps::once(phases)
    }

    fn figures(&self, measured: &Measurements<'_>) -> Figures {
        let mut figures = Figures::default();
        let names: Vec<String> = self.kinds.iter().map(|kind| kind.words()).collect();
        let table = |name: &str, title: &str, unit: &str| {
            let columns: Vec<_> = names.iter().map(|words| (words.as_str(), unit)).collect();
            rates::table(name, title, "zones at a time", &columns)
        };
        let mut waf = table("waf", "Write amplification of append zones", "WAF");
        let mut speed = table("rates", "Append zones", "MB/s");
        for &zones in &self.zones {
            let of_kind = |kind: &Kind| add_step(&mut figures, measured, &kind.step(zones));
            let (amplified, rate) = self.kinds.iter().map(of_kind).unzip();
            let label = zones.to_string();
            waf.rows.push(TableRow { label: label.clone(), values: amplified });
            speed.rows.push(TableRow { label, values: rate });
        }
        figures.findings.extend(self.sentence(measured, &waf));
        figures.tables.extend([waf, speed]);
        figures
    }
}

impl Settings {
    /// Every number of zones of every kind.
    fn all(&self) -> impl Iterator<Item = (u32, Kind)> {
        self.kinds.iter().flat_map(|&kind| self.zones.iter().map(move |&zones| (zones, kind)))
    }

    fn fits(&self, site: &Site<'_>, zones: u32, kind: Kind) -> Result<(), load::WorkloadError> {
        self.appends(site, kind, zones, 1).check(site.limits.logical_block_bytes)
    }

    /// The steps for which the span has no room, each with the rule.
    fn left_out(&self, site: &Site<'_>) -> Vec<String> {
        let obstacle = |(zones, kind): (u32, Kind)| {
            let error = self.fits(site, zones, kind).err()?;
            Some(format!("{zones} zones of {} are not possible: {error}", kind.words()))
        };
        self.all().filter_map(obstacle).collect()
    }

    fn appends(&self, site: &Site<'_>, kind: Kind, zones: u32, spans: u32) -> Workload {
        let Kind { zone_bytes, deallocate, .. } = kind;
        let append = load::order::Append { zones, zone_bytes, deallocate, handles: self.handles };
        let (block, depth, span) = (self.block_bytes, self.queue_depth, site.span_bytes);
        let workload = Workload::new(OpKind::Write, Order::Append(append), block, depth, span);
        Workload { limit_bytes: Some(span.saturating_mul(spans.into())), ..workload }
    }

    /// The fewest zones and the most.
    fn sentence(&self, measured: &Measurements<'_>, waf: &Table) -> Option<Finding> {
        let (at, kind) = self.kinds.iter().enumerate().next()?;
        let value = |row: &TableRow| row.values.get(at).copied().flatten();
        let known = || waf.rows.iter().filter_map(|row| Some((&row.label, value(row)?)));
        let ((few, low), (many, high)) = (known().next()?, known().next_back()?);
        let zones = many.parse().ok()?;
        let text = format!(
            "programs {low:.2} pages for each of {few} append zone(s) of {}, and {high:.2} with {many} at a time",
            kind.words()
        );
        let metric = format!("streams.{}.waf", kind.step(zones));
        (few != many).then(|| rates::finding(measured, &metric, &text))
    }
}

/// The figures of the last span of one step; returns WAF and MB/s.
fn add_step(
    figures: &mut Figures,
    measured: &Measurements<'_>,
    step: &str,
) -> (Option<f64>, Option<f64>) {
    let parts = measured.complete(step).map(|part| split(part, measured.run.span.span_bytes));
    let [before, part] = [0, 1].map(|at| {
        let (phase, rows) = &parts.as_ref()?[at];
        Some(Part { phase, rows })
    });
    let found = before.zip(part).map(|(before, part)| {
        Amplification::of(measured, measured.run.span.span_bytes, before, part)
    });
    let name = format!("streams.{step}");
    Amplification::add_to(found, figures, &name);
    rates::add_rates(figures, &name, part);
    rates::mark_unsteady(figures, measured, &name, part);
    (found.and_then(|found| found.counted), part.and_then(|part| part.mb_per_s()))
}
