//! The rows of a run as NumPy arrays. Columns with gaps become floats with NaN in the gaps.

use std::path::{Path, PathBuf};

use base::{OpKind, TelemetryRow};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use result::rows::{PhaseRows, SecondRow};
use result::store::{RunDir, StoreError};

use crate::errors::Failure;

/// The rows of every phase, by the place of the phase.
struct Rows {
    names: Vec<String>,
    phases: Vec<PhaseRows>,
}

impl Rows {
    fn read(path: &Path) -> Result<Self, StoreError> {
        let dir = RunDir::open(path)?;
        let names: Vec<_> = dir.run().phases.iter().map(|phase| phase.name.clone()).collect();
        let phases = (0..names.len()).map(|index| dir.rows(index)).collect::<Result<_, _>>()?;
        Ok(Self { names, phases })
    }
}

/// A column with gaps: name and value.
type Sparse = (String, fn(&SecondRow) -> Option<u64>);

/// One row for each second, or zone, of each phase.
#[pyfunction]
pub(crate) fn series(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let rows = py.detach(|| Rows::read(&path)).map_err(Failure::from)?;
    let columns = PyDict::new(py);
    let counts: Vec<_> = rows.phases.iter().map(|phase| phase.seconds.len()).collect();
    put_phases(&columns, &rows.names, &counts)?;
    let all: Vec<&SecondRow> = rows.phases.iter().flat_map(|phase| &phase.seconds).collect();
    let whole = |name: &str, value: &dyn Fn(&SecondRow) -> u64| {
        let values = all.iter().map(|row| value(row)).collect();
        columns.set_item(name, PyArray1::<u64>::from_vec(py, values))
    };
    whole("second", &|row| row.second.into())?;
    whole("start_ns", &|row| row.start_ns)?;
    whole("duration_ns", &|row| row.duration_ns)?;
    for kind in OpKind::ALL {
        whole(&format!("{}_ios", kind.name()), &|row| row.ios[kind.index()])?;
    }
    for kind in OpKind::ALL.into_iter().filter(|kind| *kind != OpKind::Flush) {
        whole(&format!("{}_bytes", kind.name()), &|row| row.bytes[kind.index()])?;
    }
    whole("errors", &|row| row.errors)?;
    let sparse: [Sparse; 6] = [
        ("offset_bytes".to_owned(), |row| row.offset_bytes),
        ("latency_ns_p50".to_owned(), |row| row.latency_ns_p50),
        ("latency_ns_p99".to_owned(), |row| row.latency_ns_p99),
        ("latency_ns_max".to_owned(), |row| row.latency_ns_max),
        ("power_uw_mean".to_owned(), |row| row.power_uw_mean),
        ("power_uw_max".to_owned(), |row| row.power_uw_max),
    ];
    for (name, value) in sparse {
        let values = all.iter().map(|row| number(value(row))).collect();
        columns.set_item(name, PyArray1::<f64>::from_vec(py, values))?;
    }
    for column in TelemetryRow::COLUMNS {
        let value = |row: &&SecondRow| number(row.telemetry.as_ref().map(column.get));
        let values = all.iter().map(value).collect();
        columns.set_item(column.name, PyArray1::<f64>::from_vec(py, values))?;
    }
    Ok(columns)
}

/// The histogram bins of each second of each phase.
#[pyfunction]
pub(crate) fn latency(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let rows = py.detach(|| Rows::read(&path)).map_err(Failure::from)?;
    let columns = PyDict::new(py);
    let counts: Vec<_> = rows.phases.iter().map(|phase| phase.latencies.len()).collect();
    put_phases(&columns, &rows.names, &counts)?;
    let all = || rows.phases.iter().flat_map(|phase| &phase.latencies);
    let seconds = all().map(|row| row.second.into()).collect();
    columns.set_item("second", PyArray1::<u64>::from_vec(py, seconds))?;
    let kinds = all().map(|row| row.op as u8).collect();
    columns.set_item("op", PyArray1::<u8>::from_vec(py, kinds))?;
    let lower_ns = all().map(|row| row.lower_ns).collect();
    columns.set_item("lower_ns", PyArray1::<u64>::from_vec(py, lower_ns))?;
    let counts = all().map(|row| row.count).collect();
    columns.set_item("count", PyArray1::<u64>::from_vec(py, counts))?;
    Ok(columns)
}

/// The names of all phases, and the place of its phase for each row.
fn put_phases(columns: &Bound<'_, PyDict>, names: &[String], counts: &[usize]) -> PyResult<()> {
    let places = counts.iter().zip(0_u64..).flat_map(|(count, place)| vec![place; *count]);
    columns.set_item("phases", names)?;
    columns.set_item("phase_index", PyArray1::<u64>::from_vec(columns.py(), places.collect()))
}

fn number(value: Option<u64>) -> f64 {
    value.map_or(f64::NAN, |value| value as f64)
}
