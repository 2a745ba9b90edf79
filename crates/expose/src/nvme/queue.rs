//! A queue: one connection of a host, from its first unit on.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use nvme::command::{Command, DataDescriptor, FABRICS};
use nvme::fabrics::{self, CONNECT_BYTES, Connect, ConnectData};
use nvme::pdu::{
    ConnectionParameters, DataTransfer, Digests, Pdu, PduError, PduState, Termination,
    TerminationStatus, parse,
};
use nvme::status::CommandStatus;
use thiserror::Error;

use super::admin::AdminQueue;
use super::channel::{Channel, CommandReply, CommandResult};
use super::controller::Controller;
use super::subsystem::{CAPSULE_DATA_BYTES, QUEUE_ENTRIES, Subsystem, TRANSFER_BYTES_MAX};
use super::{fabrics as commands, io as nvm};
use crate::clock::Pace;
use crate::input_buffer::InputBuffer;
use crate::outbox::Outbox;
use crate::request::Request;
use crate::shared::Reply;
use crate::socket::Stream;

/// Time for a host to make a connection a queue.
const NEGOTIATION: Duration = Duration::from_secs(10);
/// Time between two looks at the clock of a silent connection.
const LOOK: Duration = Duration::from_millis(250);
/// Longest time for the host to take bytes that are sent to it.
const PATIENCE: Duration = Duration::from_secs(30);
/// Most data of a unit of the host.
const UNIT_DATA_BYTES: usize = 128 << 10;
/// Most data of writes that the host may send at a time.
const TRANSFERS_BYTES_MAX: usize = 16 << 20;
/// Most outstanding commands.
const OUTSTANDING_MAX: u32 = 2 * (QUEUE_ENTRIES as u32 + 1);
/// Most data of requests that are carried out together, in bytes.
const BATCH_BYTES: u64 = 8 << 20;

/// The end of a connection.
#[derive(Debug, Error)]
pub enum QueueError {
    /// The stream failed, or ended in the middle.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The bytes are not those of the protocol.
    #[error(transparent)]
    Pdu(#[from] PduError),
    /// The host breaks a rule of the protocol.
    #[error("{rule}")]
    Rule {
        /// For the host.
        status: TerminationStatus,
        /// For people.
        rule: &'static str,
    },
    /// The host ended the connection because of an error.
    #[error("the host ended the connection with the error {0}")]
    HostTermination(u16),
    /// The host has not made the connection a queue.
    #[error("the host has not connected within {} s", NEGOTIATION.as_secs())]
    HalfOpen,
    /// The host has gone.
    #[error("the host has sent no Keep Alive in its time")]
    KeepAlive,
}

const fn rule(status: TerminationStatus, rule: &'static str) -> QueueError {
    QueueError::Rule { status, rule }
}

/// Serves a connection until its end.
///
/// # Errors
/// [`QueueError`]: the host or its connection is broken.
pub fn serve(stream: &Stream, subsystem: &Arc<Subsystem>) -> Result<(), QueueError> {
    stream.set_patience(Some(PATIENCE))?;
    let outbox = Arc::new(Outbox::new(stream.try_clone()?));
    thread::scope(|scope| {
        let writer = thread::Builder::new().name("completions".to_owned());
        writer.spawn_scoped(scope, || outbox.write_backlog())?;
        let mut queue = Queue::new(stream, subsystem, Arc::clone(&outbox));
        let end = queue.run();
        queue.leave();
        if let Err(QueueError::Io(_) | QueueError::KeepAlive) = end {
            stream.end();
        }
        outbox.close();
        end
    })
}

/// Data of a command on its way.
#[derive(Debug)]
struct Transfer {
    command: Command,
    data: Vec<u8>,
    is_intact: bool,
}

struct Queue<'a> {
    stream: &'a Stream,
    subsystem: &'a Arc<Subsystem>,
    outbox: Arc<Outbox>,
    start: Instant,
    /// The way back, or `None` before the first unit.
    channel: Option<Arc<Channel>>,
    digests: Digests,
    /// The controller, or `None` before Connect.
    controller: Option<Arc<Controller>>,
    transfers: BTreeMap<u16, Transfer>,
    /// Bytes that the transfers will have.
    transfers_bytes: usize,
    /// Commands whose data has no room yet.
    waiting: VecDeque<Command>,
    requests: Vec<(Request, Reply)>,
    requests_bytes: u64,
}

