//! The way of completions to a host: one for each queue.

use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use nvme::command::{Command, Completion};
use nvme::fabrics::Connect;
use nvme::log::ErrorEntry;
use nvme::pdu::{DataTransfer, Digests, Pdu};
use nvme::status::CommandStatus;

use super::errors::ErrorLog;
use crate::outbox::Outbox;
use crate::shared::locked;

/// The head in completions of a queue without flow control.
const NO_HEAD: u16 = 0xffff;

/// The outcome of a successful command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandReply {
    /// Result in the completion.
    pub result: u64,
    /// Data for the host.
    pub data: Vec<u8>,
}

/// The outcome of a command.
pub type CommandResult = Result<CommandReply, CommandStatus>;

/// The end of a command that ends later.
pub type End = Box<dyn FnOnce(CommandResult) + Send>;

impl From<Vec<u8>> for CommandReply {
    fn from(data: Vec<u8>) -> Self {
        Self { result: 0, data }
    }
}

impl From<u64> for CommandReply {
    fn from(result: u64) -> Self {
        Self { result, data: Vec::new() }
    }
}

/// Units that go out together, and the bytes that were reserved for them.
#[derive(Debug, Default)]
struct Cork {
    units: Vec<u8>,
    reserved_bytes: u64,
}

/// The way of completions.
#[derive(Debug)]
pub struct Channel {
    outbox: Arc<Outbox>,
    digests: Digests,
    /// Alignment of data that the host wants.
    alignment: u8,
    queue: OnceLock<Connect>,
    head: AtomicU16,
    outstanding: AtomicU32,
    cork: Mutex<Option<Cork>>,
    errors: Arc<Mutex<ErrorLog>>,
}

impl Channel {
    /// A channel of a connection that is not yet a queue.
    pub fn new(
        outbox: Arc<Outbox>,
        digests: Digests,
        alignment: u8,
        errors: Arc<Mutex<ErrorLog>>,
    ) -> Self {
        let (queue, head, outstanding, cork) = Default::default();
        Self { outbox, digests, alignment, queue, head, outstanding, cork, errors }
    }

    /// Makes it that of a queue, once.
    pub fn become_queue(&self, connect: Connect) {
        if self.queue.set(connect).is_ok() && connect.attributes & Connect::NO_FLOW_CONTROL != 0 {
            self.head.store(NO_HEAD, Ordering::Relaxed);
        }
    }

    /// Number of the queue; 0 before it is one.
    pub fn queue_id(&self) -> u16 {
        self.queue.get().map_or(0, |queue| queue.queue_id)
    }

    /// Counts a command that has been taken. Returns the number of outstanding ones.
    pub fn take(&self) -> u32 {
        let head = self.head.load(Ordering::Relaxed);
        if head != NO_HEAD {
            let entries =
                self.queue.get().map_or(u32::from(NO_HEAD), |queue| u32::from(queue.entries) + 1);
            self.head.store(((u32::from(head) + 1) % entries) as u16, Ordering::Relaxed);
        }
        self.outstanding.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Waits until there is room for the reply to a command.
    ///
    /// # Errors
    /// [`std::io::ErrorKind::BrokenPipe`] if the connection has ended.
    pub fn reserve(&self, bytes: u64) -> std::io::Result<()> {
        self.outbox.reserve(bytes)
    }

    /// Ends a command, for whose reply so many bytes were reserved.
    pub fn complete(&self, command: &Command, reserved_bytes: u64, result: CommandResult) {
        self.outstanding.fetch_sub(1, Ordering::Relaxed);
        if let Err(status) = result {
            self.note(command, status);
        }
        let (status, CommandReply { result, data }) = match result {
            Ok(reply) => (CommandStatus::SUCCESS, reply),
            Err(status) => (status, CommandReply::default()),
        };
        let completion = Completion {
            result,
            queue_head: self.head.load(Ordering::Relaxed),
            queue_id: self.queue_id(),
            command_id: command.id,
            status,
        };
        // A shorter buffer of the host takes the begin.
        let data = &data[..data.len().min(command.data.bytes as usize)];
        self.send_units(reserved_bytes, |units| {
            if !data.is_empty() {
                let (command_id, tag, offset, is_last) = (command.id, 0, 0, true);
                let transfer = DataTransfer { command_id, tag, offset, is_last, data };
                Pdu::ControllerData(transfer).encode(units, self.digests, self.alignment);
            }
            Pdu::Completion(completion).encode(units, self.digests, self.alignment);
        });
    }

    fn note(&self, command: &Command, status: CommandStatus) {
        // Nobody looks for an error in commands that the host has taken back.
        if status == CommandStatus::ABORTED {
            return;
        }
        let queue_id = self.queue_id();
        let entry = ErrorEntry {
            number: 0,
            queue_id,
            command_id: command.id,
            status,
            block: if queue_id > 0 { command.u64_in(0) } else { 0 },
            namespace_id: command.namespace_id,
        };
        locked(&self.errors).add(entry);
    }

    /// Sends a unit that answers no command.
    pub fn send(&self, pdu: &Pdu<'_>) {
        self.send_units(0, |units| pdu.encode(units, self.digests, self.alignment));
    }

    /// Sends what `encode` appends, or puts it to the units that go out together.
    fn send_units(&self, reserved_bytes: u64, encode: impl FnOnce(&mut Vec<u8>)) {
        match &mut *locked(&self.cork) {
            Some(cork) => {
                encode(&mut cork.units);
                cork.reserved_bytes += reserved_bytes;
            }
            None => {
                let mut units = Vec::new();
                encode(&mut units);
                self.outbox.send(&units, reserved_bytes);
            }
        }
    }

    /// Lets units go out together, during `work`.
    pub fn together<R>(&self, work: impl FnOnce() -> R) -> R {
        *locked(&self.cork) = Some(Cork::default());
        let result = work();
        if let Some(cork) = locked(&self.cork).take() {
            self.outbox.send(&cork.units, cork.reserved_bytes);
        }
        result
    }
}
