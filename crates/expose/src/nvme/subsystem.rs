//! The drive that hosts see: its names, its namespaces, its controllers.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use base::Fnv;
use nvme::fabrics::{ANY_CONTROLLER, ConnectData, DISCOVERY_NQN, NQN_BYTES_MAX};
use nvme::fdp;
use nvme::identify::{CopyLimits, IdentifyNamespace, LbaFormat, NamespaceFormat, PowerState};
use nvme::log::{SanitizeLog, SanitizeState};
use nvme::power::Transition;
use nvme::self_test::outcome;
use nvme::status::CommandStatus;
use nvme::zns;
use sim::ftl::placement::Placement;
use sim::mechanism::zones::ZonesPlan;

use super::controller::{Controller, Event};
use super::errors::ErrorLog;
use super::namespaces::{NAMESPACE, NAMESPACES_MAX, Namespace, Namespaces};
use super::placement_events::PlacementEvents;
use super::self_tests::{Scope, SelfTests};
use crate::disk::Disk;
use crate::plan::Shape;
use crate::request::Deletion;
use crate::shared::{SharedDisk, locked};

/// Version 2.0 of the specification.
pub const VERSION: (u16, u8, u8) = (2, 0, 0);
/// Entries of the longest queue, counted from 0.
pub const QUEUE_ENTRIES: u16 = 127;
/// Most data in the capsule of a command: the specification fixes it for admin queues.
pub const CAPSULE_DATA_BYTES: usize = 8192;
/// Longest transfer of a command, as a power of two of 4 KiB.
pub const TRANSFER_PAGES_LOG2: u8 = 8;
/// The same in bytes.
pub const TRANSFER_BYTES_MAX: u64 = 4096 << TRANSFER_PAGES_LOG2;
/// Most bytes of a Copy.
const COPY_BYTES_MAX: u64 = 4 * TRANSFER_BYTES_MAX;
/// Most sources of a Copy: together they fill a page of the host.
const COPY_SOURCES_MAX: u8 = 128;
/// Most parts of a drive without zones.
const PARTS_MAX: u64 = 100;
/// Most controllers at a time.
const CONTROLLERS_MAX: usize = 64;
/// Number of the NVM command set (CSI).
pub const NVM_COMMAND_SET: u8 = 0;
/// An hour of the drive's clock.
pub(super) const HOUR_NS: u64 = 3600 * base::Nanos::SECOND.0;
/// Sizes of a logical block that namespaces may have.
pub const BLOCK_BYTES: [u32; 2] = [512, 4096];

/// The names of a subsystem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// Name of the subsystem, by which hosts connect.
    pub nqn: String,
    /// Model number.
    pub model: String,
    /// Serial number.
    pub serial: String,
    /// Firmware revision.
    pub firmware: String,
    /// Globally unique number of the first namespace.
    pub guid: u128,
}

impl Names {
    /// Names for a drive of this name and model number at this place of this machine: two exposed drives must never look
    /// like one with two paths.
    pub fn new(name: &str, model: &str, place: &str) -> Self {
        let machine = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let place = format!("{machine}:{place}");
        let hash = |part: u64| {
            let mut hash = Fnv::EMPTY;
            hash.add([part]);
            for text in [name, &place] {
                hash.add([text.len() as u64]);
                hash.add(text.bytes().map(u64::from));
            }
            hash.value()
        };
        let plain =
            |text: &str| -> String {
                text.chars()
                    .map(|sign| {
                        if sign.is_ascii_alphanumeric() || "-.:".contains(sign) {
                            sign
                        } else {
                            '-'
                        }
                    })
                    .collect()
            };
        let mut nqn = format!("nqn.2026-11.invalid.ssdlab:{}:{}", plain(name), plain(&place));
        nqn.truncate(NQN_BYTES_MAX);
        Self {
            nqn,
            model: model.to_owned(),
            serial: format!("SL{:016X}", hash(0)),
            firmware: env!("CARGO_PKG_VERSION").to_owned(),
            guid: u128::from(hash(1)) << 64 | u128::from(hash(2)),
        }
    }
}

