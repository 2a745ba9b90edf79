//! Marks of somebody's data on a device or in a file.
//!
//! Reads the places where partition tables, file systems, volume managers and RAID members leave
//! their marks, at both ends of the device. The offsets and values are those of the formats
//! themselves. Two-byte marks are confirmed by a second field, so that random data (which our own
//! runs leave behind) is not mistaken for a file system.

use std::fmt;
use std::io;

use super::contents;
use super::reading::{Bounded, Mark, ReadAt, Shifted, u16_at, u32_at};
use crate::describe::DeviceReport;
use crate::host::sysfs::Device;

/// One recognised mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The format that it marks, e.g. `ext4 file system`.
    pub what: &'static str,
    /// Its offset from the start of the device or of the partition.
    pub offset_bytes: u64,
    /// Node of the partition that has it, or `None` if the offset is from the start of the device.
    pub partition: Option<String>,
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {}", self.what, self.offset_bytes)?;
        if let Some(partition) = &self.partition {
            write!(f, " of {partition}")?;
        }
        f.write_str(")")
    }
}

const MARKS: &[Mark] = &[
    ("XFS file system", 0, b"XFSB"),
    ("btrfs file system", 0x1_0040, b"_BHRfS_M"),
    ("LUKS encrypted volume", 0, b"LUKS\xba\xbe"),
    ("LUKS encrypted volume (second header)", 0x4000, b"SKUL\xba\xbe"),
    ("NTFS file system", 3, b"NTFS    "),
    ("exFAT file system", 3, b"EXFAT   "),
    ("FAT file system", 0x36, b"FAT12   "),
    ("FAT file system", 0x36, b"FAT16   "),
    ("FAT file system", 0x52, b"FAT32   "),
    ("BitLocker encrypted volume", 3, b"-FVE-FS-"),
    ("md RAID member (1.1)", 0, &[0xfc, 0x4e, 0x2b, 0xa9, 1, 0, 0, 0]),
    ("md RAID member (1.2)", 4096, &[0xfc, 0x4e, 0x2b, 0xa9, 1, 0, 0, 0]),
    ("f2fs file system", 1024, &[0x10, 0x20, 0xf5, 0xf2]),
    ("erofs file system", 1024, &[0xe2, 0xe1, 0xf5, 0xe0]),
    ("squashfs file system", 0, b"hsqs"),
    ("ISO 9660 file system", 0x8001, b"CD001"),
    ("UDF file system", 0x8001, b"BEA01"),
    ("JFS file system", 0x8000, b"JFS1"),
    ("ReiserFS file system", 0x1_0034, b"ReIsEr"),
    ("nilfs2 file system", 1024, &[2, 0, 0, 0, 0, 0, 0x34, 0x34]),
    ("APFS container", 32, b"NXSB"),
    ("HFS+ file system", 1024, b"H+\0\x04"),
    ("HFSX file system", 1024, b"HX\0\x05"),
    (
        "bcache member",
        4096 + 24,
        b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81",
    ),
    (
        "bcachefs file system",
        4096 + 24,
        b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef",
    ),
    ("Ceph object store", 0, b"bluestore block device"),
    ("VMware file system", 0x20_0000, &[0x5e, 0xf1, 0xab, 0x2f]),
    ("swap space", 4096 - 10, b"SWAPSPACE2"),
    ("swap space", 8192 - 10, b"SWAPSPACE2"),
    ("swap space", 16384 - 10, b"SWAPSPACE2"),
    ("swap space", 65536 - 10, b"SWAPSPACE2"),
    ("suspended system", 4096 - 10, b"S1SUSPEND"),
];

/// All marks recognised in a partition, read through its disk.
///
/// # Errors
/// If the disk cannot be read.
pub(crate) fn probe_partition(
    disk: &impl ReadAt,
    partition: &Device,
    report: &DeviceReport,
) -> io::Result<Vec<Signature>> {
    let start_bytes = partition.start_bytes();
    let room_bytes = report.capacity_bytes.saturating_sub(start_bytes);
    let size_bytes = partition.size_bytes().min(room_bytes);
    let bytes = Shifted { device: disk, start_bytes };
    let mut found = probe(&bytes, size_bytes, u64::from(report.logical_block_bytes))?;
    for signature in &mut found {
        signature.partition = Some(partition.node().display().to_string());
    }
    Ok(found)
}

const KIB: u64 = 1 << 10;

