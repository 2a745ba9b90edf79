//! From a model to the integers of the simulation, with every rule checked once.

use base::Ratio;

use super::check::CrossCheck;
use super::schema::{Check, Field};
use super::section::map;
use super::{Model, ModelError};
use crate::ftl::gc::VictimPolicy;
use crate::ftl::pacing::early::EarlyGc;
use crate::ftl::pacing::{HostLimit, PacingKind, Quantum};
use crate::ftl::packed::packs_owners;
use crate::ftl::placement::{Isolation, Placement};
use crate::ftl::reclaim_groups::{RECLAIM_GROUPS_MAX, VictimScope};
use crate::ftl::table::number_bytes;
use crate::geometry::{Geometry, PAGE_BYTES};
use crate::host::limits::InterfaceLimits;
use crate::host::pauses::PausePlan;
use crate::host::system::HostSystem;
use crate::host::transit::Stages;
use crate::mechanism::basis::{Basis, Blocks, Section};
use crate::mechanism::mechanisms;
use crate::mechanism::write_caps::CapsPlan;
use crate::nand::{NandFeatures, NandTiming};

/// The configuration of the simulation: integers, checked against each other.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Config {
    /// Shape.
    pub geometry: Geometry,
    /// NAND times.
    pub nand: NandTiming,
    /// All NAND, including the part that the FTL may not use.
    pub raw_bytes: u64,
    /// Path between host and drive.
    pub interface: InterfaceLimits,
    /// Most outstanding commands, in all queues together.
    pub queue_depth: u32,
    /// Controller time of a read.
    pub read_command_ns: u64,
    /// Controller time of any other command.
    pub write_command_ns: u64,
    /// Controller time to move one page.
    pub relocate_ns: u64,
    /// Size of the write buffer.
    pub buffer_pages: u32,
    /// Whether a flush costs nothing.
    pub power_loss_protected: bool,
    /// Rule for the superblock to collect.
    pub gc_policy: VictimPolicy,
    /// Superblocks that some policies examine.
    pub gc_candidates: u32,
    /// Rule for the time of collection.
    pub pacing: PacingKind,
    /// Erased superblocks below which the host waits.
    pub free_low: u32,
    /// Superblocks of writable space at which collection starts or stops.
    pub free_high: u32,
    /// The optional features.
    pub options: Options,
    /// Seed of all random choices of the drive.
    pub seed: u64,
}

