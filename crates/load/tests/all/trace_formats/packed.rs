//! Files packed with gzip, zstd or xz, and archives of tar, in any format.

use base::OpKind;
use load::trace::store::TraceWriter;
use load::trace::{ImportOptions, Record, TraceInfo, import};

use super::vscsi::vscsi;
use super::{all, file_with, fixture, imported};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, bytes).unwrap();
    packed.finish().unwrap()
}

#[test]
fn every_format_is_read_packed_as_it_is_read_plain() {
    let blktrace = std::fs::read(fixture("sample.blktrace.0")).unwrap();
    let blkparse = std::fs::read(fixture("sample.blkparse.txt")).unwrap();
    let vscsi = vscsi(2, &[(0x28, 512, 1, 1, 0); 3]);
    let alibaba = b"1,R,0,4096,5\n2,W,4096,512,6\n".to_vec();
    for (bytes, name) in [
        (blktrace, "sda.blktrace.0"),
        (blkparse, "sda.txt"),
        (vscsi, "w01.vscsitrace"),
        (alibaba, "a.csv"),
    ] {
        let packed = imported(&gzip(&bytes), &format!("{name}.gz"));
        assert!(packed == imported(&bytes, name), "{name}");
        // Files of several members are one file: `cat 2016022219-LUN0.csv.gz 2016022220-LUN0.csv.gz`.
        let half = bytes.len() / 2;
        let members = [gzip(&bytes[..half]), gzip(&bytes[half..])].concat();
        assert!(imported(&members, "x.gz") == packed, "{name}");
    }
}

#[test]
fn damaged_or_unseekable_gzip_is_told() {
    let text: String =
        (0..50_000).map(|i| format!("1,R,{},4096,{i}\n", i * 7919 % 1000 * 4096)).collect();
    let packed = gzip(text.as_bytes());
    let (_dir, path) = file_with(&packed[..packed.len() - 9], "x.gz");
    let mut source = import(&path, &ImportOptions::default()).unwrap();
    let error = all(&mut source).unwrap_err();
    let told = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
    assert!(format!("{error} {told}").contains("its gzip data is damaged or cut off"), "{error}");
    let mut writer = TraceWriter::new(Vec::new(), "memory").unwrap();
    writer.push(&Record::new(0, OpKind::Read, 0, 512)).unwrap();
    let trace = writer.finish(&TraceInfo::default()).unwrap().0;
    let (_dir, path) = file_with(&gzip(&trace), "x.gz");
    let error = import(&path, &ImportOptions::default()).err().unwrap().to_string();
    assert!(error.contains("is not packed") && error.contains("gunzip"), "{error}");
}

const PLAIN: &[u8] = b"1,R,0,4096,5\n2,W,4096,512,6\n1,W,8192,4096,9\n";

#[test]
fn zstd_and_xz_in_several_parts_are_read_as_plain_text() {
    let plain = imported(PLAIN, "a.csv");
    assert_eq!(plain.0.len(), 3);
    for name in ["two-frames.alibaba.csv.zst", "two-streams.alibaba.csv.xz"] {
        let packed = std::fs::read(fixture(name)).unwrap();
        assert!(imported(&packed, "a") == plain, "{name}");
        let refused = |bytes: &[u8]| {
            let (_dir, path) = file_with(bytes, "a");
            let records = import(&path, &ImportOptions::default()).and_then(|mut s| all(&mut s));
            let error = records.unwrap_err();
            let source = std::error::Error::source(&error).map(ToString::to_string);
            format!("{error} {}", source.unwrap_or_default())
        };
        let cut = refused(&packed[..packed.len() - 9]);
        assert!(cut.contains("damaged or cut off"), "{name}: {cut}");
        let mut damaged = packed.clone();
        damaged[20] ^= 0x10;
        let damaged = refused(&damaged);
        assert!(damaged.contains("data is damaged or cut off"), "{name}: {damaged}");
    }
}

/// A frame that states a window of 2 GiB, and a block header of xz with a dictionary of 4 GiB.
#[test]
fn packed_files_that_need_much_memory_are_refused() {
    let zstd = [&[0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0x01, 0x00, 0x00][..], &[0; 64]].concat();
    let xz = fixture("two-streams.alibaba.csv.xz");
    let mut xz = std::fs::read(xz).unwrap();
    // Size of the header, flags, filter LZMA2 with one property byte, padding, its sum.
    xz[16] = 40;
    let sum = crc32(&xz[12..20]);
    xz[20..24].copy_from_slice(&sum.to_le_bytes());
    for bytes in [zstd, xz] {
        let (_dir, path) = file_with(&bytes, "a");
        let error = import(&path, &ImportOptions::default()).err().unwrap();
        let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        assert!(format!("{error} {source}").contains("needs too much memory"), "{error} {source}");
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut sum = flate2::Crc::new();
    sum.update(bytes);
    sum.sum()
}

/// A member of an archive; `kind` is `0` for a regular file.
fn member(name: &str, kind: u8, content: &[u8]) -> Vec<u8> {
    let mut header = [0; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
    header[156] = kind;
    header[257..262].copy_from_slice(b"ustar");
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..154].copy_from_slice(format!("{sum:06o}").as_bytes());
    header[154] = 0;
    let padding = content.len().next_multiple_of(512) - content.len();
    [&header[..], content, &vec![0; padding]].concat()
}

#[test]
fn members_of_an_archive_are_one_file_with_each_first_line() {
    let (plain, end) = (imported(PLAIN, "a.csv"), vec![0; 1024]);
    let archive = [
        member("set/", b'5', b""),
        member("set/PaxHeader", b'x', b"30 mtime=1350244992.023960108\n"),
        member("set/a.csv", b'0', &PLAIN[..13]),
        // Its last line has no end.
        member("set/b.csv", b'0', &PLAIN[13..27]),
        member("set/empty", b'0', b""),
        member("set/c.csv", 0, &PLAIN[28..]),
        end.clone(),
    ]
    .concat();
    assert!(imported(&archive, "a.tar") == plain);
    assert!(imported(&gzip(&archive), "a.tar.gz") == plain);
    // Binary records are put together without ends of lines.
    let (first, second) = (vscsi(2, &[(0x28, 512, 1, 1, 0); 3]), vscsi(2, &[(0x28, 512, 2, 9, 0)]));
    let archive = [member("a", b'0', &first), member("b", b'0', &second), end].concat();
    let (records, problems) = imported(&archive, "a.tar");
    assert_eq!((records.len(), problems.bad_lines), (4, 0));
    let (_dir, path) = file_with(&archive[..512 + 100], "a.tar");
    let error = import(&path, &ImportOptions::default()).err().unwrap();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("the tar archive is cut off"), "{source}");
}