/// All marks recognised on a device of this size.
///
/// # Errors
/// If the device cannot be read.
pub(crate) fn probe(
    device: &impl ReadAt,
    size_bytes: u64,
    block_bytes: u64,
) -> io::Result<Vec<Signature>> {
    let device = Bounded { device, size_bytes };
    let mut found = Vec::new();
    let mut add = |what: Option<&'static str>, offset_bytes| {
        found.extend(what.map(|what| Signature { what, offset_bytes, partition: None }));
    };
    for &(what, offset_bytes, bytes) in MARKS.iter().chain(contents::MARKS) {
        add(device.has(offset_bytes, bytes)?.then_some(what), offset_bytes);
    }
    for (what, offset_bytes) in contents::find(&device)? {
        add(Some(what), offset_bytes);
    }
    add(ext(&device)?, 1024);
    for sector in 0..4 {
        add(lvm(&device, sector * 512)?, sector * 512);
    }
    for offset in gpt_places(size_bytes, block_bytes) {
        add(device.has(offset, b"EFI PART")?.then_some("GPT partition table"), offset);
    }
    for offset in md_places(size_bytes) {
        add(md(&device, offset)?, offset);
    }
    for offset in zfs_places(size_bytes) {
        add(zfs(&device, offset)?, offset);
    }
    let is_boot_sector = found.iter().any(|s| s.what.contains("FAT") || s.what.contains("NTFS"));
    if !is_boot_sector && mbr(&device)? {
        found.push(Signature { what: "MBR partition table", offset_bytes: 0, partition: None });
    }
    Ok(found)
}

