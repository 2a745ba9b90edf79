//! Marks of somebody's data in a file, or on a device without a file system: archives, databases,
//! images of machines, programs, documents.
//!
//! Offsets and values are those of the formats themselves. A mark of fewer than four bytes is confirmed
//! by more fields, so that random data (which our own runs leave behind) is not taken for one.

use std::collections::HashSet;
use std::io;

use super::reading::{Bounded, Mark, ReadAt, u16_at};

/// Marks at a fixed place: name, offset, bytes.
pub(crate) const MARKS: &[Mark] = &[
    ("SQLite database", 0, b"SQLite format 3\0"),
    ("Berkeley DB database", 12, &[0x62, 0x31, 0x05, 0]),
    ("Berkeley DB database", 12, &[0, 0x05, 0x31, 0x62]),
    ("Berkeley DB database", 12, &[0x61, 0x15, 0x06, 0]),
    ("Berkeley DB database", 12, &[0, 0x06, 0x15, 0x61]),
    ("LMDB database", 16, &[0xde, 0xc0, 0xef, 0xbe]),
    ("Access database", 4, b"Standard Jet DB\0"),
    ("Access database", 4, b"Standard ACE DB\0"),
    ("Oracle ASM disk", 32, b"ORCLDISK"),
    ("HDF5 data", 0, b"\x89HDF\r\n\x1a\n"),
    ("Parquet table", 0, b"PAR1"),
    ("Arrow table", 0, b"ARROW1\0\0"),
    ("Avro data", 0, b"Obj\x01"),
    ("git pack", 0, b"PACK\0\0\0\x02"),
    ("tar archive", 257, b"ustar"),
    ("zip archive", 0, b"PK\x03\x04"),
    ("xz data", 0, b"\xfd7zXZ\0"),
    ("Zstandard data", 0, &[0x28, 0xb5, 0x2f, 0xfd]),
    ("LZ4 data", 0, &[0x04, 0x22, 0x4d, 0x18]),
    ("7z archive", 0, b"7z\xbc\xaf\x27\x1c"),
    ("rar archive", 0, b"Rar!\x1a\x07"),
    ("cpio archive", 0, b"070701"),
    ("ar archive", 0, b"!<arch>\n"),
    ("QCOW disk image", 0, b"QFI\xfb"),
    ("VMware disk image", 0, b"KDMV"),
    ("VMware disk image", 0, b"COWD"),
    ("VirtualBox disk image", 0x40, &[0x7f, 0x10, 0xda, 0xbe]),
    ("Hyper-V disk image", 0, b"vhdxfile"),
    ("Virtual PC disk image", 0, b"conectix"),
    ("QEMU enhanced disk image", 0, b"QED\0"),
    ("Windows image", 0, b"MSWIM\0\0\0"),
    ("ELF program", 0, b"\x7fELF"),
    ("PDF document", 0, b"%PDF-"),
    ("Office document", 0, &[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]),
    ("PNG picture", 0, b"\x89PNG\r\n\x1a\n"),
    ("JPEG picture", 0, &[0xff, 0xd8, 0xff, 0xe0, 0, 16]),
    ("JPEG picture", 6, b"Exif\0\0"),
    ("MPEG-4 film", 4, b"ftyp"),
    ("Matroska film", 0, &[0x1a, 0x45, 0xdf, 0xa3]),
];

/// Marks at the end: name, distance of the first byte from the end, bytes.
const LAST_MARKS: &[Mark] = &[
    ("LevelDB table", 8, &[0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb]),
    ("RocksDB table", 8, &[0xf7, 0xcf, 0xf4, 0x85, 0xb7, 0x41, 0xe2, 0x88]),
    ("Parquet table", 4, b"PAR1"),
    ("Virtual PC disk image", 512, b"conectix"),
    ("macOS disk image", 512, b"koly\0\0\0\x04"),
];

/// Length of the start that identifies the formats without a mark.
pub(crate) const HEAD_BYTES: usize = 512;

/// Contents recognised by several fields or by a mark at the end, with their offsets.
pub(crate) fn find<D: ReadAt>(device: &Bounded<'_, D>) -> io::Result<Vec<(&'static str, u64)>> {
    let mut found = Vec::new();
    for &(what, from_end, bytes) in LAST_MARKS {
        let Some(offset) = device.size_bytes.checked_sub(from_end) else { continue };
        if device.has(offset, bytes)? {
            found.push((what, offset));
        }
    }
    let head = device.head::<HEAD_BYTES>()?;
    let kinds = [
        ("gzip data", gzip(&head)),
        ("bzip2 data", bzip2(&head)),
        ("PostgreSQL table", postgres(&head)),
        ("InnoDB table space", innodb(&head)),
    ];
    found.extend(kinds.iter().filter(|(_, is_it)| *is_it).map(|&(what, _)| (what, 0)));
    Ok(found)
}

