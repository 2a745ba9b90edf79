//! A simulated drive as a target, in virtual time: submitting costs nothing, reaping runs the drive
//! until enough commands have ended.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use base::text::{close_to, shortened};
use base::{Completion, Nanos, Op, Ratio, Rng, Status, TelemetryRow};
use device::host::{memory, small_file};
use sim::ftl::policies::Policies;
use sim::ftl::table::maps_bytes;
use sim::host::{DeallocateSupport, ZoneAction};
use sim::mechanism::map_cache::MapCache;
use sim::mechanism::read_ahead::ReadAheadPlan;
use sim::mechanism::read_cache::ReadCachePlan;
use sim::mechanism::zones::ZonesPlan;
use sim::model::{HostProfile, NO_HOST};
use sim::nand::NandFeatures;
use sim::nand::aging::past::DAY_NS;
use sim::{Config, Drive, Model};
use target::TargetError;
use target::Waiter;
use target::spec::toml_path;
use target::{Ages, Limits, Past, PurgeMethod, Rest, Target, ZoneLimits, ZoneOrder};
use target::{Identity, TargetKind};

/// Longest single command of a simulated drive: what an ATA command can carry.
const TRANSFER_BYTES_MAX: u32 = 32 << 20;

/// Memory beside the maps of a drive: rows and histograms of a long run.
const OTHER_BYTES: u64 = 64 << 20;

/// Policies of the caller for a simulated drive.
#[derive(Clone, Debug)]
pub struct OwnPolicies {
    /// Their description, which becomes part of the drive's name.
    pub words: String,
    /// The policies.
    pub policies: Policies,
}

/// A simulated drive.
#[derive(Clone, Debug)]
pub struct SimTarget {
    spec: String,
    /// As in [`name_of`].
    name: String,
    description: Description,
    /// The whole drive: identity, capacity and limits.
    config: Config,
    /// The drive, or the part of it that is simulated up to the next purge.
    drive: Drive,
    /// Reads so far that touched a page without data.
    unwritten_reads: u64,
    /// The policies that are not those of the model, in words, or `None` if all are.
    own_policies: Option<String>,
}

/// The text of a drive model: a built-in name or the path of a TOML file.
fn model_text(name: &str) -> Result<String, TargetError> {
    text_of("drive model", name, sim::model::built_in(name), || {
        let near = close_to(name, sim::model::BUILT_IN.iter().map(|(model, _)| *model));
        format!(
            "there is no drive model `{}`{near}; `ssdlab sim models` lists them, or give the path of a \
             model file: sim:./my-drive.toml",
            shortened(name)
        )
    })
}

/// The text of a model file in the folder of another one. An error is a reason in words.
///
/// # Errors
/// The reason against reading the file.
pub fn beside(model: &Path, file: &str) -> Result<String, String> {
    small_file::read(&model.with_file_name(file)).map_err(|error| error.to_string())
}

/// The files beside a model file that it extends, one after the other; none for a model that cannot be read.
pub fn extended_files(name: &str) -> Vec<PathBuf> {
    let (files, model) = (RefCell::new(Vec::new()), Path::new(name));
    let read = |file: &str| {
        files.borrow_mut().push(model.with_file_name(file));
        beside(model, file)
    };
    // A fault is for those who use the model.
    let _faulty = model_text(name).ok().and_then(|text| Model::values(name, &text, &read).err());
    files.into_inner()
}

/// Refuses a `host=NAME` that is neither `none`, nor a built-in profile, nor the path of a readable one.
///
/// # Errors
/// [`TargetError::Usage`] with the known names.
pub fn check_host(name: &str) -> Result<(), TargetError> {
    host_profile(name).map(drop)
}

/// A host profile by its built-in name or the path of a TOML file; `None` for no host.
fn host_profile(name: &str) -> Result<Option<HostProfile>, TargetError> {
    if name == NO_HOST {
        return Ok(None);
    }
    let text = text_of("host profile", name, sim::model::built_in_host(name), || {
        let known: Vec<_> = sim::model::HOSTS.iter().map(|(name, _)| *name).collect();
        format!(
            "`host={}` names no host profile; known are {NO_HOST}, {}, or give the path of a profile: \
             host=./my-host.toml",
            shortened(name),
            known.join(", ")
        )
    })?;
    HostProfile::load(name, &text).map(Some).map_err(|error| TargetError::Usage(error.to_string()))
}

