//! The integers of the simulated interface.

use super::DeallocateSupport;

/// The simulated interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct InterfaceLimits {
    /// The treatment of deallocate commands.
    pub deallocate: DeallocateSupport,
    /// Payload rate of data to the host, bytes per second.
    pub link_bytes_per_s: u64,
    /// Payload rate of data to the drive, bytes per second.
    pub link_write_bytes_per_s: u64,
    /// Whether data crosses in both directions at once.
    pub full_duplex: bool,
    /// Most outstanding commands of the drive, in all queues together.
    pub commands: u32,
    /// Submission queues.
    pub queues: u32,
    /// Commands per turn of a queue.
    pub arbitration_burst: u32,
    /// Commands between fetch and write buffer, or `None` if the controller fetches all.
    pub slots: Option<u32>,
    /// Smallest unit that the host can address.
    pub logical_block_bytes: u64,
}
