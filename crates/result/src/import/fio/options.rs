//! The shape of a load, from the options of its job.

use base::{Bytes, OpKind};

use super::super::sheet::word;
use super::document::Options;

/// Longest interval of a log: an hour.
const LOG_MS_MAX: u64 = 3_600_000;

/// The load of a job; unknown where nothing but logs is there.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct JobShape {
    /// `randread`, `write`, `randrw` and so on; empty if unknown.
    pub(super) rw: String,
    /// Share of reads in percent, or `None` in a load of one kind.
    pub(super) read_percent: Option<u32>,
    /// Size of every command, or `None` if there are several or it is unknown.
    pub(super) block_bytes: Option<u64>,
    /// The sizes as fio has them.
    block: String,
    /// Commands outstanding in each clone.
    pub(super) depth: u32,
    /// Clones.
    pub(super) jobs: u32,
    /// Length of the intervals of logs in ms, or `None` if unknown.
    pub(super) log_ms: Option<u64>,
}

impl JobShape {
    /// The shape that options define, with the defaults of fio.
    pub(super) fn of(options: &Options) -> Self {
        let option =
            |names: &[&str]| names.iter().find_map(|name| options.get(*name)).map(String::as_str);
        let number = |names: &[&str]| option(names).and_then(|text| text.trim().parse().ok());
        let rw = option(&["rw", "readwrite"]).unwrap_or("read");
        let rw = rw.split(':').next().unwrap_or(rw).to_ascii_lowercase();
        let rw = if rw == "readwrite" { "rw".to_owned() } else { rw };
        let sizes = option(&["bssplit", "bsrange", "blocksize_range", "bs", "blocksize"]);
        let block = sizes.unwrap_or("4k").to_owned();
        let reads = number(&["rwmixread"]);
        let reads =
            reads.or_else(|| number(&["rwmixwrite"]).map(|w: u32| 100_u32.saturating_sub(w)));
        Self {
            read_percent: rw.ends_with("rw").then(|| reads.unwrap_or(50)),
            block_bytes: size(&block),
            rw,
            block,
            depth: number(&["iodepth"]).unwrap_or(1).max(1),
            jobs: number(&["numjobs"]).unwrap_or(1).max(1),
            log_ms: number(&["log_avg_msec"])
                .map(u64::from)
                .filter(|ms| (1..=LOG_MS_MAX).contains(ms)),
        }
    }

    /// The shape of a load that its options do not tell.
    pub(super) fn unknown(log_ms: Option<u64>, block_bytes: Option<u64>) -> Self {
        Self { log_ms, block_bytes, ..Self::default() }
    }

    /// Whether the load has commands of a kind, by its `rw`.
    pub(super) fn has(&self, op: OpKind) -> bool {
        match op {
            OpKind::Read => self.rw.contains("read") || self.rw.ends_with("rw"),
            OpKind::Write => self.rw.contains("write") || self.rw.ends_with("rw"),
            OpKind::Deallocate => self.rw.contains("trim"),
            OpKind::Flush => false,
        }
    }

    /// Whether the load is random writes and nothing else.
    pub(super) fn is_random_writes(&self) -> bool {
        self.rw == "randwrite"
    }

    /// Whether addresses are random.
    pub(super) fn is_random(&self) -> bool {
        self.rw.starts_with("rand")
    }

    /// Size of a command for people and in names.
    pub(super) fn block_text(&self) -> String {
        self.block_bytes.map_or_else(|| word(&self.block), |bytes| Bytes(bytes).to_string())
    }

    /// The kind of load in names: `randread`, `randrw70`.
    pub(super) fn kind(&self) -> String {
        let percent = self.read_percent.map(|percent| percent.to_string()).unwrap_or_default();
        format!("{}{percent}", word(&self.rw))
    }

    /// The name of the step: `randread_4KiB_qd32_jobs4`.
    pub(super) fn step_name(&self) -> String {
        let jobs = if self.jobs > 1 { format!("_jobs{}", self.jobs) } else { String::new() };
        format!("{}_{}_qd{}{jobs}", self.kind(), self.block_text(), self.depth)
    }
}

/// One size as fio reads it: `4k`, `128K`, `1m`, `4096`, `4kb`; or `None` for several, or for the
/// decimal `4ki`.
fn size(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let text = text.strip_suffix('b').unwrap_or(&text);
    let is_plain = text.chars().all(|c| c.is_ascii_digit() || "kmg".contains(c));
    let bytes: Option<Bytes> = if is_plain { text.parse().ok() } else { None };
    bytes.map(|bytes| bytes.0).filter(|bytes| *bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(options: &[(&str, &str)]) -> JobShape {
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        JobShape::of(&options.iter().map(own).collect())
    }

    #[test]
    fn steps_have_the_name_of_their_load() {
        for (options, name) in [
            (&[("rw", "randread"), ("bs", "4k"), ("iodepth", "32")][..], "randread_4KiB_qd32"),
            (&[("rw", "randrw"), ("rwmixread", "75"), ("numjobs", "4")], "randrw75_4KiB_qd1_jobs4"),
            (&[("readwrite", "rw"), ("bs", "1M")], "rw50_1MiB_qd1"),
            (&[("rw", "write:8k"), ("bssplit", "4k/50:64k/50")], "write_4k_50_64k_50_qd1"),
            (&[("name", "x")], "read_4KiB_qd1"),
        ] {
            assert_eq!(shape(options).step_name(), name);
        }
    }

    #[test]
    fn sizes_are_those_of_fio() {
        for (text, bytes) in [
            ("4k", Some(4096)),
            ("4KB", Some(4096)),
            ("512", Some(512)),
            ("1m", Some(1 << 20)),
            ("4ki", None),
            ("4k,8k", None),
            ("", None),
            ("0", None),
        ] {
            assert_eq!(size(text), bytes, "{text}");
        }
    }
}
