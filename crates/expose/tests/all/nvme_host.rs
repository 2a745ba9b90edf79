//! A host of NVMe/TCP for tests, and the server that it connects to.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use expose::nvme::{Names, Subsystem};
use expose::server::Clients;
use expose::{Address, Service, SharedDisk};
use nvme::command::{Command, Completion, DataDescriptor, FABRICS, admin};
use nvme::fabrics::{ANY_CONTROLLER, Connect, ConnectData, PropertyAccess, kind, property};
use nvme::pdu::{ConnectionParameters, DataTransfer, Digests, Pdu, PduState, parse};
use nvme::status::CommandStatus;

use crate::client::serve_at;

/// Name of the host.
pub(crate) const HOST: &str = "nqn.2014-08.org.nvmexpress:uuid:test";
/// Longest wait for an answer: a stopped server fails the test instead of holding it up.
const PATIENCE: Duration = Duration::from_secs(60);
/// Most data that a unit carries.
const UNIT_BYTES_MAX: usize = 2 << 20;

/// Digests of both kinds, or none.
pub(crate) fn digests(both: bool) -> Digests {
    Digests { header: both, data: both }
}

/// Serves a disk at a path while `work` lasts, to so many connections at a time. Returns an account of them.
pub(crate) fn serve_nvme(
    shared: &Arc<SharedDisk>,
    hosts: &[&str],
    most: usize,
    work: impl FnOnce(&Place),
) -> Clients {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("nvme");
    let hosts = hosts.iter().map(|&host| host.to_owned()).collect();
    let names = Names::new("a-drive", "A Drive", "test");
    let subsystem = Arc::new(Subsystem::new(Arc::clone(shared), names, hosts, 16));
    let place = Place { path: path.clone(), nqn: subsystem.names.nqn.clone() };
    serve_at(&Address::Unix(path), Service::Nvme(subsystem), shared, most, || work(&place))
}

/// The place of a drive.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) nqn: String,
}

/// The outcome of a command.
pub(crate) type Outcome = Result<(u64, Vec<u8>), CommandStatus>;

/// A connection of a host.
pub(crate) struct Queue {
    stream: UnixStream,
    input: Vec<u8>,
    digests: Digests,
    next_id: u16,
    /// Data of commands that the controller has not yet asked for.
    outgoing: BTreeMap<u16, Vec<u8>>,
    incoming: BTreeMap<u16, Vec<u8>>,
    /// Most data of a unit to the controller.
    unit_bytes: usize,
    /// Head of the queue in the last completion.
    pub(crate) head: u16,
    /// Name of its host.
    host: &'static str,
}

impl Queue {
    /// A connection that both sides have agreed on.
    pub(crate) fn open(path: &Path, digests: Digests) -> Self {
        Self::try_open(path, digests).expect("a server with room")
    }

    /// The same, or `None` if the server has no room.
    pub(crate) fn try_open(path: &Path, digests: Digests) -> Option<Self> {
        let stream = UnixStream::connect(path).expect("a server");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let mut queue = Self {
            stream,
            input: Vec::new(),
            digests: Digests::default(),
            next_id: 0,
            outgoing: BTreeMap::new(),
            incoming: BTreeMap::new(),
            unit_bytes: 0,
            head: 0,
            host: HOST,
        };
        let parameters = ConnectionParameters { format: 0, alignment: 3, digests, limit: 0 };
        let mut bytes = Vec::new();
        Pdu::ConnectionRequest(parameters).encode(&mut bytes, Digests::default(), 0);
        let mut begin = [0; 8];
        // A server without room ends the connection at once.
        queue.send_bytes(&bytes).and_then(|()| queue.stream.read_exact(&mut begin)).ok()?;
        queue.input.extend(begin);
        let unit_bytes = queue.next(|pdu| match pdu {
            Pdu::ConnectionResponse(answer) => answer.limit as usize,
            other => panic!("{other:?} is no answer"),
        });
        (queue.digests, queue.unit_bytes) = (digests, unit_bytes);
        Some(queue)
    }

    pub(crate) fn send_unit(&mut self, pdu: &Pdu<'_>) {
        let mut bytes = Vec::new();
        pdu.encode(&mut bytes, self.digests, 0);
        self.send_bytes(&bytes).expect("the server listens");
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Whether the server ends the connection, whatever it says before.
    pub(crate) fn ends(&mut self) -> bool {
        let end = self.stream.read_to_end(&mut self.input);
        end.is_ok() || end.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionReset)
    }

