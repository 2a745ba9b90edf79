//! Records into the formats of other tools: one file per format.

mod blkparse;
mod iolog;
mod msr;

use std::io::Write;
use std::str::FromStr;

use super::{Record, Source, TraceError};

/// A format for writing, besides ssdlab's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// fio's I/O log, version 3.
    Iolog,
    /// MSR Cambridge CSV.
    Msr,
    /// Text like that of blkparse, one queue event per I/O.
    Blkparse,
}

impl ExportFormat {
    /// Every format.
    pub const ALL: [Self; 3] = [Self::Iolog, Self::Msr, Self::Blkparse];

    /// Whether its streams have their own addresses, like the disks of MSR.
    pub const fn has_volumes(self) -> bool {
        matches!(self, Self::Msr)
    }

    /// The word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Iolog => "iolog",
            Self::Msr => "msr",
            Self::Blkparse => "blkparse",
        }
    }
}

impl FromStr for ExportFormat {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Self, TraceError> {
        Self::ALL.into_iter().find(|format| format.name() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            TraceError::Usage(format!("traces cannot be written as `{text}`; known are {names}"))
        })
    }
}

/// Lines of a format.
trait RecordFormat {
    /// Text before the first record.
    fn begin(&mut self, out: &mut dyn Write) -> std::io::Result<()>;
    /// Writes a record; false if the format cannot express it.
    fn record(&mut self, record: &Record, out: &mut dyn Write) -> std::io::Result<bool>;
    /// Text after the last record.
    fn end(&mut self, out: &mut dyn Write) -> std::io::Result<()>;
}

/// Counts of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportCounts {
    /// I/Os written.
    pub ios: u64,
    /// I/Os that the format cannot express.
    pub not_expressible: u64,
}

/// Writes a whole trace; `what` names the output in errors.
///
/// # Errors
/// If the trace cannot be read or the output cannot be written.
pub fn export(
    source: &mut dyn Source,
    format: ExportFormat,
    out: &mut dyn Write,
    what: &str,
) -> Result<ExportCounts, TraceError> {
    // The time of the first record is known once it was read.
    let mut next = source.next_record()?;
    let mut lines: Box<dyn RecordFormat> = match format {
        ExportFormat::Iolog => Box::new(iolog::Iolog),
        ExportFormat::Msr => Box::new(msr::Msr::new(&source.info())),
        ExportFormat::Blkparse => Box::new(blkparse::Blkparse { sequence: 0 }),
    };
    let mut exported = ExportCounts { ios: 0, not_expressible: 0 };
    lines.begin(out).map_err(TraceError::write(what))?;
    while let Some(record) = next {
        if lines.record(&record, out).map_err(TraceError::write(what))? {
            exported.ios += 1;
        } else {
            exported.not_expressible += 1;
        }
        next = source.next_record()?;
    }
    lines.end(out).and_then(|()| out.flush()).map_err(TraceError::write(what))?;
    Ok(exported)
}

#[cfg(test)]
mod tests;
