//! The same job file, by fio and by ssdlab after its import: the same commands? Counts and bytes are equal where the
//! job decides them, and within sampling error where chance does. The footprint is that of the writes: the blocks with
//! content in a file that had none.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::lab::{Answer, Lab};

const FILE_BYTES: u64 = 32 << 20;
const BLOCK_BYTES: usize = 4_096;

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
    /// Numbers of the blocks with content.
    written: Vec<usize>,
}

/// A file without content.
fn empty(path: &Path) {
    File::create(path).expect("room for a file").set_len(FILE_BYTES).expect("32 MiB");
}

fn blocks_with_content(file: &Path) -> Vec<usize> {
    let bytes = std::fs::read(file).expect("the file");
    let blocks = bytes.chunks(BLOCK_BYTES).enumerate();
    blocks.filter(|(_, block)| block.iter().any(|byte| *byte != 0)).map(|(at, _)| at).collect()
}

fn by_fio(lab: &Lab, case: &Case) -> Commands {
    let (job, file) = (lab.path("job.fio"), lab.path("fio.img"));
    std::fs::write(&job, case.text).expect("room for a job file");
    empty(&file);
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
        written: blocks_with_content(&file),
    }
}

fn by_ssdlab(lab: &Lab) -> Commands {
    let (job, workload, file) = (lab.path("job.fio"), lab.path("job.toml"), lab.path("own.img"));
    let mut import = lab.command(&["workload", "import"]);
    Answer::of(import.arg(&job).arg("-o").arg(&workload)).must_exit_with(0);
    let mut run = lab.command(&["run", "workload"]);
    empty(&file);
    run.arg(format!("file:{}", file.display())).arg("--erase").arg(&file);
    run.arg("--workload").arg(&workload);
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
        written: blocks_with_content(&file),
    }
}

/// Five standard deviations of the difference of two counts of a share p of n: each has sqrt(n p (1 - p)).
fn sampling_error(count: f64, share: f64) -> f64 {
    5.0 * (2.0 * count * share * (1.0 - share)).sqrt()
}

fn compare(case: &Case, fio: &Commands, own: &Commands) {
    let counts = |of: &Commands| {
        let Commands { reads, writes, flushes, read_bytes, written_bytes, written } = of;
        format!(
            "{reads} reads, {writes} writes, {flushes} flushes, {read_bytes} and {written_bytes} bytes, {} blocks",
            written.len()
        )
    };
    let told = format!("{}: fio {}; ssdlab {}", case.name, counts(fio), counts(own));
    let chance = |chance| case.by_chance.contains(&chance);
    let total = fio.reads + fio.writes;
    assert!(total > 0.0, "{told}");
    assert_eq!(own.flushes, fio.flushes, "{told}");
    if chance(Chance::Kinds) {
        assert_eq!(own.reads + own.writes, total, "{told}");
        assert_eq!(
            own.read_bytes + own.written_bytes,
            fio.read_bytes + fio.written_bytes,
            "{told}"
        );
        let error = sampling_error(total, fio.reads / total);
        assert!((own.reads - fio.reads).abs() < error, "{told}, more than {error}");
        // No block twice: every write has a block of its own.
        assert_eq!(
            (own.written.len() as f64, fio.written.len() as f64),
            (own.writes, fio.writes),
            "{told}"
        );
        return;
    }
    if chance(Chance::Lengths) {
        // The job ends with the bytes; the lengths are 4 and 16 KiB, 60% and 40%.
        let error = sampling_error(total, 0.4);
        assert!((own.writes - fio.writes).abs() < error, "{told}, more than {error}");
        assert!((own.written_bytes - fio.written_bytes).abs() <= 16_384.0, "{told}");
    } else {
        assert_eq!((own.reads, own.writes), (fio.reads, fio.writes), "{told}");
        assert_eq!(
            (own.read_bytes, own.written_bytes),
            (fio.read_bytes, fio.written_bytes),
            "{told}"
        );
    }
    if chance(Chance::Footprint) {
        // The numbers of blocks scatter less than such a count of commands.
        let (error, blocks) =
            (sampling_error(total, 0.5), own.written.len().abs_diff(fio.written.len()));
        assert!((blocks as f64) < error, "{told}, more than {error}");
    } else {
        assert_eq!(own.written, fio.written, "{told}");
    }
}

#[test]
fn fio_and_ssdlab_issue_the_same_commands_of_a_job_file() {
    for case in &CASES {
        let lab = Lab::new();
        let (fio, own) = (by_fio(&lab, case), by_ssdlab(&lab));
        compare(case, &fio, &own);
    }
}
