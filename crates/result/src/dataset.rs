//! A table with named columns of texts and numbers as one Parquet file: the outcome of a sweep.
//!
//! Equal tables give equal bytes. The file is replaced as a whole.

use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};

use crate::store::{StoreError, replace_files};

/// The values of a column, one for each row; `None` for a gap.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Texts.
    Texts(Vec<Option<String>>),
    /// Numbers.
    Numbers(Vec<Option<f64>>),
    /// Whole numbers.
    Whole(Vec<Option<i64>>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name.
    pub name: String,
    /// Values.
    pub values: Values,
}

/// Writes a table to a file of an existing directory.
///
/// # Errors
/// If the file cannot be written, or the columns have different lengths.
pub fn write(dir: &Path, name: &str, columns: &[Column]) -> Result<(), StoreError> {
    let encoded = encode(columns).map_err(|error| StoreError::Encode {
        phase: name.to_owned(),
        reason: error.to_string(),
    })?;
    replace_files(dir, &[(name, &encoded)])
}

fn encode(columns: &[Column]) -> ParquetResult<Vec<u8>> {
    let fields = columns.iter().map(field).collect::<ParquetResult<Vec<_>>>()?;
    let schema = Arc::new(Type::group_type_builder("dataset").with_fields(fields).build()?);
    let properties = WriterProperties::builder()
        .set_created_by("ssdlab".to_owned())
        .set_compression(Compression::SNAPPY)
        .build();
    let mut encoded = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut encoded, schema, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for column in columns {
        let mut place = group
            .next_column()?
            .ok_or_else(|| ParquetError::General("a column has no place".to_owned()))?;
        put(&mut place, &column.values)?;
        place.close()?;
    }
    group.close()?;
    writer.close()?;
    Ok(encoded)
}

fn field(column: &Column) -> ParquetResult<TypePtr> {
    let (physical, logical) = match column.values {
        Values::Texts(_) => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
        Values::Numbers(_) => (PhysicalType::DOUBLE, None),
        Values::Whole(_) => (PhysicalType::INT64, None),
    };
    let field = Type::primitive_type_builder(&column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()?;
    Ok(Arc::new(field))
}

fn put(place: &mut SerializedColumnWriter<'_>, values: &Values) -> ParquetResult<()> {
    match values {
        Values::Texts(texts) => {
            let there = texts.iter().flatten().map(|text| ByteArray::from(text.as_str()));
            let there: Vec<_> = there.collect();
            place.typed::<ByteArrayType>().write_batch(&there, Some(&levels(texts)), None)?;
        }
        Values::Numbers(numbers) => {
            let there: Vec<f64> = numbers.iter().flatten().copied().collect();
            place.typed::<DoubleType>().write_batch(&there, Some(&levels(numbers)), None)?;
        }
        Values::Whole(numbers) => {
            let there: Vec<i64> = numbers.iter().flatten().copied().collect();
            place.typed::<Int64Type>().write_batch(&there, Some(&levels(numbers)), None)?;
        }
    }
    Ok(())
}

/// Definition levels: 1 for a value, 0 for a gap.
fn levels<T>(values: &[Option<T>]) -> Vec<i16> {
    values.iter().map(|value| i16::from(value.is_some())).collect()
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    use super::*;

    fn column(name: &str, values: Values) -> Column {
        Column { name: name.to_owned(), values }
    }

    #[test]
    fn a_table_is_read_back_with_its_gaps() {
        let dir = tempfile::tempdir().unwrap();
        let columns = [
            column("policy", Values::Texts(vec![Some("greedy".to_owned()), None])),
            column("waf", Values::Numbers(vec![None, Some(2.5)])),
            column("point", Values::Whole(vec![Some(0), Some(1)])),
        ];
        write(dir.path(), "sweep.parquet", &columns).unwrap();
        let file = std::fs::File::open(dir.path().join("sweep.parquet")).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].get_string(0).unwrap(), "greedy");
        assert!(rows[0].get_double(1).is_err() && rows[1].get_string(0).is_err());
        assert!((rows[1].get_double(1).unwrap() - 2.5).abs() < 1e-12);
        assert_eq!(rows[1].get_long(2).unwrap(), 1);
    }

    #[test]
    fn columns_of_different_lengths_are_refused_and_leave_the_old_file() {
        let dir = tempfile::tempdir().unwrap();
        let good = [column("point", Values::Whole(vec![Some(0)]))];
        write(dir.path(), "t.parquet", &good).unwrap();
        let before = std::fs::read(dir.path().join("t.parquet")).unwrap();
        let bad = [good[0].clone(), column("waf", Values::Numbers(vec![None, None]))];
        assert!(write(dir.path(), "t.parquet", &bad).is_err());
        assert_eq!(std::fs::read(dir.path().join("t.parquet")).unwrap(), before);
    }
}
