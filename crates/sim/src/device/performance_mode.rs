//! The drive with fast writes and their reorganisation; see [`FastWrites`].

use super::Device;
use super::timers::Timer;
use crate::ftl::StreamId;
use crate::mechanism::performance_mode::{FastWrites, WriteMode, oldest_fast};
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// The host stream has opened a superblock, which may be written fast.
    pub(super) fn host_opened(&mut self) {
        let (Some(mode), Some(fast)) =
            (&mut self.mechanisms.performance_mode, self.nand.fast_mut())
        else {
            return;
        };
        match mode.opened(&self.ftl, fast) {
            WriteMode::Fast => fast.insert(self.ftl.stream(StreamId::Host).superblock),
            WriteMode::Normal => {}
            WriteMode::Reorganise => {
                if !self.timers.is_set(Timer::Reorganise) {
                    mode.begin(self.now_ns);
                    self.timers.set(Timer::Reorganise, self.now_ns);
                }
            }
        }
    }

    /// Handles the timer of the reorganisation: the next unit may move.
    pub(super) fn on_reorganise_timer(&mut self) {
        let unit_pages = self.geometry().unit_pages;
        let (Some(mode), Some(fast)) = (&mut self.mechanisms.performance_mode, self.nand.fast())
        else {
            return;
        };
        let is_fast_in_hand =
            self.collector.victim_in_hand().is_some_and(|victim| fast.contains(victim));
        if is_fast_in_hand || oldest_fast(&self.ftl, fast).is_some() {
            mode.count_due(self.now_ns, unit_pages);
            let interval_ns = mode.unit_interval_ns();
            self.move_unit_by_the_clock(Timer::Reorganise, interval_ns);
        } else {
            mode.settle(&self.ftl, fast);
            if self.buffer.is_awaited() {
                self.pump();
            }
        }
    }

    /// Whether the clock asks for fast data to move, and room is not what the drive needs first.
    #[inline]
    pub(super) fn wants_reorganisation(&mut self) -> bool {
        self.mechanisms.performance_mode.as_ref().is_some_and(FastWrites::is_asked)
            && self.has_room_to_tidy()
    }

    /// The superblock to reorganise next, or `None` if none should or may move.
    pub(super) fn victim_to_reorganise(&mut self) -> Option<u32> {
        if !self.wants_reorganisation() {
            return None;
        }
        let oldest = oldest_fast(&self.ftl, self.nand.fast()?);
        if let (None, Some(mode)) = (oldest, &mut self.mechanisms.performance_mode) {
            mode.forgive();
        }
        oldest
    }
}
