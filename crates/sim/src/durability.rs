//! Up to where a stream's programs have reached the NAND.
//!
//! Programs of one stream end out of order (dies differ in what else they do). A flush, and the erase of
//! a superblock whose data was moved, must wait until everything up to a point is in NAND: this
//! keeps the low-water mark.

use std::collections::VecDeque;

/// Issued and finished programs of one stream, by sequence number.
#[derive(Debug, Default)]
pub struct Durability {
    /// Whether the programs from `low_water` on have ended.
    ended: VecDeque<bool>,
    low_water: u64,
}

impl Durability {
    /// Number of the next program; call once for each.
    pub fn issue(&mut self) -> u64 {
        self.ended.push_back(false);
        self.issued() - 1
    }

    /// Programs issued so far.
    #[must_use]
    pub fn issued(&self) -> u64 {
        self.low_water + self.ended.len() as u64
    }

    /// Every program below this number has ended.
    #[must_use]
    pub fn low_water(&self) -> u64 {
        self.low_water
    }

    /// Marks a program as ended; true where the low-water mark rose.
    pub fn end(&mut self, sequence: u64) -> bool {
        self.ended[(sequence - self.low_water) as usize] = true;
        let before = self.low_water;
        while self.ended.front() == Some(&true) {
            self.ended.pop_front();
            self.low_water += 1;
        }
        self.low_water > before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_waits_for_the_oldest() {
        let mut durability = Durability::default();
        assert_eq!([durability.issue(), durability.issue(), durability.issue()], [0, 1, 2]);
        assert!(!durability.end(1));
        assert_eq!(durability.low_water(), 0);
        assert!(durability.end(0));
        assert_eq!(durability.low_water(), 2);
        assert!(durability.end(2));
        assert_eq!((durability.low_water(), durability.issued()), (3, 3));
    }
}
