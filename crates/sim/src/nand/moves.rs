//! Reads for collection, plane by plane.
//!
//! Phenomenon: planes sense together only where their addresses agree, which the valid pages of a victim do not; each
//! plane then costs a separate tR. Source: ONFI multi-plane read restrictions; the settled rate of a Micron 7450 at four
//! spans, by which a moved page takes half as much of a die's time as a programmed one (SSD-iq). Simplification: each
//! plane with a valid page of the unit is sensed once; a page that lies on several planes is sensed by them together;
//! reads of the host sense all planes of a unit together, unless planes are independent. Test: `tests/device/nand.rs`.

use super::job::Job;

/// Counts the planes that a read for collection senses in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct MovesByPlane {
    /// Number of pages of a unit on one plane, at most 64.
    pub plane_pages: u32,
}

impl MovesByPlane {
    /// Number of senses for this read.
    pub(super) fn senses(self, job: Job) -> u64 {
        let Some(valid) = job.valid() else { return 1 };
        let planes = (0..u64::BITS).step_by(self.plane_pages as usize);
        let plane = u64::MAX >> (u64::BITS - self.plane_pages);
        planes.filter(|first| valid >> first & plane != 0).count().max(1) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nand::DieOp;

    #[test]
    fn a_read_senses_the_planes_that_it_needs() {
        // Four planes of four pages each.
        let planes = MovesByPlane { plane_pages: 4 };
        let moved = |valid: u64| {
            planes.senses(Job::new(DieOp::GcRead { unit: 0, pages: valid.count_ones(), valid }, 16))
        };
        assert_eq!(moved(0b1), 1);
        assert_eq!(moved(0b1000_0000_0000_0001), 2);
        assert_eq!(moved(0b0100_0001_0001_1000), 4);
        assert_eq!(moved(0xFFFF), 4);
        let host = DieOp::HostRead { tag: 0, unit: 0, transfers: 16, page: None };
        assert_eq!(planes.senses(Job::new(host, 16)), 1);
        let wide = MovesByPlane { plane_pages: 64 };
        let last = DieOp::GcRead { unit: 0, pages: 2, valid: 3 << 62 };
        assert_eq!(wide.senses(Job::new(last, 64)), 1);
    }
}
