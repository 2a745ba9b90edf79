//! NVMe commands past the block layer: `IORING_OP_URING_CMD` on the generic character device.
//!
//! No scheduler, no merging, no accounting: the drive gets the commands as submitted. Only a
//! transfer too long for one command is split, as the block layer would do. A write to a zone is a Zone Append: nobody
//! keeps the order of commands here. The block device stays
//! open and held meanwhile; purges, deallocations of whole spans and the checks of identity go
//! through it. Needs Linux 5.19, polled completions 6.1.

use std::os::fd::AsRawFd;
use std::sync::Arc;

use base::{Bytes, Op, OpKind};
use device::nvme::generic::GenericNode;
use device::nvme::io_command::{
    Blocks, IoCommand, NVME_URING_CMD_IO, RANGE_BYTES, deallocate_range,
};
use device::nvme::status;
use io_uring::{cqueue, opcode, squeue};
use rustix::io::Errno;
use target::Limits;

use super::super::medium::Medium;
use super::commands::{Commands, FILE, Failure};
use super::probe::{Probe, check_polling};
use super::{Refused, Registration, UringEngine};
use crate::buffer::{AlignedBuffer, BufferPool};
use crate::options::Polling;
use crate::ownership::Ownership;

/// `IORING_MAX_REG_BUFFERS`.
const REGISTERED_BUFFERS_MAX: u32 = 1 << 14;
/// `IORING_MAX_ENTRIES`.
const RING_ENTRIES_MAX: u32 = 1 << 15;

/// Commands for one namespace.
#[derive(Debug)]
pub(crate) struct NvmeCommands {
    node: GenericNode,
    block_shift: u32,
    /// Distance of two zones, to which writes go as appends, or `None` if there are none.
    zone_bytes: Option<u64>,
    /// The placement identifiers of the handles that a write may name; empty if there are none.
    placements: Arc<[u16]>,
    /// Length at which a transfer is split; above the longest one if none is.
    split_bytes: u32,
    /// Layout of the registered buffers, or `None` if there are none.
    registered: Option<Registered>,
    /// Whether completions are polled; only reads and writes can be.
    polled: bool,
    /// The data of Dataset Management, one range for each slot.
    ranges: AlignedBuffer,
}

/// Layout of the registered transfer memory: each area in pieces that are split apart, or some
/// areas together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Registered {
    pieces_per_area: u32,
    /// Two to the power of this many areas form one buffer.
    areas_shift: u32,
}

impl Registered {
    /// As little as possible in one buffer, for `areas` areas of so many pieces each; `None` where these are
    /// too many. Linux 6.1 looks at a registered buffer to its end and answers `EINVAL` where that is more
    /// than `queue/max_segments` pages away; kernels without commit 2ff949441802 (6.12), where the transfer
    /// ends before it.
    fn new(areas: u32, pieces_per_area: u32) -> Option<Self> {
        if pieces_per_area > 1 {
            let fit = areas.checked_mul(pieces_per_area)? <= REGISTERED_BUFFERS_MAX;
            return fit.then_some(Self { pieces_per_area, areas_shift: 0 });
        }
        let areas_per_buffer = areas.div_ceil(REGISTERED_BUFFERS_MAX).next_power_of_two();
        Some(Self { pieces_per_area, areas_shift: areas_per_buffer.trailing_zeros() })
    }

    #[inline]
    fn buffer(self, area: u32, piece: u32) -> u16 {
        // At most REGISTERED_BUFFERS_MAX.
        ((area * self.pieces_per_area + piece) >> self.areas_shift) as u16
    }
}

impl Commands for NvmeCommands {
    type Entry = squeue::Entry128;
    type Answer = cqueue::Entry32;

    #[inline]
    fn pieces(&self, op: &Op) -> u32 {
        match op.kind {
            OpKind::Read | OpKind::Write => op.len.div_ceil(self.split_bytes),
            OpKind::Flush | OpKind::Deallocate => 1,
        }
    }

    #[inline]
    fn entry(&mut self, op: &Op, piece: u32, pool: &mut BufferPool) -> squeue::Entry128 {
        let namespace_id = self.node.namespace_id;
        match op.kind {
            OpKind::Read => {
                let part = self.part(op, piece);
                let command = IoCommand::read(namespace_id, self.blocks(&part));
                let area = BufferPool::read_area_number(op.tag);
                self.transfer(&command, pool.read_area(op.tag), op, &part, (area, piece))
            }
            OpKind::Write => {
                if piece == 0 {
                    pool.prepare_write(op.tag, op.data, op.offset, op.len as usize);
                }
                let part = self.part(op, piece);
                let blocks = self.blocks(&part);
                let command = match self.zone_bytes {
                    None => IoCommand::write(namespace_id, blocks, op.fua),
                    Some(bytes) => {
                        let zone = (part.offset / bytes * bytes) >> self.block_shift;
                        IoCommand::append(namespace_id, zone, blocks.count, op.fua)
                    }
                };
                let command = match self.placement(op) {
                    Some(identifier) => command.placed(identifier),
                    None => command,
                };
                let area = BufferPool::write_area_number(op.tag);
                self.transfer(&command, pool.write_area(op.tag), op, &part, (area, piece))
            }
            OpKind::Flush => queue_entry(&IoCommand::flush(namespace_id), 0, 0, None),
            OpKind::Deallocate => {
                let range = self.range(op);
                let command = IoCommand::deallocate(namespace_id);
                queue_entry(&command, range as u64, RANGE_BYTES as u32, None)
            }
        }
    }