/// The built-in text of this name, or the content of the TOML file at this path. `thing` names it in
/// errors.
fn text_of(
    thing: &str,
    name: &str,
    built_in: Option<&str>,
    unknown: impl FnOnce() -> String,
) -> Result<String, TargetError> {
    match (built_in, toml_path(name)) {
        (Some(text), _) => Ok(text.to_owned()),
        (None, Some(path)) => small_file::read(path).map_err(|error| {
            TargetError::Usage(format!("{thing} `{}` cannot be read: {error}", shortened(name)))
        }),
        (None, None) => Err(TargetError::Usage(unknown())),
    }
}

/// Takes a key that is no value of the model out of the list; the last one counts.
fn take<T: FromStr>(
    keys: &mut Vec<(String, String)>,
    name: &str,
    expected: &str,
) -> Result<Option<T>, TargetError> {
    let mut taken = None;
    for (_, value) in keys.extract_if(.., |(key, _)| key == name) {
        let slip = |_| {
            let value = shortened(&value);
            TargetError::Usage(format!("`{name}={value}` cannot be used; expected {expected}"))
        };
        taken = Some(value.parse().map_err(slip)?);
    }
    Ok(taken)
}

/// A drive and the host before it, as they are described.
#[derive(Clone, Debug)]
struct Description {
    model: Model,
    host: Option<HostProfile>,
    scale: Ratio,
}

/// Begin of the keys for times of the host.
const OF_HOST: &str = "host.";

/// The drive `name` with its overrides, and the configuration that results.
fn resolve(name: &str, keys: &[(String, String)]) -> Result<(Description, Config), TargetError> {
    let usage = |error: &dyn std::fmt::Display| TargetError::Usage(error.to_string());
    let text = model_text(name)?;
    let mut overrides = keys.to_vec();
    let scale =
        take(&mut overrides, "scale", "a share from 0 to 1 such as 1/64")?.unwrap_or(Ratio::ONE);
    let seed = take(&mut overrides, "seed", "a whole number such as 7")?.unwrap_or(0);
    let host: Option<String> = take(&mut overrides, "host", "the name of a host profile")?;
    let of_host: Vec<_> = overrides.extract_if(.., |(key, _)| key.starts_with(OF_HOST)).collect();
    let model = Model::load_beside(name, &text, &overrides, &|file| beside(Path::new(name), file))
        .map_err(|error| usage(&error))?;
    let mut config = model.resolve(scale).map_err(|error| usage(&error))?;
    config.seed = seed;
    let host = host.or_else(|| model.host.as_ref().map(|host| host.value.clone()));
    let mut host = host_profile(host.as_deref().unwrap_or(NO_HOST))?;
    for (key, value) in &of_host {
        let Some(profile) = host else {
            return Err(TargetError::Usage(format!(
                "`{}` is a time of a host, and the drive stands behind none; name one: host=...",
                shortened(key)
            )));
        };
        let changed = profile.with(&key[OF_HOST.len()..], value);
        host = Some(changed.map_err(|error| usage(&error))?);
    }
    let config = config.behind(host.as_ref().map(HostProfile::system));
    Ok((Description { model, host, scale }, config))
}

/// The resolved model, for uses of a simulated drive other than commands.
///
/// # Errors
/// As [`SimTarget::open`].
pub fn configure(name: &str, keys: &[(String, String)]) -> Result<Config, TargetError> {
    resolve(name, keys).map(|(_, config)| config)
}

/// Approximate bytes of memory that a simulated drive takes: the maps of the drive as in
/// [`sim::ftl::Ftl`], and the rest of the program.
///
/// # Errors
/// As [`SimTarget::open`].
pub fn memory_bytes(name: &str, keys: &[(String, String)]) -> Result<u64, TargetError> {
    resolve(name, keys).map(|(_, config)| needed_bytes(&config))
}

fn needed_bytes(config: &Config) -> u64 {
    let geometry = &config.geometry;
    OTHER_BYTES
        + maps_bytes(geometry)
        + u64::from(geometry.map_pages) * MapCache::SEGMENT_BYTES
        + config.options.read_cache.map_or(0, ReadCachePlan::memory_bytes)
        + config.options.read_ahead.map_or(0, ReadAheadPlan::memory_bytes)
        + config.options.nand_features.memory_bytes(geometry)
}

/// Identity and limits of a simulated drive, without building it.
///
/// # Errors
/// As [`SimTarget::open`].
pub fn describe(
    spec: &str,
    name: &str,
    keys: &[(String, String)],
) -> Result<(Identity, Limits), TargetError> {
    let (description, config) = resolve(name, keys)?;
    let name = name_of(&description.model, keys);
    Ok((identity(spec, name, &description, &config), limits(&config)))
}

