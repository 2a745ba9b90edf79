//! The description of work: phases, programs that run side by side in them, and the target totals.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use base::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

use crate::trace::TraceError;
use crate::trace::stats::{DEPTH_BINS, SIZE_BINS};

const BUILT_IN: [(&str, &str); 3] = [
    ("heavy-2011", include_str!("../../../scenarios/heavy-2011.toml")),
    ("light-2011", include_str!("../../../scenarios/light-2011.toml")),
    ("destroyer-2013", include_str!("../../../scenarios/destroyer-2013.toml")),
];

/// The longest scenario file that is read.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Names of the scenarios in ssdlab.
pub fn built_in() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// A description of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    pub name: String,
    /// Source of the totals, and own assumptions.
    pub source: String,
    /// Size of the address space, e.g. `80GB`.
    pub span: String,
    /// The deepest queue.
    pub queue_depth_max: u16,
    /// Target totals.
    pub published: TraceTotals,
    /// Phases, one after the other.
    #[serde(rename = "phase")]
    pub phases: Vec<PhaseSpec>,
}

/// Target totals of a synthesised trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceTotals {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Share of sequential I/Os.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequential_share: Option<f64>,
    /// Mean queue depth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth_mean: Option<f64>,
    /// Share of I/Os at queue depth 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth_1_share: Option<f64>,
    /// Share of I/Os at the depths of [`DEPTH_BINS`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth_shares: Option<[f64; DEPTH_BINS.len()]>,
    /// Share of I/Os of a size, by the names of [`SIZE_BINS`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sizes: BTreeMap<String, f64>,
}

/// Work of one kind: programs that run side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseSpec {
    /// Name of the work, e.g. `gaming`. Phases of the same name form one group in a replay's
    /// figures.
    pub name: String,
    /// Part of all I/Os, relative to the other phases.
    pub weight: f64,
    /// Typical queue depth.
    pub queue_depth: f64,
    /// Mean number of I/Os of a burst at its peak.
    pub burst_ios: f64,
    /// Mean pause between bursts, e.g. `2s`.
    pub pause: String,
    /// The programs.
    #[serde(rename = "app")]
    pub apps: Vec<AppSpec>,
}

/// A program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AppSpec {
    pub name: String,
    /// Part of the phase's I/Os, relative to the other programs.
    pub weight: f64,
    /// Share of reads among its I/Os.
    pub read_share: f64,
    /// Sizes of its reads and their frequencies, e.g. `{ 4KiB = 60, 128KiB = 40 }`.
    pub read_sizes: BTreeMap<String, f64>,
    /// Sizes of its writes.
    pub write_sizes: BTreeMap<String, f64>,
    /// Share of I/Os that continue at the end of the preceding one.
    pub sequential: f64,
    /// Its part of the span: begin and end as shares.
    pub region: [f64; 2],
    /// Share of its region that receives four fifths of its jumps.
    #[serde(default = "everything")]
    pub hot: f64,
    /// Share of its jumps that land beside a multiple of 4 KiB.
    #[serde(default)]
    pub unaligned: f64,
    /// Size of its written data after compression, in percent.
    #[serde(default = "incompressible")]
    pub physical_percent: u8,
}

fn everything() -> f64 {
    1.0
}

fn incompressible() -> u8 {
    100
}

