//! Times and features of the NAND of a drive model.

use super::array::spread::SpreadPercent;
use super::moves::MovesByPlane;
use super::pages::PageTimes;
use super::retry::ErrorGrowth;
use super::slc::SlcTiming;

/// Times of the NAND and its bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NandTiming {
    /// Array to register (tR).
    pub read_ns: u64,
    /// Register to array (tPROG) of one unit, mean of lower and upper pages.
    pub program_ns: u64,
    /// Erase of one block on every plane of a die: tBERS, or as often as there are planes where they
    /// work one after the other.
    pub erase_ns: u64,
    /// One 4 KiB page over the channel.
    pub page_transfer_ns: u64,
}

/// The additions of a drive model to the plain NAND; none by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NandFeatures {
    /// Times of lower and upper pages.
    pub pages: Option<PageTimes>,
    /// Programs and erases give way to host reads.
    pub suspend: Option<SuspendLimits>,
    /// The next program's data crosses the channel during this program.
    pub cache_program: bool,
    /// A unit is not sensed again while the register of its die holds it.
    pub page_register: bool,
    /// Worn and old pages are sensed more than once.
    pub retry: Option<ErrorGrowth>,
    /// Planes that sense one after the other for collection, or `None` if they sense together.
    pub moves_by_plane: Option<MovesByPlane>,
    /// Some superblocks hold one bit per cell.
    pub slc: Option<SlcTiming>,
    /// Blocks and layers take times of their own.
    pub spread: Option<SpreadPercent>,
}

/// When a die interrupts an operation for host reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuspendLimits {
    /// From the request until the die can read.
    pub suspend_ns: u64,
    /// From the end of the last read until the operation goes on.
    pub resume_ns: u64,
    /// Batches of reads that one operation lets pass.
    pub per_operation_max: u32,
}
