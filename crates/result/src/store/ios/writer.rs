//! The thread that writes the file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use base::Bytes;

use crate::schema::{self, Run};

use super::super::library::{free_bytes, nearest_existing};
use super::super::{RunDir, StoreError};
use super::IOS_FILE;
use super::choice::IosChoice;
use super::file::{GROUP_ROWS, IosFile};
use super::merge::Merge;
use super::message::{Batch, Begin, IosPhase, Link, Message, WhenFull};
use super::row::IoRow;
use super::tap::IosTap;

/// Batches in the queue: half a million rows, 25 MB.
const QUEUE_BATCHES: usize = 512;

/// Free space that is left to the results: the file stops growing there.
const RESERVE_BYTES: u64 = 256 << 20;

/// Free space for a file worth beginning, beside the reserve.
const START_BYTES: u64 = 64 << 20;

/// Writes `ios.parquet` of one run directory.
pub struct IosWriter {
    choice: IosChoice,
    seed: u64,
    when_full: WhenFull,
    sender: SyncSender<Message>,
    thread: Option<JoinHandle<WriterResult>>,
    /// The lost rows of each phase, by its position in the run.
    lost: BTreeMap<usize, Arc<AtomicU64>>,
}

/// The outcome of the file.
#[derive(Debug)]
pub struct IosEnd {
    /// Rows in the complete file, or `None` if there is none: `trouble` has the reason.
    pub rows: Option<u64>,
    /// Chosen rows that are not in the file, by the position of their phase; no phase without any.
    pub lost: BTreeMap<usize, u64>,
    /// The reason for rows that are missing at the end of the file, or for a file that is missing;
    /// `None` if the writer had no trouble.
    pub trouble: Option<String>,
}

impl IosEnd {
    /// Enters rows and losses into the record of the run; the warnings say which rows are missing.
    pub fn enter(self, choice: IosChoice, run: &mut Run) -> Vec<String> {
        run.ios = self.rows.map(|rows| schema::Ios { choice: choice.to_string(), rows });
        let total: u64 = self.lost.values().sum();
        for (index, lost) in self.lost {
            if let Some(phase) = run.phases.get_mut(index) {
                phase.ios_lost = lost;
            }
        }
        let trouble = self.trouble.map(|trouble| format!("ios.parquet: {trouble}"));
        let too_fast = || {
            format!(
                "ios.parquet: {total} commands have no row, because they ended faster than rows can be written; the \
                 figures contain them (fewer rows: --ios 1% or --ios slowest:100)"
            )
        };
        trouble.or_else(|| (total > 0).then(too_fast)).into_iter().collect()
    }
}

/// The outcome of the thread.
struct WriterResult {
    rows: Option<u64>,
    trouble: Option<String>,
}

impl IosWriter {
    /// Begins the file in a run directory. `seed` decides which commands a share has.
    ///
    /// # Errors
    /// [`StoreError::NoSpaceForIos`] where the disk is nearly full, or the error of the file system.
    pub fn create(
        dir: &Path,
        choice: IosChoice,
        seed: u64,
        when_full: WhenFull,
    ) -> Result<Self, StoreError> {
        Self::with(dir, choice, seed, when_full, (QUEUE_BATCHES, RESERVE_BYTES))
    }

    /// As [`IosWriter::create`] with another size of the queue, in batches, and another reserve.
    pub(super) fn with(
        dir: &Path,
        choice: IosChoice,
        seed: u64,
        when_full: WhenFull,
        (queue_batches, reserve_bytes): (usize, u64),
    ) -> Result<Self, StoreError> {
        let (sender, receiver) = sync_channel(queue_batches);
        let file = IosFile::create(dir)?;
        let work = Work::new(dir, file, choice, reserve_bytes);
        let thread = std::thread::Builder::new()
            .name("ios-writer".to_owned())
            .spawn(move || work.run(&receiver))
            .map_err(StoreError::io("start the writer of", dir))?;
        let lost = BTreeMap::new();
        Ok(Self { choice, seed, when_full, sender, thread: Some(thread), lost })
    }

    /// Makes sure that the disk of a library, which need not exist yet, has room for the file beside the
    /// results.
    ///
    /// # Errors
    /// [`StoreError::NoSpaceForIos`], or the error of the file system.
    pub fn preflight(library: &Path) -> Result<(), StoreError> {
        let free_bytes = free_bytes(&nearest_existing(library)?)?;
        let needed_bytes = RESERVE_BYTES + START_BYTES;
        if free_bytes < needed_bytes {
            let library = library.to_owned();
            return Err(StoreError::NoSpaceForIos { library, free_bytes, needed_bytes });
        }
        Ok(())
    }

