//! Conversion of a trace file to records. Columns are found by name; nothing in the file is
//! trusted.

use base::panics::caught;
use parquet::basic::Compression;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, FileReader};
use parquet::file::serialized_reader::SerializedFileReader;

use super::strict::{PIECE_BYTES_MAX, Strict};
use super::{COLUMNS, Column, Header, INFO_KEY, TRACE_VERSION};
use crate::trace::{Record, Source, TraceError, TraceInfo};

/// Records decoded at a time.
const BATCH_ROWS: usize = 1 << 13;

/// More records than this for each byte of the file count as damage. Eight columns of equal
/// differences take a sixth of a byte per record, so no honest file comes near; a few bytes of run
/// lengths can claim billions.
const RECORDS_PER_BYTE_MAX: u64 = 16;

/// Reads a trace file.
pub struct TraceReader<R: ChunkReader + 'static> {
    what: String,
    file: SerializedFileReader<Strict<R>>,
    info: TraceInfo,
    records: u64,
    next_group: usize,
    /// The columns of the open row group, in the order of [`COLUMNS`].
    columns: Vec<ColumnReader>,
    rows_left: u64,
    batch: Vec<Record>,
    next: usize,
    last_ns: u64,
}

impl<R: ChunkReader + 'static> TraceReader<R> {
    /// Opens a trace file; `what` names it in errors.
    ///
    /// # Errors
    /// If it is no trace file, or one of a later version.
    pub fn new(input: R, what: &str) -> Result<Self, TraceError> {
        let length_bytes = input.len();
        let file = guarded(what, || {
            SerializedFileReader::new(Strict(input)).map_err(|error| damaged(what, &error))
        })?;
        let info = description(&file, what)?;
        let mut records = 0_u64;
        for group in file.metadata().row_groups() {
            let rows = u64::try_from(group.num_rows());
            let rows =
                rows.map_err(|_| wrong(what, "a row group claims less than no rows".to_owned()))?;
            records = records.saturating_add(rows);
            for column in group.columns() {
                check_chunk(what, column, length_bytes)?;
            }
        }
        if records / RECORDS_PER_BYTE_MAX > length_bytes {
            return Err(wrong(
                what,
                format!("it claims {records} records in {length_bytes} bytes"),
            ));
        }
        Ok(Self {
            what: what.to_owned(),
            file,
            info,
            records,
            next_group: 0,
            columns: Vec::new(),
            rows_left: 0,
            batch: Vec::new(),
            next: 0,
            last_ns: 0,
        })
    }

    /// Number of records by the file's own statement.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Fills the batch; false at the end of the trace.
    fn refill(&mut self) -> Result<bool, TraceError> {
        while self.rows_left == 0 {
            if self.next_group == self.file.num_row_groups() {
                return Ok(false);
            }
            self.open_group()?;
        }
        let rows = BATCH_ROWS.min(usize::try_from(self.rows_left).unwrap_or(BATCH_ROWS));
        self.batch.clear();
        self.batch.resize(rows, Record::new(0, base::OpKind::Read, 0, 0));
        self.next = 0;
        let Self { what, columns, batch, .. } = self;
        for (column, reader) in COLUMNS.iter().zip(columns) {
            match reader {
                ColumnReader::Int64ColumnReader(reader) => fill(what, column, reader, batch)?,
                ColumnReader::Int32ColumnReader(reader) => fill(what, column, reader, batch)?,
                _ => {
                    return Err(wrong(what, format!("column `{}` holds no integers", column.name)));
                }
            }
        }
        self.rows_left -= rows as u64;
        Ok(true)
    }

    fn open_group(&mut self) -> Result<(), TraceError> {
        let group = self
            .file
            .get_row_group(self.next_group)
            .map_err(|error| damaged(&self.what, &error))?;
        self.columns.clear();
        for column in &COLUMNS {
            let of_name =
                |c: &ColumnChunkMetaData| c.column_path().parts() == [column.name.to_owned()];
            let index = group.metadata().columns().iter().position(of_name);
            let index = index
                .ok_or_else(|| wrong(&self.what, format!("it has no column `{}`", column.name)))?;
            let reader =
                group.get_column_reader(index).map_err(|error| damaged(&self.what, &error))?;
            self.columns.push(reader);
        }
        self.rows_left = u64::try_from(group.metadata().num_rows()).unwrap_or(0);
        self.next_group += 1;
        Ok(())
    }

    fn check_order(&mut self, record: &Record) -> Result<(), TraceError> {
        if record.issue_ns < self.last_ns {
            let (now, before) = (record.issue_ns, self.last_ns);
            let reason = format!("a record at {now} ns follows one at {before} ns");
            return Err(wrong(&self.what, reason));
        }
        self.last_ns = record.issue_ns;
        Ok(())
    }
}

