//! The index of a library: a row and a packed file for each run, in SQLite. It is derived from the
//! run directories, kept in step by the sizes and times of their files, and rebuilt at will.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use result::bench::{Digest, Library, Rejected, Row, RunCandidate, scan};
use result::schema::RunStatus;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Transaction, params};

use crate::ServeError;

/// Name of the index within a library.
pub const INDEX_FILE: &str = "index.sqlite";

/// Version of the tables; another one is rebuilt.
const TABLES_VERSION: i64 = 2;
/// Runs that one transaction adds: a kill loses the work on these at most.
const BATCH: usize = 64;
/// Patience with another process that writes the index.
const BUSY: Duration = Duration::from_secs(10);

/// `row` and `packed` belong to a sound run, `reason` to a rejected one. `figures` is for people
/// with questions in SQL.
const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS runs (
        name TEXT PRIMARY KEY,
        stamp TEXT NOT NULL,
        is_final INTEGER NOT NULL,
        row TEXT,
        packed BLOB,
        reason TEXT
    ) STRICT;
    CREATE VIEW IF NOT EXISTS figures AS
        SELECT name,
            json_extract(row, '$.run.test') AS test,
            json_extract(row, '$.target.name') AS drive,
            json_extract(row, '$.target.kind') AS kind,
            json_extract(row, '$.run.started') AS started,
            figure.key AS figure,
            figure.value AS value
        FROM runs, json_each(row, '$.run.figures') AS figure
        WHERE row IS NOT NULL;
";

/// The index of one library.
#[derive(Debug)]
pub struct Index {
    library: PathBuf,
    db: Connection,
}

/// Changes that a refresh found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexChanges {
    /// Run directories read, sound or not.
    pub read: usize,
    /// Run directories that are gone.
    pub gone: usize,
}

/// A packed run and the state of the files that it comes from.
pub(crate) struct PackedRun {
    pub(crate) stamp: String,
    pub(crate) content: Vec<u8>,
}

impl Index {
    /// The index in the library, or one in memory if the library takes no file, or something else has
    /// its name. A damaged index, or one of another version, is replaced.
    ///
    /// # Errors
    /// If there is no library, or no memory for an index.
    pub fn open(library: &Path) -> Result<Self, ServeError> {
        if !library.is_dir() {
            return Err(ServeError::NoLibrary { path: library.to_owned() });
        }
        let path = library.canonicalize().unwrap_or_else(|_| library.to_owned()).join(INDEX_FILE);
        let db = match prepared(open(&path)) {
            Ok(db) => db,
            Err(error) if is_damaged(&error) && is_index(&path) => {
                let _ = std::fs::remove_file(&path);
                prepared(open(&path)).or_else(|_| in_memory())?
            }
            Err(_) => in_memory()?,
        };
        Ok(Self { library: library.to_owned(), db })
    }

    /// Reads the run directories that changed since the last time.
    ///
    /// # Errors
    /// If the library or the index fails. A run that cannot be read is no error.
    pub fn refresh(&mut self) -> Result<IndexChanges, ServeError> {
        let found = scan(&self.library)?;
        let mut known = self.known()?;
        let changed: Vec<_> = found
            .iter()
            .filter(|run| known.remove(&run.name).is_none_or(|stamp| stamp != run.stamp))
            .collect();
        // Changed ones are removed from `known` as well: the rest has no directory any more.
        let gone = known.len();
        let removal = self.db.transaction()?;
        for name in known.keys() {
            removal.execute("DELETE FROM runs WHERE name = ?1", [name])?;
        }
        removal.commit()?;
        for batch in changed.chunks(BATCH) {
            self.add(batch)?;
        }
        Ok(IndexChanges { read: changed.len(), gone })
    }

    /// The rows of all runs, as of the last refresh.
    ///
    /// # Errors
    /// If the index fails.
    pub fn library(&self, title: &str) -> Result<Library, ServeError> {
        let mut rows = Vec::new();
        let mut rejected = Vec::new();
        let mut query = self.db.prepare_cached("SELECT name, row, reason FROM runs")?;
        let mut found = query.query([])?;
        while let Some(line) = found.next()? {
            let (name, row, reason): (String, Option<String>, Option<String>) =
                (line.get(0)?, line.get(1)?, line.get(2)?);
            match row {
                Some(row) => rows.push(serde_json::from_str::<Row>(&row)?),
                None => rejected.push(Rejected { name, reason: reason.unwrap_or_default() }),
            }
        }
        Ok(Library::of(title, rows, rejected))
    }

    /// The packed file of a run, or `None` if there is no sound run of this name.
    ///
    /// # Errors
    /// If the index fails.
    pub fn packed(&self, name: &str) -> Result<Option<Vec<u8>>, ServeError> {
        Ok(self.packed_run(name)?.map(|packed| packed.content))
    }

