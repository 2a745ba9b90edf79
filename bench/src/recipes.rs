//! Recipes: file systems and databases on exposed drives, and a power cut during each.
//!
//! Needs root, FUSE and loop devices. A file system that this kernel does not have is tried in the emulated machine. Time
//! is that of the drive on the fast clock: the program itself costs none.

mod accounting;
mod disk;
mod emulated;
mod file_system;
mod hot_cold;
mod nearly_full;
mod tree;
mod work;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::{Value, json};

use accounting::{Accounting, Requests};
use disk::Disk;
use file_system::FileSystem;
use work::Work;
use xtask::proc;
use xtask::workspace::Workspace;

/// Drives of 1.2 GB: without and with capacitors.
const DRIVES: [&str; 2] =
    ["sim:sandisk-extreme-ii-480gb?scale=1/400", "sim:intel-ssd-730-480gb?scale=1/400"];
/// Commands of the drive before its power goes, for each part of the work.
const CUT_AFTER: u32 = 250;
/// Programs beyond those of every check, with their Debian packages and words in the names of their recipes.
const PROGRAMS: [(&str, &str, &[&str]); 7] = [
    ("mkfs.xfs", "xfsprogs", &["xfs"]),
    ("mkfs.btrfs", "btrfs-progs", &["btrfs"]),
    ("mkfs.f2fs", "f2fs-tools", &["f2fs"]),
    ("sqlite3", "sqlite3", &["sqlite"]),
    ("pgbench", "postgresql-15", &["pgbench"]),
    ("db_bench", "rocksdb-tools", &["rocksdb", hot_cold::NAME]),
    ("fio", "fio", &["files", nearly_full::NAME]),
];

/// Arguments of the bench.
#[derive(Args)]
pub(crate) struct RecipesArgs {
    /// A quarter of the work: a check that the bench works
    #[arg(long)]
    quick: bool,
    /// Program to use instead of a release build
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Only recipes whose name contains this, such as xfs, f2fs, pgbench, hot-cold, nearly-full or tree
    #[arg(long, value_name = "PART")]
    only: Option<String>,
}

/// Runs all recipes and returns the JSON document.
pub(crate) fn run(workspace: &Workspace, args: &RecipesArgs) -> Result<String> {
    let wanted = |name: &str| args.only.as_deref().is_none_or(|part| name.contains(part));
    let files = FileSystem::ALL.map(|file_system| (DRIVES[0], file_system, Work::Files));
    let databases = [Work::Sqlite, Work::Postgres, Work::RocksDb];
    let on_ext4 = |drive| databases.map(|work| (drive, FileSystem::Ext4, work));
    let all = files.into_iter().chain(DRIVES.into_iter().flat_map(on_ext4));
    let named = all
        .map(|it @ (_, file_system, work)| (format!("{}-{}", work.name(), file_system.name()), it));
    let chosen: Vec<_> = named.filter(|(name, _)| wanted(name)).collect();
    let others = [hot_cold::NAME, nearly_full::NAME, tree::NAME].into_iter();
    let others = others.filter(|name| wanted(name));
    check_programs(&chosen.iter().map(|(name, _)| &**name).chain(others).collect::<Vec<_>>())?;
    let program = super::program(workspace, args.program.as_deref())?;
    let bench = Bench { workspace, program, size: if args.quick { 1 } else { 4 } };
    let mut recipes = Vec::new();
    for (name, (drive, file_system, work)) in &chosen {
        eprintln!("[bench] {name} on {drive}");
        let recipe = bench.recipe(drive, *file_system, *work);
        recipes.push(recipe.with_context(|| format!("{name} on {drive}"))?);
    }
    let hot_cold = if wanted(hot_cold::NAME) { hot_cold::run(&bench)? } else { Vec::new() };
    let nearly_full =
        if wanted(nearly_full::NAME) { nearly_full::run(&bench)? } else { Vec::new() };
    let tree = if wanted(tree::NAME) { tree::run(&bench)? } else { Vec::new() };
    let document = json!({
        "bench": "recipes", "quick": args.quick, "recipes": recipes, "hot_cold": hot_cold,
        "nearly_full": nearly_full, "tree": tree,
    });
    Ok(serde_json::to_string_pretty(&document)?)
}

