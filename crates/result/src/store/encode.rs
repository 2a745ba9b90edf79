//! Conversion of rows to Parquet. A phase is encoded once, at its end, into its own row groups; the
//! files are then assembled from finished row groups. An hour of latencies therefore stays in
//! memory only in compressed form, and rewriting a file does not compress it again.

use std::io::Write;
use std::sync::Arc;

use base::OpKind;
use bytes::Bytes;
use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::{ColumnChunkMetaData, KeyValue, RowGroupMetaData};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::file::reader::ChunkReader;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use super::StoreError;
use super::checksum::PhaseChecksums;
use super::columns::{Column, LATENCY, SERIES};
use super::seal;
use crate::rows::PhaseRows;
use crate::schema::SCHEMA_VERSION;

/// Rows in one row group: bounds the memory of a reader.
const GROUP_ROWS: usize = 1 << 20;

/// One phase as finished row groups of both files.
pub(super) struct EncodedPhase {
    /// Position in `Run::phases`.
    pub(super) phase_index: usize,
    /// Number of rows in both files.
    pub(super) checksums: PhaseChecksums,
    series: EncodedGroups,
    latency: EncodedGroups,
}

/// A complete Parquet file in memory, with the places of its row groups.
struct EncodedGroups {
    file: Bytes,
    groups: Vec<RowGroupMetaData>,
}

/// The content of the leading columns, the same in every row.
struct PhaseKey<'a> {
    name: &'a str,
    index: i64,
}

impl EncodedPhase {
    /// Encodes the rows of the phase at `phase_index`.
    pub(super) fn new(
        phase_index: usize,
        name: &str,
        rows: &PhaseRows,
    ) -> Result<Self, StoreError> {
        check_values(&SERIES, &rows.seconds)?;
        check_values(&*LATENCY, &rows.latencies)?;
        let encode_error = |error: ParquetError| StoreError::Encode {
            phase: name.to_owned(),
            reason: error.to_string(),
        };
        let index = i64::try_from(phase_index).unwrap_or(i64::MAX);
        let key = PhaseKey { name, index };
        let series = series_schema().and_then(|schema| {
            encode((&key, &rows.seconds, &SERIES), schema, |row| row.second, None)
        });
        let latency = latency_schema().and_then(|schema| {
            let rows = (&key, &*rows.latencies, &LATENCY[..]);
            encode(rows, schema, |row| row.second, Some(|row| row.op))
        });
        Ok(Self {
            phase_index,
            checksums: PhaseChecksums::of(rows),
            series: series.map_err(encode_error)?,
            latency: latency.map_err(encode_error)?,
        })
    }
}

/// The bytes of `series.parquet` with these phases.
pub(super) fn series_file(phases: &[EncodedPhase]) -> Result<Vec<u8>, StoreError> {
    assemble(series_schema(), phases.iter().map(|phase| &phase.series)).map_err(assembly_error)
}

/// The bytes of `latency.parquet` with these phases.
pub(super) fn latency_file(phases: &[EncodedPhase]) -> Result<Vec<u8>, StoreError> {
    assemble(latency_schema(), phases.iter().map(|phase| &phase.latency)).map_err(assembly_error)
}

#[expect(clippy::needless_pass_by_value, reason = "the form map_err asks for")]
fn assembly_error(error: ParquetError) -> StoreError {
    StoreError::Encode { phase: "all".to_owned(), reason: error.to_string() }
}

fn check_values<R>(columns: &[Column<R>], rows: &[R]) -> Result<(), StoreError> {
    for column in columns {
        let too_large = rows.iter().filter_map(&column.get).find(|&v| i64::try_from(v).is_err());
        if let Some(value) = too_large {
            return Err(StoreError::ValueTooLarge { column: column.name, value });
        }
    }
    Ok(())
}

/// The properties of every file.
pub(super) fn properties() -> WriterPropertiesBuilder {
    // A fixed creator, chunk statistics only and no page index: the same rows give the same bytes,
    // and every reader since Parquet 1.0 understands them.
    WriterProperties::builder()
        .set_created_by(format!("ssdlab version {SCHEMA_VERSION}"))
        .set_key_value_metadata(Some(vec![KeyValue::new(
            seal::PARQUET_KEY.to_owned(),
            seal::BLANK.to_owned(),
        )]))
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_max_row_group_row_count(None)
}

/// A field of a schema; texts are UTF-8.
pub(super) fn field(
    name: &str,
    physical: PhysicalType,
    repetition: Repetition,
) -> ParquetResult<TypePtr> {
    let logical = matches!(physical, PhysicalType::BYTE_ARRAY).then_some(LogicalType::String);
    let field = Type::primitive_type_builder(name, physical)
        .with_repetition(repetition)
        .with_logical_type(logical)
        .build()?;
    Ok(Arc::new(field))
}

fn schema<R>(name: &str, texts: &[&str], columns: &[Column<R>]) -> ParquetResult<TypePtr> {
    let mut fields = Vec::new();
    for leading in ["phase", "phase_index", "second"] {
        let physical =
            if leading == "phase" { PhysicalType::BYTE_ARRAY } else { PhysicalType::INT64 };
        fields.push(field(leading, physical, Repetition::REQUIRED)?);
    }
    for text in texts {
        fields.push(field(text, PhysicalType::BYTE_ARRAY, Repetition::REQUIRED)?);
    }
    for column in columns {
        let repetition = if column.required { Repetition::REQUIRED } else { Repetition::OPTIONAL };
        fields.push(field(column.name, PhysicalType::INT64, repetition)?);
    }
    Ok(Arc::new(Type::group_type_builder(name).with_fields(fields).build()?))
}

