//! The figures of a run that a fit explains, by name.

use std::collections::BTreeMap;

use result::schema::{Phase, Run};

/// A figure of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Figure {
    /// Its value: a rate, a time, a ratio, or a size as a share of the capacity.
    pub(super) value: f64,
    /// The relative difference between two runs that differ in their seeds only.
    pub(super) noise: f64,
}

/// Figures by name.
pub(super) type Figures = BTreeMap<String, Figure>;

/// Noise of a rate or a write amplification: simulations of two seeds differ by half a percent.
pub(super) const NOISE: f64 = 0.01;
/// Noise of a median: its bins in the histogram are 1 to 2% wide.
const MEDIAN_NOISE: f64 = 0.03;
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

/// Figures of `consistency`.
const CONSISTENCY: [&str; 2] = ["iops_steady_mean", "waf_steady"];

/// A figure with its noise, or `None` for one that no model explains.
pub(super) fn named(name: &str, value: f64) -> Option<(String, Figure)> {
    let kind = KINDS.iter().find(|(end, _)| name.ends_with(end)).map(|(_, noise)| *noise);
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
    figures
}

/// Name of the rate of a sequential fill, bytes per second.
pub(super) const FILL_RATE: &str = "fill.bytes_per_s";

fn fill_rate(phase: &Phase) -> Option<f64> {
    let measured = phase.name == "fill" && phase.duration_ns > 0 && phase.bytes > 0;
    measured.then(|| phase.bytes as f64 * 1e9 / phase.duration_ns as f64)
}

/// Whether a figure tells about reads.
pub(super) fn is_of_reads(name: &str) -> bool {
    name.contains("read")
}

/// The tails of the steady state, which tell how a drive spreads its cleaning; only runs of one scale
/// can be compared.
pub(super) fn tails(run: &Run) -> [Option<f64>; 2] {
    let tail = |name: &str| run.metrics.get(name).copied().flatten().filter(|it| *it > 0.0);
    [tail("latency_steady_ns_p99"), tail("latency_steady_ns_p999")]
}
