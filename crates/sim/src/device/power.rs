//! The drive and its supply: begin and end of rest, heat, and time without power.

mod loss;
mod off;

use super::Device;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// Records whether the drive has work from now on.
    #[inline(never)]
    pub(super) fn note_work(&mut self, has_work: bool) {
        if self.power.as_ref().is_none_or(|power| power.is_active() == has_work) {
            return;
        }
        self.look_at_temperature();
        if let Some(power) = &mut self.power {
            power.note(has_work, self.now_ns);
        }
        if has_work {
            self.keep_looking();
        }
    }

    /// Lets the drive rest when idle, which is the default, or keeps it awake. A resting drive
    /// wakes at once: only commands pay for waking.
    pub fn allow_rest(&mut self, allowed: bool) {
        self.look_at_temperature();
        if let Some(power) = &mut self.power {
            power.allow_rest(allowed, self.now_ns);
        }
    }
}
