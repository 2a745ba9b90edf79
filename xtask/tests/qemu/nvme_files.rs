//! Do file systems for zones work on an exposed drive with zones?

use crate::machine::Record;
use crate::nvme_tcp::{document, number};

#[test]
fn f2fs_keeps_files_on_zones_and_the_drive_moves_nothing() {
    for step in ["mkfs", "mount", "rewrite", "unmount", "mount-again", "fsck"] {
        Record::of(&format!("files-{step}")).must_exit_with(0);
    }
    let (written, read) = (Record::of("files-written"), Record::of("files-read"));
    written.must_exit_with(0);
    assert_eq!(written.stdout.lines().filter(|line| line.len() > 64).count(), 4, "{written:#?}");
    assert_eq!(written.stdout, read.stdout);
    let [fresh, books] = ["files-fresh", "files-f2fs"].map(document);
    let pages = |column: &str| number(&books["telemetry"][column]);
    let host = pages("host_pages") - number(&fresh["telemetry"]["host_pages"]);
    assert!(host * 4096 > 48 << 20, "four files and the rewrites of two: {books:#}");
    assert_eq!((pages("gc_moved_pages"), pages("padding_pages")), (0, 0));
    let waf = pages("programmed_pages") as f64 / pages("host_pages") as f64;
    assert!((1.0..1.08).contains(&waf), "nothing but parity, a page for 15 of data: {waf}");
}

#[test]
fn zonefs_has_a_file_for_each_zone() {
    Record::of("files-zonefs-mount").must_exit_with(0);
    let zones = document("files-fresh")["capacity_bytes"].as_u64().expect("a number") / (16 << 20);
    assert_eq!(Record::of("files-zonefs-list").stdout.trim(), (zones - 1).to_string());
}
