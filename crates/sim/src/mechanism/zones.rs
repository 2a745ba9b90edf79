//! Zones: a drive that is written in order, zone by zone, and collects no garbage.
//!
//! Phenomenon: the host may write a zone at its write pointer only, or append to it and learn the place; it resets a
//! whole zone before it writes there again. A drive needs no page map, no spare room for collection, and its write
//! amplification is 1. Source: NVM Express Zoned Namespace Command Set 1.1; the ZN540, whose zones have 1,077 MiB of a
//! superblock over all dies (arXiv 2310.19094). A zone is one superblock or several. Its size,
//! the distance of two zones, is the power of two at or above its capacity, which Linux demands. A reset erases its
//! superblocks; a finish fills what is left with padding. Simplifications: a zone gets its superblocks with its first
//! write; a command gets its place when the host sends it; the end of a program unit that was not full is programmed
//! with padding when its zone is reset; while a reset or a finish is under way the drive refuses writes to that zone;
//! over a loss of power capacitors keep what has entered the buffer, an order that has begun takes effect, and the
//! recovery takes no time. The simulator keeps its map of pages, numbered by capacity, without cost. Test: `tests/mechanisms/zones.rs`.

use std::ops::Range;

use base::facts::Sourced;

use crate::ftl::{NO_SUPERBLOCK, Stream};
use crate::geometry::Geometry;
use crate::host::ZoneAction;
use crate::mechanism::basis::{Basis, Section};
use crate::model::schema::{ModelError, section};

section! {
    /// Zones that are written in order.
    pub struct ZonesSection {
        /// Superblocks of a zone; absent: 1.
        pub superblocks: Option<Sourced<u32>> [1, 64],
        /// Bytes that a zone can hold, as many pages as that is; absent: all that its superblocks hold.
        pub capacity_bytes: Option<Sourced<u64>> [4096, 1 << 43],
        /// Most zones open at a time.
        pub open_max: Sourced<u32> [1, 4096],
        /// Most zones open or closed at a time.
        pub active_max: Sourced<u32> [1, 4096],
    }
}

/// The zones of a drive as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ZonesPlan {
    /// Number of zones.
    pub zones: u32,
    /// Distance of two zones, in pages.
    pub size_pages: u64,
    /// Pages that a zone can hold.
    pub capacity_pages: u64,
    /// Most zones open at a time.
    pub open_max: u32,
    /// Most zones open or closed at a time.
    pub active_max: u32,
}

impl ZonesPlan {
    /// Pages of the LBA space, with those that no zone can hold.
    pub fn lba_pages(&self) -> u64 {
        u64::from(self.zones) * self.size_pages
    }
}

impl ZonesSection {
    /// Pages that a zone can hold, of a drive of which the scale keeps a share.
    pub(crate) fn capacity_pages(&self, geometry: &Geometry, kept: base::Ratio) -> u64 {
        let superblocks = self.superblocks.as_ref().map_or(1, |superblocks| superblocks.value);
        let room = u64::from(superblocks) * u64::from(geometry.superblock_data_pages());
        let wanted = self.capacity_bytes.as_ref();
        let pages =
            wanted.map_or(room, |bytes| kept.of(bytes.value) / u64::from(geometry.page_bytes));
        pages.clamp(1, room)
    }
}

/// Sections and keys without a meaning on a drive with zones, or whose work would move data.
const WITHOUT: [&str; 17] = [
    "read_ahead",
    "background_gc",
    "idle_gc",
    "idle_sort",
    "streams",
    "map_cache",
    "mapping",
    "wear_leveling",
    "pslc",
    "housekeeping",
    "compression",
    "throttle",
    "wear_budget",
    "write_caps",
    "cleaning_states",
    "performance_mode",
    "nand.retry.reclaim_reads",
];

impl Section for ZonesSection {
    type Plan = ZonesPlan;
    type State = Zones;

