//! A damaged run directory is refused, or reads as it was written.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::common::{add_phase, load_rows, phase, run_named, without_checksums};
use base::{Completion, Data, Nanos, Op, OpKind, Status};
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use result::rows::PhaseRows;
use result::schema::{Run, RunStatus};
use result::store::ios::{IOS_FILE, IosChoice, IosPhase, IosWriter, NO_JOB, WhenFull};
use result::store::{LATENCY_FILE, RUN_FILE, RunDir, RunWriter, SERIES_FILE, StoreError};

/// A run of a fill, a purge without rows, and a load.
fn write_example(library: &Path) -> PathBuf {
    let mut run = run_named("r");
    let mut writer = RunWriter::create(library, &run).unwrap();
    add_phase(&mut writer, &mut run, "fill", &short(3));
    run.phases.push(phase("purge", &PhaseRows::default()));
    add_phase(&mut writer, &mut run, "load", &short(5));
    run.status = RunStatus::Complete;
    run.metrics.insert("iops_mean".to_owned(), Some(131.5));
    writer.finish(&run).unwrap();
    writer.path().to_owned()
}

/// A load with few bins, so that the files are small.
fn short(seconds: u32) -> PhaseRows {
    let mut rows = load_rows(seconds, 2);
    rows.latencies.truncate(20);
    rows
}

/// All data that a reader can request.
fn read_all(dir: &Path) -> Result<(Run, Vec<PhaseRows>), StoreError> {
    let dir = RunDir::open(dir)?;
    let rows =
        (0..dir.run().phases.len()).map(|index| dir.rows(index)).collect::<Result<_, _>>()?;
    Ok((dir.run().clone(), rows))
}

fn content(dir: &Path) -> String {
    format!("{:?}", read_all(dir).unwrap())
}

/// A run of one phase, closed.
fn write_one_phase(library: &Path, rows: &PhaseRows) -> PathBuf {
    let mut run = run_named("r");
    let mut writer = RunWriter::create(library, &run).unwrap();
    add_phase(&mut writer, &mut run, "load", rows);
    writer.finish(&run).unwrap();
    writer.path().to_owned()
}

/// Flips every ninth bit of a file of the run in turn, so that all eight bits of a byte have a turn, and
/// calls `read`; returns the bits without a refusal.
fn accepted_flips(path: &Path, read: impl Fn() -> Result<(), StoreError>) -> Vec<usize> {
    let whole = fs::read(path).unwrap();
    let file = File::options().write(true).open(path).unwrap();
    let mut accepted = Vec::new();
    for bit in (0..whole.len() * 8).step_by(9) {
        let (at, byte) = (bit / 8, whole[bit / 8]);
        file.write_all_at(&[byte ^ (1 << (bit % 8))], at as u64).unwrap();
        if read().is_ok() {
            accepted.push(bit);
        }
        file.write_all_at(&[byte], at as u64).unwrap();
    }
    accepted
}

/// Also in places without effect on the data: statistics, headers of pages, the creator.
#[test]
fn a_flipped_bit_is_refused() {
    let library = tempfile::tempdir().unwrap();
    let dir = write_one_phase(library.path(), &short(5));
    let before = content(&dir);
    let accepted = accepted_flips(&dir.join(RUN_FILE), || RunDir::open(&dir).map(drop));
    assert_eq!(accepted, Vec::<usize>::new(), "{RUN_FILE}");
    // Opened once: `run.json` is whole, and reading it takes longer than all the rest.
    let opened = RunDir::open(&dir).unwrap();
    for file in [SERIES_FILE, LATENCY_FILE] {
        let accepted = accepted_flips(&dir.join(file), || opened.clone().rows(0).map(drop));
        assert_eq!(accepted, Vec::<usize>::new(), "{file}");
    }
    assert_eq!(content(&dir), before);
}

/// A run of an older version: its rows have checksums, its files have none.
fn unsealed(dir: &Path) {
    edit_and_seal(dir, |run| {
        for table in ["series", "latency"] {
            run["checksums"][table].as_object_mut().unwrap().remove("sealed").unwrap();
        }
    });
}

