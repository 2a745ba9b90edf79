//! A disk: a simulated drive with its contents. No thread, no socket, no clock.
//!
//! A request becomes commands of the drive ([`crate::plan`]), one after the other. When the last has ended, the contents
//! are read or changed, and the request is finished. A request that changes pages waits until no other one changes them,
//! and so do all that come behind it: the order of changes is the same in the maps of the drive and in the contents.

pub mod accounting;
mod compression;
pub mod cut;
pub mod faults;
pub mod simulated;
mod state;
pub mod volatile;
mod zones;

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use base::{Completion, Data, Nanos, Op, OpKind, Status};
use sim::Config;
use sim::host::DeallocateSupport;

use crate::contents::{Contents, is_full};
use crate::plan::{Shape, commands};
use crate::request::{Action, Answer, Extent, Fault, Request};
use accounting::{Accounting, Totals};
use faults::Faults;
use simulated::ExposedDrive;
pub(crate) use state::{State, StateRef};
use volatile::Volatile;

/// Pages of a write that puts the data of an existing file on the drive.
const LOAD_PAGES: u64 = 64;

/// The errno in the account of a request that failed (EIO).
const ERRNO_IO: i32 = 5;

/// A request in progress.
#[derive(Debug)]
struct Job<T> {
    token: T,
    request: Request,
    commands: std::vec::IntoIter<Op>,
    /// The pages that it changes.
    pages: Range<u64>,
    /// Those among them without data, for which there must be room.
    new_pages: u64,
    submitted: Nanos,
    /// Number of changes that were acknowledged before it.
    mark: u64,
}

/// A request with its outcome.
#[derive(Debug)]
pub struct RequestResult<T> {
    /// The mark that its sender gave it.
    pub token: T,
    /// The outcome.
    pub result: Result<Answer, Fault>,
    /// Time of the drive at which it came.
    pub submitted: Nanos,
    /// Time of the drive at which it ended.
    pub done: Nanos,
}

/// A simulated drive with data; `T` marks requests for their sender.
#[derive(Debug)]
pub struct Disk<T> {
    drive: ExposedDrive,
    contents: Contents,
    /// The data that a cut may bring back, or `None` if the drive cannot lose its power.
    volatile: Option<Volatile>,
    /// The faults that it has been given.
    pub faults: Faults,
    accounting: Accounting,
    cut_orders: cut::Orders,
    /// Requests in the drive, by the tags of their commands.
    jobs: Vec<Option<Job<T>>>,
    free_tags: Vec<u32>,
    waiting: VecDeque<Job<T>>,
    /// Pages under change, with the tags of the requests.
    changing: Vec<(u32, Range<u64>)>,
    reserved_pages: u64,
    ended: Vec<Completion>,
    finished: Vec<RequestResult<T>>,
    /// Zones that have changed without an order of a host.
    changed_zones: BTreeSet<u32>,
}

impl Shape {
    /// The units of a drive.
    pub fn of(config: &Config) -> Self {
        let (page_bytes, zones) = (u64::from(config.geometry.page_bytes), config.options.zones);
        Self {
            block_bytes: config.interface.logical_block_bytes,
            page_bytes,
            capacity_bytes: zones
                .map_or(config.capacity_bytes(), |zones| zones.lba_pages() * page_bytes),
            deallocates: config.interface.deallocate == DeallocateSupport::Works,
        }
    }
}

impl<T> Disk<T> {
    /// A fresh drive with these contents, which must have its shape. The drive writes the data that they hold before
    /// anything else, in the order of addresses.
    pub fn new(config: Config, contents: Contents) -> Self {
        let mut disk = Self::around(ExposedDrive::new(config), contents);
        let Shape { capacity_bytes, page_bytes, .. } = *disk.shape();
        let pages = capacity_bytes.div_ceil(page_bytes);
        disk.volatile = disk.drive.is_cuttable().then(|| Volatile::new(pages));
        disk.load();
        disk
    }

