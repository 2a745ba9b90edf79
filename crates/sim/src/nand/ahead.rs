//! Reads ahead of the host: on each die they come behind the host's reads and before all other work.

use super::job::Job;
use crate::ring::Ring;

/// The reads ahead that wait for each die.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct AheadQueues {
    dies: Vec<Ring<Job>>,
}

impl AheadQueues {
    pub(super) fn new(dies: u32) -> Self {
        Self { dies: vec![Ring::default(); dies as usize] }
    }

    pub(super) fn push(&mut self, die: u32, job: Job) {
        self.dies[die as usize].push_back(job);
    }

    pub(super) fn pop(&mut self, die: u32) -> Option<Job> {
        self.dies[die as usize].pop_front()
    }

    /// Takes out the read with this number, or `None` if it does not wait.
    pub(super) fn take(&mut self, die: u32, fetch: u64) -> Option<Job> {
        self.dies[die as usize].take(|job| job.fetch() == fetch)
    }

    /// Forgets all that waits.
    pub(super) fn clear(&mut self) {
        self.dies.iter_mut().for_each(|jobs| while jobs.pop_front().is_some() {});
    }
}