/// Every 97th bit, so that all eight bits of a byte have a turn; each takes some milliseconds.
#[test]
fn no_flipped_bit_of_an_older_run_changes_what_is_read() {
    let library = tempfile::tempdir().unwrap();
    let dir = write_one_phase(library.path(), &short(5));
    unsealed(&dir);
    let before = content(&dir);
    for file in [SERIES_FILE, LATENCY_FILE] {
        let whole = fs::read(dir.join(file)).unwrap();
        let (mut refused, mut same) = (0, 0);
        for bit in (0..whole.len() * 8).step_by(97) {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            fs::write(dir.join(file), &flipped).unwrap();
            match read_all(&dir) {
                Ok(read) => {
                    assert_eq!(format!("{read:?}"), before, "bit {bit} of {file}");
                    same += 1;
                }
                Err(_) => refused += 1,
            }
        }
        fs::write(dir.join(file), &whole).unwrap();
        assert!(refused > 0 && same > 0, "{file}: {refused} refused, {same} read as before");
    }
}

/// A file without a seal, beside a `run.json` that claims one, comes from another program.
#[test]
fn a_seal_that_is_gone_is_damage() {
    let library = tempfile::tempdir().unwrap();
    let dir = write_one_phase(library.path(), &short(5));
    for file in [SERIES_FILE, LATENCY_FILE] {
        let path = dir.join(file);
        let whole = fs::read(&path).unwrap();
        let key = whole.windows(12).rposition(|bytes| bytes == b"ssdlab.crc32").unwrap();
        let mut other = whole.clone();
        other[key] = b'S';
        fs::write(&path, &other).unwrap();
        let error = RunDir::open(&dir).unwrap().rows(0).unwrap_err();
        assert!(
            matches!(&error, StoreError::FileChanged { path: named } if *named == path),
            "{error}"
        );
        fs::write(&path, &whole).unwrap();
    }
    read_all(&dir).unwrap();
}

#[test]
fn the_damaged_file_is_named_with_the_phase() {
    let library = tempfile::tempdir().unwrap();
    let dir = write_example(library.path());
    let other = tempfile::tempdir().unwrap();
    let mut run = run_named("r");
    let mut writer = RunWriter::create(other.path(), &run).unwrap();
    add_phase(&mut writer, &mut run, "fill", &short(3));
    run.phases.push(phase("purge", &PhaseRows::default()));
    let mut rows = short(5);
    // All sums stay as they are.
    rows.seconds[4].latency_ns_p99 = Some(7);
    rows.latencies[1].lower_ns += 1;
    add_phase(&mut writer, &mut run, "load", &rows);
    for file in [SERIES_FILE, LATENCY_FILE] {
        let whole = fs::read(dir.join(file)).unwrap();
        fs::copy(writer.path().join(file), dir.join(file)).unwrap();
        let read = RunDir::open(&dir).unwrap();
        assert!(read.rows(0).is_ok() && read.rows(1).is_ok());
        let error = read.check().unwrap_err().to_string();
        assert!(error.contains(file) && error.contains("phase 2 (`load`)"), "{error}");
        fs::write(dir.join(file), whole).unwrap();
    }
    let path = dir.join(RUN_FILE);
    let edited = fs::read_to_string(&path).unwrap().replace("131.5", "231.5");
    fs::write(&path, &edited).unwrap();
    let error = RunDir::open(&dir).unwrap_err().to_string();
    assert!(error.contains(RUN_FILE) && error.contains("remove `checksums`"), "{error}");
    // As the message says; the rows are then read unchecked.
    fs::write(&path, without_checksums(&edited)).unwrap();
    assert_eq!(RunDir::open(&dir).unwrap().run().metrics["iops_mean"], Some(231.5));
    read_all(&dir).unwrap();
}

