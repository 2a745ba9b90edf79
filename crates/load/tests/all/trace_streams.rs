//! Volumes with their own addresses: listed, selected, laid side by side or on top of each other.

use std::fs::File;
use std::path::{Path, PathBuf};

use load::trace::store::{TraceReader, TraceWriter};
use load::trace::streams::{VOLUME_ALIGN_BYTES, Volume};
use load::trace::{
    Addresses, ImportOptions, Layout, Record, Source, StreamSet, TraceError, TraceInfo, open,
};

/// Three volumes of the Tencent set: (number, sector) of I/Os of 4 KiB.
const IOS: [(u32, u64); 6] = [(9, 0), (1063, 0), (9, 2400), (12, 80), (1063, 8), (9, 0)];

fn file(dir: &Path) -> PathBuf {
    let line = |(i, (volume, sector))| format!("{},{sector},8,1,{volume}\n", 1_538_323_200 + i);
    let path = dir.join("cbs.csv");
    std::fs::write(&path, (0_u64..).zip(IOS).map(line).collect::<String>()).unwrap();
    path
}

fn all(source: &mut dyn Source) -> Result<Vec<Record>, TraceError> {
    let mut records = Vec::new();
    while let Some(record) = source.next_record()? {
        records.push(record);
    }
    Ok(records)
}

fn options(streams: &[u32], layout: Layout) -> ImportOptions {
    let streams: StreamSet = streams.iter().copied().collect();
    ImportOptions { streams, layout, ..ImportOptions::default() }
}

/// (stream, offset) of every record, and the description at the end.
fn opened(path: &Path, streams: &[u32], layout: Layout) -> (Vec<(u32, u64)>, TraceInfo) {
    let mut source = open(path.to_str().unwrap(), &options(streams, layout)).unwrap();
    let records = all(&mut source).unwrap();
    (records.iter().map(|r| (r.stream, r.offset)).collect(), source.info())
}

fn stored(path: &Path, layout: Layout) -> PathBuf {
    let mut source = open(path.to_str().unwrap(), &options(&[], layout)).unwrap();
    let out = path.with_extension("trace.parquet");
    let mut writer = TraceWriter::new(File::create(&out).unwrap(), "x").unwrap();
    all(&mut source).unwrap().iter().for_each(|record| writer.push(record).unwrap());
    writer.finish(&source.info()).unwrap();
    out
}

const MIB: u64 = 1 << 20;

/// The places of the I/Os when 9 (2400 sectors and an I/O: 2 MiB), 12 and 1063 follow each other.
fn side_by_side() -> Vec<(u32, u64)> {
    let first = |volume| match volume {
        9 => 0,
        12 => 2 * MIB,
        _ => 3 * MIB,
    };
    IOS.map(|(volume, sector)| (volume, first(volume) + sector * 512)).to_vec()
}

#[test]
fn volumes_lie_side_by_side_from_a_text_and_from_a_stored_trace() {
    assert_eq!(VOLUME_ALIGN_BYTES, MIB);
    let dir = tempfile::tempdir().unwrap();
    let text = file(dir.path());
    let trace = stored(&text, Layout::Apart);
    for path in [&text, &trace] {
        let (places, info) = opened(path, &[], Layout::SideBySide);
        assert_eq!(places, side_by_side(), "{path:?}");
        assert_eq!(info.addresses, Addresses::SideBySide);
        let volume = |stream, ios, end_bytes, first_byte| Volume {
            stream,
            ios,
            bytes: ios * 4096,
            end_bytes,
            first_byte,
        };
        let expected = [
            volume(9, 3, 2408 * 512, 0),
            volume(12, 1, 88 * 512, 2 * MIB),
            volume(1063, 2, 16 * 512, 3 * MIB),
        ];
        assert_eq!(info.volumes, expected);
        assert_eq!(info.span_bytes, Some(3 * MIB + 8192));
    }
}

#[test]
fn a_stored_trace_keeps_the_addresses_of_each_volume_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let trace = stored(&file(dir.path()), Layout::Apart);
    let mut reader = TraceReader::new(File::open(&trace).unwrap(), "x").unwrap();
    let offsets: Vec<_> = all(&mut reader).unwrap().iter().map(|r| r.offset / 512).collect();
    assert_eq!(offsets, IOS.map(|(_, sector)| sector));
    assert_eq!(reader.info().addresses, Addresses::OfEach);
    assert_eq!(reader.info().epoch_ns, 1_538_323_200_000_000_000);
}

