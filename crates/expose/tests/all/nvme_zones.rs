//! A drive with zones over NVMe/TCP: its structures, its zones and data against an oracle, its refusals and its erasure.

use std::sync::Arc;

use base::Rng;
use expose::{Pace, SharedDisk};
use nvme::command::{Command, admin, nvm};
use nvme::identify::{IdentifyController, IdentifyNamespace, namespace_list, structure};
use nvme::log::{ocp_nand_written_bytes, page};
use nvme::status::CommandStatus;
use nvme::zns::{self, ZoneDescriptor, ZonedNamespace, opcode, send, send_dword, state, zones_of};

use crate::client::{config_of, disk, seeds};
use crate::nvme_host::{Host, Place, Queue, blocks, command, digests, serve_nvme};

/// Sequences without another wish, and those of a full check.
const CASES: [u64; 2] = [100, 1000];
/// Commands of a sequence for each queue.
const COMMANDS: u64 = 80;
/// Zones of a queue of a sequence.
const ZONES: u64 = 3;

/// Zones of the drive.
const ZONES_ALL: u64 = 905;

/// A ZN540 with zones of about a megabyte.
pub(crate) fn drive(pace: Pace) -> Arc<SharedDisk> {
    Arc::new(SharedDisk::new(disk(config_of("wd-ultrastar-dc-zn540-1000gb", &[], 979)), pace))
}

/// The zones of a drive in blocks: distance, capacity.
pub(crate) fn sizes(shared: &SharedDisk) -> (u64, u64) {
    let plan = shared.with(|disk| *disk.drive().zones().expect("zones").plan());
    (plan.size_pages, plan.capacity_pages)
}

pub(crate) fn order(zone: u64, order: u8, all: bool) -> Command {
    command(opcode::MANAGEMENT_SEND, 1, [zone as u32, 0, 0, send_dword(order, all), 0, 0], 0)
}

pub(crate) fn report(
    queue: &mut Queue,
    start: u64,
    choice: u32,
    bytes: u32,
) -> (u64, Vec<ZoneDescriptor>) {
    let dwords = [start as u32, 0, bytes / 4 - 1, choice, 0, 0];
    let outcome = queue.execute(command(opcode::MANAGEMENT_RECEIVE, 1, dwords, bytes), &[]);
    zones_of(&outcome.expect("a report").1)
}

fn with_drive(work: impl FnOnce(&Place, &SharedDisk)) {
    let shared = drive(Pace::Fast);
    serve_nvme(&shared, &[], 8, |place| work(place, &shared));
}

fn identify(host: &mut Host, structure: u8, command_set: u8) -> Result<Vec<u8>, CommandStatus> {
    let namespace = if structure == structure::NAMESPACE_OF_COMMAND_SET { 1 } else { 0 };
    let dwords = [structure.into(), u32::from(command_set) << 24, 0, 0, 0, 0];
    Ok(host.admin.execute(command(admin::IDENTIFY, namespace, dwords, 4096), &[])?.1)
}

#[test]
fn the_namespace_is_one_of_zones() {
    with_drive(|place, shared| {
        let (size, capacity) = sizes(shared);
        let mut host = Host::connect(place, digests(true));
        let descriptors = host.identify(structure::DESCRIPTORS, 1).expect("descriptors");
        assert_eq!(descriptors[20..25], [4, 1, 0, 0, 2], "command set 2");
        let namespace = IdentifyNamespace::decode(&host.identify(structure::NAMESPACE, 1).unwrap());
        assert_eq!(
            (namespace.size_blocks, namespace.capacity_blocks, namespace.layout().block_bytes),
            (ZONES_ALL * size, ZONES_ALL * capacity, Some(4096))
        );
        let zoned = identify(&mut host, structure::NAMESPACE_OF_COMMAND_SET, 2).unwrap();
        let expected =
            ZonedNamespace { active_max: 14, open_max: 14, zone_blocks: size, lba_format: 1 };
        assert_eq!(ZonedNamespace::decode(&zoned, 1), expected);
        assert!(identify(&mut host, structure::CONTROLLER_OF_COMMAND_SET, 2).is_ok());
        let listed = |host: &mut Host, command_set| {
            let list = structure::ACTIVE_NAMESPACES_OF_COMMAND_SET;
            identify(host, list, command_set).map(|list| namespace_list(&list))
        };
        assert_eq!(listed(&mut host, 2), Ok(vec![1]));
        assert_eq!(listed(&mut host, 0), Ok(vec![]));
        assert_eq!(listed(&mut host, 1), Err(CommandStatus::INVALID_FIELD));
        let sets = identify(&mut host, structure::COMMAND_SETS, 0).unwrap();
        assert_eq!(sets[..16], [5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], "NVM and zones");
        let controller =
            IdentifyController::decode(&host.identify(structure::CONTROLLER, 0).unwrap());
        assert_eq!(controller.nvm_commands, 0x89, "compare, zeroes, verify");
        let effects = host.log(page::EFFECTS, 4096).expect("a log");
        let is_supported = |opcode: u8| effects[1024 + 4 * usize::from(opcode)] & 1 == 1;
        assert!(is_supported(opcode::APPEND) && !is_supported(nvm::DATASET_MANAGEMENT));
        assert!(!is_supported(nvm::COPY) && namespace.copy.blocks == 0);
    });
}