fn limits(config: &Config) -> Limits {
    Limits {
        logical_block_bytes: config.interface.logical_block_bytes as u32,
        physical_block_bytes: config.geometry.page_bytes,
        transfer_bytes_max: TRANSFER_BYTES_MAX,
        queue_depth_max: config.queue_depth,
        deallocate: config.interface.deallocate != DeallocateSupport::Absent,
        rest: config.options.power.is_some_and(|power| power.slumber.or(power.sleep).is_some()),
        energy: config.options.power.is_some(),
        compresses: config.geometry.page_granules > 1,
        purge_renews: config.options.thermal.is_none(),
        ages: ages(config),
        placement_handles: config.options.placement.map_or(1, |placement| placement.handles),
        zones: config.options.zones.map(|zones| zone_limits(zones, config.geometry.page_bytes)),
    }
}

fn zone_limits(zones: ZonesPlan, page_bytes: u32) -> ZoneLimits {
    let bytes = |pages: u64| pages * u64::from(page_bytes);
    ZoneLimits {
        zones: zones.zones,
        size_bytes: bytes(zones.size_pages),
        capacity_bytes: bytes(zones.capacity_pages),
        open_max: zones.open_max,
    }
}

/// The parts of a past that have an effect.
fn ages(config: &Config) -> Ages {
    let NandFeatures { retry, wear, .. } = config.options.nand_features;
    Ages {
        by_days: retry.is_some(),
        by_cycles: retry.is_some() || wear.is_some(),
        by_reads: retry.is_some_and(|retry| retry.counts_reads()),
    }
}

/// The name of the model and every setting that makes this drive another one. A part of a drive, or
/// one with other values, must not be mistaken for the drive of that name.
fn name_of(model: &Model, keys: &[(String, String)]) -> String {
    if keys.is_empty() {
        return model.name.clone();
    }
    let keys: Vec<_> = keys.iter().map(|(key, value)| format!("{key}={value}")).collect();
    format!("{} [{}]", model.name, keys.join(", "))
}

fn identity(spec: &str, name: String, description: &Description, config: &Config) -> Identity {
    Identity {
        kind: TargetKind::Simulated,
        name,
        spec: spec.to_owned(),
        serial: None,
        firmware: description.model.facts.firmware.as_ref().map(|firmware| firmware.value.clone()),
        capacity_bytes: config.capacity_bytes(),
        raw_bytes: Some(config.raw_bytes),
        log_bytes: Some(config.log_bytes()),
        engine: "simulator, virtual time".to_owned(),
        facts: description.model.facts.clone(),
        details: details(description, config),
    }
}

/// Tells two drives apart that have one name: a model file may have changed since an earlier run.
fn checksum(config: &Config) -> String {
    format!("{:016x}", Rng::split(0, &format!("{config:?}")).next_u64())
}

/// The host, and what the simulator made of the figures of the model.
fn details(description: &Description, config: &Config) -> BTreeMap<String, String> {
    let Description { host, scale, .. } = description;
    let geometry = &config.geometry;
    let mut details = BTreeMap::new();
    let buffer_bytes = u64::from(config.buffer_pages) * geometry.physical_page_bytes();
    let superblock_bytes = geometry.superblock_bytes();
    let write_cache =
        if config.power_loss_protected { "write back, kept by capacitors" } else { "write back" };
    for (label, value) in [
        ("host", host.as_ref().map_or(NO_HOST, |host| &host.name).to_owned()),
        ("write_cache", write_cache.to_owned()),
        ("sim.channels", geometry.channels.to_string()),
        ("sim.dies", geometry.dies.to_string()),
        (Identity::BLOCK_PAGES, description.model.nand.pages_per_block.value.to_string()),
        ("sim.superblocks", geometry.superblocks.to_string()),
        ("sim.superblock_bytes", superblock_bytes.to_string()),
        ("sim.buffer_bytes", buffer_bytes.to_string()),
        ("sim.gc_policy", config.gc_policy.name().to_owned()),
        ("sim.gc_pacing", config.pacing.name().to_owned()),
        ("sim.gc_free_low", config.free_low.to_string()),
        ("sim.gc_free_high", config.free_high.to_string()),
        (Identity::CHECKSUM, checksum(config)),
    ] {
        details.insert(label.to_owned(), value);
    }
    if !scale.complement().is_zero() {
        details.insert(Identity::SCALE.to_owned(), scale.to_string());
    }
    details
}