    /// A disk of this drive and these contents, without data that a cut may bring back.
    fn around(drive: ExposedDrive, contents: Contents) -> Self {
        let depth = drive.config().queue_depth;
        Self {
            volatile: None,
            drive,
            contents,
            faults: Faults::default(),
            accounting: Accounting::default(),
            cut_orders: cut::Orders::default(),
            jobs: (0..depth).map(|_| None).collect(),
            free_tags: (0..depth).rev().collect(),
            waiting: VecDeque::new(),
            changing: Vec::new(),
            reserved_pages: 0,
            ended: Vec::new(),
            finished: Vec::new(),
            changed_zones: BTreeSet::new(),
        }
    }

    /// Writes the pages with data, and flushes.
    fn load(&mut self) {
        if self.contents.pages() == 0 {
            return;
        }
        let Shape { page_bytes, capacity_bytes, .. } = *self.contents.shape();
        let mut offset = 0;
        for extent in self.contents.extents(0..capacity_bytes, usize::MAX) {
            let end = offset + extent.bytes;
            while !extent.is_hole && offset < end {
                let bytes = (LOAD_PAGES * page_bytes).min(end - offset);
                self.load_command(OpKind::Write, offset, bytes);
                self.settle(offset / page_bytes..(offset + bytes).div_ceil(page_bytes));
                offset += bytes;
            }
            offset = end;
        }
        self.load_command(OpKind::Flush, 0, 0);
    }

    fn load_command(&mut self, kind: OpKind, offset: u64, bytes: u64) {
        let data = Data::Incompressible;
        let op = Op { kind, data, fua: false, placement: 0, len: bytes as u32, tag: 0, offset };
        self.drive.submit(op);
        self.drive.reap(1, &mut self.ended);
        self.ended.clear();
    }

    /// Records the versions of pages that are loaded: a flush follows before anybody sees the disk.
    fn settle(&mut self, pages: Range<u64>) {
        let Some(volatile) = &mut self.volatile else { return };
        pages.for_each(|page| volatile.changed(page, None, self.drive.version(page), true));
    }

    pub fn drive(&self) -> &ExposedDrive {
        &self.drive
    }

    /// The drive, for changes to it that leave its data alone.
    pub fn drive_mut(&mut self) -> &mut ExposedDrive {
        &mut self.drive
    }

    /// The units of the drive.
    pub fn shape(&self) -> &Shape {
        self.contents.shape()
    }

    /// The data.
    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    /// The account.
    pub fn accounting(&self) -> &Accounting {
        &self.accounting
    }

    /// The account, for its marks and its reset.
    pub fn accounting_mut(&mut self) -> &mut Accounting {
        &mut self.accounting
    }

    /// The account of this moment.
    pub fn totals(&self) -> Totals {
        self.accounting.totals(self.drive.telemetry(), self.drive.now())
    }

    /// Bytes of older data that a cut may bring back.
    pub fn volatile_bytes(&self) -> u64 {
        self.volatile.as_ref().map_or(0, Volatile::bytes)
    }

    /// The data that a cut may bring back, or `None` if the drive cannot lose its power.
    pub(crate) fn volatile(&self) -> Option<&Volatile> {
        self.volatile.as_ref()
    }

    /// Replaces everything but the account; no request may be outstanding.
    pub(crate) fn replace(
        &mut self,
        drive: ExposedDrive,
        volatile: Option<Volatile>,
        faults: Faults,
        contents: &Contents,
    ) -> std::io::Result<()> {
        self.exchange(drive, volatile, faults);
        self.contents.take_over(contents)
    }

    /// Replaces everything but the account and the data.
    fn exchange(&mut self, drive: ExposedDrive, volatile: Option<Volatile>, faults: Faults) {
        let (before, zones) = (self.totals(), self.zones_now());
        (self.drive, self.volatile, self.faults) = (drive, volatile, faults);
        self.note_changed_zones(&zones);
        self.accounting.jump(&before, self.drive.telemetry(), self.drive.now());
    }