/// Computed independently, by the description in `docs/reference/formats/run-directory.md`.
#[test]
fn checksums_are_those_of_the_description() {
    let library = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(write_example(library.path()).join(RUN_FILE)).unwrap();
    let run: serde_json::Value = serde_json::from_str(&text).unwrap();
    let checksums = &run["checksums"];
    assert_eq!(checksums["series"]["phases"][1], "00000000", "a phase without rows");
    assert_eq!(checksums["latency"]["phases"].as_array().unwrap().len(), 3);
    let of_run = checksums["run_json"].as_str().unwrap();
    let (before, after) = text.rsplit_once(of_run).unwrap();
    let blank = format!("{before}00000000{after}");
    assert_eq!(format!("{:08x}", crc32fast::hash(blank.as_bytes())), of_run);
}

/// A later version has more columns and lists them; this one cannot check unknown columns.
#[test]
fn rows_with_columns_of_a_later_version_are_read_unchecked() {
    let library = tempfile::tempdir().unwrap();
    let dir = write_example(library.path());
    edit_and_seal(&dir, |run| {
        let series = &mut run["checksums"]["series"];
        series["columns"] = (series["columns"].as_u64().unwrap() + 1).into();
        for checksum in series["phases"].as_array_mut().unwrap() {
            *checksum = "12345678".into();
        }
    });
    read_all(&dir).unwrap();
}

/// Writes `run.json` like another version, with the matching checksum.
fn edit_and_seal(dir: &Path, edit: impl FnOnce(&mut serde_json::Value)) {
    let path = dir.join(RUN_FILE);
    let mut run: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    edit(&mut run);
    run["checksums"]["run_json"] = "00000000".into();
    let blank = format!("{run:#}");
    let sum = format!("{:08x}", crc32fast::hash(blank.as_bytes()));
    let member = |checksum: &str| format!("\"run_json\": \"{checksum}\"");
    fs::write(&path, blank.replace(&member("00000000"), &member(&sum))).unwrap();
}

/// A crash between the renames: one or both Parquet files have a phase more than `run.json`.
#[test]
fn files_ahead_of_run_json_are_no_damage() {
    let library = tempfile::tempdir().unwrap();
    let mut run = run_named("r");
    let mut writer = RunWriter::create(library.path(), &run).unwrap();
    add_phase(&mut writer, &mut run, "fill", &short(3));
    let path = writer.path().to_owned();
    let before = content(&path);
    let [old_run, old_latency] =
        [RUN_FILE, LATENCY_FILE].map(|file| fs::read(path.join(file)).unwrap());
    add_phase(&mut writer, &mut run, "load", &short(5));
    fs::write(path.join(RUN_FILE), &old_run).unwrap();
    assert_eq!(content(&path), before);
    fs::write(path.join(LATENCY_FILE), &old_latency).unwrap();
    assert_eq!(content(&path), before);
}

/// The page reads no rows of a phase that `run.json` does not have, so damage in them is nobody's.
#[test]
fn damage_beyond_the_phases_of_run_json_stops_no_page() {
    let library = tempfile::tempdir().unwrap();
    let mut run = run_named("r");
    let mut writer = RunWriter::create(library.path(), &run).unwrap();
    add_phase(&mut writer, &mut run, "load", &load_rows(3, 2));
    let path = writer.path().to_owned();
    let old_run = fs::read_to_string(path.join(RUN_FILE)).unwrap();
    let mut zones = load_rows(5, 2);
    for row in &mut zones.seconds {
        row.offset_bytes = Some(u64::from(row.second) << 20);
    }
    add_phase(&mut writer, &mut run, "fresh", &zones);
    damage_column(&path.join(SERIES_FILE), 1, "offset_bytes");
    let unsealed_run =
        |text: &str| fs::write(path.join(RUN_FILE), without_checksums(text)).unwrap();
    unsealed_run(&serde_json::to_string(&run).unwrap().replacen('{', "{\"checksums\":null,", 1));
    assert!(RunDir::open(&path).unwrap().check().is_err());
    unsealed_run(&old_run);
    let dir = RunDir::open(&path).unwrap();
    dir.check().unwrap();
    result::report::build("title", &[dir]).unwrap();
}

/// Overwrites one column of a row group.
fn damage_column(path: &Path, group: usize, name: &str) {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let columns = reader.metadata().row_group(group).columns();
    let column = columns.iter().find(|column| column.column_path().string() == name).unwrap();
    let (start, length) = column.byte_range();
    let file = File::options().write(true).open(path).unwrap();
    file.write_all_at(&vec![0xff; length as usize], start).unwrap();
}