/// A subsystem.
#[derive(Debug)]
pub struct Subsystem {
    /// The disk behind the namespaces.
    pub shared: Arc<SharedDisk>,
    shape: Shape,
    zones: Option<ZonesPlan>,
    placement: Option<Placement>,
    /// Events of placement.
    pub(super) placement_events: Mutex<PlacementEvents>,
    pub names: Names,
    /// Most queues of a controller beside the admin queue.
    pub io_queues_max: u16,
    /// Hosts that may connect; empty for all.
    hosts: Vec<String>,
    /// Errors of commands.
    pub errors: Arc<Mutex<ErrorLog>>,
    controllers: Mutex<BTreeMap<u16, Arc<Controller>>>,
    namespaces: RwLock<Namespaces>,
    block_bytes: AtomicU32,
    sanitize: Mutex<SanitizeLog>,
    /// Self-tests.
    pub(super) self_tests: Mutex<SelfTests>,
    /// Whether a host keeps the drive out of its idle power states.
    is_kept_awake: AtomicBool,
}

impl Subsystem {
    /// A subsystem of this disk, for these hosts, or for all if the list is empty.
    pub fn new(
        shared: Arc<SharedDisk>,
        names: Names,
        hosts: Vec<String>,
        io_queues_max: u16,
    ) -> Self {
        let (shape, (zones, placement)) = shared.with(|disk| {
            let options = &disk.drive().config().options;
            (*disk.shape(), (options.zones, options.placement))
        });
        let (errors, controllers) = Default::default();
        let sanitize = Mutex::new(SanitizeLog::NEVER);
        let block_bytes = AtomicU32::new(shape.block_bytes as u32);
        let whole = Namespaces::whole(shape.capacity_bytes, shape.page_bytes, names.guid);
        Self {
            shared,
            shape,
            zones,
            placement,
            placement_events: Mutex::default(),
            names,
            io_queues_max,
            hosts,
            errors,
            controllers,
            namespaces: RwLock::new(whole),
            block_bytes,
            sanitize,
            self_tests: Mutex::default(),
            is_kept_awake: AtomicBool::new(false),
        }
    }

    /// Size of a logical block.
    pub fn block_bytes(&self) -> u32 {
        self.block_bytes.load(Ordering::Relaxed)
    }

    /// Gives the namespaces logical blocks of another size, and tells the hosts of all controllers but this one.
    pub fn set_block_bytes(&self, block_bytes: u32, but: u16) {
        self.block_bytes.store(block_bytes, Ordering::Relaxed);
        // No lock is held while the next one is taken: another host may wait to divide the drive.
        let ids = self.namespaces().ids(None);
        for id in ids {
            let has = |controller: &Controller| self.namespace_of(id, controller).is_some();
            self.tell_of_namespace(id, but, has);
        }
    }

    /// Tells the hosts of these controllers but this one that a namespace has changed, come or gone.
    pub(super) fn tell_of_namespace(
        &self,
        id: u32,
        but: u16,
        is_concerned: impl Fn(&Controller) -> bool,
    ) {
        for controller in self.controllers() {
            if controller.id != but && is_concerned(&controller) {
                controller.state().namespaces_changed.insert(id);
                controller.tell(Event::NAMESPACE_CHANGED);
            }
        }
    }

    /// Its controllers.
    pub(super) fn controllers(&self) -> Vec<Arc<Controller>> {
        locked(&self.controllers).values().cloned().collect()
    }

