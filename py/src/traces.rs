//! Traces as arrays.

use base::OpKind;
use load::trace::store::TraceWriter;
use load::trace::{self, ImportOptions, Origin, Record, TraceError, TraceInfo};
use numpy::{PyArray1, PyReadonlyArray1};
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
    queue_depth: Vec<u16>,
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
    arrays.set_item("queue_depth", PyArray1::from_vec(py, columns.queue_depth))?;
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
        columns.queue_depth.push(record.queue_depth);
    }
    Ok(columns)
}

/// Writes arrays of one length as a new trace file.
#[pyfunction]
#[pyo3(signature = (path, *, issue_ns, kind, offset_bytes, length_bytes, stream, queue_depth))]
pub(crate) fn write_trace(
    path: &str,
    issue_ns: PyReadonlyArray1<'_, u64>,
    kind: PyReadonlyArray1<'_, u8>,
    offset_bytes: PyReadonlyArray1<'_, u64>,
    length_bytes: PyReadonlyArray1<'_, u32>,
    stream: PyReadonlyArray1<'_, u32>,
    queue_depth: PyReadonlyArray1<'_, u16>,
) -> PyResult<()> {
    let columns = Columns {
        issue_ns: issue_ns.as_array().to_vec(),
        kind: kind.as_array().to_vec(),
        offset_bytes: offset_bytes.as_array().to_vec(),
        length_bytes: length_bytes.as_array().to_vec(),
        stream: stream.as_array().to_vec(),
        queue_depth: queue_depth.as_array().to_vec(),
    };
    Ok(write(path, &columns)?)
}

/// Writes a new file; one that cannot be written to its end is removed.
fn write(path: &str, columns: &Columns) -> Result<(), Failure> {
    let count = columns.issue_ns.len();
    let lengths = [
        columns.kind.len(),
        columns.offset_bytes.len(),
        columns.length_bytes.len(),
        columns.stream.len(),
        columns.queue_depth.len(),
    ];
    if let Some(length) = lengths.into_iter().find(|&length| length != count) {
        let fault = format!("a column of the trace has {length} values for {count} commands");
        return Err(TraceError::Usage(fault).into());
    }
    let file = std::fs::File::create_new(path).map_err(TraceError::write(path))?;
    let written = write_rows(file, path, columns);
    if written.is_err() {
        let _ = std::fs::remove_file(path);
    }
    written
}

fn write_rows(file: std::fs::File, path: &str, columns: &Columns) -> Result<(), Failure> {
    let mut writer = TraceWriter::new(std::io::BufWriter::new(file), path)?;
    let first_ns = columns.issue_ns.first().copied().unwrap_or(0);
    let mut last_ns = first_ns;
    for (number, &issue_ns) in columns.issue_ns.iter().enumerate() {
        let wrong =
            |fault: String| TraceError::Usage(format!("command {number} of the trace: {fault}"));
        let code = columns.kind[number];
        let op = OpKind::ALL
            .into_iter()
            .find(|&op| op as u8 == code)
            .ok_or_else(|| wrong(format!("the kind is {code}, expected one of ssdlab.KINDS")))?;
        if issue_ns < last_ns {
            return Err(wrong(format!(
                "it is issued at {issue_ns} ns, before the one in front of it"
            ))
            .into());
        }
        last_ns = issue_ns;
        let (offset, len) = (columns.offset_bytes[number], columns.length_bytes[number]);
        let (stream, queue_depth) = (columns.stream[number], columns.queue_depth[number]);
        if (len == 0) != (op == OpKind::Flush) || offset > i64::MAX as u64 - u64::from(len) {
            return Err(wrong(format!(
                "{len} bytes at {offset} are none of a drive; 0 are for a flush"
            ))
            .into());
        }
        let record =
            Record { stream, queue_depth, ..Record::new(issue_ns - first_ns, op, offset, len) };
        writer.push(&record)?;
    }
    let info = TraceInfo {
        origin: Origin::Synthesised,
        source: "arrays of Python".to_owned(),
        ..TraceInfo::default()
    };
    writer
        .finish(&info)?
        .0
        .into_inner()
        .map_err(|error| TraceError::write(path)(error.into_error()))?;
    Ok(())
}
