//! The events of placement, for hosts that want to know of them.

use std::collections::VecDeque;

use nvme::fdp::{PlacementEvent, event};

/// Events that are kept.
const EVENTS_MAX: usize = 63;

/// Kinds of events, each with whether a host wants to know of it.
type Switches = [(u8, bool); 2];

/// The last events.
#[derive(Debug)]
pub struct PlacementEvents {
    switches: Switches,
    events: VecDeque<PlacementEvent>,
}

impl Default for PlacementEvents {
    fn default() -> Self {
        let switches = [(event::UNIT_NOT_FULL, false), (event::INVALID_PLACEMENT, false)];
        Self { switches, events: VecDeque::new() }
    }
}

impl PlacementEvents {
    /// The kinds that there are.
    pub fn switches(&self) -> &Switches {
        &self.switches
    }

    /// Switches events of these kinds; false, and nothing changes, if there is no such kind.
    pub fn switch(&mut self, kinds: &[u8], is_on: bool) -> bool {
        let has = |kind: &u8| self.switches.iter().any(|(known, _)| known == kind);
        let are_known = kinds.iter().all(has);
        if are_known {
            let wanted = self.switches.iter_mut().filter(|(kind, _)| kinds.contains(kind));
            wanted.for_each(|(_, switch)| *switch = is_on);
        }
        are_known
    }

    /// Adds an event if a host wants to know of it.
    pub fn add(&mut self, event: PlacementEvent) {
        if self.switches.contains(&(event.kind, true)) {
            self.events.truncate(EVENTS_MAX - 1);
            self.events.push_front(event);
        }
    }

    /// The events, the last one first.
    pub fn all(&mut self) -> &[PlacementEvent] {
        self.events.make_contiguous()
    }
}
