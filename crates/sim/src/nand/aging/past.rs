//! The past of a drive that is not new at the start of the simulation.

/// Nanoseconds of a day.
pub const DAY_NS: u64 = 24 * 3_600_000_000_000;

/// The past of all blocks and of the first data of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Past {
    /// Initial cycles of every block.
    pub cycles: u32,
    /// Time without power between the data that is written first and the first read of the host from native cells.
    pub retention_ns: u64,
    /// Reads in that time of every block that holds data.
    pub reads: u32,
}

impl Past {
    /// Days without power, and nothing else.
    #[must_use]
    pub const fn days(days: u32) -> Self {
        Self { cycles: 0, retention_ns: (days as u64).saturating_mul(DAY_NS), reads: 0 }
    }
}
