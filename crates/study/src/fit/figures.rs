//! The figures of a run that a fit explains, by name.

use std::collections::{BTreeMap, HashMap};

use result::report::GRAPHED_PHASE;
use result::schema::{Phase, Run};

/// A figure of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Figure {
    /// Its value: a rate, a time, a ratio, or a size as a share of the capacity.
    pub(super) value: f64,
    /// The relative difference that one expects between two runs that differ in their seeds only; the
    /// permitted error goes with it. The search weighs figures by [`super::noise`].
    pub(super) noise: f64,
}

/// Figures by name.
pub(super) type Figures = BTreeMap<String, Figure>;

/// Noise of a rate or a write amplification: simulations of two seeds differ by half a percent.
pub(super) const NOISE: f64 = 0.01;
/// Noise of a median: its bins in the histogram are 1 to 2% wide.
const MEDIAN_NOISE: f64 = 0.03;
/// Noise of the 99th percentile of reads: the rare ones that wait for another read of their die.
const WAIT_NOISE: f64 = 0.05;
/// Noise of a size, which is known to a part of the written volume.
const SIZE_NOISE: f64 = 0.05;

/// The ends of the names of figures that survive a change of scale, and their noise.
const KINDS: [(&str, f64); 6] = [
    (".iops", NOISE),
    (".fast_mb_per_s", NOISE),
    (".slow_mb_per_s", NOISE),
    (".waf", NOISE),
    (".latency_ns_p50", MEDIAN_NOISE),
    (".fast_bytes", SIZE_NOISE),
];

/// The end of the name of the time of reads that wait for their die.
const WAITS: &str = ".latency_ns_p99";

/// Figures of `consistency`.
const CONSISTENCY: [&str; 2] = ["iops_steady_mean", "waf_steady"];

/// A figure with its noise, or `None` for one that no model explains.
pub(super) fn named(name: &str, value: f64) -> Option<(String, Figure)> {
    let kind = KINDS.iter().find(|(end, _)| name.ends_with(end)).map(|(_, noise)| *noise);
    let of_waits = is_of_plain_reads(name) && name.contains("_qd") && name.ends_with(WAITS);
    let kind = if of_waits { Some(WAIT_NOISE) } else { kind };
    let noise = if CONSISTENCY.contains(&name) { Some(NOISE) } else { kind };
    noise.map(|noise| (name.to_owned(), Figure { value, noise }))
}

/// The figures of a run.
pub(super) fn of_run(run: &Run) -> Figures {
    let mut figures = Figures::new();
    for (name, value) in &run.metrics {
        let Some(value) = value.filter(|value| *value > 0.0) else { continue };
        let size = run.target.capacity_bytes as f64;
        let value = if name.ends_with(".fast_bytes") { value / size } else { value };
        figures.extend(named(name, value));
    }
    if let Some(rate) = run.phases.iter().find_map(fill_rate) {
        figures.insert(FILL_RATE.to_owned(), Figure { value: rate, noise: NOISE });
    }
    if let Some(writes) = fresh_writes(run) {
        figures.insert(FRESH_WRITES.to_owned(), Figure { value: writes, noise: NOISE });
    }
    figures
}

/// Name of the rate of a sequential fill, bytes per second.
pub(super) const FILL_RATE: &str = "fill.bytes_per_s";

fn fill_rate(phase: &Phase) -> Option<f64> {
    let measured = phase.name == "fill" && phase.duration_ns > 0 && phase.bytes > 0;
    measured.then(|| phase.bytes as f64 * 1e9 / phase.duration_ns as f64)
}

/// Name of the writes that a drive took beyond its steady rate before it had to clean up, as a share of its
/// capacity, plus one. They fill the spare area.
pub(super) const FRESH_WRITES: &str = "fresh_writes";