/// RFC 1952: no reserved flag, and an operating system with an assigned number.
fn gzip(head: &[u8]) -> bool {
    head.starts_with(&[0x1f, 0x8b, 8]) && head[3] & 0xe0 == 0 && matches!(head[9], 0..=13 | 255)
}

fn bzip2(head: &[u8]) -> bool {
    const BLOCK: &[u8] = &[0x31, 0x41, 0x59, 0x26, 0x53, 0x59];
    head.starts_with(b"BZh") && head[3].is_ascii_digit() && head[4..].starts_with(BLOCK)
}

/// A page of 8 KiB, layout version 4, whose pointers are in order (`bufpage.h`).
fn postgres(head: &[u8]) -> bool {
    const PAGE_BYTES: u16 = 8192;
    const HEADER_BYTES: u16 = 24;
    let [flags, lower, upper, special, layout] = [10, 12, 14, 16, 18].map(|at| u16_at(head, at));
    let in_order = HEADER_BYTES <= lower && lower <= upper && upper <= special;
    layout == PAGE_BYTES | 4 && flags <= 7 && in_order && special <= PAGE_BYTES
}

/// Page 0 is the header of the space and names the space twice (`fil0fil.h`, `fsp0fsp.h`).
fn innodb(head: &[u8]) -> bool {
    const SPACE_HEADER: [u8; 2] = [0, 8];
    head[4..8] == [0; 4] && head[24..26] == SPACE_HEADER && head[34..38] == head[38..42]
}

/// Whether a file begins like text written by people: notes, sources, logs, tables, keys.
pub(crate) fn is_text(head: &[u8]) -> bool {
    const CHARACTERS_MIN: usize = 64;
    /// Our own compressible data repeats one.
    const KINDS_MIN: usize = 8;
    let end = head.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let text = match str::from_utf8(&head[..end]) {
        Ok(text) => text,
        // The last character may be cut.
        Err(error) if error.error_len().is_none() => {
            str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    let is_printed = |c: char| !c.is_control() || c.is_ascii_whitespace() || c == '\x1b';
    let kinds: HashSet<char> = text.chars().collect();
    text.len() >= CHARACTERS_MIN && kinds.len() >= KINDS_MIN && text.chars().all(is_printed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rng;

    fn names(file: &Vec<u8>) -> Vec<&'static str> {
        let bounded = Bounded { device: file, size_bytes: file.len() as u64 };
        find(&bounded).unwrap().into_iter().map(|(what, _)| what).collect()
    }

    fn with(writes: &[(usize, &[u8])]) -> Vec<u8> {
        let mut file = vec![0; 8192];
        for (at, bytes) in writes {
            file[*at..at + bytes.len()].copy_from_slice(bytes);
        }
        file
    }

    #[test]
    fn what_several_fields_tell_is_found() {
        let gzip = with(&[(0, &[0x1f, 0x8b, 8, 8]), (9, &[3])]);
        let postgres = with(&[(12, &[40, 0, 0, 31, 0, 32, 4, 32])]);
        let innodb = with(&[(0, &[9]), (24, &[0, 8]), (34, &[0, 0, 0, 7, 0, 0, 0, 7])]);
        assert_eq!(names(&gzip), ["gzip data"]);
        assert_eq!(names(&with(&[(0, b"BZh91AY&SY")])), ["bzip2 data"]);
        assert_eq!(names(&postgres), ["PostgreSQL table"]);
        assert_eq!(names(&innodb), ["InnoDB table space"]);
        for (what, from_end, bytes) in LAST_MARKS {
            let file = with(&[(8192 - *from_end as usize, bytes)]);
            assert_eq!(names(&file), [*what]);
        }
    }

    #[test]
    fn neither_zeros_nor_random_data_are_contents() {
        assert!(names(&vec![0; 8192]).is_empty());
        let mut rng = Rng::new(9);
        for _ in 0..20_000 {
            let head: Vec<u8> = (0..64).flat_map(|_| rng.next_u64().to_le_bytes()).collect();
            assert!(names(&head).is_empty() && !is_text(&head));
        }
    }

    #[test]
    fn text_is_told_from_padding_and_from_our_own_filling() {
        let notes = "Measured on Tuesday, with the door of the cabinet open; see page 12. Größe";
        assert!(is_text(notes.as_bytes()));
        assert!(is_text(&[notes.as_bytes(), &[0; 100]].concat()), "padded");
        assert!(is_text(&notes.as_bytes()[..notes.len() - 2]), "cut inside a character");
        for other in [&b"x"[..], &[0x5a; 512], &[0; 512], &[], &[0xff; 512], &[7; 512]] {
            assert!(!is_text(other), "{other:?}");
        }
    }
}
