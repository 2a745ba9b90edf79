//! A file stands in for a drive; the test itself does the damage of a bad drive.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use io::{OpenOptions, RealTarget, open_file};
use target::TargetError;

use super::check::{Finding, Report, check};
use super::journal::{Header, Journal};
use super::promises::Promises;
use super::writer::{Stop, WriteCounts, write};
use super::*;

const BLOCK: usize = 4096;
const LAYOUT: Layout = Layout { span_bytes: 4 << 20, block_bytes: BLOCK as u32 };
const SEED: u64 = 11;

/// Options for writing, or for reading only.
fn open(path: &Path, write: bool) -> RealTarget {
    let options = OpenOptions { write, verifiable: write, seed: SEED, ..OpenOptions::default() };
    open_file(path, Some(LAYOUT.span_bytes), true, &options).unwrap()
}

/// Writes this number of blocks to a file; returns its image and the promises.
fn written(dir: &Path, writes: u64) -> Promises {
    let (image, journal) = (dir.join("image"), dir.join("journal"));
    let header = Header { serial: "file".to_owned(), wwid: None, seed: SEED, layout: LAYOUT };
    let interrupted = AtomicBool::new(false);
    let stop =
        Stop { duration: base::Nanos(u64::MAX), writes_max: writes, interrupted: &interrupted };
    let mut target = open(&image, true);
    let mut noted = Journal::create(&journal, &header).unwrap();
    let done = write(&mut target, &LAYOUT, SEED, &mut noted, &stop).unwrap();
    assert_eq!(done.writes, writes);
    assert!(done.flushes >= 2, "{:?}", WriteCounts { ..done });
    Promises::read(&journal).unwrap()
}

fn checked(dir: &Path, promises: &Promises) -> Report {
    check(&mut open(&dir.join("image"), false), promises).unwrap()
}

/// The offset of the n-th promised block.
fn offset_of(promises: &Promises, index: usize) -> u64 {
    promises.durable.keys().nth(index).unwrap() * BLOCK as u64
}

fn image(dir: &Path) -> File {
    File::options().read(true).write(true).open(dir.join("image")).unwrap()
}

#[test]
fn an_honest_drive_keeps_everything() {
    let dir = tempfile::tempdir().unwrap();
    let promises = written(dir.path(), 3000);
    let report = checked(dir.path(), &promises);
    assert_eq!(report.broken, []);
    assert_eq!(report.counts[&Finding::Kept], promises.durable.len() as u64);
    assert_eq!(report.broken_blocks(), 0);
}

#[test]
fn every_kind_of_damage_is_told_from_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let promises = written(dir.path(), 3000);
    let file = image(dir.path());
    let at = |index| offset_of(&promises, index);
    file.write_all_at(&[0; BLOCK], at(0)).unwrap();
    file.write_all_at(&[7; BLOCK], at(1)).unwrap();
    let mut block = [0; BLOCK];
    base::verifiable::fill(&mut block, SEED, at(2), 0);
    file.write_all_at(&block, at(2)).unwrap();
    file.write_all_at(&[0; 512], at(3) + 1024).unwrap();
    file.read_exact_at(&mut block, at(5)).unwrap();
    file.write_all_at(&block, at(4)).unwrap();
    base::verifiable::fill(&mut block, SEED, at(6), u64::MAX);
    file.write_all_at(&block[..2048], at(6)).unwrap();
    base::verifiable::fill(&mut block, SEED, at(7), u64::MAX);
    file.write_all_at(&block, at(7)).unwrap();
    file.write_all_at(&[1], at(8) + 300).unwrap();

    let report = checked(dir.path(), &promises);
    let told: Vec<_> = report.broken.iter().map(|b| (b.offset_bytes, b.finding)).collect();
    let expected = [
        (at(0), Finding::Lost),
        (at(1), Finding::Lost),
        (at(2), Finding::Stale),
        (at(3), Finding::Torn),
        (at(4), Finding::Misdirected),
        (at(8), Finding::Torn),
    ];
    assert_eq!(told, expected);
    assert_eq!(report.counts[&Finding::TornUnpromised], 1);
    assert_eq!(report.counts[&Finding::Newer], 1);
    assert_eq!(report.broken_blocks(), 6);
}

#[test]
fn a_drive_that_forgot_the_last_batches_lost_just_those() {
    let dir = tempfile::tempdir().unwrap();
    let promises = written(dir.path(), 1500);
    // The same run stopped earlier leaves what a drive would that dropped all later writes.
    let earlier = tempfile::tempdir().unwrap();
    let kept = written(earlier.path(), 1100);
    let report = checked(earlier.path(), &promises);
    let later = |block: &u64| kept.durable.get(block) != promises.durable.get(block);
    let dropped = promises.durable.keys().filter(|block| later(block)).count() as u64;
    assert!(dropped > 100, "{dropped}");
    assert_eq!(report.broken_blocks(), dropped);
    let (lost, stale) = (report.counts[&Finding::Lost], report.counts[&Finding::Stale]);
    assert!(lost > 0 && stale > 0, "{:?}", report.counts);
}

/// A truncated file fails like a drive with medium errors, but it is no longer the file of the
/// journal.
#[test]
fn a_target_that_changes_while_it_is_read_is_not_judged() {
    let dir = tempfile::tempdir().unwrap();
    let promises = written(dir.path(), 3000);
    let mut target = open(&dir.path().join("image"), false);
    image(dir.path()).set_len(LAYOUT.span_bytes / 2).unwrap();
    let error = check(&mut target, &promises).unwrap_err();
    assert!(error.to_string().contains("cut short"), "{error}");
}

#[test]
fn a_drive_that_cannot_hold_the_blocks_is_not_judged() {
    let dir = tempfile::tempdir().unwrap();
    let mut promises = written(dir.path(), 1100);
    for (layout, expected) in [
        (Layout { span_bytes: LAYOUT.span_bytes + 4096, ..LAYOUT }, "4198400 bytes"),
        (Layout { block_bytes: 1 << 30, ..LAYOUT }, "1073741824 bytes"),
    ] {
        promises.header.layout = layout;
        let error = check(&mut open(&dir.path().join("image"), false), &promises).unwrap_err();
        assert!(matches!(&error, RunError::Target(TargetError::Refused { .. })), "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn what_another_run_wrote_over_it_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let promises = written(dir.path(), 1100);
    let mut block = [0; BLOCK];
    base::verifiable::fill(&mut block, SEED + 1, offset_of(&promises, 4), 9);
    image(dir.path()).write_all_at(&block, offset_of(&promises, 4)).unwrap();
    let report = checked(dir.path(), &promises);
    assert_eq!((report.broken_blocks(), report.other_run_blocks), (1, 1));
    let other = base::verifiable::Sector::OtherRun { seed: SEED + 1, generation: 9 };
    assert!(report.broken[0].found.iter().all(|sector| *sector == other), "{:?}", report.broken);
}

/// It may be the only record of a drive's promises.
#[test]
fn an_earlier_journal_stays() {
    let dir = tempfile::tempdir().unwrap();
    written(dir.path(), 900);
    let journal = dir.path().join("journal");
    let before = std::fs::read(&journal).unwrap();
    let header = Header { serial: String::new(), wwid: None, seed: SEED, layout: LAYOUT };
    let again = Journal::create(&journal, &header).unwrap_err().to_string();
    assert!(again.contains("exists already") && again.contains("--check"), "{again}");
    assert_eq!(std::fs::read(&journal).unwrap(), before);
}
