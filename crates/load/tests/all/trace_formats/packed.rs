//! Files packed with gzip, in any format.

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
