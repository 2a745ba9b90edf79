//! Conversion of Parquet to rows. It finds columns by name, so that it also reads files with more
//! columns, or with the columns in another order. Nothing in a file is trusted: sizes are bounded,
//! counts compared.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use base::file::open_regular;
use base::panics::caught;
use base::text::shortened;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;

use super::StoreError;
use super::columns::{Column, LATENCY, SERIES, op_kind};
use super::pages::column_reader;
use crate::rows::{LatencyRow, SecondRow};

/// Values decoded at a time.
const BATCH_ROWS: usize = 1 << 16;

/// More rows than this for each byte of the file count as damage: a run-length code of a few bytes
/// can claim to represent gigabytes. Times differ from row to row and take at least a byte. Bins of
/// a steady load repeat each second, and a copy of 64 bytes takes 3 in Snappy.
pub(super) const SERIES_ROWS_PER_BYTE_MAX: u64 = 1;
pub(super) const LATENCY_ROWS_PER_BYTE_MAX: u64 = 64;

/// Most rows of `series.parquet`: seven weeks of seconds. Each takes some hundred bytes of memory,
/// whatever it takes in the file, whose length an empty part can make as large as the disk permits.
pub(super) const SERIES_ROWS_MAX: u64 = 1 << 22;
/// Most rows of `latency.parquet`: a week of seconds with a hundred bins each.
pub(super) const LATENCY_ROWS_MAX: u64 = 1 << 26;

/// Longest description of the content at the end of a file: 2,000 phases have about 10 MB. In memory
/// it is some hundred times as large.
const FOOTER_BYTES_MAX: u32 = 32 << 20;
/// Length of the description and `PAR1`, the last bytes of a file.
const TAIL_BYTES: u64 = 8;

/// One of the Parquet files of a run directory.
pub(super) struct RowFile {
    path: PathBuf,
    reader: SerializedFileReader<File>,
}

impl RowFile {
    pub(super) fn open(path: &Path, rows_per_byte_max: u64) -> Result<Self, StoreError> {
        let file = open_regular(path).map_err(StoreError::io("read", path))?;
        let length_bytes = file.metadata().map_err(StoreError::io("read", path))?.len();
        check_footer(path, &file, length_bytes)?;
        let reader = SerializedFileReader::new(file).map_err(|error| damaged(path, &error))?;
        let mut rows_left = length_bytes.saturating_mul(rows_per_byte_max);
        for group in reader.metadata().row_groups() {
            rows_left = u64::try_from(group.num_rows())
                .ok()
                .and_then(|rows| rows_left.checked_sub(rows))
                .ok_or_else(|| too_many_rows(path, group.num_rows(), length_bytes))?;
            for column in group.columns() {
                check_extent(path, column, length_bytes)?;
            }
        }
        Ok(Self { path: path.to_owned(), reader })
    }

    /// Makes sure that the rows fit into memory.
    pub(super) fn check_rows(&self, rows_max: u64) -> Result<(), StoreError> {
        let groups = self.reader.metadata().row_groups().iter();
        let rows: u64 = groups.map(|group| group.num_rows().unsigned_abs()).sum();
        if rows <= rows_max {
            return Ok(());
        }
        let reason = format!("it claims {rows} rows, and no run has more than {rows_max}");
        Err(StoreError::Parquet { path: self.path.clone(), reason })
    }

