//! The same job file, by fio and by ssdlab after its import: the same commands? Counts and bytes are equal where the
//! job decides them, and within sampling error where chance does. The footprint is that of the writes: the room that
//! they take in a file without content.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::lab::{Answer, Lab};

const FILE_BYTES: u64 = 64 << 20;

/// A job file and the figures that chance decides.
struct Case {
    name: &'static str,
    text: &'static str,
    by_chance: &'static [Chance],
}

/// A figure that chance decides.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chance {
    /// Commands are reads or writes; their sum is not.
    Kinds,
    /// Lengths.
    Lengths,
    /// Written blocks.
    Footprint,
}

macro_rules! cases {
    ($($name:literal: $chances:expr,)*) => {
        [$(Case { name: $name, text: include_str!(concat!("job_files/", $name, ".fio")), by_chance: $chances }),*]
    };
}

const CASES: [Case; 14] = cases! {
    "sequential-read": &[],
    "sequential-write": &[],
    "random-read": &[],
    "random-write": &[],
    "mixed": &[Chance::Kinds],
    "sizes": &[Chance::Lengths, Chance::Footprint],
    "part": &[],
    "clones": &[],
    "phases": &[],
    "hot": &[Chance::Footprint],
    "log": &[],
    "strided": &[],
    "drifting": &[Chance::Footprint],
    "paced": &[],
};

/// The commands of a job file.
#[derive(Debug, PartialEq)]
struct Commands {
    reads: f64,
    writes: f64,
    flushes: f64,
    read_bytes: f64,
    written_bytes: f64,
    footprint_bytes: f64,
}

fn footprint_bytes(file: &Path) -> f64 {
    (std::fs::metadata(file).expect("the file").blocks() * 512) as f64
}

fn by_fio(lab: &Lab, case: &Case) -> Commands {
    let (job, file) = (lab.path("job.fio"), lab.path("fio.img"));
    std::fs::write(&job, case.text).expect("room for a job file");
    let made = std::fs::File::create(&file).expect("room for a file");
    made.set_len(FILE_BYTES).expect("64 MiB");
    let mut fio = Command::new("fio");
    fio.arg(&job).arg("--output-format=json").arg(format!("--filename={}", file.display()));
    let output = fio.output().expect("fio starts");
    assert!(output.status.success(), "{}: {output:?}", case.name);
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON on stdout");
    let jobs = document["jobs"].as_array().expect("jobs");
    let sum = |kind: &str, key: &str| {
        let values = jobs.iter().map(|job| job[kind][key].as_f64().unwrap_or(0.0));
        values.sum::<f64>()
    };
    Commands {
        reads: sum("read", "total_ios"),
        writes: sum("write", "total_ios"),
        flushes: sum("sync", "total_ios"),
        read_bytes: sum("read", "io_bytes"),
        written_bytes: sum("write", "io_bytes"),
        footprint_bytes: footprint_bytes(&file),
    }
}

fn by_ssdlab(lab: &Lab, case: &Case) -> Commands {
    let (job, workload, file) = (lab.path("job.fio"), lab.path("job.toml"), lab.path("own.img"));
    let mut import = lab.command(&["workload", "import"]);
    Answer::of(import.arg(&job).arg("-o").arg(&workload)).must_exit_with(0);
    let mut run = lab.command(&["run", "workload"]);
    run.arg(format!("file:{}?size={FILE_BYTES}", file.display())).arg("--workload").arg(&workload);
    run.args(["--set", "fill=false", "--format", "json", "--library"]).arg(lab.library());
    let answer = Answer::of(&mut run);
    answer.must_exit_with(0);
    let dir = lab.run_dirs(&answer.document()).remove(0);
    let text = std::fs::read_to_string(dir.join("run.json")).expect("run.json");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let tables = document["tables"].as_array().expect("tables");
    let table = tables.iter().find(|table| table["name"] == "commands").expect("the counts");
    let rows = table["rows"].as_array().expect("rows");
    let all = rows.iter().find(|row| row["label"] == "all").expect("the sum");
    let value = |column: usize| all["values"][column].as_f64().expect("a count");
    Commands {
        reads: value(0),
        writes: value(1),
        flushes: value(2),
        read_bytes: value(4),
        written_bytes: value(5),
        footprint_bytes: footprint_bytes(&file),
    }
}

/// Five standard deviations of the difference of two counts of a share p of n: each has sqrt(n p (1 - p)).
fn sampling_error(count: f64, share: f64) -> f64 {
    5.0 * (2.0 * count * share * (1.0 - share)).sqrt()
}

fn compare(case: &Case, fio: &Commands, own: &Commands) {
    let told = format!("{}: fio {fio:?}, ssdlab {own:?}", case.name);
    let chance = |chance| case.by_chance.contains(&chance);
    let total = fio.reads + fio.writes;
    assert!(total > 0.0, "{told}");
    if chance(Chance::Kinds) {
        assert_eq!(own.reads + own.writes, total, "{told}");
        let error = sampling_error(total, fio.reads / total);
        assert!((own.reads - fio.reads).abs() < error, "{told}, more than {error}");
        // No block twice, so each program's writes take their own room.
        assert_eq!(own.footprint_bytes, own.written_bytes, "{told}");
        assert_eq!(fio.footprint_bytes, fio.written_bytes, "{told}");
        return;
    }
    assert_eq!(own.flushes, fio.flushes, "{told}");
    if chance(Chance::Lengths) {
        // The job ends with the bytes; the lengths are 4 and 16 KiB, 60% and 40%.
        let error = sampling_error(total, 0.4);
        assert!((own.writes - fio.writes).abs() < error, "{told}, more than {error}");
        assert!((own.written_bytes - fio.written_bytes).abs() <= 16_384.0, "{told}");
    } else {
        assert_eq!((own.reads, own.writes), (fio.reads, fio.writes), "{told}");
        assert_eq!((own.read_bytes, own.written_bytes), (fio.read_bytes, fio.written_bytes), "{told}");
    }
    if chance(Chance::Footprint) {
        // Fewer blocks scatter than commands, so this bound is wider than that of the blocks.
        let error = sampling_error(total, 0.5) * 4_096.0;
        assert!((own.footprint_bytes - fio.footprint_bytes).abs() < error, "{told}, more than {error}");
    } else {
        assert_eq!(own.footprint_bytes, fio.footprint_bytes, "{told}");
    }
}

#[test]
fn fio_and_ssdlab_issue_the_same_commands_of_a_job_file() {
    for case in &CASES {
        let lab = Lab::new();
        let (fio, own) = (by_fio(&lab, case), by_ssdlab(&lab, case));
        compare(case, &fio, &own);
    }
}
