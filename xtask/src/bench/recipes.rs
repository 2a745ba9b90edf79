//! Recipes: file systems and databases on exposed drives, and a power cut during each.
//!
//! Needs root, FUSE and loop devices. A file system that the kernel does not know is left out and named. Time is that of
//! the drive on the fast clock: the program itself costs none.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::{Value, json};

use super::expose::Server;
use super::scratch::ScratchDir;
use crate::proc;
use crate::workspace::Workspace;

/// Drives of 1.2 GB: without and with capacitors.
const DRIVES: [&str; 2] =
    ["sim:sandisk-extreme-ii-480gb?scale=1/400", "sim:intel-ssd-730-480gb?scale=1/400"];
const FILE_SYSTEMS: [&str; 4] = ["ext4", "xfs", "btrfs", "f2fs"];
/// Commands of the drive before its power goes.
const CUT_AFTER: &str = "1000";

/// Arguments of the bench.
#[derive(Args)]
pub(crate) struct RecipesArgs {
    /// A quarter of the work: a check that the bench works
    #[arg(long)]
    quick: bool,
    /// Program to use instead of a release build
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// A program that works on files.
#[derive(Clone, Copy)]
enum Work {
    /// fio: random writes into 64 files.
    Files,
    /// `SQLite`: transactions that update rows.
    Sqlite,
    /// `PostgreSQL`: pgbench.
    Postgres,
    /// `RocksDB`: overwrites that its compaction rewrites.
    RocksDb,
}

impl Work {
    fn name(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Sqlite => "sqlite",
            Self::Postgres => "pgbench",
            Self::RocksDb => "rocksdb",
        }
    }
}

/// Runs all recipes and returns the JSON document.
pub(crate) fn run(workspace: &Workspace, args: &RecipesArgs) -> Result<String> {
    let program = super::program(workspace, args.program.as_deref())?;
    let known = fs::read_to_string("/proc/filesystems").context("Linux tells its file systems")?;
    let knows = |name: &str| known.lines().any(|line| line.trim() == name);
    let (present, absent): (Vec<_>, Vec<_>) =
        FILE_SYSTEMS.into_iter().partition(|name| load_module(name) || knows(name));
    let bench = Bench { program, size: if args.quick { 1 } else { 4 } };
    let files = present.iter().map(|name| (DRIVES[0], *name, Work::Files));
    let databases = [Work::Sqlite, Work::Postgres, Work::RocksDb];
    let databases = DRIVES.iter().flat_map(|drive| databases.map(|work| (*drive, "ext4", work)));
    let recipes = files.chain(databases).map(|(drive, file_system, work)| {
        bench
            .recipe(drive, file_system, work)
            .with_context(|| format!("{} on {file_system}", work.name()))
    });
    let recipes = recipes.collect::<Result<Vec<_>>>()?;
    let document = json!({
        "bench": "recipes", "quick": args.quick, "recipes": recipes, "file_systems_absent": absent,
    });
    Ok(serde_json::to_string_pretty(&document)?)
}

fn load_module(name: &str) -> bool {
    proc::succeeds(Command::new("modprobe").args(["--quiet", name]))
}

struct Bench {
    program: PathBuf,
    /// Parts of the work, of which a quick run has one.
    size: u32,
}

impl Bench {
    fn recipe(&self, drive: &str, file_system: &str, work: Work) -> Result<Value> {
        let mut disk = Disk::make(&self.program, drive, file_system)?;
        disk.mount()?;
        work.prepare(&disk)?;
        disk.sync()?;
        disk.order(&["reset"])?;
        work.run(&disk, self.size)?;
        disk.sync()?;
        let status = disk.order(&["status"])?;
        let cut = self.cut(&mut disk, work)?;
        disk.end()?;
        let pages = |name: &str| status["telemetry"][name].as_u64().unwrap_or(0);
        Ok(json!({
            "drive": drive,
            "file_system": file_system,
            "work": work.name(),
            "program_bytes": work.bytes(self.size),
            "host_requests": status["requests"]["write"],
            "host_bytes": status["bytes"]["write"],
            "host_pages": pages("host_pages"),
            "programmed_pages": pages("programmed_pages"),
            "waf": status["waf"],
            "flushes": status["requests"]["flush"],
            "simulated_ns": status["simulated_ns"],
            "power_cut": cut,
        }))
    }