fn series_schema() -> ParquetResult<TypePtr> {
    schema("series", &[], &SERIES)
}

fn latency_schema() -> ParquetResult<TypePtr> {
    schema("latency", &["op"], &*LATENCY)
}

type FileWriter = SerializedFileWriter<Vec<u8>>;
type GroupWriter<'a, W = Vec<u8>> = SerializedRowGroupWriter<'a, W>;

fn file_writer(schema: TypePtr) -> ParquetResult<FileWriter> {
    SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties().build()))
}

/// Encodes rows of one phase; `op` is that of rows with a kind of command.
fn encode<R>(
    (key, rows, columns): (&PhaseKey<'_>, &[R], &[Column<R>]),
    schema: TypePtr,
    second: fn(&R) -> u32,
    op: Option<fn(&R) -> OpKind>,
) -> ParquetResult<EncodedGroups> {
    let mut writer = file_writer(schema)?;
    for rows in rows.chunks(GROUP_ROWS) {
        let mut group = writer.next_row_group()?;
        write_key(&mut group, key, rows.iter().map(second))?;
        if let Some(op) = op {
            let ops: Vec<_> = rows.iter().map(|row| ByteArray::from(op(row).name())).collect();
            write_texts(&mut group, &ops, None)?;
        }
        write_columns(&mut group, columns, rows)?;
        group.close()?;
    }
    let groups = writer.flushed_row_groups().to_vec();
    Ok(EncodedGroups { file: Bytes::from(writer.into_inner()?), groups })
}

/// Writes the leading columns: phase, `phase_index` and second.
fn write_key(
    group: &mut GroupWriter<'_>,
    key: &PhaseKey,
    seconds: impl ExactSizeIterator<Item = u32>,
) -> ParquetResult<()> {
    let rows = seconds.len();
    write_texts(group, &vec![ByteArray::from(key.name); rows], None)?;
    write_integers(group, &vec![key.index; rows], None)?;
    write_integers(group, &seconds.map(i64::from).collect::<Vec<_>>(), None)
}

fn write_columns<R>(
    group: &mut GroupWriter<'_>,
    columns: &[Column<R>],
    rows: &[R],
) -> ParquetResult<()> {
    for column in columns {
        // Checked before: every value fits.
        let value = |row| (column.get)(row).map(|v| i64::try_from(v).unwrap_or(i64::MAX));
        let present: Vec<i16> = rows.iter().map(|row| i16::from(value(row).is_some())).collect();
        let values: Vec<i64> = rows.iter().filter_map(value).collect();
        write_integers(group, &values, (!column.required).then_some(&present))?;
    }
    Ok(())
}

/// Writes numbers as the next column of a group; `present` has the definition level of each row of an
/// optional column.
pub(super) fn write_integers<W: Write + Send>(
    group: &mut GroupWriter<'_, W>,
    values: &[i64],
    present: Option<&[i16]>,
) -> ParquetResult<()> {
    let mut column = next_column(group)?;
    column.typed::<Int64Type>().write_batch(values, present, None)?;
    column.close()
}

/// Writes a column of texts.
pub(super) fn write_texts<W: Write + Send>(
    group: &mut GroupWriter<'_, W>,
    texts: &[ByteArray],
    present: Option<&[i16]>,
) -> ParquetResult<()> {
    let mut column = next_column(group)?;
    column.typed::<ByteArrayType>().write_batch(texts, present, None)?;
    column.close()
}

fn next_column<'a, W: Write + Send>(
    group: &'a mut GroupWriter<'_, W>,
) -> ParquetResult<parquet::file::writer::SerializedColumnWriter<'a>> {
    group
        .next_column()?
        .ok_or_else(|| ParquetError::General("more columns than the schema has".to_owned()))
}

/// One sealed file from the row groups of several: bytes are copied, and nothing is compressed
/// again.
fn assemble<'a>(
    schema: ParquetResult<TypePtr>,
    parts: impl Iterator<Item = &'a EncodedGroups>,
) -> ParquetResult<Vec<u8>> {
    let mut writer = file_writer(schema?)?;
    for part in parts {
        for group in &part.groups {
            let mut copy = writer.next_row_group()?;
            for column in group.columns() {
                copy_column(&mut copy, &part.file, column, group.num_rows())?;
            }
            copy.close()?;
        }
    }
    let mut file = writer.into_inner()?;
    seal::set(&mut file, seal::OF_PARQUET);
    Ok(file)
}

/// Copies the bytes of a column chunk, which has this number of rows, from a file as the next column of
/// a group.
pub(super) fn copy_column<W: Write + Send>(
    group: &mut GroupWriter<'_, W>,
    file: &impl ChunkReader,
    column: &ColumnChunkMetaData,
    rows: i64,
) -> ParquetResult<()> {
    let close = ColumnCloseResult {
        bytes_written: u64::try_from(column.compressed_size()).unwrap_or(0),
        rows_written: u64::try_from(rows).unwrap_or(0),
        metadata: column.clone(),
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    };
    group.append_column(file, close)
}