/// Fails without a program that one of these recipes needs, before the first of them begins; also if there is no recipe.
fn check_programs(recipes: &[&str]) -> Result<()> {
    ensure!(!recipes.is_empty(), "--only names no recipe");
    let is_needed = |words: &[&str]| {
        recipes.iter().any(|recipe| words.iter().any(|word| recipe.contains(word)))
    };
    let missing = PROGRAMS
        .into_iter()
        .filter(|(program, _, words)| is_needed(words) && proc::which(program).is_none());
    let packages: Vec<_> = missing.map(|(_, package, _)| package).collect();
    ensure!(packages.is_empty(), "programs are missing: apt-get install {}", packages.join(" "));
    Ok(())
}

struct Bench<'a> {
    workspace: &'a Workspace,
    program: PathBuf,
    /// Parts of the work, of which a quick run has one.
    size: u32,
}

/// The outcome of a recipe, wherever it ran.
struct Outcome {
    /// The account of the work.
    account: Value,
    power_cut: Value,
}

impl Bench<'_> {
    fn recipe(&self, drive: &str, file_system: FileSystem, work: Work) -> Result<Value> {
        let is_here = file_system.is_here();
        let outcome = if is_here {
            self.here(drive, file_system, work)?
        } else {
            ensure!(work == Work::Files, "the emulated machine has no {}", work.name());
            emulated::files(self, drive, file_system)?
        };
        let (account, accounting) = (&outcome.account, Accounting(&outcome.account));
        // The log of XFS has sectors of 512 bytes, and RocksDB ends its tables at such a one.
        let is_whole = file_system != FileSystem::Xfs && work != Work::RocksDb;
        let requests = if is_whole { Requests::WholePages } else { Requests::AnyBytes };
        accounting::check(account, requests)?;
        Ok(json!({
            "drive": drive,
            "file_system": file_system.name(),
            "work": work.name(),
            "machine": if is_here { "this" } else { "emulated" },
            "program_bytes": work.bytes(self.size),
            "host_requests": account["requests"]["write"],
            "host_bytes": account["bytes"]["write"],
            "host_pages": accounting.pages("host_pages")?,
            "programmed_pages": accounting.pages("programmed_pages")?,
            "waf": account["waf"],
            "flushes": account["requests"]["flush"],
            "simulated_ns": account["simulated_ns"],
            "power_cut": outcome.power_cut,
        }))
    }

    fn here(&self, drive: &str, file_system: FileSystem, work: Work) -> Result<Outcome> {
        let mut disk = Disk::make(&self.program, drive, file_system)?;
        disk.mount()?;
        work.prepare(&disk)?;
        disk.begin()?;
        work.run(&disk, self.size)?;
        let account = disk.account()?;
        let power_cut = self.cut(&mut disk, work)?;
        disk.end()?;
        Ok(Outcome { account, power_cut })
    }

    fn cut_after(&self) -> String {
        (self.size * CUT_AFTER).to_string()
    }

    /// Cuts the power during the same work, mounts again and looks.
    fn cut(&self, disk: &mut Disk, work: Work) -> Result<Value> {
        disk.order(&["cut", "--after-commands", &self.cut_after()])?;
        let is_noticed = work.run(disk, self.size).is_err();
        let report = disk.order(&["cuts"])?;
        work.stop(disk);
        disk.unmount()?;
        // The kernel replays the journal.
        disk.mount()?;
        let content = work.verdict(disk);
        disk.unmount()?;
        let words = |outcome: Result<&str>| {
            outcome.map_or_else(|fault| format!("{fault:#}"), ToOwned::to_owned)
        };
        let file_system = disk.check().map(|()| "clean");
        cut_row(is_noticed, &report, &words(file_system), &words(content))
    }
}

fn cut_row(is_noticed: bool, report: &Value, file_system: &str, content: &str) -> Result<Value> {
    let cut = &report["cuts"][0];
    ensure!(cut.is_object(), "the work ended before the power was cut: {report}");
    Ok(json!({
        "program_noticed": is_noticed,
        "pages_taken_back": cut["pages_taken_back"],
        "broken_pages": cut["broken_pages"],
        "file_system": file_system,
        "content": content,
    }))
}

/// A path as text.
fn text(path: &Path) -> String {
    path.display().to_string()
}
