//! The file while it grows: row groups in the form of Parquet, and a checksum of all bytes.
//!
//! Times and offsets are stored as differences, packed in bits: a third of their size in plain form.
//! A column with one value in a whole group is encoded once and copied from then on, because texts
//! take half the time of a row.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::OpKind;
use base::file::open_regular;
use bytes::Bytes;
use crc32fast::Hasher;
use parquet::basic::{Encoding, Repetition, Type as PhysicalType};
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type, TypePtr};

use super::super::atomic::sync_dir;
use super::super::encode::{copy_column, field, properties, write_integers, write_texts};
use super::super::{StoreError, seal};
use super::message::IosPhase;
use super::row::IoRow;
use super::{IOS_FILE, IOS_FILE_UNFINISHED};

/// Rows in one row group: 12 MB of memory.
pub(super) const GROUP_ROWS: usize = 1 << 18;

/// Chunks of equal values to remember.
const CHUNKS_MAX: usize = 32;

/// The column that tells the phase of a row group.
const PHASE_INDEX: &str = "phase_index";

/// The form of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A number that is stored as the difference to the one above it.
    Difference,
    /// A number with few values.
    Number,
    /// The name of the phase, or of a kind of command.
    Text,
    /// The name of a job; null in a phase without jobs.
    Job,
}

/// One column: its name, its form, and its value in a row. The value of a text is its place in the
/// names of the column.
struct Column {
    name: &'static str,
    form: Form,
    get: fn(&IosPhase, &IoRow) -> i64,
}

/// The columns, in the order of the file.
const COLUMNS: [Column; 10] = [
    Column { name: "phase", form: Form::Text, get: |_, _| 0 },
    Column { name: PHASE_INDEX, form: Form::Number, get: |phase, _| phase.index as i64 },
    Column { name: "due_ns", form: Form::Difference, get: |_, row| signed(row.due_ns) },
    Column { name: "issued_ns", form: Form::Difference, get: |_, row| signed(row.issued_ns) },
    Column { name: "done_ns", form: Form::Difference, get: |_, row| signed(row.done_ns) },
    Column { name: "op", form: Form::Text, get: |_, row| row.kind.index() as i64 },
    Column { name: "offset_bytes", form: Form::Difference, get: |_, row| signed(row.offset_bytes) },
    Column { name: "length_bytes", form: Form::Number, get: |_, row| row.length_bytes.into() },
    Column { name: "job", form: Form::Job, get: |_, row| row.job.into() },
    Column { name: "status", form: Form::Number, get: |_, row| row.status.into() },
];

/// No time or place of a command reaches 2^63.
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

impl Column {
    /// The texts of the column.
    fn names(&self, phase: &IosPhase) -> Vec<ByteArray> {
        match (self.name, self.form) {
            (_, Form::Job) => phase.jobs.iter().map(|job| ByteArray::from(&**job)).collect(),
            ("op", _) => OpKind::ALL.map(|kind| ByteArray::from(kind.name())).to_vec(),
            _ => vec![ByteArray::from(&*phase.name)],
        }
    }

    fn field(&self) -> ParquetResult<TypePtr> {
        let (physical, repetition) = match self.form {
            Form::Difference | Form::Number => (PhysicalType::INT64, Repetition::REQUIRED),
            Form::Text => (PhysicalType::BYTE_ARRAY, Repetition::REQUIRED),
            Form::Job => (PhysicalType::BYTE_ARRAY, Repetition::OPTIONAL),
        };
        field(self.name, physical, repetition)
    }

    /// Writes the values as the next column of a group.
    fn write<W: Write + Send>(
        &self,
        group: &mut SerializedRowGroupWriter<'_, W>,
        phase: &IosPhase,
        values: &[i64],
    ) -> ParquetResult<()> {
        if matches!(self.form, Form::Difference | Form::Number) {
            return write_integers(group, values, None);
        }
        let names = self.names(phase);
        let name = |value: &i64| names.get(usize::try_from(*value).ok()?).cloned();
        let texts: Vec<_> = values.iter().filter_map(name).collect();
        let is_optional = self.form == Form::Job;
        let present = is_optional.then(|| present(values, &names));
        write_texts(group, &texts, present.as_deref())
    }
}