impl Scenario {
    /// A scenario in ssdlab, or a TOML file.
    ///
    /// # Errors
    /// If there is none of that name, or it breaks a rule.
    pub fn load(name: &str) -> Result<Self, TraceError> {
        if let Some((_, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
            return Self::parse(name, text);
        }
        if !name.contains('/') && Path::new(name).extension().is_none_or(|e| e != "toml") {
            let known = built_in().collect::<Vec<_>>().join(", ");
            return Err(TraceError::Usage(format!(
                "there is no scenario `{name}`; known are {known}, or give the path of a TOML file: ./my-work.toml"
            )));
        }
        let text = read(name).map_err(TraceError::read(name))?;
        Self::parse(name, &text)
    }

    /// Reads a scenario from TOML; `name` names it in errors.
    ///
    /// # Errors
    /// If the text is no scenario, or a value breaks a rule.
    pub fn parse(name: &str, text: &str) -> Result<Self, TraceError> {
        let usage = |reason: &str| TraceError::Usage(format!("scenario {name}: {reason}"));
        let scenario: Self = toml::from_str(text)
            .map_err(|error| usage(&base::text::shortened_words(&error.to_string())))?;
        scenario.check().map_err(|reason| usage(&reason))?;
        Ok(scenario)
    }

    /// The text that [`Scenario::parse`] reads.
    ///
    /// # Errors
    /// If a value has no form in TOML.
    pub fn to_toml(&self) -> Result<String, TraceError> {
        toml::to_string(self).map_err(|error| TraceError::Usage(error.to_string()))
    }

    /// The span in bytes.
    pub(super) fn span_bytes(&self) -> Result<u64, String> {
        let span: Bytes = self.span.parse().map_err(|error| format!("span: {error}"))?;
        if !((1 << 30)..=(1 << 50)).contains(&span.0) {
            return Err(format!("span = {}, expected 1GiB to 1PiB", self.span));
        }
        Ok(span.0)
    }

    /// Names of the streams: phase and program.
    pub(super) fn stream_names(&self) -> Vec<String> {
        let of_phase = |phase: &PhaseSpec| {
            let names = phase.apps.iter().map(|app| format!("{}/{}", phase.name, app.name));
            names.collect::<Vec<_>>()
        };
        self.phases.iter().flat_map(of_phase).collect()
    }

    fn check(&self) -> Result<(), String> {
        self.span_bytes()?;
        within("queue_depth_max", f64::from(self.queue_depth_max), 1.0, 1024.0)?;
        self.published.check()?;
        if self.phases.is_empty() {
            return Err("it has no [[phase]]".to_owned());
        }
        self.phases.iter().try_for_each(|phase| {
            phase.check().map_err(|reason| format!("phase {}: {reason}", phase.name))
        })
    }
}

/// The text of a scenario file; an endless one must not fill the memory.
fn read(name: &str) -> std::io::Result<String> {
    let mut text = String::new();
    File::open(name)?.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 <= FILE_BYTES_MAX {
        return Ok(text);
    }
    let words =
        format!("it is longer than {}, the most that a scenario has", Bytes(FILE_BYTES_MAX));
    Err(std::io::Error::new(std::io::ErrorKind::FileTooLarge, words))
}

fn within(name: &str, value: f64, low: f64, high: f64) -> Result<(), String> {
    if value >= low && value <= high {
        return Ok(());
    }
    Err(format!("{name} = {value}, expected {low} to {high}"))
}

/// A weight above zero: a zero would equal an absent one.
fn weight(name: &str, value: f64) -> Result<(), String> {
    within(name, value, 1e-6, 1e9)
}

impl TraceTotals {
    fn check(&self) -> Result<(), String> {
        const MANY: u64 = 1 << 40;
        for (name, ios, bytes) in
            [("read", self.reads, self.read_bytes), ("write", self.writes, self.write_bytes)]
        {
            if ios > MANY || bytes < ios.saturating_mul(512) || bytes > ios.saturating_mul(64 << 20)
            {
                return Err(format!(
                    "published: {ios} {name}s of {bytes} bytes, expected 512 bytes to 64 MiB each"
                ));
            }
        }
        if self.reads + self.writes == 0 {
            return Err("published: no I/O at all".to_owned());
        }
        if let Some(mean) = self.queue_depth_mean {
            within("published.queue_depth_mean", mean, 1.0, 256.0)?;
        }
        let shares = [self.sequential_share, self.queue_depth_1_share].into_iter().flatten();
        let shares = shares.chain(self.sizes.values().copied());
        for share in shares.chain(self.queue_depth_shares.into_iter().flatten()) {
            within("a published share", share, 0.0, 1.0)?;
        }
        let unknown = self.sizes.keys().find(|size| !SIZE_BINS.contains(&size.as_str()));
        unknown.map_or(Ok(()), |size| {
            Err(format!("published.sizes has `{size}`; known are {}", SIZE_BINS.join(", ")))
        })
    }
}

impl PhaseSpec {
    fn check(&self) -> Result<(), String> {
        weight("weight", self.weight)?;
        within("queue_depth", self.queue_depth, 1.0, 256.0)?;
        within("burst_ios", self.burst_ios, 1.0, 1e6)?;
        self.pause_ns()?;
        if self.apps.is_empty() {
            return Err("it has no [[phase.app]]".to_owned());
        }
        self.apps
            .iter()
            .try_for_each(|app| app.check().map_err(|reason| format!("app {}: {reason}", app.name)))
    }

    pub(super) fn pause_ns(&self) -> Result<u64, String> {
        const DAY_NS: u64 = 86_400_000_000_000;
        let pause: Nanos = self.pause.parse().map_err(|error| format!("pause: {error}"))?;
        if pause.0 > DAY_NS {
            return Err(format!("pause = {}, expected up to 24h", self.pause));
        }
        Ok(pause.0)
    }
}

impl AppSpec {
    fn check(&self) -> Result<(), String> {
        weight("weight", self.weight)?;
        within("read_share", self.read_share, 0.0, 1.0)?;
        within("sequential", self.sequential, 0.0, 1.0)?;
        within("hot", self.hot, 0.001, 1.0)?;
        within("unaligned", self.unaligned, 0.0, 1.0)?;
        within("physical_percent", f64::from(self.physical_percent), 1.0, 100.0)?;
        let [begin, end] = self.region;
        within("the begin of region", begin, 0.0, 1.0)?;
        within("the end of region", end, begin, 1.0)?;
        within("the width of region", end - begin, 0.001, 1.0)?;
        for (name, share, sizes) in [
            ("read_sizes", self.read_share, &self.read_sizes),
            ("write_sizes", 1.0 - self.read_share, &self.write_sizes),
        ] {
            if share > 0.0 && sizes.is_empty() {
                return Err(format!("{name} is empty"));
            }
            size_weights(sizes).map_err(|reason| format!("{name}: {reason}"))?;
        }
        Ok(())
    }
}

/// Sizes in bytes and their weights.
pub(super) fn size_weights(sizes: &BTreeMap<String, f64>) -> Result<Vec<(u32, f64)>, String> {
    let parse = |(text, &value): (&String, &f64)| {
        let Bytes(bytes) = text.parse().map_err(|error: base::UnitError| error.to_string())?;
        let len = u32::try_from(bytes).ok();
        let len = len.filter(|len| (512..=64 << 20).contains(len) && len.is_multiple_of(512));
        let len = len.ok_or_else(|| format!("{text}, expected a multiple of 512 up to 64MiB"))?;
        weight(text, value)?;
        Ok((len, value))
    };
    sizes.iter().map(parse).collect()
}
