//! The values of a drive model that a fit may change, and where they start.

use std::collections::BTreeMap;

use base::Ratio;
use device::host::small_file;
use io::OpenOptions;
use run::RunError;
use sim::model::{Model, built_in};
use target::TargetSpec;

use super::figures::{self, Figures, is_of_a_mix, is_of_reads};
use super::measured::Measurements;

/// A value of the model.
#[derive(Debug)]
pub(super) struct Value {
    /// Its name in the answer.
    pub(super) name: &'static str,
    /// Its key in a model file.
    pub(super) key: &'static str,
    /// Standard deviation of the logarithm that one expects before any measurement.
    pub(super) prior: f64,
    /// The value where the model has none; absent: the value is fitted only if the model has it.
    absent: Option<f64>,
    /// The figures that can tell about it.
    pub(super) tells: fn(&str) -> bool,
}

/// The effective spare is a share; all others are times, rates and sizes.
pub(super) const VALUES: [Value; 12] = [
    Value::of("effective_spare", "nand.reserved_superblocks", 1.0, is_of_writes),
    Value::of("program_ns", "nand.program_ns", 0.7, is_of_writes),
    Value::of("relocate_ns", "controller.relocate_ns", 1.0, is_of_writes),
    Value::of("write_command_ns", "controller.write_command_ns", 0.7, is_of_writes),
    Value::of("link_bytes_per_s", "interface.link_bytes_per_s", 0.5, any),
    Value::of("read_ns", "nand.read_ns", 0.5, is_of_reads),
    Value::of("read_command_ns", "controller.read_command_ns", 0.7, is_of_reads),
    Value::optional("read_latency_ns", "controller.read_latency_ns", is_of_reads),
    Value::optional("write_latency_ns", "controller.write_latency_ns", is_of_single_writes),
    Value::of("pslc_bytes", "pslc.bytes", 1.0, is_of_cache),
    Value::of("pslc_program_ns", "pslc.program_ns", 0.7, is_of_cache),
    Value::of("host_latency_ns", HOST_LATENCY, 0.7, is_of_one_or_a_depth),
];

/// Key of the time from the report of the drive to the program, in a target string: no model of a drive has it.
const HOST_LATENCY: &str = "host.complete_ns";
/// Fewest depths that make a curve.
const CURVE_DEPTHS: usize = 3;

/// Place of the share of the NAND in use that holds no user data.
pub(super) const SPARE: usize = place_of("effective_spare");
/// Place of the time of a program.
pub(super) const PROGRAM: usize = place_of("program_ns");
/// Place of the controller's time for moving a page.
pub(super) const RELOCATE: usize = place_of("relocate_ns");
/// Place of the controller's time for a write.
pub(super) const WRITE_COMMAND: usize = place_of("write_command_ns");
/// Place of the time of a read.
pub(super) const READ: usize = place_of("read_ns");
/// Place of the controller's time for a read.
pub(super) const READ_COMMAND: usize = place_of("read_command_ns");
/// Key of the pacing in a model.
pub(super) const PACING: &str = "gc.pacing";
/// Places of the values of reads alone.
pub(super) const READS: [usize; 3] = [READ, READ_COMMAND, place_of("read_latency_ns")];
/// Place of the time of the host.
pub(super) const HOST: usize = place_of("host_latency_ns");
/// Place of the rate of the link.
pub(super) const LINK: usize = place_of("link_bytes_per_s");

/// The place of a value; a name without a value does not compile.
const fn place_of(name: &str) -> usize {
    let mut place = 0;
    while !is_same(VALUES[place].name.as_bytes(), name.as_bytes()) {
        place += 1;
    }
    place
}

const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut index = 0;
    while index < a.len() && index < b.len() && a[index] == b[index] {
        index += 1;
    }
    index == a.len() && index == b.len()
}

/// A latency of the controller that no model names.
const LATENCY_NS: f64 = 5_000.0;

fn any(_: &str) -> bool {
    true
}

fn is_of_writes(name: &str) -> bool {
    !is_of_reads(name) || is_of_a_mix(name)
}

fn is_of_single_writes(name: &str) -> bool {
    let starts = ["latency.", "corners."].iter().any(|start| name.starts_with(start));
    starts || name.contains("write_qd") || is_of_a_mix(name)
}

fn is_of_one_or_a_depth(name: &str) -> bool {
    figures::depth(name).is_some() || is_of_single_writes(name)
}

fn is_of_cache(name: &str) -> bool {
    name.contains("fast_bytes") || name.contains("fast_mb_per_s")
}

impl Value {
    const fn of(
        name: &'static str,
        key: &'static str,
        prior: f64,
        tells: fn(&str) -> bool,
    ) -> Self {
        Self { name, key, prior, absent: None, tells }
    }

    const fn optional(name: &'static str, key: &'static str, tells: fn(&str) -> bool) -> Self {
        Self { name, key, prior: 1.0, absent: Some(LATENCY_NS), tells }
    }
}

