//! The settings of a replay.

use std::str::FromStr;

use base::{Bytes, Nanos};
use load::trace::Excerpt;

/// The treatment of time without issues in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// Pauses as recorded.
    Real,
    /// Pauses as recorded, limited to this.
    Cap(Nanos),
    /// No pauses.
    None,
}

impl Idle {
    /// The remaining length of a pause.
    pub fn pause_ns(self, recorded_ns: u64) -> u64 {
        match self {
            Self::Real => recorded_ns,
            Self::Cap(cap) => recorded_ns.min(cap.0),
            Self::None => 0,
        }
    }

    /// Whether a few commands may take years: otherwise there is at most a second for each.
    pub(super) fn is_open_ended(self) -> bool {
        match self {
            Self::Real => true,
            Self::Cap(cap) => cap > Nanos::SECOND,
            Self::None => false,
        }
    }
}

impl FromStr for Idle {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("cap:")) {
            ("real", _) => Ok(Self::Real),
            ("none", _) => Ok(Self::None),
            (_, Some(cap)) => cap.parse().map(Self::Cap).map_err(|error| error.to_string()),
            _ => Err("expected real, none or a longest pause such as cap:25ms".to_owned()),
        }
    }
}

/// The condition for the issue of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The recorded queue depth.
    Closed,
    /// The recorded time.
    Open,
}

impl FromStr for Form {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "closed" => Ok(Self::Closed),
            "open" => Ok(Self::Open),
            _ => {
                Err("expected closed (keep recorded depths) or open (keep recorded times)"
                    .to_owned())
            }
        }
    }
}

/// The place of a recorded address on the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// At the address modulo the span.
    Wrap,
    /// At the same part of the span as of the trace's own address space.
    Scale,
    /// At the address plus this; commands outside the span are omitted and counted.
    Offset(Bytes),
}

impl FromStr for Mapping {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("offset:")) {
            ("wrap", _) => Ok(Self::Wrap),
            ("scale", _) => Ok(Self::Scale),
            (_, Some(bytes)) => {
                bytes.parse().map(Self::Offset).map_err(|error: base::UnitError| error.to_string())
            }
            _ => Err("expected wrap, scale or offset:BYTES".to_owned()),
        }
    }
}

/// A replay before its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplaySpec {
    /// Name of the trace: a file of any format, or `synth:SCENARIO[?scale=1/10&seed=1]`.
    pub trace: String,
    /// The part of it that is replayed.
    pub excerpt: Excerpt,
    /// Bytes read and written, if the trace tells beforehand.
    pub moved_bytes: Option<(u64, u64)>,
    /// The treatment of pauses.
    pub idle: Idle,
    /// The condition for the issue of a command.
    pub form: Form,
    /// The place of a recorded address.
    pub mapping: Mapping,
    /// Bytes that may be used, from LBA 0.
    pub span_bytes: u64,
    /// Most commands outstanding.
    pub queue_depth_max: u32,
    /// Longest command; longer ones are split.
    pub transfer_bytes_max: u32,
    /// Offsets and lengths are multiples of this; others are widened (deallocations narrowed).
    pub block_bytes: u32,
    /// Whether to issue flushes, those in front of writes included.
    pub keep_flush: bool,
    /// Whether to issue deallocations.
    pub keep_trim: bool,
}
