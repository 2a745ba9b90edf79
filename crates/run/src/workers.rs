//! Several threads on one target, for drives that one core cannot saturate.
//!
//! Each worker is a thread with a separate handle on the target (ring, buffers, tags), a share of the
//! commands, a separate recorder, and the same loop ([`crate::drive`]). They share only the clock
//! and the stop button; the recorders are merged when all have ended.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use device::host::affinity;
use device::host::processors::ProcessorTime;
use load::Generator;
use result::rows::SecondRow;
use target::{Target, TargetError};

use crate::drive::{End, drive};
use crate::error::RunError;
use crate::recorder::Recorder;

/// The most threads that drive one target.
pub const WORKERS_MAX: u32 = 256;

/// The processors of the threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// A single thread, while it issues one command at a time, where all interrupts of the drive arrive, if that is
    /// one place; else where the system wants them.
    #[default]
    Near,
    /// Each on a separate processor, the first on that of the interrupts.
    Pinned,
    /// Each on the processor that the system chooses.
    Free,
}

impl Placement {
    const ALL: [Self; 3] = [Self::Near, Self::Pinned, Self::Free];

    /// The word used on the command line and in result files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Near => "near",
            Self::Pinned => "pinned",
            Self::Free => "free",
        }
    }
}

impl FromStr for Placement {
    type Err = RunError;

    fn from_str(text: &str) -> Result<Self, RunError> {
        Self::ALL.into_iter().find(|placement| placement.name() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            RunError::Usage(format!("there is no placement `{text}`; known are {names}"))
        })
    }
}

/// Number of threads that drive a target, and their processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workers {
    /// Threads, 1 to [`WORKERS_MAX`]. A phase whose order matters, or with a lower queue depth, has fewer.
    pub count: u32,
    /// Their processors.
    pub placement: Placement,
}

impl Default for Workers {
    fn default() -> Self {
        Self::PLAIN
    }
}

impl Workers {
    /// One thread, near the interrupts of the drive.
    pub const PLAIN: Self = Self { count: 1, placement: Placement::Near };

    /// Whether the thread that opened the target drives it as well.
    pub fn is_plain(self) -> bool {
        self.count == 1 && !self.is_pinned()
    }

    pub(crate) fn is_pinned(self) -> bool {
        self.placement == Placement::Pinned
    }

    /// The processor on which the only thread stays while it issues single commands to `target`, or
    /// `None` if it is not kept on one.
    pub(crate) fn home_processor(self, target: &impl Target) -> Option<usize> {
        let is_near = self.count == 1 && self.placement == Placement::Near;
        let home = target.interrupt_processor().filter(|_| is_near)?;
        affinity::allowed_cpus().contains(&home).then_some(home)
    }

    /// Their record in the result: nothing for the default.
    pub(crate) fn config(self) -> impl Iterator<Item = (String, serde_json::Value)> {
        let workers = (!self.is_plain()).then(|| ("workers", self.count.into()));
        let cpu = (self != Self::default()).then(|| ("cpu", self.placement.name().into()));
        workers.into_iter().chain(cpu).map(|(name, value)| (name.to_owned(), value))
    }
}

/// The record in the result of the processor on which the only thread stays, or `None` without one.
pub(crate) fn home_record(home: Option<usize>) -> Option<(String, String)> {
    let place = format!("{} for single commands, where the interrupts of the drive arrive", home?);
    Some(("thread_processor".to_owned(), place))
}

/// A second of a phase as observers see it: its row, and the bytes since the start of the phase.
pub type Second = (SecondRow, u64);

/// Drives a target by one thread for each of `generators`; otherwise as [`drive`]. `recorder` holds
/// what all of them did.
///
/// # Errors
/// If the target cannot be driven by several threads, a thread cannot be kept on a processor, or
/// the target as a whole is lost.
pub fn drive_workers<T: Target>(
    target: &mut T,
    generators: Vec<Generator>,
    pin: bool,
    recorder: &mut Recorder,
    interrupted: &AtomicBool,
    on_second: impl FnMut(&Second),
) -> Result<End, TargetError> {
    let depths: Vec<u32> = generators.iter().map(|part| part.workload().queue_depth).collect();
    let handles = target.workers(&depths)?;
    let mut cpus = if pin { affinity::allowed_cpus() } else { Vec::new() };
    let near = target.interrupt_processor();
    cpus.sort_by_key(|&cpu| Some(cpu) != near);
    let stop = AtomicBool::new(false);
    let (sender, seconds) = mpsc::channel();
    let workers: Vec<_> = (0..)
        .zip(handles.into_iter().zip(generators))
        .map(|(index, (target, generator))| Worker {
            target,
            generator,
            recorder: recorder.another(),
            cpu: (!cpus.is_empty()).then(|| cpus[index % cpus.len()]),
            seconds: sender.clone(),
        })
        .collect();
    drop(sender);
    let ended: Vec<_> = std::thread::scope(|scope| {
        let stop = &stop;
        let threads: Vec<_> =
            workers.into_iter().map(|worker| scope.spawn(move || worker.run(stop))).collect();
        report(&seconds, threads.len(), interrupted, stop, on_second);
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| WorkerResult::lost()))
            .collect()
    });
    let (ends, recorders): (Vec<_>, Vec<_>) =
        ended.into_iter().map(|e| (e.end, e.recorder)).unzip();
    recorder.join(recorders.into_iter().flatten().collect(), target.now());
    together(ends)
}

