//! Random reads and writes by queue depth, as fio-plot takes them: a minute for each number of jobs at each depth.
//!
//! The writes of a minute depend on those before it. The drive of the source had been written through, half of it once
//! more at random (its runs over the full span), when the curve began; the fill before that is assumed, since reads of the
//! curve are reads of NAND. fio starts a run with the seeds of the run before, so that every minute writes the same pages
//! in the same order.

use base::{Histogram, Nanos, OpKind, Permutation, Ratio, Rng};

use super::procedure::{ExperimentDrive, SECOND_NS, closed_loop};
use super::under_load::page_op;

/// Queue depths of a curve, and numbers of jobs at each of them.
pub(super) const DEPTHS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];

impl ExperimentDrive {
    /// IOPS of random reads at each depth within a filled eighth.
    pub(super) fn read_curve(&mut self) -> Vec<(u32, f64)> {
        let pages = self.pages / 8;
        self.fill(pages);
        self.rest(60);
        DEPTHS.map(|depth| (depth, self.reads_per_second(depth, pages))).to_vec()
    }

    /// Commands a second, of 20,000 after 1,000.
    fn reads_per_second(&mut self, depth: u32, pages: u64) -> f64 {
        let mut rng = Rng::new(1);
        let mut next = |tag| page_op(OpKind::Read, rng.below(pages), 1, tag);
        closed_loop(&mut self.drive, depth, 1_000, &mut next, |_| ());
        let begin_ns = self.drive.now().0;
        closed_loop(&mut self.drive, depth, 20_000, &mut next, |_| ());
        20_000.0 * SECOND_NS as f64 / (self.drive.now().0 - begin_ns) as f64
    }

    /// IOPS of random writes of one job at each depth, in the order of the source, and 99th percentiles in us.
    pub(super) fn write_curve(&mut self) -> Vec<(u32, f64, f64)> {
        self.fill(self.pages);
        self.write_half_at_random();
        self.rest(60);
        let (mut curve, minute_ns) = (Vec::new(), self.scale.of(60 * SECOND_NS));
        for depth in DEPTHS {
            for jobs in DEPTHS {
                let (iops, p99_us) = self.writes_per_second(depth, jobs, minute_ns);
                if jobs == 1 {
                    curve.push((depth, iops, p99_us));
                }
            }
        }
        curve
    }

    /// Half of the pages, each once.
    fn write_half_at_random(&mut self) {
        let places = Permutation::new(self.pages, &mut self.rng);
        let mut ranks = 0..;
        let mut next = |tag| page_op(OpKind::Write, places.at(ranks.next().unwrap_or(0)), 1, tag);
        closed_loop(&mut self.drive, 1, self.pages / 2, &mut next, |_| ());
    }

    /// Commands a second of jobs that write for a time, each with the seed of its number, and the 99th percentile of
    /// their latency in us.
    fn writes_per_second(&mut self, depth: u32, jobs: u32, length_ns: u64) -> (f64, f64) {
        let depth = (depth * jobs).min(self.drive.config().queue_depth);
        let mut seeds: Vec<Rng> = (0..jobs).map(|job| Rng::new(u64::from(job) + 1)).collect();
        let pages = self.pages;
        let mut next =
            |tag: u32| page_op(OpKind::Write, seeds[(tag % jobs) as usize].below(pages), 1, tag);
        let (begin_ns, mut latencies) = (self.drive.now().0, Histogram::new());
        let first: Vec<_> = (0..depth).map(&mut next).collect();
        self.drive.submit(&first);
        let (mut outstanding, mut out) = (depth, Vec::new());
        while outstanding > 0 {
            out.clear();
            self.drive.reap(1, &mut out);
            let is_over = self.drive.now() >= Nanos(begin_ns + length_ns);
            for end in &out {
                latencies.record(end.latency().0);
                if is_over {
                    outstanding -= 1;
                } else {
                    self.drive.submit(&[next(end.tag)]);
                }
            }
        }
        let seconds = (self.drive.now().0 - begin_ns) as f64 / SECOND_NS as f64;
        let p99_ns = Ratio::new(99, 100).and_then(|share| latencies.quantile(share));
        (latencies.count() as f64 / seconds, p99_ns.unwrap_or(0) as f64 / 1e3)
    }
}
