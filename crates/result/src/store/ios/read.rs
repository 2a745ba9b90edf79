//! Reading the file, a row group at a time.

use std::path::PathBuf;

use base::OpKind;
use base::file::open_regular;
use base::text::shortened;

use super::super::columns::op_kind;
use super::super::decode::{RowFile, guarded};
use super::super::seal::{self, Seal};
use super::super::{RunDir, StoreError};
use super::IOS_FILE;

/// More rows than this for each byte of the file count as damage: differences that repeat take next
/// to nothing.
const ROWS_PER_BYTE_MAX: u64 = 64;

/// More rows than this in a group count as damage, because a group is read as one.
const GROUP_ROWS_MAX: usize = 1 << 20;

/// The rows of one row group, in columns of equal length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IosPart {
    /// Position of their phase in the run.
    pub phase_index: usize,
    /// Kinds of the commands.
    pub kinds: Vec<OpKind>,
    /// Times from which the latencies count, in ns from the start of the phase.
    pub due_ns: Vec<u64>,
    /// Times of the ends.
    pub done_ns: Vec<u64>,
    /// First bytes.
    pub offset_bytes: Vec<u64>,
}

impl RunDir {
    /// Calls `visit` with the rows of `ios.parquet`, group by group; returns whether the run has the
    /// file. Someone may have removed it, because it is the largest.
    ///
    /// # Errors
    /// If the file is damaged, or cannot be read.
    pub fn ios(&self, mut visit: impl FnMut(&IosPart)) -> Result<bool, StoreError> {
        let Some(path) = self.ios_file()? else { return Ok(false) };
        guarded(&path, || {
            let file = RowFile::open(&path, ROWS_PER_BYTE_MAX)?;
            (0..file.groups()).try_for_each(|index| {
                visit(&part(&file, index)?);
                Ok(())
            })
        })?;
        Ok(true)
    }

    /// The path of `ios.parquet`, whose bytes are intact, or `None` if the run has none.
    ///
    /// # Errors
    /// If the file is damaged, or cannot be read.
    pub fn ios_file(&self) -> Result<Option<PathBuf>, StoreError> {
        let path = self.path.join(IOS_FILE);
        if self.run.ios.is_none() || !path.exists() {
            return Ok(None);
        }
        let seal = open_regular(&path).and_then(seal::check_parquet);
        match seal.map_err(StoreError::io("read", &path))? {
            Seal::Whole => Ok(Some(path)),
            Seal::Broken | Seal::Absent => Err(StoreError::FileChanged { path }),
        }
    }
}

fn part(file: &RowFile, index: usize) -> Result<IosPart, StoreError> {
    let (group, rows) = file.group(index)?;
    if rows > GROUP_ROWS_MAX {
        return Err(file.column_error("phase", format!("{rows} rows in one group")));
    }
    let column = |name| file.required(group.as_ref(), name, rows);
    let phases = column("phase_index")?;
    let phase = phases.first().copied().unwrap_or_default();
    if phases.iter().any(|other| *other != phase) {
        return Err(file.column_error("phase_index", "a row group of two phases".to_owned()));
    }
    Ok(IosPart {
        phase_index: usize::try_from(phase).unwrap_or(usize::MAX),
        kinds: kinds(file, file.texts(group.as_ref(), "op", rows)?.iter().map(|op| op.data()))?,
        due_ns: column("due_ns")?,
        done_ns: column("done_ns")?,
        offset_bytes: column("offset_bytes")?,
    })
}

fn kinds<'a>(
    file: &RowFile,
    names: impl Iterator<Item = &'a [u8]>,
) -> Result<Vec<OpKind>, StoreError> {
    let kind = |name: &[u8]| {
        op_kind(name).ok_or_else(|| {
            let found = String::from_utf8_lossy(name);
            file.column_error("op", format!("`{}` is no kind of command", shortened(&found)))
        })
    };
    names.map(kind).collect()
}
