//! Data that identify themselves: every sector contains the run, the address and the number of its
//! write, and all other bytes follow from these.
//!
//! A sector is 64 words. The first two contain address and generation, mixed with the seed of the
//! run; the rest is the stream of a generator that starts from them. A comparison with a
//! regenerated sector finds one wrong bit anywhere.

use crate::mix::{mix, unmix};

/// Size of a sector, for any block size of the device.
pub const SECTOR_BYTES: usize = 512;

const GENERATION_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Content of a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sector {
    /// Undamaged data of this run.
    Intact {
        /// The byte offset it was written for.
        offset_bytes: u64,
        /// Number of the write command of the run, from 1.
        generation: u64,
    },
    /// Undamaged data that another run wrote for this place.
    OtherRun {
        /// Seed of that run.
        seed: u64,
        /// Number of its write command.
        generation: u64,
    },
    /// Nothing but zeros.
    Zeros,
    /// None of these: damaged, or written by another program.
    Unknown,
}

/// Fills `area`, whole sectors from `offset_bytes` on.
pub fn fill(area: &mut [u8], seed: u64, offset_bytes: u64, generation: u64) {
    let mut offset_bytes = offset_bytes;
    for sector in area.chunks_exact_mut(SECTOR_BYTES) {
        let words = words(seed, offset_bytes, generation);
        for (bytes, word) in sector.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        offset_bytes += SECTOR_BYTES as u64;
    }
}

/// The content of the sector that was read at `here_bytes`, for the run with this seed. A sector
/// that is too short is unknown.
pub fn read(sector: &[u8], seed: u64, here_bytes: u64) -> Sector {
    if sector.len() != SECTOR_BYTES {
        return Sector::Unknown;
    }
    if sector.iter().all(|&byte| byte == 0) {
        return Sector::Zeros;
    }
    let (offset_bytes, generation) = claimed(sector, seed);
    if holds(sector, seed, offset_bytes, generation) {
        return Sector::Intact { offset_bytes, generation };
    }
    let seed = claimed_seed(sector, here_bytes, generation);
    if holds(sector, seed, here_bytes, generation) {
        return Sector::OtherRun { seed, generation };
    }
    Sector::Unknown
}

/// Whether every bit of the sector equals the data of that run.
fn holds(sector: &[u8], seed: u64, offset_bytes: u64, generation: u64) -> bool {
    let words = words(seed, offset_bytes, generation);
    sector.chunks_exact(8).zip(words).all(|(bytes, word)| bytes == word.to_le_bytes())
}

fn claimed(sector: &[u8], seed: u64) -> (u64, u64) {
    let (first, second) = (crate::bytes::u64_at(sector, 0), crate::bytes::u64_at(sector, 8));
    let generation = first ^ unmix(second);
    let offset = unmix(first ^ mix(seed)).wrapping_sub(generation.wrapping_mul(GENERATION_STEP));
    (offset, generation)
}

/// The seed of the run that wrote the sector for this place; the generation does not depend on it.
fn claimed_seed(sector: &[u8], here_bytes: u64, generation: u64) -> u64 {
    let first = crate::bytes::u64_at(sector, 0);
    unmix(first ^ mix(here_bytes.wrapping_add(generation.wrapping_mul(GENERATION_STEP))))
}

fn words(seed: u64, offset_bytes: u64, generation: u64) -> impl Iterator<Item = u64> {
    let first =
        mix(offset_bytes.wrapping_add(generation.wrapping_mul(GENERATION_STEP))) ^ mix(seed);
    let second = mix(first ^ generation);
    // All three numbers go in, so that a wrong bit in the first words is found as well.
    let start = mix(first.wrapping_add(mix(seed ^ second)));
    let stream =
        (1..).map(move |index: u64| mix(start.wrapping_add(index.wrapping_mul(GENERATION_STEP))));
    [first, second].into_iter().chain(stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(seed: u64, offset_bytes: u64, generation: u64) -> Vec<u8> {
        let mut area = vec![0; 4096];
        fill(&mut area, seed, offset_bytes, generation);
        area
    }

    #[test]
    fn a_sector_says_what_it_is() {
        for (offset_bytes, generation) in [(0, 1), (4096, 7), (1 << 40, u64::MAX)] {
            for (index, sector) in
                block(9, offset_bytes, generation).chunks(SECTOR_BYTES).enumerate()
            {
                let offset_bytes = offset_bytes + (index * SECTOR_BYTES) as u64;
                assert_eq!(read(sector, 9, 0), Sector::Intact { offset_bytes, generation });
            }
        }
        assert_eq!(read(&[0; SECTOR_BYTES], 9, 0), Sector::Zeros);
    }

    #[test]
    fn one_wrong_bit_is_found_wherever_it_is() {
        let good = block(1, 8192, 3);
        for bit in (0..SECTOR_BYTES * 8).step_by(37) {
            let mut sector = good[..SECTOR_BYTES].to_vec();
            sector[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(read(&sector, 1, 8192), Sector::Unknown, "bit {bit}");
        }
    }

    #[test]
    fn what_another_run_wrote_is_told_as_such() {
        for (seed, generation) in [(1, 1), (0, 3000), (u64::MAX, 7)] {
            let other = block(seed, 4096, generation);
            let sector = &other[..SECTOR_BYTES];
            assert_eq!(read(sector, 2, 4096), Sector::OtherRun { seed, generation });
            assert_eq!(read(sector, 2, 8192), Sector::Unknown, "for another place");
        }
        assert_eq!(read(&[1, 2, 3], 2, 0), Sector::Unknown);
    }
}
