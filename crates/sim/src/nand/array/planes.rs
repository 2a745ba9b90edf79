//! Independent planes: each plane of a die senses a page of its own for the host.
//!
//! Phenomenon: the planes of a die have word-line drivers of their own, so a read for the host does not wait for the
//! sense of another plane. Source: US 2023/0317144 A1 (commands wait in a queue for each plane and are issued whatever
//! the other planes do); the rated random reads of TLC drives, which planes that sense together do not reach.
//! The data that is sensed first crosses the channel first: a controller asks each plane whether it is ready, and reads
//! out any that is. Simplifications: senses run side by side only while the die reads for the host; a plane senses again
//! only when its data has crossed; a read of several pages of a unit takes all planes and is overtaken by none; a
//! program that goes on after reads takes the registers of reads that wait. Tests: `tests/device/nand.rs`,
//! `tests/formulas/throughput.rs`.

use crate::nand::job::Job;

/// The sense of a read that waits for its turn on the channel.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Sense {
    job: Job,
    plane: u32,
    end_ns: u64,
}

/// One die.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Planes {
    /// The plane whose data crosses the channel next, or `None` for all of them.
    current: Option<u32>,
    waiting: Vec<Sense>,
}

/// The planes of all dies.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct IndependentPlanes {
    /// Pages of a unit on one plane.
    plane_pages: u32,
    dies: Vec<Planes>,
}

impl IndependentPlanes {
    /// Planes at rest, with this number of pages of a unit on each.
    pub(super) fn new(plane_pages: u32, dies: u32) -> Self {
        Self { plane_pages, dies: vec![Planes::default(); dies as usize] }
    }

    /// An operation of the die begins; the end of its sense, past or future, or `None` if its plane
    /// has not begun to sense.
    pub(super) fn begin(&mut self, die: u32, job: Job) -> Option<u64> {
        let plane = self.plane(job);
        let state = &mut self.dies[die as usize];
        state.current = plane;
        if plane.is_none() {
            state.waiting.clear();
        }
        let place = state.waiting.iter().position(|sense| sense.job == job)?;
        Some(state.waiting.remove(place).end_ns)
    }

    /// The waiting read whose data is ready first, or `None` if no plane senses beside the current one.
    pub(super) fn first_ready(&self, die: u32) -> Option<Job> {
        let waiting = self.dies[die as usize].waiting.iter();
        waiting.min_by_key(|sense| sense.end_ns).map(|sense| sense.job)
    }

    /// Whether a waiting read may sense now, beside the current one.
    pub(super) fn may_sense(&self, die: u32, job: Job) -> bool {
        let state = &self.dies[die as usize];
        let (Some(plane), Some(current)) = (self.plane(job), state.current) else { return false };
        plane != current && state.waiting.iter().all(|sense| sense.plane != plane)
    }

    /// A waiting read senses until `end_ns`.
    pub(super) fn sense(&mut self, die: u32, job: Job, end_ns: u64) {
        if let Some(plane) = self.plane(job) {
            self.dies[die as usize].waiting.push(Sense { job, plane, end_ns });
        }
    }

    /// A die loses the data that waits in its registers.
    pub(super) fn forget(&mut self, die: u32) {
        self.dies[die as usize] = Planes::default();
    }

    /// All dies lose the data that waits in their registers.
    pub(super) fn forget_all(&mut self) {
        self.dies.fill(Planes::default());
    }

    /// The plane that a read occupies; `None` for an operation on all planes.
    fn plane(&self, job: Job) -> Option<u32> {
        job.only_page().map(|page| page / self.plane_pages)
    }
}
