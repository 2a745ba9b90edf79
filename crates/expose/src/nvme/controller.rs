//! The controller of a host: its state, its queues, its events.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use nvme::command::Command;
use nvme::log::page;
use nvme::status::CommandStatus;

use super::channel::Channel;
use crate::shared::locked;
use crate::socket::Stream;

/// Most outstanding Asynchronous Event Requests.
pub const EVENT_REQUESTS_MAX: usize = 4;
/// Most events that wait for a request.
const EVENTS_MAX: usize = 16;
/// Time beyond that of the host after which it is given up: a busy machine is no dead one.
const KEEP_ALIVE_GRACE: Duration = Duration::from_secs(1);

/// An event, as the result of an Asynchronous Event Request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Type in bits 2:0 and information in bits 15:8.
    what: u32,
    /// The log page that tells more, and that permits the next event of the type.
    page: u8,
    /// Its bit in the feature Asynchronous Event Configuration.
    pub(super) mask: u32,
    /// The namespace that the completion names; 0 for none.
    namespace_id: u32,
}

impl Event {
    /// Critical warning: the temperature is above the threshold.
    pub const HOT: Self =
        Self { what: 1 | 1 << 8, page: page::SMART, mask: 1 << 1, namespace_id: 0 };
    /// Critical warning: the drive takes no changes.
    pub const READ_ONLY: Self = Self { what: 1, page: page::SMART, mask: 1 << 3, namespace_id: 0 };
    /// The attributes of a namespace have changed.
    pub const NAMESPACE_CHANGED: Self =
        Self { what: 2, page: page::CHANGED_NAMESPACES, mask: 1 << 8, namespace_id: 0 };

    /// A zone of a namespace has changed without an order of a host.
    pub const fn zone_changed(namespace_id: u32) -> Self {
        Self { what: 2 | 0xef << 8, page: page::CHANGED_ZONES, mask: 1 << 27, namespace_id }
    }

    const fn kind(self) -> u32 {
        self.what & 0b111
    }
}

/// The part of a controller that changes.
#[derive(Debug)]
pub struct ControllerState {
    /// Property CC.
    pub configuration: u32,
    /// Property CSTS.
    pub status: u32,
    /// Time without Keep Alive after which the association ends; 0 for never.
    pub keep_alive_ms: u32,
    /// Time of the last Keep Alive.
    pub heard: Instant,
    /// Values of features, by their numbers.
    pub features: BTreeMap<u8, u32>,
    /// Events that the host wants to hear of, by their bits.
    pub events_wanted: u32,
    /// Critical warnings at the last look.
    pub warnings: u8,
    /// Namespaces that have changed since the host has read their list.
    pub namespaces_changed: BTreeSet<u32>,
    /// Zones that have changed since the host has read their list.
    pub zones_changed: BTreeSet<u32>,
    requests: Vec<(Arc<Channel>, Command)>,
    events: VecDeque<Event>,
    /// Types of events that wait until the host has read their log page.
    masked: Vec<Event>,
    streams: BTreeMap<u16, Stream>,
    is_over: bool,
}

/// A controller.
#[derive(Debug)]
pub struct Controller {
    /// Its number in the subsystem.
    pub id: u16,
    /// Name of the host.
    pub host: String,
    /// Number that the host has for itself.
    pub host_id: [u8; 16],
    /// Whether it only tells of other subsystems.
    pub is_discovery: bool,
    state: Mutex<ControllerState>,
}

impl Controller {
    /// A controller without queues.
    pub fn new(
        id: u16,
        host: String,
        host_id: [u8; 16],
        is_discovery: bool,
        keep_alive_ms: u32,
    ) -> Self {
        let state = ControllerState {
            configuration: 0,
            status: 0,
            keep_alive_ms,
            heard: Instant::now(),
            features: BTreeMap::new(),
            events_wanted: 0,
            warnings: 0,
            namespaces_changed: BTreeSet::new(),
            zones_changed: BTreeSet::new(),
            requests: Vec::new(),
            events: VecDeque::new(),
            masked: Vec::new(),
            streams: BTreeMap::new(),
            is_over: false,
        };
        Self { id, host, host_id, is_discovery, state: Mutex::new(state) }
    }

    /// The part that changes.
    pub fn state(&self) -> MutexGuard<'_, ControllerState> {
        locked(&self.state)
    }

    /// Gives it a queue; false if it has one of this number, or has ended.
    pub fn add_queue(&self, queue_id: u16, stream: Stream) -> bool {
        let mut state = self.state();
        let is_free = !state.is_over && !state.streams.contains_key(&queue_id);
        if is_free {
            state.streams.insert(queue_id, stream);
        }
        is_free
    }

    /// Takes a queue away. Without the admin queue the association ends.
    pub fn remove_queue(&self, queue_id: u16) {
        let mut state = self.state();
        state.streams.remove(&queue_id);
        if queue_id == 0 {
            state.is_over = true;
            state.requests.clear();
            state.streams.values().for_each(Stream::end);
        }
    }

    /// Whether the host has been silent for too long.
    pub fn is_expired(&self) -> bool {
        let state = self.state();
        let limit = Duration::from_millis(state.keep_alive_ms.into()) + KEEP_ALIVE_GRACE;
        state.keep_alive_ms > 0 && state.heard.elapsed() > limit
    }

    /// Holds an Asynchronous Event Request until there is an event.
    ///
    /// # Errors
    /// [`CommandStatus::EVENT_REQUESTS`] if there are too many.
    pub fn hold(&self, channel: &Arc<Channel>, command: &Command) -> Result<(), CommandStatus> {
        let mut state = self.state();
        if state.requests.len() >= EVENT_REQUESTS_MAX {
            return Err(CommandStatus::EVENT_REQUESTS);
        }
        state.requests.push((Arc::clone(channel), *command));
        state.answer();
        Ok(())
    }

    /// Takes an Asynchronous Event Request back; false if there is none of this number.
    pub fn abort(&self, command_id: u16) -> bool {
        let mut state = self.state();
        let Some(index) = state.requests.iter().position(|(_, command)| command.id == command_id)
        else {
            return false;
        };
        let (channel, command) = state.requests.remove(index);
        channel.complete(&command, 0, Err(CommandStatus::ABORTED));
        true
    }

    /// Tells the host of an event, if it wants to hear of it.
    pub fn tell(&self, event: Event) {
        let mut state = self.state();
        if state.events_wanted & event.mask == 0 {
            return;
        }
        if state.events.len() < EVENTS_MAX && !state.events.contains(&event) {
            state.events.push_back(event);
        }
        state.answer();
    }

    /// Permits further events of the type that a log page tells of.
    pub fn page_read(&self, page: u8) {
        let mut state = self.state();
        if page == page::CHANGED_ZONES {
            state.zones_changed.clear();
        }
        state.masked.retain(|event| event.page != page);
        state.answer();
    }
}

impl ControllerState {
    /// Answers requests with events of types that are not masked.
    fn answer(&mut self) {
        while !self.requests.is_empty() {
            let masked = &self.masked;
            let is_free = |event: &Event| masked.iter().all(|other| other.kind() != event.kind());
            let Some(index) = self.events.iter().position(is_free) else { return };
            let Some(event) = self.events.remove(index) else { return };
            let (channel, command) = self.requests.remove(0);
            self.masked.push(event);
            let result = u64::from(event.what | u32::from(event.page) << 16)
                | u64::from(event.namespace_id) << 32;
            channel.complete(&command, 0, Ok(result.into()));
        }
    }
}