    /// The next unit.
    pub(crate) fn next<R>(&mut self, use_of: impl FnOnce(&Pdu<'_>) -> R) -> R {
        let bytes = loop {
            match parse(&self.input, self.digests, UNIT_BYTES_MAX).expect("a unit") {
                PduState::Complete { bytes, .. } => break bytes,
                PduState::Incomplete(bytes) => {
                    let start = self.input.len();
                    self.input.resize(bytes, 0);
                    self.stream.read_exact(&mut self.input[start..]).expect("an answer");
                }
            }
        };
        let unit: Vec<u8> = self.input.drain(..bytes).collect();
        match parse(&unit, self.digests, UNIT_BYTES_MAX) {
            Ok(PduState::Complete { pdu, is_intact: true, .. }) => use_of(&pdu),
            other => panic!("{other:?}"),
        }
    }

    /// Sends a command. `in_capsule` says how its data goes.
    pub(crate) fn send(&mut self, command: Command, data: &[u8], in_capsule: bool) -> u16 {
        self.next_id = self.next_id.wrapping_add(1);
        let id = self.next_id;
        let bytes = if data.is_empty() { command.data.bytes } else { data.len() as u32 };
        let goes_along = in_capsule && !data.is_empty();
        let kind = if goes_along { DataDescriptor::IN_CAPSULE } else { DataDescriptor::TRANSPORT };
        let descriptor = DataDescriptor { offset: 0, bytes, kind };
        let command = Command { id, flags: Command::DESCRIPTOR, data: descriptor, ..command };
        if !goes_along && !data.is_empty() {
            self.outgoing.insert(id, data.to_vec());
        }
        self.send_unit(&Pdu::Command(command, if goes_along { data } else { &[] }));
        id
    }

    /// Goes on until a command ends. Returns its number and its outcome.
    pub(crate) fn end(&mut self) -> (u16, Outcome) {
        enum Step {
            Ready(u16, u32, u32),
            Data(u16, usize, Vec<u8>),
            End(Completion),
        }
        loop {
            let step = self.next(|pdu| match pdu {
                Pdu::Ready { command_id, tag, offset, bytes } => {
                    assert_eq!(command_id, tag, "as this server numbers transfers");
                    Step::Ready(*tag, *offset, *bytes)
                }
                Pdu::ControllerData(unit) => {
                    Step::Data(unit.command_id, unit.offset as usize, unit.data.to_vec())
                }
                Pdu::Completion(completion) => Step::End(*completion),
                other => panic!("{other:?}"),
            });
            match step {
                Step::Ready(tag, offset, bytes) => {
                    self.send_data(tag, offset as usize, bytes as usize);
                }
                Step::Data(id, offset, data) => {
                    let incoming = self.incoming.entry(id).or_default();
                    assert_eq!(incoming.len(), offset, "data comes in order");
                    incoming.extend(data);
                }
                Step::End(completion) => {
                    self.head = completion.queue_head;
                    let id = completion.command_id;
                    let data = self.incoming.remove(&id).unwrap_or_default();
                    let is_good = completion.status == CommandStatus::SUCCESS;
                    return (
                        id,
                        if is_good {
                            Ok((completion.result, data))
                        } else {
                            Err(completion.status)
                        },
                    );
                }
            }
        }
    }

    fn send_data(&mut self, tag: u16, offset: usize, bytes: usize) {
        let data = self.outgoing.remove(&tag).expect("data of a command");
        let parts: Vec<_> = data[offset..offset + bytes].chunks(self.unit_bytes).collect();
        let mut at = offset;
        for (index, part) in parts.iter().enumerate() {
            let is_last = index + 1 == parts.len();
            let unit =
                DataTransfer { command_id: tag, tag, offset: at as u32, is_last, data: part };
            self.send_unit(&Pdu::HostData(unit));
            at += part.len();
        }
    }

    /// Sends a command and waits for its end.
    pub(crate) fn execute(&mut self, command: Command, data: &[u8]) -> Outcome {
        let id = self.send(command, data, data.len() <= 8192);
        let (ended, outcome) = self.end();
        assert_eq!(ended, id, "only one command is outstanding");
        outcome
    }

    /// Makes the connection a queue of a controller. Returns the number of the controller.
    pub(crate) fn connect(
        &mut self,
        nqn: &str,
        queue_id: u16,
        controller_id: u16,
        keep_alive_ms: u32,
    ) -> Result<u16, CommandStatus> {
        let connect = Connect { format: 0, queue_id, entries: 31, attributes: 0, keep_alive_ms };
        let data = ConnectData {
            host_id: [7; 16],
            controller_id,
            subsystem: nqn.to_owned(),
            host: self.host.to_owned(),
        };
        let command = command(FABRICS, kind::CONNECT.into(), connect.dwords(), 0);
        Ok(self.execute(command, &data.encode())?.0 as u16)
    }
}

/// A command without number and data.
pub(crate) fn command(
    opcode: u8,
    namespace_id: u32,
    dwords: [u32; 6],
    answer_bytes: u32,
) -> Command {
    let data = DataDescriptor { offset: 0, bytes: answer_bytes, kind: 0 };
    Command { opcode, flags: 0, id: 0, namespace_id, data, dwords }
}

/// A command of blocks.
pub(crate) fn blocks(opcode: u8, start: u64, count: u32, flags: u32, answer_bytes: u32) -> Command {
    let dwords = [start as u32, (start >> 32) as u32, (count - 1) | flags, 0, 0, 0];
    command(opcode, 1, dwords, answer_bytes)
}

/// A host with an enabled controller.
pub(crate) struct Host {
    pub(crate) place: Place,
    digests: Digests,
    pub(crate) admin: Queue,
    pub(crate) controller_id: u16,
}

impl Host {
    pub(crate) fn connect(place: &Place, digests: Digests) -> Self {
        Self::connect_as(HOST, place, digests)
    }

