//! A disk: a simulated drive with its contents. No thread, no socket, no clock.
//!
//! A request becomes commands of the drive ([`crate::plan`]), one after the other. When the last has ended, the contents
//! are read or changed, and the request is finished. A request that changes pages waits until no other one changes them,
//! and so do all that come behind it: the order of changes is the same in the maps of the drive and in the contents.

use std::collections::VecDeque;
use std::ops::Range;

use base::{Completion, Nanos, Op, OpKind, Status};
use sim::host::DeallocateSupport;
use sim::{Config, Drive};

use crate::contents::{Contents, is_full};
use crate::plan::{Shape, commands};
use crate::request::{Action, Answer, Extent, Fault, Request};

/// Pages of a write that puts the data of an existing file on the drive.
const LOAD_PAGES: u64 = 64;

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
}

/// A request with its outcome.
#[derive(Debug)]
pub struct Finished<T> {
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
    drive: Drive,
    contents: Contents,
    /// Requests in the drive, by the tags of their commands.
    jobs: Vec<Option<Job<T>>>,
    free_tags: Vec<u32>,
    waiting: VecDeque<Job<T>>,
    /// Pages under change, with the tags of the requests.
    changing: Vec<(u32, Range<u64>)>,
    reserved_pages: u64,
    ended: Vec<Completion>,
    finished: Vec<Finished<T>>,
}

impl Shape {
    /// The units of a drive.
    #[must_use]
    pub fn of(config: &Config) -> Self {
        Self {
            block_bytes: config.interface.logical_block_bytes,
            page_bytes: u64::from(config.geometry.page_bytes),
            capacity_bytes: config.capacity_bytes(),
            deallocates: config.interface.deallocate == DeallocateSupport::Works,
        }
    }
}

