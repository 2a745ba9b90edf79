//! Losses of power: the drive recovers, and the contents follow it.
//!
//! The simulator knows which version of each page survives, and the disk has the data of every version that can
//! ([`super::volatile`]). Requests under way fail; of a write among them, pages may have its data or not.

use std::io;

use base::Nanos;

use super::simulated::{PowerCycle, StoredPage};
use super::volatile::{CutEffect, Volatile};
use super::{Disk, Job};
use crate::request::{Action, Fault};

/// Pages of a report.
const TOLD_MAX: usize = 20;

/// Older data that is kept before that of pages in NAND is given up, in bytes.
const KEPT_BYTES: u64 = 64 << 20;

/// A page without its promised data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenPage {
    pub page: u64,
    /// The word for the broken promise.
    pub finding: &'static str,
}

/// A loss of power.
#[derive(Clone, Debug)]
pub struct PowerCut {
    /// The work of the drive.
    pub cycle: PowerCycle,
    /// Time of the drive at which it is ready again.
    pub ready: Nanos,
    /// Requests that failed.
    pub requests_failed: u64,
    /// Pages that lost acknowledged data which no flush covered; this is permitted.
    pub pages_taken_back: u64,
    /// Pages with data of a request that was never answered; this is permitted.
    pub pages_ahead: u64,
    /// The first pages that broke a promise.
    pub broken: Vec<BrokenPage>,
    /// Number of all broken pages.
    pub broken_pages: u64,
}

impl PowerCut {
    /// A cut at which so many requests fail.
    pub(super) fn new(cycle: PowerCycle, ready: Nanos, requests_failed: usize) -> Self {
        Self {
            cycle,
            ready,
            requests_failed: requests_failed as u64,
            pages_taken_back: 0,
            pages_ahead: 0,
            broken: Vec::new(),
            broken_pages: 0,
        }
    }
}

/// Cuts to come, and those that have come.
#[derive(Debug, Default)]
pub struct Orders {
    /// Commands that may still end before the power is cut, or `None` if no cut is ordered.
    commands_left: Option<u64>,
    past: Vec<PowerCut>,
    keep_bytes: u64,
}

impl Orders {
    /// Whether the power goes now that so many commands have ended.
    pub(super) fn is_due(&mut self, ended: u64) -> bool {
        let Some(left) = &mut self.commands_left else { return false };
        *left = left.saturating_sub(ended);
        *left == 0
    }
}

impl<T> Disk<T> {
    /// Whether the drive can lose its power.
    pub fn is_cuttable(&self) -> bool {
        self.volatile.is_some() || self.drive.zones().is_some()
    }

    /// Cuts the power when so many commands of the drive have ended; false if the drive cannot lose its power.
    pub fn order_cut(&mut self, after_commands: u64) -> bool {
        self.cut_orders.commands_left = Some(after_commands).filter(|_| self.is_cuttable());
        self.is_cuttable()
    }

    /// Number of ordered cuts whose reports nobody has taken.
    pub fn cuts_made(&self) -> usize {
        self.cut_orders.past.len()
    }

    /// The reports of the ordered cuts since the last call.
    pub fn take_cuts(&mut self) -> Vec<PowerCut> {
        std::mem::take(&mut self.cut_orders.past)
    }

    pub(super) fn cut_as_ordered(&mut self) {
        const REPORTS_MAX: usize = 1000;
        self.cut_orders.commands_left = None;
        if let Some(cut) = self.cut_power()
            && self.cut_orders.past.len() < REPORTS_MAX
        {
            self.cut_orders.past.push(cut);
        }
    }

    /// Cuts the power at this moment and restores it, or `None` if the drive cannot lose its power. All requests fail.
    pub fn cut_power(&mut self) -> Option<PowerCut> {
        if self.drive.zones().is_some() {
            return self.cut_power_of_zones();
        }
        let mut volatile = self.volatile.take()?;
        self.accounting.end_life(self.drive.telemetry());
        // Ended commands whose answers nobody has taken are lost with the drive.
        self.ended.clear();
        let cycle = self.drive.cycle_power();
        let ready = self.drive.now();
        let jobs: Vec<_> =
            (0..self.jobs.len() as u32).filter_map(|tag| self.release(tag)).collect();
        let cut = cycle.map(|cycle| {
            let mut cut = PowerCut::new(cycle, ready, jobs.len() + self.waiting.len());
            for page in 0..volatile.disk_pages() {
                self.follow(page, &mut volatile, &jobs, &mut cut);
            }
            cut
        });
        volatile.begin_again();
        self.volatile = Some(volatile);
        let waiting = std::mem::take(&mut self.waiting);
        jobs.into_iter().chain(waiting).for_each(|job| self.finish(job, Err(Fault::Io)));
        cut
    }

