//! `[nand]`: the array, and what a model adds to it: planes one by one, kinds of pages, suspend, cache
//! program, page register, spread; the rest has files of its own.

use crate::geometry::{Geometry, PAGE_BYTES};
use crate::host::transfer_ns;
use crate::model::check::CrossCheck;
use crate::model::schema::{HOUR_NS, TB_PER_S, section};
use crate::model::{ModelError, Sourced};
use crate::nand::SuspendLimits;
use crate::nand::aging::past::{Effects, Past};
use crate::nand::aging::retry::RetrySection;
use crate::nand::aging::wear::WearSection;
use crate::nand::moves::MovesByPlane;
use crate::nand::pages::{KindTimes, PageTimes, mean};
use crate::nand::spread::SpreadPercent;
use crate::nand::{NandFeatures, NandTiming};

section! {
    /// The NAND array.
    pub struct NandModel {
        /// Channels.
        pub channels: Sourced<u32> [1, 256],
        /// Dies on each channel.
        pub dies_per_channel: Sourced<u32> [1, 256],
        /// Planes of a die that work together.
        pub planes: Sourced<u32> [1, 16],
        /// Blocks of a plane.
        pub blocks_per_plane: Sourced<u32> [1, 1 << 20],
        /// Pages of a block.
        pub pages_per_block: Sourced<u32> [1, 1 << 16],
        /// Bytes of a NAND page on one plane.
        pub page_bytes: Sourced<u32> [PAGE_BYTES, 1 << 20],
        /// tR, mean of lower and upper pages.
        pub read_ns: Sourced<u64> [1, HOUR_NS],
        /// tPROG, mean of lower and upper pages.
        pub program_ns: Sourced<u64> [1, HOUR_NS],
        /// tBERS.
        pub erase_ns: Sourced<u64> [1, HOUR_NS],
        /// Rate of a channel, bytes per second.
        pub channel_bytes_per_s: Sourced<u64> [1_000_000, TB_PER_S],
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
        pub retry: Option<RetrySection>,
        /// Blocks and layers take times of their own; absent: all take the same.
        pub spread: Option<SpreadModel>,
        /// Programs and erases of worn blocks take other times; absent: they take those of new ones.
        pub wear: Option<WearSection>,
    }
}

section! {
    /// Times by the kind of page, see [`crate::nand::pages`]; `nand.program_ns` and `nand.read_ns` are their means.
    pub struct PagesModel {
        /// Lower pages.
        pub program_lower_ns: Sourced<u64> [1, HOUR_NS],
        /// Middle pages of cells with three bits; absent: cells have two.
        pub program_middle_ns: Option<Sourced<u64>> [1, HOUR_NS],
        /// Upper pages.
        pub program_upper_ns: Sourced<u64> [1, HOUR_NS],
        /// tR of lower pages; absent: that of all kinds is `nand.read_ns`.
        pub read_lower_ns: Option<Sourced<u64>> [1, HOUR_NS],
        /// tR of middle pages; goes with the other two where cells have three bits.
        pub read_middle_ns: Option<Sourced<u64>> [1, HOUR_NS],
        /// tR of upper pages; goes with `read_lower_ns`.
        pub read_upper_ns: Option<Sourced<u64>> [1, HOUR_NS],
    }
}

/// A kind of page: its program time, and the key of its read time with the value, where it has one.
type Kind<'a> = (u64, (&'static str, Option<&'a Sourced<u64>>));

impl PagesModel {
    /// The kinds that the model has, from the lowest on.
    fn kinds(&self) -> impl Iterator<Item = Kind<'_>> {
        let middle = self.program_middle_ns.as_ref().map(|middle| {
            (middle.value, ("nand.pages.read_middle_ns", self.read_middle_ns.as_ref()))
        });
        let (lower_ns, upper_ns) = (self.program_lower_ns.value, self.program_upper_ns.value);
        [
            Some((lower_ns, ("nand.pages.read_lower_ns", self.read_lower_ns.as_ref()))),
            middle,
            Some((upper_ns, ("nand.pages.read_upper_ns", self.read_upper_ns.as_ref()))),
        ]
        .into_iter()
        .flatten()
    }
}

