//! Duration of the array's work on an operation, and counts of all operations.
//!
//! Most drives have one time for each kind of operation. Where a model has more of them, each has a file of its own:
//! [`super::pages`], [`page_register`], [`planes`], [`super::fast`], [`super::slc`], [`super::aging`],
//! [`spread`]. Drives without options are not asked for them.

mod page_register;
mod planes;
pub mod spread;

use super::aging::Aging;
use super::aging::past::Past;
use super::fast::FastSuperblocks;
use super::features::{NandFeatures, NandTiming};
use super::job::Job;
use super::moves::MovesByPlane;
use super::pages::PageTimes;
use super::slc::{SlcMode, SlcTiming};
use crate::geometry::Geometry;
use crate::mechanism::power::OperationCounts;
use crate::ring::Ring;
use page_register::PageRegisters;
use planes::IndependentPlanes;
use spread::Spread;

/// Times of the arrays of all dies.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Arrays {
    timing: NandTiming,
    superblock_units: u32,
    pages: Option<PageTimes>,
    registers: Option<PageRegisters>,
    planes: Option<IndependentPlanes>,
    fast: Option<FastSuperblocks>,
    moves_by_plane: Option<MovesByPlane>,
    aging: Option<Aging>,
    slc: Option<SlcMode>,
    spread: Option<Spread>,
    /// Whether each kind of operation has one time: the drive has none of the above.
    is_uniform: bool,
    /// The operations begun since the start.
    pub(super) operations: OperationCounts,
}

impl Arrays {
    pub(super) fn new(
        geometry: &Geometry,
        timing: NandTiming,
        features: &NandFeatures,
        seed: u64,
    ) -> Self {
        let mut arrays = Self {
            timing,
            superblock_units: geometry.superblock_units,
            pages: features.pages.clone(),
            registers: features.page_register.then(|| PageRegisters::new(geometry.dies)),
            planes: features
                .independent_planes
                .map(|plane_pages| IndependentPlanes::new(plane_pages, geometry.dies)),
            fast: None,
            slc: features.slc.map(|timing| SlcMode::new(timing, geometry.superblocks)),
            moves_by_plane: features.moves_by_plane,
            spread: features.spread.map(|percent| Spread::new(percent, geometry, seed)),
            aging: Aging::new(geometry, features),
            is_uniform: false,
            operations: OperationCounts::default(),
        };
        let Self { pages, registers, planes, moves_by_plane, aging, slc, spread, .. } = &arrays;
        let has_pages = pages.is_some() || registers.is_some();
        let has_planes = planes.is_some() || moves_by_plane.is_some();
        let has_blocks = aging.is_some() || slc.is_some() || spread.is_some();
        arrays.is_uniform = !(has_pages || has_planes || has_blocks);
        arrays
    }

    /// Superblocks programmed fast; `None` if the drive has no mode for that.
    pub(super) fn fast(&self) -> Option<&FastSuperblocks> {
        self.fast.as_ref()
    }

    pub(super) fn fast_mut(&mut self) -> Option<&mut FastSuperblocks> {
        self.fast.as_mut()
    }

    /// Enables fast programs of some superblocks.
    pub(super) fn set_fast(&mut self, superblocks: FastSuperblocks) {
        self.fast = Some(superblocks);
        self.is_uniform = false;
    }

    pub(super) fn set_slc(&mut self, superblock: u32, is_slc: bool) {
        if let Some(slc) = &mut self.slc {
            slc.set(superblock, is_slc);
        }
    }

    /// Counts an operation that begins, and returns the duration of the array's work.
    #[inline]
    pub(super) fn begin_ns(&mut self, die: u32, job: Job, now_ns: u64) -> u64 {
        if !self.is_uniform {
            return self.begin_one_ns(die, job, now_ns);
        }
        if job.is_read() {
            self.operations.reads += 1;
            self.timing.read_ns
        } else if job.is_program() {
            self.operations.programs += 1;
            self.timing.program_ns
        } else {
            self.operations.erases += 1;
            self.timing.erase_ns
        }
    }

    /// As [`Self::begin_ns`], where times depend on the place of an operation and on earlier ones.
    #[inline(never)]
    fn begin_one_ns(&mut self, die: u32, job: Job, now_ns: u64) -> u64 {
        if self.is_in_register(die, job) {
            return 0;
        }
        if let Some(planes) = &mut self.planes
            && let Some(end_ns) = planes.begin(die, job)
        {
            return end_ns.saturating_sub(now_ns);
        }
        if job.is_program() {
            self.operations.programs += 1;
            self.program_ns(job)
        } else if job.is_erase() {
            self.operations.erases += 1;
            self.erase_ns(die, job)
        } else {
            self.senses_ns(job, now_ns)
        }
    }

    /// Counts a read that begins, and returns the duration of its senses.
    fn senses_ns(&mut self, job: Job, now_ns: u64) -> u64 {
        let (read_ns, senses) = match self.slc_timing(job) {
            Some(slc) => (slc.read_ns, 1),
            None => (self.sense_ns(job), self.senses(job, now_ns)),
        };
        self.operations.reads += senses;
        read_ns * senses
    }

    /// Lets the planes sense that the operation in progress leaves free: those of waiting reads of
    /// the host, the first in the queue first. A read of several planes ends the search, since it
    /// takes the registers of all of them.
    #[inline]
    pub(super) fn sense_beside(&mut self, die: u32, waiting: &Ring<Job>, now_ns: u64) {
        if self.planes.is_some() {
            self.sense_waiting(die, waiting, now_ns);
        }
    }