    /// Whether the file has a column of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        schema.columns().iter().any(|column| column.path().parts() == [name.to_owned()])
    }

    /// The rows of `series.parquet` that belong to one phase.
    pub(super) fn seconds(&self, phase_index: usize) -> Result<Vec<SecondRow>, StoreError> {
        self.phase_rows(phase_index, |group, rows| {
            let of_second = |second| SecondRow { second, ..SecondRow::default() };
            let mut seconds: Vec<SecondRow> =
                self.numbers(group, "second", rows)?.into_iter().map(of_second).collect();
            self.fill(group, &SERIES, &mut seconds)?;
            Ok(seconds)
        })
    }

    /// The phases below `phases` with a row for each zone, and not for each second: their rows have
    /// a place. Row groups without a row of these phases, which nothing else reads, are skipped.
    pub(super) fn zoned_phases(&self, phases: usize) -> Result<BTreeSet<usize>, StoreError> {
        let mut zoned = BTreeSet::new();
        for index in 0..self.reader.num_row_groups() {
            let (group, rows) = self.group(index)?;
            let found = self.required(group.as_ref(), "phase_index", rows)?;
            let known: Vec<Option<usize>> = found
                .into_iter()
                .map(|phase| usize::try_from(phase).ok().filter(|phase| *phase < phases))
                .collect();
            if known.iter().all(Option::is_none) {
                continue;
            }
            let places = self.integers(group.as_ref(), "offset_bytes", rows)?.unwrap_or_default();
            zoned.extend(
                known.into_iter().zip(places).filter_map(|(phase, place)| place.and(phase)),
            );
        }
        Ok(zoned)
    }

    /// The rows of `latency.parquet` that belong to one phase.
    pub(super) fn latencies(&self, phase_index: usize) -> Result<Vec<LatencyRow>, StoreError> {
        self.phase_rows(phase_index, |group, rows| {
            let seconds = self.numbers(group, "second", rows)?;
            let ops = self.texts(group, "op", rows)?;
            let mut latencies = Vec::with_capacity(rows);
            for (second, op) in seconds.into_iter().zip(ops) {
                let op = op_kind(op.data()).ok_or_else(|| {
                    let found = String::from_utf8_lossy(op.data()).into_owned();
                    let reason = format!("`{}` is no kind of command", shortened(&found));
                    self.column_error("op", reason)
                })?;
                latencies.push(LatencyRow { second, op, lower_ns: 0, count: 0 });
            }
            self.fill(group, &*LATENCY, &mut latencies)?;
            Ok(latencies)
        })
    }

    /// Decodes every row group that holds rows of the phase and keeps those rows.
    fn phase_rows<R>(
        &self,
        phase_index: usize,
        decode: impl Fn(&dyn RowGroupReader, usize) -> Result<Vec<R>, StoreError>,
    ) -> Result<Vec<R>, StoreError> {
        let mut found = Vec::new();
        for index in 0..self.reader.num_row_groups() {
            let (group, rows) = self.group(index)?;
            let phases = self.required(group.as_ref(), "phase_index", rows)?;
            let belongs = |phase: &u64| usize::try_from(*phase) == Ok(phase_index);
            if phases.iter().any(belongs) {
                let rows = decode(group.as_ref(), rows)?;
                found.extend(
                    rows.into_iter().zip(&phases).filter(|(_, p)| belongs(p)).map(|(row, _)| row),
                );
            }
        }
        Ok(found)
    }

    /// A row group and the number of its rows.
    pub(super) fn group(
        &self,
        index: usize,
    ) -> Result<(Box<dyn RowGroupReader + '_>, usize), StoreError> {
        let group = self.reader.get_row_group(index);
        let group = group.map_err(|error| damaged(&self.path, &error))?;
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        Ok((group, rows))
    }

    /// Sets every column of the table that the file has; required ones must exist.
    fn fill<R>(
        &self,
        group: &dyn RowGroupReader,
        columns: &[Column<R>],
        rows: &mut [R],
    ) -> Result<(), StoreError> {
        for column in columns {
            let chunk = if column.required {
                self.required(group, column.name, rows.len())?.into_iter().map(Some).collect()
            } else {
                self.integers(group, column.name, rows.len())?.unwrap_or_default()
            };
            for (row, value) in rows.iter_mut().zip(chunk) {
                if let Some(value) = value {
                    (column.set)(row, value);
                }
            }
        }
        Ok(())
    }

    /// A required column of 32-bit numbers.
    fn numbers(
        &self,
        group: &dyn RowGroupReader,
        name: &str,
        rows: usize,
    ) -> Result<Vec<u32>, StoreError> {
        let to_u32 = |value: u64| {
            u32::try_from(value)
                .map_err(|_| self.column_error(name, format!("{value} is too large")))
        };
        self.required(group, name, rows)?.into_iter().map(to_u32).collect()
    }

    /// Number of row groups.
    pub(super) fn groups(&self) -> usize {
        self.reader.num_row_groups()
    }

    /// A required column with a value in every row.
    pub(super) fn required(
        &self,
        group: &dyn RowGroupReader,
        name: &str,
        rows: usize,
    ) -> Result<Vec<u64>, StoreError> {
        let values = self
            .integers(group, name, rows)?
            .ok_or_else(|| self.column_error(name, "it is missing".to_owned()))?;
        let missing = || self.column_error(name, "a row has no value".to_owned());
        values.into_iter().map(|value| value.ok_or_else(missing)).collect()
    }

    /// A column of integers that are not negative; `None` if the file does not have it.
    fn integers(
        &self,
        group: &dyn RowGroupReader,
        name: &str,
        rows: usize,
    ) -> Result<Option<Vec<Option<u64>>>, StoreError> {
        let Some(reader) = self.column(group, name)? else { return Ok(None) };
        let not_negative = |value: i64| {
            u64::try_from(value)
                .map_err(|_| self.column_error(name, format!("{value} is negative")))
        };
        let unify = |values: Vec<Option<i64>>| {
            values.into_iter().map(|v| v.map(not_negative).transpose()).collect()
        };
        let values: Result<Vec<Option<u64>>, StoreError> = match reader {
            ColumnReader::Int64ColumnReader(reader) => unify(self.read_chunk(reader, name, rows)?),
            ColumnReader::Int32ColumnReader(reader) => {
                let chunk = self.read_chunk(reader, name, rows)?;
                unify(chunk.into_iter().map(|v| v.map(i64::from)).collect())
            }
            _ => Err(self.column_error(name, "expected integers".to_owned())),
        };
        values.map(Some)
    }

    /// A required column of texts.
    pub(super) fn texts(
        &self,
        group: &dyn RowGroupReader,
        name: &str,
        rows: usize,
    ) -> Result<Vec<ByteArray>, StoreError> {
        let Some(ColumnReader::ByteArrayColumnReader(reader)) = self.column(group, name)? else {
            return Err(self.column_error(name, "expected a column of text".to_owned()));
        };
        let missing = || self.column_error(name, "a row has no value".to_owned());
        let chunk = self.read_chunk(reader, name, rows)?;
        chunk.into_iter().map(|value| value.ok_or_else(missing)).collect()
    }

    fn column(
        &self,
        group: &dyn RowGroupReader,
        name: &str,
    ) -> Result<Option<ColumnReader>, StoreError> {
        let columns = group.metadata().columns();
        let of_name = |c: &ColumnChunkMetaData| c.column_path().parts() == [name.to_owned()];
        let Some(index) = columns.iter().position(of_name) else { return Ok(None) };
        let description = columns[index].column_descr();
        if description.max_rep_level() > 0 || description.max_def_level() > 1 {
            return Err(self.column_error(name, "expected one plain value a row".to_owned()));
        }
        column_reader(group, index).map(Some).map_err(|error| damaged(&self.path, &error))
    }

    /// Reads a whole column chunk in batches, so that memory depends on the actual data.
    fn read_chunk<T: DataType>(
        &self,
        mut reader: ColumnReaderImpl<T>,
        name: &str,
        rows: usize,
    ) -> Result<Vec<Option<T::T>>, StoreError> {
        let mut values = Vec::new();
        loop {
            let (mut levels, mut batch) = (Vec::new(), Vec::new());
            let (records, present, _) = reader
                .read_records(BATCH_ROWS, Some(&mut levels), None, &mut batch)
                .map_err(|error| damaged(&self.path, &error))?;
            if records == 0 {
                break;
            }
            if levels.is_empty() {
                values.extend(batch.into_iter().take(present).map(Some));
            } else {
                let mut batch = batch.into_iter().take(present);
                values.extend(levels.iter().map(
                    |&level| {
                        if level > 0 { batch.next() } else { None }
                    },
                ));
            }
            if values.len() > rows {
                break;
            }
        }
        if values.len() != rows {
            let reason = format!("expected {rows} values, found {}", values.len());
            return Err(self.column_error(name, reason));
        }
        Ok(values)
    }

    pub(super) fn column_error(&self, column: &str, reason: String) -> StoreError {
        StoreError::Column { path: self.path.clone(), column: column.to_owned(), reason }
    }
}