    /// Gives a page the data that the drive has after the recovery.
    fn follow(&mut self, page: u64, volatile: &mut Volatile, jobs: &[Job<T>], cut: &mut PowerCut) {
        let stored = self.drive.stored(page);
        let version = match stored {
            StoredPage::Nothing => None,
            StoredPage::Version(version) => Some(version),
            StoredPage::Unreadable => return self.break_page(page, "unreadable", cut),
        };
        let done = match volatile.found(page, version) {
            CutEffect::Newest => Ok(()),
            CutEffect::Earlier(data) => {
                cut.pages_taken_back += 1;
                self.contents.set_page(page, data.as_deref())
            }
            CutEffect::Other => match jobs.iter().find(|job| job.pages.contains(&page)) {
                Some(job) if job.request.action == Action::Trim && version.is_some() => {
                    return self.break_page(page, "returned", cut);
                }
                Some(job) => {
                    cut.pages_ahead += 1;
                    self.apply_to_page(page, job, version.is_some())
                }
                None => {
                    let finding = if version.is_some() { "stale" } else { "lost" };
                    return self.break_page(page, finding, cut);
                }
            },
        };
        if done.is_err() {
            self.break_page(page, "unreadable", cut);
        }
    }

    /// Records a page that has not the data it must have: it cannot be read any more.
    pub(super) fn break_page(&mut self, page: u64, finding: &'static str, cut: &mut PowerCut) {
        cut.broken_pages += 1;
        if cut.broken.len() < TOLD_MAX {
            cut.broken.push(BrokenPage { page, finding });
        }
        let shape = *self.contents.shape();
        self.faults.spoil(&shape, &(page * shape.page_bytes..(page + 1) * shape.page_bytes));
    }

    /// Carries out the part of an unanswered request that changes a page.
    pub(super) fn apply_to_page(
        &mut self,
        page: u64,
        job: &Job<T>,
        is_mapped: bool,
    ) -> io::Result<()> {
        if !is_mapped || job.request.action == Action::Overwrite {
            return self.contents.forget(page..page + 1);
        }
        let page_bytes = self.contents.shape().page_bytes;
        let (first, end) = (page * page_bytes, (page + 1) * page_bytes);
        let range = job.request.range();
        let part = range.start.max(first)..range.end.min(end);
        if matches!(job.request.action, Action::Write | Action::Copy | Action::Append) {
            let from = (part.start - range.start) as usize;
            let data = &job.request.data[from..from + (part.end - part.start) as usize];
            self.contents.write(part.start, data)
        } else {
            self.contents.zero(part)
        }
    }

    /// Keeps the data that a request is about to replace, and settles data that the request makes certain.
    pub(super) fn remember(&mut self, job: &Job<T>) -> io::Result<()> {
        let Some(volatile) = &mut self.volatile else { return Ok(()) };
        let is_certain = job.request.fua || self.drive.config().power_loss_protected;
        for page in job.pages.clone() {
            let version = self.drive.version(page);
            let data = if is_certain { None } else { self.contents.page(page)? };
            volatile.changed(page, data, version, is_certain);
        }
        if job.request.action == Action::Flush {
            volatile.flushed(job.mark);
        }
        if volatile.bytes() > self.cut_orders.keep_bytes.max(KEPT_BYTES) {
            let is_safe = |page, version: Option<u64>| {
                self.drive.stored(page) == version.map_or(StoredPage::Nothing, StoredPage::Version)
            };
            volatile.prune(|page, version| version.is_some() && is_safe(page, version));
            self.cut_orders.keep_bytes = volatile.bytes() * 2;
        }
        Ok(())
    }
}