fn fresh_writes(run: &Run) -> Option<f64> {
    let load = run.phases.iter().find(|phase| phase.name == GRAPHED_PHASE)?;
    let [steady, mean] = ["iops_steady_mean", "iops_mean"].map(|name| run.metrics.get(name));
    let (steady, mean) = (steady.copied()??, mean.copied()??);
    beyond_steady(load.bytes as f64 / run.target.capacity_bytes as f64, steady / mean)
}

/// One and the share of the capacity that a load wrote beyond its steady rate, from the share that it wrote and its
/// steady rate over its mean rate; `None` if there is no such number.
fn beyond_steady(written: f64, steady: f64) -> Option<f64> {
    let writes = 1.0 + written * (1.0 - steady);
    (writes.is_finite() && writes > 0.0).then_some(writes)
}

/// The commands outstanding of a figure, or `None` if its name has none.
pub(super) fn depth(name: &str) -> Option<u32> {
    let (_, depth) = name.rsplit_once("_qd")?;
    depth.split_once('.')?.0.parse().ok()
}

/// Whether a figure tells about reads.
pub(super) fn is_of_reads(name: &str) -> bool {
    name.contains("read")
}

/// Whether a figure tells about reads and writes at once.
pub(super) fn is_of_a_mix(name: &str) -> bool {
    name.contains("mixed")
}

/// Whether a figure tells about reads alone.
pub(super) fn is_of_plain_reads(name: &str) -> bool {
    is_of_reads(name) && !is_of_a_mix(name)
}

/// A latency of writes in the steady state. It tells how a drive spreads its cleaning; only runs of one scale can be
/// compared.
#[derive(Debug)]
pub(super) struct Latency {
    pub(super) name: &'static str,
    /// The difference of two logarithms that is none: tails differ by the seed.
    pub(super) noise: f64,
    /// The error permitted for it over that of a rate, or `None` if a model need not have it.
    pub(super) wider: Option<f64>,
}

/// The latencies that a fit looks at.
pub(super) const LATENCIES: [Latency; 4] = [
    Latency { name: "latency_steady_ns_p50", noise: 0.1, wider: Some(3.0) },
    Latency { name: "latency_steady_ns_p99", noise: 0.25, wider: Some(20.0) },
    Latency { name: "latency_steady_ns_p999", noise: 0.25, wider: None },
    Latency { name: "latency_steady_ns_max", noise: 0.25, wider: None },
];

/// The values of [`LATENCIES`], in their order.
pub(super) type Latencies = [Option<f64>; LATENCIES.len()];

/// The latencies of a run in its steady state.
pub(super) fn latencies(run: &Run) -> Latencies {
    LATENCIES.map(|it| run.metrics.get(it.name).copied().flatten().filter(|it| *it > 0.0))
}

/// Noise by run and figure.
#[derive(Debug, Default)]
pub(super) struct Noise(HashMap<(String, String), f64>);

impl Noise {
    /// The relative difference of a figure between two runs that differ in their seeds only: that of its
    /// kind before it is measured.
    pub(super) fn of(&self, run: &str, name: &str, of_kind: f64) -> f64 {
        self.0.get(&(run.to_owned(), name.to_owned())).copied().unwrap_or(of_kind)
    }

    /// Sets the noise of a figure of a run.
    pub(super) fn set(&mut self, run: &str, name: &str, noise: f64) {
        self.0.insert((run.to_owned(), name.to_owned()), noise);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_writes_are_those_beyond_the_steady_rate_whatever_the_length_of_a_load() {
        // A tenth of the capacity at twice the steady rate, and 0.4 or 0.9 of it after that.
        for (written, mean) in [(0.5, 0.5 / 0.45), (1.0, 1.0 / 0.95)] {
            let writes = beyond_steady(written, 1.0 / mean).expect("a number");
            assert!((writes - 1.05).abs() < 1e-12, "{writes}");
        }
        assert_eq!(beyond_steady(f64::NAN, 1.0), None);
        assert_eq!(beyond_steady(1.0, 3.0), None);
    }
}