    /// These bytes in extents, at most `most`; empty outside the disk.
    pub fn extents(&self, bytes: Range<u64>, most: usize) -> Vec<Extent> {
        let end = bytes.end.min(self.shape().capacity_bytes);
        self.contents.extents(bytes.start.min(end)..end, most)
    }

    /// Takes a request at this moment of the drive. It comes out of [`Disk::run`] or [`Disk::take_finished`] in any
    /// case.
    pub fn submit(&mut self, token: T, request: Request) {
        let submitted = self.drive.now();
        let mark = self.volatile.as_ref().map_or(0, Volatile::mark);
        let checked = self.check(&request);
        let pages = request.pages_changed(self.shape());
        let commands = Vec::new().into_iter();
        let job = Job { token, request, commands, pages, new_pages: 0, submitted, mark };
        if let Err(fault) = checked {
            return self.finish(job, Err(fault));
        }
        self.waiting.push_back(job);
        self.start_waiting();
    }

    fn check(&self, request: &Request) -> Result<(), Fault> {
        if request.is_void() {
            return Err(Fault::Deleted);
        }
        let end = request.offset.checked_add(request.bytes).ok_or(Fault::Invalid)?;
        let is_sound = match request.action {
            Action::Flush => return Ok(()),
            Action::Append | Action::Zone { .. } if self.drive.zones().is_none() => false,
            Action::Write | Action::Append => request.data.len() as u64 == request.bytes,
            Action::Copy => self.drive.zones().is_none() && self.has_sources(request),
            _ => true,
        };
        let is_within = request.bytes > 0 && end <= self.shape().capacity_bytes;
        if is_sound && is_within { Ok(()) } else { Err(Fault::Invalid) }
    }

    /// Whether the sources of a copy lie within the disk, and are as long as its destination.
    fn has_sources(&self, request: &Request) -> bool {
        let capacity_bytes = self.shape().capacity_bytes;
        let is_within =
            |source: &Range<u64>| source.start < source.end && source.end <= capacity_bytes;
        request.sources.iter().all(is_within)
            && request.sources.iter().map(|source| source.end - source.start).sum::<u64>()
                == request.bytes
    }

    /// Starts requests in their order, as long as there are tags and nobody changes their pages.
    fn start_waiting(&mut self) {
        while let Some(job) = self.waiting.front_mut() {
            if job.request.action == Action::Append {
                zones::place(job, &self.drive, self.contents.shape());
            }
            let pages = &job.pages;
            let is_under_change =
                |(_, other): &(u32, Range<u64>)| pages.start < other.end && other.start < pages.end;
            if self.free_tags.is_empty() || self.changing.iter().any(is_under_change) {
                return;
            }
            let Some(job) = self.waiting.pop_front() else { return };
            self.start(job);
        }
    }

    fn start(&mut self, mut job: Job<T>) {
        if let Err(fault) = self.faults.check(self.contents.shape(), &job.request) {
            return self.finish(job, Err(fault));
        }
        if job.request.action == Action::Copy {
            match self.contents.gather(&job.request.sources) {
                Ok(data) => job.request.data = data,
                Err(_) => return self.finish(job, Err(Fault::Source)),
            }
        }
        let is_filling =
            !matches!(job.request.action, Action::Trim | Action::Overwrite | Action::Zone { .. });
        job.new_pages = if is_filling { self.contents.holes_among(job.pages.clone()) } else { 0 };
        if !self.contents.has_room(self.reserved_pages + job.new_pages) {
            return self.finish(job, Err(Fault::NoSpace));
        }
        let Some(tag) = self.free_tags.pop() else { return self.waiting.push_front(job) };
        self.reserved_pages += job.new_pages;
        job.commands = self.commands_of(&job.request).into_iter();
        if !job.pages.is_empty() {
            self.changing.push((tag, job.pages.clone()));
        }
        self.jobs[tag as usize] = Some(job);
        self.step(tag);
    }

    fn commands_of(&self, request: &Request) -> Vec<Op> {
        if let Action::Zone { action, all } = request.action {
            return zones::orders(&self.drive, request, action, all);
        }
        let mut commands = commands(request, self.shape());
        if self.drive.config().geometry.page_granules > 1 {
            let data = compression::data_of(request);
            commands.iter_mut().for_each(|op| op.data = data);
        }
        commands
    }

