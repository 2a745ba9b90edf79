//! Volumes with their own addresses in one address space.

use std::collections::HashMap;

use super::streams::{Addresses, Volume, span_bytes};
use super::{Problems, Record, Source, TraceError, TraceInfo};

/// The streams of a source one behind the other.
pub(super) struct SideBySide {
    source: Box<dyn Source>,
    what: String,
    volumes: Vec<Volume>,
    places: HashMap<u32, usize>,
    last: usize,
}

impl SideBySide {
    /// Puts the streams of `source` at the places in `volumes`; `what` names the trace in errors.
    pub(super) fn new(source: Box<dyn Source>, volumes: Vec<Volume>, what: &str) -> Self {
        let places = volumes.iter().enumerate().map(|(place, volume)| (volume.stream, place));
        let places = places.collect();
        Self { source, what: what.to_owned(), volumes, places, last: 0 }
    }

    fn place(&mut self, record: &Record) -> Result<u64, TraceError> {
        if self.volumes.get(self.last).is_none_or(|volume| volume.stream != record.stream) {
            self.last = self.places.get(&record.stream).copied().unwrap_or(usize::MAX);
        }
        let volume = self.volumes.get(self.last).filter(|volume| record.end() <= volume.end_bytes);
        let offset = volume.and_then(|volume| volume.first_byte.checked_add(record.offset));
        let fits =
            offset.filter(|offset| offset.saturating_add(record.len.into()) <= i64::MAX as u64);
        fits.ok_or_else(|| TraceError::Damaged {
            what: self.what.clone(),
            reason: format!(
                "an I/O up to byte {} of stream {} lies outside what its list of volumes says",
                record.end(),
                record.stream
            ),
        })
    }
}

impl Source for SideBySide {
    fn next_record(&mut self) -> Result<Option<Record>, TraceError> {
        let Some(mut record) = self.source.next_record()? else { return Ok(None) };
        record.offset = self.place(&record)?;
        Ok(Some(record))
    }

    fn info(&self) -> TraceInfo {
        TraceInfo {
            addresses: Addresses::SideBySide,
            span_bytes: Some(span_bytes(&self.volumes)),
            volumes: self.volumes.clone(),
            ..self.source.info()
        }
    }

    fn problems(&self) -> Problems {
        self.source.problems()
    }
}

/// The streams of a source on top of each other, by choice.
pub(super) struct Overlaid(pub(super) Box<dyn Source>);

impl Source for Overlaid {
    fn next_record(&mut self) -> Result<Option<Record>, TraceError> {
        self.0.next_record()
    }

    fn info(&self) -> TraceInfo {
        let info = self.0.info();
        // The highest byte of any of them. Volumes from an import give it; a text does not before
        // its end.
        let end_bytes = info.volumes.iter().map(|volume| volume.end_bytes).max();
        TraceInfo { addresses: Addresses::Overlaid, span_bytes: end_bytes, volumes: vec![], ..info }
    }

    fn problems(&self) -> Problems {
        self.0.problems()
    }
}

/// A source that can be read only once: the place of a second volume is unknown.
pub(super) struct OneVolume {
    source: Box<dyn Source>,
    first: Option<u32>,
}

impl OneVolume {
    pub(super) fn new(source: Box<dyn Source>) -> Self {
        Self { source, first: None }
    }
}

impl Source for OneVolume {
    fn next_record(&mut self) -> Result<Option<Record>, TraceError> {
        let Some(record) = self.source.next_record()? else { return Ok(None) };
        let first = *self.first.get_or_insert(record.stream);
        if first == record.stream {
            return Ok(Some(record));
        }
        Err(TraceError::Usage(format!(
            "standard input has several volumes ({first}, {}) and can be read only once, so they cannot lie side by \
             side; import it into a trace first (ssdlab trace import), choose one (--stream {first}), or put them on \
             top of each other (--streams overlay)",
            record.stream
        )))
    }

    fn info(&self) -> TraceInfo {
        self.source.info()
    }

    fn problems(&self) -> Problems {
        self.source.problems()
    }
}
