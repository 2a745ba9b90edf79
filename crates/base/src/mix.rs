//! An invertible bijection of 64 bits whose output looks random.

const MIX: u64 = 0xff51_afd7_ed55_8ccd;
/// Inverse of [`MIX`] modulo 2^64.
const UNMIX: u64 = 0x4f74_430c_22a5_4005;

/// A bijection whose output looks random.
#[inline]
pub const fn mix(value: u64) -> u64 {
    let product = (value ^ (value >> 32)).wrapping_mul(MIX);
    product ^ (product >> 32)
}

/// The inverse of [`mix`].
#[inline]
pub const fn unmix(value: u64) -> u64 {
    let product = (value ^ (value >> 32)).wrapping_mul(UNMIX);
    product ^ (product >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mixed_is_unmixed() {
        for value in [0, 1, 12345, u64::MAX] {
            assert_eq!(unmix(mix(value)), value);
            assert_eq!(mix(unmix(value)), value);
        }
    }
}
