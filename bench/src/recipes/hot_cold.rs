//! `RocksDB` and its compaction on a nearly full drive, which keeps cold data apart or does not.

use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::accounting::{self, Accounting, Requests};
use super::disk::Disk;
use super::file_system::FileSystem;
use super::work::db_bench;
use super::{Bench, text};
use xtask::proc;

pub(super) const NAME: &str = "hot-cold";

/// A drive whose garbage collection looks at the age of data: greedy victims leave a cold stream little to do.
const DRIVE: &str = "sim:intel-ssd-730-480gb?scale=1/400&gc.policy=cost-benefit";
const SEPARATION: [(&str, &str); 2] = [("together", ""), ("apart", "&streams.cold=survivor")];
/// Data that nobody writes again.
const COLD_BYTES: u64 = 780 << 20;
/// A quarter of a superblock, so that one holds tables of several levels, as on a drive of full size.
const TABLE_BYTES: u32 = 512 << 10;
/// Keys for each part of the work, all overwritten in a pass.
const KEYS: u32 = 50_000;
/// Passes of the work before the measured one, after which the drive collects all the time.
const PASSES_BEFORE: u32 = 4;

/// One row for each drive.
pub(super) fn run(bench: &Bench<'_>) -> Result<Vec<Value>> {
    let rows = SEPARATION.map(|(data, setting)| {
        eprintln!("[bench] {NAME}: cold data {data}");
        row(bench, data, &format!("{DRIVE}{setting}"))
            .with_context(|| format!("RocksDB on a drive with cold data {data}"))
    });
    rows.into_iter().collect()
}

fn row(bench: &Bench<'_>, data: &str, drive: &str) -> Result<Value> {
    let mut disk = Disk::make(&bench.program, drive, FileSystem::Ext4)?;
    disk.mount()?;
    let cold = format!("of={}", text(&disk.root().join("cold")));
    let count = format!("count={}", COLD_BYTES >> 20);
    let mut dd = Command::new("dd");
    dd.args(["if=/dev/urandom", "bs=1M", "conv=fsync", "status=none", &count, &cold]);
    proc::capture(&mut dd)?;
    let keys = format!("--num={}", bench.size * KEYS);
    let pass = |work: &str, existing: &str| {
        let work = format!("--benchmarks={work},waitforcompaction");
        db_bench(&disk, TABLE_BYTES, &[&work, &keys, &format!("--use_existing_db={existing}")])
    };
    pass("fillrandom", "0")?;
    for _ in 0..PASSES_BEFORE {
        pass("overwrite", "1")?;
    }
    disk.begin()?;
    pass("overwrite", "1")?;
    let end = disk.account()?;
    accounting::check(&end, Requests::AnyBytes)?;
    let used_percent = used_percent(&disk)?;
    disk.unmount()?;
    disk.end()?;
    let accounting = Accounting(&end);
    Ok(json!({
        "cold_data": data,
        "drive": drive,
        "capacity_bytes": end["capacity_bytes"],
        "file_system_used_percent": used_percent,
        "valid_pages": end["valid_pages"],
        "host_bytes": end["bytes"]["write"],
        "host_pages": accounting.pages("host_pages")?,
        "gc_moved_pages": accounting.pages("gc_moved_pages")?,
        "programmed_pages": accounting.pages("programmed_pages")?,
        "waf": end["waf"],
        "simulated_ns": end["simulated_ns"],
    }))
}

fn used_percent(disk: &Disk) -> Result<u32> {
    let mut df = Command::new("df");
    let text = proc::capture(df.arg("--output=pcent").arg(disk.root()))?;
    let percent = text.lines().last().map(|line| line.trim().trim_end_matches('%'));
    percent.and_then(|percent| percent.parse().ok()).with_context(|| format!("df said {text:?}"))
}
