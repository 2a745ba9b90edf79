//! Random drives under random commands.
//!
//! A drive model is drawn key by key, as the text of a file, at a scale with a few hundred LBA
//! pages: a complete test takes a millisecond. Most values fit together, some are extremes that
//! contradict the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use base::{Completion, Data, Nanos, Op, OpKind, Ratio, Rng};
use sim::ftl::StreamId;
use sim::model::{HostProfile, built_in_host};
use sim::{Config, Device, Model, ModelError, PAGE_BYTES, Probe};

mod keys;

use super::cases::how_to_repeat;
use super::{op, watched_loop};
pub use keys::Choice;
use keys::{EXTREMES, LATER, REQUIRED, SECTIONS};

/// Commands between two checks of [`torture`].
const LOOKS: u64 = 8;
/// Larger drives are not tried: an extreme may demand a huge NAND.
const PHYSICAL_PAGES_MAX: u64 = 200_000;

/// Pairs of sections that do not go together.
const APART: [(&str, &str); 14] = [
    ("mapping.", "map_cache."),
    ("compression.", "map_cache."),
    ("compression.", "map."),
    ("compression.", "idle_sort."),
    ("nand.independent_planes", "nand.page_register"),
    ("idle_sort.", "nand.die_groups"),
    ("parity.", "nand.die_groups"),
    ("pslc.", "nand.die_groups"),
    ("compression.", "nand.die_groups"),
    ("performance_mode.", "nand.die_groups"),
    ("interface.placement_handles", "nand.die_groups"),
    ("gc.victims", "streams."),
    ("gc.victims", "wear_leveling."),
    ("gc.victims", "housekeeping.refresh"),
];

fn pick<T: Copy>(rng: &mut Rng, values: &[T]) -> T {
    values[rng.below(values.len() as u64) as usize]
}

/// A drive model before any check of its rules.
#[derive(Clone, Debug)]
pub struct Draft {
    pub values: BTreeMap<&'static str, String>,
    /// Keys that got an extreme or were removed.
    pub spoiled: Vec<&'static str>,
    scale_divisor: u64,
}

impl Draft {
    /// A model with every section of `always`, and others at random.
    pub fn random(rng: &mut Rng, always: &[&str]) -> Self {
        let mut draft = Self::recorded(rng, always);
        let mut rng = Rng::split(rng.clone().next_u64(), "later");
        for (needs, section) in LATER {
            let has_needs = needs.iter().all(|key| draft.values.contains_key(key));
            if has_needs || rng.chance(1, 64) {
                section.iter().for_each(|choice| draft.set(&mut rng, choice));
            }
        }
        draft
    }

    /// The same without the sections that came after the record of random drives.
    pub fn recorded(rng: &mut Rng, always: &[&str]) -> Self {
        let scale_divisor = pick(rng, &[512, 1024, 1024, 2048, 4096]);
        let mut draft = Self { values: BTreeMap::new(), spoiled: Vec::new(), scale_divisor };
        REQUIRED.iter().for_each(|choice| draft.set(rng, choice));
        for section in SECTIONS {
            let is_wanted = always.iter().any(|prefix| section[0].0.starts_with(prefix));
            if is_wanted || rng.chance(1, 4) {
                section.iter().for_each(|choice| draft.set(rng, choice));
            }
        }
        draft.fit(rng);
        draft
    }

    fn set(&mut self, rng: &mut Rng, (key, values): &Choice) {
        let may_miss = key.ends_with('?') && rng.chance(1, 2);
        if !may_miss {
            self.values.insert(key.trim_end_matches('?'), pick(rng, values).to_owned());
        }
    }

    fn number(&self, key: &str) -> u64 {
        let value = self.values.get(key).map(|value| value.replace('_', ""));
        value.and_then(|value| value.parse().ok()).unwrap_or(0)
    }

    /// Takes away what does not go with a section, mostly.
    fn part(&mut self, rng: &mut Rng, section: &str, others: &str) {
        let has = |prefix: &str| self.values.keys().any(|key| key.starts_with(prefix));
        if has(section) && has(others) && rng.chance(7, 8) {
            self.values.retain(|key, _| !key.starts_with(others));
        }
    }

