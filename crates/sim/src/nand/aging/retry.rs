//! Read retry: worn and old pages are sensed more than once.
//!
//! Phenomenon: the raw bit error rate of a page grows with the program/erase cycles of its block
//! and with its age since programming, faster on worn blocks. If it exceeds the capacity of the
//! error correction, the controller senses again with shifted reference voltages. Source: Cai et
//! al., "Data retention in MLC NAND flash memory" (HPCA 2015) and "Flash correct-and-refresh" (ICCD
//! 2012): growth with cycles and with age; steps of latency with wear as in FEMU. Simplifications:
//! linear in cycles, in age and in their product; each further sense corrects as much again as the
//! first; a page is as old as the latest program into its superblock; a sense costs tR and no
//! transfer of its own. Test: `tests/device/nand.rs`.

use crate::geometry::Geometry;

const HOUR_NS: u64 = 3_600_000_000_000;

/// Growth and correction of errors; rates in wrong bits per 10^9.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorGrowth {
    /// Cycles of every block at the start of the simulation.
    pub initial_cycles: u32,
    /// Error rate of a fresh page in an unworn block.
    pub fresh_ppb: u64,
    /// The addition for 1,000 cycles.
    pub per_kilocycle_ppb: u64,
    /// The addition for a day in an unworn block.
    pub per_day_ppb: u64,
    /// The addition to that for 1,000 cycles.
    pub per_day_per_kilocycle_ppb: u64,
    /// Error rate that one sense corrects.
    pub corrected_ppb: u64,
    /// Most further senses.
    pub retries_max: u32,
}

impl ErrorGrowth {
    /// Number of senses of a page.
    #[must_use]
    pub fn senses(&self, cycles: u32, age_ns: u64) -> u64 {
        let cycles = u64::from(cycles);
        let worn = |ppb: u64| ppb.saturating_mul(cycles) / 1000;
        let per_day_ppb = self.per_day_ppb.saturating_add(worn(self.per_day_per_kilocycle_ppb));
        let aged_ppb = per_day_ppb.saturating_mul(age_ns / HOUR_NS) / 24;
        let rate_ppb = self.fresh_ppb.saturating_add(worn(self.per_kilocycle_ppb));
        let rate_ppb = rate_ppb.saturating_add(aged_ppb);
        let senses = rate_ppb.div_ceil(self.corrected_ppb).max(1);
        senses.min(1 + u64::from(self.retries_max))
    }
}

/// Wear and age of every superblock.
#[derive(Debug)]
pub(in crate::nand) struct Retry {
    model: ErrorGrowth,
    superblock_units: u32,
    dies: u32,
    /// Erases of each superblock, counted on every die.
    die_erases: Vec<u64>,
    /// Time of the last program into each superblock.
    programmed_ns: Vec<u64>,
}

impl Retry {
    pub(in crate::nand) fn new(geometry: &Geometry, model: ErrorGrowth) -> Self {
        let superblocks = geometry.superblocks as usize;
        Self {
            model,
            superblock_units: geometry.superblock_units,
            dies: geometry.dies,
            die_erases: vec![0; superblocks],
            programmed_ns: vec![0; superblocks],
        }
    }

    pub(in crate::nand) fn programmed(&mut self, unit: u32, now_ns: u64) {
        self.programmed_ns[(unit / self.superblock_units) as usize] = now_ns;
    }

    pub(in crate::nand) fn erased(&mut self, superblock: u32) {
        // Superblocks of the map lie behind those that are followed.
        if let Some(erases) = self.die_erases.get_mut(superblock as usize) {
            *erases += 1;
        }
    }

    pub(in crate::nand) fn senses(&self, unit: u32, now_ns: u64) -> u64 {
        let superblock = (unit / self.superblock_units) as usize;
        // Those of the map are read at power on only, and taken for fresh.
        let die_erases = self.die_erases.get(superblock).copied().unwrap_or(0);
        let programmed_ns = self.programmed_ns.get(superblock).copied().unwrap_or(now_ns);
        let erases = (die_erases / u64::from(self.dies)) as u32;
        let cycles = self.model.initial_cycles.saturating_add(erases);
        self.model.senses(cycles, now_ns.saturating_sub(programmed_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_rate_follows_the_formula() {
        let model = ErrorGrowth {
            initial_cycles: 0,
            fresh_ppb: 1_000,
            per_kilocycle_ppb: 2_000,
            per_day_ppb: 10,
            per_day_per_kilocycle_ppb: 100,
            corrected_ppb: 10_000,
            retries_max: 5,
        };
        let days = |days: u64| days * 24 * HOUR_NS;
        assert_eq!(model.senses(0, 0), 1);
        // 1,000 + 2,000 x 3 = 7,000; 310 more a day: 10,100 after ten days.
        assert_eq!(model.senses(3_000, days(9)), 1);
        assert_eq!(model.senses(3_000, days(10)), 2);
        assert_eq!(model.senses(3_000, days(365)), 6, "it gives up after five retries");
        assert_eq!(model.senses(u32::MAX, u64::MAX), 6);
    }
}
