//! The link between host and drive.
//!
//! Phenomenon: data crosses at the link's payload rate. A SATA link carries data in one direction
//! at a time; PCIe has a lane for each, so reads and writes do not wait for each other. Data to a
//! SATA drive is slower: the drive requests each frame of it. Source: Serial ATA (half duplex by
//! protocol, DMA Activate before a data frame of at most 8 KiB), PCI Express base specification.
//! Simplifications: the data of a command crosses in one piece and in the order in which it becomes
//! ready; commands, status frames and completion entries cost nothing beyond their share of the
//! payload rates. Tests: `tests/device/host.rs`, `tests/device/timing.rs`.

use base::OpKind;

use super::limits::InterfaceLimits;
use super::{Server, transfer_ns};
use crate::events::NEVER;

/// One link, with one lane for both directions or one for each.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Link {
    /// Payload rates of data to the host and to the drive without a limit.
    full_bytes_per_s: [u64; 2],
    /// Payload rates of data to the host and to the drive.
    bytes_per_s: [u64; 2],
    /// The lanes of data to the drive and to the host; a half-duplex link uses only the first.
    lanes: [Server<u32>; 2],
    /// Index of the lane of data to the host.
    read_lane: usize,
    /// Commands whose data will use the lane of writes at an unknown time: reads that wait for NAND
    /// on a half-duplex link, and writes in the controller.
    expected: u32,
    /// Bytes of the last transfer in each direction and their time, so that only a change of size
    /// needs a division.
    last_transfer: [(u32, u64); 2],
    /// End of the next transfer; the drive reads it at every event.
    next_ns: u64,
}

impl Link {
    /// An idle link with the payload rates of these limits.
    pub fn new(limits: &InterfaceLimits) -> Self {
        let bytes_per_s = [limits.link_bytes_per_s, limits.link_write_bytes_per_s];
        Self {
            full_bytes_per_s: bytes_per_s,
            bytes_per_s,
            lanes: [Server::default(), Server::default()],
            read_lane: usize::from(limits.full_duplex),
            expected: 0,
            last_transfer: [(0, 0); 2],
            next_ns: NEVER,
        }
    }

    /// Limits the rate of later transfers; without a limit the link has its own rates.
    pub fn limit(&mut self, bytes_per_s: Option<u64>) {
        let limit = bytes_per_s.unwrap_or(u64::MAX);
        self.bytes_per_s = self.full_bytes_per_s.map(|full| full.min(limit));
        self.last_transfer = [(0, 0); 2];
    }

    #[inline]
    fn shares_lane_of_writes(&self, kind: OpKind) -> bool {
        match kind {
            OpKind::Write => true,
            OpKind::Read => self.read_lane == 0,
            OpKind::Flush | OpKind::Deallocate => false,
        }
    }

    /// Announces a command that will use the link.
    #[inline]
    pub fn expect(&mut self, kind: OpKind) {
        self.expected += u32::from(self.shares_lane_of_writes(kind));
    }

    /// An announced command has reached the link.
    #[inline]
    pub fn arrive(&mut self, kind: OpKind) {
        self.expected -= u32::from(self.shares_lane_of_writes(kind));
    }

    /// Whether another command may reach the lane of writes before one sent now.
    #[inline]
    pub fn is_expecting(&self) -> bool {
        self.expected > 0
    }

    /// Queues the data of a command that reaches the link at `from_ns`.
    #[inline]
    pub fn push(&mut self, from_ns: u64, kind: OpKind, bytes: u32, tag: u32) {
        let direction = usize::from(kind != OpKind::Read);
        let last = &mut self.last_transfer[direction];
        if bytes != last.0 {
            *last = (bytes, transfer_ns(u64::from(bytes), self.bytes_per_s[direction]));
        }
        let length_ns = last.1;
        let lane = if kind == OpKind::Read { self.read_lane } else { 0 };
        let end_ns = self.lanes[lane].push(from_ns, length_ns, tag);
        self.next_ns = self.next_ns.min(end_ns);
    }

    /// End of the next transfer; [`NEVER`] while idle.
    #[inline]
    pub fn next_event_ns(&self) -> u64 {
        self.next_ns
    }

    /// Removes the command whose transfer ends next; of two at the same time, the one to the drive
    /// goes first.
    #[inline]
    pub fn pop(&mut self) -> Option<u32> {
        let [to_drive, to_host] = &mut self.lanes;
        // A branch that is foreseen, not an index that waits for the comparison.
        let tag = if to_host.next_event_ns() < to_drive.next_event_ns() {
            to_host.pop()
        } else {
            to_drive.pop()
        };
        self.next_ns = to_drive.next_event_ns().min(to_host.next_event_ns());
        tag
    }
}
