//! `[nand]`: the array, and what a model adds to it: planes one by one, kinds of pages, suspend, cache
//! program, page register, spread; the rest has files of its own.

mod aging;

use serde::Deserialize;

use crate::geometry::{Geometry, PAGE_BYTES};
use crate::host::transfer_ns;
use crate::model::check::{Check, HOUR_NS};
use crate::model::{ModelError, Sourced};
use crate::nand::SuspendLimits;
use crate::nand::moves::MovesByPlane;
use crate::nand::pages::{KindTimes, PageTimes, mean};
use crate::nand::spread::SpreadPercent;
use crate::nand::{NandFeatures, NandTiming};

pub use aging::{AgeModel, RetryModel, WearModel};

/// The NAND array.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NandModel {
    /// Channels.
    pub channels: Sourced<u32>,
    /// Dies on each channel.
    pub dies_per_channel: Sourced<u32>,
    /// Planes of a die that work together.
    pub planes: Sourced<u32>,
    /// Blocks of a plane.
    pub blocks_per_plane: Sourced<u32>,
    /// Pages of a block.
    pub pages_per_block: Sourced<u32>,
    /// Bytes of a NAND page on one plane.
    pub page_bytes: Sourced<u32>,
    /// tR, mean of lower and upper pages.
    pub read_ns: Sourced<u64>,
    /// tPROG, mean of lower and upper pages.
    pub program_ns: Sourced<u64>,
    /// tBERS.
    pub erase_ns: Sourced<u64>,
    /// Rate of a channel, bytes per second.
    pub channel_bytes_per_s: Sourced<u64>,
    /// Groups of dies, each with superblocks of its own; absent: superblocks lie on all dies.
    pub die_groups: Option<Sourced<u32>>,
    /// Blocks of every die without user data: bad blocks, firmware, tables, pSLC.
    pub reserved_superblocks: Sourced<u32>,
    /// Whether the planes of a die program, read and erase together; absent: they do.
    pub multi_plane: Option<Sourced<bool>>,
    /// Whether the planes of a die sense one after the other for collection; absent: they sense together.
    pub moves_by_plane: Option<Sourced<bool>>,
    /// Whether the next program's data crosses the channel during a program; absent: it does not.
    pub cache_program: Option<Sourced<bool>>,
    /// The register of a die serves further reads of the same pages; absent: it does not.
    pub page_register: Option<Sourced<bool>>,
    /// Whether the planes of a die sense for the host whatever the others do; absent: they sense together.
    pub independent_planes: Option<Sourced<bool>>,
    /// Times of lower and upper pages; absent: all take `program_ns` and `read_ns`.
    pub pages: Option<PagesModel>,
    /// Suspension of programs and erases for host reads; absent: reads wait.
    pub suspend: Option<SuspendModel>,
    /// Repeated senses of worn and old pages; absent: one sense is enough.
    pub retry: Option<RetryModel>,
    /// Blocks and layers take times of their own; absent: all take the same.
    pub spread: Option<SpreadModel>,
    /// Programs and erases of worn blocks take other times; absent: they take those of new ones.
    pub wear: Option<WearModel>,
}

/// Times by the kind of page, see [`crate::nand::pages`]; `nand.program_ns` and `nand.read_ns` are their means.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PagesModel {
    /// Lower pages.
    pub program_lower_ns: Sourced<u64>,
    /// Middle pages of cells with three bits; absent: cells have two.
    pub program_middle_ns: Option<Sourced<u64>>,
    /// Upper pages.
    pub program_upper_ns: Sourced<u64>,
    /// tR of lower pages; absent: that of all kinds is `nand.read_ns`.
    pub read_lower_ns: Option<Sourced<u64>>,
    /// tR of middle pages; goes with the other two where cells have three bits.
    pub read_middle_ns: Option<Sourced<u64>>,
    /// tR of upper pages; goes with `read_lower_ns`.
    pub read_upper_ns: Option<Sourced<u64>>,
}

/// A kind of page: the keys and values of its program time and, where it has one, its read time.
type Kind<'a> = ((&'static str, u64), (&'static str, Option<&'a Sourced<u64>>));

impl PagesModel {
    /// The kinds that the model has, from the lowest on.
    fn kinds(&self) -> impl Iterator<Item = Kind<'_>> {
        let middle = self.program_middle_ns.as_ref().map(|middle| {
            let program = ("nand.pages.program_middle_ns", middle.value);
            (program, ("nand.pages.read_middle_ns", self.read_middle_ns.as_ref()))
        });
        let lower = ("nand.pages.program_lower_ns", self.program_lower_ns.value);
        let upper = ("nand.pages.program_upper_ns", self.program_upper_ns.value);
        [
            Some((lower, ("nand.pages.read_lower_ns", self.read_lower_ns.as_ref()))),
            middle,
            Some((upper, ("nand.pages.read_upper_ns", self.read_upper_ns.as_ref()))),
        ]
        .into_iter()
        .flatten()
    }
}

