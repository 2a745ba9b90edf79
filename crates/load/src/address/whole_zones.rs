//! Fresh zones of a drive, each written once and in order, several at a time that take turns.

use crate::order::WholeZones;
use crate::workload::Workload;

/// State of the order.
#[derive(Clone, Debug)]
pub struct ZoneTurns {
    order: WholeZones,
    offset: u64,
    /// Number and written bytes of each zone that is being written.
    open: Vec<(u64, u64)>,
    turn: usize,
    /// The next zone, and the number of all.
    next: u64,
    zones: u64,
}

impl ZoneTurns {
    pub(super) fn new(workload: &Workload, order: WholeZones) -> Self {
        let zones = workload.span_bytes / order.size_bytes;
        let next = u64::from(order.at_a_time).min(zones);
        let open = (0..next).map(|zone| (zone, 0)).collect();
        Self { order, offset: workload.span_offset_bytes, open, turn: 0, next, zones }
    }

    /// The next block, which is shorter at the end of a zone; `None` after the last zone.
    #[inline]
    pub(super) fn next_block(&mut self, len: u32) -> Option<(u64, u32)> {
        if self.turn >= self.open.len() {
            self.turn = 0;
        }
        let (zone, written) = self.open.get_mut(self.turn)?;
        let len = u64::from(len).min(self.order.capacity_bytes - *written);
        let offset = self.offset + *zone * self.order.size_bytes + *written;
        *written += len;
        if *written < self.order.capacity_bytes {
            self.turn += 1;
        } else if self.next < self.zones {
            (*zone, *written) = (self.next, 0);
            self.next += 1;
            self.turn += 1;
        } else {
            self.open.remove(self.turn);
        }
        Some((offset, len as u32))
    }
}
