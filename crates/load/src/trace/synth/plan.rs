//! The decks of a trace: plain numbers.

use base::Ratio;

use super::calibrate::{self, Cell};
use super::scenario::{AppSpec, PhaseSpec, Scenario, TraceTotals};
use crate::trace::TraceError;

/// One program.
#[derive(Clone, Debug)]
pub(super) struct AppPlan {
    pub(super) stream: u32,
    pub(super) cells: Vec<Cell>,
    /// First page of 4 KiB and number of pages of its region.
    pub(super) first_page: u64,
    pub(super) pages: u64,
    /// Pages at the start of its region that receive four fifths of the jumps.
    pub(super) hot_pages: u64,
    /// Jumps per million that land beside a multiple of 4 KiB.
    pub(super) unaligned_ppm: u64,
    pub(super) physical_percent: u8,
}

/// One phase.
#[derive(Clone, Debug)]
pub(super) struct PhasePlan {
    pub(super) apps: Vec<AppPlan>,
    /// I/Os at each queue depth, which is the index.
    pub(super) depths: Vec<u64>,
    /// Mean I/Os of a burst at its depth.
    pub(super) burst_ios: u64,
    /// Mean pause between bursts.
    pub(super) pause_ns: u64,
}

/// A whole trace.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) phases: Vec<PhasePlan>,
    /// Size of its address space.
    pub(super) span_bytes: u64,
    /// Its target totals.
    pub(super) published: TraceTotals,
}

const PAGE_BYTES: u64 = 4096;

impl Plan {
    pub(super) fn new(scenario: &Scenario, scale: Ratio) -> Result<Self, TraceError> {
        let usage =
            |reason: String| TraceError::Usage(format!("scenario {}: {reason}", scenario.name));
        let published = scaled(&scenario.published, scale);
        if published.reads + published.writes == 0 {
            return Err(usage(format!(
                "nothing is left of it at scale {scale}; take a larger one"
            )));
        }
        let span_pages = scenario.span_bytes().map_err(usage)? / PAGE_BYTES;
        let cells = calibrate::cells(scenario, &published).map_err(usage)?;
        let ios: Vec<u64> =
            cells.iter().map(|apps| apps.iter().map(|app| sum(app)).sum()).collect();
        let depths = calibrate::depths(scenario, &published, &ios).map_err(usage)?;
        let mut phases = Vec::new();
        let mut stream = 0;
        for ((spec, cells), depths) in scenario.phases.iter().zip(cells).zip(depths) {
            phases.push(phase(spec, cells, depths, span_pages, stream).map_err(usage)?);
            stream += u32::try_from(spec.apps.len()).unwrap_or(u32::MAX);
        }
        Ok(Self { phases, span_bytes: span_pages * PAGE_BYTES, published })
    }
}

fn sum(cells: &[Cell]) -> u64 {
    cells.iter().map(|cell| cell.jumps + cell.sequential).sum()
}

fn scaled(published: &TraceTotals, scale: Ratio) -> TraceTotals {
    let TraceTotals { reads, writes, read_bytes, write_bytes, .. } = *published;
    let [reads, writes] = [reads, writes].map(|ios| scale.of(ios));
    // Bytes follow the numbers as they were rounded, so that the mean size stays.
    let part = |bytes: u64, ios: u64, all: u64| {
        (u128::from(bytes) * u128::from(ios) / u128::from(all.max(1))) as u64
    };
    TraceTotals {
        read_bytes: part(read_bytes, reads, published.reads),
        write_bytes: part(write_bytes, writes, published.writes),
        reads,
        writes,
        ..published.clone()
    }
}

fn phase(
    spec: &PhaseSpec,
    cells: Vec<Vec<Cell>>,
    depths: Vec<u64>,
    span_pages: u64,
    first_stream: u32,
) -> Result<PhasePlan, String> {
    let apps = spec.apps.iter().zip(cells).zip(first_stream..);
    let apps = apps.map(|((spec, cells), stream)| app(spec, cells, stream, span_pages));
    Ok(PhasePlan {
        apps: apps.collect(),
        depths,
        burst_ios: spec.burst_ios.round() as u64,
        pause_ns: spec.pause_ns()?,
    })
}

fn app(spec: &AppSpec, cells: Vec<Cell>, stream: u32, span_pages: u64) -> AppPlan {
    let part = |share: f64| (share * span_pages as f64) as u64;
    let first_page = part(spec.region[0]);
    let pages = (part(spec.region[1]) - first_page).max(1);
    let hot_pages = ((spec.hot * pages as f64) as u64).max(1);
    AppPlan {
        stream,
        cells,
        first_page,
        pages,
        hot_pages,
        unaligned_ppm: (spec.unaligned * 1e6) as u64,
        physical_percent: spec.physical_percent,
    }
}