    /// Its namespaces.
    pub(super) fn namespaces(&self) -> RwLockReadGuard<'_, Namespaces> {
        self.namespaces.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its namespaces, to be changed.
    pub(super) fn namespaces_mut(&self) -> RwLockWriteGuard<'_, Namespaces> {
        self.namespaces.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bytes of the drive that are this namespace, and its deletion, or `None` if the controller does not have it.
    pub(super) fn namespace_of(
        &self,
        id: u32,
        controller: &Controller,
    ) -> Option<(Range<u64>, Deletion)> {
        let namespaces = self.namespaces();
        let namespace = namespaces.get(id).filter(|it| it.is_attached(&controller.host))?;
        Some((namespace.bytes.clone(), namespace.deletion.clone()))
    }

    /// Whether hosts may divide it: a zone or a placement handle would have to belong to a namespace.
    pub(super) fn can_be_divided(&self) -> bool {
        self.shape.deallocates && self.zones.is_none() && self.placement.is_none()
    }

    /// The largest number of a namespace.
    pub(super) fn namespaces_max(&self) -> u32 {
        if self.can_be_divided() { NAMESPACES_MAX } else { NAMESPACE }
    }

    /// Its zones, as far as they can be written, or this part of a drive without zones in at most a hundred parts of
    /// whole pages.
    pub(super) fn parts(&self, bytes: Range<u64>) -> Vec<Range<u64>> {
        let page_bytes = self.shape.page_bytes;
        if let Some(ZonesPlan { zones, size_pages, capacity_pages, .. }) = self.zones {
            let first = |zone: u32| u64::from(zone) * size_pages * page_bytes;
            return (0..zones)
                .map(|zone| first(zone)..first(zone) + capacity_pages * page_bytes)
                .collect();
        }
        let length_bytes = bytes.end - bytes.start;
        let part_bytes = length_bytes.div_ceil(PARTS_MAX).next_multiple_of(page_bytes);
        let end = bytes.end;
        bytes
            .step_by(part_bytes.max(page_bytes) as usize)
            .map(|start| start..(start + part_bytes).min(end))
            .collect()
    }

    /// Time to read the whole drive at the rate of its link, in minutes begun.
    pub fn reading_min(&self) -> u16 {
        let link_bytes_per_s =
            self.shared.with(|disk| disk.drive().config().interface.link_bytes_per_s);
        let minutes = self.shape.capacity_bytes.div_ceil(link_bytes_per_s.saturating_mul(60));
        minutes.clamp(1, u16::MAX.into()) as u16
    }

    /// Hours on the drive's clock.
    pub(super) fn power_on_hours(&self) -> u64 {
        self.shared.with(|disk| disk.totals().now.0) / HOUR_NS
    }

    /// Ends the self-test that is going on, if the event concerns it.
    pub(super) fn abort_self_test(&self, outcome: u8, scope: Scope) {
        let hours = self.power_on_hours();
        locked(&self.self_tests).abort(outcome, scope, hours);
    }

    /// Keeps the drive awake, or lets it enter its idle power states again.
    pub(super) fn keep_awake(&self, is_awake: bool) {
        if self.is_kept_awake.swap(is_awake, Ordering::Relaxed) != is_awake {
            self.shared.with(|disk| disk.drive_mut().allow_idle_states(!is_awake));
        }
    }

    /// A controller is reset, or gone.
    pub(super) fn reset(&self, controller_id: u16) {
        self.abort_self_test(outcome::RESET, Scope::Controller(controller_id));
        self.keep_awake(false);
    }

    /// Tells the hosts of zones that have changed without their orders.
    pub(super) fn look_for_changed_zones(&self) {
        let changed = self.shared.with(Disk::take_changed_zones);
        if changed.is_empty() {
            return;
        }
        for controller in self.controllers() {
            controller.state().zones_changed.extend(&changed);
            controller.tell(Event::zone_changed(NAMESPACE));
        }
    }

    /// State of the last sanitize.
    pub fn sanitize_log(&self) -> SanitizeLog {
        *locked(&self.sanitize)
    }