/// The definition level of each value: whether it has a name.
fn present(values: &[i64], names: &[ByteArray]) -> Vec<i16> {
    let is_named = |value: &i64| usize::try_from(*value).is_ok_and(|at| at < names.len());
    values.iter().map(|value| i16::from(is_named(value))).collect()
}

/// A file with a running checksum of its bytes.
struct SummedFile {
    file: File,
    sum: Hasher,
}

impl Write for SummedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A file name that goes with its holder, unless the file gets its final one.
struct TemporaryName(PathBuf);

impl Drop for TemporaryName {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// An encoded column chunk of [`GROUP_ROWS`] equal values.
struct Chunk {
    file: Bytes,
    metadata: ColumnChunkMetaData,
}

/// The chunks with one value throughout of the phase at hand, by column and value.
#[derive(Default)]
struct Chunks {
    phase_index: usize,
    known: HashMap<(&'static str, i64), Chunk>,
}

impl Chunks {
    /// The chunk of a column with these values, which are equal.
    fn of(&mut self, column: &Column, phase: &IosPhase, values: &[i64]) -> ParquetResult<&Chunk> {
        if self.phase_index != phase.index || self.known.len() > CHUNKS_MAX {
            self.known.clear();
            self.phase_index = phase.index;
        }
        match self.known.entry((column.name, values[0])) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => Ok(place.insert(Chunk::encode(column, phase, values)?)),
        }
    }
}

impl Chunk {
    fn encode(column: &Column, phase: &IosPhase, values: &[i64]) -> ParquetResult<Self> {
        let mut writer = writer(Vec::new(), std::slice::from_ref(column))?;
        let mut group = writer.next_row_group()?;
        column.write(&mut group, phase, values)?;
        let metadata = group.close()?.column(0).clone();
        Ok(Self { file: Bytes::from(writer.into_inner()?), metadata })
    }
}

/// The file in progress; removed unless it is finished.
pub(super) struct IosFile {
    writer: SerializedFileWriter<SummedFile>,
    chunks: Chunks,
    dir: PathBuf,
    name: TemporaryName,
}

impl IosFile {
    /// Begins the file.
    pub(super) fn create(dir: &Path) -> Result<Self, StoreError> {
        let name = TemporaryName(dir.join(IOS_FILE_UNFINISHED));
        // One that a kill left behind goes first, so that the new one follows no link.
        let _ = fs::remove_file(&name.0);
        let file = File::options().read(true).write(true).create_new(true).open(&name.0);
        let file = file.map_err(StoreError::io("create", &name.0))?;
        let inner = SummedFile { file, sum: Hasher::new() };
        let writer = writer(inner, &COLUMNS).map_err(|error| failed(dir, error))?;
        Ok(Self { writer, chunks: Chunks::default(), dir: dir.to_owned(), name })
    }

    /// Adds rows of a phase as a row group.
    pub(super) fn write_group(
        &mut self,
        phase: &IosPhase,
        rows: &[IoRow],
    ) -> Result<(), StoreError> {
        let Self { writer, chunks, .. } = self;
        write_group(writer, chunks, phase, rows).map_err(|error| failed(&self.dir, error))
    }

    /// Copies the row groups of the first `phases` phases of another file; returns their rows.
    pub(super) fn copy(&mut self, from: &Path, phases: usize) -> Result<u64, StoreError> {
        let file = open_regular(from).map_err(StoreError::io("read", from))?;
        let groups = file.try_clone().map_err(StoreError::io("read", from))?;
        let groups = SerializedFileReader::new(groups).map_err(|error| damaged(from, &error))?;
        let mut rows = 0;
        for group in groups.metadata().row_groups() {
            if phase_of(group).is_some_and(|phase| phase < phases) {
                self.copy_group(&file, group).map_err(|error| failed(&self.dir, error))?;
                rows += u64::try_from(group.num_rows()).unwrap_or(0);
            }
        }
        Ok(rows)
    }

