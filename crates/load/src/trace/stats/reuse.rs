//! Reuse distances: the amount of other data between two uses of the same page. They show the
//! necessary size of a cache.
//!
//! Exact distances need memory for every page; this module samples pages by a hash of their number
//! and keeps at most a fixed number of them, lowering its rate when there are more (SHARDS, fixed
//! size; Waldspurger and others, FAST 2015). The distances among the sampled pages are then scaled
//! by the rate; the error is about 1% of the axis.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use crate::trace::Record;

const PAGE_BITS: u32 = 12;

/// Number of sampled pages.
const SAMPLES_MAX: usize = 8192;

/// Denominator of the threshold for the hash of a page.
const HASH_RANGE: u64 = 1 << 24;

/// An I/O of more pages is sampled at its first ones, so that a hostile length cannot cost more.
const PAGES_MAX: u64 = 1024;

/// Bins of the histogram: powers of two of bytes.
const BINS: usize = 64;

/// Reuse distances.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reuse {
    /// Share of page uses without an earlier use of the page.
    pub first_use_share: f64,
    /// Bytes of other data between two uses: quartiles and the 90th percentile, as upper bounds in powers of two.
    pub distance_bytes_p25: u64,
    /// The median.
    pub distance_bytes_p50: u64,
    /// The third quartile.
    pub distance_bytes_p75: u64,
    /// The 90th percentile.
    pub distance_bytes_p90: u64,
}

pub(super) struct ReuseSampler {
    threshold: u64,
    clock: u64,
    /// Last use of each sampled page.
    last_use: HashMap<u64, u64>,
    /// Sampled pages by hash, so that those of the highest hash go first.
    by_hash: BTreeSet<(u64, u64)>,
    /// Rank of uses: a Fenwick tree over the clock.
    uses: Fenwick,
    /// Weighted uses by distance.
    bins: [f64; BINS],
    first_uses: f64,
}

impl Default for ReuseSampler {
    fn default() -> Self {
        Self {
            threshold: HASH_RANGE,
            clock: 0,
            last_use: HashMap::new(),
            by_hash: BTreeSet::new(),
            uses: Fenwick::default(),
            bins: [0.0; BINS],
            first_uses: 0.0,
        }
    }
}

fn hash(page: u64) -> u64 {
    let z = (page ^ (page >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) % HASH_RANGE
}

impl ReuseSampler {
    pub(super) fn add(&mut self, record: &Record) {
        let first = record.offset >> PAGE_BITS;
        let pages = (u64::from(record.len) >> PAGE_BITS).clamp(1, PAGES_MAX);
        for page in first..first + pages {
            let hash = hash(page);
            if hash < self.threshold {
                self.used(page, hash);
            }
        }
    }

    fn used(&mut self, page: u64, hash: u64) {
        let weight = HASH_RANGE as f64 / self.threshold as f64;
        if self.clock == Fenwick::SLOTS {
            self.compact();
        }
        let now = self.clock;
        self.clock += 1;
        if let Some(before) = self.last_use.insert(page, now) {
            let between = self.uses.total() - self.uses.up_to(before);
            self.uses.add(before, -1);
            let bytes = between as f64 * weight * f64::from(1 << PAGE_BITS);
            self.bins[bin(bytes)] += weight;
        } else {
            self.by_hash.insert((hash, page));
            self.first_uses += weight;
        }
        self.uses.add(now, 1);
        if self.last_use.len() > SAMPLES_MAX {
            self.drop_highest();
        }
    }

    fn drop_highest(&mut self) {
        let Some(&(highest, _)) = self.by_hash.last() else { return };
        self.threshold = highest;
        while let Some(&(hash, page)) = self.by_hash.last() {
            if hash < highest {
                return;
            }
            self.by_hash.pop_last();
            if let Some(used) = self.last_use.remove(&page) {
                self.uses.add(used, -1);
            }
        }
    }

    /// Renumbers the last uses from zero, in their order.
    fn compact(&mut self) {
        let order: BTreeMap<u64, u64> = self.last_use.iter().map(|(&p, &t)| (t, p)).collect();
        self.uses = Fenwick::default();
        for (now, page) in (0..).zip(order.into_values()) {
            self.last_use.insert(page, now);
            self.uses.add(now, 1);
        }
        self.clock = self.last_use.len() as u64;
    }

    pub(super) fn reuse(&self) -> Option<Reuse> {
        let again: f64 = self.bins.iter().sum();
        if again == 0.0 {
            return None;
        }
        let quantile = |share: f64| {
            let mut below = 0.0;
            let bin = self.bins.iter().position(|count| {
                below += count;
                below >= share * again
            });
            1_u64 << bin.unwrap_or(BINS - 1).min(BINS - 1)
        };
        Some(Reuse {
            first_use_share: self.first_uses / (self.first_uses + again),
            distance_bytes_p25: quantile(0.25),
            distance_bytes_p50: quantile(0.5),
            distance_bytes_p75: quantile(0.75),
            distance_bytes_p90: quantile(0.9),
        })
    }
}

/// The bin of a distance: the smallest power of two that is not below it.
fn bin(bytes: f64) -> usize {
    (bytes.max(1.0).log2().ceil() as usize).min(BINS - 1)
}

/// Counts over positions, with prefix sums in logarithmic time.
struct Fenwick {
    sums: Vec<i32>,
    total: i64,
}

impl Default for Fenwick {
    fn default() -> Self {
        Self { sums: vec![0; Self::SLOTS as usize + 1], total: 0 }
    }
}

impl Fenwick {
    /// Number of positions; several times the samples, so that renumbering is rare.
    const SLOTS: u64 = 1 << 17;

    fn add(&mut self, position: u64, amount: i32) {
        self.total += i64::from(amount);
        let mut index = position as usize + 1;
        while index < self.sums.len() {
            self.sums[index] += amount;
            index += index & index.wrapping_neg();
        }
    }

    /// Sum of the counts at positions up to and with this one.
    fn up_to(&self, position: u64) -> i64 {
        let mut index = position as usize + 1;
        let mut sum = 0;
        while index > 0 {
            sum += i64::from(self.sums[index]);
            index &= index - 1;
        }
        sum
    }

    fn total(&self) -> i64 {
        self.total
    }
}