    pub(crate) fn packed_run(&self, name: &str) -> Result<Option<PackedRun>, ServeError> {
        let sql = "SELECT stamp, packed FROM runs WHERE name = ?1 AND packed IS NOT NULL";
        let mut query = self.db.prepare_cached(sql)?;
        let packed =
            |line: &rusqlite::Row<'_>| Ok(PackedRun { stamp: line.get(0)?, content: line.get(1)? });
        Ok(query.query_row([name], packed).optional()?)
    }

    /// The stamps of all runs by name; an empty one for a run that may change without its files: the
    /// end of its writer.
    fn known(&self) -> Result<std::collections::BTreeMap<String, String>, ServeError> {
        let sql = "SELECT name, CASE is_final WHEN 1 THEN stamp ELSE '' END FROM runs";
        let mut query = self.db.prepare_cached(sql)?;
        let lines = query.query_map([], |line| Ok((line.get(0)?, line.get(1)?)))?;
        Ok(lines.collect::<Result<_, _>>()?)
    }

    fn add(&mut self, batch: &[&RunCandidate]) -> Result<(), ServeError> {
        let digests = digests(batch);
        let transaction = self.db.transaction()?;
        for (found, digest) in batch.iter().zip(digests) {
            match digest {
                Ok(digest) => put_sound(&transaction, found, &digest)?,
                Err(reason) => put_rejected(&transaction, found, &reason)?,
            }
        }
        Ok(transaction.commit()?)
    }
}

fn put_sound(
    db: &Transaction<'_>,
    found: &RunCandidate,
    digest: &Digest,
) -> Result<(), ServeError> {
    let is_final = digest.row.run.status != RunStatus::Running;
    let row = serde_json::to_string(&digest.row)?;
    let sql = "INSERT OR REPLACE INTO runs VALUES (?1, ?2, ?3, ?4, ?5, NULL)";
    let mut insert = db.prepare_cached(sql)?;
    insert.execute(params![found.name, found.stamp, is_final, row, digest.packed])?;
    Ok(())
}

fn put_rejected(
    db: &Transaction<'_>,
    found: &RunCandidate,
    reason: &str,
) -> Result<(), ServeError> {
    let sql = "INSERT OR REPLACE INTO runs VALUES (?1, ?2, 1, NULL, NULL, ?3)";
    db.prepare_cached(sql)?.execute(params![found.name, found.stamp, reason])?;
    Ok(())
}

/// The digests of a batch, in its order, by all processors.
fn digests(batch: &[&RunCandidate]) -> Vec<Result<Digest, String>> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let each = batch.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        let work =
            |part: &[&RunCandidate]| part.iter().map(|one| Digest::of(one)).collect::<Vec<_>>();
        let parts: Vec<_> =
            batch.chunks(each).map(|part| (part, scope.spawn(move || work(part)))).collect();
        let failed = |part: &[&RunCandidate]| vec![Err("its reader failed".to_owned()); part.len()];
        let joined = parts.into_iter().map(|(part, thread)| thread.join().unwrap_or(failed(part)));
        joined.flatten().collect()
    })
}

/// A connection to the file itself: behind a link may be a database of somebody else.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(path, OpenFlags::default() | OpenFlags::SQLITE_OPEN_NOFOLLOW)
}

/// Whether a file that cannot be used is a database at all; another one is not an index, whatever its
/// name.
fn is_index(path: &Path) -> bool {
    const MAGIC: &[u8] = b"SQLite format 3\0";
    let mut head = [0; MAGIC.len()];
    let read = base::file::open_regular(path).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head == MAGIC
}

/// A connection with the tables of this version.
fn prepared(opened: rusqlite::Result<Connection>) -> rusqlite::Result<Connection> {
    let db = opened?;
    db.busy_timeout(BUSY)?;
    // Derived data: after a power loss it is damaged at worst, and then rebuilt.
    db.pragma_update(None, "synchronous", "OFF")?;
    db.pragma_update(None, "trusted_schema", "OFF")?;
    let version: i64 = db.pragma_query_value(None, "user_version", |line| line.get(0))?;
    // Another program has a database of this name; it is none of ours to change.
    let sql = "SELECT count(*) FROM sqlite_schema WHERE tbl_name NOT IN ('runs', 'figures')";
    if db.query_row(sql, [], |line| line.get::<_, i64>(0))? > 0 {
        return Err(rusqlite::Error::InvalidQuery);
    }
    if version != TABLES_VERSION {
        db.execute_batch("DROP VIEW IF EXISTS figures; DROP TABLE IF EXISTS runs;")?;
    }
    db.execute_batch(TABLES)?;
    db.pragma_update(None, "user_version", TABLES_VERSION)?;
    Ok(db)
}

fn in_memory() -> rusqlite::Result<Connection> {
    prepared(Connection::open_in_memory())
}

fn is_damaged(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}