    /// Cuts the power during the same work, mounts again and looks.
    fn cut(&self, disk: &mut Disk, work: Work) -> Result<Value> {
        disk.order(&["cut", "--after-commands", CUT_AFTER])?;
        let is_noticed = work.run(disk, self.size).is_err();
        let report = disk.order(&["cuts"])?["cuts"][0].clone();
        work.stop(disk);
        disk.unmount()?;
        // The kernel replays the journal.
        disk.mount()?;
        let content = work.verdict(disk);
        disk.unmount()?;
        let check = disk.check();
        Ok(json!({
            "program_noticed": is_noticed,
            "pages_taken_back": report["pages_taken_back"],
            "broken_pages": report["broken_pages"],
            "file_system": check.map_or_else(|fault| format!("{fault:#}"), |()| "clean".to_owned()),
            "content": content.map_or_else(|fault| format!("{fault:#}"), |()| "intact".to_owned()),
        }))
    }
}

/// A file system on a loop device over the file of an exposed drive.
struct Disk {
    program: PathBuf,
    file_system: String,
    server: Option<Server>,
    loop_device: String,
    is_mounted: bool,
    dir: ScratchDir,
}

impl Disk {
    fn make(program: &Path, drive: &str, file_system: &str) -> Result<Self> {
        let dir = ScratchDir::make(None)?;
        for name in ["fuse", "fs"] {
            fs::create_dir(dir.0.join(name))?;
        }
        let socket = dir.0.join("ssdlab.sock");
        let mut command = Command::new(program);
        command.args(["expose", drive, "--no-run", "--power-cuts", "--format", "json", "--fuse"]);
        command.arg(dir.0.join("fuse")).arg("--control").arg(dir.0.join("control"));
        let server = Server::start(command.arg("--nbd").arg(&socket), socket)?;
        let mut disk = Self {
            program: program.to_owned(),
            file_system: file_system.to_owned(),
            server: Some(server),
            loop_device: String::new(),
            is_mounted: false,
            dir,
        };
        let file = disk.dir.0.join("fuse/disk");
        let mut losetup = Command::new("losetup");
        losetup.args(["--find", "--show", "--direct-io=on"]).arg(file);
        disk.loop_device = proc::capture(&mut losetup)?.trim().to_owned();
        let quiet: &[&str] = if file_system == "btrfs" { &["--quiet"] } else { &["-q"] };
        let mut mkfs = Command::new(format!("mkfs.{file_system}"));
        proc::capture(mkfs.args(quiet).arg(&disk.loop_device))?;
        Ok(disk)
    }

    fn root(&self) -> PathBuf {
        self.dir.0.join("fs")
    }

    fn mount(&mut self) -> Result<()> {
        let mut mount = Command::new("mount");
        proc::capture(mount.args(["-t", &self.file_system, &self.loop_device]).arg(self.root()))?;
        self.is_mounted = true;
        Ok(())
    }

