//! Power cuts of an exposed drive under fio: what it flushed is intact, and blocks that it rewrites have either data.
//!
//! A full check (`SSDLAB_TEST_FULL=1`) makes 200 cuts.

use std::process::Command;

use super::server::{Server, order, tool};
use crate::lab::Lab;

/// A drive of 940 MB, whose spare space has room for a map.
const TARGET: &str = "sim:sandisk-extreme-ii-480gb?scale=1/512";
/// Cuts, and those of a full check.
const CUTS: u64 = 10;
const CUTS_FULL: u64 = 200;

#[test]
fn fio_finds_its_flushed_blocks_after_each_cut() {
    let lab = Lab::new();
    let server = Server::of(&lab, TARGET, &["--power-cuts"]);
    let uri = format!("--uri={}", server.uri());
    let is_full = std::env::var_os("SSDLAB_TEST_FULL").is_some_and(|full| full == "1");
    let common = [
        "--name=v",
        "--ioengine=nbd",
        &uri,
        "--bs=4k",
        "--iodepth=16",
        "--size=8m",
        "--rw=randwrite",
        "--verify_state_save=0",
    ];
    // All blocks have valid data, and it is flushed.
    let fill = ["--verify=crc32c", "--do_verify=0", "--end_fsync=1"];
    tool("fio", &[&common[..], &fill].concat());
    let (mut taken_back, mut failed, mut stopped) = (0, 0, 0);
    for seed in 1..=if is_full { CUTS_FULL } else { CUTS } {
        // A few hundred commands later, somewhere in the middle of 2,048 writes.
        let after = (seed * 7919 % 1500 + 50).to_string();
        order(&lab, &["cut", "--after-commands", &after]);
        let seeded = format!("--randseed={seed}");
        let rewrite = ["--verify=crc32c", "--do_verify=0", "--fsync=32", &seeded];
        // It ends with an error, unless the cut has met nothing but its flush.
        let fio = Command::new("fio").args(common).args(rewrite).output().expect("fio");
        stopped += u64::from(!fio.status.success());
        let cuts = order(&lab, &["cuts"]);
        let report = &cuts["cuts"][0];
        assert_eq!(report["broken_pages"], 0, "seed {seed}: {cuts:#}");
        taken_back += report["pages_taken_back"].as_u64().expect("a count");
        failed += report["requests_failed"].as_u64().expect("a count");
        // Each block has the older or the newer data, whole: both carry their checksum.
        let check = ["--verify=crc32c", "--verify_only=1", "--verify_fatal=1", &seeded];
        tool("fio", &[&common[..], &check].concat());
    }
    assert!(taken_back > 0, "no cut took an unflushed write back");
    assert!(stopped > 0, "fio noticed no cut");
    assert!(failed > 0, "no cut met a request under way");
    server.end();
}
