//! Does each check of an open target refuse by itself, also what changes during a purge?

mod support;

use std::cell::Cell;
use std::fs;
use std::path::Path;

use base::OpKind;
use io::open::{check_apart, inspect};
use io::{EngineChoice, OpenOptions, RealTarget, open_file};
use target::Target as _;
use target::{Patient, PurgeMethod, TargetError, Waiter};

use support::{errno, op, writing};

const MIB: u64 = 1 << 20;

/// Does its work when the purge first asks it.
struct Meanwhile<F: FnOnce()>(Cell<Option<F>>);

impl<F: FnOnce()> Meanwhile<F> {
    fn new(work: F) -> Self {
        Self(Cell::new(Some(work)))
    }
}

impl<F: FnOnce()> Waiter for Meanwhile<F> {
    fn wants_to_stop(&self) -> bool {
        if let Some(work) = self.0.take() {
            work();
        }
        false
    }

    fn hear(&self, _words: &str) {}
}

fn code<T: std::fmt::Debug>(result: Result<T, TargetError>) -> &'static str {
    match result {
        Err(TargetError::Refused { code, .. }) => code,
        other => panic!("expected a refusal, got {other:?}"),
    }
}

fn open(path: &Path, options: &OpenOptions) -> RealTarget {
    open_file(path, Some(MIB), false, options).unwrap()
}

/// The second look, after the purge, would refuse as well: too late.
#[test]
fn a_replaced_file_is_not_purged() {
    let dir = tempfile::tempdir().unwrap();
    let [path, moved] = ["file", "moved"].map(|name| dir.path().join(name));
    fs::write(&path, vec![7; MIB as usize]).unwrap();
    let erase = vec![path.display().to_string()];
    let mut target = open(&path, &OpenOptions { erase, ..writing(1) });
    fs::rename(&path, &moved).unwrap();
    fs::write(&path, vec![8; MIB as usize]).unwrap();
    assert_eq!(code(target.purge(&Patient)), "identity-changed");
    for (path, byte) in [(&moved, 7), (&path, 8)] {
        assert_eq!(fs::read(path).unwrap(), vec![byte; MIB as usize]);
    }
}

/// A drive that comes back from its purge as another one does not suit the rest of the run.
#[test]
fn a_target_is_looked_at_again_after_its_purge() {
    for method in [PurgeMethod::Deallocate, PurgeMethod::Overwrite] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("target");
        let mut target = open(&path, &OpenOptions { purge: Some(method), ..writing(1) });
        assert_eq!(target.purge(&Patient).unwrap(), method);
        let waiter = Meanwhile::new(|| {
            fs::remove_file(&path).unwrap();
            fs::write(&path, vec![7; MIB as usize]).unwrap();
        });
        assert_eq!(code(target.purge(&waiter)), "identity-changed");
        assert_eq!(fs::read(&path).unwrap(), vec![7; MIB as usize]);
    }
}

#[test]
fn a_target_opened_for_reading_is_neither_purged_nor_written_to() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("target");
    let content = vec![7; MIB as usize];
    fs::write(&path, &content).unwrap();
    // Held for a run that writes, and opened for one that only reads.
    let erase = vec![path.display().to_string()];
    let options = OpenOptions { erase, ..writing(1) };
    let spec = format!("file:{}", path.display()).parse().unwrap();
    let held = inspect(&spec, &options).unwrap().hold(&options).unwrap();
    for engine in [EngineChoice::Auto, EngineChoice::Sync] {
        let reading = OpenOptions { write: false, engine, ..options.clone() };
        let mut target = held.open(&reading).unwrap().real().unwrap();
        assert_eq!(code(target.purge(&Patient)), "read-only");
        assert_eq!(code(target.deallocate(0, 4096)), "read-only");
        for kind in [OpKind::Write, OpKind::Deallocate] {
            assert_eq!(errno(&mut target, op(kind, 0, 0, 4096)), 30, "{kind:?}");
        }
        assert!(fs::read(&path).unwrap() == content);
    }
}

#[test]
fn targets_of_a_call_are_told_apart_before_one_is_opened() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, vec![0; 8192]).unwrap();
    let spec = format!("file:{}", path.display()).parse().unwrap();
    let again = format!("file:{}/./file", dir.path().display()).parse().unwrap();
    assert_eq!(code(check_apart(&[spec, again])), "same-target");
}

#[test]
fn a_promise_to_only_read_refuses_a_run_that_writes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new");
    let options = OpenOptions { read_only: true, ..writing(1) };
    assert_eq!(code(open_file(&path, Some(MIB), false, &options)), "read-only");
    assert!(!path.exists());
    let target = open(&path, &writing(1));
    target.confirm_identity().unwrap();
}