#[test]
fn one_or_several_volumes_are_chosen_and_moved_together() {
    let dir = tempfile::tempdir().unwrap();
    let text = file(dir.path());
    let trace = stored(&text, Layout::Apart);
    for path in [&text, &trace] {
        let (places, _) = opened(path, &[1063], Layout::SideBySide);
        assert_eq!(places, [(1063, 0), (1063, 4096)]);
        let (places, info) = opened(path, &[12, 1063], Layout::SideBySide);
        assert_eq!(places, [(1063, MIB), (12, 80 * 512), (1063, MIB + 4096)]);
        assert_eq!(info.volumes.len(), 2);
    }
}

#[test]
fn volumes_lie_on_top_of_each_other_only_when_asked() {
    let dir = tempfile::tempdir().unwrap();
    let text = file(dir.path());
    let trace = stored(&text, Layout::Apart);
    let expected = IOS.map(|(volume, sector)| (volume, sector * 512));
    for path in [&text, &trace] {
        let (places, info) = opened(path, &[], Layout::Overlay);
        assert_eq!(places, expected);
        assert_eq!(info.addresses, Addresses::Overlaid);
    }
    // Stored so, there is no way back.
    let (places, info) = opened(&stored(&text, Layout::Overlay), &[], Layout::SideBySide);
    assert_eq!(places, expected);
    assert_eq!((info.addresses, info.span_bytes), (Addresses::Overlaid, Some(2408 * 512)));
}

#[test]
fn processes_share_their_addresses() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fiu.txt");
    std::fs::write(&path, "10 1 a 8 8 W 6 0 x\n20 2 b 8 8 R 6 0 x\n").unwrap();
    let (places, info) = opened(&path, &[], Layout::SideBySide);
    assert_eq!(places, [(1, 4096), (2, 4096)]);
    assert_eq!(info.addresses, Addresses::Shared);
}

/// A list of volumes that contradicts the records is damage, not a crash or a wrong place.
#[test]
fn a_list_of_volumes_that_is_wrong_is_damage() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.trace.parquet");
    let mut writer = TraceWriter::new(Vec::new(), "x").unwrap();
    let record = Record { stream: 7, ..Record::new(0, base::OpKind::Read, 8192, 4096) };
    writer.push(&record).unwrap();
    let info = TraceInfo { addresses: Addresses::OfEach, ..TraceInfo::default() };
    let bytes = writer.finish(&info).unwrap().0;
    let change = |from: &str, to: &str| {
        let (from, to) = (from.as_bytes(), to.as_bytes());
        let mut bytes = bytes.clone();
        let at = bytes.windows(from.len()).position(|window| window == from).unwrap();
        bytes[at..at + to.len()].copy_from_slice(to);
        std::fs::write(&path, bytes).unwrap();
        let mut source = open(path.to_str().unwrap(), &ImportOptions::default()).unwrap();
        all(&mut source).unwrap_err().to_string()
    };
    for (from, to) in
        [("\"end_bytes\":12288", "\"end_bytes\":12287"), ("\"stream\":7", "\"stream\":8")]
    {
        let error = change(from, to);
        assert!(
            error.contains("of stream 7 lies outside what its list of volumes says"),
            "{error}"
        );
    }
}

#[test]
fn volumes_too_large_or_too_many_for_one_space_are_refused_with_the_way_out() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.csv");
    let message = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let opened = open(path.to_str().unwrap(), &ImportOptions::default());
        opened.err().map(|error| error.to_string()).unwrap_or_default()
    };
    let high = |second: u32| {
        format!("1,R,{},4096,1\n{second},R,{},4096,2\n", 1_u64 << 62, (1_u64 << 62) + (1 << 61))
    };
    assert_eq!(message(&high(1)), "", "one volume may be large");
    let error = message(&high(2));
    assert!(
        error.contains("more than 2^63 bytes side by side") && error.contains("--stream"),
        "{error}"
    );
    let many: String = (0..70_000).map(|volume| format!("{volume},R,0,4096,{volume}\n")).collect();
    let error = message(&many);
    assert!(
        error.contains("more than 65536 streams") && error.contains("--streams overlay"),
        "{error}"
    );
}