#[test]
fn a_drive_without_zones_knows_no_command_of_them() {
    let shared = Arc::new(SharedDisk::new(disk(crate::client::config(&[])), Pace::Fast));
    serve_nvme(&shared, &[], 8, |place| {
        let mut host = Host::connect(place, digests(false));
        let mut queue = host.queue(1);
        let data = vec![1; 4096];
        let receive = command(opcode::MANAGEMENT_RECEIVE, 1, [0, 0, 15, 0, 0, 0], 64);
        for (command, data) in [
            (order(0, send::RESET, true), &[][..]),
            (receive, &[]),
            (blocks(opcode::APPEND, 0, 1, 0, 0), &data),
        ] {
            assert_eq!(queue.execute(command, data), Err(CommandStatus::INVALID_OPCODE));
        }
        let outcome = identify(&mut host, structure::NAMESPACE_OF_COMMAND_SET, 2);
        assert_eq!(outcome, Err(CommandStatus::INVALID_FIELD));
    });
}

/// A cut makes an open zone without data empty; one with data is closed, which the specification leaves out.
#[test]
fn hosts_hear_of_zones_that_change_without_them() {
    const HELD: u32 = 1 << 27;
    with_drive(|place, shared| {
        let (size, _) = sizes(shared);
        let mut host = Host::connect(place, digests(false));
        let mut deaf = Host::connect(place, digests(false));
        let mut queue = host.queue(1);
        let controller =
            IdentifyController::decode(&host.identify(structure::CONTROLLER, 0).unwrap());
        assert_eq!(controller.events & HELD, HELD);
        host.set_feature(0x0b, HELD).expect("a feature");
        let event = command(admin::ASYNC_EVENT, 0, [0; 6], 0);
        let held = host.admin.send(event, &[], false);
        let changed = |host: &mut Host| {
            let dwords = [u32::from(page::CHANGED_ZONES) | 1023 << 16, 0, 0, 0, 0, 0];
            let log = host.admin.execute(command(admin::GET_LOG_PAGE, 1, dwords, 4096), &[]);
            zns::changed_of(&log.expect("a log").1).expect("room for all")
        };
        for (zone, data) in [(3, false), (5, true), (9, false)] {
            queue.execute(order(zone * size, send::OPEN, false), &[]).expect("it opens");
            if data {
                let write = blocks(nvm::WRITE, zone * size, 1, 0, 0);
                queue.execute(write, &[7; 4096]).expect("it is written");
            }
        }
        // Orders of hosts are no news.
        queue.execute(order(9 * size, send::FINISH, false), &[]).expect("it is full");
        assert_eq!(changed(&mut deaf), [0; 0]);
        shared.with(|disk| disk.cut_power()).expect("a cut");
        assert_eq!(host.admin.end(), (held, Ok((1 << 32 | 0x00bf_ef02, Vec::new()))));
        assert_eq!(changed(&mut host), [3 * size]);
        assert_eq!(changed(&mut host), [0; 0], "it has been read");
        assert_eq!(changed(&mut deaf), [3 * size], "each host has its own list");
        assert_eq!(
            host.log(page::CHANGED_ZONES, 4096),
            Err(CommandStatus::INVALID_FIELD),
            "it is that of a namespace"
        );
    });
}

