//! The link between host and drive.
//!
//! Phenomenon: data crosses at the link's payload rate. A SATA link carries data in one direction at a
//! time; PCIe has lanes of its own for each, so reads and writes do not wait for each other. Data to a SATA drive
//! is slower: the drive asks for each frame of it. Source: Serial ATA (half duplex by protocol, DMA Activate before a
//! data frame of at most 8 KiB), PCI Express base specification. Simplifications: a command's data crosses in
//! one piece and in the order in which it becomes ready; commands, status frames and completion entries
//! cost nothing of their own but what the payload rates hold of them. Tests: `tests/device/host.rs`, `tests/device/timing.rs`.

use base::OpKind;

use super::limits::InterfaceLimits;
use super::{Server, transfer_ns};
use crate::events::NEVER;

/// One link, shared by both directions or with a lane for each.
#[derive(Debug)]
pub struct Link {
    /// Payload rates of data to the host and to the drive.
    bytes_per_s: [u64; 2],
    /// The lane of data to the drive, and that of data to the host, which a half-duplex link does not use.
    lanes: [Server<u32>; 2],
    /// The lane of data to the host.
    read_lane: usize,
    /// Commands whose data will cross in the lane of writes, but nobody knows yet when they come to it:
    /// reads that wait for NAND on a half-duplex link, and writes in the controller.
    expected: u32,
    /// Bytes of the last transfer in each direction and their time, to divide only where the size changes.
    last_transfer: [(u32, u64); 2],
    /// When the next transfer ends: asked for at every event of the drive.
    next_ns: u64,
}

impl Link {
    /// An idle link with the payload rates of these limits.
    #[must_use]
    pub fn new(limits: &InterfaceLimits) -> Self {
        Self {
            bytes_per_s: [limits.link_bytes_per_s, limits.link_write_bytes_per_s],
            lanes: [Server::default(), Server::default()],
            read_lane: usize::from(limits.full_duplex),
            expected: 0,
            last_transfer: [(0, 0); 2],
            next_ns: NEVER,
        }
    }

    #[inline]
    fn shares_lane_of_writes(&self, kind: OpKind) -> bool {
        match kind {
            OpKind::Write => true,
            OpKind::Read => self.read_lane == 0,
            OpKind::Flush | OpKind::Deallocate => false,
        }
    }

    /// A command is on its way to the link.
    #[inline]
    pub fn expect(&mut self, kind: OpKind) {
        self.expected += u32::from(self.shares_lane_of_writes(kind));
    }

    /// An expected command has come to the link.
    #[inline]
    pub fn arrive(&mut self, kind: OpKind) {
        self.expected -= u32::from(self.shares_lane_of_writes(kind));
    }

    /// Whether a command may come to the lane of writes before one that is sent now.
    #[inline]
    #[must_use]
    pub fn is_expecting(&self) -> bool {
        self.expected > 0
    }

    /// Queues the data of a command that comes to the link at `from_ns`.
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

    /// When the next transfer ends; [`NEVER`] while idle.
    #[inline]
    #[must_use]
    pub fn next_event_ns(&self) -> u64 {
        self.next_ns
    }

    /// Takes the command whose transfer ends next; at the same time that to the drive goes first.
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