    /// The host of this name.
    pub(crate) fn connect_as(host: &'static str, place: &Place, digests: Digests) -> Self {
        let mut admin = Queue::open(&place.path, digests);
        admin.host = host;
        let controller_id = admin.connect(&place.nqn, 0, ANY_CONTROLLER, 0).expect("a controller");
        let mut host = Self { place: place.clone(), digests, admin, controller_id };
        host.enable(true);
        host
    }

    /// Enables the controller, or disables it, which resets it.
    pub(crate) fn enable(&mut self, is_on: bool) {
        let value = if is_on { 0x0046_0001 } else { 0x0046_0000 };
        let enable = PropertyAccess { is_long: false, offset: property::CONFIGURATION, value };
        self.admin
            .execute(command(FABRICS, kind::PROPERTY_SET.into(), enable.dwords(), 0), &[])
            .expect("it can be enabled and disabled");
        let status = PropertyAccess { is_long: false, offset: property::STATUS, value: 0 };
        let get = command(FABRICS, kind::PROPERTY_GET.into(), status.dwords(), 0);
        assert_eq!(self.admin.execute(get, &[]), Ok((u64::from(is_on), Vec::new())));
    }

    pub(crate) fn queue(&self, queue_id: u16) -> Queue {
        let mut queue = Queue::open(&self.place.path, self.digests);
        queue.host = self.admin.host;
        queue.connect(&self.place.nqn, queue_id, self.controller_id, 0).expect("a queue");
        queue
    }

    pub(crate) fn identify(
        &mut self,
        structure: u8,
        namespace_id: u32,
    ) -> Result<Vec<u8>, CommandStatus> {
        let dwords = [structure.into(), 0, 0, 0, 0, 0];
        Ok(self.admin.execute(command(admin::IDENTIFY, namespace_id, dwords, 4096), &[])?.1)
    }

    pub(crate) fn log(&mut self, page: u8, bytes: u32) -> Result<Vec<u8>, CommandStatus> {
        let dwords = [u32::from(page) | (bytes / 4 - 1) << 16, 0, 0, 0, 0, 0];
        Ok(self.admin.execute(command(admin::GET_LOG_PAGE, u32::MAX, dwords, bytes), &[])?.1)
    }

    pub(crate) fn feature(&mut self, number: u8) -> Outcome {
        self.admin.execute(command(admin::GET_FEATURES, 0, [number.into(), 0, 0, 0, 0, 0], 0), &[])
    }

    pub(crate) fn set_feature(&mut self, number: u8, value: u32) -> Outcome {
        self.admin
            .execute(command(admin::SET_FEATURES, 0, [number.into(), value, 0, 0, 0, 0], 0), &[])
    }
}