#[test]
fn a_zone_refuses_with_its_status() {
    with_drive(|place, shared| {
        let (size, capacity) = sizes(shared);
        let host = Host::connect(place, digests(false));
        let mut queue = host.queue(1);
        let (one, zone) = (vec![5; 4096], vec![6; capacity as usize * 4096]);
        let write = |at, count| blocks(nvm::WRITE, at, count, 0, 0);
        assert_eq!(
            queue.execute(blocks(opcode::APPEND, 2 * size, 1, 0, 0), &one),
            Ok((2 * size, vec![]))
        );
        assert!(capacity < size && capacity <= 256, "a zone is a command, and its end a gap");
        assert_eq!(queue.execute(write(3 * size, capacity as u32), &zone), Ok((0, vec![])));
        let reset = |zone| order(zone, send::RESET, false);
        for (command, data, status) in [
            (write(2 * size, 1), &one[..], CommandStatus::ZONE_INVALID_WRITE),
            (write(2 * size + 1, capacity as u32), &zone, CommandStatus::ZONE_BOUNDARY),
            (write(3 * size, 1), &one, CommandStatus::ZONE_FULL),
            (blocks(opcode::APPEND, 3 * size, 1, 0, 0), &one, CommandStatus::ZONE_FULL),
            (blocks(opcode::APPEND, size + 1, 1, 0, 0), &one, CommandStatus::INVALID_FIELD),
            (blocks(nvm::READ, size - 1, 2, 0, 8192), &[], CommandStatus::ZONE_BOUNDARY),
            (write(ZONES_ALL * size, 1), &one, CommandStatus::LBA_OUT_OF_RANGE),
            (reset(ZONES_ALL * size), &[], CommandStatus::LBA_OUT_OF_RANGE),
            (reset(1), &[], CommandStatus::INVALID_FIELD),
            (order(0, 0x77, false), &[], CommandStatus::INVALID_FIELD),
            (order(0, send::OFFLINE, false), &[], CommandStatus::ZONE_TRANSITION),
            (order(3 * size, send::OPEN, false), &[], CommandStatus::ZONE_TRANSITION),
        ] {
            assert_eq!(queue.execute(command, data), Err(status), "{command:?}");
        }
        // Every open zone is one that the host has opened.
        for zone in 10..24 {
            let outcome = queue.execute(order(zone * size, send::OPEN, false), &[]);
            let last = zone == 23;
            let expected =
                if last { Err(CommandStatus::TOO_MANY_ACTIVE_ZONES) } else { Ok((0, vec![])) };
            assert_eq!(outcome, expected, "zone 2 is the fourteenth");
        }
        assert_eq!(queue.execute(order(0, send::CLOSE, true), &[]), Ok((0, vec![])));
        let closed = report(&mut queue, 0, 0x0004_0000 | 4 << 8, 4096);
        assert_eq!((closed.0, closed.1.len()), (1, 1), "those without data are empty again");
        assert!(shared.with(|disk| disk.drive_mut().retire_zone(2, false)));
        assert_eq!(queue.execute(write(2 * size + 1, 1), &one), Err(CommandStatus::ZONE_READ_ONLY));
        assert_eq!(
            queue.execute(blocks(nvm::READ, 2 * size, 1, 0, 4096), &[]),
            Ok((0, one.clone()))
        );
        assert_eq!(queue.execute(order(2 * size, send::OFFLINE, false), &[]), Ok((0, vec![])));
        assert_eq!(
            queue.execute(blocks(nvm::READ, 2 * size, 1, 0, 4096), &[]),
            Err(CommandStatus::ZONE_OFFLINE)
        );
        let (count, zones) = report(&mut queue, size, 0, 64 + 3 * 64);
        assert_eq!(
            (count, zones.len()),
            (ZONES_ALL - 1, 3),
            "all from the second, of which three have room"
        );
        let states: Vec<_> = zones.iter().map(|zone| (zone.state, zone.write_pointer)).collect();
        assert_eq!(
            states,
            [(state::EMPTY, Some(size)), (state::OFFLINE, None), (state::FULL, None)]
        );
        let partial = report(&mut queue, 0, 1 << 16 | 5 << 8, 4096);
        assert_eq!((partial.0, partial.1[0].start), (1, 3 * size), "the full one");
    });
}