    /// Sends the next command of a request, or finishes it.
    fn step(&mut self, tag: u32) {
        let job = self.jobs[tag as usize].as_mut();
        match job.and_then(|job| Some((job.request.action, job.commands.next()?))) {
            Some((Action::Zone { action, .. }, op)) => {
                let page = op.offset / self.contents.shape().page_bytes;
                let zone = self.drive.zones().map_or(0, |zones| zones.zone_of(page));
                self.drive.manage_zone(tag, action, zone as u32);
            }
            Some((_, op)) => self.drive.submit(Op { tag, ..op }),
            None => self.take(tag, Ok(())),
        }
    }

    /// Takes a request out of the drive, and carries it out on the contents if its commands have succeeded.
    fn take(&mut self, tag: u32, outcome: Result<(), Fault>) {
        let Some(job) = self.release(tag) else { return };
        let result = outcome.and_then(|()| {
            // By now the bytes may have data of another namespace.
            if job.request.action == Action::Read && job.request.is_void() {
                return Err(Fault::Deleted);
            }
            self.remember(&job)
                .and_then(|()| self.apply(&job.request))
                .map_err(|error| if is_full(&error) { Fault::NoSpace } else { Fault::Io })
        });
        self.finish(job, result);
    }

    /// Takes a request out of the drive.
    fn release(&mut self, tag: u32) -> Option<Job<T>> {
        let job = self.jobs[tag as usize].take()?;
        self.free_tags.push(tag);
        self.changing.retain(|(other, _)| *other != tag);
        self.reserved_pages -= job.new_pages;
        Some(job)
    }

    fn finish(&mut self, job: Job<T>, result: Result<Answer, Fault>) {
        let Job { token, submitted, request, .. } = job;
        let done = self.drive.now();
        let errno = ERRNO_IO;
        let status = if result.is_ok() { Status::Ok } else { Status::Failed { errno } };
        let end = Completion { tag: 0, status, submitted, done };
        if !request.action.is_own() {
            self.accounting.ended(&as_command(&request, self.contents.shape()), &end);
        }
        if request.action == Action::Copy && result.is_ok() {
            self.accounting.copied();
        }
        self.finished.push(RequestResult { token, result, submitted, done });
    }

    fn apply(&mut self, request: &Request) -> std::io::Result<Answer> {
        let range = request.range();
        match request.action {
            Action::Read => return self.read(range),
            Action::Fetch | Action::Scan | Action::Flush => {}
            Action::Write | Action::Copy | Action::Append => {
                self.contents.write(request.offset, &request.data)?;
            }
            Action::Zone { action, .. } => self.empty_zones(request, action)?,
            Action::Trim | Action::Overwrite => self.forget(&range)?,
            Action::Zero { keeps_pages } => self.zero(range.clone(), keeps_pages)?,
        }
        let keeps_data = matches!(
            request.action,
            Action::Fetch | Action::Scan | Action::Flush | Action::Zone { .. }
        );
        if !keeps_data {
            self.faults.replaced(self.contents.shape(), &range);
        }
        Ok(if request.action == Action::Append {
            Answer::Place(request.offset)
        } else {
            Answer::Done
        })
    }

    fn read(&self, range: Range<u64>) -> std::io::Result<Answer> {
        let extents = self.contents.extents(range.clone(), usize::MAX);
        let mut bytes = vec![0; (range.end - range.start) as usize];
        if extents.iter().any(|extent| !extent.is_hole) {
            self.contents.read(range.start, &mut bytes)?;
        }
        Ok(Answer::Data { bytes, extents })
    }

    /// Empties the pages that the drive has forgotten.
    fn forget(&mut self, range: &Range<u64>) -> std::io::Result<()> {
        if !self.shape().deallocates {
            return Ok(());
        }
        self.contents.forget(self.shape().pages_within(range))
    }

