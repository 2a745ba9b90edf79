//! The programs that work on the files of a recipe.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use super::disk::Disk;
use super::file_system::command;
use xtask::proc;

/// A program that works on files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
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
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Sqlite => "sqlite",
            Self::Postgres => "pgbench",
            Self::RocksDb => "rocksdb",
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
const ROCKSDB_TABLE_BYTES: u32 = 8 << 20;
/// The verdict on data that no program checks.
pub(super) const UNCHECKED: &str = "not checked";
const PG_BIN: &str = "/usr/lib/postgresql/15/bin";

impl Work {
    /// Bytes that the program itself writes, or `None` where only it knows.
    pub(super) fn bytes(self, size: u32) -> Option<u64> {
        matches!(self, Self::Files).then_some(u64::from(size) * FIO_BYTES)
    }

    pub(super) fn prepare(self, disk: &Disk) -> Result<()> {
        match self {
            Self::Files => proc::capture(&mut command(&files_prepared(&disk.root()))).map(drop),
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
            Self::RocksDb => {
                let work = "--benchmarks=fillrandom,waitforcompaction";
                rocksdb(disk, &[work, &keys(4)]).map(drop)
            }
        }
    }

    pub(super) fn run(self, disk: &Disk, size: u32) -> Result<()> {
        match self {
            Self::Files => {
                proc::capture(&mut command(&files_written(&disk.root(), size))).map(drop)
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
    pub(super) fn stop(self, disk: &Disk) {
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
    pub(super) fn verdict(self, disk: &Disk) -> Result<&'static str> {
        const INTACT: &str = "intact";
        match self {
            Self::Files => Ok(UNCHECKED),
            Self::Sqlite => match sqlite(disk, "PRAGMA integrity_check;")?.trim() {
                "ok" => Ok(INTACT),
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
                checked.map(|_| INTACT)
            }
            Self::RocksDb => {
                let path = format!("--db={}", rocksdb_path(disk));
                proc::capture(Command::new("ldb").args([path.as_str(), "checkconsistency"]))?;
                // Every key, with its checksum.
                let read = ["--benchmarks=readseq", "--verify_checksum=true", &keys(4)];
                rocksdb(disk, &[&read[..], &["--use_existing_db=1"]].concat()).map(|_| INTACT)
            }
        }
    }
}

/// The words that make the files of fio.
pub(super) fn files_prepared(dir: &Path) -> Vec<String> {
    let pass = ["--rw=write", "--bs=1m", "--verify_interval=4096", "--end_fsync=1"];
    fio(dir, &pass)
}

/// The words of the random writes into them.
pub(super) fn files_written(dir: &Path, size: u32) -> Vec<String> {
    let io_size = format!("--io_size={}", u64::from(size) * FIO_BYTES);
    let pass = ["--rw=randwrite", "--bs=4k", "--fsync=32", "--norandommap", &io_size];
    fio(dir, &[&pass[..], &["--serialize_overlap=1"]].concat())
}

fn fio(dir: &Path, pass: &[&str]) -> Vec<String> {
    let common = ["fio", "--name=files", "--ioengine=psync", "--randseed=7", "--thread"];
    let verify = ["--verify=crc32c", "--do_verify=0", "--verify_state_save=0"];
    let files = [
        format!("--nrfiles={FILES}"),
        format!("--filesize={FILE_BYTES}"),
        format!("--directory={}", dir.display()),
    ];
    let words = common.iter().chain(&verify).chain(pass).map(|&word| word.to_owned());
    words.chain(files).collect()
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
    db_bench(disk, ROCKSDB_TABLE_BYTES, args)
}

/// `db_bench` with tables of this size, and levels in proportion.
pub(super) fn db_bench(disk: &Disk, table_bytes: u32, args: &[&str]) -> Result<String> {
    let mut command = Command::new("db_bench");
    command.arg(format!("--db={}", rocksdb_path(disk)));
    command.args(["--value_size=400", "--compression_type=none", "--seed=7", "--threads=1"]);
    command.arg(format!("--write_buffer_size={table_bytes}"));
    command.arg(format!("--target_file_size_base={table_bytes}"));
    command.arg(format!("--max_bytes_for_level_base={}", 4 * table_bytes));
    command.args(["--use_direct_io_for_flush_and_compaction=true"]);
    proc::capture_quietly(command.args(args))
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
