//! Traces as arrays.

use load::trace::{self, ImportOptions};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::Failure;

/// The columns of the records of a trace.
#[derive(Default)]
struct Columns {
    issue_ns: Vec<u64>,
    kind: Vec<u8>,
    offset_bytes: Vec<u64>,
    length_bytes: Vec<u32>,
    stream: Vec<u32>,
}

/// At most `limit` records of a trace: a file of any known format, or `synth:SCENARIO`.
#[pyfunction]
pub(crate) fn read_trace<'py>(
    py: Python<'py>,
    name: &str,
    limit: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let columns = py.detach(|| read(name, limit))?;
    let arrays = PyDict::new(py);
    arrays.set_item("issue_ns", PyArray1::from_vec(py, columns.issue_ns))?;
    arrays.set_item("kind", PyArray1::from_vec(py, columns.kind))?;
    arrays.set_item("offset_bytes", PyArray1::from_vec(py, columns.offset_bytes))?;
    arrays.set_item("length_bytes", PyArray1::from_vec(py, columns.length_bytes))?;
    arrays.set_item("stream", PyArray1::from_vec(py, columns.stream))?;
    Ok(arrays)
}

fn read(name: &str, limit: usize) -> Result<Columns, Failure> {
    let mut source = trace::open(name, &ImportOptions::default())?;
    let mut columns = Columns::default();
    while columns.issue_ns.len() < limit {
        let Some(record) = source.next_record()? else { break };
        columns.issue_ns.push(record.issue_ns);
        columns.kind.push(record.op as u8);
        columns.offset_bytes.push(record.offset);
        columns.length_bytes.push(record.len);
        columns.stream.push(record.stream);
    }
    Ok(columns)
}
