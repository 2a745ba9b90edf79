//! The bytes of a host of NVMe/TCP on one connection, from its first unit on.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, OnceLock};

use expose::nvme::{Names, Subsystem, queue};
use expose::plan::Shape;
use expose::socket::Stream;
use expose::{Contents, Disk, Pace, SharedDisk};
use nvme::command::{ALL_NAMESPACES, Command, CopySource, DataDescriptor, FABRICS, admin, nvm};
use nvme::fabrics::{ANY_CONTROLLER, Connect, ConnectData, PropertyAccess, kind, property};
use nvme::fdp;
use nvme::identify::{self, IdentifyController, IdentifyNamespace, structure};
use nvme::log::page;
use nvme::pdu::{ConnectionParameters, Digests, Pdu};
use nvme::zns::opcode;

/// Most bytes of a host: more would wait in the socket for a reader.
const BYTES_MAX: usize = 64 << 10;

/// The first byte of an input: it begins without a controller, with digests, on the drive with zones, on an I/O queue, on
/// the drive that hosts may divide.
mod begin {
    pub(super) const BARE: u8 = 1;
    pub(super) const DIGESTS: u8 = 1 << 1;
    pub(super) const ZONES: u8 = 1 << 2;
    pub(super) const IO_QUEUE: u8 = 1 << 3;
    pub(super) const PLAIN: u8 = 1 << 4;
}

/// A drive of 120 MB with placement handles or without them, or one with 900 zones of a megabyte, which all inputs use one
/// after the other; and a controller whose I/O queue they may be.
fn drive(first: u8) -> &'static (Arc<Subsystem>, u16) {
    static DRIVES: [OnceLock<(Arc<Subsystem>, u16)>; 3] = [const { OnceLock::new() }; 3];
    let has_zones = first & begin::ZONES != 0;
    let has_handles = !has_zones && first & begin::PLAIN == 0;
    DRIVES[usize::from(has_zones) + 2 * usize::from(has_handles)].get_or_init(|| {
        let (name, divisor) = if has_zones {
            ("wd-ultrastar-dc-zn540-1000gb", 979)
        } else {
            ("corsair-neutron-240gb", 2000)
        };
        let handles = [("interface.kind", "nvme"), ("interface.placement_handles", "4")];
        let changes: Vec<_> = handles
            .into_iter()
            .filter(|_| has_handles)
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        let text = sim::model::built_in(name).expect("a built-in model");
        let model = sim::Model::load(name, text, &changes).expect("a valid model");
        let scale = base::Ratio::new(1, divisor).expect("a ratio");
        let config = model.resolve(scale).expect("a drive");
        let shape = Shape::of(&config);
        // A drive with zones takes a part of what it announces.
        let contents = Contents::in_memory(shape, 64 << 20).expect("memory");
        let shared = Arc::new(SharedDisk::new(Disk::new(config, contents), Pace::Fast));
        let names = Names::new("a-drive", "A Drive", "fuzz");
        let subsystem = Arc::new(Subsystem::new(shared, names, Vec::new(), 4));
        let controller =
            subsystem.admit(connect_data(&subsystem, ANY_CONTROLLER), 0).expect("a controller");
        controller.state().configuration = 1;
        (subsystem, controller.id)
    })
}

/// Serves the host until it has said everything, and checks that the drive is sound. The first byte says whether the
/// host has an enabled controller before.
pub(crate) fn serve(data: &[u8]) {
    let Some((first, data)) = data.split_first() else { return };
    let _ = (IdentifyController::decode(data), IdentifyNamespace::decode(data));
    let _ = fdp::Configuration::decode(data, *first);
    let _ = fdp::identifiers(&fdp::HandleStatus::decode_all(data), *first);
    let _ = exchange(*first, data);
}

/// Serves the host and returns all that it was answered.
fn exchange(first: u8, data: &[u8]) -> Vec<u8> {
    let begin = if first & begin::BARE == 0 { hello(first) } else { Vec::new() };
    let (mut host, stream) = UnixStream::pair().expect("sockets");
    let bytes = [&begin, &data[..data.len().min(BYTES_MAX)]].concat();
    let drive = &drive(first).0;
    let answers = std::thread::scope(|scope| {
        let mut answers = host.try_clone().expect("a socket");
        let reader = scope.spawn(move || {
            let mut all = Vec::new();
            // The server may have ended the connection with bytes unread.
            let _ = answers.read_to_end(&mut all);
            all
        });
        scope.spawn(move || {
            let _ = host.write_all(&bytes).and_then(|()| host.shutdown(Shutdown::Write));
        });
        let stream = Stream::Unix(stream);
        let _ = queue::serve(&stream, drive);
        stream.end();
        reader.join().expect("it reads to the end")
    });
    drive.shared.with(|disk| disk.drive().check()).expect("the drive is sound");
    answers
}