section! {
    /// Program and erase suspend, see `nand/overlap.rs`.
    pub struct SuspendModel {
        /// Time from the request until the die can read.
        pub suspend_ns: Sourced<u64> [0, HOUR_NS],
        /// Mean of an addition to it, drawn at random for each suspension; absent: none.
        pub tail_ns: Option<Sourced<u64>> [0, HOUR_NS],
        /// Time after the first reads for which the die takes further ones before it resumes; absent: none.
        pub hold_ns: Option<Sourced<u64>> [0, HOUR_NS],
        /// Time from the last read until the operation continues.
        pub resume_ns: Sourced<u64> [0, HOUR_NS],
        /// Most batches of reads during one operation.
        pub per_operation_max: Sourced<u32> [1, 1 << 16],
        /// Most programs, erases and moves that wait on a die that suspends; absent: any number.
        pub waiting_max: Option<Sourced<u32>> [0, 1 << 16],
    }
}

section! {
    /// Spread of times over blocks and layers, see [`crate::nand::spread`]; in percent of the mean to either side.
    pub struct SpreadModel {
        /// Programs, from block to block.
        pub program_percent: Sourced<u32> [0, 90],
        /// Erases, from block to block.
        pub erase_percent: Sourced<u32> [0, 90],
        /// Programs, from the first pages of a block to its last.
        pub layer_percent: Sourced<u32> [0, 90],
    }
}

impl SuspendModel {
    fn limits(&self) -> SuspendLimits {
        let time_ns = |value: &Option<Sourced<u64>>| value.as_ref().map_or(0, |value| value.value);
        SuspendLimits {
            suspend_ns: self.suspend_ns.value,
            tail_ns: time_ns(&self.tail_ns),
            hold_ns: time_ns(&self.hold_ns),
            resume_ns: self.resume_ns.value,
            per_operation_max: self.per_operation_max.value,
            waiting_max: self.waiting_max.as_ref().map_or(u32::MAX, |most| most.value),
        }
    }
}

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

impl CrossCheck<'_> {
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
            suspend: nand.suspend.as_ref().map(SuspendModel::limits),
            cache_program: nand.cache_program.as_ref().is_some_and(|on| on.value),
            page_register: nand.page_register.as_ref().is_some_and(|on| on.value),
            retry: nand
                .retry
                .as_ref()
                .map(|retry| retry.resolve(self, self.longest_read_ns()))
                .transpose()?,
            moves_by_plane: self.moves_by_plane(geometry.unit_pages),
            wear: nand.wear.as_ref().map(WearSection::resolve),
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

    /// The past of the blocks and of their data.
    fn past(&self) -> Result<Past, ModelError> {
        let NandModel { retry, wear, .. } = &self.model.nand;
        let retry = retry.as_ref();
        let counts_reads = |retry: &RetrySection| {
            retry.per_kiloread_ppb.is_some() || retry.reclaim_reads.is_some()
        };
        let effects = Effects {
            retry: retry.is_some(),
            reads: retry.is_some_and(counts_reads),
            wear: wear.is_some(),
        };
        let age = self.model.age.as_ref().map(|age| age.resolve(self, effects));
        let past = age.transpose()?.unwrap_or_default();
        let initial_cycles = retry.map_or(0, |retry| retry.initial_cycles.value);
        Ok(Past { cycles: initial_cycles + past.cycles, ..past })
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
        for (program_ns, (_, read_ns)) in pages.kinds() {
            let read_ns = read_ns.map_or(nand.read_ns.value, |read_ns| read_ns.value);
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

    fn spread(&self, spread: &SpreadModel, row_units: u32) -> Result<SpreadPercent, ModelError> {
        let percent = |percent: &Sourced<u32>| u64::from(percent.value);
        let erase = percent(&spread.erase_percent);
        let nand = &self.model.nand;
        let pslc_erase_ns = self.model.pslc.as_ref().map_or(0, |pslc| pslc.erase_ns.value);
        let (_, groups) = nand.plane_groups();
        let erase_ns = nand.erase_ns.value.max(pslc_erase_ns).saturating_mul(groups.into());
        if erase_ns.saturating_mul(100 + erase) / 100 > HOUR_NS {
            let rule = "with it, the longest erase of a die must end within an hour";
            return self.fail("nand.spread.erase_percent", erase, rule);
        }
        Ok(SpreadPercent {
            program: percent(&spread.program_percent),
            erase,
            layer: percent(&spread.layer_percent),
            row_units,
        })
    }
}
