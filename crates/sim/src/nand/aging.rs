//! The past of blocks and of the data in them: cycles, time since a program, reads.
//!
//! Phenomenon: a block wears with every cycle, and its data loses charge with time and with every read of the block.
//! Wear changes the times of programs and erases ([`wear`]). Wear, time and reads together determine the number of
//! senses of a read ([`retry`]). The data of a block with too many reads moves ([`disturb`]). A drive may begin with
//! a [`past`], and time may pass without power. Sources: in these files. Simplifications: cycles and age belong to a
//! superblock, reads to the blocks of one die in it; a superblock is as old as the latest program into it; after a
//! recovery from a loss of power, the past begins again. Test: `tests/device/aging.rs`.

mod disturb;
pub mod past;
pub mod retry;
pub mod wear;

use super::features::NandFeatures;
use super::job::Job;
use crate::geometry::Geometry;
use disturb::ReadCounts;
use past::Past;
use retry::ErrorGrowth;
use wear::WearDrift;

/// Cycles, age and reads of all superblocks, and their effects.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Aging {
    retry: Option<ErrorGrowth>,
    wear: Option<WearDrift>,
    /// The past of the first data, or `None` after the first read of the host.
    shelf: Option<Past>,
    superblock_units: u32,
    dies: u32,
    initial_cycles: u32,
    /// Erases of each superblock, counted on every die.
    die_erases: Vec<u64>,
    /// Time of the last program into each superblock, on a clock that continues without power.
    programmed_ns: Vec<u64>,
    /// Lead of that clock over the clock of the drive.
    off_ns: u64,
    reads: Option<ReadCounts>,
}

impl Aging {
    /// The past of the blocks of a drive, or `None` if it has no effect.
    pub(super) fn new(geometry: &Geometry, features: &NandFeatures) -> Option<Self> {
        let NandFeatures { retry, wear, past, .. } = *features;
        if retry.is_none() && wear.is_none() {
            return None;
        }
        let superblocks = geometry.superblocks as usize;
        Some(Self {
            retry,
            wear,
            shelf: Some(past),
            superblock_units: geometry.superblock_units,
            dies: geometry.superblock_dies(),
            initial_cycles: past.cycles,
            die_erases: vec![0; superblocks],
            programmed_ns: vec![0; superblocks],
            off_ns: 0,
            reads: retry
                .filter(ErrorGrowth::counts_reads)
                .map(|retry| ReadCounts::new(geometry, retry.reclaim_reads)),
        })
    }

    /// Cycles of the blocks of a superblock; superblocks of the map keep the initial cycles.
    fn cycles(&self, superblock: u32) -> u32 {
        let die_erases = self.die_erases.get(superblock as usize).copied().unwrap_or(0);
        self.initial_cycles.saturating_add((die_erases / u64::from(self.dies)) as u32)
    }

    fn superblock_of(&self, unit: u32) -> u32 {
        unit / self.superblock_units
    }

    /// Time of a program that takes `program_ns` in a new block.
    pub(super) fn program_ns(&self, superblock: u32, program_ns: u64) -> u64 {
        self.wear.map_or(program_ns, |wear| wear.program_ns(program_ns, self.cycles(superblock)))
    }

    /// Time of an erase that takes `erase_ns` for a new block.
    pub(super) fn erase_ns(&self, superblock: u32, erase_ns: u64) -> u64 {
        self.wear.map_or(erase_ns, |wear| wear.erase_ns(erase_ns, self.cycles(superblock)))
    }

    /// Number of senses of a read that begins now; counts them, except for the patrol.
    pub(super) fn senses(&mut self, job: Job, now_ns: u64) -> u64 {
        if job.is_host_read() {
            self.leave_shelf();
        }
        let Some(retry) = &self.retry else { return 1 };
        let unit = job.place();
        let superblock = self.superblock_of(unit);
        let clock_ns = now_ns.saturating_add(self.off_ns);
        // Superblocks of the map are read only at power on, and count as fresh.
        let programmed_ns = self.programmed_ns.get(superblock as usize).copied();
        let age_ns = clock_ns.saturating_sub(programmed_ns.unwrap_or(clock_ns));
        let reads = self.reads.as_ref().map_or(0, |reads| reads.of(superblock, unit % self.dies));
        let senses = retry.senses(self.cycles(superblock), age_ns, reads);
        if let Some(reads) = &mut self.reads
            && !job.is_patrol()
        {
            reads.add(superblock, unit % self.dies, senses);
        }
        senses
    }

    /// Adds the past of the first data, at the first read of the host.
    fn leave_shelf(&mut self) {
        let Some(past) = self.shelf.take() else { return };
        self.add(Past { cycles: 0, ..past });
    }

    /// Adds a past: time without power, cycles and reads of all blocks.
    pub(super) fn add(&mut self, past: Past) {
        self.off_ns = self.off_ns.saturating_add(past.retention_ns);
        self.initial_cycles = self.initial_cycles.saturating_add(past.cycles);
        if let Some(reads) = &mut self.reads {
            reads.add_everywhere(past.reads);
        }
    }

    /// Records the end of an operation.
    pub(super) fn note_end(&mut self, job: Job, now_ns: u64) {
        if job.is_program() && !job.is_map() {
            self.programmed(job.place(), now_ns);
        } else if job.is_erase() {
            self.erased(job.place());
        }
    }

    fn programmed(&mut self, unit: u32, now_ns: u64) {
        let superblock = self.superblock_of(unit);
        self.programmed_ns[superblock as usize] = now_ns.saturating_add(self.off_ns);
        let is_first_of_block = unit % self.superblock_units < self.dies;
        if let Some(reads) = &mut self.reads
            && is_first_of_block
        {
            reads.begin(superblock, unit % self.dies);
        }
    }

    fn erased(&mut self, superblock: u32) {
        // Superblocks of the map come after all others and have no record.
        if let Some(erases) = self.die_erases.get_mut(superblock as usize) {
            *erases += 1;
        }
        if let Some(reads) = &mut self.reads {
            reads.erased(superblock);
        }
    }

    /// Superblocks that must move because of their reads.
    pub(super) fn due(&self) -> &[u32] {
        self.reads.as_ref().map_or(&[], ReadCounts::due)
    }
}