impl<'a> Queue<'a> {
    fn new(stream: &'a Stream, subsystem: &'a Arc<Subsystem>, outbox: Arc<Outbox>) -> Self {
        Self {
            stream,
            subsystem,
            outbox,
            start: Instant::now(),
            channel: None,
            digests: Digests::default(),
            controller: None,
            transfers: BTreeMap::new(),
            transfers_bytes: 0,
            waiting: VecDeque::new(),
            requests: Vec::new(),
            requests_bytes: 0,
        }
    }

    /// Leaves its controller; the association ends with the admin queue.
    fn leave(&self) {
        let (Some(controller), Some(channel)) = (&self.controller, &self.channel) else { return };
        controller.remove_queue(channel.queue_id());
        if channel.queue_id() == 0 {
            self.subsystem.dismiss(controller.id);
        }
    }

    fn run(&mut self) -> Result<(), QueueError> {
        let mut buffer = InputBuffer::default();
        let mut unit_bytes = nvme::pdu::COMMON_BYTES;
        loop {
            while !self.stream.is_readable(LOOK)? {
                self.look_at_the_clock()?;
            }
            self.look_at_the_clock()?;
            if !buffer.fill(&mut &*self.stream, unit_bytes)? {
                return Ok(());
            }
            let taken = self.take_units(&mut buffer);
            self.carry_out();
            unit_bytes = match taken {
                Ok(Some(bytes)) => bytes,
                Ok(None) => return Ok(()),
                Err(error) => {
                    self.terminate(&error, buffer.rest());
                    return Err(error);
                }
            };
        }
    }

    fn look_at_the_clock(&self) -> Result<(), QueueError> {
        let Some(controller) = &self.controller else {
            let is_late = self.start.elapsed() > NEGOTIATION;
            return if is_late { Err(QueueError::HalfOpen) } else { Ok(()) };
        };
        if let Some(queue) = self.admin_queue() {
            queue.look_for_warnings();
            if controller.is_expired() {
                return Err(QueueError::KeepAlive);
            }
        }
        Ok(())
    }

