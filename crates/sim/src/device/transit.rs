//! The way between program and drive, where it takes time.

use super::Device;
use crate::events::NEVER;
use crate::host::Command;
use crate::host::transit::{News, Transit};
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// Time at which a command comes to the drive or to its program.
    #[inline]
    pub(super) fn next_transit_ns(&self) -> u64 {
        self.transit.as_ref().map_or(NEVER, Transit::next_event_ns)
    }

    #[inline(never)]
    pub(super) fn on_transit(&mut self) {
        let now_ns = self.now_ns;
        match self.transit.as_mut().and_then(|transit| transit.pop(now_ns)) {
            Some(News::Arrived(tag)) => {
                let Command { kind, bytes, .. } = self.commands[tag];
                self.take_up(tag, kind, bytes);
            }
            Some(News::Delivered(tag)) => self.commands.end(tag, now_ns),
            None => {}
        }
    }
}