    fn resolve(&self, basis: &Basis<'_>) -> Result<ZonesPlan, ModelError> {
        let Basis { check, geometry, .. } = basis;
        let (open_max, active_max) = (self.open_max.value, self.active_max.value);
        check.within("zones.active_max", active_max.into(), open_max.into(), 4096)?;
        if let Some(key) = WITHOUT.into_iter().find(|key| basis.has(key)) {
            return check.fail(
                "zones.open_max",
                open_max,
                &format!("zones do not go together with {key}"),
            );
        }
        if geometry.die_groups > 1 || basis.placement.is_some() {
            let rule = "zones need superblocks over all dies, and no placement handles";
            return check.fail("zones.open_max", open_max, rule);
        }
        if basis
            .number("interface.logical_block_bytes")
            .is_some_and(|bytes| bytes != u64::from(geometry.page_bytes))
            || geometry.host_pages() > 1
        {
            let rule = "zones need sectors of 4,096 bytes, and a map of such pages";
            return check.fail("zones.open_max", open_max, rule);
        }
        let buffer_bytes = basis.number("buffer.write_bytes").unwrap_or(0);
        // A zone that is open or closed may hold a unit in the buffer that lacks its last page.
        let least_bytes = u64::from(active_max + 1) * geometry.unit_bytes();
        if buffer_bytes < least_bytes {
            let rule =
                format!("the buffer must hold a unit for each and one more, {least_bytes} bytes");
            return check.fail("zones.active_max", active_max, &rule);
        }
        let superblocks = self.superblocks.as_ref().map_or(1, |superblocks| superblocks.value);
        let capacity_pages = self.capacity_pages(geometry, basis.blocks.kept_share());
        let zones = geometry.logical_pages / capacity_pages;
        if zones == 0 {
            return check.fail("zones.superblocks", superblocks, "the drive must hold a zone");
        }
        if zones * u64::from(superblocks) > u64::from(geometry.superblocks) {
            let rule =
                format!("{zones} zones need more than the {} superblocks", geometry.superblocks);
            return check.fail("zones.superblocks", superblocks, &rule);
        }
        Ok(ZonesPlan {
            zones: zones as u32,
            size_pages: capacity_pages.next_power_of_two(),
            capacity_pages,
            open_max,
            active_max,
        })
    }

    fn begin(plan: ZonesPlan, geometry: &Geometry, _: usize) -> Zones {
        let empty = Zone::empty(geometry.unit_pages);
        Zones { plan, zones: vec![empty; plan.zones as usize], erasing: Vec::new() }
    }
}

/// State of a zone, as NVMe names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ZoneState {
    /// Nothing is written.
    Empty,
    /// Open because the host has written.
    ImplicitlyOpen,
    /// Open because the host has asked for it.
    ExplicitlyOpen,
    /// Partly written, and not open.
    Closed,
    /// Full, or finished.
    Full,
    /// Its data can be read for the last time.
    ReadOnly,
    /// It can no longer be used.
    Offline,
}

impl ZoneState {
    /// Whether the zone counts against the limit of open ones.
    pub fn is_open(self) -> bool {
        matches!(self, Self::ImplicitlyOpen | Self::ExplicitlyOpen)
    }

    /// Whether the zone counts against the limit of active ones.
    pub fn is_active(self) -> bool {
        self.is_open() || self == Self::Closed
    }
}

/// The reason against a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneError {
    /// It leaves the drive, or is no multiple of a page.
    OutOfRange,
    /// It crosses the border of a zone.
    Boundary,
    /// It does not begin at the write pointer, or the zone is being reset or finished.
    InvalidWrite,
    /// The zone is full.
    Full,
    /// The zone is read only.
    ReadOnly,
    /// The zone is offline.
    Offline,
    /// As many zones are open as may be.
    TooManyOpen,
    /// As many zones are active as may be.
    TooManyActive,
    /// The zone is in no state for this order.
    InvalidTransition,
    /// The drive has no such command.
    Unsupported,
}

impl ZoneError {
    const ALL: [Self; 10] = [
        Self::OutOfRange,
        Self::Boundary,
        Self::InvalidWrite,
        Self::Full,
        Self::ReadOnly,
        Self::Offline,
        Self::TooManyOpen,
        Self::TooManyActive,
        Self::InvalidTransition,
        Self::Unsupported,
    ];