    fn copy_group(&mut self, from: &File, group: &RowGroupMetaData) -> ParquetResult<()> {
        let mut copy = self.writer.next_row_group()?;
        for column in group.columns() {
            copy_column(&mut copy, from, column, group.num_rows())?;
        }
        copy.close().map(drop)
    }

    /// Adds the footer and the checksum, and gives the file its name.
    pub(super) fn finish(self) -> Result<(), StoreError> {
        let Self { writer, dir, name, .. } = self;
        let SummedFile { file, sum } = writer.into_inner().map_err(|error| failed(&dir, error))?;
        let path = dir.join(IOS_FILE);
        seal::set_in_file(&file, sum).map_err(StoreError::io("write", &path))?;
        file.sync_all().map_err(StoreError::io("write", &path))?;
        fs::rename(&name.0, &path).map_err(StoreError::io("replace", &path))?;
        sync_dir(&dir)
    }
}

fn failed(dir: &Path, error: ParquetError) -> StoreError {
    let path = dir.join(IOS_FILE);
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(source) => StoreError::Io { action: "write", path, source: *source },
            Err(other) => StoreError::Parquet { path, reason: other.to_string() },
        },
        error => StoreError::Parquet { path, reason: error.to_string() },
    }
}

fn damaged(path: &Path, error: &ParquetError) -> StoreError {
    StoreError::Parquet { path: path.to_owned(), reason: error.to_string() }
}

/// The properties of all Parquet files, with differences where the form of a column says so.
fn properties_of_columns() -> WriterProperties {
    let differences = COLUMNS.iter().filter(|column| column.form == Form::Difference);
    let with = |properties: WriterPropertiesBuilder, column: &Column| {
        properties
            .set_column_dictionary_enabled(ColumnPath::from(column.name), false)
            .set_column_encoding(ColumnPath::from(column.name), Encoding::DELTA_BINARY_PACKED)
    };
    differences.fold(properties(), with).build()
}

fn schema(columns: &[Column]) -> ParquetResult<TypePtr> {
    let fields = columns.iter().map(Column::field).collect::<ParquetResult<_>>()?;
    Ok(Arc::new(Type::group_type_builder("ios").with_fields(fields).build()?))
}

fn writer<W: Write + Send>(inner: W, columns: &[Column]) -> ParquetResult<SerializedFileWriter<W>> {
    SerializedFileWriter::new(inner, schema(columns)?, Arc::new(properties_of_columns()))
}

fn write_group(
    writer: &mut SerializedFileWriter<SummedFile>,
    chunks: &mut Chunks,
    phase: &IosPhase,
    rows: &[IoRow],
) -> ParquetResult<()> {
    let mut group = writer.next_row_group()?;
    for column in &COLUMNS {
        let values: Vec<i64> = rows.iter().map(|row| (column.get)(phase, row)).collect();
        let is_one_value = values.iter().all(|value| *value == values[0]);
        if is_one_value && values.len() == GROUP_ROWS {
            let chunk = chunks.of(column, phase, &values)?;
            copy_column(&mut group, &chunk.file, &chunk.metadata, values.len() as i64)?;
        } else {
            column.write(&mut group, phase, &values)?;
        }
    }
    group.close().map(drop)
}

/// The phase of the rows of a group, by the statistics of its column.
fn phase_of(group: &RowGroupMetaData) -> Option<usize> {
    let of_phase = |column: &&ColumnChunkMetaData| {
        column.column_path().parts().iter().map(String::as_str).eq([PHASE_INDEX])
    };
    match group.columns().iter().find(of_phase)?.statistics()? {
        Statistics::Int64(values) => usize::try_from(*values.min_opt()?).ok(),
        _ => None,
    }
}