/// The base model at full size.
#[derive(Debug)]
pub(super) struct Base {
    /// A built-in name, or the path of a file.
    pub(super) name: String,
    values: BTreeMap<String, String>,
    pub(super) capacity_bytes: u64,
    raw_bytes: u64,
    /// The most commands that it takes at a time.
    pub(super) depth: u32,
    /// The name of the host that it stands behind.
    pub(super) host: String,
}

/// Settings of a model by key.
pub(super) type Settings = BTreeMap<String, String>;

/// A point of the search: logarithms of values, in the order of [`VALUES`]; and the dies of a channel.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) logs: Vec<f64>,
    pub(super) dies: u32,
}

impl Base {
    /// Reads a model by its name or path.
    pub(super) fn read(name: &str) -> Result<Self, RunError> {
        let usage = |fault: String| RunError::Usage(fault);
        let text = match built_in(name) {
            Some(text) => text.to_owned(),
            None => small_file::read(name.as_ref()).map_err(|error| {
                usage(format!(
                    "base model `{name}` cannot be read: {error}; expected the path of a model file, or a name \
                     of `ssdlab sim models`"
                ))
            })?,
        };
        let beside = |file: &str| io::engine::sim::beside(name.as_ref(), file);
        let values =
            Model::values(name, &text, &beside).map_err(|error| usage(error.to_string()))?;
        let mut values: BTreeMap<_, _> =
            values.into_iter().map(|it| (it.key, it.value.replace('_', ""))).collect();
        if let Some(host) = io::engine::sim::configure(name, &[])?.options.stages.host {
            values.insert(HOST_LATENCY.to_owned(), host.complete_ns.to_string());
        }
        let spec: TargetSpec = target_string(name, None, &Settings::new()).parse()?;
        let inspected = io::open::inspect(&spec, &OpenOptions::default())?;
        let capacity_bytes = inspected.identity.capacity_bytes;
        let raw_bytes = inspected.identity.raw_bytes.unwrap_or(capacity_bytes);
        let depth = inspected.limits.queue_depth_max;
        let host = inspected.identity.details.get("host").cloned().unwrap_or_default();
        Ok(Self { name: name.to_owned(), values, capacity_bytes, raw_bytes, depth, host })
    }

    /// A number of the model, or `None` if it has none.
    fn number(&self, key: &str) -> Option<f64> {
        self.values.get(key)?.parse().ok()
    }

    fn blocks(&self) -> f64 {
        self.number("nand.blocks_per_plane").unwrap_or(1.0)
    }

    /// The dies of a channel in the base model.
    pub(super) fn dies(&self) -> u32 {
        self.number("nand.dies_per_channel").unwrap_or(1.0) as u32
    }

    pub(super) fn channels(&self) -> f64 {
        self.number("nand.channels").unwrap_or(1.0)
    }

    /// The word of the model for its pacing.
    pub(super) fn pacing(&self) -> &str {
        self.values.get("gc.pacing").map_or("", String::as_str)
    }

    /// The number of the model for a value: the prior of the fit.
    fn value(&self, value: &Value) -> Option<f64> {
        let number = self.number(value.key).filter(|it| *it > 0.0).or(value.absent)?;
        Some(if value.key == VALUES[SPARE].key { self.spare_of(number) } else { number })
    }

    /// Whether the figures can tell about a value that the model has.
    pub(super) fn is_open(&self, value: &Value, figures: &[&Figures]) -> bool {
        let told = figures.iter().flat_map(|them| them.keys()).any(|name| (value.tells)(name));
        told && self.value(value).is_some()
    }

    /// Whether runs tell the time of the host. None is behind that of the base model; a curve over the queue depth tells
    /// times that a die is busy apart from latencies; and the drive's own latency is known for a kind of command of the
    /// curve, without which the two are a sum.
    pub(super) fn has_open_host(
        &self,
        runs: &[Measurements],
        is_known: impl Fn(&str) -> bool,
    ) -> bool {
        let is_elsewhere = runs.iter().all(|run| run.host.as_ref() != Some(&self.host));
        let of_curve = || runs.iter().flat_map(|run| run.figures.keys());
        let mut depths: Vec<_> = of_curve().filter_map(|name| figures::depth(name)).collect();
        depths.sort_unstable();
        depths.dedup();
        let is_apart = [("read_latency_ns", "read_qd"), ("write_latency_ns", "write_qd")]
            .into_iter()
            .any(|(latency, kind)| is_known(latency) && of_curve().any(|it| it.contains(kind)));
        is_elsewhere
            && is_apart
            && depths.len() >= CURVE_DEPTHS
            && self.value(&VALUES[HOST]).is_some()
    }

    /// The base model as a point.
    pub(super) fn point(&self) -> Point {
        let log = |value: &Value| self.value(value).map_or(0.0, f64::ln);
        Point { logs: VALUES.iter().map(log).collect(), dies: self.dies() }
    }

    /// Share of the NAND in use that holds no user data, with this reserve.
    fn spare_of(&self, reserved: f64) -> f64 {
        let usable = self.raw_bytes as f64 * (1.0 - reserved / self.blocks());
        (1.0 - self.capacity_bytes as f64 / usable).max(SPARE_MIN)
    }