/// Program and erase suspend, see [`crate::nand::overlap`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuspendModel {
    /// Time from the request until the die can read.
    pub suspend_ns: Sourced<u64>,
    /// Time from the last read until the operation continues.
    pub resume_ns: Sourced<u64>,
    /// Most batches of reads during one operation.
    pub per_operation_max: Sourced<u32>,
}

/// Spread of times over blocks and layers, see [`crate::nand::spread`]; in percent of the mean to either side.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpreadModel {
    /// Programs, from block to block.
    pub program_percent: Sourced<u32>,
    /// Erases, from block to block.
    pub erase_percent: Sourced<u32>,
    /// Programs, from the first pages of a block to its last.
    pub layer_percent: Sourced<u32>,
}

/// Widest spread.
const SPREAD_PERCENT_MAX: u64 = 90;

impl NandModel {
    /// Planes of a die that work together, and number of such groups that take turns.
    pub(in crate::model) fn plane_groups(&self) -> (u32, u32) {
        match &self.multi_plane {
            Some(Sourced { value: false, .. }) => (1, self.planes.value),
            _ => (self.planes.value, 1),
        }
    }

    /// Times of a drive with blocks shortened to `scaled_pages`.
    pub(in crate::model) fn timing(&self, geometry: &Geometry, scaled_pages: u32) -> NandTiming {
        let (_, groups) = self.plane_groups();
        // Shorter superblocks are erased more often; a shorter erase keeps its share of time.
        let block_erase_ns = (self.erase_ns.value * u64::from(scaled_pages))
            .div_ceil(u64::from(self.pages_per_block.value));
        let transfer_bytes = geometry.physical_page_bytes().min(PAGE_BYTES);
        NandTiming {
            read_ns: self.read_ns.value,
            program_ns: self.program_ns.value,
            erase_ns: u64::from(groups) * block_erase_ns,
            page_transfer_ns: transfer_ns(transfer_bytes, self.channel_bytes_per_s.value),
        }
    }
}