    /// Mapping units that fill a program unit at most, mostly.
    fn fit_map_unit(&mut self, rng: &mut Rng) {
        let is_together = self.values.get("nand.multi_plane").is_none_or(|value| value == "true");
        let planes = if is_together { self.number("nand.planes") } else { 1 };
        let most = planes * self.number("nand.page_bytes");
        if self.number("map.unit_bytes") > most && rng.chance(7, 8) {
            self.values.insert("map.unit_bytes", most.to_string());
        }
    }

    /// Makes most drawn values fit together: blocks for the capacity, spare space from too tight to
    /// plenty, stripes that divide the dies, targets above the level that collection keeps anyway.
    fn fit(&mut self, rng: &mut Rng) {
        for (section, others) in APART {
            self.part(rng, section, others);
        }
        self.fit_map_unit(rng);
        if !self.values.contains_key("pslc.bytes") {
            self.part(rng, "map_cache.", "map_cache.in_pslc");
        }
        if self.values.get("pslc.borrows").is_some_and(|borrows| borrows == "false") {
            self.part(rng, "pslc.", "pslc.borrowed_bytes_max");
        }
        let mut rows = self.number("nand.pages_per_block");
        let dies = self.number("nand.channels") * self.number("nand.dies_per_channel");
        if !dies.is_multiple_of(self.number("parity.stripe_units").max(1)) {
            self.values.insert("parity.stripe_units", dies.to_string());
        }
        if !dies.is_multiple_of(self.number("nand.die_groups").max(1)) && rng.chance(7, 8) {
            self.values.insert("nand.die_groups", dies.to_string());
        }
        let has_journal = self.values.contains_key("mapping.entry_bytes");
        if has_journal && rows * dies < 8 {
            rows = 8_u64.div_ceil(dies);
        }
        let conflicts = [
            "pslc.",
            "performance_mode.",
            "streams.",
            "wear_leveling.",
            "compression.",
            "map_cache.",
            "housekeeping.refresh",
            "idle_sort.",
        ];
        let has_conflict =
            self.values.keys().any(|key| conflicts.iter().any(|section| key.starts_with(section)));
        if has_conflict {
            self.values.remove("interface.placement_handles");
            self.values.remove("gc.handle_isolation");
        }
        let units = rows * dies;
        let unit_bytes = self.number("nand.planes") * self.number("nand.page_bytes");
        let parity_units = units.checked_div(self.number("parity.stripe_units")).unwrap_or(0);
        let data_bytes = (units - parity_units).max(1) * unit_bytes;
        let mut blocks = (1_000_000_000 / self.scale_divisor).div_ceil(data_bytes);
        blocks += blocks * self.number("map_cache.entry_bytes") / 4096;
        if has_journal {
            self.values.insert("nand.reserved_superblocks", "150".to_owned());
            blocks += 4 * blocks / units.saturating_sub(4).max(1);
        }
        let free_high = self.number("gc.free_low") + self.number("gc.free_high");
        self.values.insert("gc.free_high", free_high.to_string());
        blocks +=
            free_high + pick(rng, &[3, 4, 4, 5, 12]) + blocks * pick(rng, &[0, 0, 10, 20]) / 100;
        blocks += 3 * self.number("interface.placement_handles");
        blocks += self.number("nand.reserved_superblocks");
        self.values.insert("nand.blocks_per_plane", blocks.to_string());
        self.values.insert("nand.pages_per_block", (rows * self.scale_divisor).to_string());
        self.fit_conditions();
        self.fit_levels(free_high);
    }