    #[inline]
    fn expected(&self, _: &Op) -> i32 {
        // The controller's status; the length is not reported, all or nothing is moved.
        0
    }

    fn failure(&self, result: i32) -> Failure {
        match u32::try_from(result) {
            Ok(status) => {
                let words = format!("NVMe {}", status::words(status));
                Failure { errno: status::errno(status), words: Some(words) }
            }
            // Of the driver, when it takes commands back from a controller that resets or goes.
            Err(_) if result == -Errno::INTR.raw_os_error() => {
                let words = "the driver cancelled the command".to_owned();
                Failure { errno: Errno::IO, words: Some(words) }
            }
            Err(_) => Failure::of_kernel(result),
        }
    }

    #[inline]
    fn is_inline(&self, op: &Op) -> bool {
        match op.kind {
            OpKind::Read | OpKind::Write => false,
            OpKind::Flush => self.polled,
            // The block layer splits what is too long for one command.
            OpKind::Deallocate => self.polled || u64::from(op.len) > self.node.deallocate_bytes_max,
        }
    }

    fn abandon(&mut self) {
        if let Ok(empty) = AlignedBuffer::new(RANGE_BYTES, RANGE_BYTES) {
            std::mem::forget(std::mem::replace(&mut self.ranges, empty));
        }
    }
}

impl NvmeCommands {
    /// Commands for the namespace of `medium`, not yet with registered memory; or why there are none.
    fn new(medium: &Medium, polling: Polling) -> Result<Self, String> {
        let Ownership::Device(claim) = &*medium.ownership else {
            return Err(
                "it is a file, and only NVMe namespaces take commands past the block layer".into(),
            );
        };
        let node = GenericNode::open(&medium.file, claim.report(), medium.writable)?;
        let Limits { transfer_bytes_max, queue_depth_max, .. } = medium.limits;
        let split_bytes = node.split_bytes(transfer_bytes_max)?.unwrap_or(u32::MAX);
        let ranges_bytes = RANGE_BYTES * queue_depth_max as usize;
        let ranges =
            AlignedBuffer::new(ranges_bytes, RANGE_BYTES).map_err(|error| error.to_string())?;
        Ok(Self {
            block_shift: node.block_bytes.trailing_zeros(),
            zone_bytes: medium.limits.zones.map(|zones| zones.size_bytes),
            placements: Arc::clone(&medium.placements),
            node,
            split_bytes,
            registered: None,
            polled: polling.completions,
            ranges,
        })
    }

    /// Entries for a queue that is full of the longest transfers.
    fn ring_entries(&self, limits: &Limits) -> Result<u32, String> {
        let pieces = limits.transfer_bytes_max.div_ceil(self.split_bytes);
        let entries = limits.queue_depth_max.checked_mul(pieces);
        entries.filter(|&entries| entries <= RING_ENTRIES_MAX).ok_or_else(|| {
            format!(
                "a queue depth of {} with {pieces} commands for each transfer of {} is more than the \
                 {RING_ENTRIES_MAX} that a ring takes",
                limits.queue_depth_max,
                Bytes(limits.transfer_bytes_max.into())
            )
        })
    }

    /// The part of a transfer that one command does.
    #[inline]
    fn part(&self, op: &Op, piece: u32) -> Op {
        let at = piece * self.split_bytes;
        Op { offset: op.offset + u64::from(at), len: self.split_bytes.min(op.len - at), ..*op }
    }

    /// The placement identifier of a write, or `None` for the default handle: NVMe gives a write without a directive the
    /// first handle, in whatever reclaim group the drive likes.
    #[inline]
    fn placement(&self, op: &Op) -> Option<u16> {
        let named = self.placements.get(usize::from(op.placement));
        named.copied().filter(|_| op.placement > 0)
    }

    #[inline]
    fn blocks(&self, op: &Op) -> Blocks {
        Blocks { start: op.offset >> self.block_shift, count: op.len >> self.block_shift }
    }

    /// The entry for `part` of `op`, whose data begins at `data`: in this piece of this area.
    #[inline]
    fn transfer(
        &self,
        command: &IoCommand,
        data: *const u8,
        op: &Op,
        part: &Op,
        (area, piece): (u32, u32),
    ) -> squeue::Entry128 {
        let address = data as u64 + (part.offset - op.offset);
        let buffer = self.registered.map(|registered| registered.buffer(area, piece));
        queue_entry(command, address, part.len, buffer)
    }

