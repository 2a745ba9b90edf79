//! The drive with caps on kinds of writes: acknowledgements that wait; see [`WriteCaps`].

use std::hint::cold_path;

use base::OpKind;

use super::Device;
use super::timers::Timer;
use crate::mechanism::cleaning_states::GcStates;
use crate::mechanism::write_caps::WriteCaps;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// The controller takes a command up: writes are told apart by the order in which it does.
    #[inline]
    pub(super) fn note_order(&mut self, tag: u32, kind: OpKind) {
        let page_bytes = self.geometry().page_bytes.into();
        if let Some(caps) = &mut self.mechanisms.write_caps
            && kind == OpKind::Write
        {
            self.commands[tag].is_random = caps.is_random(&self.commands[tag], page_bytes);
        }
    }

    /// All data of a write is in the buffer: acknowledges it, at once unless a cap holds it back.
    #[inline]
    pub(super) fn acknowledge(&mut self, tag: u32) {
        if self.is_held(tag) {
            return self.await_acknowledgement();
        }
        self.pass(tag);
    }

    /// Whether a cap holds the acknowledgement of a write back.
    #[inline]
    fn is_held(&mut self, tag: u32) -> bool {
        let Some(caps) = &mut self.mechanisms.write_caps else { return false };
        let state_ns =
            self.mechanisms.cleaning_states.as_ref().map_or(0, GcStates::random_command_ns);
        caps.hold(tag, &self.commands[tag], self.now_ns, state_ns)
    }

    /// A write ends, or as much of it as its kind demands is on its way to NAND.
    #[inline]
    fn pass(&mut self, tag: u32) {
        if self.commands[tag].fua {
            cold_path();
            self.flush(tag);
        } else {
            self.complete(tag);
        }
    }

    /// Looks at the clock when the next acknowledgement may go.
    fn await_acknowledgement(&mut self) {
        let next_ns = self.mechanisms.write_caps.as_ref().and_then(WriteCaps::next_ns);
        if let Some(next_ns) = next_ns {
            self.timers.set(Timer::Acknowledge, next_ns);
        }
    }

    /// The caps let acknowledgements go.
    pub(super) fn on_acknowledge_timer(&mut self) {
        let now_ns = self.now_ns;
        while let Some(tag) =
            self.mechanisms.write_caps.as_mut().and_then(|caps| caps.take_due(now_ns))
        {
            self.pass(tag);
        }
        self.await_acknowledgement();
        self.use_gap();
    }
}