    /// The reason behind an errno, or `None` if no zone gives it.
    pub fn of(errno: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.errno() == errno)
    }

    /// The errno of a command that was refused, a different one for each reason; as Linux has it where it has one.
    pub fn errno(self) -> i32 {
        match self {
            Self::OutOfRange => 22,
            Self::Boundary => 18,
            Self::InvalidWrite => 5,
            Self::Full => 28,
            Self::ReadOnly => 30,
            Self::Offline => 6,
            Self::TooManyOpen => 109,
            Self::TooManyActive => 75,
            Self::InvalidTransition => 71,
            Self::Unsupported => 95,
        }
    }
}

/// A zone.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Zone {
    /// Its state.
    pub state: ZoneState,
    /// Pages before the write pointer.
    pub written_pages: u64,
    /// Pages that have their place in NAND or on the way there.
    pub(crate) placed_pages: u64,
    /// Frontier of its last superblock.
    pub(crate) stream: Stream,
    pub(crate) superblocks: Vec<u32>,
    /// Writes of the host that have not ended.
    writes: u32,
    /// Whether a reset or a finish is under way.
    is_changing: bool,
    /// The tag of a reset or a finish that waits for the writes, or `None` if there is none.
    waiting: Option<u32>,
}

impl Zone {
    /// An empty zone of a drive whose program units have so many pages.
    fn empty(unit_room_pages: u32) -> Self {
        Self {
            state: ZoneState::Empty,
            written_pages: 0,
            placed_pages: 0,
            stream: Stream {
                superblock: NO_SUPERBLOCK,
                next_page: 0,
                room_pages: 0,
                unit_room_pages,
            },
            superblocks: Vec::new(),
            writes: 0,
            is_changing: false,
            waiting: None,
        }
    }

    /// Its state after a loss of power. A reset whose erase had begun has emptied it, a finish that had begun has filled it;
    /// a write has left the pages that had entered the buffer.
    fn after_power_loss(&mut self, capacity_pages: u64) {
        (self.writes, self.waiting) = (0, None);
        let is_changing = std::mem::take(&mut self.is_changing);
        if self.dead().is_some() {
            return;
        }
        if self.superblocks.is_empty() {
            *self = Self::empty(self.stream.unit_room_pages);
        } else if is_changing && self.placed_pages > self.written_pages {
            self.placed_pages = capacity_pages;
        } else {
            self.written_pages = self.placed_pages;
        }
        if self.placed_pages == capacity_pages {
            (self.state, self.written_pages) = (ZoneState::Full, capacity_pages);
        } else if self.placed_pages > 0 {
            self.state = ZoneState::Closed;
        }
    }

    /// The reason of the state against any change, or `None` if there is none.
    fn dead(&self) -> Option<ZoneError> {
        match self.state {
            ZoneState::ReadOnly => Some(ZoneError::ReadOnly),
            ZoneState::Offline => Some(ZoneError::Offline),
            _ => None,
        }
    }
}

/// All zones.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Zones {
    plan: ZonesPlan,
    zones: Vec<Zone>,
    /// Superblocks that are being erased, each with the reset that waits for it.
    erasing: Vec<(u32, u32)>,
}

impl Zones {
    /// Their numbers.
    pub fn plan(&self) -> &ZonesPlan {
        &self.plan
    }

    /// All zones in the order of their addresses.
    pub fn all(&self) -> &[Zone] {
        &self.zones
    }

    /// Number of open zones.
    pub fn open(&self) -> u32 {
        self.zones.iter().filter(|zone| zone.state.is_open()).count() as u32
    }

    /// Number of open and closed zones.
    pub fn active(&self) -> u32 {
        self.zones.iter().filter(|zone| zone.state.is_active()).count() as u32
    }

    /// The zones that an order to all is about: those whose state it can change.
    pub fn concerned(&self, action: ZoneAction) -> impl Iterator<Item = u32> {
        let is_concerned = move |state: ZoneState| match action {
            ZoneAction::Open => state == ZoneState::Closed,
            ZoneAction::Close => state.is_open(),
            ZoneAction::Finish => state.is_active(),
            ZoneAction::Reset => state.is_active() || state == ZoneState::Full,
        };
        (0..)
            .zip(&self.zones)
            .filter(move |(_, zone)| is_concerned(zone.state))
            .map(|(number, _)| number)
    }

