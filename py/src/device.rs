//! A simulated drive step by step: commands in arrays, in a closed loop or at given times.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use base::{Completion, Data, Nanos, Op, OpKind, Status, TelemetryRow};
use expose::snapshot::FileFault;
use expose::snapshot::bare::{self, BareState};
use io::engine::sim::SimTarget;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use target::{Patient, Target, TargetError, TargetSpec};

use crate::errors::Failure;
use crate::policies::{Calls, Functions};

/// Commands between two looks at the signals.
const LOOK_EVERY: usize = 1 << 16;

/// Completions as arrays: number of the command, the times at which it was due, submitted and ended
/// in ns, errno.
type Arrays<'py> = (
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<i32>>,
);

/// Superblocks over time: times, and a row of valid pages and of erases for each.
type SuperblockArrays<'py> =
    (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray2<u32>>, Bound<'py, PyArray2<u32>>);

/// A simulated drive in virtual time.
#[pyclass(frozen, module = "ssdlab._native")]
pub(crate) struct Device {
    state: Mutex<State>,
    /// The thread that works with the state, or `None` if nobody does.
    worker: Mutex<Option<ThreadId>>,
}

struct State {
    drive: SimTarget,
    /// The policies in Python; the drive calls them.
    calls: Calls,
    /// Most commands outstanding.
    depth: usize,
    free_tags: Vec<u32>,
    /// Number of the command of each tag.
    numbers: Vec<u64>,
    /// Time at which the command of each tag was due; `None` in a closed loop.
    due_ns: Vec<Option<u64>>,
    next_number: u64,
    reaped: Vec<Completion>,
    ended: Ended,
    /// The superblocks over time, or `None` if nobody asked for them.
    superblocks: Option<Superblocks>,
}

/// Valid pages and erases of each superblock, a row for each interval.
#[derive(Clone)]
struct Superblocks {
    interval_ns: u64,
    /// Time of the next row.
    due: Nanos,
    at_ns: Vec<u64>,
    valid_pages: Vec<u32>,
    erases: Vec<u32>,
}

impl Superblocks {
    fn new(interval_ns: u64, now: Nanos) -> Self {
        let due = Nanos(now.0 + interval_ns);
        Self { interval_ns, due, at_ns: Vec::new(), valid_pages: Vec::new(), erases: Vec::new() }
    }

    /// Takes a row of the drive if it is time.
    fn look(&mut self, drive: &SimTarget) {
        let now = drive.now();
        if now < self.due {
            return;
        }
        let ftl = drive.drive().ftl();
        self.at_ns.push(now.0);
        self.valid_pages.extend(&ftl.valid_pages);
        self.erases.extend(&ftl.erase_counts);
        self.due = Nanos(now.0 + self.interval_ns - (now.0 - self.due.0) % self.interval_ns);
    }
}

/// Commands that have ended and that nobody has taken.
#[derive(Clone, Default)]
struct Ended {
    numbers: Vec<u64>,
    due_ns: Vec<u64>,
    submitted_ns: Vec<u64>,
    done_ns: Vec<u64>,
    errnos: Vec<i32>,
}

impl Ended {
    fn arrays(self, py: Python<'_>) -> Arrays<'_> {
        (
            PyArray1::from_vec(py, self.numbers),
            PyArray1::from_vec(py, self.due_ns),
            PyArray1::from_vec(py, self.submitted_ns),
            PyArray1::from_vec(py, self.done_ns),
            PyArray1::from_vec(py, self.errnos),
        )
    }
}

/// Commands of one call.
struct Batch {
    kinds: Vec<u8>,
    offsets: Vec<u64>,
    lengths: Vec<u32>,
    /// Times of submission, or `None` for a closed loop.
    at_ns: Option<Vec<u64>>,
    data: Data,
    fua: bool,
}

impl Batch {
    /// Refuses arrays that do not belong together, and commands that no drive takes.
    fn check(&self, length_max: u32) -> Result<(), Failure> {
        let count = self.kinds.len();
        let at = self.at_ns.as_ref().map_or(count, Vec::len);
        if [self.offsets.len(), self.lengths.len(), at] != [count; 3] {
            return Err(Failure::usage(format!(
                "{count} kinds, {} offsets, {} lengths and {at} times; expected as many of each",
                self.offsets.len(),
                self.lengths.len()
            )));
        }
        if let Some(kind) = self.kinds.iter().find(|kind| usize::from(**kind) >= OpKind::ALL.len())
        {
            return Err(Failure::usage(format!(
                "there is no kind {kind} of commands; expected 0 to 3"
            )));
        }
        match self.lengths.iter().find(|length| **length > length_max) {
            None => Ok(()),
            Some(length) => Err(Failure::usage(format!(
                "a command of {length} bytes is longer than the {length_max} bytes that the drive takes"
            ))),
        }
    }

    fn op(&self, index: usize, tag: u32) -> Op {
        Op {
            kind: OpKind::ALL[usize::from(self.kinds[index])],
            data: self.data,
            fua: self.fua,
            placement: 0,
            len: self.lengths[index],
            tag,
            offset: self.offsets[index],
        }
    }
}

impl State {
    fn outstanding(&self) -> usize {
        self.numbers.len() - self.free_tags.len()
    }

    /// Issues every command, as soon as fewer than `depth` are outstanding and not before its time.
    fn issue(
        &mut self,
        batch: &Batch,
        depth: usize,
        mut look: impl FnMut() -> PyResult<()>,
    ) -> PyResult<()> {
        for index in 0..batch.kinds.len() {
            if index % LOOK_EVERY == LOOK_EVERY - 1 {
                look()?;
            }
            if let Some(at_ns) = &batch.at_ns {
                self.pass_until(Nanos(at_ns[index]))?;
            }
            while self.outstanding() >= depth {
                self.reap(1)?;
            }
            let Some(tag) = self.free_tags.pop() else { continue };
            self.numbers[tag as usize] = self.next_number;
            self.due_ns[tag as usize] = batch.at_ns.as_ref().map(|at_ns| at_ns[index]);
            self.next_number += 1;
            self.drive.submit(&[batch.op(index, tag)]);
        }
        Ok(())
    }

    fn reap(&mut self, min: usize) -> PyResult<()> {
        let outcome = self.drive.reap(min, &mut self.reaped);
        self.keep();
        self.calls.outcome(outcome)
    }

    /// Lets time pass; a time that is over changes nothing.
    fn pass_until(&mut self, time: Nanos) -> PyResult<()> {
        while time > self.drive.now() {
            let next = self.superblocks.as_ref().map_or(time, |rows| rows.due.min(time));
            let outcome = self.drive.reap_until(next, &mut self.reaped);
            self.keep();
            self.calls.outcome(outcome)?;
        }
        Ok(())
    }

    /// A copy that goes its own way, with the same functions as policies.
    fn branch(&self) -> Result<Self, Failure> {
        self.drive.require_memory()?;
        Ok(Self {
            drive: self.drive.clone(),
            calls: self.calls.clone(),
            depth: self.depth,
            free_tags: self.free_tags.clone(),
            numbers: self.numbers.clone(),
            due_ns: self.due_ns.clone(),
            next_number: self.next_number,
            reaped: Vec::new(),
            ended: self.ended.clone(),
            superblocks: self.superblocks.clone(),
        })
    }

    fn keep(&mut self) {
        for Completion { tag, status, submitted, done } in self.reaped.drain(..) {
            self.free_tags.push(tag);
            self.ended.numbers.push(self.numbers[tag as usize]);
            self.ended.due_ns.push(self.due_ns[tag as usize].unwrap_or(submitted.0));
            self.ended.submitted_ns.push(submitted.0);
            self.ended.done_ns.push(done.0);
            self.ended.errnos.push(match status {
                Status::Ok => 0,
                Status::Failed { errno } => errno,
            });
        }
        if let Some(rows) = &mut self.superblocks {
            rows.look(&self.drive);
        }
    }

    /// Refuses a change of the whole drive under outstanding commands.
    fn must_be_idle(&self, what: &str) -> Result<(), Failure> {
        match self.outstanding() {
            0 => Ok(()),
            count => Err(Failure::usage(format!(
                "{count} commands are outstanding; call drain() before {what}"
            ))),
        }
    }
}

/// The thread at work, for as long as this value lives.
struct Shift<'a>(&'a Mutex<Option<ThreadId>>);

impl<'a> Shift<'a> {
    fn begin(worker: &'a Mutex<Option<ThreadId>>) -> Self {
        *lock(worker) = Some(thread::current().id());
        Self(worker)
    }
}

impl Drop for Shift<'_> {
    fn drop(&mut self) {
        *lock(self.0) = None;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Device {
    fn with(state: State) -> Self {
        Self { state: Mutex::new(state), worker: Mutex::default() }
    }

    /// Works with the state, which the policy that the drive asks in this moment cannot do.
    fn turn<R>(&self, work: impl FnOnce(&mut State) -> R) -> Result<R, Failure> {
        if *lock(&self.worker) == Some(thread::current().id()) {
            return Err(Failure::usage(
                "a policy cannot use the drive that asks it; it has the arrays of its argument",
            ));
        }
        let mut state = lock(&self.state);
        let _shift = Shift::begin(&self.worker);
        Ok(work(&mut state))
    }

    /// Works without the GIL, and returns the commands that have ended.
    fn work<'py>(
        &self,
        py: Python<'py>,
        work: impl FnOnce(&mut State) -> PyResult<()> + Send,
    ) -> PyResult<Arrays<'py>> {
        let ended = py.detach(|| {
            self.turn(|state| {
                work(state)?;
                Ok::<_, PyErr>(std::mem::take(&mut state.ended))
            })
        })??;
        Ok(ended.arrays(py))
    }

    /// A look without the GIL.
    fn read<R: Send>(
        &self,
        py: Python<'_>,
        look: impl FnOnce(&mut State) -> R + Send,
    ) -> PyResult<R> {
        Ok(py.detach(|| self.turn(look))?)
    }
}

