//! The sizes and depths that a target can take, and the fence that keeps commands inside it.

use rustix::io::Errno;

use crate::age::Ages;
use crate::zones::ZoneLimits;

/// Limits of a target, and its optional features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Offsets and lengths must be multiples of this.
    pub logical_block_bytes: u32,
    /// Writes that are not multiples of this may cost a read-modify-write inside the target.
    pub physical_block_bytes: u32,
    /// The longest single command.
    pub transfer_bytes_max: u32,
    /// Most commands outstanding at a time.
    pub queue_depth_max: u32,
    /// Whether [`base::OpKind::Deallocate`] has an effect.
    pub deallocate: bool,
    /// Whether [`Target::set_rest`](crate::Target::set_rest) has an effect.
    pub rest: bool,
    /// Whether the target's own telemetry counts the energy it draws.
    pub energy: bool,
    /// Whether the controller is known to compress the data it stores.
    pub compresses: bool,
    /// Whether a purge leaves no trace of earlier work, neither wear nor heat: so it is on a simulated drive whose
    /// model knows no temperature.
    pub purge_renews: bool,
    /// The parts of a past that have an effect, if [`Target::age`](crate::Target::age) gives it one.
    pub ages: Ages,
    /// Placement handles that a write may name; 1 if the target does not keep data apart.
    pub placement_handles: u32,
    /// The zones, or `None` if writes may go anywhere.
    pub zones: Option<ZoneLimits>,
}

impl Limits {
    /// Limits of a target that takes everything and has no optional feature but deallocation.
    pub const BARE: Self = Self {
        logical_block_bytes: 512,
        physical_block_bytes: 4096,
        transfer_bytes_max: 1 << 30,
        queue_depth_max: 65_536,
        deallocate: true,
        rest: false,
        energy: false,
        compresses: false,
        purge_renews: false,
        ages: Ages::NOT_AT_ALL,
        placement_handles: 1,
        zones: None,
    };
}

/// Keeps a range inside the target.
///
/// # Errors
/// `EINVAL` for a range that is empty, misaligned or not wholly inside the target.
#[inline]
pub fn fence(
    offset_bytes: u64,
    len_bytes: u64,
    capacity_bytes: u64,
    block_bytes: u32,
) -> Result<(), Errno> {
    // Block sizes are powers of two, so one mask tests both numbers.
    let misaligned = (offset_bytes | len_bytes) & (u64::from(block_bytes) - 1);
    let inside = len_bytes <= capacity_bytes && offset_bytes <= capacity_bytes - len_bytes;
    if misaligned == 0 && inside && len_bytes > 0 { Ok(()) } else { Err(Errno::INVAL) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fence_lets_nothing_out() {
        let check = |offset, len| fence(offset, len, 8192, 4096).is_ok();
        assert!(check(0, 4096) && check(4096, 4096) && check(0, 8192));
        assert!(!check(0, 0), "an empty transfer means the rest of the device to BLKDISCARD");
        assert!(!check(512, 4096) && !check(0, 512));
        assert!(!check(8192, 4096) && !check(4096, 8192) && !check(0, 12288));
        assert!(!check(u64::MAX - 4095, 4096) && !check(4096, u64::MAX - 4095));
    }
}
