//! Hostile and careless hosts of NVMe: each loses its own connection at most, and the others go on.

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::Rng;
use expose::server::Clients;
use expose::{Pace, SharedDisk};
use nvme::command::{Command, DataDescriptor, admin, nvm};
use nvme::fabrics::ANY_CONTROLLER;
use nvme::pdu::{DataTransfer, Digests, Pdu};
use nvme::status::CommandStatus;
use nvme::zns;

use crate::client::{config, disk};
use crate::nvme_host::{Host, Place, Queue, blocks, command, digests, serve_nvme};
use crate::nvme_zones::{drive, report, sizes};

/// Serves `work`, and then a host that finds its data, on each clock, to at most 6 connections.
fn others_go_on(work: impl Fn(&Place)) -> Clients {
    let [fast, real] = [Pace::Fast, Pace::Real { slowdown: 1 }].map(|pace| {
        let shared = Arc::new(SharedDisk::new(
            disk(config(&[("interface.logical_block_bytes", "512")])),
            pace,
        ));
        let clients = serve_nvme(&shared, &[], 6, |place| {
            let host = Host::connect(place, digests(true));
            let mut queue = host.queue(1);
            let data = vec![7; 4096];
            queue.execute(blocks(nvm::WRITE, 9, 8, 0, 0), &data).expect("it is written");
            work(place);
            assert_eq!(queue.execute(blocks(nvm::READ, 9, 8, 0, 4096), &[]), Ok((0, data)));
        });
        let disk = Arc::into_inner(shared).expect("nobody else has it").into_disk();
        disk.drive().check().expect("the drive is sound");
        clients
    });
    assert_eq!(fast.broken, real.broken, "{fast:?} {real:?}");
    fast
}