macro_rules! options {
    ($($(#[doc = $about:literal])* $name:ident: $section:ty,)*) => {
        /// The optional features; a default drive has none of them.
        #[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub struct Options {
            /// Behaviour of the NAND beyond reads, programs and erases in fixed times.
            pub nand_features: NandFeatures,
            /// Size and sharpness of the bursts of collection, or `None` if it moves what is owed at once.
            pub quantum: Option<Quantum>,
            /// Collection that begins early, or `None` if the drive waits until it needs room.
            pub early: Option<EarlyGc>,
            /// The limit of the host's writes under `rate` pacing, or `None` under others.
            pub write_rate: Option<HostLimit>,
            /// Placement handles, or `None` if all data of the host goes to one stream.
            pub placement: Option<Placement>,
            $(
                $(#[doc = $about])*
                pub $name: Option<<$section as Section>::Plan>,
            )*
            /// Stages between program and drive.
            pub stages: Stages,
            /// Processors of the controller beyond the first.
            pub more_processors: u32,
            /// Pauses of the controller while the host writes, or `None` if there are none.
            pub pauses: Option<PausePlan>,
        }

        impl Options {
            /// Resolves the sections of the mechanisms that a model has.
            fn resolve_mechanisms(
                &mut self,
                model: &Model,
                basis: &Basis<'_>,
            ) -> Result<(), ModelError> {
                $(self.$name = optional(&model.$name, |section| section.resolve(basis))?;)*
                Ok(())
            }
        }
    };
}

mechanisms!(options);

impl Config {
    /// This drive behind a host, which may take more commands than the drive does.
    #[must_use]
    pub fn behind(mut self, host: Option<HostSystem>) -> Self {
        let host_depth = host.map_or(0, |host| host.queue_depth);
        self.queue_depth = self.interface.commands.max(host_depth);
        self.options.stages.host = host;
        self
    }

    /// Whether some moved data goes to the cold stream.
    #[inline]
    pub fn has_cold_stream(&self) -> bool {
        let options = &self.options;
        options.streams.is_some()
            || options.wear_leveling.is_some_and(|wear| wear.spread_max.is_some())
            || options.idle_sort.is_some()
    }

    /// Whether moved data goes to several streams.
    #[inline]
    pub fn has_several_moved_streams(&self) -> bool {
        let is_persistent = |placement: Placement| placement.isolation == Isolation::Persistent;
        self.has_cold_stream()
            || self.geometry.reclaim_groups > 1
            || self.options.placement.is_some_and(is_persistent)
    }

    /// Number of open superblocks for placement handles, beyond those of a drive without.
    pub(crate) fn more_open_superblocks(&self) -> u32 {
        self.options.placement.map_or(0, Placement::more_open_superblocks)
    }

    /// Size of the LBA space.
    pub fn capacity_bytes(&self) -> u64 {
        self.geometry.logical_pages * u64::from(self.geometry.page_bytes)
    }

    /// NAND that holds data of the host in steady state, valid or overwritten: what the FTL may use, less parity,
    /// the map and what it keeps erased. Over the size of the data this is the alpha of the formulas.
    pub fn log_bytes(&self) -> u64 {
        let geometry = &self.geometry;
        let superblock_pages = geometry.superblock_data_pages();
        let superblocks = geometry.superblocks - geometry.cache_superblocks;
        let pages = u64::from(superblocks) * u64::from(superblock_pages);
        let kept_free = self.pacing.steady_pages(self.free_low, self.free_high, superblock_pages)
            * u64::from(geometry.reclaim_groups);
        let half_open = u64::from(self.more_open_superblocks()) * u64::from(superblock_pages) / 2;
        let not_of_host = kept_free + u64::from(geometry.map_pages) + half_open;
        pages.saturating_sub(not_of_host) * geometry.physical_page_bytes()
    }
}

impl CrossCheck<'_> {
    /// Checks every value against the range of its key, under which no later arithmetic can overflow.
    fn ranges(&self) -> Result<(), ModelError> {
        self.model.check("", None, self)?;
        if let (Some(capacity), Some(_)) = (&self.model.capacity, &self.model.capacity_gb) {
            let rule = "capacity_gb gives it as well, and a drive has one";
            return self.fail("capacity", capacity.value, rule);
        }
        let gc = &self.model.gc;
        let high_min = u64::from(gc.free_low.value) + 1;
        self.within("gc.free_high", gc.free_high.value.into(), high_min, 1 << 20)
    }

    /// Physical pages of so many bytes in one multi-plane program.
    fn unit_pages(&self, physical_page_bytes: u64) -> Result<u32, ModelError> {
        let nand = &self.model.nand;
        let page_bytes = u64::from(nand.page_bytes.value);
        if !page_bytes.is_multiple_of(PAGE_BYTES) {
            return self.fail("nand.page_bytes", page_bytes, "it must be a multiple of 4096");
        }
        let (together, _) = nand.plane_groups();
        let unit_bytes = u64::from(together) * page_bytes;
        if !unit_bytes.is_multiple_of(physical_page_bytes) {
            let rule =
                format!("a multi-plane program, {unit_bytes} bytes, must be a multiple of it");
            return self.fail("map.unit_bytes", physical_page_bytes, &rule);
        }
        let pages = unit_bytes / physical_page_bytes;
        if pages > 64 {
            let rule = format!(
                "a multi-plane program holds at most 64 pages of {physical_page_bytes} bytes"
            );
            return self.fail("nand.planes", nand.planes.value, &rule);
        }
        Ok(pages as u32)
    }

    /// Spare space must contain the open superblocks, the free level and a victim that gives room.
    fn spare(&self, geometry: &Geometry) -> Result<(), ModelError> {
        let spare = geometry.spare_superblocks();
        let Model { streams, wear_leveling, idle_sort, .. } = self.model;
        let cold_stream = streams.is_some() || wear_leveling.is_some() || idle_sort.is_some();
        let placement = self.placement()?.map_or(0, Placement::more_spare_superblocks);
        let beyond =
            u64::from(placement) + u64::from(geometry.die_groups) * if cold_stream { 5 } else { 4 };
        let groups = u64::from(geometry.reclaim_groups);
        let wanted = groups * u64::from(self.model.gc.free_high.value) + beyond;
        if spare >= wanted {
            return Ok(());
        }
        let of_groups = if groups > 1 { format!("{groups} x ") } else { String::new() };
        let rule = format!(
            "{} usable superblocks leave {spare} beside the user data, and garbage collection needs \
             {of_groups}gc.free_high + {beyond} = {wanted}; lower {} or gc.free_high, or add NAND",
            geometry.superblocks,
            self.model.capacity_text().0
        );
        let (key, capacity) = self.model.capacity_text();
        self.fail(key, capacity, &rule)
    }
}

/// Shortens superblocks (pages per block), so that counts of superblocks and all shares stay; if
/// whole pages cannot express the scale, the number of blocks falls.
fn scaled_shape(model: &Model, scale: Ratio) -> (u32, u32) {
    let pages = model.nand.pages_per_block.value;
    let blocks = model.nand.blocks_per_plane.value;
    let scaled_pages = (scale.of(u64::from(pages)) as u32).max(1);
    let total = scale.of(u64::from(pages) * u64::from(blocks));
    let scaled_blocks = (total / u64::from(scaled_pages)).clamp(1, u64::from(blocks)) as u32;
    (scaled_pages, scaled_blocks)
}

/// The blocks of a drive and those that the scale leaves.
fn block_counts(model: &Model, scale: Ratio) -> Blocks {
    let nand = &model.nand;
    let (scaled_pages, scaled_per_plane) = scaled_shape(model, scale);
    Blocks {
        per_plane: nand.blocks_per_plane.value,
        scaled_per_plane,
        pages: nand.pages_per_block.value,
        scaled_pages,
        reserved: nand.reserved_superblocks.value,
        plane_groups: nand.plane_groups().1,
    }
}

pub(super) fn resolve(model: &Model, scale: Ratio) -> Result<Config, ModelError> {
    let check = CrossCheck::new(model);
    check.ranges()?;
    if scale.is_zero() {
        return check.fail("scale", scale, "it must be larger than 0, such as 1/64");
    }
    let geometry = in_whole_zones(&check, scale, geometry(&check, scale)?)?;
    check.spare(&geometry)?;
    let Model { interface, controller, nand, buffer, gc, .. } = model;
    let buffer_pages = (buffer.write_bytes.value / geometry.physical_page_bytes())
        .min(u64::from(u32::MAX / 2)) as u32;
    // Two streams, or that of each handle, may have filled a unit up to its last page, and the next one must get in.
    let placement = check.placement()?;
    let streams = placement.map_or(2, |placement| placement.handles);
    let units_pages = streams * geometry.unit_pages;
    if buffer_pages < units_pages + 2 * (geometry.page_granules - 1) {
        let rule = format!(
            "it must hold {} program units, {} bytes, and on a drive that compresses a page more for each",
            if streams == 2 { "two".to_owned() } else { streams.to_string() },
            u64::from(units_pages) * geometry.physical_page_bytes()
        );
        return check.fail("buffer.write_bytes", buffer.write_bytes.value, &rule);
    }
    let (scaled_pages, scaled_blocks) = scaled_shape(model, scale);
    Ok(Config {
        nand: nand.timing(&geometry, scaled_pages),
        raw_bytes: u64::from(scaled_blocks)
            * u64::from(geometry.die_groups)
            * geometry.superblock_bytes(),
        interface: interface.resolve(&check)?,
        queue_depth: interface.entries(),
        read_command_ns: controller.read_command_ns.value,
        write_command_ns: controller.write_command_ns.value,
        relocate_ns: controller.relocate_ns.value / u64::from(geometry.page_granules),
        buffer_pages,
        power_loss_protected: buffer.power_loss_protected.value,
        gc_policy: gc.policy.value,
        gc_candidates: gc.candidates.value,
        pacing: gc.pacing.value,
        free_low: gc.free_low.value,
        free_high: gc.free_high.value,
        options: options(&check, scale, &geometry)?,
        seed: 0,
        geometry,
    })
}

/// The features from sections that a model may omit.
fn options(
    check: &CrossCheck<'_>,
    scale: Ratio,
    geometry: &Geometry,
) -> Result<Options, ModelError> {
    let model = check.model;
    let basis = Basis {
        check: Check { name: &model.name },
        scale,
        geometry,
        blocks: block_counts(model, scale),
        placement: check.placement()?,
        capacity: model.capacity_text(),
        model,
    };
    let mut options = Options {
        nand_features: NandFeatures {
            slc: model.pslc.as_ref().map(|pslc| pslc.timing(basis.blocks)),
            ..check.nand_features(geometry, basis.blocks.scaled_pages)?
        },
        quantum: model.gc.quantum(check, scale, geometry)?,
        early: model.gc.early(check, geometry)?,
        write_rate: model.gc.write_rate(check)?,
        placement: basis.placement,
        stages: Stages {
            host: None,
            pipeline: model.controller.pipeline(),
            coalescing: model.interface.coalescing(check)?,
        },
        more_processors: model
            .controller
            .processors
            .as_ref()
            .map_or(0, |processors| processors.value - 1),
        pauses: model.controller.pauses(check)?,
        ..Options::default()
    };
    options.resolve_mechanisms(model, &basis)?;
    if options.cleaning_states.is_some() {
        options.write_caps.get_or_insert(CapsPlan::NO_CAP);
    }
    Ok(options)
}

/// Resolves an optional section of the model.
fn optional<M, C>(
    section: &Option<M>,
    resolve: impl FnOnce(&M) -> Result<C, ModelError>,
) -> Result<Option<C>, ModelError> {
    section.as_ref().map(resolve).transpose()
}

/// Groups of dies, each with superblocks of its own.
fn die_groups(check: &CrossCheck<'_>, dies: u32) -> Result<u32, ModelError> {
    const KEY: &str = "nand.die_groups";
    let model = check.model;
    let groups = model.nand.die_groups.as_ref().map_or(1, |groups| groups.value);
    if groups == 0 || !dies.is_multiple_of(groups) {
        return check.fail(KEY, groups, &format!("it must divide the {dies} dies"));
    }
    let whole = [
        ("[parity]", model.parity.is_some()),
        ("[pslc]", model.pslc.is_some()),
        ("[compression]", model.compression.is_some()),
        ("[performance_mode]", model.performance_mode.is_some()),
        ("interface.placement_handles", check.placement()?.is_some()),
    ];
    match whole.into_iter().find(|(_, is_there)| *is_there) {
        Some((other, _)) if groups > 1 => {
            let rule = format!("it must be 1 with {other}, which needs superblocks over all dies");
            check.fail(KEY, groups, &rule)
        }
        _ => Ok(groups),
    }
}

/// Reclaim groups, of so many groups of dies; 1 if one victim is chosen among all superblocks.
fn reclaim_groups(check: &CrossCheck<'_>, die_groups: u32) -> Result<u32, ModelError> {
    const KEY: &str = "gc.victims";
    let model = check.model;
    let scope = model.gc.victims.as_ref().map(|scope| scope.value);
    if scope != Some(VictimScope::PerGroup) {
        return Ok(1);
    }
    let fail = |rule: &str| check.fail(KEY, "per-group", rule);
    if !(2..=RECLAIM_GROUPS_MAX).contains(&die_groups) {
        let rule = format!(
            "it needs 2 to {RECLAIM_GROUPS_MAX} groups of dies, and nand.die_groups is {die_groups}"
        );
        return fail(&rule);
    }
    let housekeeping = model.housekeeping.as_ref();
    let refreshes = housekeeping.is_some_and(|keys| keys.refresh_after_ns.is_some());
    let of_all_groups = [
        ("[streams]", model.streams.is_some()),
        ("[wear_leveling]", model.wear_leveling.is_some()),
        ("housekeeping.refresh_after_ns", refreshes),
    ];
    match of_all_groups.into_iter().find(|(_, is_there)| *is_there) {
        Some((other, _)) => {
            fail(&format!("it must be all with {other}, which moves data between groups"))
        }
        None => Ok(die_groups),
    }
}

/// Superblocks without user data, of those that lie on all dies.
fn reserve(check: &CrossCheck<'_>, blocks: Blocks) -> Result<u32, ModelError> {
    let reserved = blocks.scaled_reserved();
    if reserved < blocks.scaled_per_plane {
        return Ok(reserved);
    }
    let rule = format!("there are {} superblocks in all", blocks.scaled_per_plane);
    check.fail("nand.reserved_superblocks", reserved, &rule)
}

/// Most pages of a superblock: they are counted in 32 bits, with room for sums.
const SUPERBLOCK_PAGES_MAX: u64 = 1 << 31;

/// Page numbers are divided by the pages of a superblock: [`Divisor::divide`](crate::geometry::Divisor::divide).
const PAGES_TIMES_SUPERBLOCK_PAGES_MAX: u128 = 1 << 64;

/// Pages of a map in NAND are fewer, as they are counted in 32 bits.
const MAP_PAGES_MAX: u64 = 1 << 31;

/// Refuses a drive whose page numbers cannot be divided by the pages of a superblock.
fn can_divide_by_superblock(
    check: &CrossCheck<'_>,
    physical_pages: u64,
    superblock_pages: u64,
    pages_per_block: u32,
) -> Result<(), ModelError> {
    let product = u128::from(physical_pages) * u128::from(superblock_pages);
    if product <= PAGES_TIMES_SUPERBLOCK_PAGES_MAX {
        return Ok(());
    }
    let rule = format!(
        "a superblock of {superblock_pages} pages times all {physical_pages} pages of the NAND must be at most 2^64"
    );
    check.fail("nand.pages_per_block", pages_per_block, &rule)
}

/// The shape of a drive, with as many LBAs as fill its zones if it has such.
fn in_whole_zones(
    check: &CrossCheck<'_>,
    scale: Ratio,
    mut geometry: Geometry,
) -> Result<Geometry, ModelError> {
    let Some(zones) = &check.model.zones else { return Ok(geometry) };
    if !check.model.buffer.power_loss_protected.value {
        let rule =
            "zones need a buffer that outlives a loss of power: a flush may not use up their room";
        return check.fail("buffer.power_loss_protected", false, rule);
    }
    let kept = block_counts(check.model, scale).kept_share();
    geometry.logical_pages -= geometry.logical_pages % zones.capacity_pages(&geometry, kept);
    Ok(geometry)
}

/// Units are numbered beyond those of the data, up to the end of the reserved superblocks.
fn can_number_units(
    check: &CrossCheck<'_>,
    geometry: &Geometry,
    reserved: u64,
) -> Result<(), ModelError> {
    let superblocks = u64::from(geometry.superblocks) + reserved;
    if u64::from(geometry.superblock_units) * superblocks > u32::MAX.into() {
        let blocks = check.model.nand.blocks_per_plane.value;
        let rule = "all NAND together must be less than 2^32 program units";
        return check.fail("nand.blocks_per_plane", blocks, rule);
    }
    Ok(())
}

/// Gives the maps the form that so many pages need.
fn shape_tables(geometry: &mut Geometry) {
    let pages = geometry.physical_pages();
    geometry.page_number_bytes = number_bytes(pages);
    geometry.packs_owners = packs_owners(pages, geometry.page_granules);
}

fn geometry(check: &CrossCheck<'_>, scale: Ratio) -> Result<Geometry, ModelError> {
    let model = check.model;
    let nand = &model.nand;
    let (pages_per_block, blocks) = scaled_shape(model, scale);
    let dies = nand.channels.value * nand.dies_per_channel.value;
    let page_granules =
        optional(&model.compression, |section| section.page_granules(check))?.unwrap_or(1);
    let page_bytes = map::page_bytes(check)?;
    let physical_page_bytes = u64::from(page_bytes / page_granules);
    let unit_pages = check.unit_pages(physical_page_bytes)?;
    let reserved = reserve(check, block_counts(model, scale))?;
    let (_, groups) = nand.plane_groups();
    let die_groups = die_groups(check, dies)?;
    let of_all_dies = u64::from(dies) * u64::from(groups) * u64::from(pages_per_block);
    let superblock_units = of_all_dies / u64::from(die_groups);
    let superblock_pages = superblock_units * u64::from(unit_pages);
    if superblock_pages * u64::from(die_groups) > SUPERBLOCK_PAGES_MAX {
        let rule = format!(
            "a block of every plane must hold at most 2^31 pages of {physical_page_bytes} bytes in all"
        );
        return check.fail("nand.pages_per_block", pages_per_block, &rule);
    }
    if superblock_pages < 2 {
        let rule = format!("a superblock must hold at least two pages of {page_bytes} bytes");
        return check.fail("nand.pages_per_block", pages_per_block, &rule);
    }
    let kept = block_counts(model, scale).kept_share();
    let capacity = model.user_bytes().map(|bytes| kept.of(bytes) / u64::from(page_bytes));
    let physical_pages = superblock_pages * u64::from(die_groups) * u64::from(blocks);
    let physical_bytes = physical_pages.saturating_mul(physical_page_bytes);
    let fits = |pages: &u64| *pages > 0 && pages * u64::from(page_bytes) < physical_bytes;
    let map_pages = |pages: u64| map::map_pages(check, page_bytes, pages);
    let fits_with_map = |pages: &u64| {
        let map_pages = map_pages(*pages);
        map_pages < MAP_PAGES_MAX && fits(&(pages + map_pages))
    };
    can_divide_by_superblock(check, physical_pages, superblock_pages, pages_per_block)?;
    let Some(logical_pages) = capacity.filter(fits).filter(fits_with_map) else {
        let rule = format!("all NAND together is {physical_bytes} bytes");
        let (key, capacity) = model.capacity_text();
        return check.fail(key, capacity, &rule);
    };
    let mut geometry = Geometry {
        channels: nand.channels.value,
        dies,
        die_groups,
        reclaim_groups: reclaim_groups(check, die_groups)?,
        page_bytes,
        unit_pages,
        superblock_units: superblock_units as u32,
        stripe_units: optional(&model.parity, |parity| parity.stripe_units(check, dies))?
            .unwrap_or(0),
        superblocks: (blocks - reserved) * die_groups,
        logical_pages,
        page_number_bytes: 0,
        packs_owners: false,
        map_pages: map_pages(logical_pages) as u32,
        page_granules,
        cache_superblocks: 0,
        cache_units: 0,
    };
    if let Some(pslc) = &model.pslc {
        pslc.shape(check, &mut geometry, block_counts(model, scale), kept)?;
    }
    shape_tables(&mut geometry);
    optional(&model.compression, |section| section.superblock_holds_gaps(check, &geometry))?;
    can_number_units(check, &geometry, u64::from(reserved) * u64::from(die_groups))?;
    Ok(geometry)
}
