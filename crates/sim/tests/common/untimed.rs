//! The mapping of a drive without time: one host stream, one GC stream, a victim whenever fewer
//! than three superblocks are free. Erased superblocks are no spare, so they come on top of the
//! physical pages that alpha counts.

use base::Rng;
use sim::Geometry;
use sim::ftl::gc::{VictimPolicy, VictimSelector};
use sim::ftl::{Ftl, StreamId, SuperblockState};

/// Over-provisioning of the reference table: (physical - logical) / logical.
pub const OVER_PROVISIONING: [f64; 6] = [0.07, 0.127, 0.15, 0.25, 0.28, 0.50];
/// Empty superblocks at the choice of a victim: two free ones, and on average half of the one that
/// garbage collection writes to; the host's is full then.
const KEPT_SUPERBLOCKS: f64 = 2.5;

/// An untimed drive.
pub struct Untimed {
    pub ftl: Ftl,
    pub victims: VictimSelector,
    pub rng: Rng,
    pub host_pages: u64,
    pub moved_pages: u64,
    pub free_sum: u64,
    pub free_samples: u64,
    /// First of the cold pages, which have their own stream, by order from above.
    pub first_cold: u64,
    /// Largest number of superblocks with cold data: FIFO within each pool instead of the policy.
    pub cold_superblocks: Option<usize>,
}

impl Untimed {
    /// An empty drive: about `logical` pages in superblocks of `b` pages with this effective alpha.
    pub fn empty(policy: VictimPolicy, candidates: u32, alpha: f64, b: u32, logical: u64) -> Self {
        let superblocks = (logical as f64 * alpha / f64::from(b) + KEPT_SUPERBLOCKS).round();
        // Whole superblocks do not meet alpha exactly; the number of logical pages does.
        let logical_pages =
            ((superblocks - KEPT_SUPERBLOCKS) * f64::from(b) / alpha).round() as u64;
        let geometry = Geometry {
            channels: 1,
            die_groups: 1,
            reclaim_groups: 1,
            dies: 1,
            page_bytes: 4096,
            unit_pages: 1,
            superblock_units: b,
            stripe_units: 0,
            superblocks: superblocks as u32,
            logical_pages,
            page_number_bytes: 4,
            packs_owners: false,
            map_pages: 0,
            page_granules: 1,
            cache_superblocks: 0,
            cache_units: 0,
        };
        Self {
            ftl: Ftl::new(geometry),
            victims: VictimSelector::new(policy, candidates, 1),
            rng: Rng::split(1, "theory"),
            host_pages: 0,
            moved_pages: 0,
            free_sum: 0,
            free_samples: 0,
            first_cold: u64::MAX,
            cold_superblocks: None,
        }
    }

    /// The same, filled in order.
    pub fn new(policy: VictimPolicy, candidates: u32, alpha: f64, b: u32, logical: u64) -> Self {
        let mut drive = Self::empty(policy, candidates, alpha, b, logical);
        for logical in 0..drive.ftl.geometry.logical_pages {
            drive.write(logical);
        }
        drive
    }

    /// Writes a page, after cleaning if it is due.
    pub fn write(&mut self, logical: u64) {
        let is_cold = logical >= self.first_cold;
        let stream = if is_cold { StreamId::Cold } else { StreamId::Host };
        if self.ftl.stream_room_pages(stream) == 0 {
            self.collect();
            // Cleaning may have opened one for the cold stream.
            assert!(self.ftl.stream_room_pages(stream) > 0 || self.ftl.open_superblock(stream));
        }
        self.ftl.place(stream, logical);
        self.host_pages += 1;
    }

    fn collect(&mut self) {
        let units = self.ftl.geometry.superblock_units;
        while self.ftl.free.len() < 3 {
            self.free_sum += self.ftl.free.len() as u64;
            self.free_samples += 1;
            let victim = self.choose_victim();
            self.ftl.become_victim(victim);
            for physical in victim * units..(victim + 1) * units {
                let Some(logical) = self.ftl.owner(physical.into()) else { continue };
                let is_cold = logical >= self.first_cold;
                let stream = if is_cold { StreamId::Cold } else { StreamId::Gc };
                if self.ftl.stream_room_pages(stream) == 0 {
                    assert!(self.ftl.open_superblock(stream));
                }
                self.ftl.place(stream, logical);
                self.moved_pages += 1;
            }
            self.ftl.erased(victim);
        }
    }

    fn choose_victim(&mut self) -> u32 {
        let victim = match self.cold_superblocks {
            None => self.victims.select(&self.ftl),
            Some(quota) => self.oldest_of_the_pool_above(quota),
        };
        victim.expect("there is something to gain")
    }

    /// The oldest closed superblock of the cold pool if that exceeds its quota, else of the other.
    fn oldest_of_the_pool_above(&self, cold_superblocks: usize) -> Option<u32> {
        let ftl = &self.ftl;
        let is_cold = |superblock: u32| ftl.written_by[superblock as usize] == StreamId::Cold;
        let holds = |superblock: &u32| ftl.states[*superblock as usize] != SuperblockState::Free;
        let all = || 0..ftl.geometry.superblocks;
        let cold = all().filter(holds).filter(|&superblock| is_cold(superblock)).count();
        all()
            .filter(|&superblock| ftl.states[superblock as usize] == SuperblockState::Closed)
            .filter(|&superblock| is_cold(superblock) == (cold > cold_superblocks))
            .min_by_key(|&superblock| ftl.closed_at[superblock as usize])
    }

    /// Writes a random page among the first `pages`.
    pub fn write_below(&mut self, pages: u64) {
        let logical = self.rng.below(pages);
        self.write(logical);
    }

    /// Writes to the hot `data_percent` of the pages with a chance of `writes_percent`, else to the
    /// rest.
    pub fn write_hot_or_cold(&mut self, data_percent: u64, writes_percent: u64) {
        let pages = self.ftl.geometry.logical_pages;
        let hot_pages = pages * data_percent / 100;
        let is_hot = self.rng.chance(writes_percent, 100);
        let logical = if is_hot {
            self.rng.below(hot_pages)
        } else {
            hot_pages + self.rng.below(pages - hot_pages)
        };
        self.write(logical);
    }

    /// Pages written to NAND per page written by the host during this number of `step`s.
    pub fn waf_during(&mut self, steps: u64, mut step: impl FnMut(&mut Self)) -> f64 {
        let (host_pages, moved_pages) = (self.host_pages, self.moved_pages);
        for _ in 0..steps {
            step(self);
        }
        let host_pages = self.host_pages - host_pages;
        (host_pages + self.moved_pages - moved_pages) as f64 / host_pages as f64
    }

    /// WAF over `spans` times the logical size in steps, after `warm_up` times that.
    pub fn waf_of(&mut self, warm_up: u64, spans: u64, mut step: impl FnMut(&mut Self)) -> f64 {
        let pages = self.ftl.geometry.logical_pages;
        self.waf_during(warm_up * pages, &mut step);
        self.waf_during(spans * pages, &mut step)
    }

    /// The same for uniform random writes.
    pub fn waf(&mut self, warm_up: u64, spans: u64) -> f64 {
        let pages = self.ftl.geometry.logical_pages;
        self.waf_of(warm_up, spans, |drive| drive.write_below(pages))
    }
}
