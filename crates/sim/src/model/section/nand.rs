//! `[nand]`: the array and its optional features: planes one by one, kinds of pages, suspend, cache
//! program, retry.

use serde::Deserialize;

use crate::geometry::{Geometry, PAGE_BYTES};
use crate::host::transfer_ns;
use crate::model::check::{Check, HOUR_NS};
use crate::model::{ModelError, Sourced};
use crate::nand::SuspendLimits;
use crate::nand::moves::MovesByPlane;
use crate::nand::pages::{PageTimes, mean};
use crate::nand::retry::ErrorGrowth;
use crate::nand::{NandFeatures, NandTiming};

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
    /// tR.
    pub read_ns: Sourced<u64>,
    /// tPROG, mean of lower and upper pages.
    pub program_ns: Sourced<u64>,
    /// tBERS.
    pub erase_ns: Sourced<u64>,
    /// Rate of a channel, bytes per second.
    pub channel_bytes_per_s: Sourced<u64>,
    /// Superblocks without user data: bad blocks, firmware, tables, pSLC.
    pub reserved_superblocks: Sourced<u32>,
    /// Whether the planes of a die program, read and erase together; absent: they do.
    pub multi_plane: Option<Sourced<bool>>,
    /// Whether the planes of a die sense one after the other for collection; absent: they sense together.
    pub moves_by_plane: Option<Sourced<bool>>,
    /// Whether the next program's data crosses the channel during a program; absent: it does not.
    pub cache_program: Option<Sourced<bool>>,
    /// Program times of lower and upper pages; absent: all take `program_ns`.
    pub pages: Option<PagesModel>,
    /// Suspension of programs and erases for host reads; absent: reads wait.
    pub suspend: Option<SuspendModel>,
    /// Repeated senses of worn and old pages; absent: one sense is enough.
    pub retry: Option<RetryModel>,
}

/// Program times by the kind of page, see [`crate::nand::pages`]; `nand.program_ns` is their mean.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PagesModel {
    /// Lower pages.
    pub program_lower_ns: Sourced<u64>,
    /// Middle pages of cells with three bits; absent: cells have two.
    pub program_middle_ns: Option<Sourced<u64>>,
    /// Upper pages.
    pub program_upper_ns: Sourced<u64>,
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

/// Wear, retention and read retry, see [`crate::nand::retry`]; rates in wrong bits per 10^9.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetryModel {
    /// Initial cycles of every block.
    pub initial_cycles: Sourced<u32>,
    /// Error rate of a fresh page in an unworn block.
    pub fresh_ppb: Sourced<u64>,
    /// The addition for 1,000 cycles.
    pub per_kilocycle_ppb: Sourced<u64>,
    /// The addition for a day in an unworn block.
    pub per_day_ppb: Sourced<u64>,
    /// The addition to that for 1,000 cycles.
    pub per_day_per_kilocycle_ppb: Sourced<u64>,
    /// Error rate that one sense corrects.
    pub corrected_ppb: Sourced<u64>,
    /// Most further senses.
    pub retries_max: Sourced<u32>,
}

/// All bits wrong.
const ALL_PPB: u64 = 1_000_000_000;

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
            retry: nand.retry.as_ref().map(|retry| self.error_growth(retry)).transpose()?,
            moves_by_plane: self.moves_by_plane(geometry.unit_pages),
            slc: None,
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

    fn page_times(
        &self,
        pages: &PagesModel,
        row_units: u32,
        rows: u32,
    ) -> Result<PageTimes, ModelError> {
        let middle = pages.program_middle_ns.as_ref();
        let kinds = [
            Some(("nand.pages.program_lower_ns", pages.program_lower_ns.value)),
            middle.map(|middle| ("nand.pages.program_middle_ns", middle.value)),
            Some(("nand.pages.program_upper_ns", pages.program_upper_ns.value)),
        ];
        let mut kinds_ns = Vec::new();
        for (key, value) in kinds.into_iter().flatten() {
            self.within(key, value, 1, HOUR_NS)?;
            kinds_ns.push(value);
        }
        let program_ns = self.model.nand.program_ns.value;
        if mean(&kinds_ns) != program_ns {
            let rule =
                format!("it must be the mean of nand.pages.program_*_ns, {}", mean(&kinds_ns));
            return self.fail("nand.program_ns", program_ns, &rule);
        }
        Ok(PageTimes::new(row_units, rows, &kinds_ns))
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

    fn error_growth(&self, retry: &RetryModel) -> Result<ErrorGrowth, ModelError> {
        for (key, value, min, max) in [
            ("nand.retry.initial_cycles", retry.initial_cycles.value.into(), 0, 1_000_000),
            ("nand.retry.fresh_ppb", retry.fresh_ppb.value, 0, ALL_PPB),
            ("nand.retry.per_kilocycle_ppb", retry.per_kilocycle_ppb.value, 0, ALL_PPB),
            ("nand.retry.per_day_ppb", retry.per_day_ppb.value, 0, ALL_PPB),
            (
                "nand.retry.per_day_per_kilocycle_ppb",
                retry.per_day_per_kilocycle_ppb.value,
                0,
                ALL_PPB,
            ),
            ("nand.retry.corrected_ppb", retry.corrected_ppb.value, 1, ALL_PPB),
            ("nand.retry.retries_max", retry.retries_max.value.into(), 1, 1000),
        ] {
            self.within(key, value, min, max)?;
        }
        let senses = 1 + u64::from(retry.retries_max.value);
        if self.model.nand.read_ns.value * senses > HOUR_NS {
            let rule = "with every retry, a read of nand.read_ns must end within an hour";
            return self.fail("nand.retry.retries_max", retry.retries_max.value, rule);
        }
        Ok(ErrorGrowth {
            initial_cycles: retry.initial_cycles.value,
            fresh_ppb: retry.fresh_ppb.value,
            per_kilocycle_ppb: retry.per_kilocycle_ppb.value,
            per_day_ppb: retry.per_day_ppb.value,
            per_day_per_kilocycle_ppb: retry.per_day_per_kilocycle_ppb.value,
            corrected_ppb: retry.corrected_ppb.value,
            retries_max: retry.retries_max.value,
        })
    }
}
