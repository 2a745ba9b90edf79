//! The answer of a drive to IDENTIFY DEVICE.

use base::bytes::{text, u16_at};

/// Answer to IDENTIFY DEVICE, as far as ssdlab uses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentifyDevice {
    /// Serial number.
    pub serial: String,
    /// Model number.
    pub model: String,
    /// Firmware revision.
    pub firmware: String,
    /// Addressable blocks.
    pub blocks: u64,
    /// Size of a block.
    pub logical_block_bytes: u32,
    /// Whether it reports that nothing in it turns.
    pub solid_state: bool,
    /// Whether it has DATA SET MANAGEMENT with TRIM.
    pub trim: bool,
    /// Whether SMART is supported and switched on.
    pub smart: bool,
    /// Speed of the link in force in Mbit/s, or `None` if not reported.
    pub link_mbit_per_s: Option<u32>,
    /// The security feature set.
    pub security: Security,
}

/// State of the security feature set (word 128).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Security {
    /// Whether the drive has it.
    pub supported: bool,
    /// Whether a user password is set.
    pub enabled: bool,
    /// Whether data are out of reach until the password is given.
    pub locked: bool,
    /// Whether security commands are refused until the next power-on.
    pub frozen: bool,
    /// Whether there were too many wrong passwords since power-on.
    pub exhausted: bool,
    /// The drive's estimate of an erase, or `None` if not reported.
    pub erase_min: Option<u32>,
}

impl IdentifyDevice {
    /// Decodes the 512 bytes. Missing bytes count as zero.
    pub fn decode(bytes: &[u8]) -> Self {
        let word = |index: usize| u16_at(bytes, index * 2);
        let bit = |index, bit: u32| word(index) & 1 << bit != 0;
        Self {
            serial: swapped_text(bytes, 10, 19),
            model: swapped_text(bytes, 27, 46),
            firmware: swapped_text(bytes, 23, 26),
            blocks: blocks(bytes),
            logical_block_bytes: logical_block_bytes(bytes),
            solid_state: word(217) == 1,
            trim: bit(169, 0),
            smart: bit(82, 0) && bit(85, 0),
            link_mbit_per_s: link_mbit_per_s(word(77) >> 1 & 0x07),
            security: Security {
                supported: bit(82, 1) && bit(128, 0),
                enabled: bit(128, 1),
                locked: bit(128, 2),
                frozen: bit(128, 3),
                exhausted: bit(128, 4),
                erase_min: erase_min(word(89)),
            },
        }
    }
}

/// Text in words, the first character in the upper half of each.
fn swapped_text(bytes: &[u8], first: usize, last: usize) -> String {
    let words = (first..=last).map(|word| u16_at(bytes, word * 2));
    text(&words.flat_map(u16::to_be_bytes).collect::<Vec<u8>>())
}

fn blocks(bytes: &[u8]) -> u64 {
    let number = |words: [usize; 4]| {
        words.iter().rev().fold(0, |number, word| number << 16 | u64::from(u16_at(bytes, word * 2)))
    };
    let has_48_bits = u16_at(bytes, 83 * 2) & 1 << 10 != 0;
    // Words 60 and 61 hold the 28-bit number.
    if has_48_bits { number([100, 101, 102, 103]) } else { number([60, 61, 60, 61]) & 0xfff_ffff }
}

/// 512 unless word 106 is valid and says that words 117 and 118 hold the size, in words.
fn logical_block_bytes(bytes: &[u8]) -> u32 {
    let word = |index: usize| u16_at(bytes, index * 2);
    let is_long = word(106) & 0xc000 == 0x4000 && word(106) & 1 << 12 != 0;
    let words = u32::from(word(118)) << 16 | u32::from(word(117));
    if is_long { words.saturating_mul(2).max(512) } else { 512 }
}

const fn link_mbit_per_s(generation: u16) -> Option<u32> {
    match generation {
        1 => Some(1500),
        2 => Some(3000),
        3 => Some(6000),
        _ => None,
    }
}

/// Word 89 counts in units of two minutes; the full field means a longer time than it can express.
const fn erase_min(word: u16) -> Option<u32> {
    let (units, longest) =
        if word & 1 << 15 != 0 { (word & 0x7fff, 0x7fff) } else { (word & 0xff, 0xff) };
    if units == 0 || units == longest { None } else { Some(units as u32 * 2) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn answer(words: &[(usize, u16)]) -> Vec<u8> {
        let mut bytes = vec![0; 512];
        for &(index, word) in words {
            bytes[index * 2..index * 2 + 2].copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn the_security_word_is_read_bit_by_bit() {
        let bytes = answer(&[(82, 0b10), (128, 0b1_1111), (89, 3)]);
        let security = IdentifyDevice::decode(&bytes).security;
        let Security { supported, enabled, locked, frozen, exhausted, erase_min } = security;
        assert!(supported && enabled && locked && frozen && exhausted);
        assert_eq!(erase_min, Some(6));
        assert!(!IdentifyDevice::decode(&answer(&[(82, 0b10)])).security.supported);
    }

    #[test]
    fn the_time_of_an_erase_is_told_in_two_forms() {
        assert_eq!(erase_min(0), None);
        assert_eq!(erase_min(0xff), None, "longer than 508 minutes");
        assert_eq!(erase_min(0x8000 | 1000), Some(2000));
    }

    #[test]
    fn large_and_small_drives_tell_their_size_in_different_words() {
        let small = answer(&[(60, 0x1234), (61, 0x0001)]);
        assert_eq!(IdentifyDevice::decode(&small).blocks, 0x1_1234);
        let large = answer(&[(83, 1 << 10), (100, 5), (102, 1), (60, 7)]);
        assert_eq!(IdentifyDevice::decode(&large).blocks, 1 << 32 | 5);
        let native = answer(&[(106, 0x5000), (117, 2048)]);
        assert_eq!(IdentifyDevice::decode(&native).logical_block_bytes, 4096);
    }

    proptest! {
        #[test]
        fn no_answer_panics(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            let _ = IdentifyDevice::decode(&bytes);
        }
    }
}
