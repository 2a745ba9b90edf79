//! Spread of program and erase times over blocks and layers.
//!
//! Phenomenon: no two blocks of a drive take the same time, and in a block the word lines of upper layers program more
//! slowly than those below. A superblock is as slow as the slowest of its blocks, so that the rate of a drive changes
//! from superblock to superblock. Source: word lines of a 232-layer block that miss the limit of program pulses first
//! are the upper ones, and the number of pulses lies between 15 and 30; Luo et al. 2018 and Shim et al. (MICRO 2019)
//! on layers. The percentages are values of the model. Simplifications: even distribution around the mean; a block
//! keeps its share for life; layers rise in a straight line with the row of the page, from as far below the mean as
//! they end above it; reads do not spread. Tests: here, `tests/device/nand.rs`.
//!
//! The share of a block is a function of the seed and its place, so that none has to be stored.

use base::Rng;

use crate::geometry::Geometry;

/// A million: a time is multiplied by parts of it.
const WHOLE_PPM: u64 = 1_000_000;
const PERCENT_PPM: u64 = WHOLE_PPM / 100;

/// The widths of the spread, in percent of the mean to either side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SpreadPercent {
    /// Programs, from block to block.
    pub program: u64,
    /// Erases, from block to block.
    pub erase: u64,
    /// Programs, from the first row of a block to its last.
    pub layer: u64,
    /// Units of a superblock that make up a row.
    pub row_units: u32,
}

/// The spread of a drive.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Spread {
    percent: SpreadPercent,
    geometry: Geometry,
    key: u64,
}

#[derive(Clone, Copy)]
enum Draw {
    Program,
    Erase,
}

impl Spread {
    pub(super) fn new(percent: SpreadPercent, geometry: &Geometry, seed: u64) -> Self {
        let key = Rng::split(seed, "blocks").next_u64();
        Self { percent, geometry: *geometry, key }
    }

    /// Time to program a unit that takes `mean_ns` on average.
    pub(super) fn program_ns(&self, unit: u32, mean_ns: u64) -> u64 {
        let die = self.geometry.die_of_unit(unit);
        let superblock = unit / self.geometry.superblock_units;
        let block_ppm = self.block_ppm(Draw::Program, self.percent.program, die, superblock);
        let layer_ppm =
            self.layer_ppm(unit % self.geometry.superblock_units / self.percent.row_units);
        (mean_ns * block_ppm / WHOLE_PPM * layer_ppm / WHOLE_PPM).max(1)
    }

    /// Time to erase a die's blocks of a superblock, which takes `mean_ns` on average.
    pub(super) fn erase_ns(&self, die: u32, superblock: u32, mean_ns: u64) -> u64 {
        let ppm = self.block_ppm(Draw::Erase, self.percent.erase, die, superblock);
        (mean_ns * ppm / WHOLE_PPM).max(1)
    }

    /// The share that a block has drawn.
    fn block_ppm(&self, draw: Draw, percent: u64, die: u32, superblock: u32) -> u64 {
        let width_ppm = percent * PERCENT_PPM;
        let place = u64::from(superblock) << 32 | u64::from(die) << 1 | draw as u64;
        WHOLE_PPM - width_ppm + Rng::new(self.key ^ place).below(2 * width_ppm + 1)
    }

    /// The share of a row: all rows together have as many wholes.
    fn layer_ppm(&self, row: u32) -> u64 {
        let rows = u64::from(self.geometry.superblock_units / self.percent.row_units);
        let width_ppm = self.percent.layer * PERCENT_PPM;
        WHOLE_PPM - width_ppm + width_ppm * (2 * u64::from(row) + 1) / rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEAN_NS: u64 = 1_000_000;

    /// 64 dies, superblocks of 64 rows.
    fn spread(program: u64, layer: u64, seed: u64) -> Spread {
        let geometry = Geometry { dies: 64, superblock_units: 64 * 64, ..Geometry::small() };
        Spread::new(SpreadPercent { program, erase: 10, layer, row_units: 64 }, &geometry, seed)
    }

    /// Program times of the first unit of every block of 1,000 superblocks.
    fn block_times(spread: &Spread) -> Vec<u64> {
        let units =
            (0..1_000).flat_map(|superblock| (0..64).map(move |die| superblock * 64 * 64 + die));
        units.map(|unit| spread.program_ns(unit, MEAN_NS)).collect()
    }

    #[test]
    fn blocks_spread_evenly_around_the_mean() {
        let times = block_times(&spread(20, 0, 1));
        let count = times.len() as u64;
        // The mean of so many lies within four deviations: 4 x 20% / sqrt(3 x 64,000) = 0.18%.
        let mean_ns = times.iter().sum::<u64>() / count;
        assert!(mean_ns.abs_diff(MEAN_NS) < 1_830, "{mean_ns}");
        for tenth in 0..10 {
            let from = 800_000 + tenth * 40_000;
            let within = times.iter().filter(|&&time| (from..from + 40_000).contains(&time));
            // A tenth of 64,000, within four deviations of sqrt(64,000 x 0.1 x 0.9) = 76.
            let within = within.count() as u64;
            assert!(within.abs_diff(count / 10) < 4 * 76, "{within} from {from} ns");
        }
        assert!(times.iter().all(|time| (800_000..=1_200_000).contains(time)));
    }

    #[test]
    fn a_block_keeps_its_share_and_another_seed_draws_others() {
        let times = block_times(&spread(20, 0, 1));
        assert_eq!(times, block_times(&spread(20, 0, 1)));
        let others = block_times(&spread(20, 0, 2));
        let same = times.iter().zip(&others).filter(|(a, b)| a == b).count();
        assert!(same < 20, "{same} of 64,000 blocks draw the same");
        let drive = spread(20, 0, 1);
        assert_eq!(drive.program_ns(64, MEAN_NS), times[0], "its next row");
        assert_ne!(drive.erase_ns(0, 0, MEAN_NS), times[0], "erases draw for themselves");
        assert!((900_000..=1_100_000).contains(&drive.erase_ns(3, 7, MEAN_NS)));
    }

    #[test]
    fn layers_rise_in_a_straight_line_around_the_mean() {
        let drive = spread(0, 16, 1);
        let rows: Vec<_> = (0..64).map(|row| drive.program_ns(64 * row, MEAN_NS)).collect();
        // Steps of 2 x 16% / 64 = 0.5%; the first row lies half a step above the end.
        let line: Vec<_> = (0..64).map(|row| 842_500 + 5_000 * row).collect();
        assert_eq!(rows, line);
        assert_eq!(rows.iter().sum::<u64>(), 64 * MEAN_NS);
    }
}
