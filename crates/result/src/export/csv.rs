//! The rows of a run as one table of text.

use super::ExportError;
use crate::rows::SecondRow;
use crate::store::RunDir;
use crate::store::columns::SERIES;

/// Rows of all phases with the columns of `series.parquet` (`docs/reference/formats/run-directory.md`):
/// integers in ns and bytes, empty where a row has no value. A column without any value is left
/// away.
///
/// # Errors
/// If the rows cannot be read.
pub fn csv(dir: &RunDir) -> Result<Vec<u8>, ExportError> {
    let phases = &dir.run().phases;
    let rows = (0..phases.len()).map(|index| Ok(dir.rows(index)?.seconds));
    let rows: Vec<Vec<SecondRow>> = rows.collect::<Result<_, ExportError>>()?;
    let is_used = |get: &dyn Fn(&SecondRow) -> Option<u64>| {
        rows.iter().flatten().any(|row| get(row).is_some())
    };
    let columns: Vec<_> = SERIES.iter().filter(|column| is_used(&column.get)).collect();
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let names = columns.iter().map(|column| column.name);
    let heading = ["phase_index", "phase", "second"].into_iter().chain(names);
    writer.write_record(heading).map_err(ExportError::format)?;
    for (index, (phase, rows)) in phases.iter().zip(&rows).enumerate() {
        for row in rows {
            let place = [index.to_string(), phase.name.clone(), row.second.to_string()];
            let value = |value: Option<u64>| value.map_or_else(String::new, |it| it.to_string());
            let values = columns.iter().map(|column| value((column.get)(row)));
            writer.write_record(place.into_iter().chain(values)).map_err(ExportError::format)?;
        }
    }
    writer.into_inner().map_err(ExportError::format)
}