    /// Blocks of a plane and reserve that leave this share, with so many dies.
    fn blocks_of(&self, spare: f64, dies: u32) -> (u64, u64) {
        let usable = self.capacity_bytes as f64 / (1.0 - spare) / self.raw_bytes as f64;
        let fewer = f64::from(self.dies()) / f64::from(dies);
        let blocks = self.blocks() * fewer;
        let used = (usable * blocks).round().max(1.0);
        let blocks = blocks.round().max(used + 1.0);
        (blocks as u64, (blocks - used) as u64)
    }

    /// The settings of a model at a point, of the values that `chosen` names by their places.
    pub(super) fn settings(&self, point: &Point, chosen: &[bool]) -> Settings {
        let mut settings = Settings::new();
        let others = |(place, _): &(usize, &Value)| *place != SPARE && chosen[*place];
        for (place, value) in VALUES.iter().enumerate().filter(others) {
            let number = point.logs[place].exp().round().max(1.0) as u64;
            settings.insert(value.key.to_owned(), number.to_string());
            settings.extend(self.of_kinds(value.key, number));
        }
        if chosen[SPARE] || point.dies != self.dies() {
            let (blocks, reserved) = self.blocks_of(point.logs[SPARE].exp(), point.dies);
            settings.insert(VALUES[SPARE].key.to_owned(), reserved.to_string());
            if blocks as f64 != self.blocks() {
                settings.insert("nand.blocks_per_plane".to_owned(), blocks.to_string());
            }
        }
        if point.dies != self.dies() {
            settings.insert("nand.dies_per_channel".to_owned(), point.dies.to_string());
        }
        settings
    }

    /// The times of the kinds of pages of a model that has them (`nand.pages`), with this mean in the place of theirs,
    /// and the mean in whole nanoseconds.
    fn of_kinds(&self, key: &str, mean_ns: u64) -> Settings {
        let operation = key.strip_prefix("nand.").and_then(|key| key.strip_suffix("_ns"));
        let begin = operation.map(|operation| format!("nand.pages.{operation}_"));
        let scale = mean_ns as f64 / self.number(key).unwrap_or(1.0);
        let kinds: BTreeMap<&String, u64> = self
            .values
            .keys()
            .filter(|key| begin.as_ref().is_some_and(|begin| key.starts_with(begin)))
            .filter_map(|key| Some((key, (self.number(key)? * scale).round() as u64)))
            .collect();
        let mean = kinds.values().sum::<u64>().checked_div(kinds.len() as u64);
        let mean = mean.map(|mean| (key.to_owned(), mean.to_string()));
        let each = kinds.into_iter().map(|(key, ns)| (key.clone(), ns.to_string()));
        each.chain(mean).collect()
    }

    /// The limits of the logarithm of a value: three deviations of the prior around it.
    pub(super) fn limits(&self, place: usize) -> (f64, f64) {
        let value = &VALUES[place];
        let middle = self.value(value).map_or(0.0, f64::ln);
        if place == SPARE {
            return (SPARE_MIN.ln(), SPARE_MAX.ln());
        }
        (middle - 3.0 * value.prior, middle + 3.0 * value.prior)
    }

    /// The target string of a drive with these settings; the pacing of the base model needs none, so that equal drives
    /// have one string and are simulated once.
    pub(super) fn target(&self, scale: Option<Ratio>, settings: &Settings) -> String {
        let mut settings = settings.clone();
        settings.retain(|key, value| key != PACING || value != self.pacing());
        target_string(&self.name, scale, &settings)
    }
}

/// Least and most effective spare area.
const SPARE_MIN: f64 = 0.005;
pub(super) const SPARE_MAX: f64 = 0.6;

fn target_string(name: &str, scale: Option<Ratio>, settings: &Settings) -> String {
    let is_bare_file = name.ends_with(".toml") && !name.contains('/');
    let name = if is_bare_file { format!("./{name}") } else { name.to_owned() };
    let scale = scale.map(|scale| format!("scale={scale}"));
    let settings = settings.iter().map(|(key, value)| format!("{key}={value}"));
    let words: Vec<_> = scale.into_iter().chain(settings).collect();
    let mark = if words.is_empty() { "" } else { "?" };
    format!("sim:{name}{mark}{}", words.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_of_the_kinds_of_pages_keep_their_ratio_and_have_the_fitted_mean() {
        let base = Base::read("crucial-mx200-250gb").expect("a model");
        let mut point = base.point();
        point.logs[READ] = 70_000_f64.ln();
        let chosen: Vec<bool> = (0..VALUES.len()).map(|place| place == READ).collect();
        let settings = base.settings(&point, &chosen);
        let number = |key: &str| settings[key].parse::<u64>().expect("a number");
        assert_eq!(number("nand.pages.read_lower_ns"), 60_000);
        assert_eq!(number("nand.pages.read_upper_ns"), 80_000);
        assert_eq!(number("nand.read_ns"), 70_000);
        let target = base.target(None, &settings).parse().expect("a target");
        io::open::inspect(&target, &OpenOptions::default()).expect("a drive");
    }
}
