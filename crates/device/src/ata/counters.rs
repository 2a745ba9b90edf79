//! Writes of the host and of the NAND among the SMART attributes whose meaning the vendor defines.
//!
//! Source of numbers and units: `drivedb.h` of smartmontools, by model. Micron counts pages: its technical note TN-FD-23
//! gives the write amplification as (247 + 248) / 247. The same number means something else on other drives, so that a
//! model in no row has no counters here.

use super::smart::Attribute;

const GIB: u64 = 1 << 30;
const MIB_32: u64 = 32 << 20;
const SECTOR: u64 = 512;

/// The counters of a family of drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counters {
    /// Bytes in units: attribute and unit of the host's, then of each of the NAND's that a drive may have.
    Units { host: (u8, u64), nand: &'static [(u8, u64)], adds_up: bool },
    /// Pages programmed for the host (247) and by the drive for itself (248), and sectors of the host (246).
    Pages,
}

/// Beginnings of model names with their counters.
const FAMILIES: [(&[&str], Counters); 5] = [
    (&["Crucial_CT", "Micron", "MICRON", "MTFDDA", "EEFDDA", "M510", "M550"], Counters::Pages),
    // S3510, S3520, S3610, S3710, S4x00 have 243, earlier ones and the client drives 249.
    (
        &["INTEL SSDSC"],
        Counters::Units { host: (241, MIB_32), nand: &[(243, MIB_32), (249, GIB)], adds_up: false },
    ),
    (
        &[
            "SanDisk SD5SG2",
            "SanDisk SD6S",
            "SanDisk SD7S",
            "SanDisk SD8S",
            "SanDisk SD9S",
            "SanDisk SDSSDA-",
            "SanDisk SDSSDH",
            "SanDisk SDSSDXP",
            "SanDisk Ultra II",
            "SanDisk SSD G5",
            "SanDisk SSD PLUS",
        ],
        Counters::Units { host: (241, GIB), nand: &[(233, GIB)], adds_up: false },
    ),
    // TLC and SLC apart.
    (
        &["WDC WDS", "WDC  WDS", "WDC WDBNCE"],
        Counters::Units { host: (241, GIB), nand: &[(233, GIB), (234, GIB)], adds_up: true },
    ),
    // Drives with a controller of Phison.
    (
        &["KINGSTON SEDC", "KINGSTON SKC310", "KINGSTON SKC400", "KINGSTON SHSS"],
        Counters::Units { host: (241, GIB), nand: &[(233, GIB)], adds_up: false },
    ),
];

/// Crucial's later drives have no name before the number; BX100 and BX200 count otherwise.
const CRUCIAL: [&str; 3] = ["MX", "BX300", "BX500"];

/// The vendor's counters, since the drive was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// Bytes.
    Bytes {
        /// Written by the host.
        host: u64,
        /// Programmed into NAND.
        nand: u64,
    },
    /// Pages of a size that the drive does not tell.
    Pages {
        /// Bytes written by the host, or `None` if the drive counts them nowhere here.
        host_bytes: Option<u64>,
        /// Pages programmed for the host.
        host: u64,
        /// All pages programmed.
        all: u64,
    },
}

/// The counters of a drive of this model, or `None` if it has none that are known.
pub fn written(model: &str, attributes: &[Attribute]) -> Option<Written> {
    let raw = |id| attributes.iter().find(|line| line.id == id).map(|line| line.raw);
    match counters_of(model)? {
        Counters::Pages => {
            let (host, own) = (raw(247)?, raw(248)?);
            let host_bytes = raw(246).map(|sectors| sectors.saturating_mul(SECTOR));
            Some(Written::Pages { host_bytes, host, all: host.saturating_add(own) })
        }
        Counters::Units { host, nand, adds_up } => {
            let bytes = |(id, unit): (u8, u64)| raw(id).map(|count| count.saturating_mul(unit));
            let known: Vec<u64> = nand.iter().filter_map(|counter| bytes(*counter)).collect();
            let nand = match known.as_slice() {
                [one] => *one,
                // Two counters that do not add up are those of two families.
                several if adds_up && !several.is_empty() => {
                    several.iter().fold(0_u64, |sum, more| sum.saturating_add(*more))
                }
                _ => return None,
            };
            Some(Written::Bytes { host: bytes(host)?, nand })
        }
    }
}

fn counters_of(model: &str) -> Option<Counters> {
    let begins = |names: &[&str]| names.iter().any(|name| model.starts_with(name));
    if model.starts_with("CT") && CRUCIAL.iter().any(|series| model.contains(series)) {
        return Some(Counters::Pages);
    }
    FAMILIES.iter().find(|(names, _)| begins(names)).map(|(_, counters)| *counters)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(model: &str, lines: &[(u8, u64)]) -> Option<Written> {
        let line = |&(id, raw): &(u8, u64)| Attribute { id, value: 100, worst: 100, raw };
        written(model, &lines.iter().map(line).collect::<Vec<_>>())
    }

    #[test]
    fn a_number_means_what_the_vendor_says() {
        let bytes = |host, nand| Some(Written::Bytes { host, nand });
        let intel = |lines: &[(u8, u64)]| of("INTEL SSDSC2KB480G8", lines);
        assert_eq!(intel(&[(241, 10), (243, 30)]), bytes(10 * MIB_32, 30 * MIB_32));
        assert_eq!(intel(&[(241, 64), (249, 3)]), bytes(2 * GIB, 3 * GIB));
        assert_eq!(intel(&[(241, 64), (243, 1), (249, 3)]), None, "nobody knows which one counts");
        let lines = [(233, 5), (234, 2), (241, 4)];
        assert_eq!(of("WDC  WDS500G2B0A-00SM50", &lines), bytes(4 * GIB, 7 * GIB));
        assert_eq!(of("SanDisk SDSSDXP480G", &lines), bytes(4 * GIB, 5 * GIB));
        assert_eq!(of("KINGSTON SEDC500M960G", &lines), bytes(4 * GIB, 5 * GIB));
        let pages = Some(Written::Pages { host_bytes: Some(100 * SECTOR), host: 40, all: 70 });
        for model in ["CT500MX500SSD1", "Crucial_CT240M500SSD1", "Micron_5300_MTFDDAK960TDS"] {
            assert_eq!(of(model, &[(246, 100), (247, 40), (248, 30)]), pages, "{model}");
        }
    }

    #[test]
    fn other_drives_have_no_counters() {
        let lines: Vec<_> = (230..=250).map(|id| (id, 7)).collect();
        for model in [
            "Samsung SSD 860 PRO 1TB",
            "CT250BX100SSD1",
            "SanDisk SDSSDX120GG25",
            "QEMU HARDDISK",
            "",
        ] {
            assert_eq!(of(model, &lines), None, "{model}");
        }
        assert_eq!(of("CT500MX500SSD1", &[(246, 100), (247, 40)]), None, "half of the counters");
    }
}