    /// Unmounts, as soon as the processes of a stopped program are gone.
    fn unmount(&mut self) -> Result<()> {
        let end = Instant::now() + Duration::from_secs(20);
        while let Err(error) = proc::capture(Command::new("umount").arg(self.root())) {
            if Instant::now() > end {
                return Err(error);
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        self.is_mounted = false;
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        proc::capture(Command::new("sync").arg("--file-system").arg(self.root())).map(drop)
    }

    fn order(&self, order: &[&str]) -> Result<Value> {
        let mut command = Command::new(&self.program);
        command.arg("drive").arg(self.dir.0.join("control")).args(order);
        Ok(serde_json::from_str(&proc::capture(command.args(["--format", "json"]))?)?)
    }

    /// The check of the file system, which changes nothing.
    fn check(&self) -> Result<()> {
        let (program, args): (_, &[&str]) = match self.file_system.as_str() {
            "ext4" => ("e2fsck", &["-f", "-n"]),
            "xfs" => ("xfs_repair", &["-n"]),
            "btrfs" => ("btrfs", &["check", "--readonly"]),
            "f2fs" => ("fsck.f2fs", &["--dry-run"]),
            other => bail!("no check of {other} is known"),
        };
        proc::capture(Command::new(program).args(args).arg(&self.loop_device)).map(drop)
    }

    fn end(mut self) -> Result<()> {
        proc::capture(Command::new("losetup").args(["--detach", &self.loop_device]))?;
        self.loop_device.clear();
        let server = self.server.take().context("it serves")?;
        server.end().map(drop)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // A thing that fails here is gone already.
        if self.is_mounted {
            let _ = Command::new("umount").arg(self.root()).status();
        }
        if !self.loop_device.is_empty() {
            let _ = Command::new("losetup").args(["--detach", &self.loop_device]).status();
        }
        let fuse = self.dir.0.join("fuse");
        if let Some(server) = self.server.take() {
            drop(server);
            let _ = Command::new("umount").arg(fuse).status();
        }
    }
}

/// Files of fio, each of 8 MB.
const FILES: u64 = 64;
const FILE_BYTES: u64 = 8 << 20;
/// Bytes that fio writes in a part.
const FIO_BYTES: u64 = 64 << 20;
const SQLITE_ROWS: u32 = 100_000;
const SQLITE_UPDATES: u32 = 400;
const PG_TRANSACTIONS: u32 = 250;
/// Keys in a quarter of the tree, and their overwrites in a part.
const ROCKSDB_KEYS: u32 = 125_000;
const PG_BIN: &str = "/usr/lib/postgresql/15/bin";

impl Work {
    /// Bytes that the program itself writes, or `None` where only it knows.
    fn bytes(self, size: u32) -> Option<u64> {
        matches!(self, Self::Files).then_some(u64::from(size) * FIO_BYTES)
    }

    fn prepare(self, disk: &Disk) -> Result<()> {
        match self {
            Self::Files => fio(disk, &["--rw=write", "--bs=1m", "--verify=crc32c", "--verify_interval=4096", "--do_verify=0", "--end_fsync=1"]),
            Self::Sqlite => sqlite(
                disk,
                &format!(
                    "PRAGMA journal_mode=WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, v BLOB);
                     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {SQLITE_ROWS})
                     INSERT INTO t SELECT i, randomblob(100) FROM n;"
                ),
            )
            .map(drop),
            Self::Postgres => postgres_prepare(disk),
            Self::RocksDb => rocksdb(disk, &["--benchmarks=fillrandom,waitforcompaction", &keys(4)]).map(drop),
        }
    }

    fn run(self, disk: &Disk, size: u32) -> Result<()> {
        match self {
            Self::Files => {
                let io_size = format!("--io_size={}", u64::from(size) * FIO_BYTES);
                fio(
                    disk,
                    &[
                        "--rw=randwrite",
                        "--bs=4k",
                        "--fsync=32",
                        "--norandommap",
                        &io_size,
                        "--verify=crc32c",
                        "--do_verify=0",
                        "--serialize_overlap=1",
                    ],
                )
            }
            Self::Sqlite => {
                let update = |index: u32| {
                    let id = (u64::from(index) * 7919 * 31 % u64::from(SQLITE_ROWS)) + 1;
                    format!("UPDATE t SET v = randomblob(100) WHERE id = {id};")
                };
                let updates: Vec<_> = (0..size * SQLITE_UPDATES).map(update).collect();
                sqlite(disk, &format!("PRAGMA synchronous=FULL; {}", updates.join("\n"))).map(drop)
            }
            Self::Postgres => {
                let transactions = (size * PG_TRANSACTIONS / 4).to_string();
                let args =
                    ["--host=/tmp", "--client=4", "--no-vacuum", "--transactions", &transactions];
                as_postgres(disk, "/usr/bin/pgbench", &[&args[..], &["postgres"]].concat())
                    .map(drop)
            }
            Self::RocksDb => {
                let writes = format!("--writes={}", size * ROCKSDB_KEYS);
                let work = "--benchmarks=overwrite,waitforcompaction";
                rocksdb(disk, &[work, &keys(4), &writes, "--use_existing_db=1"]).map(drop)
            }
        }
    }

    /// Ends what still runs after a cut.
    fn stop(self, disk: &Disk) {
        if let Self::Postgres = self {
            // It may have ended by itself.
            let _ = as_postgres(
                disk,
                &format!("{PG_BIN}/pg_ctl"),
                &["stop", "--mode=immediate", "--pgdata", &data(disk)],
            );
        }
    }

    /// The verdict of the program on its data.
    fn verdict(self, disk: &Disk) -> Result<()> {
        match self {
            Self::Files => Ok(()),
            Self::Sqlite => match sqlite(disk, "PRAGMA integrity_check;")?.trim() {
                "ok" => Ok(()),
                other => bail!("{other}"),
            },
            Self::Postgres => {
                postgres_start(disk)?;
                let checked = as_postgres(
                    disk,
                    &format!("{PG_BIN}/pg_amcheck"),
                    &["--host=/tmp", "--all", "--install-missing"],
                );
                as_postgres(disk, &format!("{PG_BIN}/pg_ctl"), &["stop", "--pgdata", &data(disk)])?;
                checked.map(drop)
            }
            Self::RocksDb => {
                let path = format!("--db={}", rocksdb_path(disk));
                proc::capture(Command::new("ldb").args([path.as_str(), "checkconsistency"]))?;
                // Every key, with its checksum.
                let read = ["--benchmarks=readseq", "--verify_checksum=true", &keys(4)];
                rocksdb(disk, &[&read[..], &["--use_existing_db=1"]].concat()).map(drop)
            }
        }
    }
}

fn fio(disk: &Disk, args: &[&str]) -> Result<()> {
    let mut command = Command::new("fio");
    command.args([
        "--name=files",
        "--ioengine=psync",
        "--randseed=7",
        "--thread",
        "--verify_state_save=0",
    ]);
    command.arg(format!("--nrfiles={FILES}")).arg(format!("--filesize={FILE_BYTES}"));
    command.arg(format!("--directory={}", disk.root().display())).args(args);
    proc::capture(&mut command).map(drop)
}

fn sqlite(disk: &Disk, sql: &str) -> Result<String> {
    let script = disk.dir.0.join("script.sql");
    fs::write(&script, sql)?;
    let read = format!(".read {}", script.display());
    proc::capture(Command::new("sqlite3").arg("-bail").arg(disk.root().join("test.db")).arg(read))
}

fn keys(parts: u32) -> String {
    format!("--num={}", parts * ROCKSDB_KEYS)
}

fn rocksdb_path(disk: &Disk) -> String {
    disk.root().join("rocksdb").to_string_lossy().into_owned()
}

/// `db_bench` with small tables, so that a small drive sees many compactions.
fn rocksdb(disk: &Disk, args: &[&str]) -> Result<String> {
    let mut command = Command::new("db_bench");
    command.arg(format!("--db={}", rocksdb_path(disk)));
    command.args(["--value_size=400", "--compression_type=none", "--seed=7", "--threads=1"]);
    command.args(["--write_buffer_size=8388608", "--target_file_size_base=8388608"]);
    command.args(["--max_bytes_for_level_base=33554432"]);
    command.args(["--use_direct_io_for_flush_and_compaction=true"]);
    proc::capture(command.args(args))
}

fn data(disk: &Disk) -> String {
    disk.root().join("pg").to_string_lossy().into_owned()
}

fn as_postgres(disk: &Disk, program: &str, args: &[&str]) -> Result<String> {
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--init-groups", program]).args(args);
    proc::capture(command.current_dir(disk.root()).env("PGPORT", "54327"))
}

fn postgres_prepare(disk: &Disk) -> Result<()> {
    let data = data(disk);
    fs::create_dir(&data)?;
    proc::capture(Command::new("chown").args(["postgres", &data]))?;
    for dir in [disk.dir.0.clone(), disk.root()] {
        proc::capture(Command::new("chmod").arg("a+rx").arg(dir))?;
    }
    let initdb = format!("{PG_BIN}/initdb");
    as_postgres(
        disk,
        &initdb,
        &["--pgdata", &data, "--data-checksums", "--auth=trust", "--wal-segsize=1"],
    )?;
    postgres_start(disk)?;
    let args = ["--host=/tmp", "--initialize", "--quiet", "--scale=10", "postgres"];
    as_postgres(disk, "/usr/bin/pgbench", &args).map(drop)
}

fn postgres_start(disk: &Disk) -> Result<()> {
    let options = "-k /tmp -p 54327 -c listen_addresses= -c max_wal_size=64MB -c logging_collector=on -c log_directory=/tmp/ssdlab-recipes-pg";
    let args = [
        "start",
        "--wait",
        "--silent",
        "--log=/dev/null",
        "--pgdata",
        &data(disk),
        "--options",
        options,
    ];
    as_postgres(disk, &format!("{PG_BIN}/pg_ctl"), &args).map(drop)
}