    /// The taps of a phase, one for each measuring thread.
    pub fn taps(&mut self, phase: IosPhase) -> Vec<IosTap> {
        let lost = Arc::clone(self.lost.entry(phase.index).or_default());
        let seed = self.seed ^ (phase.index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let (start, workers) = (phase.start, phase.workers);
        let link = Arc::new(Link {
            start,
            when_full: self.when_full,
            sender: self.sender.clone(),
            lost: Arc::clone(&lost),
        });
        // Nothing is measured yet. A writer that is gone loses the rows later, and counts them.
        let _ = self.sender.send(Message::Begin(Begin { phase, lost }));
        (0..workers)
            .map(|worker| IosTap::new(Arc::clone(&link), self.choice, seed, worker))
            .collect()
    }

    /// Copies the rows of the first `phases` phases of an earlier run, which this one continues, before
    /// the first phase of its own.
    pub fn keep(&self, earlier: &RunDir, phases: usize) {
        let from = earlier.path().join(IOS_FILE);
        let _ = self.sender.send(Message::Keep(from, phases));
    }

    /// Completes the file, which then has its name. All taps are gone by now.
    pub fn finish(mut self) -> IosEnd {
        let _ = self.sender.send(Message::Finish);
        let panicked = || WriterResult {
            rows: None,
            trouble: Some("its writer ended unexpectedly, which is a defect".to_owned()),
        };
        let thread = self.thread.take().map(JoinHandle::join);
        let written = thread.and_then(Result::ok).unwrap_or_else(panicked);
        let lost = self.lost.iter().map(|(index, lost)| (*index, lost.load(Ordering::Relaxed)));
        let lost = lost.filter(|(_, lost)| *lost > 0).collect();
        IosEnd { rows: written.rows, lost, trouble: written.trouble }
    }
}

impl Drop for IosWriter {
    /// Ends the thread, which removes an unfinished file.
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        let _ = self.sender.send(Message::Abandon);
        let _ = thread.join();
    }
}

/// The state of the thread.
struct Work {
    dir: PathBuf,
    reserve_bytes: u64,
    choice: IosChoice,
    /// The file, or `None` after a failure to write it.
    file: Option<IosFile>,
    /// The reason why no more rows are written, or `None` if they are.
    trouble: Option<String>,
    phase: Option<Begin>,
    merge: Option<Merge>,
    /// Rows of the phase that are not in the file yet.
    group: Vec<IoRow>,
    /// Rows in the file, with the counter of lost ones of their phase.
    written: Vec<(u64, Arc<AtomicU64>)>,
}

impl Work {
    fn new(dir: &Path, file: IosFile, choice: IosChoice, reserve_bytes: u64) -> Self {
        Self {
            dir: dir.to_owned(),
            reserve_bytes,
            choice,
            file: Some(file),
            trouble: None,
            phase: None,
            merge: None,
            group: Vec::new(),
            written: Vec::new(),
        }
    }

    /// Writes until the end of the run; a run without a regular end leaves no file.
    fn run(mut self, messages: &Receiver<Message>) -> WriterResult {
        for message in messages {
            match message {
                Message::Begin(begin) => self.begin(begin),
                Message::Rows(batch) => self.rows(batch),
                Message::Keep(from, phases) => self.keep(&from, phases),
                Message::Finish => return self.finish(),
                Message::Abandon => break,
            }
        }
        WriterResult { rows: None, trouble: None }
    }

    fn begin(&mut self, begin: Begin) {
        self.end_phase();
        self.merge = match self.choice {
            IosChoice::Slowest(most) => Some(Merge::new(most, begin.phase.workers)),
            IosChoice::All | IosChoice::Share(_) => None,
        };
        self.phase = Some(begin);
    }

    fn keep(&mut self, from: &Path, phases: usize) {
        let Some(file) = &mut self.file else { return };
        match file.copy(from, phases) {
            Ok(rows) => self.written.push((rows, Arc::default())),
            Err(error) => self.give_up(&error),
        }
    }

    fn rows(&mut self, Batch { worker, complete, rows }: Batch) {
        let rows = match &mut self.merge {
            Some(merge) => merge.take(worker, complete, rows),
            None => rows,
        };
        self.add(&rows);
    }

    /// Adds rows to the group, and writes each full one: its size does not depend on the batches.
    fn add(&mut self, mut rows: &[IoRow]) {
        while !rows.is_empty() {
            let (now, later) = rows.split_at(rows.len().min(GROUP_ROWS - self.group.len()));
            self.group.extend_from_slice(now);
            rows = later;
            if self.group.len() == GROUP_ROWS {
                self.write_group();
            }
        }
    }

    fn end_phase(&mut self) {
        if let Some(mut merge) = self.merge.take() {
            let rest = merge.rest();
            self.add(&rest);
        }
        self.write_group();
    }

