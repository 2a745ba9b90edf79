//! Simulations of the model at given points, many at a time, each once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use base::Ratio;
use io::OpenOptions;
use result::schema::{Request, Run, RunStatus};
use run::RunError;
use target::TargetError;

use super::figures::{self, Figures, Latencies, Noise};
use super::measured::Measurements;
use super::values::{Base, PACING, Point, Settings};
use crate::simulate::{simulate, temporary_library};
use session::pool::{self, Demand, Limits};
use session::request;

/// The figures of a simulation.
#[derive(Clone, Debug, Default)]
pub(super) struct Simulated {
    pub(super) figures: Figures,
    pub(super) latencies: Latencies,
    /// Why the model cannot have these values, or `None` if it ran.
    pub(super) fault: Option<String>,
}

impl Simulated {
    fn of(run: &Run) -> Self {
        let fault = (run.status != RunStatus::Complete).then(|| "the run ended early".to_owned());
        Self { figures: figures::of_run(run), latencies: figures::latencies(run), fault }
    }
}

/// The place of all simulations.
pub(super) struct Bench<'a> {
    pub(super) base: &'a Base,
    /// Simulated share of the drive.
    pub(super) scale: Ratio,
    capacity_bytes: u64,
    demand: Demand,
    seed: u64,
    limits: Limits,
    stop: &'a AtomicBool,
    ended: &'a (dyn Fn(usize) + Sync),
    /// Values that every simulation has, such as a pacing that was found.
    pub(super) fixed: Settings,
    /// The values that differ from the base, by their places.
    pub(super) open: Vec<bool>,
    /// The noise of figures, by run and name.
    pub(super) noise: Noise,
    known: HashMap<String, Simulated>,
}

impl<'a> Bench<'a> {
    pub(super) fn new(
        base: &'a Base,
        (scale, seed): (Ratio, u64),
        open: Vec<bool>,
        limits: Limits,
        (stop, ended): (&'a AtomicBool, &'a (dyn Fn(usize) + Sync)),
    ) -> Result<Self, RunError> {
        let (capacity_bytes, memory_bytes) = size_of(&base.target(Some(scale), &Settings::new()))?;
        let demand = Demand { is_simulated: true, memory_bytes, length: 1, batch: 0, lane: 0 };
        let (fixed, noise, known) = (Settings::new(), Noise::default(), HashMap::new());
        Ok(Self {
            base,
            scale,
            capacity_bytes,
            demand,
            seed,
            limits,
            stop,
            ended,
            fixed,
            open,
            noise,
            known,
        })
    }

    /// The number of simulations so far.
    pub(super) fn simulations(&self) -> usize {
        self.known.len()
    }

    /// The word for the pacing of the model.
    pub(super) fn pacing(&self) -> &str {
        self.fixed.get(PACING).map_or(self.base.pacing(), String::as_str)
    }

    /// The settings of the model at a point.
    pub(super) fn settings(&self, point: &Point) -> Settings {
        let mut settings = self.base.settings(point, &self.open);
        settings.extend(self.fixed.clone());
        settings
    }

    /// The figures of runs on the model at points: a row for each point.
    pub(super) fn at(
        &mut self,
        points: &[Point],
        runs: &[&Measurements],
    ) -> Result<Vec<Vec<Simulated>>, RunError> {
        let pairs = points.iter().flat_map(|point| runs.iter().map(move |run| (point, *run)));
        let mut found = self.of_pairs(&pairs.collect::<Vec<_>>())?.into_iter();
        Ok(points.iter().map(|_| found.by_ref().take(runs.len()).collect()).collect())
    }

    /// The figures of a run on the model at a point, for each pair.
    pub(super) fn of_pairs(
        &mut self,
        pairs: &[(&Point, &Measurements)],
    ) -> Result<Vec<Simulated>, RunError> {
        let wanted: Vec<_> =
            pairs.iter().map(|(point, run)| self.request(point, run, self.seed)).collect();
        self.simulated(&wanted)
    }

    /// The figures of runs on the model at points, a row for each point, which has a seed of its own.
    pub(super) fn with_seeds(
        &mut self,
        points: &[Point],
        runs: &[&Measurements],
    ) -> Result<Vec<Vec<Simulated>>, RunError> {
        let seeds = (0..).map(|more| self.seed.wrapping_add(more));
        let of = |(point, seed)| runs.iter().map(move |run| (point, *run, seed));
        let wanted = points.iter().zip(seeds).flat_map(of);
        let wanted: Vec<_> =
            wanted.map(|(point, run, seed)| self.request(point, run, seed)).collect();
        let mut found = self.simulated(&wanted)?.into_iter();
        Ok(points.iter().map(|_| found.by_ref().take(runs.len()).collect()).collect())
    }

    fn request(&self, point: &Point, run: &Measurements, seed: u64) -> Request {
        let target = self.base.target(Some(self.scale), &self.settings(point));
        run.request(&target, size(&target, self.capacity_bytes), seed)
    }

    /// The figures of one run with some settings of the model, on a drive of the size of the run itself.
    pub(super) fn at_own_size(
        &mut self,
        run: &Measurements,
        candidates: &[Settings],
    ) -> Result<Vec<Simulated>, RunError> {
        let mut wanted = Vec::new();
        for settings in candidates {
            let target = self.base.target(run.scale, settings);
            let (of_base, memory_bytes) = size_of(&self.base.target(run.scale, &Settings::new()))?;
            self.demand.memory_bytes = self.demand.memory_bytes.max(memory_bytes);
            wanted.push(run.request(&target, size(&target, of_base), self.seed));
        }
        self.simulated(&wanted)
    }

    /// Carries out the requests that are not known yet.
    fn simulated(&mut self, wanted: &[Request]) -> Result<Vec<Simulated>, RunError> {
        let names: Vec<_> = wanted.iter().map(request::command).collect();
        let mut fresh: HashMap<&String, &Request> = names.iter().zip(wanted).collect();
        fresh.retain(|name, _| !self.known.contains_key(*name));
        let fresh: Vec<_> = fresh.into_iter().collect();
        let tasks: Vec<_> = fresh.iter().map(|(_, request)| (self.demand, *request)).collect();
        let library = temporary_library()?;
        let done = pool::carry_out(&tasks, self.limits, self.stop, |request| {
            let run = simulate(request, library.path(), self.stop);
            (self.ended)(1);
            match run {
                Ok(outcome) => Simulated::of(&outcome.run),
                Err(error) => Simulated { fault: Some(error.to_string()), ..Simulated::default() },
            }
        });
        if self.stop.load(Ordering::Relaxed) {
            let words = "the fit was stopped; nothing of it is kept".to_owned();
            return Err(RunError::Target(TargetError::Interrupted(words)));
        }
        for ((name, _), simulated) in fresh.into_iter().zip(done) {
            self.known.insert(name.clone(), simulated.unwrap_or_default());
        }
        Ok(names.iter().map(|name| self.known.get(name).cloned().unwrap_or_default()).collect())
    }
}

/// The size of a simulated drive, whose dies and blocks change it a little, or that of the base model for one that
/// cannot be: the simulation tells why.
fn size(target: &str, of_base: u64) -> u64 {
    size_of(target).map_or(of_base, |(capacity_bytes, _)| capacity_bytes)
}

/// The size of a simulated drive, and the memory that it takes, in bytes.
fn size_of(target: &str) -> Result<(u64, u64), RunError> {
    let inspected = io::open::inspect(&target.parse()?, &OpenOptions::default())?;
    Ok((inspected.identity.capacity_bytes, inspected.memory_bytes))
}
