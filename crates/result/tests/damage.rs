//! A run directory that was damaged is refused, or reads as it was written.

mod common;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use common::{add_phase, load_rows, phase, run_named, without_checksums};
use result::rows::PhaseRows;
use result::schema::{Run, RunStatus};
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

/// Everything that a reader can ask for.
fn read_all(dir: &Path) -> Result<(Run, Vec<PhaseRows>), StoreError> {
    let dir = RunDir::open(dir)?;
    let rows =
        (0..dir.run().phases.len()).map(|index| dir.rows(index)).collect::<Result<_, _>>()?;
    Ok((dir.run().clone(), rows))
}

fn content(dir: &Path) -> String {
    format!("{:?}", read_all(dir).unwrap())
}

/// Every 25th bit, so that all eight of a byte have their turn; each takes some milliseconds.
#[test]
fn no_flipped_bit_changes_what_is_read() {
    let library = tempfile::tempdir().unwrap();
    let mut run = run_named("r");
    let mut writer = RunWriter::create(library.path(), &run).unwrap();
    add_phase(&mut writer, &mut run, "load", &short(5));
    writer.finish(&run).unwrap();
    let dir = writer.path().to_owned();
    let before = content(&dir);
    for file in [RUN_FILE, SERIES_FILE, LATENCY_FILE] {
        let whole = fs::read(dir.join(file)).unwrap();
        let (mut refused, mut same) = (0, 0);
        let mut changed = Vec::new();
        for bit in (0..whole.len() * 8).step_by(25) {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            fs::write(dir.join(file), &flipped).unwrap();
            match read_all(&dir) {
                Ok(read) if format!("{read:?}") == before => same += 1,
                Ok(_) => changed.push(bit),
                Err(_) => refused += 1,
            }
        }
        fs::write(dir.join(file), &whole).unwrap();
        let length = whole.len();
        writeln!(
            std::io::stderr(),
            "{file}: {length} bytes, {refused} refused, {same} read as before"
        )
        .unwrap();
        assert_eq!(changed, Vec::<usize>::new(), "{file}");
        assert!(refused > 0);
    }
    assert_eq!(content(&dir), before);
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

/// As `docs/formats/run-directory.md` describes them; computed there by other means.
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

/// A later version has more columns and lists them; this one cannot check what it does not know.
#[test]
fn rows_with_columns_of_a_later_version_are_read_unchecked() {
    let library = tempfile::tempdir().unwrap();
    let dir = write_example(library.path());
    let path = dir.join(RUN_FILE);
    let mut run: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let series = &mut run["checksums"]["series"];
    series["columns"] = (series["columns"].as_u64().unwrap() + 1).into();
    for checksum in series["phases"].as_array_mut().unwrap() {
        *checksum = "12345678".into();
    }
    let of_run = run["checksums"]["run_json"].as_str().unwrap().to_owned();
    let text = format!("{run:#}");
    let blank = text.replace(&of_run, "00000000");
    let sum = format!("{:08x}", crc32fast::hash(blank.as_bytes()));
    fs::write(&path, text.replace(&of_run, &sum)).unwrap();
    read_all(&dir).unwrap();
}

/// A crash between the renames: the Parquet files have a phase more than `run.json`, or one of them has.
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