impl<R: ChunkReader + 'static> Source for TraceReader<R> {
    fn next_record(&mut self) -> Result<Option<Record>, TraceError> {
        if self.next == self.batch.len() {
            let what = self.what.clone();
            if !guarded(&what, || self.refill())? {
                return Ok(None);
            }
        }
        let record = self.batch[self.next];
        self.next += 1;
        self.check_order(&record)?;
        Ok(Some(record))
    }

    fn info(&self) -> TraceInfo {
        self.info.clone()
    }
}

/// Reads one column of the whole batch.
fn fill<T: DataType>(
    what: &str,
    column: &Column,
    reader: &mut ColumnReaderImpl<T>,
    batch: &mut [Record],
) -> Result<(), TraceError>
where
    i64: From<T::T>,
{
    let mut done = 0;
    let mut values = Vec::new();
    while done < batch.len() {
        values.clear();
        let (rows, ..) = reader
            .read_records(batch.len() - done, None, None, &mut values)
            .map_err(|error| damaged(what, &error))?;
        if rows == 0 || values.len() != rows {
            return Err(wrong(what, format!("column `{}` ends early", column.name)));
        }
        for (record, value) in batch[done..].iter_mut().zip(values.drain(..)) {
            let value = i64::from(value);
            if !(column.set)(record, value) {
                let name = column.name;
                return Err(wrong(what, format!("column `{name}` holds {value}")));
            }
        }
        done += rows;
    }
    Ok(())
}

fn description<R: ChunkReader + 'static>(
    file: &SerializedFileReader<Strict<R>>,
    what: &str,
) -> Result<TraceInfo, TraceError> {
    let pairs = file.metadata().file_metadata().key_value_metadata();
    let text = pairs
        .and_then(|pairs| pairs.iter().find(|pair| pair.key == INFO_KEY))
        .and_then(|pair| pair.value.as_deref())
        .ok_or_else(|| {
            TraceError::Usage(format!(
                "{what} is a Parquet file, but no ssdlab trace (it has no `{INFO_KEY}` entry)"
            ))
        })?;
    let header: Header = serde_json::from_str(text)
        .map_err(|error| wrong(what, format!("its description cannot be read: {error}")))?;
    if header.version > TRACE_VERSION {
        return Err(TraceError::Usage(format!(
            "{what} has version {} of the trace format; this ssdlab reads up to {TRACE_VERSION}: update it",
            header.version
        )));
    }
    Ok(header.info)
}

/// Checks the assumptions of the Parquet reader: place, size and kind of a column chunk.
fn check_chunk(
    what: &str,
    column: &ColumnChunkMetaData,
    length_bytes: u64,
) -> Result<(), TraceError> {
    let path = column.column_path();
    if column.compression() != Compression::UNCOMPRESSED {
        return Err(TraceError::Usage(format!(
            "column `{path}` of {what} is compressed; a trace file is not (its integers are packed)"
        )));
    }
    let description = column.column_descr();
    if description.max_rep_level() > 0 || description.max_def_level() > 0 {
        return Err(wrong(what, format!("column `{path}` is not one plain value a row")));
    }
    let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
    let end = start.checked_add(column.compressed_size());
    let fits = start >= 0
        && (0..=i64::from(PIECE_BYTES_MAX)).contains(&column.compressed_size())
        && end.and_then(|end| u64::try_from(end).ok()).is_some_and(|end| end <= length_bytes);
    if fits { Ok(()) } else { Err(wrong(what, format!("column `{path}` lies outside the file"))) }
}

/// Runs `read`, and treats a panic in the Parquet decoder as a damaged file.
fn guarded<T>(what: &str, read: impl FnOnce() -> Result<T, TraceError>) -> Result<T, TraceError> {
    caught(read)
        .unwrap_or_else(|| Err(wrong(what, "the decoder gave up on its content".to_owned())))
}

fn wrong(what: &str, reason: String) -> TraceError {
    TraceError::Damaged { what: what.to_owned(), reason }
}

fn damaged(what: &str, error: &ParquetError) -> TraceError {
    wrong(what, error.to_string())
}