    /// Begins a sanitize, or ends it.
    pub fn set_sanitize_state(&self, state: SanitizeState) {
        let mut log = locked(&self.sanitize);
        (log.state, log.progress) = (state, u16::MAX);
        if state == SanitizeState::InProgress {
            (log.progress, log.passes) = (0, 0);
        }
    }

    /// Tells how far a sanitize has come: its share in 1/65,536, and whole passes over the drive.
    pub(super) fn set_sanitize_progress(&self, progress: u16, passes: u8) {
        let mut log = locked(&self.sanitize);
        (log.progress, log.passes) = (progress, passes);
    }

    /// Whether the drive can be emptied at once.
    pub fn can_erase(&self) -> bool {
        self.shape.deallocates || self.zones.is_some()
    }

    /// Bytes of the drive.
    pub fn capacity_bytes(&self) -> u64 {
        self.shape.capacity_bytes
    }

    /// Its zones, or `None` if it has none.
    pub fn zones(&self) -> Option<&ZonesPlan> {
        self.zones.as_ref()
    }

    /// Its placement handles, or `None` if it has none.
    pub fn placement(&self) -> Option<Placement> {
        self.placement
    }

    /// Number of the command set of its namespaces.
    pub fn command_set(&self) -> u8 {
        if self.zones.is_some() { zns::COMMAND_SET } else { NVM_COMMAND_SET }
    }

