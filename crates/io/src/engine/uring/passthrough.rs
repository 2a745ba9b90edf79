//! NVMe commands past the block layer: `IORING_OP_URING_CMD` on the generic character device.
//!
//! No scheduler, no merging, no splitting, no accounting: what a drive gets is what was submitted. The
//! block device stays open and held all the while; purges, deallocations of whole spans and the checks of
//! identity go through it. Needs Linux 5.19, polled completions 6.1.

use std::os::fd::AsRawFd;

use base::{Op, OpKind};
use io_uring::{cqueue, opcode, squeue};
use rustix::io::Errno;

use super::super::medium::Medium;
use super::commands::{Commands, FILE, Failure};
use super::probe::{Probe, check_polling};
use super::{Refused, Registration, UringEngine};
use crate::buffer::{AlignedBuffer, BufferPool};
use crate::nvme::generic::GenericNode;
use crate::nvme::io_command::{
    Blocks, IoCommand, NVME_URING_CMD_IO, RANGE_BYTES, deallocate_range,
};
use crate::nvme::status;
use crate::open::Polling;
use crate::ownership::Ownership;

/// `IORING_MAX_REG_BUFFERS`.
const REGISTERED_BUFFERS_MAX: u32 = 1 << 14;

/// Commands for one namespace.
#[derive(Debug)]
pub struct NvmeCommands {
    node: GenericNode,
    block_shift: u32,
    /// The transfer memory is registered in pieces of two to the power of this many areas.
    piece_shift: Option<u32>,
    /// Completions are polled; nothing but reads and writes can be.
    polled: bool,
    /// The data of Dataset Management, one range for each slot.
    ranges: AlignedBuffer,
}

impl Commands for NvmeCommands {
    type Entry = squeue::Entry128;
    type Answer = cqueue::Entry32;

    #[inline]
    fn entry(&mut self, op: &Op, pool: &mut BufferPool) -> squeue::Entry128 {
        let namespace_id = self.node.namespace_id;
        match op.kind {
            OpKind::Read => {
                let command = IoCommand::read(namespace_id, self.blocks(op));
                let area = pool.read_area(op.tag);
                self.transfer(&command, area, op, BufferPool::read_area_number(op.tag))
            }
            OpKind::Write => {
                let command = IoCommand::write(namespace_id, self.blocks(op), op.fua);
                let data = pool.prepare_write(op.tag, op.data, op.offset, op.len as usize).as_ptr();
                self.transfer(&command, data, op, BufferPool::write_area_number(op.tag))
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
        node.check_transfer(medium.limits.transfer_bytes_max)?;
        let ranges_bytes = RANGE_BYTES * medium.limits.queue_depth_max as usize;
        let ranges =
            AlignedBuffer::new(ranges_bytes, RANGE_BYTES).map_err(|error| error.to_string())?;
        Ok(Self {
            block_shift: node.block_bytes.trailing_zeros(),
            node,
            piece_shift: None,
            polled: polling.completions,
            ranges,
        })
    }

    #[inline]
    fn blocks(&self, op: &Op) -> Blocks {
        Blocks { start: op.offset >> self.block_shift, count: op.len >> self.block_shift }
    }

    #[inline]
    fn transfer(
        &self,
        command: &IoCommand,
        data: *const u8,
        op: &Op,
        area: u32,
    ) -> squeue::Entry128 {
        // At most REGISTERED_BUFFERS_MAX pieces.
        let buffer = self.piece_shift.map(|shift| (area >> shift) as u16);
        queue_entry(command, data as u64, op.len, buffer)
    }

    /// Puts the range of a deallocation where it stays until the command has ended.
    fn range(&mut self, op: &Op) -> *const u8 {
        let range = deallocate_range(self.blocks(op));
        let at = op.tag as usize * RANGE_BYTES;
        let place = &mut self.ranges.as_mut_slice()[at..at + RANGE_BYTES];
        place.copy_from_slice(&range);
        place.as_ptr()
    }

    /// Tries commands as they will be used; gives how to register the transfer memory.
    fn try_out(
        &mut self,
        medium: &Medium,
        pool: &mut BufferPool,
        polling: Polling,
    ) -> Result<Registration, String> {
        let (shortest, longest) = (self.node.block_bytes, medium.limits.transfer_bytes_max);
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

    /// Registers as little as possible at once, one area where there are not too many: Linux 6.1 looks at a
    /// registered buffer to its end and answers `EINVAL` where that is more than `queue/max_segments` pages
    /// away; kernels without commit 2ff949441802 (6.12), where the transfer ends before it.
    fn try_registered(
        &mut self,
        probe: Probe,
        lengths: [u32; 2],
        pool: &mut BufferPool,
    ) -> Registration {
        let areas_per_piece = pool.areas().div_ceil(REGISTERED_BUFFERS_MAX).next_power_of_two();
        let piece_bytes = areas_per_piece as usize * pool.area_bytes();
        let registered_bytes = piece_bytes.min(pool.arena().1);
        self.piece_shift = Some(areas_per_piece.trailing_zeros());
        let registered = Probe { registered_bytes, ..probe };
        match lengths.into_iter().try_for_each(|len| registered.read(len, self, pool)) {
            Ok(()) => Registration::Pieces { piece_bytes },
            Err(why) => {
                self.piece_shift = None;
                Registration::None { why: format!("a read failed: {why}") }
            }
        }
    }
}

impl UringEngine<NvmeCommands> {
    /// Sets up the ring on the generic character device of the namespace; or hands everything back with
    /// the reason why not.
    pub(crate) fn passthrough(
        mut medium: Medium,
        mut pool: BufferPool,
        polling: Polling,
    ) -> Result<Self, Refused> {
        let prepared = NvmeCommands::new(&medium, polling).and_then(|mut commands| {
            let registration = commands.try_out(&medium, &mut pool, polling)?;
            Ok((commands, registration))
        });
        let (commands, registration) = match prepared {
            Ok(prepared) => prepared,
            Err(reason) => return Err(Box::new((medium, pool, reason))),
        };
        let node = commands.node.path.display();
        medium.identity.engine = format!("NVMe passthrough through {node}");
        let fd = commands.node.file.as_raw_fd();
        Self::on(fd, medium, pool, polling, registration, |registered, _| {
            let piece_shift = commands.piece_shift.filter(|_| registered);
            NvmeCommands { piece_shift, ..commands }
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
