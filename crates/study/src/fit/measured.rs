//! A measured run as the request for the same run of a model.

use base::{Nanos, Ratio};
use result::schema::{Request, Run, RunStatus, Setting};
use run::{RunError, Test};
use target::TargetSpec;

use super::figures::{self, Figures, Latencies};
use crate::request;

/// Parameters of tests that are times of writing: a smaller drive is full sooner.
const TIMES: [&str; 4] = ["duration", "steady_from", "time", "sequential_time"];
/// The shortest load with a steady state, and where that may begin, in seconds.
const LOAD_S: (u64, u64) = (4, 2);
/// Spans end on this boundary.
const ALIGNMENT: u64 = 128 << 10;
/// Differences of two shares of the LBA space that are none.
const SAME_SHARE: f64 = 1e-4;

/// A run that a fit explains or predicts.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) id: String,
    pub(super) test: Test,
    pub(super) settings: Vec<Setting>,
    pub(super) capacity_bytes: u64,
    /// Share of the LBA space that the run used.
    pub(super) kept: f64,
    /// The size of its drive, if that is a scaled simulation.
    pub(super) scale: Option<Ratio>,
    pub(super) figures: Figures,
    pub(super) latencies: Latencies,
    /// Whether the fit must not use it.
    pub(super) held_out: bool,
}

impl Measured {
    /// A run of a library.
    ///
    /// # Errors
    /// [`RunError::Usage`] for a run without figures that a model could have.
    pub(super) fn read(run: &Run, held_out: bool) -> Result<Self, RunError> {
        let refused = |fault: &str| RunError::Usage(format!("run {} {fault}", run.run_id));
        if run.status != RunStatus::Complete {
            return Err(refused("is not complete; a fit needs complete runs"));
        }
        let Some(request) = &run.request else {
            return Err(refused("has no request: it is of another program, or of an old ssdlab"));
        };
        let figures = figures::of_run(run);
        if figures.is_empty() {
            let fault = format!("of the test `{}` has no figure that a fit can use", run.test);
            return Err(refused(&fault));
        }
        let capacity_bytes = run.target.capacity_bytes.max(1);
        Ok(Self {
            id: run.run_id.clone(),
            test: run.test.parse()?,
            settings: request.settings.clone(),
            capacity_bytes,
            kept: run.span.span_bytes as f64 / capacity_bytes as f64,
            scale: scale_of(&run.target.spec),
            figures,
            latencies: figures::latencies(run),
            held_out,
        })
    }

    /// The name of its test.
    pub(super) fn test_name(&self) -> &'static str {
        self.test.name()
    }

    /// Size of the whole drive.
    pub(super) fn whole_bytes(&self) -> f64 {
        let scale = self.scale.map_or(1.0, share);
        self.capacity_bytes as f64 / scale
    }

    /// The request for the same run of a drive of this size.
    pub(super) fn request(&self, target: &str, capacity_bytes: u64, seed: u64) -> Request {
        let span = (capacity_bytes as f64 * self.kept) as u64;
        Request {
            span_bytes: (self.kept < 1.0 - SAME_SHARE).then_some(span / ALIGNMENT * ALIGNMENT),
            settings: self.scaled(capacity_bytes as f64 / self.capacity_bytes as f64),
            seed,
            ..request::plain(self.test.name(), target)
        }
    }

    /// The settings for a drive of another size.
    fn scaled(&self, ratio: f64) -> Vec<Setting> {
        if (ratio - 1.0).abs() < 0.01 {
            return self.settings.clone();
        }
        let is_time = |setting: &&Setting| TIMES.contains(&setting.name.as_str());
        let others = self.settings.iter().filter(|setting| !is_time(setting)).cloned();
        let times = self.test.params().iter().filter(|param| TIMES.contains(&param.name));
        let times = times.filter_map(|param| {
            let given = self.settings.iter().find(|setting| setting.name == param.name);
            let text = given.map_or(param.default, |setting| &setting.value);
            let seconds = text.parse::<Nanos>().ok()?.as_secs_f64() * ratio;
            let least = match param.name {
                "duration" => LOAD_S.0,
                "steady_from" => LOAD_S.1,
                _ => 1,
            };
            let seconds = (seconds.ceil() as u64).max(least);
            Some(Setting { name: param.name.to_owned(), value: format!("{seconds}s") })
        });
        others.chain(times).collect()
    }
}

/// The simulated share of the drive of a target string, or `None` for a whole one.
fn scale_of(spec: &str) -> Option<Ratio> {
    let spec: TargetSpec = spec.parse().ok()?;
    let (_, settings) = spec.model()?;
    settings.iter().find(|(key, _)| key == "scale")?.1.parse().ok()
}

/// A ratio as a number.
fn share(ratio: Ratio) -> f64 {
    const WHOLE: u64 = 1 << 40;
    ratio.of(WHOLE) as f64 / WHOLE as f64
}
