//! The drive behind a disk: one whose power can be cut, if its model says what a cut leaves, or any other one.

use base::{Completion, Nanos, Op, TelemetryRow};
use sim::ftl::{NO_PAGE, Stream, StreamId};
use sim::host::ZoneAction;
use sim::mechanism::zones::Zones;
use sim::nand::aging::past::Past;
use sim::power_loss::{Contents, Recovery, Spare};
use sim::{Config, Device, Drive};

use super::volatile::Volatile;

/// A simulated drive.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub enum ExposedDrive {
    /// One without a mapping journal: it keeps no account of the content of NAND.
    Lasting(Box<Drive>),
    /// One whose power can be cut.
    Cuttable(Box<Device<Contents>>),
}

/// The data of a page in NAND.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredPage {
    /// The map has no place for it.
    Nothing,
    /// This version of it, as a whole.
    Version(u64),
    /// It is on its way to NAND, or its place cannot be read.
    Unreadable,
}

/// The remains of a drive after a cut and the following recovery.
#[derive(Clone, Copy, Debug)]
pub struct PowerCycle {
    /// The findings of the recovery.
    pub recovery: Recovery,
    /// Programs that the cut tore.
    pub torn_programs: u64,
    /// Erases that it tore.
    pub torn_erases: u64,
    /// Time that the capacitors kept the drive alive, in ns.
    pub held_up_ns: u64,
}

/// Approximate bytes of memory of a drive for its maps and, if its power can be cut, for the account of NAND.
pub fn memory_bytes(config: &Config) -> u64 {
    const MAP_BYTES: u64 = size_of::<u32>() as u64;
    let geometry = &config.geometry;
    let pages = geometry.logical_pages + geometry.physical_pages();
    MAP_BYTES * pages + account_bytes(config)
}

/// Approximate bytes of memory for the account of NAND and the versions of pages, with the state of a recovery; 0 for a
/// drive that cannot lose its power.
pub fn account_bytes(config: &Config) -> u64 {
    // The map of the drive once more, its change, the checkpoints, and the version that the disk knows.
    const LOGICAL_BYTES: u64 = 4 * 4 + size_of::<(u64, u32)>() as u64 + Volatile::PAGE_BYTES;
    let geometry = &config.geometry;
    let logical_bytes = geometry.logical_pages * LOGICAL_BYTES;
    let spares_bytes = geometry.physical_pages() * size_of::<Spare>() as u64;
    // A cut works on a copy.
    if config.options.mapping.is_some() { 2 * (logical_bytes + spares_bytes) } else { 0 }
}

macro_rules! of_either {
    ($simulated:expr, $drive:ident => $what:expr) => {
        match $simulated {
            ExposedDrive::Lasting($drive) => $what,
            ExposedDrive::Cuttable($drive) => $what,
        }
    };
}

impl ExposedDrive {
    /// A fresh drive.
    pub fn new(config: Config) -> Self {
        match Device::with_contents(config.clone()) {
            Some(device) => Self::Cuttable(Box::new(device)),
            None => Self::Lasting(Box::new(Drive::new(config))),
        }
    }

    /// Approximate bytes of memory of its maps and, if its power can be cut, of the account of NAND.
    pub fn memory_bytes(&self) -> u64 {
        memory_bytes(self.config())
    }

    /// Whether it is a drive of this model in the form that [`ExposedDrive::new`] gives it, without outstanding commands.
    pub(super) fn is_of(&self, config: &Config) -> bool {
        let has_form = match self {
            Self::Cuttable(_) => config.options.mapping.is_some(),
            Self::Lasting(_) => config.options.mapping.is_none(),
        };
        let (own, geometry) = (self.config(), of_either!(self, drive => drive.ftl().geometry));
        has_form
            && own == config
            && geometry == config.geometry
            && of_either!(self, drive => drive.is_idle())
    }

    /// The resolved model.
    pub fn config(&self) -> &Config {
        of_either!(self, drive => drive.config())
    }

    /// Its clock.
    pub fn now(&self) -> Nanos {
        of_either!(self, drive => drive.now())
    }

    /// Sends a command.
    pub fn submit(&mut self, op: Op) {
        match self {
            Self::Lasting(drive) => drive.submit(&[op]),
            Self::Cuttable(device) => device.submit(&op),
        }
    }

    /// As [`Device::manage_zone`].
    pub fn manage_zone(&mut self, tag: u32, action: ZoneAction, zone: u32) {
        of_either!(self, drive => drive.manage_zone(tag, action, zone));
    }

    /// As [`Device::zones`].
    pub fn zones(&self) -> Option<&Zones> {
        of_either!(self, drive => drive.zones())
    }