    /// Sizes of a logical block that it may have: a zone is written in whole pages.
    pub fn block_sizes(&self) -> &'static [u32] {
        if self.zones.is_some() { &BLOCK_BYTES[1..] } else { &BLOCK_BYTES }
    }

    /// Its largest Copy; 0 for a drive with zones, which has no such command.
    pub fn copy_limits(&self) -> CopyLimits {
        if self.zones.is_some() {
            return CopyLimits::default();
        }
        let blocks = |bytes: u64| bytes / u64::from(self.block_bytes());
        CopyLimits {
            source_blocks: blocks(TRANSFER_BYTES_MAX) as u16,
            blocks: blocks(COPY_BYTES_MAX) as u32,
            sources: COPY_SOURCES_MAX - 1,
        }
    }

    /// One of its namespaces.
    pub fn namespace(&self, namespace: &Namespace) -> IdentifyNamespace {
        let (shape, used_pages) = (&self.shape, self.shared.with(|disk| disk.contents().pages()));
        let Namespace { bytes, guid, .. } = namespace;
        // The contents are counted for the drive alone.
        let is_whole = *bytes == (0..shape.capacity_bytes);
        let block_bytes = u64::from(self.block_bytes());
        let lba_format = BLOCK_BYTES.iter().position(|&bytes| u64::from(bytes) == block_bytes);
        let blocks = (bytes.end - bytes.start) / block_bytes;
        let used_bytes = if is_whole { used_pages * shape.page_bytes } else { u64::MAX };
        IdentifyNamespace {
            size_blocks: blocks,
            capacity_blocks: self
                .zones
                .map_or(blocks, |zones| u64::from(zones.zones) * zones.capacity_pages),
            used_blocks: (used_bytes / block_bytes).min(blocks),
            format: NamespaceFormat {
                lba_format: lba_format.unwrap_or(0) as u8,
                ..Default::default()
            },
            lba_formats: BLOCK_BYTES
                .map(|bytes| LbaFormat { block_bytes: Some(bytes), metadata_bytes: 0 })
                .to_vec(),
            thin: is_whole && self.zones.is_none(),
            deallocates_to_zeros: shape.deallocates,
            unit_blocks: (shape.page_bytes / block_bytes).max(1) as u16,
            copy: self.copy_limits(),
            endurance_group: self.placement.map_or(0, |_| fdp::ENDURANCE_GROUP),
            guid: *guid,
        }
    }

    /// The power at work, and the states that the drive enters by itself.
    pub fn power_states(&self) -> Vec<PowerState> {
        let power = self.shared.with(|disk| disk.drive().config().options.power);
        let state = |power_mw: u64, idle: bool, entry_ns: u64, exit_ns: u64| PowerState {
            power_max_100uw: (power_mw * 10).min(u32::MAX.into()) as u32,
            idle,
            entry_latency_us: (entry_ns / 1000) as u32,
            exit_latency_us: (exit_ns / 1000) as u32,
        };
        let Some(power) = power else { return vec![state(0, false, 0, 0)] };
        let resting = [power.slumber, power.sleep].into_iter().flatten();
        let resting = resting.map(|rest| state(rest.power_mw, true, rest.entry_ns, rest.exit_ns));
        std::iter::once(state(power.active_mw, false, 0, 0)).chain(resting).collect()
    }

    /// The way out of each power state that the drive takes by itself; empty if it has no idle power states.
    pub(super) fn transitions(&self) -> Vec<Option<Transition>> {
        let power = self.shared.with(|disk| disk.drive().config().options.power);
        let resting = power.map_or([None; 2], |power| [power.slumber, power.sleep]);
        let mut idle_ns = 0;
        let entered = resting.into_iter().flatten().zip(1..).map(|(rest, to)| {
            // The times of the model count from the begin of idleness, those of the table from the state before.
            let after_ms = rest.after_ns.saturating_sub(idle_ns).div_ceil(1_000_000);
            idle_ns = rest.after_ns + rest.entry_ns;
            Some(Transition { to, after_ms: after_ms.clamp(1, u32::MAX.into()) as u32 })
        });
        entered.collect()
    }

    /// A new controller for the host that connects.
    ///
    /// # Errors
    /// A status: the names or the number are wrong, the host is not permitted, or there are too many controllers.
    pub fn admit(
        &self,
        data: ConnectData,
        keep_alive_ms: u32,
    ) -> Result<Arc<Controller>, CommandStatus> {
        let is_discovery = self.check_names(&data)?;
        if data.controller_id != ANY_CONTROLLER {
            return Err(CommandStatus::CONNECT_PARAMETERS);
        }
        let mut controllers = locked(&self.controllers);
        let free = (1..=u16::MAX - 0x10).find(|id| !controllers.contains_key(id));
        let id = free
            .filter(|_| controllers.len() < CONTROLLERS_MAX)
            .ok_or(CommandStatus::CONTROLLER_BUSY)?;
        let controller =
            Arc::new(Controller::new(id, data.host, data.host_id, is_discovery, keep_alive_ms));
        controllers.insert(id, Arc::clone(&controller));
        Ok(controller)
    }

    /// The controller of this host, for a further queue.
    ///
    /// # Errors
    /// A status: there is none, or it is that of another host.
    pub fn controller_of(&self, data: &ConnectData) -> Result<Arc<Controller>, CommandStatus> {
        self.check_names(data)?;
        let controller = locked(&self.controllers).get(&data.controller_id).cloned();
        let is_own =
            |found: &Arc<Controller>| found.host == data.host && found.host_id == data.host_id;
        controller.filter(is_own).ok_or(CommandStatus::CONNECT_PARAMETERS)
    }

    /// Whether the host asks for the discovery subsystem.
    fn check_names(&self, data: &ConnectData) -> Result<bool, CommandStatus> {
        let is_discovery = data.subsystem == DISCOVERY_NQN;
        if !is_discovery && data.subsystem != self.names.nqn {
            return Err(CommandStatus::CONNECT_PARAMETERS);
        }
        let is_permitted = self.hosts.is_empty() || self.hosts.contains(&data.host);
        if is_permitted { Ok(is_discovery) } else { Err(CommandStatus::CONNECT_HOST) }
    }

    /// Forgets a controller whose admin queue has ended.
    pub fn dismiss(&self, id: u16) {
        locked(&self.controllers).remove(&id);
        self.reset(id);
    }
}