/// Checks the length of the description at the end of the file.
fn check_footer(path: &Path, mut file: &File, length_bytes: u64) -> Result<(), StoreError> {
    // A shorter file is refused by the reader of Parquet.
    let Some(at) = length_bytes.checked_sub(TAIL_BYTES) else { return Ok(()) };
    let mut tail = [0; 4];
    let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut tail));
    read.map_err(StoreError::io("read", path))?;
    let footer_bytes = u32::from_le_bytes(tail);
    if footer_bytes <= FOOTER_BYTES_MAX {
        return Ok(());
    }
    let reason = format!(
        "it claims a description of {footer_bytes} bytes, and no run has more than {FOOTER_BYTES_MAX}"
    );
    Err(StoreError::Parquet { path: path.to_owned(), reason })
}

/// Checks that a column chunk lies within the file; the Parquet reader assumes this.
fn check_extent(
    path: &Path,
    column: &ColumnChunkMetaData,
    length_bytes: u64,
) -> Result<(), StoreError> {
    let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
    let end = start.checked_add(column.compressed_size());
    let fits = start >= 0
        && column.compressed_size() >= 0
        && end.and_then(|end| u64::try_from(end).ok()).is_some_and(|end| end <= length_bytes);
    if fits {
        return Ok(());
    }
    Err(StoreError::Parquet {
        path: path.to_owned(),
        reason: format!("column `{}` lies outside the file", column.column_path()),
    })
}

fn too_many_rows(path: &Path, rows: i64, length_bytes: u64) -> StoreError {
    let reason = format!("a row group claims {rows} rows, in a file of {length_bytes} bytes");
    StoreError::Parquet { path: path.to_owned(), reason }
}

/// Runs `read`, and treats a panic in the Parquet decoder as a damaged file. Earlier checks cover
/// the known causes; this one covers unknown ones.
pub(super) fn guarded<T>(
    path: &Path,
    read: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    caught(read).unwrap_or_else(|| {
        Err(StoreError::Parquet {
            path: path.to_owned(),
            reason: "the decoder gave up on its content".to_owned(),
        })
    })
}

fn damaged(path: &Path, error: &ParquetError) -> StoreError {
    StoreError::Parquet { path: path.to_owned(), reason: error.to_string() }
}
