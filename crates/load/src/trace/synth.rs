//! Synthetic traces: made from a description so that their statistics equal published ones.
//!
//! ```text
//! scenario (TOML) -> calibrate (counts of every kind of I/O, made to agree with the totals) -> plan -> Synth: records
//! ```
//!
//! The plan is a set of decks: a number of reads of 128 KiB that continue at the end of the
//! preceding one, a number of I/Os at queue depth 3. Cards are drawn without replacement, so the
//! totals are exact for any seed; the seed determines order, places and pauses. Memory does not
//! depend on the length of the trace.

mod app;
mod burst;
mod calibrate;
pub mod model;
mod plan;
mod rake;
mod scenario;
#[cfg(test)]
mod tests;

use base::{Ratio, Rng};

use super::{Origin, Record, Source, TraceError, TraceInfo};
use app::App;
use burst::Bursts;
use plan::{PhasePlan, Plan};

pub use scenario::{AppSpec, PhaseSpec, Scenario, TraceTotals, built_in};

/// Share of the commands within a burst from the second program.
const COMPANION: (u64, u64) = (1, 4);

/// Times within a burst come from a drive of the time: this time per command, and this number of
/// bytes per second. They only matter for a replay with recorded times.
const COMMAND_NS: u64 = 40_000;
const BYTES_PER_US: u64 = 300;

/// Parallel commands of such a drive.
const PARALLEL: u64 = 8;

/// A trace during synthesis.
pub struct Synth {
    info: TraceInfo,
    phases: std::vec::IntoIter<PhasePlan>,
    phase: Option<Phase>,
    seed: u64,
    phase_number: u64,
    now_ns: u64,
    records: u64,
}

/// The present phase.
struct Phase {
    apps: Vec<App>,
    bursts: Bursts,
    pause_ns: u64,
    rng: Rng,
    /// The main program and the one beside it.
    active: [usize; 2],
}

impl Synth {
    /// Synthesises the trace of a scenario, with all totals times `scale`.
    ///
    /// # Errors
    /// If the scenario is contradictory: names the unreachable figure.
    pub fn new(scenario: &Scenario, scale: Ratio, seed: u64) -> Result<Self, TraceError> {
        let plan = Plan::new(scenario, scale)?;
        let scaled = if scale == Ratio::ONE { String::new() } else { format!(", scale {scale}") };
        let info = TraceInfo {
            origin: Origin::Synthesised,
            source: format!("scenario {}{scaled}, seed {seed}", scenario.name),
            streams: scenario.stream_names(),
            span_bytes: Some(plan.span_bytes),
            published: Some(plan.published.clone()),
            ..TraceInfo::default()
        };
        let records = plan.phases.iter().map(|phase| phase.depths.iter().sum::<u64>()).sum();
        let phases = plan.phases.into_iter();
        Ok(Self { info, phases, phase: None, seed, phase_number: 0, now_ns: 0, records })
    }

    /// Number of I/Os of the whole trace.
    pub fn records(&self) -> u64 {
        self.records
    }

    fn next_phase(&mut self) -> bool {
        let Some(plan) = self.phases.next() else { return false };
        let rng = Rng::split(self.seed, &format!("phase {}", self.phase_number));
        self.phase_number += 1;
        self.phase = Some(Phase::new(plan, rng));
        true
    }
}

impl Phase {
    fn new(plan: PhasePlan, mut rng: Rng) -> Self {
        let apps: Vec<App> = plan.apps.into_iter().map(App::new).collect();
        let active = [pick(&apps, &mut rng), pick(&apps, &mut rng)];
        let bursts = Bursts::new(&plan.depths, plan.burst_ios);
        Self { apps, bursts, pause_ns: plan.pause_ns, rng, active }
    }

    fn next_record(&mut self, now_ns: &mut u64) -> Option<Record> {
        let (depth, begins) = self.bursts.next_depth(&mut self.rng)?;
        if begins {
            *now_ns += pause(self.pause_ns, &mut self.rng);
        }
        let slot = usize::from(self.rng.chance(COMPANION.0, COMPANION.1));
        // Programs change only between runs: a run that stops for long would not be sequential any more.
        if !self.apps[self.active[slot]].in_run() {
            self.active[slot] = pick(&self.apps, &mut self.rng);
        }
        let app = &mut self.apps[self.active[slot]];
        let mut record = app.next_record(&mut self.rng)?;
        record.issue_ns = *now_ns;
        record.queue_depth = depth;
        let service_ns = COMMAND_NS + u64::from(record.len) * 1000 / BYTES_PER_US;
        *now_ns += service_ns / u64::from(depth).min(PARALLEL);
        Some(record)
    }
}

/// A program, drawn by the number of its remaining I/Os.
fn pick(apps: &[App], rng: &mut Rng) -> usize {
    let all: u64 = apps.iter().map(App::left).sum();
    if all == 0 {
        return 0;
    }
    let mut at = rng.below(all);
    let found = apps.iter().position(|app| {
        let here = at < app.left();
        at = at.saturating_sub(app.left());
        here
    });
    found.unwrap_or(0)
}

/// A pause around `mean_ns`, uniform over six doublings: many short ones, a few long ones.
fn pause(mean_ns: u64, rng: &mut Rng) -> u64 {
    // The mean of 2^u with u even in 0..6 is 63 / (6 ln 2), 15.15.
    let low_ns = mean_ns * 100 / 1515;
    let octave = low_ns << rng.below(6);
    // Within a doubling the density falls as 1/x; a straight line is near enough for a pause.
    octave + rng.below(octave.max(1))
}

impl Source for Synth {
    fn next_record(&mut self) -> Result<Option<Record>, TraceError> {
        loop {
            if let Some(phase) = &mut self.phase
                && let Some(record) = phase.next_record(&mut self.now_ns)
            {
                return Ok(Some(record));
            }
            if !self.next_phase() {
                return Ok(None);
            }
        }
    }

    fn info(&self) -> TraceInfo {
        self.info.clone()
    }
}
