//! Times and features of the NAND of a drive model.

use super::aging::past::Past;
use super::aging::retry::ErrorGrowth;
use super::aging::wear::WearDrift;
use super::array::spread::SpreadPercent;
use super::moves::MovesByPlane;
use super::pages::PageTimes;
use super::rank::ReadRank;
use super::slc::SlcTiming;
use crate::geometry::Geometry;

/// Times of the NAND and its bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct NandTiming {
    /// Array to register (tR).
    pub read_ns: u64,
    /// Register to array (tPROG) of one unit, mean of lower and upper pages.
    pub program_ns: u64,
    /// Erase of one block on every plane of a die: tBERS, times the number of planes if they work
    /// one after the other.
    pub erase_ns: u64,
    /// One transfer over the channel: 4 KiB, on a drive that compresses a granule.
    pub page_transfer_ns: u64,
}

/// The optional features of the NAND; none by default.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct NandFeatures {
    /// Times of lower and upper pages.
    pub pages: Option<PageTimes>,
    /// Suspension of programs and erases for host reads.
    pub suspend: Option<SuspendLimits>,
    /// Whether the next program's data crosses the channel during a program.
    pub cache_program: bool,
    /// A unit is not sensed again while the register of its die holds it.
    pub page_register: bool,
    /// Repeated senses of worn and old pages.
    pub retry: Option<ErrorGrowth>,
    /// Planes that sense one after the other for collection, or `None` if they sense together.
    pub moves_by_plane: Option<MovesByPlane>,
    /// Times of programs and erases of worn blocks, or `None` if they stay the same.
    pub wear: Option<WearDrift>,
    /// The past of blocks and data.
    pub past: Past,
    /// Pages of a unit on one plane, if planes sense for the host whatever the others do; `None` if
    /// they sense together.
    pub independent_planes: Option<u32>,
    /// Superblocks with one bit per cell.
    pub slc: Option<SlcTiming>,
    /// Rank of the host's reads against garbage collection.
    pub read_rank: ReadRank,
    /// Blocks and layers take times of their own.
    pub spread: Option<SpreadPercent>,
}

impl NandFeatures {
    /// Size of what grows with superblocks and dies in memory.
    pub fn memory_bytes(&self, geometry: &Geometry) -> u64 {
        let blocks = u64::from(geometry.superblocks) * u64::from(geometry.superblock_dies());
        if self.retry.is_some_and(|retry| retry.counts_reads()) {
            blocks * size_of::<u32>() as u64
        } else {
            0
        }
    }
}

/// Rule for the suspension of an operation for host reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SuspendLimits {
    /// Time from the request until the die can read.
    pub suspend_ns: u64,
    /// Mean of an addition to it, drawn at random for each suspension.
    pub tail_ns: u64,
    /// Time from the end of the first batch of reads for which the die takes further ones.
    pub hold_ns: u64,
    /// Time from the end of the last read until the operation continues.
    pub resume_ns: u64,
    /// Most batches of reads during one operation.
    pub per_operation_max: u32,
    /// Most operations that may wait behind one that is suspended.
    pub waiting_max: u32,
}
