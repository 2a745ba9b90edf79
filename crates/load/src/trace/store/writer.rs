//! Conversion of records to a trace file, one row group at a time.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, Repetition, Type as PhysicalType};
use parquet::data_type::{Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use super::{COLUMNS, Column, GROUP_ROWS, Header, INFO_KEY, TRACE_VERSION};
use crate::trace::streams::{Addresses, Census, span_bytes};
use crate::trace::{Record, TraceError, TraceInfo};

/// Writes a trace file.
pub struct TraceWriter<W: Write + Send> {
    what: String,
    file: SerializedFileWriter<W>,
    rows: Vec<Record>,
    wide: Vec<i64>,
    narrow: Vec<i32>,
    records: u64,
    end_bytes: u64,
    census: Census,
}

impl<W: Write + Send> TraceWriter<W> {
    /// Begins a trace; `what` names the file in errors.
    ///
    /// # Errors
    /// If the first bytes cannot be written.
    pub fn new(out: W, what: &str) -> Result<Self, TraceError> {
        let file = schema()
            .and_then(|schema| SerializedFileWriter::new(out, schema, properties()))
            .map_err(|error| failed(what, error))?;
        let rows = Vec::with_capacity(GROUP_ROWS);
        Ok(Self {
            what: what.to_owned(),
            file,
            rows,
            wide: vec![],
            narrow: vec![],
            records: 0,
            end_bytes: 0,
            census: Census::default(),
        })
    }

    /// Appends a record.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    pub fn push(&mut self, record: &Record) -> Result<(), TraceError> {
        self.rows.push(*record);
        self.records += 1;
        self.end_bytes = self.end_bytes.max(record.end());
        self.census.add(record);
        if self.rows.len() == GROUP_ROWS { self.flush_group() } else { Ok(()) }
    }

    /// Writes what is left and the description; gives back what the file was written to and the number of records.
    ///
    /// # Errors
    /// If the end of the file cannot be written, or volumes with addresses of their own cannot lie side by side.
    pub fn finish(mut self, info: &TraceInfo) -> Result<(W, u64), TraceError> {
        if !self.rows.is_empty() {
            self.flush_group()?;
        }
        let (volumes, span_bytes) = if info.addresses == Addresses::OfEach {
            let volumes = self.census.volumes(&self.what)?;
            let span_bytes = span_bytes(&volumes);
            (volumes, span_bytes)
        } else {
            (info.volumes.clone(), info.span_bytes.unwrap_or(self.end_bytes))
        };
        let info = TraceInfo { span_bytes: Some(span_bytes), volumes, ..info.clone() };
        let header = Header { version: TRACE_VERSION, info };
        let text = serde_json::to_string(&header).unwrap_or_default();
        self.file.append_key_value_metadata(KeyValue::new(INFO_KEY.to_owned(), text));
        let out = self.file.into_inner().map_err(|error| failed(&self.what, error))?;
        Ok((out, self.records))
    }

    fn flush_group(&mut self) -> Result<(), TraceError> {
        let Self { file, rows, wide, narrow, what, .. } = self;
        let mut write = || -> ParquetResult<()> {
            let mut group = file.next_row_group()?;
            for column in &COLUMNS {
                write_column(&mut group, column, rows, wide, narrow)?;
            }
            group.close()?;
            Ok(())
        };
        write().map_err(|error| failed(what, error))?;
        self.rows.clear();
        Ok(())
    }
}

fn write_column<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    column: &Column,
    rows: &[Record],
    wide: &mut Vec<i64>,
    narrow: &mut Vec<i32>,
) -> ParquetResult<()> {
    let mut writer = group
        .next_column()?
        .ok_or_else(|| ParquetError::General("more columns than the schema has".to_owned()))?;
    if column.wide {
        wide.clear();
        wide.extend(rows.iter().map(column.get));
        writer.typed::<Int64Type>().write_batch(wide, None, None)?;
    } else {
        narrow.clear();
        // Narrow columns hold 16 bits or less.
        narrow.extend(rows.iter().map(|row| (column.get)(row) as i32));
        writer.typed::<Int32Type>().write_batch(narrow, None, None)?;
    }
    writer.close()
}

fn schema() -> ParquetResult<TypePtr> {
    let field = |column: &Column| -> ParquetResult<TypePtr> {
        let physical = if column.wide { PhysicalType::INT64 } else { PhysicalType::INT32 };
        let field = Type::primitive_type_builder(column.name, physical)
            .with_repetition(Repetition::REQUIRED)
            .build()?;
        Ok(Arc::new(field))
    };
    let fields: ParquetResult<Vec<_>> = COLUMNS.iter().map(field).collect();
    Ok(Arc::new(Type::group_type_builder("trace").with_fields(fields?).build()?))
}

/// Differences, bit-packed, and no compressor on top: it would gain little, and a file without one cannot claim to
/// unpack to gigabytes.
fn properties() -> Arc<WriterProperties> {
    let properties = WriterProperties::builder()
        .set_created_by(format!("ssdlab trace version {TRACE_VERSION}"))
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::DELTA_BINARY_PACKED)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_max_row_group_row_count(None)
        .build();
    Arc::new(properties)
}

fn failed(what: &str, error: ParquetError) -> TraceError {
    let source = match error {
        ParquetError::External(error) => match error.downcast::<std::io::Error>() {
            Ok(error) => *error,
            Err(error) => std::io::Error::other(error),
        },
        error => std::io::Error::other(error),
    };
    TraceError::write(what)(source)
}
