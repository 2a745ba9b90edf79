//! The streams of a trace: their addresses, their amount of I/O, and the choice among them.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::{Record, TraceError};

/// Most distinct streams.
pub const STREAMS_MAX: usize = 1 << 16;

/// Volumes that lie side by side begin at multiples of this.
pub const VOLUME_ALIGN_BYTES: u64 = 1 << 20;

/// The remedy if volumes cannot lie side by side.
const CHOOSE: &str =
    "name those that you want (--stream), or put them on top of each other (--streams overlay)";

/// Addresses of the streams of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Addresses {
    /// They share one address space: processes on one disk.
    #[default]
    Shared,
    /// Each has its own, which begins at 0: disks, volumes, files. Offsets count from the start of the volume.
    OfEach,
    /// Each had its own; here they lie one behind the other in one address space.
    SideBySide,
    /// Each had its own; here all begin at 0 of one address space, by choice.
    Overlaid,
}

/// Layout of volumes with addresses of their own in one address space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// One behind the other.
    #[default]
    SideBySide,
    /// All begin at 0.
    Overlay,
    /// No common address space: each keeps its own addresses.
    Apart,
}

impl std::str::FromStr for Layout {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Self, TraceError> {
        match text {
            "side-by-side" => Ok(Self::SideBySide),
            "overlay" => Ok(Self::Overlay),
            _ => Err(TraceError::Usage(format!(
                "streams cannot lie `{text}`; known are side-by-side, overlay"
            ))),
        }
    }
}

/// The selected streams; none named means all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamSet(BTreeSet<u32>);

impl StreamSet {
    /// Whether I/Os of this stream are selected.
    pub fn takes(&self, stream: u32) -> bool {
        self.0.is_empty() || self.0.contains(&stream)
    }

    /// Whether all streams are selected.
    pub fn is_all(&self) -> bool {
        self.0.is_empty()
    }

    /// The numbers, as text for messages.
    pub fn list(&self) -> String {
        self.0.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
    }
}

impl FromIterator<u32> for StreamSet {
    fn from_iter<I: IntoIterator<Item = u32>>(streams: I) -> Self {
        Self(streams.into_iter().collect())
    }
}

/// Amount of I/O of a stream, and its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    /// Its number.
    pub stream: u32,
    /// Its I/Os.
    pub ios: u64,
    /// Bytes of its reads and writes.
    pub bytes: u64,
    /// The byte after the last one that it touches, counted from its own start.
    pub end_bytes: u64,
    /// Its first byte if the volumes lie side by side.
    pub first_byte: u64,
}

/// Counts the streams of a trace.
#[derive(Default)]
pub struct Census {
    volumes: Vec<Volume>,
    places: HashMap<u32, usize>,
    last: usize,
    /// Whether there are more streams than the limit.
    overflow: bool,
}

impl Census {
    /// Counts a record.
    pub fn add(&mut self, record: &Record) {
        let Some(place) = self.place(record.stream) else { return };
        let volume = &mut self.volumes[place];
        volume.ios += 1;
        volume.bytes += if record.moves_data() { u64::from(record.len) } else { 0 };
        volume.end_bytes = volume.end_bytes.max(record.end());
    }

    /// The place of a stream; most I/Os are of the same stream as the one before.
    fn place(&mut self, stream: u32) -> Option<usize> {
        if self.volumes.get(self.last).is_some_and(|volume| volume.stream == stream) {
            return Some(self.last);
        }
        self.last = match self.places.get(&stream) {
            Some(&place) => place,
            None if self.volumes.len() == STREAMS_MAX => {
                self.overflow = true;
                return None;
            }
            None => {
                self.places.insert(stream, self.volumes.len());
                self.volumes.push(Volume { stream, ..Volume::default() });
                self.volumes.len() - 1
            }
        };
        Some(self.last)
    }

    /// The volumes by number, each with its place in one address space; `what` names the trace in errors.
    ///
    /// # Errors
    /// [`TraceError::Usage`] if there are too many, or their addresses are too large for one space.
    pub fn volumes(mut self, what: &str) -> Result<Vec<Volume>, TraceError> {
        if self.overflow {
            return Err(TraceError::Usage(format!(
                "{what} has more than {STREAMS_MAX} streams with addresses of their own; {CHOOSE}"
            )));
        }
        self.volumes.sort_by_key(|volume| volume.stream);
        side_by_side(self.volumes, what)
    }
}

/// Gives volumes their places, one behind the other; `what` names the trace in errors.
///
/// # Errors
/// [`TraceError::Usage`] if their addresses are too large for one space.
pub fn side_by_side(mut volumes: Vec<Volume>, what: &str) -> Result<Vec<Volume>, TraceError> {
    let mut next = 0_u64;
    for volume in &mut volumes {
        volume.first_byte = next;
        let end = next.checked_add(volume.end_bytes);
        let end = end.and_then(|end| end.checked_next_multiple_of(VOLUME_ALIGN_BYTES));
        next = end.filter(|&end| end <= i64::MAX as u64).ok_or_else(|| {
            TraceError::Usage(format!(
                "the streams of {what} need more than 2^63 bytes side by side; {CHOOSE}"
            ))
        })?;
    }
    Ok(volumes)
}

/// The byte after the last one of volumes that lie side by side.
pub fn span_bytes(volumes: &[Volume]) -> u64 {
    let ends = volumes.iter().map(|volume| volume.first_byte.saturating_add(volume.end_bytes));
    ends.max().unwrap_or(0)
}
