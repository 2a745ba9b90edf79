//! Reads of blocks that were never written, or were deallocated: a drive answers them without its NAND, so figures of
//! them are too good.

use crate::schema::{DataSample, MarkKind, Run};

use super::Reason;

/// Share of reads without data above which figures of them are marked.
pub const SHARE_MIN: f64 = 0.05;

/// Reads of data below which a sample has nothing to compare constant blocks with.
pub const DATA_READS_MIN: u64 = 20;

impl DataSample {
    /// Share of blocks that were never written, or were deallocated.
    pub fn unwritten_share(&self) -> f64 {
        share(self.unwritten, self.reads)
    }

    /// Whether it found constant blocks and all of them were as slow as the others: they hold data.
    pub const fn constants_are_data(&self) -> bool {
        self.constant > 0 && self.unwritten == 0
    }

    /// The warning for a run on the target `spec`, or `None` if all blocks hold data.
    pub fn warning(&self, spec: &str) -> Option<String> {
        let Self { reads, constant, .. } = self;
        if self.constants_are_data() {
            return Some(format!(
                "{constant} of {reads} sampled blocks hold one repeated byte, such as zeros, and are read as slowly as the \
                 others: they count as data"
            ));
        }
        let is_marked = self.unwritten_share() > SHARE_MIN;
        is_marked.then(|| format!("{}; figures of their reads are too good", self.words(spec)))
    }

    /// The share with its evidence, and the way to fill the target `spec`.
    fn words(&self, spec: &str) -> String {
        let us = |ns: u64| format!("{:.1} us", ns as f64 / 1e3);
        let evidence = match (self.unwritten_latency_ns_p50, self.written_latency_ns_p50) {
            (Some(unwritten), Some(written)) if self.reads - self.constant >= DATA_READS_MIN => {
                format!("they take {} and the others {}", us(unwritten), us(written))
            }
            _ => "too few of the others hold data to compare their times with".to_owned(),
        };
        format!(
            "{} of a sample of {} blocks were never written, or were trimmed: {evidence}; `ssdlab run full-write {spec}` \
             fills the drive, and destroys its data",
            percent(self.unwritten_share()),
            self.reads
        )
    }
}

/// The reason against figures of these phases, or of the whole run, that read what nobody wrote.
pub(super) fn reason(run: &Run, own: &[usize]) -> Option<Reason> {
    let phases = || own.iter().map(|&phase| &run.phases[phase]);
    let reads: u64 = phases().filter_map(|phase| phase.reads_unwritten).sum();
    let all: u64 = phases().map(|phase| phase.ios + phase.ios_after_end).sum();
    let text = match &run.data_sample {
        Some(sample) if sample.constants_are_data() => return None,
        Some(sample) if own.is_empty() => {
            (sample.unwritten_share() > SHARE_MIN).then(|| sample.words(&run.target.spec))
        }
        Some(sample) => (share(reads, all) > SHARE_MIN).then(|| {
            format!(
                "{} of its reads found no data; {}",
                percent(share(reads, all)),
                sample.words(&run.target.spec)
            )
        }),
        // Runs of before have no sample.
        None => {
            run.request.as_ref().filter(|request| request.read_only)?;
            (reads > 0).then(|| format!("reads that found no data, only zeros: {reads} of {all}"))
        }
    };
    Some(Reason { kind: MarkKind::Unwritten, text: text? })
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// A share in whole percent, 1% at least.
fn percent(share: f64) -> String {
    format!("{:.0}%", (100.0 * share).max(1.0))
}