fn ext<D: ReadAt>(device: &Bounded<'_, D>) -> io::Result<Option<&'static str>> {
    const HAS_JOURNAL: u32 = 0x4;
    /// Extents, 64-bit, flexible groups: features of ext4 that ext3 lacks.
    const EXT4_ONLY: u32 = 0x40 | 0x80 | 0x200;
    let Some(block) = device.get(1024, 0x100)? else { return Ok(None) };
    let plausible = u32_at(&block, 0x18) <= 6 && u32_at(&block, 0x4c) <= 1 && u32_at(&block, 0) > 0;
    if u16_at(&block, 0x38) != 0xef53 || !plausible {
        return Ok(None);
    }
    Ok(Some(if u32_at(&block, 0x60) & EXT4_ONLY != 0 {
        "ext4 file system"
    } else if u32_at(&block, 0x5c) & HAS_JOURNAL != 0 {
        "ext3 file system"
    } else {
        "ext2 file system"
    }))
}

fn lvm<D: ReadAt>(device: &Bounded<'_, D>, offset: u64) -> io::Result<Option<&'static str>> {
    let found = device.has(offset, b"LABELONE")? && device.has(offset + 24, b"LVM2 001")?;
    Ok(found.then_some("LVM physical volume"))
}

/// The first header, by either block size, and the copy in the last block.
fn gpt_places(size_bytes: u64, block_bytes: u64) -> Vec<u64> {
    let mut places = vec![512, 4096, size_bytes.saturating_sub(block_bytes)];
    places.push(size_bytes.saturating_sub(512));
    places.sort_unstable();
    places.dedup();
    places
}

/// md 1.0 sits 8 KiB before the end on a 4 KiB boundary, md 0.90 in the last whole 64 KiB.
fn md_places(size_bytes: u64) -> [u64; 2] {
    let v10 = (size_bytes / 512).saturating_sub(16) / 8 * 8 * 512;
    let v090 = (size_bytes / (64 * KIB) * (64 * KIB)).saturating_sub(64 * KIB);
    [v10, v090]
}

fn md<D: ReadAt>(device: &Bounded<'_, D>, offset: u64) -> io::Result<Option<&'static str>> {
    const MAGIC: u32 = 0xa92b_4efc;
    let Some(bytes) = device.get(offset, 8)? else { return Ok(None) };
    // Version 0.90 is written in the byte order of the machine that made it.
    let either = [u32_at(&bytes, 0), u32_at(&bytes, 0).swap_bytes()];
    let at_start = offset == 0;
    Ok((!at_start && either.contains(&MAGIC)).then_some("md RAID member"))
}

/// The four labels: two at the front, two at the end of the last whole 256 KiB.
fn zfs_places(size_bytes: u64) -> [u64; 4] {
    let end = size_bytes / (256 * KIB) * (256 * KIB);
    [0, 256 * KIB, end.saturating_sub(512 * KIB), end.saturating_sub(256 * KIB)]
}

/// A label is recognised by any uberblock in its second half.
fn zfs<D: ReadAt>(device: &Bounded<'_, D>, label: u64) -> io::Result<Option<&'static str>> {
    const MAGIC: u64 = 0x00ba_b10c;
    let Some(ring) = device.get(label + 128 * KIB, 128 << 10)? else { return Ok(None) };
    let found = ring
        .chunks_exact(1024)
        .filter_map(|slot| slot.first_chunk::<8>())
        .any(|magic| u64::from_le_bytes(*magic) == MAGIC || u64::from_be_bytes(*magic) == MAGIC);
    Ok(found.then_some("ZFS pool member"))
}

/// A boot signature alone is not a table: at least one entry must be in use and all must be sane.
fn mbr<D: ReadAt>(device: &Bounded<'_, D>) -> io::Result<bool> {
    let Some(sector) = device.get(0, 512)? else { return Ok(false) };
    let entries = || sector[446..510].chunks_exact(16);
    let sane = entries().all(|entry| entry[0] & 0x7f == 0);
    let used = entries().any(|entry| entry[4] != 0 && u32_at(entry, 12) != 0);
    Ok(u16_at(&sector, 510) == 0xaa55 && sane && used)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rng;

    const SIZE: usize = 4 << 20;

    fn names(device: &Vec<u8>) -> Vec<&'static str> {
        probe(device, device.len() as u64, 512).unwrap().iter().map(|s| s.what).collect()
    }

    fn with(writes: &[(usize, &[u8])]) -> Vec<u8> {
        let mut device = vec![0; SIZE];
        for (at, bytes) in writes {
            device[*at..at + bytes.len()].copy_from_slice(bytes);
        }
        device
    }

    #[test]
    fn an_empty_or_tiny_device_has_none() {
        assert!(names(&vec![0; SIZE]).is_empty());
        for size in [0, 512, 4096, 65536] {
            assert!(names(&vec![0; size]).is_empty(), "{size}");
        }
    }

    #[test]
    fn random_data_is_not_taken_for_a_file_system() {
        let mut rng = Rng::new(5);
        for _ in 0..8 {
            let device: Vec<u8> =
                (0..SIZE / 8).flat_map(|_| rng.next_u64().to_le_bytes()).collect();
            assert!(names(&device).is_empty());
        }
    }

    #[test]
    fn every_fixed_mark_is_found_where_it_belongs() {
        for (what, offset, bytes) in MARKS.iter().chain(contents::MARKS) {
            let device = with(&[(*offset as usize, bytes)]);
            assert!(names(&device).contains(what), "{what}");
        }
    }

    #[test]
    fn the_generations_of_ext_are_told_apart() {
        let ext = |compat: u8, incompat: u8| {
            with(&[
                (1024, &[16]),
                (1024 + 0x38, &[0x53, 0xef]),
                (1024 + 0x5c, &[compat]),
                (1024 + 0x60, &[incompat]),
            ])
        };
        assert_eq!(names(&ext(0, 0)), ["ext2 file system"]);
        assert_eq!(names(&ext(4, 0)), ["ext3 file system"]);
        assert_eq!(names(&ext(4, 0x40)), ["ext4 file system"]);
    }

    #[test]
    fn tables_and_members_at_both_ends_are_found() {
        let magic = 0xa92b_4efc_u32.to_le_bytes();
        let zfs = 0x00ba_b10c_u64.to_be_bytes();
        for (writes, want) in [
            (vec![(512, &b"EFI PART"[..])], "GPT partition table"),
            (vec![(4096, &b"EFI PART"[..])], "GPT partition table"),
            (vec![(SIZE - 512, &b"EFI PART"[..])], "GPT partition table"),
            (vec![(512, &b"LABELONE"[..]), (536, &b"LVM2 001"[..])], "LVM physical volume"),
            (vec![(SIZE - 65536, &magic[..])], "md RAID member"),
            (vec![(SIZE - 8192, &magic[..])], "md RAID member"),
            (vec![((128 << 10) + 3072, &zfs[..])], "ZFS pool member"),
            (vec![(SIZE - (128 << 10), &zfs[..])], "ZFS pool member"),
            (
                vec![(450, &[0x83][..]), (458, &[1][..]), (510, &[0x55, 0xaa][..])],
                "MBR partition table",
            ),
        ] {
            assert_eq!(names(&with(&writes)), [want]);
        }
    }

    #[test]
    fn a_fat_boot_sector_is_not_also_a_partition_table() {
        let device =
            with(&[(0x52, &b"FAT32   "[..]), (450, &[0x0c]), (458, &[1]), (510, &[0x55, 0xaa])]);
        assert_eq!(names(&device), ["FAT file system"]);
    }
}
