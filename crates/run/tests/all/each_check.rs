//! Does each phase look at its target before it changes it, and does the run stay within its span?

use std::cell::RefCell;
use std::fs::{self, File};
use std::path::Path;

use base::OpKind;
use io::{OpenOptions, RealTarget, open_file};
use load::trace::store::TraceWriter;
use load::trace::{Flags, Record, TraceInfo};
use result::store::RunDir;
use run::span::SpanRequest;
use run::{Event, Outcome, Request, RunError};
use target::Target as _;
use target::TargetError;
use target::scripted::{Reply, ScriptedTarget};

use crate::common::{request, run_quietly, run_with, settings, test};

const MIB: u64 = 1 << 20;
const SIZE_BYTES: u64 = 4 * MIB;

/// Somebody's file that was given away for a run.
fn open(path: &Path) -> RealTarget {
    fs::write(path, vec![7; SIZE_BYTES as usize]).unwrap();
    let erase = vec![path.display().to_string()];
    let options = OpenOptions { write: true, erase, ..OpenOptions::default() };
    open_file(path, None, false, &options).unwrap()
}

/// Runs a test in whose phase another file takes the name of the target; the outcome, and the first
/// file before and after.
fn replaced_in(name: &str, all: &[(&str, &str)], phase: &str) -> (Outcome, Vec<u8>, Vec<u8>) {
    let dir = tempfile::tempdir().unwrap();
    let [path, moved] = ["file", "moved"].map(|name| dir.path().join(name));
    let mut target = open(&path);
    let before = RefCell::new(Vec::new());
    let request = request(&dir.path().join("runs"), test(name), all);
    let outcome = run_with(&mut target, &request, |event, _| {
        if matches!(event, Event::PhaseStarted { name, .. } if name == phase) {
            fs::rename(&path, &moved).unwrap();
            fs::write(&path, vec![8; SIZE_BYTES as usize]).unwrap();
            before.replace(fs::read(&moved).unwrap());
        }
    });
    let outcome = outcome.unwrap();
    assert!(fs::read(&path).unwrap() == vec![8; SIZE_BYTES as usize], "{name} {phase}");
    (outcome, before.take(), fs::read(&moved).unwrap())
}

fn trace(dir: &Path) -> String {
    let path = dir.join("x.trace.parquet");
    let mut writer = TraceWriter::new(File::create(&path).unwrap(), "x").unwrap();
    let record = Record {
        issue_ns: 0,
        offset: 0,
        len: 4096,
        stream: 0,
        queue_depth: 1,
        op: OpKind::Write,
        flags: Flags::default(),
        physical_percent: 0,
    };
    writer.push(&record).unwrap();
    writer.finish(&TraceInfo::default()).unwrap();
    path.display().to_string()
}

#[test]
fn no_phase_writes_to_another_file() {
    let dir = tempfile::tempdir().unwrap();
    let trace = format!("trace={} purge=false fill=false", trace(dir.path()));
    let jobs = dir.path().join("jobs.toml");
    let job = "op = \"write\"\nblock = \"4KiB\"\npattern = \"uniform\"\nqueue_depth = 4\n";
    let jobs_text = format!("duration = \"1s\"\n[job.one]\n{job}[job.two]\n{job}");
    fs::write(&jobs, jobs_text).unwrap();
    let jobs = format!("workload={} purge=false fill=false", jobs.display());
    for (name, text, phase) in [
        ("consistency", "duration=2s steady_from=1s", "purge"),
        ("consistency", "duration=2s steady_from=1s", "fill"),
        ("trim", "torture=1s idle=0s rounds=1", "trim.r1"),
        ("workload", &*jobs, "load"),
        ("replay", &*trace, "replay"),
    ] {
        let (outcome, before, after) = replaced_in(name, &settings(text), phase);
        let failure = outcome.failure.as_ref();
        let is_refused = matches!(
            failure,
            Some(RunError::Target(TargetError::Refused { code: "identity-changed", .. }))
        );
        assert!(is_refused, "{name} {phase}: {failure:?}, {:?}", outcome.run.warnings);
        assert_eq!(outcome.run.phases.last().unwrap().name, phase);
        assert!(before.len() as u64 == SIZE_BYTES && before == after, "{name} {phase} wrote");
    }
}

#[test]
fn the_fence_stands_at_the_end_of_the_span() {
    let dir = tempfile::tempdir().unwrap();
    let mut target = open(&dir.path().join("file"));
    let settings = settings("duration=2s steady_from=1s");
    let request = Request {
        span: SpanRequest::Bytes(base::Bytes(MIB)),
        ..request(&dir.path().join("runs"), test("consistency"), &settings)
    };
    run_quietly(&mut target, &request).unwrap();
    target.deallocate(0, MIB).unwrap();
    let beyond = target.deallocate(MIB, 4096).unwrap_err().to_string();
    assert!(beyond.contains("inside the 1048576 bytes granted"), "{beyond}");
}

#[test]
fn a_run_that_is_over_is_not_continued() {
    let library = tempfile::tempdir().unwrap();
    let settings = settings("duration=2s steady_from=1s");
    let first = request(library.path(), test("consistency"), &settings);
    let target = || ScriptedTarget::new(MIB, Reply::after_ns(1_000_000));
    let whole = run_quietly(&mut target(), &first).unwrap();
    let resume = Some(RunDir::open(&whole.dir).unwrap());
    let again = run_quietly(&mut target(), &Request { resume, ..first }).map(drop);
    assert!(again.unwrap_err().to_string().contains("is complete"));
}