    /// As [`Device::retire_zone`].
    pub fn retire_zone(&mut self, zone: u32, is_offline: bool) -> bool {
        of_either!(self, drive => drive.retire_zone(zone, is_offline))
    }

    /// As [`Device::cycle_power_of_zones`].
    pub fn cycle_power_of_zones(&mut self) -> Option<Nanos> {
        match self {
            Self::Lasting(drive) => drive.cycle_power_of_zones(),
            Self::Cuttable(_) => None,
        }
    }

    /// As [`Device::reap`].
    pub fn reap(&mut self, min: usize, out: &mut Vec<Completion>) {
        of_either!(self, drive => drive.reap(min, out));
    }

    /// As [`Device::run_until`].
    pub fn run_until(&mut self, until: Nanos) {
        of_either!(self, drive => drive.run_until(until));
    }

    /// As [`Device::next_event`].
    pub fn next_event(&self) -> Option<Nanos> {
        of_either!(self, drive => drive.next_event())
    }

    /// As [`Device::telemetry`].
    pub fn telemetry(&self) -> TelemetryRow {
        of_either!(self, drive => drive.telemetry())
    }

    /// Number of physical pages with valid data.
    pub fn valid_pages(&self) -> u64 {
        let of = |pages: &[u32]| pages.iter().map(|&pages| u64::from(pages)).sum::<u64>();
        of_either!(self, drive => of(&drive.ftl().valid_pages))
    }

    /// Pages of the host that the superblock of each of so many placement handles still can take: the open one, or the next.
    pub fn pages_left(&self, handles: u32) -> Vec<u64> {
        let whole = self.config().geometry.superblock_data_pages();
        let left = |stream: &Stream| {
            let is_open = stream.room_pages > 0;
            u64::from(if is_open { stream.room_pages } else { whole })
        };
        let streams = &StreamId::HOSTS[..handles as usize];
        of_either!(self, drive => streams.iter().map(|id| left(drive.ftl().stream(*id))).collect())
    }

    /// As [`Device::end_reclaim_unit`].
    pub fn end_reclaim_unit(&mut self, handle: u8) -> bool {
        of_either!(self, drive => drive.end_reclaim_unit(handle))
    }

    /// As [`Device::age`].
    pub fn age(&mut self, days: u32) {
        of_either!(self, drive => drive.age(Past::days(days)));
    }

    /// As [`Device::allow_idle_states`].
    pub fn allow_idle_states(&mut self, allowed: bool) {
        of_either!(self, drive => drive.allow_idle_states(allowed));
    }

    /// As [`Device::wear`].
    pub fn wear(&mut self, cycles: u32) -> bool {
        of_either!(self, drive => drive.wear(cycles))
    }

    /// As [`Device::set_ambient`].
    pub fn set_ambient(&mut self, ambient_mk: u64) -> bool {
        of_either!(self, drive => drive.set_ambient(ambient_mk))
    }

    /// As [`Device::limit_cache`].
    pub fn limit_cache(&mut self, superblocks: u32) -> bool {
        of_either!(self, drive => drive.limit_cache(superblocks))
    }

    /// Checks the maps.
    ///
    /// # Errors
    /// The first contradiction.
    pub fn check(&self) -> Result<(), String> {
        of_either!(self, drive => drive.check())
    }

    /// Whether a cut is possible.
    pub fn is_cuttable(&self) -> bool {
        matches!(self, Self::Cuttable(_))
    }

    /// The version of the data that a read of a page returns now, or `None` if it is empty or the drive keeps no
    /// account.
    pub fn version(&self, page: u64) -> Option<u64> {
        match self {
            Self::Lasting(_) => None,
            Self::Cuttable(device) => device.probe().version(page),
        }
    }

    /// The data of a page in NAND.
    pub fn stored(&self, page: u64) -> StoredPage {
        let Self::Cuttable(device) = self else { return StoredPage::Unreadable };
        let physical = device.ftl().l2p.get(page);
        if physical == NO_PAGE {
            return StoredPage::Nothing;
        }
        let spare = device.probe().nand().read_whole(physical);
        match spare.filter(|spare| spare.logical == page) {
            Some(spare) => StoredPage::Version(spare.version),
            None => StoredPage::Unreadable,
        }
    }

    /// Cuts the power and restores it, or `None` if that is not possible: then nothing has changed. Outstanding
    /// commands never end.
    pub fn cycle_power(&mut self) -> Option<PowerCycle> {
        let Self::Cuttable(device) = self else { return None };
        let off = device.as_ref().clone().power_cut();
        let (torn_programs, torn_erases) = (off.torn_programs(), off.torn_erases());
        let held_up_ns = off.held_up_ns();
        let (drive, recovery) = off.power_on();
        **device = drive;
        Some(PowerCycle { recovery, torn_programs, torn_erases, held_up_ns })
    }
}
