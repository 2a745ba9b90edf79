//! Zones of a target: places that are written in order and emptied as a whole.

/// The zones of a target. The end of each, beyond its capacity, holds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneLimits {
    /// Number of zones.
    pub zones: u32,
    /// Distance of two zones.
    pub size_bytes: u64,
    /// Bytes that a zone can hold, from its begin on.
    pub capacity_bytes: u64,
    /// Most zones open at a time.
    pub open_max: u32,
}

/// An order to a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneOrder {
    /// Make it full.
    Finish,
    /// Make it empty.
    Reset,
}

impl ZoneOrder {
    /// The word used in the names of steps.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Finish => "finish",
            Self::Reset => "reset",
        }
    }
}
