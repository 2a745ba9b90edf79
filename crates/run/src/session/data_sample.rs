//! The data that a run which only reads finds on its target.
//!
//! A drive answers a read of a block that was never written, or was deallocated, without its NAND: from the map alone,
//! with a constant byte. A sample of single reads over the places that the run will read tells how many blocks are such:
//! their bytes are all the same, and they form a group that is clearly faster than the blocks with data. A block that
//! was written with zeros is as slow as any other.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use base::{Data, Nanos, Op, OpKind, Rng, Status};
use result::marks::unwritten::DATA_READS_MIN;
use result::schema::DataSample;
use target::Target;

use super::{Plan, Session};
use crate::recorder::is_constant;

const READS_MAX: usize = 1000;
const TIME_MAX: Nanos = Nanos(2 * Nanos::SECOND.0);
const BLOCK_BYTES: u32 = 4096;
const TAG: u32 = 0;

/// Excess, in percent, of the fast ones among the constant reads over those among the reads of data.
const GROUP_PERCENT_MIN: usize = 25;

/// A read of the sample.
#[derive(Clone, Copy)]
struct SampledRead {
    latency_ns: u64,
    /// Whether its bytes are all the same.
    is_constant: bool,
}

impl Session {
    /// Reads at random places of the plan, one at a time. A read that fails ends the sample: the first phase tells why.
    pub(super) fn sample_data<T: Target>(
        &mut self,
        target: &mut T,
        plan: &Plan,
        interrupted: &AtomicBool,
    ) {
        let block_bytes = BLOCK_BYTES.max(target.limits().logical_block_bytes);
        let places = places(plan, u64::from(block_bytes));
        let mut random = Rng::split(self.seed, "data sample");
        let until = target.now().0.saturating_add(TIME_MAX.0);
        let mut reads = Vec::with_capacity(READS_MAX);
        for (first, blocks) in places.iter().cycle().take(READS_MAX) {
            if target.now().0 >= until || interrupted.load(Ordering::Relaxed) {
                break;
            }
            let offset = (first + random.below(*blocks)) * u64::from(block_bytes);
            let Some(read) = sampled(target, offset, block_bytes) else { break };
            reads.push(read);
        }
        if reads.is_empty() {
            return;
        }
        let sample = judged(&reads);
        self.run.data_sample = Some(sample);
        sample.warning(&self.run.target.spec).into_iter().for_each(|warning| self.warn(warning));
    }
}

/// The different places that the plan reads, in blocks: the first one, and their number.
fn places(plan: &Plan, block_bytes: u64) -> Vec<(u64, u64)> {
    let workloads = plan.phases().flat_map(|phase| phase.action.workloads());
    let places = workloads.map(|workload| {
        (workload.span_offset_bytes / block_bytes, workload.span_bytes / block_bytes)
    });
    places.filter(|(_, blocks)| *blocks > 0).collect::<BTreeSet<_>>().into_iter().collect()
}

/// One read, or `None` if it fails or the target has no data to show.
fn sampled<T: Target>(target: &mut T, offset: u64, len: u32) -> Option<SampledRead> {
    let unwritten_before = target.unwritten_reads();
    let data = Data::Incompressible;
    let kind = OpKind::Read;
    target.submit(&[Op { kind, data, fua: false, placement: 0, len, tag: TAG, offset }]);
    let mut ended = Vec::with_capacity(1);
    while ended.is_empty() {
        target.reap(1, &mut ended).ok()?;
    }
    let end = ended.first().filter(|end| end.status == Status::Ok)?;
    let is_constant = match unwritten_before {
        Some(before) => target.unwritten_reads()? > before,
        None => is_constant(target.read_bytes(TAG, len as usize)?),
    };
    Some(SampledRead { latency_ns: end.latency().0, is_constant })
}

/// The sample with its judgement.
fn judged(reads: &[SampledRead]) -> DataSample {
    let latencies = |is_constant: bool| {
        let of_kind = reads.iter().filter(|read| read.is_constant == is_constant);
        let mut latencies: Vec<_> = of_kind.map(|read| read.latency_ns).collect();
        latencies.sort_unstable();
        latencies
    };
    let (constant, data) = (latencies(true), latencies(false));
    let median = |latencies: &[u64]| latencies.get(latencies.len() / 2).copied();
    // Clearly faster: by a third of the median of the reads of data.
    let is_comparable = data.len() as u64 >= DATA_READS_MIN;
    let limit_ns = median(&data).filter(|_| is_comparable).map_or(u64::MAX, |ns| ns / 3 * 2);
    let fast = |latencies: &[u64]| latencies.partition_point(|&ns| ns < limit_ns);
    let percent = |latencies: &[u64]| 100 * fast(latencies) / latencies.len().max(1);
    let is_group = !is_comparable || percent(&constant) >= percent(&data) + GROUP_PERCENT_MIN;
    let unwritten = if is_group { fast(&constant) } else { 0 };
    let mut written = [&constant[unwritten..], &data].concat();
    written.sort_unstable();
    DataSample {
        reads: reads.len() as u64,
        constant: constant.len() as u64,
        unwritten: unwritten as u64,
        unwritten_latency_ns_p50: median(&constant[..unwritten]),
        written_latency_ns_p50: median(&written),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(groups: &[(usize, u64, bool)]) -> Vec<SampledRead> {
        let of_group = |&(count, ns, is_constant): &(usize, u64, bool)| {
            (0..count).map(move |index| SampledRead {
                latency_ns: ns + ns * (index as u64 % 10) / 20,
                is_constant,
            })
        };
        groups.iter().flat_map(of_group).collect()
    }

    #[test]
    fn fast_constant_blocks_beside_data_were_never_written() {
        let sample = judged(&reads(&[(600, 80_000, false), (400, 10_000, true)]));
        assert_eq!((sample.reads, sample.constant, sample.unwritten), (1000, 400, 400));
        assert!(sample.unwritten_latency_ns_p50.unwrap() < 20_000, "{sample:?}");
        assert!(sample.written_latency_ns_p50.unwrap() >= 80_000, "{sample:?}");
    }

    #[test]
    fn constant_blocks_as_slow_as_data_are_data() {
        let sample = judged(&reads(&[(600, 80_000, false), (400, 80_000, true)]));
        assert_eq!((sample.constant, sample.unwritten), (400, 0));
        assert_eq!(sample.unwritten_latency_ns_p50, None);
        // Many reads of data are fast as well: the drive has a cache, and the constant ones are no group.
        let of_cache = [(600, 80_000, false), (550, 10_000, false), (400, 10_000, true)];
        let sample = judged(&reads(&of_cache));
        assert_eq!(
            sample.unwritten, 400,
            "half of the data is fast, and all of the constant blocks"
        );
    }

    #[test]
    fn zeros_that_were_written_count_apart_from_blocks_that_were_not() {
        let groups = [(500, 80_000, false), (300, 85_000, true), (200, 9_000, true)];
        let sample = judged(&reads(&groups));
        assert_eq!((sample.constant, sample.unwritten), (500, 200));
    }

    #[test]
    fn blocks_that_are_nearly_all_constant_have_nothing_to_compare_with() {
        let sample = judged(&reads(&[(1000, 50_000, true)]));
        assert_eq!((sample.constant, sample.unwritten), (1000, 1000));
        assert_eq!(sample.written_latency_ns_p50, None);
        let sample = judged(&reads(&[(990, 50_000, true), (10, 50_000, false)]));
        assert_eq!((sample.constant, sample.unwritten), (990, 990));
    }
}