    /// The page of the LBA space at which an append to the zone of this page is written: its write pointer, or its
    /// begin if it takes no more.
    pub fn append_place(&self, page: u64) -> u64 {
        let number = self.zone_of(page);
        let is_writable = |zone: &&Zone| zone.state != ZoneState::Full;
        let zone = self.zones.get(number as usize).filter(is_writable);
        number * self.plan.size_pages + zone.map_or(0, |zone| zone.written_pages)
    }

    /// The zone of a page of the LBA space, which need not exist.
    pub fn zone_of(&self, page: u64) -> u64 {
        page / self.plan.size_pages
    }

    /// The page of the drive's map behind a page of the LBA space, or `None` if no zone can hold it.
    pub fn mapped_page(&self, page: u64) -> Option<u64> {
        let (zone, places) = self.locate(&(page..page + 1)).ok()?;
        let mapped = self.mapped(zone, places).start;
        (page % self.plan.size_pages < self.plan.capacity_pages).then_some(mapped)
    }

    pub(crate) fn zone_mut(&mut self, zone: u32) -> &mut Zone {
        &mut self.zones[zone as usize]
    }

    /// The zone of a page of the drive's map.
    pub(crate) fn zone_of_mapped(&self, page: u64) -> u32 {
        (page / self.plan.capacity_pages) as u32
    }

    /// The zone of these pages of the LBA space, and their places in it.
    fn locate(&self, pages: &Range<u64>) -> Result<(u32, Range<u64>), ZoneError> {
        let zone = self.zone_of(pages.start);
        if zone >= self.zones.len() as u64 {
            return Err(ZoneError::OutOfRange);
        }
        let first = zone * self.plan.size_pages;
        if pages.end > first + self.plan.size_pages {
            return Err(ZoneError::Boundary);
        }
        Ok((zone as u32, pages.start - first..pages.end - first))
    }

    fn mapped(&self, zone: u32, places: Range<u64>) -> Range<u64> {
        let first = u64::from(zone) * self.plan.capacity_pages;
        first + places.start..first + places.end
    }

    /// The pages of the drive's map that a read wants. Those beyond the capacity of the zone hold nothing.
    pub(crate) fn read(&self, pages: &Range<u64>) -> Result<Range<u64>, ZoneError> {
        let (zone, places) = self.locate(pages)?;
        if self.zones[zone as usize].state == ZoneState::Offline {
            return Err(ZoneError::Offline);
        }
        let within = |place: u64| place.min(self.plan.capacity_pages);
        Ok(self.mapped(zone, within(places.start)..within(places.end)))
    }

    /// Takes a write: the pages of the drive's map that it writes.
    pub(crate) fn write(&mut self, pages: &Range<u64>) -> Result<Range<u64>, ZoneError> {
        let (zone, places) = self.locate(pages)?;
        let capacity_pages = self.plan.capacity_pages;
        let found = &self.zones[zone as usize];
        if let Some(reason) = found.dead() {
            return Err(reason);
        }
        if found.state == ZoneState::Full {
            return Err(ZoneError::Full);
        }
        if found.is_changing || places.start != found.written_pages {
            return Err(ZoneError::InvalidWrite);
        }
        if places.end > capacity_pages {
            return Err(ZoneError::Boundary);
        }
        if !found.state.is_open() {
            self.open_zone(zone, ZoneState::ImplicitlyOpen)?;
        }
        let found = self.zone_mut(zone);
        found.written_pages = places.end;
        found.writes += 1;
        if places.end == capacity_pages {
            found.state = ZoneState::Full;
        }
        Ok(self.mapped(zone, places))
    }

    /// Opens a zone, within the limits: one that is open without having been asked for closes if need be.
    fn open_zone(&mut self, zone: u32, state: ZoneState) -> Result<(), ZoneError> {
        let found = &self.zones[zone as usize];
        if !found.state.is_active() && self.active() == self.plan.active_max {
            return Err(ZoneError::TooManyActive);
        }
        if !found.state.is_open() && self.open() == self.plan.open_max {
            let other = self.zones.iter_mut().find(|zone| zone.state == ZoneState::ImplicitlyOpen);
            other.ok_or(ZoneError::TooManyOpen)?.state = ZoneState::Closed;
        }
        self.zone_mut(zone).state = state;
        Ok(())
    }

