//! Health of a SATA drive: the vendor's attributes and the standard's statistics.

use base::bytes::{array, u8_at, u16_at};

/// One line of SMART READ DATA. The vendor defines the meaning of the raw value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Number of the attribute, e.g. 194.
    pub id: u8,
    /// Normalised value: 100, 200 or 253 when new, falling.
    pub value: u8,
    /// The lowest value it ever had.
    pub worst: u8,
    /// Raw value, 48 bits.
    pub raw: u64,
}

impl Attribute {
    /// Degrees Celsius: all vendors keep them in the lowest byte of 194 (or 190).
    pub fn temperature_c(attributes: &[Self]) -> Option<i32> {
        let find = |id| attributes.iter().find(|attribute| attribute.id == id);
        let degrees = find(194).or_else(|| find(190))?.raw as u8;
        Some(i32::from(degrees.cast_signed()))
    }
}

/// The attributes in the 512 bytes of SMART READ DATA; unused lines have number 0.
pub fn attributes(bytes: &[u8]) -> Vec<Attribute> {
    const LINES: usize = 30;
    const LINE_BYTES: usize = 12;
    let lines = bytes.get(2..).unwrap_or_default().chunks_exact(LINE_BYTES).take(LINES);
    let attribute = |line: &[u8]| Attribute {
        id: u8_at(line, 0),
        value: u8_at(line, 3),
        worst: u8_at(line, 4),
        raw: number(&array::<6>(line, 5)),
    };
    lines.map(attribute).filter(|attribute| attribute.id != 0).collect()
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(array(bytes, 0))
}

/// The Device Statistics log (04h) of ACS-3, as far as ssdlab uses it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Times it was switched on.
    pub power_cycles: Option<u64>,
    /// Hours switched on.
    pub power_on_hours: Option<u64>,
    /// Blocks written by the host.
    pub written_blocks: Option<u64>,
    /// Blocks read by the host.
    pub read_blocks: Option<u64>,
    /// Degrees Celsius now.
    pub temperature_c: Option<i32>,
    /// Minutes above the drive's own limit.
    pub over_temperature_min: Option<u64>,
    /// Estimate of the life used, in percent; may exceed 100.
    pub percentage_used: Option<u8>,
}

/// The pages that page 0 of the log lists.
pub fn pages(bytes: &[u8]) -> Vec<u8> {
    let count = usize::from(u8_at(bytes, 8));
    let list = bytes.get(9..).unwrap_or_default();
    list[..count.min(list.len())].to_vec()
}

impl Statistics {
    /// General, Temperature and Solid State Device statistics.
    pub const PAGES: [u8; 3] = [1, 5, 7];

    /// Adds the statistics of one page.
    pub fn add(&mut self, page: &[u8]) {
        let value = |at| statistic(page, at);
        match u8_at(page, 2) {
            1 if is_page(page) => {
                self.power_cycles = value(8);
                self.power_on_hours = value(16);
                self.written_blocks = value(24);
                self.read_blocks = value(40);
            }
            5 if is_page(page) => {
                self.temperature_c =
                    value(8).map(|degrees| i32::from((degrees as u8).cast_signed()));
                self.over_temperature_min = value(80);
            }
            7 if is_page(page) => self.percentage_used = value(8).map(|percent| percent as u8),
            _ => {}
        }
    }
}

/// A page states the revision of the log it follows; zeros are no page.
fn is_page(page: &[u8]) -> bool {
    u16_at(page, 0) != 0
}

/// A statistic that the drive supports and marks as valid: 48 bits below one byte of flags.
fn statistic(page: &[u8], at: usize) -> Option<u64> {
    const SUPPORTED_AND_VALID: u8 = 0xc0;
    let vouched = u8_at(page, at + 7) & SUPPORTED_AND_VALID == SUPPORTED_AND_VALID;
    vouched.then(|| number(&array::<6>(page, at)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn page(number: u8, values: &[(usize, u64, u8)]) -> Vec<u8> {
        let mut bytes = vec![0; 512];
        bytes[0] = 1;
        bytes[2] = number;
        for &(at, value, flags) in values {
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
            bytes[at + 7] = flags;
        }
        bytes
    }

    #[test]
    fn a_statistic_counts_only_where_the_drive_vouches_for_it() {
        let mut statistics = Statistics::default();
        statistics.add(&page(1, &[(16, 1234, 0xc0), (24, 1 << 40, 0xc0), (40, 7, 0x80)]));
        statistics.add(&page(5, &[(8, 0xf6, 0xc0), (80, 3, 0xc0)]));
        statistics.add(&page(7, &[(8, 101, 0xc8)]));
        assert_eq!(statistics.power_on_hours, Some(1234));
        assert_eq!(statistics.written_blocks, Some(1 << 40));
        assert_eq!(statistics.read_blocks, None, "not valid");
        assert_eq!(
            (statistics.temperature_c, statistics.over_temperature_min),
            (Some(-10), Some(3))
        );
        assert_eq!(statistics.percentage_used, Some(101));
    }

    #[test]
    fn pages_are_listed_as_far_as_there_are_bytes() {
        let mut bytes = page(0, &[]);
        bytes[8..13].copy_from_slice(&[4, 0, 1, 5, 7]);
        assert_eq!(pages(&bytes), [0, 1, 5, 7]);
        assert_eq!(pages(&[0, 0, 0, 0, 0, 0, 0, 0, 200, 1]), [1]);
    }

    #[test]
    fn temperature_is_one_byte_among_the_vendors_own() {
        let attribute = |id, raw| Attribute { id, value: 100, worst: 100, raw };
        let both = [attribute(190, 0x20), attribute(194, 0x0014_0037_0000_001f)];
        assert_eq!(Attribute::temperature_c(&both), Some(31));
        assert_eq!(Attribute::temperature_c(&both[..1]), Some(32));
        assert_eq!(Attribute::temperature_c(&[]), None);
    }

    proptest! {
        #[test]
        fn no_answer_panics(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            let _ = attributes(&bytes);
            let _ = pages(&bytes);
            Statistics::default().add(&bytes);
        }
    }
}
