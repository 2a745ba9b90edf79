//! NVMe submission queues, their arbitration, and the slots of fetched commands.
//!
//! Phenomenon: each queue pair has its own commands, and the controller fetches from them in turn,
//! a burst at a time, so that a queue with one command does not wait behind a hundred of another.
//! A fetched command has a slot of the controller: a write until the buffer has taken it. While all
//! slots are taken the controller fetches nothing, so that reads stand behind the writes of a drive
//! with more load than it can take, for as long as outstanding commands / rate.
//! Source: NVM Express base specification, round robin arbitration and Arbitration Burst; for slots
//! SSD-iq (`finallat10`): under overload the reads of an SN640 wait for 8.7 ms, as long as its writes,
//! those of a 7450 not at all.
//! Simplifications: the queue of a command is its tag modulo the number of queues (as a driver
//! distributes its processors); the controller fetches a command after decoding the preceding one;
//! all queues have the same weight; a command other than a write leaves its slot when it is decoded;
//! a completion is posted to the pair of its queue at once, without coalescing of interrupts.
//! Test: `tests/device/host.rs`.
//!
//! A drive with one queue and no limit of slots does not need this: its controller takes commands in
//! the order of their arrival.

use std::collections::VecDeque;

use base::OpKind;

use super::limits::InterfaceLimits;

/// Commands that the controller has not fetched yet.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct SubmissionQueues {
    queues: Vec<VecDeque<u32>>,
    /// The queue in turn.
    turn: usize,
    /// The rest of its burst.
    burst_left: u32,
    burst: u32,
    /// Whether a fetched command is not decoded yet.
    is_fetching: bool,
    free_slots: u32,
}

impl SubmissionQueues {
    /// The empty queues of an interface; `None` for one queue without a limit of slots, which needs no
    /// arbitration.
    pub fn new(limits: &InterfaceLimits) -> Option<Self> {
        let InterfaceLimits { queues, commands, arbitration_burst: burst, slots, .. } = *limits;
        let queue = || VecDeque::with_capacity((commands / queues) as usize);
        (queues > 1 || slots.is_some()).then(|| Self {
            queues: (0..queues).map(|_| queue()).collect(),
            turn: 0,
            burst_left: burst,
            burst,
            is_fetching: false,
            free_slots: slots.unwrap_or(u32::MAX),
        })
    }

    /// The host has put a command into its queue; returns the command to decode now, if the controller
    /// is free for one.
    pub fn submit(&mut self, tag: u32) -> Option<u32> {
        let queue = tag as usize % self.queues.len();
        self.queues[queue].push_back(tag);
        if self.is_fetching { None } else { self.fetch() }
    }

    /// The controller has decoded a command; returns the next one.
    pub fn decoded(&mut self, kind: OpKind) -> Option<u32> {
        self.is_fetching = false;
        self.free_slots += u32::from(kind != OpKind::Write);
        self.fetch()
    }

    /// The buffer has taken a write; returns the command to decode now, if one waited for the slot.
    #[inline]
    pub fn leave_slot(&mut self) -> Option<u32> {
        self.free_slots += 1;
        if self.free_slots > 1 || self.is_fetching { None } else { self.fetch() }
    }

    fn fetch(&mut self) -> Option<u32> {
        if self.free_slots == 0 {
            return None;
        }
        for _ in 0..=self.queues.len() {
            if self.burst_left > 0
                && let Some(tag) = self.queues[self.turn].pop_front()
            {
                self.burst_left -= 1;
                self.free_slots -= 1;
                self.is_fetching = true;
                return Some(tag);
            }
            self.turn = (self.turn + 1) % self.queues.len();
            self.burst_left = self.burst;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::DeallocateSupport;

    fn limits(queues: u32, slots: Option<u32>) -> InterfaceLimits {
        InterfaceLimits {
            deallocate: DeallocateSupport::Works,
            link_bytes_per_s: 1,
            link_write_bytes_per_s: 1,
            full_duplex: true,
            commands: 24,
            queues,
            arbitration_burst: 2,
            slots,
            logical_block_bytes: 512,
        }
    }

    #[test]
    fn queues_take_turns_by_the_burst() {
        // Tags 0, 3, 6, ... are of queue 0, tag 1 of queue 1, tags 2 and 5 of queue 2.
        let mut queues = SubmissionQueues::new(&limits(3, None)).unwrap();
        let mut order: Vec<u32> =
            [0, 3, 6, 9, 12, 1, 2, 5].map(|tag| queues.submit(tag)).into_iter().flatten().collect();
        assert_eq!(order, [0], "one command is decoded at a time");
        while let Some(tag) = queues.decoded(OpKind::Write) {
            order.push(tag);
        }
        assert_eq!(order, [0, 3, 1, 2, 5, 6, 9, 12]);
        assert_eq!(queues.submit(4), Some(4), "an idle controller takes what comes");
        assert!(SubmissionQueues::new(&limits(1, None)).is_none());
    }

    #[test]
    fn a_write_keeps_its_slot_and_a_read_does_not() {
        let mut queues = SubmissionQueues::new(&limits(1, Some(2))).unwrap();
        assert_eq!([0, 1, 2, 3].map(|tag| queues.submit(tag)), [Some(0), None, None, None]);
        assert_eq!(queues.decoded(OpKind::Read), Some(1), "0 was a read");
        assert_eq!(queues.decoded(OpKind::Write), Some(2), "the second slot");
        assert_eq!(queues.decoded(OpKind::Write), None, "3 has no slot");
        assert_eq!(queues.leave_slot(), Some(3));
        assert_eq!(queues.leave_slot(), None, "3 is being decoded");
        assert_eq!(queues.decoded(OpKind::Write), None, "nothing is left");
        assert_eq!([queues.leave_slot(), queues.submit(4)], [None, Some(4)]);
    }
}