    /// Stores the range of a deallocation until the command has ended.
    fn range(&mut self, op: &Op) -> *const u8 {
        let range = deallocate_range(self.blocks(op));
        let at = op.tag as usize * RANGE_BYTES;
        let place = &mut self.ranges.as_mut_slice()[at..at + RANGE_BYTES];
        place.copy_from_slice(&range);
        place.as_ptr()
    }

    /// Tries commands in the form in which they will be used; returns how to register the transfer
    /// memory.
    fn try_out(
        &mut self,
        medium: &Medium,
        pool: &mut BufferPool,
        polling: Polling,
    ) -> Result<Registration, String> {
        let shortest = self.node.block_bytes;
        let longest = medium.limits.transfer_bytes_max.min(self.split_bytes);
        let probe = Probe {
            fd: self.node.file.as_raw_fd(),
            polling: Polling::default(),
            registered_bytes: 0,
        };
        probe.read(shortest, self, pool).map_err(|why| {
            let node = self.node.path.display();
            format!("{node} takes no commands by io_uring: {why}; needs Linux 5.19")
        })?;
        probe.read(longest, self, pool).map_err(|why| {
            format!("a read of {longest} bytes past the block layer failed: {why}")
        })?;
        if polling.completions {
            let polled = Probe { polling, ..probe };
            check_polling(medium, || polled.read(shortest, self, pool))?;
        }
        Ok(self.try_registered(probe, [shortest, longest], pool))
    }

    /// Reads these lengths into registered memory; returns how to register all of it.
    fn try_registered(
        &mut self,
        probe: Probe,
        lengths: [u32; 2],
        pool: &mut BufferPool,
    ) -> Registration {
        let area_bytes = pool.area_bytes();
        let piece_bytes = area_bytes.min(self.split_bytes as usize);
        let pieces_per_area = area_bytes.div_ceil(piece_bytes) as u32;
        let Some(registered) = Registered::new(pool.areas(), pieces_per_area) else {
            return Registration::None { why: "too many for one ring".to_owned() };
        };
        let region_bytes = area_bytes << registered.areas_shift;
        let piece_bytes = piece_bytes << registered.areas_shift;
        self.registered = Some(registered);
        let probe = Probe { registered_bytes: piece_bytes.min(pool.arena().1), ..probe };
        match lengths.into_iter().try_for_each(|len| probe.read(len, self, pool)) {
            Ok(()) => Registration::Pieces { region_bytes, piece_bytes },
            Err(why) => {
                self.registered = None;
                Registration::None { why: format!("a read failed: {why}") }
            }
        }
    }
}

impl UringEngine<NvmeCommands> {
    /// Sets up the ring on the generic character device of the namespace, or returns the buffers
    /// with the reason for the failure.
    pub(crate) fn passthrough(
        medium: &mut Medium,
        mut pool: BufferPool,
        polling: Polling,
    ) -> Result<Self, Refused> {
        let prepared = NvmeCommands::new(medium, polling).and_then(|mut commands| {
            let entries = commands.ring_entries(&medium.limits)?;
            let registration = commands.try_out(medium, &mut pool, polling)?;
            Ok((commands, entries, registration))
        });
        let (commands, entries, registration) = match prepared {
            Ok(prepared) => prepared,
            Err(reason) => return Err(Box::new((pool, reason))),
        };
        let node = commands.node.path.display();
        medium.identity.engine = format!("NVMe passthrough through {node}");
        let fd = commands.node.file.as_raw_fd();
        Self::on(fd, entries, medium, pool, polling, registration, |done, _| {
            let registered = commands.registered.filter(|_| done);
            NvmeCommands { registered, ..commands }
        })
    }
}

#[inline]
fn queue_entry(
    command: &IoCommand,
    address: u64,
    data_bytes: u32,
    buffer: Option<u16>,
) -> squeue::Entry128 {
    opcode::UringCmd80::new(FILE, NVME_URING_CMD_IO)
        .cmd(command.for_ring(address, data_bytes))
        .buf_index(buffer)
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_area_is_a_registered_buffer_while_there_are_not_too_many() {
        let few = Registered::new(64, 1).unwrap();
        assert_eq!([0, 1, 63].map(|area| few.buffer(area, 0)), [0, 1, 63]);
        let many = Registered::new(65_536, 1).unwrap();
        assert_eq!([0, 3, 4, 65_535].map(|area| many.buffer(area, 0)), [0, 0, 1, 16_383]);
    }

    #[test]
    fn each_piece_of_an_area_is_a_registered_buffer() {
        let pieces = Registered::new(64, 3).unwrap();
        assert_eq!([(0, 2), (1, 0), (63, 2)].map(|(a, p)| pieces.buffer(a, p)), [2, 3, 191]);
        assert_eq!(Registered::new(16_384, 2), None);
        assert_eq!(Registered::new(u32::MAX, 2), None);
    }
}
