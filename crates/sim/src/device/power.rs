//! The drive and its supply: power states, and time without power.

mod loss;
mod off;
mod zones;

use super::Device;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// Records whether the drive has work from now on.
    #[inline(never)]
    pub(super) fn note_work(&mut self, has_work: bool) {
        if self.mechanisms.power.as_ref().is_none_or(|power| power.is_active() == has_work) {
            return;
        }
        self.look_at_temperature();
        if let Some(power) = &mut self.mechanisms.power {
            power.note(has_work, self.now_ns);
        }
        if has_work {
            self.keep_looking();
        }
    }

    /// Permits idle power states, which is the default, or keeps the drive awake. A sleeping drive
    /// wakes at once: only commands pay for waking.
    pub fn allow_idle_states(&mut self, allowed: bool) {
        self.look_at_temperature();
        if let Some(power) = &mut self.mechanisms.power {
            power.allow_idle_states(allowed, self.now_ns);
        }
    }
}