    /// The surroundings of admin commands, or `None` on an I/O queue.
    fn admin_queue(&self) -> Option<AdminQueue<'_>> {
        let (Some(controller), Some(channel)) = (&self.controller, &self.channel) else {
            return None;
        };
        // Every command of an I/O queue comes by here: the address costs a system call.
        (channel.queue_id() == 0).then(|| {
            let (subsystem, address) = (self.subsystem, self.stream.local_address());
            AdminQueue { subsystem, controller, channel, address }
        })
    }

    /// Tells the host why the connection ends, if it is its fault.
    fn terminate(&self, error: &QueueError, rest: &[u8]) {
        let (status, detail) = match error {
            QueueError::Pdu(error) => error.termination(),
            QueueError::Rule { status, .. } => (*status, 0),
            _ => return,
        };
        let mut unit = Vec::new();
        let header = &rest[..rest.len().min(24)];
        Pdu::ControllerTermination(Termination { status, detail, header }).encode(
            &mut unit,
            Digests::default(),
            0,
        );
        self.outbox.send(&unit, 0);
    }

    /// Takes the units that are there. Returns the bytes that the next one needs, or `None` at the end.
    fn take_units(&mut self, buffer: &mut InputBuffer) -> Result<Option<usize>, QueueError> {
        loop {
            let (bytes, is_last) = match parse(buffer.rest(), self.digests, UNIT_DATA_BYTES)? {
                PduState::Incomplete(bytes) => return Ok(Some(bytes)),
                PduState::Complete { bytes, pdu, is_intact } => {
                    (bytes, self.take(&pdu, is_intact)?)
                }
            };
            buffer.consume(bytes);
            if is_last {
                return Ok(None);
            }
        }
    }

    /// Takes a unit; true for the last one.
    fn take(&mut self, pdu: &Pdu<'_>, is_intact: bool) -> Result<bool, QueueError> {
        match (pdu, &self.channel) {
            (Pdu::ConnectionRequest(parameters), None) => self.open(parameters)?,
            (Pdu::HostTermination(termination), _) => {
                return Err(QueueError::HostTermination(termination.status.0));
            }
            (Pdu::Command(command, data), Some(channel)) => {
                let channel = Arc::clone(channel);
                return self.take_command(&channel, command, data, is_intact);
            }
            (Pdu::HostData(transfer), Some(channel)) => {
                let channel = Arc::clone(channel);
                return self.take_data(&channel, transfer, is_intact);
            }
            _ => return Err(rule(TerminationStatus::SEQUENCE, "a unit came at the wrong time")),
        }
        Ok(false)
    }

    fn open(&mut self, parameters: &ConnectionParameters) -> Result<(), QueueError> {
        const ALIGNMENT_MAX: u8 = 31;
        if parameters.format != 0 || parameters.alignment > ALIGNMENT_MAX {
            return Err(rule(
                TerminationStatus::UNSUPPORTED,
                "the host asks for an unknown format of units",
            ));
        }
        let limit = UNIT_DATA_BYTES as u32;
        let answer =
            ConnectionParameters { format: 0, alignment: 0, digests: parameters.digests, limit };
        let mut unit = Vec::new();
        Pdu::ConnectionResponse(answer).encode(&mut unit, Digests::default(), 0);
        self.outbox.send(&unit, 0);
        self.digests = parameters.digests;
        let (outbox, errors) = (Arc::clone(&self.outbox), Arc::clone(&self.subsystem.errors));
        self.channel =
            Some(Arc::new(Channel::new(outbox, self.digests, parameters.alignment, errors)));
        Ok(())
    }

    fn take_command(
        &mut self,
        channel: &Arc<Channel>,
        command: &Command,
        data: &[u8],
        is_intact: bool,
    ) -> Result<bool, QueueError> {
        if channel.take() > OUTSTANDING_MAX {
            return Err(rule(
                TerminationStatus::LIMIT,
                "the host has more commands outstanding than permitted",
            ));
        }
        let checked =
            if is_intact { self.check(command, data) } else { Err(CommandStatus::TRANSPORT) };
        match checked {
            Err(status) => channel.complete(command, 0, Err(status)),
            Ok(true) => {
                self.waiting.push_back(*command);
                self.invite(channel)?;
            }
            Ok(false) => return self.execute(channel, command, data.to_vec()),
        }
        Ok(false)
    }

    /// Checks a command before its data comes; whether data comes in further units.
    fn check(&self, command: &Command, data: &[u8]) -> Result<bool, CommandStatus> {
        if command.flags & 0b11 != 0 || command.flags >> 6 != 1 {
            return Err(CommandStatus::INVALID_FIELD);
        }
        let is_in_capsule = command.data.kind == DataDescriptor::IN_CAPSULE;
        if is_in_capsule {
            if command.data.offset != 0 {
                return Err(CommandStatus::SGL_OFFSET);
            }
            if command.data.bytes as usize != data.len() || data.len() > CAPSULE_DATA_BYTES {
                return Err(CommandStatus::DATA_LENGTH);
            }
        } else if command.data.kind != DataDescriptor::TRANSPORT {
            return Err(CommandStatus::SGL_TYPE);
        } else if !data.is_empty() {
            return Err(CommandStatus::DATA_LENGTH);
        }
        if !command.takes_data() {
            return Ok(false);
        }
        let is_admin = self.channel.as_ref().is_none_or(|channel| channel.queue_id() == 0);
        if !is_admin && command.opcode != FABRICS {
            nvm::check_data(command, self.subsystem)?;
        } else if u64::from(command.data.bytes) > CAPSULE_DATA_BYTES as u64 {
            return Err(CommandStatus::DATA_LENGTH);
        }
        Ok(!is_in_capsule && command.data.bytes > 0)
    }

    /// Lets the host send the data of commands for which there is room.
    fn invite(&mut self, channel: &Channel) -> Result<(), QueueError> {
        while let Some(command) = self.waiting.front() {
            let bytes = command.data.bytes;
            if self.transfers_bytes + bytes as usize > TRANSFERS_BYTES_MAX {
                break;
            }
            let command = *command;
            self.waiting.pop_front();
            let data = Vec::with_capacity(bytes as usize);
            let transfer = Transfer { command, data, is_intact: true };
            if self.transfers.insert(command.id, transfer).is_some() {
                return Err(rule(
                    TerminationStatus::FIELD,
                    "two commands with data have one number",
                ));
            }
            self.transfers_bytes += bytes as usize;
            channel.send(&Pdu::Ready { command_id: command.id, tag: command.id, offset: 0, bytes });
        }
        Ok(())
    }

    fn take_data(
        &mut self,
        channel: &Arc<Channel>,
        unit: &DataTransfer<'_>,
        is_intact: bool,
    ) -> Result<bool, QueueError> {
        let Some(transfer) =
            self.transfers.get_mut(&unit.tag).filter(|_| unit.tag == unit.command_id)
        else {
            return Err(rule(TerminationStatus::FIELD, "data came for no command"));
        };
        let whole_bytes = transfer.command.data.bytes as usize;
        let received_bytes = transfer.data.len() + unit.data.len();
        if unit.offset as usize != transfer.data.len()
            || received_bytes > whole_bytes
            || unit.data.is_empty()
        {
            return Err(rule(TerminationStatus::RANGE, "data lies outside its transfer"));
        }
        if unit.is_last != (received_bytes == whole_bytes) {
            return Err(rule(
                TerminationStatus::FIELD,
                "the last unit of a transfer is not its end",
            ));
        }
        transfer.data.extend(unit.data);
        transfer.is_intact &= is_intact;
        if !unit.is_last {
            return Ok(false);
        }
        let Some(Transfer { command, data, is_intact }) = self.transfers.remove(&unit.tag) else {
            return Ok(false);
        };
        self.transfers_bytes -= whole_bytes;
        self.invite(channel)?;
        if is_intact {
            return self.execute(channel, &command, data);
        }
        channel.complete(&command, 0, Err(CommandStatus::TRANSPORT));
        Ok(false)
    }

    /// Executes a command with its data; true if it is the last one.
    fn execute(
        &mut self,
        channel: &Arc<Channel>,
        command: &Command,
        data: Vec<u8>,
    ) -> Result<bool, QueueError> {
        let is_fabrics = command.opcode == FABRICS;
        let kind = command.namespace_id as u8;
        let Some(controller) = &self.controller else {
            let result = match (is_fabrics, kind) {
                (true, fabrics::kind::CONNECT) => self.connect(channel, command, &data),
                _ => Err(CommandStatus::SEQUENCE),
            };
            channel.complete(command, 0, result);
            return Ok(false);
        };
        if is_fabrics {
            let is_admin = channel.queue_id() == 0;
            let result = match kind {
                fabrics::kind::PROPERTY_GET if is_admin => {
                    commands::get_property(controller, command)
                }
                fabrics::kind::PROPERTY_SET if is_admin => {
                    commands::set_property(self.subsystem, controller, command)
                }
                fabrics::kind::DISCONNECT if !is_admin => Ok(CommandReply::default()),
                fabrics::kind::CONNECT => Err(CommandStatus::SEQUENCE),
                _ => Err(CommandStatus::INVALID_FIELD),
            };
            channel.complete(command, 0, result);
            return Ok(kind == fabrics::kind::DISCONNECT && !is_admin);
        }
        if !commands::is_enabled(controller) {
            channel.complete(command, 0, Err(CommandStatus::SEQUENCE));
            return Ok(false);
        }
        if let Some(queue) = self.admin_queue() {
            if let Some(result) = queue.carry_out(command, &data) {
                channel.complete(command, 0, result);
            }
            return Ok(false);
        }
        let requests = nvm::take(self.subsystem, controller, channel, command, data)?;
        self.requests_bytes +=
            requests.iter().map(|(request, _)| request.bytes.min(TRANSFER_BYTES_MAX)).sum::<u64>();
        self.requests.extend(requests);
        if self.requests_bytes >= BATCH_BYTES {
            self.carry_out();
        }
        Ok(false)
    }

    /// Carries requests out, on the fast clock those that came together also together.
    fn carry_out(&mut self) {
        let requests = std::mem::take(&mut self.requests);
        self.requests_bytes = 0;
        let (Some(channel), false) = (&self.channel, requests.is_empty()) else { return };
        let shared = &self.subsystem.shared;
        match shared.pace() {
            Pace::Fast => channel.together(|| shared.send_all(requests)),
            Pace::Real { .. } => shared.send_all(requests),
        }
    }

    /// Makes the connection a queue of a controller.
    fn connect(&mut self, channel: &Arc<Channel>, command: &Command, data: &[u8]) -> CommandResult {
        let connect = Connect::of(command);
        if connect.format != 0 {
            return Err(CommandStatus::CONNECT_FORMAT);
        }
        if data.len() != CONNECT_BYTES {
            return Err(CommandStatus::DATA_LENGTH);
        }
        if connect.entries == 0
            || connect.entries > QUEUE_ENTRIES
            || connect.queue_id > self.subsystem.io_queues_max
        {
            return Err(CommandStatus::CONNECT_PARAMETERS);
        }
        let data = ConnectData::decode(data);
        let stream = self.stream.try_clone().map_err(|_| CommandStatus::CONTROLLER_BUSY)?;
        let controller = match connect.queue_id {
            0 => self.subsystem.admit(data, connect.keep_alive_ms)?,
            _ => {
                let controller = self.subsystem.controller_of(&data)?;
                if controller.is_discovery || !commands::is_enabled(&controller) {
                    return Err(CommandStatus::SEQUENCE);
                }
                controller
            }
        };
        if !controller.add_queue(connect.queue_id, stream) {
            return Err(CommandStatus::CONNECT_PARAMETERS);
        }
        let result = u64::from(controller.id);
        channel.become_queue(connect);
        self.controller = Some(controller);
        Ok(result.into())
    }
}