    fn zero(&mut self, range: Range<u64>, keeps_pages: bool) -> std::io::Result<()> {
        let shape = *self.shape();
        let within = shape.pages_within(&range);
        if keeps_pages || !shape.deallocates || within.is_empty() {
            return self.contents.zero(range);
        }
        let (first, end) = (within.start * shape.page_bytes, within.end * shape.page_bytes);
        for edge in [range.start..first, end..range.end] {
            if !edge.is_empty() {
                self.contents.zero(edge)?;
            }
        }
        self.contents.forget(within)
    }

    /// Number of requests that are not finished.
    pub fn outstanding(&self) -> usize {
        self.waiting.len() + self.jobs.len() - self.free_tags.len()
    }

    /// Lets time pass until every request is finished, and returns all that have finished.
    pub fn run(&mut self) -> std::vec::Drain<'_, RequestResult<T>> {
        self.drain();
        self.take_finished()
    }

    /// Lets time pass until every request is finished.
    pub fn drain(&mut self) {
        while self.outstanding() > 0 {
            self.drive.reap(1, &mut self.ended);
            if self.ended.is_empty() {
                self.give_up();
            }
            self.collect();
        }
    }

    /// Lets time pass until `until`, and goes on with the requests whose commands end by then.
    pub fn advance(&mut self, until: Nanos) {
        self.collect_all();
        while let Some(next) = self.drive.next_event().filter(|&next| next <= until) {
            self.drive.run_until(next);
            self.collect_all();
        }
        self.drive.run_until(until);
        self.end_rows();
    }

    /// The requests that have finished.
    pub fn take_finished(&mut self) -> std::vec::Drain<'_, RequestResult<T>> {
        self.finished.drain(..)
    }

    /// Time of the next event in the drive, or `None` if nothing happens without a request.
    pub fn next_event(&self) -> Option<Nanos> {
        self.drive.next_event()
    }

    /// Ends every request: the drive came to a standstill.
    fn give_up(&mut self) {
        (0..self.jobs.len() as u32).for_each(|tag| self.take(tag, Err(Fault::Io)));
        while let Some(job) = self.waiting.pop_front() {
            self.finish(job, Err(Fault::Io));
        }
    }

    /// Goes on until no command has ended: a zone refuses one at once, which is no event of the drive.
    fn collect_all(&mut self) {
        loop {
            self.drive.reap(0, &mut self.ended);
            let is_last = self.ended.is_empty();
            self.collect();
            if is_last {
                return;
            }
        }
    }

    /// Goes on with the requests whose commands have ended.
    fn collect(&mut self) {
        if self.cut_orders.is_due(self.ended.len() as u64) {
            self.cut_as_ordered();
        }
        let mut ended = std::mem::take(&mut self.ended);
        for end in ended.drain(..) {
            match end.status {
                Status::Ok => self.step(end.tag),
                Status::Failed { errno } => self.take(end.tag, Err(self.fault_of(errno))),
            }
        }
        self.ended = ended;
        self.start_waiting();
        self.end_rows();
    }

    fn end_rows(&mut self) {
        if self.accounting.is_row_due(self.drive.now()) {
            let totals = self.totals();
            self.accounting.end_rows(&totals);
        }
    }
}

/// A request as one command, for the account.
fn as_command(request: &Request, shape: &Shape) -> Op {
    let kind = match request.action {
        Action::Read | Action::Fetch | Action::Scan => OpKind::Read,
        Action::Write | Action::Copy | Action::Overwrite | Action::Append => OpKind::Write,
        Action::Flush => OpKind::Flush,
        Action::Trim | Action::Zone { .. } => OpKind::Deallocate,
        Action::Zero { keeps_pages: false } if shape.deallocates => OpKind::Deallocate,
        Action::Zero { .. } => OpKind::Write,
    };
    let (offset, len) = (request.offset, request.bytes.min(u32::MAX.into()) as u32);
    Op { kind, data: Data::Incompressible, fua: request.fua, placement: 0, len, tag: 0, offset }
}