    /// Temperature needs power, a number of reads needs what counts them, and a flush needs a map to write.
    fn fit_conditions(&mut self) {
        let has = |key: &str| self.values.contains_key(key);
        let has_cache = has("map_cache.bytes");
        let has_flush = has("housekeeping.map_flush_period_ns");
        if !has_cache && !has("mapping.entry_bytes") {
            self.values.remove("housekeeping.map_flush_period_ns");
        }
        if !has_cache || !has_flush {
            self.values.remove("housekeeping.map_flush_bytes_max");
        }
        let is_warm = ["power.active_mw", "thermal.ambient_c"]
            .iter()
            .all(|&key| self.values.contains_key(key));
        if !is_warm {
            self.values.retain(|key, _| !key.starts_with("thermal."));
        }
        let counts_reads = ["nand.retry.per_kiloread_ppb", "nand.retry.reclaim_reads"]
            .iter()
            .any(|&key| self.values.contains_key(key));
        if !counts_reads {
            self.values.remove("age.read_count");
        }
    }

    /// Levels of erased superblocks in their order, and targets above the level of collection.
    fn fit_levels(&mut self, free_high: u64) {
        let mut free = self.number("gc.free_low");
        for key in ["starved_free", "balance_free", "reserve_free"]
            .map(|key| format!("cleaning_states.{key}"))
        {
            free += self.number(&key);
            if let Some(value) = self.values.get_mut(key.as_str()) {
                *value = free.to_string();
            }
        }
        for key in ["background_gc.free_target", "idle_gc.free_target"] {
            if self.values.contains_key(key) {
                self.values.insert(key, (self.number(key) + free_high).to_string());
            }
        }
    }

    /// Inserts a few extremes, or removes keys.
    pub fn spoil(&mut self, rng: &mut Rng) {
        for _ in 0..1 + rng.below(2) {
            let keys: Vec<&'static str> = self.values.keys().copied().collect();
            let key = pick(rng, &keys);
            self.spoiled.push(key);
            if rng.chance(1, 20) {
                self.values.remove(key);
            } else {
                self.values.insert(key, pick(rng, EXTREMES).to_owned());
            }
        }
    }

    /// The model as a file.
    pub fn text(&self) -> String {
        let mut text = "name = 'swarm'\n".to_owned();
        for (key, value) in &self.values {
            let is_word = value.contains(|letter: char| letter.is_ascii_alphabetic())
                && !["true", "false"].contains(&value.as_str());
            let quote = if is_word { "'" } else { "" };
            let _ =
                writeln!(text, "{key} = {{ value = {quote}{value}{quote}, from = 'assumed:' }}");
        }
        text
    }

    /// The drive, if the model is accepted.
    pub fn resolve(&self) -> Result<Config, ModelError> {
        let scale = Ratio::new(1, self.scale_divisor).unwrap_or(Ratio::ONE);
        let model = Model::load("swarm", &self.text(), &[])?;
        let host = model.host.as_ref().and_then(|host| built_in_host(&host.value));
        let host = host.map(|text| HostProfile::load("swarm", text)).transpose()?;
        Ok(model.resolve(scale)?.behind(host.map(|host| host.system())))
    }
}

/// Every key that a draft may have.
pub fn keys() -> BTreeSet<&'static str> {
    let later = LATER.iter().map(|(_, section)| *section);
    let sections = SECTIONS.iter().copied().chain([REQUIRED]).chain(later);
    sections.flatten().map(|(key, _)| key.trim_end_matches('?')).collect()
}

/// Whether a drive is small enough for a test.
pub fn is_small(config: &Config) -> bool {
    config.geometry.physical_pages() <= PHYSICAL_PAGES_MAX
}

/// Tests a drive; after a panic, prints the drive and the command that repeats the case.
pub fn alive<T>(test: &str, seed: u64, draft: &Draft, life: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(life)).unwrap_or_else(|cause| {
        let words = cause.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        panic!(
            "seed {seed}: {words}\n{}\nthe drive, at a scale of 1/{}:\n{}",
            how_to_repeat(test, seed),
            draft.scale_divisor,
            draft.text()
        )
    })
}

/// Most operations of a drive without a page from its host; a drive with more counts as stuck. The
/// largest tested drive can be collected and erased ten times meanwhile.
const EVENTS_WITHOUT_PROGRESS_MAX: u64 = 20 * PHYSICAL_PAGES_MAX;

