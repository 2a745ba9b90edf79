//! A part of a trace, by time and by number, once or several times.

use std::num::NonZeroU32;

use base::Nanos;

use super::{Problems, Record, Source, TraceError, TraceInfo};

/// The part of a trace that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Its begin, from the first record of the trace.
    pub from: Nanos,
    /// Its end, from the first record of the trace, or `None` if it is that of the trace.
    pub until: Option<Nanos>,
    /// Most records of a pass, or `None` if there is no limit.
    pub limit: Option<u64>,
    /// Passes. The next one begins at the time of the last record.
    pub passes: NonZeroU32,
}

impl Default for Excerpt {
    fn default() -> Self {
        Self { from: Nanos(0), until: None, limit: None, passes: NonZeroU32::MIN }
    }
}

impl Excerpt {
    /// Whether it is the whole trace, once.
    pub fn is_whole(&self) -> bool {
        *self == Self::default()
    }
}

/// Opens the trace again for another pass.
type Opener = Box<dyn Fn() -> Result<Box<dyn Source>, TraceError>>;

/// The records of an excerpt; times count from its first one.
pub(super) struct ExcerptSource {
    source: Box<dyn Source>,
    again: Opener,
    excerpt: Excerpt,
    passes_left: u32,
    /// Records of this pass.
    taken: u64,
    /// Time of the first record in the trace, or `None` before it.
    first_ns: Option<u64>,
    /// Time at which this pass begins.
    pass_ns: u64,
    last_ns: u64,
}

impl ExcerptSource {
    /// The excerpt of `source`, which `again` opens anew.
    pub(super) fn new(source: Box<dyn Source>, excerpt: Excerpt, again: Opener) -> Self {
        let passes_left = excerpt.passes.get() - 1;
        let (taken, first_ns, pass_ns, last_ns) = (0, None, 0, 0);
        Self { source, again, excerpt, passes_left, taken, first_ns, pass_ns, last_ns }
    }

    /// The next record of this pass, at its time in the trace.
    fn next_of_pass(&mut self) -> Result<Option<Record>, TraceError> {
        let Excerpt { from, until, limit, .. } = self.excerpt;
        if limit.is_some_and(|limit| self.taken >= limit) {
            return Ok(None);
        }
        while let Some(record) = self.source.next_record()? {
            if until.is_some_and(|until| record.issue_ns >= until.0) {
                return Ok(None);
            }
            if record.issue_ns >= from.0 {
                self.taken += 1;
                return Ok(Some(record));
            }
        }
        Ok(None)
    }
}

impl Source for ExcerptSource {
    fn next_record(&mut self) -> Result<Option<Record>, TraceError> {
        loop {
            if let Some(mut record) = self.next_of_pass()? {
                let first_ns = *self.first_ns.get_or_insert(record.issue_ns);
                let time_ns = self.pass_ns.saturating_add(record.issue_ns - first_ns);
                self.last_ns = time_ns.min(i64::MAX as u64);
                record.issue_ns = self.last_ns;
                return Ok(Some(record));
            }
            if self.passes_left == 0 || self.taken == 0 {
                return Ok(None);
            }
            self.source = (self.again)()?;
            (self.passes_left, self.taken, self.pass_ns) = (self.passes_left - 1, 0, self.last_ns);
        }
    }

    fn info(&self) -> TraceInfo {
        let info = self.source.info();
        let epoch_ns = info.epoch_ns.saturating_add(self.first_ns.unwrap_or(0));
        TraceInfo { epoch_ns, published: None, ..info }
    }

    fn problems(&self) -> Problems {
        self.source.problems()
    }
}

#[cfg(test)]
mod tests {
    use base::OpKind;

    use super::*;
    use crate::trace::ImportOptions;

    /// I/Os at 0, 10, 20 and 30 us, each at its own block.
    fn read(excerpt: Excerpt) -> (Vec<(u64, u64)>, TraceInfo) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.csv");
        let lines = (0..4).map(|io| format!("1,R,{},4096,{}\n", io * 4096, 70 + io * 10));
        std::fs::write(&path, lines.collect::<String>()).unwrap();
        let options = ImportOptions { excerpt, ..ImportOptions::default() };
        let mut source = crate::trace::open(path.to_str().unwrap(), &options).unwrap();
        let mut records = Vec::new();
        while let Some(record) = source.next_record().unwrap() {
            assert_eq!(record.op, OpKind::Read);
            records.push((record.issue_ns / 1000, record.offset / 4096));
        }
        (records, source.info())
    }

    #[test]
    fn a_part_begins_at_its_first_record() {
        let us = |us: u64| Nanos(us * 1000);
        let (records, info) =
            read(Excerpt { from: us(5), until: Some(us(30)), ..Excerpt::default() });
        assert_eq!(records, [(0, 1), (10, 2)]);
        assert_eq!(info.epoch_ns, 80_000);
        let (records, _) = read(Excerpt { from: us(10), limit: Some(1), ..Excerpt::default() });
        assert_eq!(records, [(0, 1)]);
        assert_eq!(read(Excerpt { from: us(31), ..Excerpt::default() }).0, []);
    }

    #[test]
    fn each_pass_begins_where_the_last_one_ended() {
        let passes = NonZeroU32::new(3).unwrap();
        let (records, _) = read(Excerpt { limit: Some(2), passes, ..Excerpt::default() });
        assert_eq!(records, [(0, 0), (10, 1), (10, 0), (20, 1), (20, 0), (30, 1)]);
        let from = Nanos::SECOND;
        assert_eq!(read(Excerpt { from, passes, ..Excerpt::default() }).0, []);
    }
}
