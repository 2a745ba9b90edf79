//! The events of placement: writes with an identifier that there is not.

use std::collections::VecDeque;

use nvme::fdp::InvalidPlacement;

/// Events that are kept.
const EVENTS_MAX: usize = 63;

/// The last events, for hosts that want to know of them.
#[derive(Debug, Default)]
pub struct PlacementEvents {
    /// Whether a host wants to.
    pub is_enabled: bool,
    events: VecDeque<InvalidPlacement>,
}

impl PlacementEvents {
    /// Adds an event if a host wants to know of it.
    pub fn add(&mut self, event: InvalidPlacement) {
        if self.is_enabled {
            self.events.truncate(EVENTS_MAX - 1);
            self.events.push_front(event);
        }
    }

    /// The events, the last one first.
    pub fn all(&mut self) -> &[InvalidPlacement] {
        self.events.make_contiguous()
    }
}
