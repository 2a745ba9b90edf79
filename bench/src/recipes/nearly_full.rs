//! ext4 on a QLC drive at two fill levels. The drive borrows most of its pSLC cache from free space, so that the same work
//! finds less of it on the fuller drive.

use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::accounting::{self, Accounting, Requests};
use super::disk::Disk;
use super::file_system::{FileSystem, command};
use super::work::{files_prepared, files_written};
use super::{Bench, text};
use xtask::proc;

pub(super) const NAME: &str = "nearly-full";

/// A drive of 2 GB: 23 MB of pSLC of its own, and up to 250 MB that free space lends. Its map is assumed (`--power-cuts`).
const DRIVE: &str = "sim:crucial-p1-1000gb?scale=1/512";
/// Parts of the file system in use.
const LEVELS_PERCENT: [u64; 2] = [50, 90];
/// Rest before the first round, in which the drive empties its cache.
const REST_S: &str = "600";
/// Rounds of the work, without a rest between them.
const ROUNDS: u32 = 2;

/// One row for each level and round.
pub(super) fn run(bench: &Bench<'_>) -> Result<Vec<Value>> {
    let mut rows = Vec::new();
    for level in LEVELS_PERCENT {
        eprintln!("[bench] {NAME}: {level}%");
        let of_level = at(bench, level).with_context(|| format!("{NAME} at {level}%"))?;
        rows.extend(of_level);
    }
    Ok(rows)
}

fn at(bench: &Bench<'_>, level_percent: u64) -> Result<Vec<Value>> {
    let mut disk = Disk::make(&bench.program, DRIVE, FileSystem::Ext4)?;
    disk.mount()?;
    proc::capture(&mut command(&files_prepared(&disk.root())))?;
    let [size, used] = sizes(&disk)?;
    let mut cold = Command::new("dd");
    cold.args(["if=/dev/urandom", "bs=1M", "iflag=fullblock", "conv=fsync", "status=none"]);
    cold.arg(format!("count={}", (size * level_percent / 100).saturating_sub(used) >> 20));
    proc::capture(cold.arg(format!("of={}", text(&disk.root().join("cold")))))?;
    disk.sync()?;
    disk.order(&["idle", REST_S])?;
    let rounds = (1..=ROUNDS).map(|round| measured(bench, &disk, level_percent, round));
    let rows = rounds.collect::<Result<Vec<_>>>()?;
    disk.unmount()?;
    disk.end()?;
    Ok(rows)
}

fn measured(bench: &Bench<'_>, disk: &Disk, level_percent: u64, round: u32) -> Result<Value> {
    disk.begin()?;
    let cached = Accounting(&disk.order(&["status"])?).pages("pslc_pages")?;
    proc::capture(&mut command(&files_written(&disk.root(), bench.size)))?;
    let end = disk.account()?;
    accounting::check(&end, Requests::WholePages)?;
    let [size, used] = sizes(disk)?;
    let accounting = Accounting(&end);
    Ok(json!({
        "drive": DRIVE,
        "level_percent": level_percent,
        "used_share": used as f64 / size as f64,
        "round": round,
        "host_pages": accounting.pages("host_pages")?,
        "programmed_pages": accounting.pages("programmed_pages")?,
        "folded_pages": accounting.pages("folded_pages")?,
        "gc_moved_pages": accounting.pages("gc_moved_pages")?,
        "padding_pages": accounting.pages("padding_pages")?,
        "pslc_pages_before": cached,
        "pslc_pages_after": accounting.pages("pslc_pages")?,
        "free_superblocks": accounting.pages("free_superblocks")?,
        "waf": end["waf"],
        "simulated_ns": end["simulated_ns"],
    }))
}

/// Bytes of the file system, and those in use.
fn sizes(disk: &Disk) -> Result<[u64; 2]> {
    let mut df = Command::new("df");
    df.args(["--block-size=1", "--output=size,used"]).arg(disk.root());
    let text = proc::capture(&mut df)?;
    let numbers: Vec<u64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    numbers.try_into().map_err(|_| anyhow::anyhow!("df said {text:?}"))
}