fn unit(command: Command, data: &[u8], digests: Digests) -> Vec<u8> {
    let kind = if data.is_empty() { DataDescriptor::TRANSPORT } else { DataDescriptor::IN_CAPSULE };
    let bytes = if data.is_empty() { command.data.bytes } else { data.len() as u32 };
    let descriptor = DataDescriptor { offset: 0, bytes, kind };
    let command = Command { flags: Command::DESCRIPTOR, data: descriptor, ..command };
    let mut out = Vec::new();
    Pdu::Command(command, data).encode(&mut out, digests, 0);
    out
}

fn command(opcode: u8, namespace_id: u32, dwords: [u32; 6], bytes: u32) -> Command {
    let data = DataDescriptor { offset: 0, bytes, kind: 0 };
    Command { opcode, flags: 0, id: 1, namespace_id, data, dwords }
}

fn connect_data(subsystem: &Subsystem, controller_id: u16) -> ConnectData {
    let (subsystem, host) = (subsystem.names.nqn.clone(), "nqn.a".to_owned());
    ConnectData { host_id: [1; 16], controller_id, subsystem, host }
}

/// The begin of a host with an admin queue, or an I/O queue.
fn hello(first: u8) -> Vec<u8> {
    let has_digests = first & begin::DIGESTS != 0;
    let (subsystem, own) = drive(first);
    let is_io = first & begin::IO_QUEUE != 0;
    let (queue_id, controller_id) = if is_io { (1, *own) } else { (0, ANY_CONTROLLER) };
    let digests = Digests { header: has_digests, data: has_digests };
    let parameters = ConnectionParameters { format: 0, alignment: 0, digests, limit: 0 };
    let mut out = Vec::new();
    Pdu::ConnectionRequest(parameters).encode(&mut out, digests, 0);
    let connect = Connect { format: 0, queue_id, entries: 31, attributes: 0, keep_alive_ms: 0 };
    let data = connect_data(subsystem, controller_id);
    let fabric = |kind: u8, dwords| command(FABRICS, kind.into(), dwords, 0);
    out.extend(unit(fabric(kind::CONNECT, connect.dwords()), &data.encode(), digests));
    if is_io {
        return out;
    }
    let enable = PropertyAccess { is_long: false, offset: property::CONFIGURATION, value: 1 };
    out.extend(unit(fabric(kind::PROPERTY_SET, enable.dwords()), &[], digests));
    out
}

/// Admin commands that take long, or that only some drives have: self-tests, an overwrite, power, the log of zones.
fn rare_commands() -> Vec<u8> {
    let plain = Digests::default();
    let log_of = |page: u8, bytes: u32| [u32::from(page) | (bytes / 4 - 1) << 16, 0, 0, 0, 0, 0];
    let alone = |command| unit(command, &[], plain);
    let power = command(admin::SET_FEATURES, 0, [0x0c, 1, 0, 0, 0, 0], 0);
    [
        alone(command(admin::SELF_TEST, 1, [1, 0, 0, 0, 0, 0], 0)),
        alone(command(admin::GET_LOG_PAGE, 0, log_of(page::SELF_TEST, 564), 564)),
        alone(command(admin::SELF_TEST, 1, [2, 0, 0, 0, 0, 0], 0)),
        alone(command(admin::SELF_TEST, 1, [0xf, 0, 0, 0, 0, 0], 0)),
        // Two passes of an inverted pattern.
        alone(command(admin::SANITIZE, 0, [3 | 2 << 4 | 1 << 8, 0x5a5a_5a5a, 0, 0, 0, 0], 0)),
        alone(command(admin::GET_LOG_PAGE, 0, log_of(page::SANITIZE, 512), 512)),
        alone(command(admin::GET_FEATURES, 0, [0x0c, 0, 0, 0, 0, 0], 256)),
        unit(power, &[0x18; 256], plain),
        alone(command(admin::GET_LOG_PAGE, 1, log_of(page::CHANGED_ZONES, 4096), 4096)),
        alone(command(admin::DIRECTIVE_RECEIVE, 1, [1023, 1 | 2 << 8, 0, 0, 0, 0], 4096)),
    ]
    .concat()
}