/// Stops a drive that keeps itself busy for ever: it moves, programs and erases while its host
/// waits.
#[derive(Debug, Default)]
pub struct Watchdog {
    events_since_progress: u64,
}

impl Watchdog {
    fn event(&mut self) {
        self.events_since_progress += 1;
        assert!(
            self.events_since_progress <= EVENTS_WITHOUT_PROGRESS_MAX,
            "the drive hangs: {EVENTS_WITHOUT_PROGRESS_MAX} pages moved, units programmed and blocks erased, and \
             none for its host"
        );
    }
}

impl Probe for Watchdog {
    fn placed(&mut self, stream: StreamId, _: u64, _: u64) {
        if StreamId::MOVED.contains(&stream) {
            self.event();
        } else {
            self.events_since_progress = 0;
        }
    }

    fn padded(&mut self, _: StreamId, _: u64) {
        self.event();
    }

    fn programmed(&mut self, _: u32) {
        self.event();
    }

    fn map_programmed(&mut self, _: u32) {
        self.event();
    }

    fn die_erased(&mut self, _: u32, _: u32) {
        self.event();
    }

    fn victim(&mut self, _: u32) {
        self.event();
    }
}

/// A command without some of its first and last sectors.
fn cut(whole: Op, rng: &mut Rng) -> Op {
    let [head, tail] = [rng.below(5), rng.below(4)].map(|sectors| 512 * sectors);
    Op { offset: whole.offset + head, len: whole.len - (head + tail) as u32, ..whole }
}

pub fn random_data(rng: &mut Rng) -> Data {
    match rng.below(4) {
        0 => Data::Incompressible,
        1 => Data::Repeating,
        _ => Data::Compressible { physical_percent: rng.below(102) as u8 },
    }
}

/// Commands of all kinds over a random part of the drive; overwrites it a few times, with pauses in
/// which it may rest, collect and fold. `look` is called now and then, while no command is
/// outstanding.
pub fn torture<P: Probe>(device: &mut Device<P>, rng: &mut Rng, look: impl FnMut(&mut Device<P>)) {
    watched_torture(device, rng, |_, _| (), look);
}

/// The same, and passes every completion to `watch`.
pub fn watched_torture<P: Probe>(
    device: &mut Device<P>,
    rng: &mut Rng,
    mut watch: impl FnMut(&Device<P>, &Completion),
    mut look: impl FnMut(&mut Device<P>),
) {
    let pages = device.config().capacity_bytes() / PAGE_BYTES;
    let span = (pages / (1 + rng.below(3))).max(1);
    let (trims, reads, flushes) = (rng.below(3), rng.below(20), rng.below(2));
    let forced = rng.below(3);
    let count = (3 * pages).min(40_000);
    let mut state = rng.clone();
    let queue_depth = device.config().queue_depth;
    let sectors = device.config().interface.logical_block_bytes == 512;
    for _ in 0..LOOKS {
        let next = |tag| {
            let length = (1 + state.below(9)).min(span);
            let page = state.below(span - length + 1);
            let whole = match state.below(100) {
                n if n < trims => op(OpKind::Deallocate, page, length, tag),
                n if n < trims + reads => op(OpKind::Read, page, length, tag),
                n if n < trims + reads + flushes => op(OpKind::Flush, 0, 0, tag),
                n => Op {
                    data: random_data(&mut state),
                    // Handles by address, and one that no drive has.
                    placement: (page % 9) as u8,
                    fua: n >= 100 - forced,
                    ..op(OpKind::Write, page, length, tag)
                },
            };
            if sectors && whole.len > 0 { cut(whole, &mut state) } else { whole }
        };
        watched_loop(device, queue_depth, count / LOOKS, next, &mut watch);
        let pause_ns =
            pick(&mut state, &[0, 1_000, 100_000_000, 10_000_000_000, 7_200_000_000_000]);
        device.run_until(Nanos(device.now().0 + pause_ns));
        look(device);
    }
}