/// A connection to a server that may still look after the end of another.
fn open(place: &Place) -> Queue {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(queue) = Queue::try_open(&place.path, digests(false)) {
            return queue;
        }
        assert!(Instant::now() < end, "the server takes no more hosts");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A host with an I/O queue.
fn host(place: &Place) -> (Host, Queue) {
    // There must be room for both.
    drop((open(place), open(place)));
    std::thread::sleep(Duration::from_millis(600));
    let host = Host::connect(place, digests(false));
    let queue = host.queue(1);
    (host, queue)
}

#[test]
fn wrong_units_end_the_connection() {
    let units: [&[u8]; 6] = [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        // A completion, which only controllers send; an unknown type; a length of 4 GiB; one of 8 bytes.
        &[5, 0, 24, 0, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &[99, 0, 24, 0, 24, 0, 0, 0],
        &[4, 0, 72, 72, 255, 255, 255, 255],
        &[4, 0, 72, 0, 8, 0, 0, 0],
        // Data for no command.
        &[6, 4, 24, 24, 28, 0, 0, 0, 9, 0, 9, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4],
    ];
    let clients = others_go_on(|place| {
        for unit in units {
            let mut queue = open(place);
            queue.send_bytes(unit).expect("it listens");
            assert!(queue.ends(), "{unit:?}");
        }
    });
    assert_eq!(clients.broken, units.len() as u64, "{clients:?}");
}

#[test]
fn wrong_transfers_end_the_connection() {
    // Offset, length, last, tag beside that of the command.
    let units = [
        (4, 4096, false, 0),
        (0, 16_388, true, 0),
        (0, 4096, true, 0),
        (0, 16_384, false, 0),
        (0, 0, false, 0),
        (0, 4096, false, 1),
    ];
    others_go_on(|place| {
        for (offset, bytes, is_last, other) in units {
            let (_host, mut queue) = host(place);
            let data = vec![1; 16_384];
            let id = queue.send(blocks(nvm::WRITE, 0, 32, 0, 0), &data, false);
            let tag = queue.next(|pdu| match pdu {
                Pdu::Ready { tag, bytes: 16_384, .. } => *tag,
                unit => panic!("{unit:?}"),
            });
            let data = vec![2; bytes];
            let unit =
                DataTransfer { command_id: id, tag: tag + other, offset, is_last, data: &data };
            queue.send_unit(&Pdu::HostData(unit));
            assert!(queue.ends(), "{offset} {bytes} {is_last} {other}");
        }
    });
}

#[test]
fn descriptors_that_lie_are_refused() {
    others_go_on(|place| {
        let (_host, mut queue) = host(place);
        let write = blocks(nvm::WRITE, 0, 1, 0, 0);
        let mut refuses = |descriptor, data: &[u8], status| {
            let command =
                Command { id: 700, flags: Command::DESCRIPTOR, data: descriptor, ..write };
            queue.send_unit(&Pdu::Command(command, data));
            assert_eq!(queue.end(), (700, Err(status)), "{descriptor:?}");
        };
        let (inside, apart) = (DataDescriptor::IN_CAPSULE, DataDescriptor::TRANSPORT);
        let of = |offset, bytes, kind| DataDescriptor { offset, bytes, kind };
        refuses(of(0, 512, inside), &[1; 511], CommandStatus::DATA_LENGTH);
        refuses(of(8, 512, inside), &[1; 512], CommandStatus::SGL_OFFSET);
        refuses(of(0, 512, 0x40), &[1; 512], CommandStatus::SGL_TYPE);
        refuses(of(0, 512, apart), &[1; 512], CommandStatus::DATA_LENGTH);
        refuses(of(0, u32::MAX, apart), &[], CommandStatus::DATA_LENGTH);
        refuses(of(0, 16_384, inside), &[1; 16_384], CommandStatus::DATA_LENGTH);
        refuses(of(0, 0, apart), &[], CommandStatus::DATA_LENGTH);
        let fused =
            Command { id: 1, flags: Command::DESCRIPTOR | 1, ..blocks(nvm::READ, 0, 1, 0, 512) };
        queue.send_unit(&Pdu::Command(fused, &[]));
        assert_eq!(queue.end(), (1, Err(CommandStatus::INVALID_FIELD)));
    });
}

#[test]
fn damaged_data_fails_its_command_alone() {
    others_go_on(|place| {
        drop(host(place));
        std::thread::sleep(Duration::from_millis(600));
        let host = Host::connect(place, digests(true));
        let mut queue = host.queue(1);
        let mut damage = |data: &[u8]| {
            let descriptor =
                DataDescriptor { offset: 0, bytes: 512, kind: DataDescriptor::IN_CAPSULE };
            let command = Command {
                id: 9,
                flags: Command::DESCRIPTOR,
                data: descriptor,
                ..blocks(nvm::WRITE, 0, 1, 0, 0)
            };
            let mut bytes = Vec::new();
            Pdu::Command(command, data).encode(&mut bytes, Digests { header: true, data: true }, 0);
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
            queue.send_bytes(&bytes).expect("it listens");
            assert_eq!(queue.end(), (9, Err(CommandStatus::TRANSPORT)));
        };
        damage(&[3; 512]);
        assert_eq!(queue.execute(blocks(nvm::READ, 0, 1, 0, 512), &[]), Ok((0, vec![0; 512])));
    });
}

#[test]
fn commands_before_their_time_are_refused() {
    others_go_on(|place| {
        let mut queue = open(place);
        let identify = command(admin::IDENTIFY, 0, [1, 0, 0, 0, 0, 0], 4096);
        assert_eq!(queue.execute(identify, &[]), Err(CommandStatus::SEQUENCE), "before Connect");
        assert_eq!(queue.connect(&place.nqn, 1, 77, 0), Err(CommandStatus::CONNECT_PARAMETERS));
        let id = queue.connect(&place.nqn, 0, ANY_CONTROLLER, 0).expect("a controller");
        assert_eq!(
            queue.execute(identify, &[]),
            Err(CommandStatus::SEQUENCE),
            "before it is enabled"
        );
        let mut other = open(place);
        assert_eq!(other.connect(&place.nqn, 1, id, 0), Err(CommandStatus::SEQUENCE));
        assert_eq!(
            queue.connect(&place.nqn, 0, ANY_CONTROLLER, 0),
            Err(CommandStatus::SEQUENCE),
            "twice"
        );
    });
}

#[test]
fn a_host_may_go_at_any_byte() {
    others_go_on(|place| {
        let (host, queue) = host(place);
        let mut all = Vec::new();
        let data = [4; 600];
        let descriptor = DataDescriptor { offset: 0, bytes: 600, kind: DataDescriptor::IN_CAPSULE };
        let write = Command {
            id: 1,
            flags: Command::DESCRIPTOR,
            data: descriptor,
            ..blocks(nvm::WRITE, 64, 1, 0, 0)
        };
        Pdu::Command(write, &data).encode(&mut all, Digests::default(), 0);
        drop(queue);
        for end in (0..all.len()).step_by(61) {
            let mut queue = open(place);
            // The queue of before may not have ended yet.
            let _ = queue.connect(&host.place.nqn, 1, host.controller_id, 0);
            queue.send_bytes(&all[..end]).expect("it listens");
        }
    });
}

#[test]
fn silent_connections_are_bounded_and_end() {
    let shared = Arc::new(SharedDisk::new(
        disk(config(&[("interface.logical_block_bytes", "512")])),
        Pace::Fast,
    ));
    let clients = serve_nvme(&shared, &[], 6, |place| {
        let mut silent = Queue::open(&place.path, digests(false));
        let mut expiring = Queue::open(&place.path, digests(false));
        expiring.connect(&place.nqn, 0, ANY_CONTROLLER, 500).expect("a controller");
        let held: Vec<_> =
            (0..2000).filter_map(|_| UnixStream::connect(&place.path).ok()).collect();
        let since = Instant::now();
        assert!(expiring.ends() && since.elapsed() < Duration::from_secs(5), "no Keep Alive came");
        assert!(silent.ends(), "it never connected");
        assert!((8..20).contains(&since.elapsed().as_secs()), "{:?}", since.elapsed());
        drop(held);
        open(place);
    });
    assert!(clients.turned_away > 1900, "{clients:?}");
    assert!(clients.broken >= 2, "{clients:?}");
}

/// A command of a drive with zones that makes no sense but by chance, to the first ten zones or outside all, and the
/// data that comes with it.
fn strange(rng: &mut Rng, size: u64, id: u16) -> (Command, Vec<u8>) {
    const OPCODES: [u8; 7] = [
        zns::opcode::APPEND,
        zns::opcode::MANAGEMENT_SEND,
        zns::opcode::MANAGEMENT_RECEIVE,
        nvm::WRITE,
        nvm::READ,
        nvm::WRITE_ZEROES,
        nvm::WRITE_UNCORRECTABLE,
    ];
    const ALL_ZONES: u32 = 1 << 8;
    let opcode = OPCODES[rng.below(OPCODES.len() as u64) as usize];
    let start = match rng.below(8) {
        0 => u64::MAX - rng.below(3),
        1 => size * 905 - rng.below(2),
        _ => size * rng.below(10) + [0, 1, size - 1, rng.below(size)][rng.below(4) as usize],
    };
    let any = rng.next_u64();
    let (count, third) = match rng.below(3) {
        0 => (any as u32, (any >> 32) as u32 & !ALL_ZONES),
        _ => (rng.below(2) as u32, rng.below(7) as u32),
    };
    let dwords = [start as u32, (start >> 32) as u32, count, third, 0, 0];
    let bytes = [0, 4, 64, 512, 4096, 8192][rng.below(6) as usize];
    let asked = command(opcode, 1, dwords, bytes);
    if !asked.takes_data() {
        let data = DataDescriptor { kind: DataDescriptor::TRANSPORT, ..asked.data };
        return (Command { id, flags: Command::DESCRIPTOR, data, ..asked }, Vec::new());
    }
    let data = DataDescriptor { offset: 0, bytes, kind: DataDescriptor::IN_CAPSULE };
    let sent_bytes = if rng.chance(1, 8) { rng.below(8192) as usize } else { bytes as usize };
    (Command { id, flags: Command::DESCRIPTOR, data, ..asked }, vec![id as u8; sent_bytes])
}

#[test]
fn strange_commands_of_zones_are_answered_and_leave_other_zones_alone() {
    const COMMANDS: u16 = 1000;
    for pace in [Pace::Fast, Pace::Real { slowdown: 1 }] {
        let shared = drive(pace);
        let (size, _) = sizes(&shared);
        serve_nvme(&shared, &[], 8, |place| {
            let host = Host::connect(place, digests(true));
            let mut queue = host.queue(1);
            let data = vec![7; 4096];
            queue.execute(blocks(nvm::WRITE, 20 * size, 1, 0, 0), &data).expect("it is written");
            let before = report(&mut queue, 10 * size, 0, 4096);
            std::thread::scope(|scope| {
                for seed in 0..3 {
                    scope.spawn(move || {
                        let mut rng = Rng::split(seed, "strange commands");
                        let host = Host::connect(place, digests(false));
                        let mut queue = host.queue(1);
                        for id in 0..COMMANDS {
                            let (command, data) = strange(&mut rng, size, id);
                            queue.send_unit(&Pdu::Command(command, &data));
                            assert_eq!(queue.end().0, id, "{command:?}");
                        }
                    });
                }
            });
            assert_eq!(report(&mut queue, 10 * size, 0, 4096), before);
            let read = blocks(nvm::READ, 20 * size, 1, 0, 4096);
            assert_eq!(queue.execute(read, &[]), Ok((0, data)));
        });
        shared.with(|disk| disk.drive().check()).expect("the drive is sound");
    }
}