#[pymethods]
impl Device {
    #[new]
    #[pyo3(signature = (spec, policies))]
    fn new(py: Python<'_>, spec: &str, policies: Functions) -> PyResult<Self> {
        let mut drive = py.detach(|| open(spec))?;
        let calls = policies.calls();
        if let Some(own) = calls.own() {
            drive.set_policies(own).map_err(Failure::from)?;
        }
        let depth = drive.limits().queue_depth_max;
        Ok(Self::with(State {
            drive,
            calls,
            depth: depth as usize,
            free_tags: (0..depth).rev().collect(),
            numbers: vec![0; depth as usize],
            due_ns: vec![None; depth as usize],
            next_number: 0,
            reaped: Vec::new(),
            ended: Ended::default(),
            superblocks: None,
        }))
    }

    /// A second drive in the same state, which goes its own way.
    fn branch(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Self::with(self.read(py, |state| state.branch())??))
    }

    /// Issues commands and returns those that have ended.
    #[pyo3(signature = (kinds, offsets, lengths, at_ns, queue_depth, data_percent, fua))]
    #[expect(clippy::too_many_arguments, reason = "one array each; the Python class names them")]
    fn submit<'py>(
        &self,
        py: Python<'py>,
        kinds: PyReadonlyArray1<'py, u8>,
        offsets: PyReadonlyArray1<'py, u64>,
        lengths: PyReadonlyArray1<'py, u32>,
        at_ns: Option<PyReadonlyArray1<'py, u64>>,
        queue_depth: Option<usize>,
        data_percent: Option<u8>,
        fua: bool,
    ) -> PyResult<Arrays<'py>> {
        // Copies: another thread of Python may write to the arrays while this one works.
        let batch = Batch {
            kinds: kinds.as_array().to_vec(),
            offsets: offsets.as_array().to_vec(),
            lengths: lengths.as_array().to_vec(),
            at_ns: at_ns.map(|times| times.as_array().to_vec()),
            data: data(data_percent)?,
            fua,
        };
        self.work(py, move |state| {
            batch.check(state.drive.limits().transfer_bytes_max)?;
            let depth = depth(queue_depth, state.depth)?;
            state.issue(&batch, depth, || Python::attach(|py| py.check_signals()))
        })
    }

    /// Lets time pass until this moment, and returns the commands that have ended.
    fn advance<'py>(&self, py: Python<'py>, until_ns: u64) -> PyResult<Arrays<'py>> {
        self.work(py, move |state| state.pass_until(Nanos(until_ns)))
    }

    /// Waits for every outstanding command, and returns those that have ended.
    fn drain<'py>(&self, py: Python<'py>) -> PyResult<Arrays<'py>> {
        self.work(py, |state| {
            while state.outstanding() > 0 {
                state.reap(1)?;
            }
            Ok(())
        })
    }

    #[getter]
    fn now_ns(&self, py: Python<'_>) -> PyResult<u64> {
        self.read(py, |state| state.drive.now().0)
    }

    #[getter]
    fn outstanding(&self, py: Python<'_>) -> PyResult<usize> {
        self.read(py, |state| state.outstanding())
    }

    #[getter]
    fn queue_depth(&self, py: Python<'_>) -> PyResult<usize> {
        self.read(py, |state| state.depth)
    }

    #[getter]
    fn capacity_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        self.read(py, |state| state.drive.capacity_bytes())
    }

    /// Totals since the drive was new, and present levels.
    fn telemetry<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let row = self.read(py, |state| state.drive.drive().telemetry())?;
        let totals = PyDict::new(py);
        for column in TelemetryRow::COLUMNS {
            totals.set_item(column.name, (column.get)(&row))?;
        }
        Ok(totals)
    }

    /// From now on, a row of telemetry for each interval.
    fn telemetry_start(&self, py: Python<'_>, interval_ns: u64) -> PyResult<()> {
        require_interval(interval_ns)?;
        self.read(py, |state| state.drive.telemetry_start(Nanos(interval_ns)))
    }

    /// The rows of telemetry since the last call.
    fn telemetry_take<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows = self.read(py, |state| {
            let mut rows = Vec::new();
            state.drive.telemetry_take(&mut rows);
            rows
        })?;
        let columns = PyDict::new(py);
        for column in TelemetryRow::COLUMNS {
            let values = rows.iter().map(column.get).collect();
            columns.set_item(column.name, PyArray1::<u64>::from_vec(py, values))?;
        }
        Ok(columns)
    }

    /// From now on, a row of every superblock for each interval.
    fn superblocks_start(&self, py: Python<'_>, interval_ns: u64) -> PyResult<()> {
        require_interval(interval_ns)?;
        self.read(py, |state| {
            state.superblocks = Some(Superblocks::new(interval_ns, state.drive.now()));
        })
    }

    /// The rows of the superblocks since the last call: times, valid pages, erases.
    fn superblocks_take<'py>(&self, py: Python<'py>) -> PyResult<SuperblockArrays<'py>> {
        let (rows, superblocks) = self.read(py, |state| {
            let (now, superblocks) =
                (state.drive.now(), state.drive.drive().ftl().valid_pages.len());
            let rows = state.superblocks.as_mut().map(|rows| {
                let fresh =
                    Superblocks { due: rows.due, ..Superblocks::new(rows.interval_ns, now) };
                std::mem::replace(rows, fresh)
            });
            (rows.unwrap_or_else(|| Superblocks::new(0, now)), superblocks)
        })?;
        let shape = [rows.at_ns.len(), superblocks];
        let table = |values| PyArray1::<u32>::from_vec(py, values).reshape(shape);
        Ok((PyArray1::from_vec(py, rows.at_ns), table(rows.valid_pages)?, table(rows.erases)?))
    }

    /// Valid pages of each superblock.
    fn valid_pages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let pages = self.read(py, |state| state.drive.drive().ftl().valid_pages.clone())?;
        Ok(PyArray1::from_vec(py, pages))
    }

    /// The first broken invariant of the maps in words, or `None` if there is none. `held` has 1 for each page of the
    /// drive that holds data by the caller's own account.
    fn broken<'py>(
        &self,
        py: Python<'py>,
        held: PyReadonlyArray1<'py, u8>,
    ) -> PyResult<Option<String>> {
        let held = held.as_array().to_vec();
        self.read(py, move |state| {
            let drive = state.drive.drive();
            let l2p = &drive.ftl().l2p;
            let is_other =
                |&(page, &held): &(u64, &u8)| (l2p.get(page) == sim::ftl::NO_PAGE) != (held == 0);
            match (0..).zip(&held).find(is_other) {
                _ if held.len() as u64 != drive.config().geometry.logical_pages => {
                    Some(format!("{} pages are accounted for", held.len()))
                }
                Some((page, 0)) => Some(format!("page {page} holds data that nobody wrote")),
                Some((page, _)) => Some(format!("page {page} has lost its data")),
                None => drive.check().err(),
            }
        })
    }

    /// Erases of each superblock.
    fn erases<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let erases = self.read(py, |state| state.drive.drive().ftl().erase_counts.clone())?;
        Ok(PyArray1::from_vec(py, erases))
    }

    /// Writes the state of the idle drive into a new file.
    fn save(&self, py: Python<'_>, target: &str, path: PathBuf) -> PyResult<()> {
        let done = self.read(py, |state| {
            state.must_be_idle("save()")?;
            let words = &state.calls.functions().words;
            let saved = BareState {
                drive: state.drive.drive(),
                free_tags: state.free_tags.as_slice(),
                commands: state.next_number,
            };
            bare::save(&saved, (target, words), &path).map_err(|fault| state_failure(&path, &fault))
        });
        done?.map_err(PyErr::from)
    }

    /// Takes the state of a file.
    fn load(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let done = self.read(py, |state| {
            let BareState { drive, free_tags, commands } = bare::read(&path, state.drive.config())
                .map_err(|fault| state_failure(&path, &fault))?;
            state.must_be_idle("load()")?;
            state.drive.go_on_from(drive);
            state.free_tags = free_tags;
            state.next_number = commands;
            Ok::<_, Failure>(())
        });
        done?.map_err(PyErr::from)
    }

    /// Tells the drive that a range holds no data.
    fn deallocate(&self, py: Python<'_>, offset_bytes: u64, length_bytes: u64) -> PyResult<()> {
        let done = self.read(py, |state| {
            state.must_be_idle("deallocate()")?;
            Ok::<_, Failure>(state.drive.deallocate(offset_bytes, length_bytes)?)
        });
        Ok(done??)
    }

    /// Makes the drive new again; its clock goes on.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        let done = self.read(py, |state| {
            state.must_be_idle("reset()")?;
            state.ended = Ended::default();
            Ok::<_, Failure>(state.drive.purge(&Patient).map(|_| ())?)
        });
        Ok(done??)
    }

    /// Lets days pass for the data.
    fn age(&self, py: Python<'_>, days: u32) -> PyResult<()> {
        let done = self.read(py, |state| {
            state.must_be_idle("age()")?;
            Ok::<_, Failure>(state.drive.age(target::Past { days, ..target::Past::default() })?)
        });
        Ok(done??)
    }
}

