//! The whole state of a disk without outstanding requests, apart from its data, as a state file has it.

use std::io;

use base::panics::caught;
use serde::{Deserialize, Serialize};
use sim::Config;

use super::accounting::Accounting;
use super::faults::Faults;
use super::simulated::ExposedDrive;
use super::volatile::Volatile;
use super::{Disk, Shape};
use crate::contents::Contents;

/// The state of a disk, to be written.
#[derive(Debug, Serialize)]
pub(crate) struct StateRef<'a> {
    drive: &'a ExposedDrive,
    volatile: &'a Option<Volatile>,
    faults: &'a Faults,
    accounting: &'a Accounting,
    free_tags: &'a Vec<u32>,
}

impl<'a> StateRef<'a> {
    pub(crate) fn of<T>(disk: &'a Disk<T>) -> Self {
        let Disk { drive, volatile, faults, accounting, free_tags, .. } = disk;
        Self { drive, volatile, faults, accounting, free_tags }
    }
}

/// The state of a disk, as it was read: the same members in the same order.
#[derive(Debug, Deserialize)]
pub(crate) struct State {
    drive: ExposedDrive,
    volatile: Option<Volatile>,
    faults: Faults,
    accounting: Accounting,
    /// Every tag: a drive with several queues puts a command into one by its tag, so that their order matters.
    free_tags: Vec<u32>,
}

impl State {
    /// Whether it is the state of a drive of this model without outstanding commands, and its parts agree. Maps that no
    /// drive has written may lead the check astray.
    pub(crate) fn is_sound(&self, config: &Config) -> bool {
        caught(|| self.agrees(config)).unwrap_or(false)
    }

    fn agrees(&self, config: &Config) -> bool {
        let shape = Shape::of(config);
        let mut tags = self.free_tags.clone();
        tags.sort_unstable();
        self.drive.is_of(config)
            && tags.into_iter().eq(0..config.queue_depth)
            && self.volatile.is_some() == self.drive.is_cuttable()
            && self.volatile.as_ref().is_none_or(|volatile| volatile.is_sound(&shape))
            && self.faults.is_sound(&shape)
            && self.accounting.marks().len() <= Accounting::MARKS_MAX
            && self.drive.check().is_ok()
    }
}

impl<T> Disk<T> {
    /// A disk that goes on from a state, with the data of that state.
    pub(crate) fn with(state: State, contents: Contents) -> Self {
        let State { drive, volatile, faults, accounting, free_tags } = state;
        Self { volatile, faults, accounting, free_tags, ..Self::around(drive, contents) }
    }

    /// Gives the disk a state other than that of its data. The account goes on, and no request may be outstanding.
    pub(crate) fn go_on_from(&mut self, state: State) {
        let State { drive, volatile, faults, free_tags, accounting: _ } = state;
        self.exchange(drive, volatile, faults);
        self.free_tags = free_tags;
    }

    /// The data, to be replaced together with the state.
    pub(crate) fn contents_mut(&mut self) -> &mut Contents {
        &mut self.contents
    }

    /// Forgets all data.
    pub(crate) fn empty_contents(&mut self) -> io::Result<()> {
        let Shape { capacity_bytes, page_bytes, .. } = *self.shape();
        self.contents.forget(0..capacity_bytes.div_ceil(page_bytes))
    }
}