#[test]
fn whole_zones_are_programmed_once_and_erasure_resets_them() {
    with_drive(|place, shared| {
        let (size, capacity) = sizes(shared);
        let mut host = Host::connect(place, digests(false));
        let mut queue = host.queue(1);
        let data = vec![7; capacity as usize * 4096];
        for round in 0..3 {
            for zone in 0..20 {
                let write = blocks(nvm::WRITE, zone * size, capacity as u32, 0, 0);
                queue.execute(write, &data).expect("it is written");
            }
            let reset = order(0, send::RESET, true);
            assert_eq!(queue.execute(reset, &[]), Ok((0, vec![])), "round {round}");
        }
        // Whole units of 8 pages, and one of parity for 15 of them: nothing else is programmed.
        let written = 60 * capacity.next_multiple_of(8) * 4096 * 16 / 15;
        assert_eq!(ocp_nand_written_bytes(&host.log(page::OCP, 512).unwrap()), Some(written));
        assert_eq!(shared.with(|disk| disk.contents().pages()), 0);
        for format in [
            command(admin::FORMAT, 1, [1, 0, 0, 0, 0, 0], 0),
            command(admin::SANITIZE, 0, [2, 0, 0, 0, 0, 0], 0),
        ] {
            queue
                .execute(blocks(nvm::WRITE, 0, 8, 0, 0), &data[..8 * 4096])
                .expect("it is written");
            assert_eq!(host.admin.execute(format, &[]), Ok((0, vec![])));
            assert_eq!(report(&mut queue, 0, 1 << 8, 64).0, ZONES_ALL, "all are empty");
            assert_eq!(
                queue.execute(blocks(nvm::READ, 0, 1, 0, 4096), &[]),
                Ok((0, vec![0; 4096]))
            );
        }
        let small = command(admin::FORMAT, 1, [0; 6], 0);
        assert_eq!(host.admin.execute(small, &[]), Err(CommandStatus::INVALID_FORMAT));
        shared.with(|disk| disk.drive().check()).expect("the drive is sound");
    });
}

#[test]
fn random_sequences_give_the_zones_and_the_data_of_the_oracle() {
    seeds(CASES[0], CASES[1]).for_each(sequence);
}

/// One to four queues at the same time, each with zones of its own.
fn sequence(seed: u64) {
    let mut rng = Rng::split(seed, "zones oracle");
    let pace = if rng.below(4) == 0 { Pace::Real { slowdown: 1 } } else { Pace::Fast };
    let shared = drive(pace);
    let queues = 1 + rng.below(4);
    let (size, capacity) = sizes(&shared);
    serve_nvme(&shared, &[], 8, |place| {
        let host = Host::connect(place, digests(rng.chance(1, 2)));
        std::thread::scope(|scope| {
            for number in 0..queues {
                let mut rng = Rng::split(seed, &format!("queue {number}"));
                let mut queue = host.queue(1 + number as u16);
                scope.spawn(move || {
                    let mut oracle = Oracle::new(number * ZONES, (size, capacity));
                    for step in 0..COMMANDS {
                        oracle.step(
                            &mut rng,
                            &mut queue,
                            &format!("seed {seed}, queue {number}, step {step}"),
                        );
                    }
                });
            }
        });
    });
    shared.with(|disk| disk.drive().check()).expect("the drive is sound");
}

fn manage(queue: &mut Queue, start: u64, action: u8, place: &str) {
    assert_eq!(queue.execute(order(start, action, false), &[]), Ok((0, vec![])), "{place}");
}

/// The content of the zones of a queue.
struct Oracle {
    /// The first zone.
    first: u64,
    size: u64,
    capacity: u64,
    /// The written blocks of each zone, and whether it is full.
    zones: Vec<(Vec<u8>, bool)>,
}

impl Oracle {
    fn new(first: u64, (size, capacity): (u64, u64)) -> Self {
        Self { first, size, capacity, zones: vec![(Vec::new(), false); ZONES as usize] }
    }

