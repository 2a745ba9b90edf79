//! Map flush: what has changed of the map goes to NAND by the clock.
//!
//! Phenomenon: firmware bounds what a loss of power costs, so it writes changed parts of its map from time to time even
//! where DRAM holds all of it; the host's writes wait for that, and the drive is slower for a moment in every period.
//! Source: SPDK FTL writes checkpoints of its P2L map beside the data, DFTL writes changed segments together (Gupta, Kim
//! and Urgaonkar 2009); periods are not in print (assumed). A drive with a map cache writes changed segments, which stay
//! at hand, in their order and `segments_max` at a time; a drive with a journal writes its open unit, padded. A period
//! without a change has no flush. Simplifications: all segments of a flush go before the host's next write; the last of
//! them stay in the write buffer until their unit is full. Test: `tests/mechanisms/housekeeping.rs`.

/// Period and size of flushes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct MapFlush {
    /// Time from one flush to the next while the map changes.
    pub period_ns: u64,
    /// Most segments in one flush of a map cache; the others are left for the next period.
    pub segments_max: u32,
}

impl MapFlush {
    /// The end of the present period.
    pub fn next_ns(self, now_ns: u64) -> u64 {
        (now_ns / self.period_ns + 1).saturating_mul(self.period_ns)
    }
}
