//! A measured run as the request for the same run of a model.

use base::{Bytes, Nanos, Ratio};
use result::schema::{Mark, MarkKind, Request, Run, RunStatus, Setting};
use run::{RunError, Test};
use target::TargetSpec;

use super::figures::{self, FRESH_WRITES, Figures, Latencies};
use session::request;

/// Parameters of tests that are times of writing: a smaller drive is full sooner.
const TIMES: [&str; 4] = ["duration", "steady_from", "time", "sequential_time"];
/// Parameters of tests that are sizes: the same shares of a drive of another size.
const SIZES: [&str; 6] =
    ["write_bytes", "burst_bytes", "random_span", "sweep_span", "small_span", "span"];
/// The shortest load with a steady state, and where that may begin, in seconds.
const LOAD_S: (u64, u64) = (4, 2);
/// Spans end on this boundary.
const ALIGNMENT: u64 = 128 << 10;
/// Differences of two shares of the LBA space that are none.
const SAME_SHARE: f64 = 1e-4;
/// Difference of the sizes of two drives of one scale: parts of a drive come in whole superblocks.
const SAME_SCALE: f64 = 0.01;

/// A run that a fit explains or predicts.
#[derive(Clone, Debug)]
pub(super) struct Measurements {
    pub(super) id: String,
    pub(super) test: Test,
    pub(super) settings: Vec<Setting>,
    pub(super) capacity_bytes: u64,
    /// Share of the LBA space that the run used.
    pub(super) kept: f64,
    /// The size of its drive, if that is a scaled simulation.
    pub(super) scale: Option<Ratio>,
    /// The host that its simulated drive stands behind, or `None` for another drive.
    pub(super) host: Option<String>,
    pub(super) figures: Figures,
    pub(super) latencies: Latencies,
    /// Whether the fit must not use it.
    pub(super) held_out: bool,
}

/// The mark for which a fit does not follow a figure of a run, or `None` if it does.
pub(super) fn obstacle<'a>(run: &'a Run, metric: &str) -> Option<&'a Mark> {
    run.marks.iter().find(|mark| mark.metric == metric && is_obstacle(mark.kind))
}

/// A fit simulates at the scale of a run, so that figures may depend on the size, and no busy host.
fn is_obstacle(kind: MarkKind) -> bool {
    kind == MarkKind::HostLimited || kind.disqualifies() && kind != MarkKind::Scale
}

