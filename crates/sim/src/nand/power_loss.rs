//! The dies at a loss of power.

use super::{DieOp, Nand, Phase};

impl Nand {
    /// The operations in progress in each die, with the die: the current one, and a suspended one.
    pub fn under_way(&self) -> impl Iterator<Item = (u32, DieOp)> + '_ {
        (0..).zip(&self.dies).flat_map(|(die, state)| {
            let current = (state.phase != Phase::Rest).then_some(state.current);
            let suspended = self.overlap.as_ref().and_then(|overlap| overlap.suspended_job(die));
            current.into_iter().chain(suspended).map(move |job| (die, DieOp::from(job)))
        })
    }

    /// Drops the waiting operations, except those that a drive on capacitors still programs: data
    /// and journal. Parts of checkpoints may wait behind an erase.
    pub fn keep_promises_only(&mut self) {
        for die in &mut self.dies {
            while die.host_reads.pop_front().is_some() {}
            for _ in 0..die.others.len() {
                let Some(job) = die.others.pop_front() else { break };
                if job.is_promised() {
                    die.others.push_back(job);
                }
            }
        }
        self.ahead.clear();
        self.arrays.forget_reads();
        if let Some(overlap) = &mut self.overlap {
            overlap.drop_reads();
        }
    }
}