    #[inline(never)]
    fn sense_waiting(&mut self, die: u32, waiting: &Ring<Job>, now_ns: u64) {
        for job in (0..waiting.len()).map_while(|index| waiting.get(index)) {
            if job.only_page().is_none() {
                return;
            }
            let may_sense = |planes: &IndependentPlanes| planes.may_sense(die, job);
            if self.planes.as_ref().is_some_and(may_sense) {
                let end_ns = now_ns + self.senses_ns(job, now_ns);
                if let Some(planes) = &mut self.planes {
                    planes.sense(die, job, end_ns);
                }
            }
        }
    }

    /// The waiting read of the host whose data is ready first, or `None` if no plane has sensed beside another.
    #[inline]
    pub(super) fn first_ready(&self, die: u32) -> Option<Job> {
        self.planes.as_ref()?.first_ready(die)
    }

    /// Drops the data in all registers, when the power goes.
    pub(super) fn forget_reads(&mut self) {
        if let Some(planes) = &mut self.planes {
            planes.forget_all();
        }
    }

    /// Time of a program, by the wear and place of its block.
    fn program_ns(&self, job: Job) -> u64 {
        let unit = job.place();
        let slc = self.slc_timing(job);
        let new_ns = slc.map_or_else(|| self.mean_program_ns(unit), |slc| slc.program_ns);
        let superblock = unit / self.superblock_units;
        let aging = self.aging.as_ref();
        let worn_ns = aging.map_or(new_ns, |aging| aging.program_ns(superblock, new_ns));
        self.spread.as_ref().map_or(worn_ns, |spread| spread.program_ns(unit, worn_ns))
    }

    /// The time to program a unit of an unworn block with all its bits per cell, before any spread.
    fn mean_program_ns(&self, unit: u32) -> u64 {
        let fast = self.fast.as_ref();
        let fast_ns = fast.and_then(|fast| fast.program_ns(unit / self.superblock_units));
        match (fast_ns, &self.pages) {
            (Some(fast_ns), _) => fast_ns,
            (None, Some(pages)) => pages.of_unit(unit % self.superblock_units).program_ns,
            (None, None) => self.timing.program_ns,
        }
    }

    /// Time of an erase, by the wear and place of its blocks.
    fn erase_ns(&self, die: u32, job: Job) -> u64 {
        let superblock = job.place();
        let new_ns = self.slc_timing(job).map_or(self.timing.erase_ns, |slc| slc.erase_ns);
        let aging = self.aging.as_ref();
        let worn_ns = aging.map_or(new_ns, |aging| aging.erase_ns(superblock, new_ns));
        self.spread.as_ref().map_or(worn_ns, |spread| spread.erase_ns(die, superblock, worn_ns))
    }

    /// Whether an operation reads what the register of its die holds; if not, it takes the register.
    fn is_in_register(&mut self, die: u32, job: Job) -> bool {
        let Some(registers) = &mut self.registers else { return false };
        if job.is_read() {
            return registers.read(die, job.place());
        }
        registers.clear(die);
        false
    }

    /// An operation goes on that gave way to reads.
    pub(super) fn resume(&mut self, die: u32) {
        if let Some(registers) = &mut self.registers {
            registers.clear(die);
        }
        if let Some(planes) = &mut self.planes {
            planes.forget(die);
        }
    }

    /// Number of senses of a read; counts them.
    fn senses(&mut self, job: Job, now_ns: u64) -> u64 {
        self.aging.as_mut().map_or(1, |aging| aging.senses(job, now_ns))
    }

    /// Time of one sense of all planes of a unit, together or in turn.
    fn sense_ns(&self, job: Job) -> u64 {
        let planes = self.moves_by_plane.map_or(1, |planes| planes.senses(job));
        self.read_ns(job.place()) * planes
    }

    /// The time of one sense of a unit.
    fn read_ns(&self, unit: u32) -> u64 {
        match &self.pages {
            None => self.timing.read_ns,
            Some(pages) => pages.of_unit(unit % self.superblock_units).read_ns,
        }
    }

    /// The times of an operation on a superblock with one bit per cell; `None` for others.
    fn slc_timing(&self, job: Job) -> Option<SlcTiming> {
        let slc = self.slc.as_ref()?;
        let superblock =
            if job.is_erase() { job.place() } else { job.place() / self.superblock_units };
        slc.timing(superblock)
    }

    /// Records the end of an operation for wear and retention.
    pub(super) fn note_end(&mut self, job: Job, now_ns: u64) {
        if let Some(aging) = &mut self.aging {
            aging.note_end(job, now_ns);
        }
    }

    /// Blocks and their data, or `None` if they do not age.
    #[inline]
    pub(super) fn aging(&self) -> Option<&Aging> {
        self.aging.as_ref()
    }

    /// Adds a past to blocks and data at work; false if the drive has none.
    pub(super) fn add_past(&mut self, past: Past) -> bool {
        self.aging.as_mut().map(|aging| aging.add(past)).is_some()
    }

    /// Adds a past without power: registers lose their content.
    pub(super) fn age(&mut self, past: Past) {
        self.add_past(past);
        if let Some(registers) = &mut self.registers {
            registers.clear_all();
        }
        self.forget_reads();
    }
}
