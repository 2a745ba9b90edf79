//! The bytes of a host of NVMe/TCP on one connection, from its first unit on.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, OnceLock};

use expose::nvme::{Names, Subsystem, queue};
use expose::plan::Shape;
use expose::socket::Stream;
use expose::{Contents, Disk, Pace, SharedDisk};
use nvme::command::{Command, DataDescriptor, FABRICS, admin};
use nvme::fabrics::{ANY_CONTROLLER, Connect, ConnectData, PropertyAccess, kind, property};
use nvme::identify::{IdentifyController, IdentifyNamespace};
use nvme::pdu::{ConnectionParameters, Digests, Pdu};

/// Most bytes of a host: more would wait in the socket for a reader.
const BYTES_MAX: usize = 64 << 10;

/// A drive of 120 MB, which all inputs use one after the other.
fn subsystem() -> &'static Arc<Subsystem> {
    static SUBSYSTEM: OnceLock<Arc<Subsystem>> = OnceLock::new();
    SUBSYSTEM.get_or_init(|| {
        let name = "corsair-neutron-240gb";
        let text = sim::model::built_in(name).expect("a built-in model");
        let model = sim::Model::load(name, text, &[]).expect("a valid model");
        let config = model.resolve(base::Ratio::new(1, 2000).expect("a ratio")).expect("a drive");
        let shape = Shape::of(&config);
        let contents = Contents::in_memory(shape, shape.capacity_bytes).expect("memory");
        let shared = Arc::new(SharedDisk::new(Disk::new(config, contents), Pace::Fast));
        Arc::new(Subsystem::new(shared, Names::new("a-drive", "A Drive", "fuzz"), Vec::new(), 4))
    })
}

/// Serves the host until it has said everything, and checks that the drive is sound. The first byte says whether the
/// host has an enabled controller before.
pub(crate) fn serve(data: &[u8]) {
    let Some((first, data)) = data.split_first() else { return };
    let _ = (IdentifyController::decode(data), IdentifyNamespace::decode(data));
    let begin = if first & 1 == 0 { hello(first & 2 != 0) } else { Vec::new() };
    let (mut host, stream) = UnixStream::pair().expect("sockets");
    let bytes = [&begin, &data[..data.len().min(BYTES_MAX)]].concat();
    let drive = subsystem();
    std::thread::scope(|scope| {
        let mut answers = host.try_clone().expect("a socket");
        scope.spawn(move || {
            let mut all = Vec::new();
            // The server may have ended the connection with bytes unread.
            let _ = answers.read_to_end(&mut all);
        });
        scope.spawn(move || {
            let _ = host.write_all(&bytes).and_then(|()| host.shutdown(Shutdown::Write));
        });
        let stream = Stream::Unix(stream);
        let _ = queue::serve(&stream, drive);
        stream.end();
    });
    drive.shared.with(|disk| disk.drive().check()).expect("the drive is sound");
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

/// The begin of a host with an admin queue.
fn hello(has_digests: bool) -> Vec<u8> {
    let digests = Digests { header: has_digests, data: has_digests };
    let parameters = ConnectionParameters { format: 0, alignment: 0, digests, limit: 0 };
    let mut out = Vec::new();
    Pdu::ConnectionRequest(parameters).encode(&mut out, digests, 0);
    let connect = Connect { format: 0, queue_id: 0, entries: 31, attributes: 0, keep_alive_ms: 0 };
    let subsystem = subsystem().names.nqn.clone();
    let data = ConnectData {
        host_id: [1; 16],
        controller_id: ANY_CONTROLLER,
        subsystem,
        host: "nqn.a".to_owned(),
    };
    let fabric = |kind: u8, dwords| command(FABRICS, kind.into(), dwords, 0);
    out.extend(unit(fabric(kind::CONNECT, connect.dwords()), &data.encode(), digests));
    let enable = PropertyAccess { is_long: false, offset: property::CONFIGURATION, value: 1 };
    out.extend(unit(fabric(kind::PROPERTY_SET, enable.dwords()), &[], digests));
    out
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
    let whole = [&hello(false), &commands[..]].concat();
    vec![
        [&[0], &commands[..], &behavior].concat(),
        [&[1], &whole[..]].concat(),
        [&[2], &commands[..]].concat(),
    ]
}