    /// A random command, and its outcome beside the one that the oracle expects.
    fn step(&mut self, rng: &mut Rng, queue: &mut Queue, place: &str) {
        let index = rng.below(ZONES);
        let start = (self.first + index) * self.size;
        let capacity = self.capacity;
        let (data, is_full) = &mut self.zones[index as usize];
        let written = data.len() as u64 / 4096;
        let pointer = start + if *is_full { 0 } else { written };
        let count = 1 + rng.below(40);
        let new = vec![1 + rng.below(255) as u8; count as usize * 4096];
        let expected = if *is_full {
            Err(CommandStatus::ZONE_FULL)
        } else if written + count > capacity {
            Err(CommandStatus::ZONE_BOUNDARY)
        } else {
            Ok(())
        };
        let mut change = |outcome: Result<(u64, Vec<u8>), CommandStatus>, new: &[u8]| {
            assert_eq!(outcome.map(drop), expected, "{place}");
            if expected.is_ok() {
                data.extend(new);
                *is_full = data.len() as u64 == capacity * 4096;
            }
        };
        match rng.below(12) {
            0..=2 => {
                let outcome = queue.execute(blocks(nvm::WRITE, pointer, count as u32, 0, 0), &new);
                change(outcome, &new);
            }
            3 => {
                let zeroes = blocks(nvm::WRITE_ZEROES, pointer, count as u32, 0, 0);
                change(queue.execute(zeroes, &[]), &vec![0; new.len()]);
            }
            4 => {
                let outcome =
                    queue.execute(blocks(opcode::APPEND, start, count as u32, 0, 0), &new);
                if let Ok((at, _)) = outcome {
                    assert_eq!(at, start + written, "{place}");
                }
                change(outcome, &new);
            }
            5 => self.append_together(rng, queue, index, place),
            6 => {
                let at = start + (written + 1 + rng.below(20)) % capacity;
                if at != start + written && !*is_full {
                    let outcome = queue.execute(blocks(nvm::WRITE, at, 1, 0, 0), &new[..4096]);
                    assert_eq!(outcome, Err(CommandStatus::ZONE_INVALID_WRITE), "{place}");
                }
            }
            7 if rng.chance(1, 3) => {
                manage(queue, start, send::RESET, place);
                (*data, *is_full) = (Vec::new(), false);
            }
            8 if rng.chance(1, 6) => {
                manage(queue, start, send::FINISH, place);
                *is_full = true;
            }
            9 => {
                let (_, zones) = report(queue, start, 0, 128);
                let pointer = (!*is_full).then_some(pointer);
                assert_eq!((zones[0].start, zones[0].write_pointer), (start, pointer), "{place}");
            }
            _ => self.read_back(rng, queue, index, place),
        }
    }

    /// A part of the zone: the written blocks, and zeroes behind them.
    fn read_back(&self, rng: &mut Rng, queue: &mut Queue, index: u64, place: &str) {
        let count = 1 + rng.below(40);
        let at = rng.below(self.size - count);
        let (start, bytes) = ((self.first + index) * self.size, count as usize * 4096);
        let read = blocks(nvm::READ, start + at, count as u32, 0, bytes as u32);
        let mut whole = self.zones[index as usize].0.clone();
        whole.resize(self.size as usize * 4096, 0);
        let expected = whole[at as usize * 4096..][..bytes].to_vec();
        assert_eq!(queue.execute(read, &[]), Ok((0, expected)), "{place}");
    }

    /// Several appends under way: each learns a place, and together they fill the zone without a gap.
    fn append_together(&mut self, rng: &mut Rng, queue: &mut Queue, index: u64, place: &str) {
        let start = (self.first + index) * self.size;
        let (data, is_full) = &mut self.zones[index as usize];
        let blocks_of = |byte: u8| vec![byte; (1 + u64::from(byte) % 3) as usize * 4096];
        let bytes: Vec<u8> = (0..1 + rng.below(6)).map(|_| 1 + rng.below(255) as u8).collect();
        let sent: Vec<_> = bytes
            .into_iter()
            .map(|byte| {
                let new = blocks_of(byte);
                let append = blocks(opcode::APPEND, start, (new.len() / 4096) as u32, 0, 0);
                (queue.send(append, &new, new.len() <= 8192), new)
            })
            .collect();
        for _ in 0..sent.len() {
            let (id, outcome) = queue.end();
            let (_, new) = sent.iter().find(|(sent, _)| *sent == id).expect("it was sent");
            match outcome {
                Ok((at, _)) => {
                    let at = (at - start) as usize * 4096;
                    data.resize(data.len().max(at + new.len()), 0);
                    data[at..at + new.len()].copy_from_slice(new);
                }
                Err(status) => {
                    let refusals = [CommandStatus::ZONE_FULL, CommandStatus::ZONE_BOUNDARY];
                    assert!(refusals.contains(&status), "{place}: {status:?}");
                }
            }
        }
        *is_full |= data.len() as u64 == self.capacity * 4096;
        let (_, zones) = report(queue, start, 0, 128);
        let pointer = (!*is_full).then_some(start + data.len() as u64 / 4096);
        assert_eq!(zones[0].write_pointer, pointer, "{place}");
    }
}