impl Check<'_> {
    /// The features of a drive whose blocks have `rows` pages.
    pub(in crate::model) fn nand_features(
        &self,
        geometry: &Geometry,
        rows: u32,
    ) -> Result<NandFeatures, ModelError> {
        let row_units = geometry.superblock_units / rows;
        let nand = &self.model.nand;
        let pages = nand.pages.as_ref().map(|pages| self.page_times(pages, row_units, rows));
        Ok(NandFeatures {
            pages: pages.transpose()?,
            suspend: nand.suspend.as_ref().map(|s| self.suspend_limits(s)).transpose()?,
            cache_program: nand.cache_program.as_ref().is_some_and(|on| on.value),
            page_register: nand.page_register.as_ref().is_some_and(|on| on.value),
            retry: nand.retry.as_ref().map(|retry| self.error_growth(retry)).transpose()?,
            moves_by_plane: self.moves_by_plane(geometry.unit_pages),
            wear: nand.wear.as_ref().map(|wear| self.wear_drift(wear)).transpose()?,
            past: self.past()?,
            independent_planes: self.independent_planes(geometry.unit_pages)?,
            slc: None,
            read_rank: self.model.gc.host_reads.as_ref().map(|rank| rank.value).unwrap_or_default(),
            spread: nand
                .spread
                .as_ref()
                .map(|spread| self.spread(spread, row_units))
                .transpose()?,
        })
    }

    /// Reads for collection, where the planes of a unit do not sense together.
    fn moves_by_plane(&self, unit_pages: u32) -> Option<MovesByPlane> {
        let nand = &self.model.nand;
        let is_wanted = nand.moves_by_plane.as_ref().is_some_and(|on| on.value);
        let (planes, _) = nand.plane_groups();
        (is_wanted && planes > 1)
            .then(|| MovesByPlane { plane_pages: (unit_pages / planes).max(1) })
    }

    /// Pages of a unit on one plane, if planes are independent.
    fn independent_planes(&self, unit_pages: u32) -> Result<Option<u32>, ModelError> {
        let nand = &self.model.nand;
        let is_on = |key: &Option<Sourced<bool>>| key.as_ref().is_some_and(|on| on.value);
        if !is_on(&nand.independent_planes) {
            return Ok(None);
        }
        if is_on(&nand.page_register) {
            let rule = "it must be absent or false with nand.page_register, which serves all planes of a die at once";
            return self.fail("nand.independent_planes", "true", rule);
        }
        let (planes, _) = nand.plane_groups();
        Ok((planes > 1).then(|| (unit_pages / planes).max(1)))
    }

    fn page_times(
        &self,
        pages: &PagesModel,
        row_units: u32,
        rows: u32,
    ) -> Result<PageTimes, ModelError> {
        self.read_kinds(pages)?;
        let nand = &self.model.nand;
        let mut kinds = Vec::new();
        for ((program_key, program_ns), (read_key, read_ns)) in pages.kinds() {
            let read_ns = read_ns.map_or(nand.read_ns.value, |read_ns| read_ns.value);
            self.within(program_key, program_ns, 1, HOUR_NS)?;
            self.within(read_key, read_ns, 1, HOUR_NS)?;
            kinds.push(KindTimes { read_ns, program_ns });
        }
        let mean = mean(&kinds);
        for (key, value, kinds, mean) in [
            ("nand.program_ns", nand.program_ns.value, "program", mean.program_ns),
            ("nand.read_ns", nand.read_ns.value, "read", mean.read_ns),
        ] {
            if value != mean {
                let rule = format!("it must be the mean of nand.pages.{kinds}_*_ns, {mean}");
                return self.fail(key, value, &rule);
            }
        }
        Ok(PageTimes::new(row_units, rows, &kinds))
    }

    /// Either all kinds of pages have a read time of their own or none has.
    fn read_kinds(&self, pages: &PagesModel) -> Result<(), ModelError> {
        if let (Some(middle), None) = (&pages.read_middle_ns, &pages.program_middle_ns) {
            let rule = "it goes with nand.pages.program_middle_ns";
            return self.fail("nand.pages.read_middle_ns", middle.value, rule);
        }
        let reads = || pages.kinds().map(|(_, read)| read);
        let with = reads().find_map(|(key, read_ns)| Some((key, read_ns?.value)));
        let without = reads().find(|(_, read_ns)| read_ns.is_none());
        let (Some((key, value)), Some((missing, _))) = (with, without) else { return Ok(()) };
        self.fail(key, value, &format!("it goes with {missing}"))
    }

    /// The longest time of one sense.
    fn longest_read_ns(&self) -> u64 {
        let nand = &self.model.nand;
        let kinds = nand.pages.iter().flat_map(PagesModel::kinds);
        let kinds_ns = kinds.filter_map(|(_, (_, read_ns))| Some(read_ns?.value));
        kinds_ns.chain([nand.read_ns.value]).max().unwrap_or(nand.read_ns.value)
    }

    fn suspend_limits(&self, suspend: &SuspendModel) -> Result<SuspendLimits, ModelError> {
        let SuspendModel { suspend_ns, resume_ns, per_operation_max } = suspend;
        self.within("nand.suspend.suspend_ns", suspend_ns.value, 0, HOUR_NS)?;
        self.within("nand.suspend.resume_ns", resume_ns.value, 0, HOUR_NS)?;
        let key = "nand.suspend.per_operation_max";
        self.within(key, per_operation_max.value.into(), 1, 1 << 16)?;
        Ok(SuspendLimits {
            suspend_ns: suspend_ns.value,
            resume_ns: resume_ns.value,
            per_operation_max: per_operation_max.value,
        })
    }

    fn spread(&self, spread: &SpreadModel, row_units: u32) -> Result<SpreadPercent, ModelError> {
        let SpreadModel { program_percent, erase_percent, layer_percent } = spread;
        let percent = |key, percent: &Sourced<u32>| {
            let percent = u64::from(percent.value);
            self.within(key, percent, 0, SPREAD_PERCENT_MAX).map(|()| percent)
        };
        let erase = percent("nand.spread.erase_percent", erase_percent)?;
        let nand = &self.model.nand;
        let pslc_erase_ns = self.model.pslc.as_ref().map_or(0, |pslc| pslc.erase_ns.value);
        let (_, groups) = nand.plane_groups();
        let erase_ns = nand.erase_ns.value.max(pslc_erase_ns).saturating_mul(groups.into());
        if erase_ns.saturating_mul(100 + erase) / 100 > HOUR_NS {
            let rule = "with it, the longest erase of a die must end within an hour";
            return self.fail("nand.spread.erase_percent", erase, rule);
        }
        Ok(SpreadPercent {
            program: percent("nand.spread.program_percent", program_percent)?,
            erase,
            layer: percent("nand.spread.layer_percent", layer_percent)?,
            row_units,
        })
    }
}