    fn write_group(&mut self) {
        let rows = std::mem::take(&mut self.group);
        if rows.is_empty() {
            return;
        }
        let is_full = self.trouble.is_some() || self.is_disk_nearly_full();
        let Some(Begin { phase, lost }) = &self.phase else { return };
        let (count, lost) = (rows.len() as u64, Arc::clone(lost));
        let written = match self.file.as_mut().filter(|_| !is_full) {
            Some(file) => file.write_group(phase, &rows),
            None => {
                lost.fetch_add(count, Ordering::Relaxed);
                return;
            }
        };
        self.written.push((count, lost));
        if let Err(error) = written {
            self.give_up(&error);
        }
        self.group = rows;
        self.group.clear();
    }

    /// Whether the file must not grow any more, so that the results keep their room.
    fn is_disk_nearly_full(&mut self) -> bool {
        // A file system that does not tell is used until it refuses.
        let free = free_bytes(&self.dir).unwrap_or(u64::MAX);
        let is_full = free < self.reserve_bytes;
        if is_full {
            self.trouble = Some(format!(
                "it ends early, because {} are left for the results on the disk of {}",
                Bytes(free).rounded(),
                self.dir.display()
            ));
        }
        is_full
    }

    /// Removes the file, whose room the results may need, and counts its rows as lost.
    fn give_up(&mut self, error: &StoreError) {
        self.file = None;
        self.trouble = Some(format!("there is none: {error}"));
        for (count, lost) in self.written.drain(..) {
            lost.fetch_add(count, Ordering::Relaxed);
        }
    }

    fn finish(mut self) -> WriterResult {
        self.end_phase();
        let rows = self.written.iter().map(|(count, _)| count).sum();
        let ended = self.file.take().map(IosFile::finish).transpose();
        if let Err(error) = &ended {
            self.give_up(error);
        }
        WriterResult { rows: ended.ok().flatten().map(|()| rows), trouble: self.trouble }
    }
}

#[cfg(test)]
mod tests {
    use base::{Completion, Data, Nanos, Op, OpKind, Status};

    use super::super::row::NO_JOB;
    use super::*;

    fn phase(index: usize) -> IosPhase {
        let jobs = if index == 1 { vec!["lookup".to_owned()] } else { Vec::new() };
        IosPhase { index, name: format!("phase {index}"), jobs, start: Nanos(5), workers: 1 }
    }

    /// Adds this many reads, which end one ns apart.
    fn add(tap: &mut IosTap, count: u64, job: u32) {
        for number in 0..count {
            let kind = OpKind::Read;
            let data = Data::Incompressible;
            let (len, offset) = (4096, number * 4096);
            let op = Op { kind, data, fua: false, placement: 0, len, tag: 0, offset };
            let (submitted, done) = (Nanos(5 + number), Nanos(105 + number));
            let end = Completion { tag: 0, status: Status::Ok, submitted, done };
            tap.add(&op, submitted, &end, job);
        }
    }

    fn writer(dir: &Path, when_full: WhenFull, sizes: (usize, u64)) -> IosWriter {
        IosWriter::with(dir, IosChoice::All, 1, when_full, sizes).unwrap()
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(dir).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn rows_that_find_the_queue_full_are_counted_and_the_others_are_in_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = writer(dir.path(), WhenFull::Lose, (1, 0));
        let count = 2 * GROUP_ROWS as u64;
        add(&mut writer.taps(phase(0))[0], count, NO_JOB);
        let end = writer.finish();
        let lost = end.lost.get(&0).copied().unwrap_or(0);
        assert!(lost > 0, "a writer that encodes a group takes longer than 1,000 pushes");
        assert_eq!((end.rows, end.trouble), (Some(count - lost), None));
    }

    #[test]
    fn a_target_whose_time_stands_still_loses_no_row() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = writer(dir.path(), WhenFull::Wait, (1, 0));
        let count = GROUP_ROWS as u64 + 10;
        add(&mut writer.taps(phase(0))[0], count, NO_JOB);
        add(&mut writer.taps(phase(1))[0], 7, 0);
        let end = writer.finish();
        assert_eq!((end.rows, end.trouble), (Some(count + 7), None));
        assert!(end.lost.is_empty());
        assert_eq!(names(dir.path()), [IOS_FILE]);
    }

    #[test]
    fn the_file_stops_growing_where_the_results_need_the_disk() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = writer(dir.path(), WhenFull::Wait, (8, u64::MAX));
        add(&mut writer.taps(phase(0))[0], 100, NO_JOB);
        let end = writer.finish();
        assert_eq!((end.rows, end.lost), (Some(0), BTreeMap::from([(0, 100)])));
        assert!(end.trouble.is_some_and(|trouble| trouble.contains("left for the results")));
    }

    #[test]
    fn a_run_without_a_regular_end_leaves_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = writer(dir.path(), WhenFull::Wait, (8, 0));
        add(&mut writer.taps(phase(0))[0], 5_000, NO_JOB);
        assert_eq!(names(dir.path()), [super::super::IOS_FILE_UNFINISHED]);
        drop(writer);
        assert!(names(dir.path()).is_empty());
    }
}