    /// Takes an order to a zone.
    pub(crate) fn begin(&mut self, action: ZoneAction, zone: u32) -> Result<(), ZoneError> {
        let Some(found) = self.zones.get_mut(zone as usize) else {
            return Err(ZoneError::OutOfRange);
        };
        if found.dead().is_some() || found.is_changing {
            return Err(ZoneError::InvalidTransition);
        }
        match (action, found.state) {
            (ZoneAction::Reset | ZoneAction::Finish, _) => found.is_changing = true,
            (ZoneAction::Open | ZoneAction::Close, ZoneState::Full)
            | (ZoneAction::Close, ZoneState::Empty) => return Err(ZoneError::InvalidTransition),
            (ZoneAction::Open, _) => self.open_zone(zone, ZoneState::ExplicitlyOpen)?,
            (ZoneAction::Close, _) if found.written_pages == 0 => found.state = ZoneState::Empty,
            (ZoneAction::Close, _) => found.state = ZoneState::Closed,
        }
        Ok(())
    }

    /// Whether a reset or a finish of a zone may go on now; if not, it goes on after the last write.
    pub(crate) fn may_change(&mut self, zone: u32, tag: u32) -> bool {
        let found = self.zone_mut(zone);
        found.waiting = (found.writes > 0).then_some(tag);
        found.waiting.is_none()
    }

    /// A write of the host to a zone has ended. The tag of the reset or the finish that has waited for it.
    pub(crate) fn write_ended(&mut self, zone: u32) -> Option<u32> {
        let found = self.zone_mut(zone);
        found.writes -= 1;
        if found.writes > 0 { None } else { found.waiting.take() }
    }

    /// The pages of the drive's map that a zone still can hold.
    pub(crate) fn rest(&self, zone: u32) -> Range<u64> {
        self.mapped(zone, self.zones[zone as usize].placed_pages..self.plan.capacity_pages)
    }

    /// The pages of the drive's map that a zone holds.
    pub(crate) fn content(&self, zone: u32) -> Range<u64> {
        self.mapped(zone, 0..self.zones[zone as usize].placed_pages)
    }

    /// Whether a zone has no room left.
    pub(crate) fn is_filled(&self, zone: u32) -> bool {
        self.zones[zone as usize].placed_pages == self.plan.capacity_pages
    }

    /// A zone is full by padding.
    pub(crate) fn finished(&mut self, zone: u32) {
        let capacity_pages = self.plan.capacity_pages;
        let found = self.zone_mut(zone);
        found.state = ZoneState::Full;
        found.written_pages = capacity_pages;
        found.is_changing = false;
    }

    /// The erase of superblocks begins, for which a reset waits.
    pub(crate) fn erase(&mut self, superblocks: &[u32], tag: u32) {
        self.erasing.extend(superblocks.iter().map(|&superblock| (superblock, tag)));
    }

    /// A superblock is erased. The tag of the reset, if it was the last that it has waited for.
    pub(crate) fn erased(&mut self, superblock: u32) -> Option<u32> {
        let index = self.erasing.iter().position(|(erasing, _)| *erasing == superblock)?;
        let (_, tag) = self.erasing.swap_remove(index);
        self.erasing.iter().all(|(_, other)| *other != tag).then_some(tag)
    }

    /// A zone is empty; its frontier stands between two units.
    pub(crate) fn emptied(&mut self, zone: u32) {
        let found = self.zone_mut(zone);
        *found = Zone::empty(found.stream.unit_room_pages);
    }

    /// The zones after a loss of power. Returns the superblocks whose erases had begun, and the pages of open program units,
    /// which the buffer holds again.
    pub(crate) fn cycle_power(&mut self, unit_pages: u32) -> (Vec<u32>, u32) {
        let erased = std::mem::take(&mut self.erasing);
        let capacity_pages = self.plan.capacity_pages;
        let mut buffered_pages = 0;
        for zone in &mut self.zones {
            zone.after_power_loss(capacity_pages);
            buffered_pages += (unit_pages - zone.stream.unit_room_pages) % unit_pages;
        }
        (erased.into_iter().map(|(superblock, _)| superblock).collect(), buffered_pages)
    }

    /// A zone is worn out: it becomes read only or offline.
    pub(crate) fn retire(&mut self, zone: u32, state: ZoneState) {
        self.zone_mut(zone).state = state;
    }
}