fn require_interval(interval_ns: u64) -> Result<(), Failure> {
    if interval_ns < 1000 {
        return Err(Failure::usage(format!(
            "an interval of {interval_ns} ns is too short; expected 1,000 ns or more"
        )));
    }
    Ok(())
}

/// The target string and the words of the policies of the drive in a state file.
#[pyfunction]
pub(crate) fn saved_drive(py: Python<'_>, path: PathBuf) -> PyResult<(String, String)> {
    let header = py.detach(|| bare::header(&path).map_err(|fault| state_failure(&path, &fault)))?;
    Ok((header.target, header.policies))
}

/// The failure of a state file: the machine's, or a file that cannot be used.
fn state_failure(path: &Path, fault: &FileFault) -> Failure {
    let message = format!("{} {fault}", path.display());
    match fault {
        FileFault::Io(_) => Failure::from(TargetError::Device {
            context: message,
            source: std::io::Error::other("its file"),
        }),
        _ => Failure::usage(message),
    }
}

/// Builds the drive of a target string.
fn open(text: &str) -> Result<SimTarget, Failure> {
    let spec: TargetSpec = text.parse()?;
    let Some((name, keys)) = spec.model() else {
        return Err(Failure::usage(format!(
            "`{text}` is no simulated drive; only those work step by step"
        )));
    };
    Ok(SimTarget::open(text, name, keys)?)
}

fn data(percent: Option<u8>) -> Result<Data, Failure> {
    Ok(match percent {
        None => Data::Incompressible,
        Some(0) => Data::Repeating,
        Some(physical_percent @ 1..=100) => Data::Compressible { physical_percent },
        Some(percent) => {
            return Err(Failure::usage(format!(
                "data that shrinks to {percent}%; expected 0 to 100"
            )));
        }
    })
}

fn depth(wanted: Option<usize>, most: usize) -> Result<usize, Failure> {
    match wanted {
        None => Ok(most),
        Some(depth) if (1..=most).contains(&depth) => Ok(depth),
        Some(depth) => Err(Failure::usage(format!(
            "a queue depth of {depth}; this drive takes 1 to {most} commands at a time"
        ))),
    }
}