/// Figures add these columns in 64 bits.
#[test]
fn a_column_that_adds_up_to_the_impossible_is_told() {
    let library = tempfile::tempdir().unwrap();
    let mut rows = load_rows(3, 2);
    for row in &mut rows.seconds {
        row.telemetry.as_mut().unwrap().die_busy_ns = i64::MAX as u64;
    }
    let dir = write_one_phase(library.path(), &rows);
    let error = RunDir::open(&dir).unwrap().check().unwrap_err().to_string();
    let what = "`die_busy_ns` of series.parquet adds up to more than 2^60";
    assert!(error.contains(what), "{error}");
}

/// A run of one phase with `ios.parquet` of 300 reads.
fn write_with_ios(library: &Path) -> PathBuf {
    let mut run = run_named("r");
    let mut writer = RunWriter::create(library, &run).unwrap();
    let mut ios = IosWriter::create(writer.path(), IosChoice::All, 1, WhenFull::Wait).unwrap();
    let phase =
        IosPhase { index: 0, name: "load".to_owned(), jobs: vec![], start: Nanos(0), workers: 1 };
    for tap in &mut ios.taps(phase) {
        for at in 0..300 {
            let (kind, data, offset) = (OpKind::Read, Data::Incompressible, at * 4096);
            let op = Op { kind, data, fua: false, placement: 0, len: 4096, tag: 0, offset };
            let (submitted, done) = (Nanos(at), Nanos(at + 100 + at % 7));
            let end = Completion { tag: 0, status: Status::Ok, submitted, done };
            tap.add(&op, submitted, &end, NO_JOB);
        }
    }
    add_phase(&mut writer, &mut run, "load", &short(1));
    assert!(ios.finish().enter(IosChoice::All, &mut run).is_empty());
    writer.finish(&run).unwrap();
    writer.path().to_owned()
}

/// Gives a forged Parquet file the checksum of its bytes, as a forger would.
fn reseal(bytes: &mut [u8]) {
    const MARKER: &[u8] = b"ssdlab.crc32\x18\x08";
    let Some(at) = bytes.windows(MARKER.len()).rposition(|window| window == MARKER) else { return };
    let place = at + MARKER.len()..at + MARKER.len() + 8;
    let Some(text) = bytes.get_mut(place.clone()) else { return };
    text.copy_from_slice(b"00000000");
    let sum = format!("{:08x}", crc32fast::hash(bytes));
    bytes[place].copy_from_slice(sum.as_bytes());
}

/// Every byte of `ios.parquet` as a large number, under a checksum that fits: counts of rows, groups,
/// pages and values, lengths and places among them; and every kind of a cut.
#[test]
fn forged_counts_in_single_commands_take_little_memory() {
    let library = tempfile::tempdir().unwrap();
    let dir = write_with_ios(library.path());
    let path = dir.join(IOS_FILE);
    let whole = fs::read(&path).unwrap();
    let opened = RunDir::open(&dir).unwrap();
    let rows = || {
        let mut rows = 0;
        let read = opened.ios(|part| rows += part.kinds.len());
        (read.is_ok(), rows)
    };
    assert_eq!(rows(), (true, 300));
    for at in 0..whole.len() {
        for forged in [&[0xff][..], &[0xfe, 0xff, 0xff, 0xff, 0x0f]] {
            let mut bytes = whole.clone();
            let end = (at + forged.len()).min(bytes.len());
            bytes[at..end].copy_from_slice(&forged[..end - at]);
            reseal(&mut bytes);
            fs::write(&path, &bytes).unwrap();
            let (_, rows) = rows();
            assert!(rows <= 64 * whole.len(), "{rows} rows at {at}");
        }
    }
    for length in (0..whole.len()).step_by(61) {
        fs::write(&path, &whole[..length]).unwrap();
        assert!(!rows().0, "{length} bytes of {}", whole.len());
    }
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak_kib: u64 = peak.split_whitespace().next().unwrap().parse().unwrap();
    assert!(peak_kib < 256 << 10, "{peak_kib} KiB");
}
