//! Parity stripes over dies (RAIN, RAISE): the places of parity and its cost.
//!
//! Phenomenon: one unit in every stripe contains the parity of the others, so that the drive
//! survives the loss of a block of a die. The spare shrinks by that share, and every `stripe_units
//! - 1` units of data cost one more program. Source: `SandForce` RAISE gives up one die of the
//! drive (AnandTech 4346). Assumed: parity moves one place to the left from stripe to stripe, as in
//! RAID 5, so that reads load all dies. Simplification: the parity of an open stripe is kept beside
//! the write buffer, costs no transfer before its program, and is never read. Tests:
//! `tests/mechanisms/parity.rs`, `tests/reference/`.
//!
//! Everything here is a function of the geometry: placement asks once per unit.

use base::facts::Sourced;

use crate::geometry::Geometry;
use crate::model::schema::{Check, ModelError, section};

section! {
    /// Parity over dies (RAIN, RAISE).
    pub struct ParitySection {
        /// Units in a stripe, the parity unit included; divides the number of dies.
        pub stripe_units: Sourced<u32>,
    }
}

impl ParitySection {
    /// Units in a stripe. Each unit of a stripe is on another die; otherwise the loss of one die could take two of its
    /// units.
    pub(crate) fn stripe_units(&self, check: &Check<'_>, dies: u32) -> Result<u32, ModelError> {
        let units = self.stripe_units.value;
        if units >= 2 && dies.is_multiple_of(units) {
            return Ok(units);
        }
        let rule = format!("it must be at least 2 and divide the number of dies, {dies}");
        check.fail("parity.stripe_units", units, &rule)
    }
}

impl Geometry {
    /// Place of the parity unit within a stripe of the superblock.
    const fn parity_place(&self, stripe: u32) -> u32 {
        self.stripe_units - 1 - stripe % self.stripe_units
    }

    /// Whether a unit, counted within its superblock, contains parity.
    pub const fn is_parity(&self, unit: u32) -> bool {
        self.stripe_units > 0
            && unit % self.stripe_units == self.parity_place(unit / self.stripe_units)
    }

    /// The parity unit to program after a unit of data, both over the whole drive: that of its
    /// stripe, if the unit completes the data of the stripe.
    pub const fn parity_after(&self, unit: u32) -> Option<u32> {
        if self.stripe_units == 0 {
            return None;
        }
        let first = unit - unit % self.stripe_units;
        let place = self.parity_place(first % self.superblock_units / self.stripe_units);
        let last_place =
            if place + 1 == self.stripe_units { place - 1 } else { self.stripe_units - 1 };
        if unit - first == last_place { Some(first + place) } else { None }
    }

    /// The next page that can hold data, from a page at the border of two units on; both count
    /// within a superblock.
    #[inline]
    pub const fn skip_parity(&self, mut page: u32) -> u32 {
        if self.stripe_units > 0 {
            while page < self.superblock_pages() && self.is_parity(page / self.unit_pages) {
                page += self.unit_pages;
            }
        }
        page
    }

    /// Remaining pages of a superblock that can hold data; `page` counts within it.
    pub const fn data_pages_from(&self, page: u32) -> u32 {
        self.superblock_pages() - page - self.parity_units_from(page) * self.unit_pages
    }

    const fn parity_units_from(&self, page: u32) -> u32 {
        if self.stripe_units == 0 {
            return 0;
        }
        // A unit that has been begun holds data, so what counts is the next one.
        let unit = page.div_ceil(self.unit_pages);
        let stripe = unit / self.stripe_units;
        let passed = stripe + (unit % self.stripe_units > self.parity_place(stripe)) as u32;
        self.superblock_units / self.stripe_units - passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geometry(stripe_units: u32) -> Geometry {
        Geometry {
            dies: stripe_units.max(1),
            die_groups: 1,
            superblock_units: 12,
            stripe_units,
            superblocks: 3,
            logical_pages: 1,
            page_number_bytes: 4,
            packs_owners: false,
            ..Geometry::small()
        }
    }

    #[test]
    fn parity_moves_over_all_dies_and_follows_the_last_data_of_its_stripe() {
        for stripe_units in [2, 3, 4, 6, 12] {
            let geometry = geometry(stripe_units);
            for superblock in 0..3 {
                let mut programmed = Vec::new();
                for unit in (0..12).filter(|&unit| !geometry.is_parity(unit)) {
                    programmed.push(superblock * 12 + unit);
                    programmed.extend(geometry.parity_after(superblock * 12 + unit));
                }
                let stripes = programmed.chunks(stripe_units as usize).map(|stripe| {
                    let mut units = stripe.to_vec();
                    units.sort_unstable();
                    units
                });
                assert!(stripes.flatten().eq(superblock * 12..superblock * 12 + 12));
            }
            let places = (0..12).filter(|&unit| geometry.is_parity(unit));
            let mut dies: Vec<_> = places.map(|unit| unit % stripe_units).collect();
            dies.sort_unstable();
            dies.dedup();
            assert_eq!(dies.len() as u32, stripe_units.min(12 / stripe_units));
        }
    }

    #[test]
    fn room_is_what_counting_pages_gives() {
        for stripe_units in [0, 2, 3, 4, 6, 12] {
            let geometry = geometry(stripe_units);
            for page in 0..=geometry.superblock_pages() {
                let is_data = |page: &u32| !geometry.is_parity(page / geometry.unit_pages);
                let counted = (page..geometry.superblock_pages()).filter(is_data).count() as u32;
                let inside_parity = !page.is_multiple_of(4) && geometry.is_parity(page / 4);
                if !inside_parity {
                    assert_eq!(geometry.data_pages_from(page), counted, "{stripe_units} {page}");
                }
            }
        }
    }
}
