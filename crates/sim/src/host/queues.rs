//! NVMe submission queues and their arbitration.
//!
//! Phenomenon: each queue pair has its own commands, and the controller fetches from them in turn,
//! a burst at a time, so that a queue with one command does not wait behind a hundred of another.
//! Source: NVM Express base specification, round robin arbitration and Arbitration Burst.
//! Simplifications: the queue of a command is its tag modulo the number of queues (as a driver
//! distributes its processors); the controller fetches a command after decoding the preceding one;
//! all queues have the same weight; a completion is posted to the pair of its queue at once,
//! without coalescing of interrupts. Test: `tests/device/host.rs`.
//!
//! A drive with one queue does not need this: its controller takes commands in the order of their
//! arrival.

use std::collections::VecDeque;

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
}

impl SubmissionQueues {
    /// `queues` empty queues with `entries` in all of them, served `burst` commands at a time;
    /// `None` for one queue, which needs no arbitration.
    pub fn new(queues: u32, entries: u32, burst: u32) -> Option<Self> {
        let queue = || VecDeque::with_capacity((entries / queues) as usize);
        (queues > 1).then(|| Self {
            queues: (0..queues).map(|_| queue()).collect(),
            turn: 0,
            burst_left: burst,
            burst,
            is_fetching: false,
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
    pub fn decoded(&mut self) -> Option<u32> {
        self.is_fetching = false;
        self.fetch()
    }

    fn fetch(&mut self) -> Option<u32> {
        for _ in 0..=self.queues.len() {
            if self.burst_left > 0
                && let Some(tag) = self.queues[self.turn].pop_front()
            {
                self.burst_left -= 1;
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

    #[test]
    fn queues_take_turns_by_the_burst() {
        // Tags 0, 3, 6, ... are of queue 0, tag 1 of queue 1, tags 2 and 5 of queue 2.
        let mut queues = SubmissionQueues::new(3, 24, 2).unwrap();
        let mut order: Vec<u32> =
            [0, 3, 6, 9, 12, 1, 2, 5].map(|tag| queues.submit(tag)).into_iter().flatten().collect();
        assert_eq!(order, [0], "one command is decoded at a time");
        while let Some(tag) = queues.decoded() {
            order.push(tag);
        }
        assert_eq!(order, [0, 3, 1, 2, 5, 6, 9, 12]);
        assert_eq!(queues.submit(4), Some(4), "an idle controller takes what comes");
    }
}