/// The part of one thread.
struct Worker<T> {
    target: T,
    generator: Generator,
    recorder: Recorder,
    /// The processor to stay on.
    cpu: Option<usize>,
    seconds: Sender<Second>,
}

/// End and record of a worker.
struct WorkerResult {
    end: Result<End, TargetError>,
    recorder: Option<Recorder>,
}

impl WorkerResult {
    /// Error of a thread that panicked, which would be a defect here.
    fn lost() -> Self {
        let source = std::io::Error::other("a thread that drove the target panicked");
        let end = Err(TargetError::Device { context: "cannot go on".to_owned(), source });
        Self { end, recorder: None }
    }
}

impl<T: Target> Worker<T> {
    /// Drives until the end; an early end stops the others, too.
    fn run(mut self, stop: &AtomicBool) -> WorkerResult {
        let end = self.cpu.map_or(Ok(()), affinity::pin_to).and_then(|()| self.drive(stop));
        self.recorder.processor_time = ProcessorTime::of_thread();
        if !matches!(end, Ok(End::Complete)) {
            stop.store(true, Ordering::Relaxed);
        }
        WorkerResult { end, recorder: Some(self.recorder) }
    }

    fn drive(&mut self, stop: &AtomicBool) -> Result<End, TargetError> {
        let Self { target, generator, recorder, seconds, .. } = self;
        let (deadline, mut told) = (recorder.deadline(), 0);
        drive(target, generator, deadline, recorder, stop, |recorder| {
            for row in &recorder.seconds()[told..] {
                // Nobody listens any more only where the reporting thread is gone with the run.
                let _ = seconds.send((row.clone(), recorder.bytes));
            }
            told = recorder.seconds().len();
        })
    }
}

/// Passes the seconds on, each when all workers have ended it, and the stop button to the workers;
/// returns when all workers have ended.
fn report(
    seconds: &Receiver<Second>,
    workers: usize,
    interrupted: &AtomicBool,
    stop: &AtomicBool,
    mut on_second: impl FnMut(&Second),
) {
    const LOOK_EVERY: Duration = Duration::from_millis(50);
    let mut open: BTreeMap<u32, (usize, Second)> = BTreeMap::new();
    loop {
        if interrupted.load(Ordering::Relaxed) {
            stop.store(true, Ordering::Relaxed);
        }
        match seconds.recv_timeout(LOOK_EVERY) {
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
            Ok((row, bytes)) => {
                let index = row.second;
                let (told, sum) = open.entry(index).or_default();
                *told += 1;
                add(sum, &row, bytes);
                if *told == workers
                    && let Some((_, second)) = open.remove(&index)
                {
                    on_second(&second);
                }
            }
        }
    }
}

/// Adds one worker's second to those of the others. The percentile is that of the slowest worker, which
/// is enough for progress lines; the result has the exact one.
fn add((sum, bytes_done): &mut Second, row: &SecondRow, bytes: u64) {
    *bytes_done += bytes;
    sum.latency_ns_p99 = sum.latency_ns_p99.max(row.latency_ns_p99);
    sum.add_counts(row);
}

/// The end of all workers, by priority: a lost target, a failed command, a worker that takes too long
/// (which stops the others), the user.
fn together(ends: Vec<Result<End, TargetError>>) -> Result<End, TargetError> {
    let ends = ends.into_iter().collect::<Result<Vec<_>, _>>()?;
    let first = |end: End| ends.contains(&end).then_some(end);
    let early = [End::Failed, End::Overlong, End::Interrupted];
    Ok(early.into_iter().find_map(first).unwrap_or(End::Complete))
}