impl SimTarget {
    /// Builds the drive `name` (built-in, or the path of a model file). `keys` are `scale`, `seed` and any
    /// value of the model by its dotted name; `spec` is the whole target string, for the result.
    ///
    /// # Errors
    /// [`TargetError::Usage`] if the model or a key is unknown or breaks a rule;
    /// [`TargetError::Unsupported`] if its maps do not fit into the memory.
    pub fn open(spec: &str, name: &str, keys: &[(String, String)]) -> Result<Self, TargetError> {
        let (description, config) = resolve(name, keys)?;
        memory::check(spec, needed_bytes(&config))?;
        let name = name_of(&description.model, keys);
        let drive = Drive::new(config.clone());
        let spec = spec.to_owned();
        Ok(Self { spec, name, description, config, drive, unwritten_reads: 0, own_policies: None })
    }

    /// Makes sure that a clone fits into the memory.
    ///
    /// # Errors
    /// [`TargetError::Usage`] if not.
    pub fn require_memory(&self) -> Result<(), TargetError> {
        memory::check(&self.spec, needed_bytes(&self.config))
    }

    /// The drive itself, to compare a test's result with the drive's own record.
    pub fn drive(&self) -> &Drive {
        &self.drive
    }

    /// Puts a drive of the same model in the place of this one, with its policies.
    ///
    /// # Panics
    /// If it is another drive: a bug in the caller.
    pub fn go_on_from(&mut self, mut drive: Drive) {
        assert!(drive.config() == &self.config, "a state belongs to its drive");
        *drive.policies_mut() = self.drive.policies_mut().renewed();
        self.drive = drive;
    }

    /// The resolved model of the whole drive.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Gives the drive policies of the caller, which stay after a purge.
    ///
    /// # Errors
    /// [`TargetError::Usage`] for a choice of streams on a drive without placement handles.
    pub fn set_policies(&mut self, own: OwnPolicies) -> Result<(), TargetError> {
        if own.policies.chooses_streams() && self.config.options.placement.is_none() {
            return Err(TargetError::Usage(format!(
                "{} has no streams to choose; give it `interface.placement_handles`, 2 to 8, and \
                 `interface.kind=nvme`",
                self.name
            )));
        }
        *self.drive.policies_mut() = own.policies;
        self.own_policies = Some(own.words);
        Ok(())
    }

    /// The policies that are not those of the model, in words, or `None` if all are.
    pub fn own_policies(&self) -> Option<&str> {
        self.own_policies.as_deref()
    }

    /// Another drive in the place of this one, at the same time.
    fn replace(&mut self, config: Config) {
        let now = self.drive.now();
        let policies = self.drive.policies_mut().renewed();
        self.drive = Drive::new(config);
        *self.drive.policies_mut() = policies;
        self.drive.run_until(now);
    }

    /// The model at a part of its size, if that is the whole drive.
    fn part(&self, scale: Ratio) -> Result<Config, TargetError> {
        let Description { model, host, scale: own } = &self.description;
        if !own.complement().is_zero() {
            return Err(TargetError::Unsupported(format!(
                "{} is simulated at {own} of its size already",
                self.name
            )));
        }
        let config = model.resolve(scale).map_err(|error| TargetError::Usage(error.to_string()))?;
        let config = Config { seed: self.config.seed, ..config };
        Ok(config.behind(host.as_ref().map(HostProfile::system)))
    }

    /// Whether a page that a command touches was never written, or was deallocated.
    fn lacks_data(&self, op: &Op) -> bool {
        let page_bytes = u64::from(self.drive.config().geometry.page_bytes);
        let end = op.offset.saturating_add(u64::from(op.len)).div_ceil(page_bytes);
        let l2p = &self.drive.ftl().l2p;
        let mapped = |page| self.drive.zones().map_or(Some(page), |zones| zones.mapped_page(page));
        (op.offset / page_bytes..end)
            .any(|page| mapped(page).is_none_or(|page| l2p.get(page) == sim::ftl::NO_PAGE))
    }

    fn is_part(&self) -> bool {
        self.drive.config() != &self.config
    }
}

impl Target for SimTarget {
    fn capacity_bytes(&self) -> u64 {
        self.config().capacity_bytes()
    }

    fn limits(&self) -> Limits {
        limits(self.config())
    }

    fn identity(&self) -> Identity {
        let own = self.own_policies.as_ref().map(|words| format!(" with {words}"));
        let name = format!("{}{}", self.name, own.unwrap_or_default());
        identity(&self.spec, name, &self.description, self.config())
    }

    fn now(&self) -> Nanos {
        self.drive.now()
    }