impl<T> Disk<T> {
    /// A fresh drive with these contents, which must have its shape. The drive writes the data that they hold before
    /// anything else, in the order of addresses.
    #[must_use]
    pub fn new(drive: Drive, contents: Contents) -> Self {
        let depth = drive.config().queue_depth;
        let mut disk = Self {
            drive,
            contents,
            jobs: (0..depth).map(|_| None).collect(),
            free_tags: (0..depth).rev().collect(),
            waiting: VecDeque::new(),
            changing: Vec::new(),
            reserved_pages: 0,
            ended: Vec::new(),
            finished: Vec::new(),
        };
        disk.load();
        disk
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
                offset += bytes;
            }
            offset = end;
        }
        self.load_command(OpKind::Flush, 0, 0);
    }

    fn load_command(&mut self, kind: OpKind, offset: u64, bytes: u64) {
        let data = base::Data::Incompressible;
        let op = Op { kind, data, fua: false, placement: 0, len: bytes as u32, tag: 0, offset };
        self.drive.submit(&[op]);
        self.drive.reap(1, &mut self.ended);
        self.ended.clear();
    }

    /// The drive.
    #[must_use]
    pub fn drive(&self) -> &Drive {
        &self.drive
    }

    /// The units of the drive.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        self.contents.shape()
    }

    /// The data.
    #[must_use]
    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    /// These bytes in extents, at most `most`; empty outside the disk.
    #[must_use]
    pub fn extents(&self, bytes: Range<u64>, most: usize) -> Vec<Extent> {
        let end = bytes.end.min(self.shape().capacity_bytes);
        self.contents.extents(bytes.start.min(end)..end, most)
    }

    /// Takes a request at this moment of the drive. It comes out of [`Disk::run`] in any case.
    pub fn submit(&mut self, token: T, request: Request) {
        let submitted = self.drive.now();
        if let Err(fault) = self.check(&request) {
            let (result, done) = (Err(fault), submitted);
            return self.finished.push(Finished { token, result, submitted, done });
        }
        let shape = self.shape();
        let pages = request.pages_changed(shape);
        let commands = commands(&request, shape).into_iter();
        let is_filling = request.action != Action::Trim;
        let new_pages = if is_filling { self.contents.holes_among(pages.clone()) } else { 0 };
        let job = Job { token, request, commands, pages, new_pages, submitted };
        self.waiting.push_back(job);
        self.start_waiting();
    }

    fn check(&self, request: &Request) -> Result<(), Fault> {
        let end = request.offset.checked_add(request.bytes).ok_or(Fault::Invalid)?;
        let is_sound = match request.action {
            Action::Flush => return Ok(()),
            Action::Write => request.data.len() as u64 == request.bytes,
            _ => true,
        };
        let is_within = request.bytes > 0 && end <= self.shape().capacity_bytes;
        if is_sound && is_within { Ok(()) } else { Err(Fault::Invalid) }
    }

    /// Starts requests in their order, as long as there are tags and nobody changes their pages.
    fn start_waiting(&mut self) {
        while let Some(job) = self.waiting.front() {
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

    fn start(&mut self, job: Job<T>) {
        if !self.contents.has_room(self.reserved_pages + job.new_pages) {
            return self.finish(job, Err(Fault::NoSpace));
        }
        let Some(tag) = self.free_tags.pop() else { return self.waiting.push_front(job) };
        self.reserved_pages += job.new_pages;
        if !job.pages.is_empty() {
            self.changing.push((tag, job.pages.clone()));
        }
        self.jobs[tag as usize] = Some(job);
        self.step(tag);
    }

    /// Sends the next command of a request, or finishes it.
    fn step(&mut self, tag: u32) {
        let job = self.jobs[tag as usize].as_mut();
        match job.and_then(|job| job.commands.next()) {
            Some(op) => self.drive.submit(&[Op { tag, ..op }]),
            None => self.take(tag, Ok(())),
        }
    }

    /// Takes a request out of the drive, and carries it out on the contents if its commands have succeeded.
    fn take(&mut self, tag: u32, outcome: Result<(), Fault>) {
        let Some(mut job) = self.jobs[tag as usize].take() else { return };
        self.free_tags.push(tag);
        self.changing.retain(|(other, _)| *other != tag);
        self.reserved_pages -= job.new_pages;
        let request = std::mem::replace(
            &mut job.request,
            Request { action: Action::Flush, offset: 0, bytes: 0, fua: false, data: Vec::new() },
        );
        let result = outcome.and_then(|()| self.apply(&request));
        self.finish(job, result);
    }

    fn finish(&mut self, job: Job<T>, result: Result<Answer, Fault>) {
        let Job { token, submitted, .. } = job;
        let done = self.drive.now();
        self.finished.push(Finished { token, result, submitted, done });
    }

    fn apply(&mut self, request: &Request) -> Result<Answer, Fault> {
        let range = request.range();
        let done = match request.action {
            Action::Read => return self.read(range),
            Action::Fetch | Action::Flush => Ok(()),
            Action::Write => self.contents.write(request.offset, &request.data),
            Action::Trim => self.forget(&range),
            Action::Zero { keeps_pages } => self.zero(range, keeps_pages),
        };
        match done {
            Ok(()) => Ok(Answer::Done),
            Err(error) if is_full(&error) => Err(Fault::NoSpace),
            Err(_) => Err(Fault::Io),
        }
    }

    fn read(&self, range: Range<u64>) -> Result<Answer, Fault> {
        let extents = self.contents.extents(range.clone(), usize::MAX);
        let mut bytes = vec![0; (range.end - range.start) as usize];
        if extents.iter().any(|extent| !extent.is_hole) {
            self.contents.read(range.start, &mut bytes).map_err(|_| Fault::Io)?;
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
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.waiting.len() + self.jobs.len() - self.free_tags.len()
    }

    /// Lets time pass until every request is finished, and returns all that have finished.
    pub fn run(&mut self) -> std::vec::Drain<'_, Finished<T>> {
        while self.outstanding() > 0 {
            self.drive.reap(1, &mut self.ended);
            if self.ended.is_empty() {
                self.give_up();
            }
            self.collect();
        }
        self.finished.drain(..)
    }

    /// Ends every request: the drive came to a standstill.
    fn give_up(&mut self) {
        (0..self.jobs.len() as u32).for_each(|tag| self.take(tag, Err(Fault::Io)));
        while let Some(job) = self.waiting.pop_front() {
            self.finish(job, Err(Fault::Io));
        }
    }

    /// Goes on with the requests whose commands have ended.
    fn collect(&mut self) {
        let mut ended = std::mem::take(&mut self.ended);
        for end in ended.drain(..) {
            match end.status {
                Status::Ok => self.step(end.tag),
                Status::Failed { .. } => self.take(end.tag, Err(Fault::Io)),
            }
        }
        self.ended = ended;
        self.start_waiting();
    }
}