/// Commands of a queue of a drive with handles that move data, or exchange the units of handles.
fn moving_commands() -> Vec<u8> {
    let plain = Digests::default();
    let sources = [CopySource { start: 0, blocks: 8 }, CopySource { start: 64, blocks: 1 }];
    let sources: Vec<u8> = sources.iter().flat_map(CopySource::encode).collect();
    let block = [5; 4096];
    let identifiers = [1_u16, 3].map(u16::to_le_bytes).concat();
    let update = command(fdp::opcode::MANAGEMENT_SEND, 1, [1 | 1 << 16, 0, 0, 0, 0, 0], 0);
    [
        unit(command(nvm::WRITE, 1, [0, 0, 7, 0, 0, 0], 0), &block, plain),
        unit(command(nvm::COPY, 1, [128, 0, 1, 0, 0, 0], 0), &sources, plain),
        unit(command(nvm::COPY, 1, [256, 0, 1 | 2 << 20, 1 << 16, 0, 0], 0), &sources, plain),
        unit(update, &identifiers, plain),
        unit(command(nvm::READ, 1, [128, 0, 7, 0, 0, 0], 4096), &[], plain),
    ]
    .concat()
}

/// Commands that divide a drive into two namespaces, and list what comes of it.
fn dividing_commands() -> Vec<u8> {
    let plain = Digests::default();
    let part = IdentifyNamespace { size_blocks: 64, capacity_blocks: 64, ..Default::default() };
    let create = || unit(command(admin::NAMESPACE_MANAGEMENT, 0, [0; 6], 0), &part.encode(), plain);
    let alone = |command| unit(command, &[], plain);
    let delete = |id| alone(command(admin::NAMESPACE_MANAGEMENT, id, [1, 0, 0, 0, 0, 0], 0));
    let identify = |structure: u8, id| {
        alone(command(admin::IDENTIFY, id, [structure.into(), 0, 0, 0, 0, 0], 4096))
    };
    let controllers = identify::number_list_of(&[drive(begin::PLAIN).1]);
    let attach = |id, operation| {
        let attachment = command(admin::NAMESPACE_ATTACHMENT, id, [operation, 0, 0, 0, 0, 0], 0);
        unit(attachment, &controllers, plain)
    };
    [
        delete(ALL_NAMESPACES),
        create(),
        create(),
        attach(1, 0),
        attach(2, 0),
        identify(structure::ALLOCATED_NAMESPACES, 0),
        identify(structure::ALLOCATED_NAMESPACE, 2),
        identify(structure::CONTROLLERS, 0),
        identify(structure::CONTROLLERS_OF_NAMESPACE, 1),
        attach(2, 1),
        delete(2),
    ]
    .concat()
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let plain = Digests::default();
    let commands: Vec<u8> = [
        command(admin::IDENTIFY, 1, [0, 0, 0, 0, 0, 0], 4096),
        command(admin::IDENTIFY, 0, [1, 0, 0, 0, 0, 0], 4096),
        command(admin::GET_LOG_PAGE, u32::MAX, [0x007f_0002, 0, 0, 0, 0, 0], 512),
        command(admin::SET_FEATURES, 0, [0x0b, 0x1ff, 0, 0, 0, 0], 0),
        command(admin::GET_FEATURES, 0, [7, 0, 0, 0, 0, 0], 0),
        command(admin::ASYNC_EVENT, 0, [0; 6], 0),
        command(admin::ABORT, 0, [1 << 16, 0, 0, 0, 0, 0], 0),
        command(admin::FORMAT, 1, [1 | 1 << 9, 0, 0, 0, 0, 0], 0),
        command(admin::SANITIZE, 0, [2, 0, 0, 0, 0, 0], 0),
        command(admin::KEEP_ALIVE, 0, [0; 6], 0),
    ]
    .into_iter()
    .flat_map(|command| unit(command, &[], plain))
    .collect();
    let behavior =
        unit(command(admin::SET_FEATURES, 0, [0x16, 0, 0, 0, 0, 0], 0), &[0; 512], plain);
    let whole = [&hello(0), &commands[..]].concat();
    // Placement: logs, directives, states of handles, a write with a handle.
    let placed = [
        command(admin::GET_LOG_PAGE, 0, [0x001f_0120, 1 << 16, 0, 0, 0, 0], 128),
        command(admin::GET_LOG_PAGE, 0, [0x001f_0123, 1 << 16, 0, 0, 0, 0], 128),
        command(admin::DIRECTIVE_RECEIVE, 1, [1023, 1, 0, 0, 0, 0], 4096),
        command(admin::GET_FEATURES, 0, [0x1d, 1, 0, 0, 0, 0], 0),
    ];
    let placed: Vec<u8> =
        placed.into_iter().flat_map(|command| unit(command, &[], plain)).collect();
    let block = [5; 4096];
    let placed_io = [
        unit(command(fdp::opcode::MANAGEMENT_RECEIVE, 1, [1, 63, 0, 0, 0, 0], 256), &[], plain),
        unit(command(nvm::WRITE, 1, [0, 0, 7 | 2 << 20, 2 << 16, 0, 0], 0), &block, plain),
        unit(command(nvm::READ, 1, [0, 0, 7, 0, 0, 0], 4096), &[], plain),
    ]
    .concat();
    let zones = [
        unit(command(opcode::APPEND, 1, [256, 0, 0, 0, 0, 0], 0), &block, plain),
        unit(command(nvm::WRITE, 1, [0, 0, 0, 0, 0, 0], 0), &block, plain),
        unit(command(opcode::MANAGEMENT_RECEIVE, 1, [0, 0, 63, 0, 0, 0], 256), &[], plain),
        unit(command(opcode::MANAGEMENT_SEND, 1, [0, 0, 0, 2, 0, 0], 0), &[], plain),
        unit(command(opcode::MANAGEMENT_SEND, 1, [0, 0, 0, 4 | 1 << 8, 0, 0], 0), &[], plain),
        unit(command(nvm::READ, 1, [0, 0, 0, 0, 0, 0], 4096), &[], plain),
    ]
    .concat();
    vec![
        [&[0], &placed[..]].concat(),
        [&[begin::IO_QUEUE], &placed_io[..]].concat(),
        [&[begin::IO_QUEUE], &moving_commands()[..]].concat(),
        [&[0], &rare_commands()[..]].concat(),
        [&[begin::ZONES], &rare_commands()[..]].concat(),
        [&[begin::PLAIN], &dividing_commands()[..]].concat(),
        [&[begin::IO_QUEUE | begin::ZONES], &zones[..]].concat(),
        [&[begin::ZONES], &commands[..]].concat(),
        [&[0], &commands[..], &behavior].concat(),
        [&[begin::BARE], &whole[..]].concat(),
        [&[begin::DIGESTS], &commands[..]].concat(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use nvme::pdu::{PduState, parse};
    use nvme::status::CommandStatus;

    /// The states other than success with which commands of this host end.
    fn failures(first: u8, data: &[u8]) -> Vec<CommandStatus> {
        let answers = exchange(first, data);
        let (mut rest, mut failures) = (&answers[..], Vec::new());
        while let PduState::Complete { bytes, pdu, .. } =
            parse(rest, Digests::default(), BYTES_MAX).expect("a unit")
        {
            if let Pdu::Completion(completion) = pdu {
                failures.extend(Some(completion.status).filter(|it| *it != CommandStatus::SUCCESS));
            }
            rest = &rest[bytes..];
        }
        assert!(rest.is_empty() && !answers.is_empty(), "{} bytes left", rest.len());
        failures
    }

    /// Whoever begins with commands that are refused hardly changes them into others that are not.
    #[test]
    fn commands_of_the_seeds_are_carried_out_where_the_drive_has_them() {
        assert_eq!(failures(begin::IO_QUEUE, &moving_commands()), []);
        let field = CommandStatus::INVALID_FIELD;
        // The table of power states is fixed, the log of zones is absent, and one directive alone tells parameters.
        let of_handles = [CommandStatus::NOT_CHANGEABLE, CommandStatus::INVALID_LOG, field];
        assert_eq!(failures(0, &rare_commands()), of_handles);
        // No overwrite of zones, no power states, no directives.
        let of_zones = [field, field, field, CommandStatus::INVALID_OPCODE];
        assert_eq!(failures(begin::ZONES, &rare_commands()), of_zones);
        assert_eq!(failures(begin::PLAIN, &dividing_commands()), []);
    }
}