impl Measurements {
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
        let mut figures = figures::of_run(run);
        let source = |name: &String| match name.as_str() {
            FRESH_WRITES => "iops_steady_mean".to_owned(),
            _ => name.clone(),
        };
        figures.retain(|name, _| obstacle(run, &source(name)).is_none());
        if figures.is_empty() {
            let why = run.marks.iter().find(|mark| is_obstacle(mark.kind));
            let why = why.map_or_else(String::new, |mark| format!(": {}", mark.text));
            let fault = format!("of the test `{}` has no figure that a fit can use{why}", run.test);
            return Err(refused(&fault));
        }
        let mut latencies = figures::latencies(run);
        for (latency, of) in latencies.iter_mut().zip(&figures::LATENCIES) {
            *latency = latency.filter(|_| obstacle(run, of.name).is_none());
        }
        let capacity_bytes = run.target.capacity_bytes.max(1);
        Ok(Self {
            id: run.run_id.clone(),
            test: run.test.parse()?,
            settings: request.settings.clone(),
            capacity_bytes,
            kept: run.span.span_bytes as f64 / capacity_bytes as f64,
            scale: scale_of(&run.target.spec),
            host: run.target.details.get("host").cloned(),
            figures,
            latencies,
            held_out,
        })
    }

    /// The most commands outstanding of a figure or of the load, or `None` if nothing names them.
    pub(super) fn depth(&self) -> Option<u32> {
        let is_depth = |setting: &&Setting| setting.name == "queue_depth";
        let of_load = self.settings.iter().find(is_depth).and_then(|it| it.value.parse().ok());
        self.depths().chain(of_load).max()
    }

    /// The commands outstanding of its figures.
    pub(super) fn depths(&self) -> impl Iterator<Item = u32> {
        self.figures.keys().filter_map(|name| figures::depth(name))
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
        let is_part = self.kept < 1.0 - SAME_SHARE;
        let part = (capacity_bytes as f64 * self.kept) as u64 / ALIGNMENT * ALIGNMENT;
        let ratio = capacity_bytes as f64 / self.capacity_bytes as f64;
        let ratio = if (ratio - 1.0).abs() < SAME_SCALE { 1.0 } else { ratio };
        Request {
            span_bytes: is_part.then_some(part),
            settings: self.scaled(ratio, if is_part { part } else { capacity_bytes }),
            seed,
            ..request::plain(self.test.name(), target)
        }
    }

    /// The settings for a drive of so many times the size, of which a run uses `span_bytes`.
    fn scaled(&self, ratio: f64, span_bytes: u64) -> Vec<Setting> {
        let sized = self.settings.iter().map(|setting| sized(setting, ratio, span_bytes));
        if ratio == 1.0 {
            return sized.collect();
        }
        let is_time = |setting: &Setting| TIMES.contains(&setting.name.as_str());
        let others = sized.filter(|setting| !is_time(setting));
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

/// A setting for a drive of so many times the size: a size is the same share of it, and at most the span.
fn sized(setting: &Setting, ratio: f64, span_bytes: u64) -> Setting {
    let size = setting.value.parse::<Bytes>().ok();
    let size = size.filter(|_| SIZES.contains(&setting.name.as_str())).map(|Bytes(size)| {
        let scaled = if ratio == 1.0 {
            size
        } else {
            ((size as f64 * ratio) as u64 / ALIGNMENT * ALIGNMENT).max(ALIGNMENT)
        };
        scaled.min(span_bytes)
    });
    let value = size.map_or_else(|| setting.value.clone(), |size| size.to_string());
    Setting { name: setting.name.clone(), value }
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

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    /// The `pslc` of a drive of 64 GiB, written as a whole and in bursts of 1 GiB.
    fn measured(kept: f64) -> Measurements {
        let set = |name: &str, value: &str| Setting { name: name.into(), value: value.into() };
        Measurements {
            id: "run".to_owned(),
            test: "pslc".parse().expect("a test"),
            settings: vec![
                set("write_bytes", "64GiB"),
                set("burst_bytes", "1GiB"),
                set("pauses", "1s"),
            ],
            capacity_bytes: 64 * GIB,
            kept,
            scale: None,
            host: None,
            figures: Figures::new(),
            latencies: Latencies::default(),
            held_out: false,
        }
    }

    /// The settings of a model of this size, and its span.
    fn asked(kept: f64, capacity_bytes: u64) -> (Vec<String>, Option<u64>) {
        let request = measured(kept).request("sim:a", capacity_bytes, 1);
        (request.settings.into_iter().map(|it| it.value).collect(), request.span_bytes)
    }

    #[test]
    fn a_size_is_the_same_share_of_a_smaller_drive() {
        let (settings, span) = asked(1.0, GIB);
        assert_eq!(settings, [GIB.to_string(), (16 << 20).to_string(), "1s".to_owned()]);
        assert_eq!(span, None);
        // The least size is one that tests can write.
        assert_eq!(asked(1.0, 1 << 20).0[1], ALIGNMENT.to_string());
    }

    #[test]
    fn a_size_is_at_most_the_span_of_a_drive_that_is_a_little_smaller() {
        let smaller = 64 * GIB - (100 << 20);
        let (settings, _) = asked(1.0, smaller);
        assert_eq!(settings, [smaller.to_string(), GIB.to_string(), "1s".to_owned()]);
        let (settings, span) = asked(0.5, smaller);
        assert_eq!(span.map(|it| it.to_string()), Some(settings[0].clone()));
    }
}