    fn submit(&mut self, ops: &[Op]) {
        let reads = ops.iter().filter(|op| op.kind == base::OpKind::Read);
        self.unwritten_reads += reads.filter(|op| self.lacks_data(op)).count() as u64;
        self.drive.submit(ops);
    }

    fn reap(&mut self, min: usize, out: &mut Vec<Completion>) -> Result<(), TargetError> {
        let before = out.len();
        self.drive.reap(min, out);
        if let Some(words) = self.drive.policies_mut().take_fault() {
            return Err(TargetError::Usage(words));
        }
        if out.len() - before >= min {
            return Ok(());
        }
        Err(TargetError::Device {
            context: format!(
                "the simulated drive `{}` came to a standstill",
                self.description.model.name
            ),
            source: std::io::Error::from(std::io::ErrorKind::TimedOut),
        })
    }

    fn reap_until(&mut self, t: Nanos, out: &mut Vec<Completion>) -> Result<(), TargetError> {
        self.drive.run_until_end(t);
        self.reap(0, out)
    }

    fn idle_until(&mut self, t: Nanos) {
        self.drive.run_until(t);
    }

    fn purge(&mut self, _waiter: &dyn Waiter) -> Result<PurgeMethod, TargetError> {
        if self.is_part() {
            self.replace(self.config.clone());
        } else {
            self.drive.reset();
        }
        Ok(PurgeMethod::FreshSimulatedDrive)
    }

    fn purge_to_scale(&mut self, scale: Ratio) -> Result<PurgeMethod, TargetError> {
        let config = self.part(scale)?;
        if self.drive.config() == &config {
            self.drive.reset();
        } else {
            self.replace(config);
        }
        Ok(PurgeMethod::FreshSimulatedDrive)
    }

    fn deallocate(&mut self, offset_bytes: u64, len_bytes: u64) -> Result<(), TargetError> {
        if !self.limits().deallocate {
            let name = &self.description.model.name;
            return Err(TargetError::Unsupported(format!(
                "the simulated drive `{name}` has no TRIM (interface.deallocate=absent)"
            )));
        }
        let end = offset_bytes.saturating_add(len_bytes).min(self.capacity_bytes());
        let page_bytes = u64::from(self.config().geometry.page_bytes);
        self.drive.deallocate(offset_bytes.div_ceil(page_bytes), end / page_bytes);
        Ok(())
    }

    fn manage_zone(&mut self, zone: u32, order: ZoneOrder) -> Result<Nanos, TargetError> {
        let action = match order {
            ZoneOrder::Finish => ZoneAction::Finish,
            ZoneOrder::Reset => ZoneAction::Reset,
        };
        self.drive.manage_zone(0, action, zone);
        let mut ended = Vec::new();
        self.reap(1, &mut ended)?;
        match ended[0].status {
            Status::Ok => Ok(ended[0].latency()),
            Status::Failed { errno } => Err(TargetError::Device {
                context: format!("the {} of zone {zone} failed", order.name()),
                source: std::io::Error::from_raw_os_error(errno),
            }),
        }
    }

    fn flush(&mut self) -> Result<(), TargetError> {
        let op = Op {
            kind: base::OpKind::Flush,
            data: base::Data::Incompressible,
            fua: false,
            placement: 0,
            len: 0,
            tag: 0,
            offset: 0,
        };
        self.submit(&[op]);
        self.reap(1, &mut Vec::new())
    }

    fn set_rest(&mut self, rest: Rest) -> Result<String, TargetError> {
        let allowed = rest != Rest::Denied;
        self.drive.allow_idle_states(allowed);
        let words = if allowed { "rests by its own timers" } else { "is kept awake" };
        Ok(format!("the simulated drive {words}"))
    }

    fn age(&mut self, past: Past) -> Result<(), TargetError> {
        past.check(&self.identity(), self.limits().ages)?;
        let retention_ns = u64::from(past.days).saturating_mul(DAY_NS);
        self.drive.age(sim::nand::aging::past::Past {
            retention_ns,
            cycles: past.cycles,
            reads: past.reads,
        });
        Ok(())
    }

    fn telemetry_start(&mut self, interval: Nanos) {
        self.drive.telemetry_start(interval);
    }

    fn telemetry_stop_at(&mut self, t: Nanos) {
        self.drive.telemetry_stop_at(t);
    }

    fn telemetry_take(&mut self, out: &mut Vec<TelemetryRow>) {
        self.drive.telemetry_take(out);
    }

    fn unwritten_reads(&self) -> Option<u64> {
        Some(self.unwritten_reads)
    }
}

#[cfg(test)]
mod tests;
