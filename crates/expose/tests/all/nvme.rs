//! An NVMe drive over TCP: its answers, its data against an oracle, its erasure and its events.

use std::ops::Range;
use std::sync::Arc;

use base::Rng;
use expose::{Pace, SharedDisk};
use nvme::command::{Command, CopySource, DatasetRange, admin, nvm};
use nvme::fabrics::{ANY_CONTROLLER, DISCOVERY_NQN, discovery_entries};
use nvme::identify::{IdentifyController, IdentifyNamespace, namespace_list, structure};
use nvme::log::{SanitizeLog, SanitizeState, SmartLog, ocp_nand_written_bytes, page};
use nvme::power::{self, Transition};
use nvme::status::CommandStatus;

use crate::client::{config, config_of, cuttable, disk, disk_of, seeds};
use crate::nvme_host::{Host, Outcome, Place, Queue, blocks, command, digests, serve_nvme};

/// Sequences without another wish, and those of a full check.
const CASES: [u64; 2] = [30, 1000];
/// Commands of a sequence for each queue.
const COMMANDS: u64 = 60;
/// Forced unit access.
const FUA: u32 = 1 << 30;
/// Deallocate, of Write Zeroes.
const DEALLOCATES: u32 = 1 << 25;

/// A drive on a clock.
fn drive(pace: Pace) -> Arc<SharedDisk> {
    Arc::new(SharedDisk::new(disk(config(&[("interface.logical_block_bytes", "512")])), pace))
}

/// Serves a drive on the fast clock to at most 8 connections.
fn with_drive(work: impl FnOnce(&Place, &SharedDisk)) {
    let shared = drive(Pace::Fast);
    serve_nvme(&shared, &[], 8, |place| work(place, &shared));
}

/// A Copy of these blocks, each the first one and a number, to the blocks from `start` on; and its data.
fn copy(start: u64, sources: &[(u64, u32)], flags: u32) -> (Command, Vec<u8>) {
    let dwords = [start as u32, (start >> 32) as u32, (sources.len() as u32 - 1) | flags, 0, 0, 0];
    let of = |&(start, blocks): &(u64, u32)| CopySource { start, blocks }.encode();
    (command(nvm::COPY, 1, dwords, 0), sources.iter().flat_map(of).collect())
}

/// Firmware, and namespace management and attachment of a drive that does not deallocate.
#[test]
fn absent_commands_are_refused_and_not_announced() {
    const ADMIN: [u8; 4] = [0x10, 0x11, admin::NAMESPACE_MANAGEMENT, admin::NAMESPACE_ATTACHMENT];
    let config = config(&[("interface.deallocate", "ignored")]);
    let shared = Arc::new(SharedDisk::new(disk(config), Pace::Fast));
    serve_nvme(&shared, &[], 8, |place| {
        let mut host = Host::connect(place, digests(false));
        let effects = host.log(page::EFFECTS, 4096).expect("a log");
        for opcode in ADMIN {
            let refused = host.admin.execute(command(opcode, 1, [0; 6], 0), &[]);
            assert_eq!(refused, Err(CommandStatus::INVALID_OPCODE), "{opcode:#x}");
            assert_eq!(effects[4 * usize::from(opcode)], 0, "{opcode:#x}");
        }
        let controller = host.identify(structure::CONTROLLER, 0).expect("an answer");
        // OACS: firmware, namespaces.
        assert_eq!(controller[256] & 0b1100, 0);
    });
}

#[test]
fn a_host_finds_a_controller_and_a_namespace() {
    with_drive(|place, shared| {
        let mut host = Host::connect(place, digests(true));
        let controller = IdentifyController::decode(
            &host.identify(structure::CONTROLLER, 0).expect("an answer"),
        );
        assert_eq!(
            (controller.controller_id, &controller.subsystem),
            (host.controller_id, &place.nqn)
        );
        assert_eq!((controller.version, controller.namespaces), ((2, 0, 0), 16));
        assert!(controller.format && controller.sanitize_block && controller.volatile_write_cache);
        let namespace =
            IdentifyNamespace::decode(&host.identify(structure::NAMESPACE, 1).expect("an answer"));
        let capacity_bytes = shared.with(|disk| disk.shape().capacity_bytes);
        assert_eq!(namespace.layout().block_bytes, Some(512));
        assert_eq!((namespace.size_blocks, namespace.used_blocks), (capacity_bytes / 512, 0));
        let list = host.identify(structure::ACTIVE_NAMESPACES, 0).expect("a list");
        assert_eq!(namespace_list(&list), [1]);
        assert_eq!(
            namespace_list(&host.identify(structure::ACTIVE_NAMESPACES, 1).expect("a list")),
            [0; 0]
        );
        for structure in [
            structure::DESCRIPTORS,
            structure::NAMESPACE_OF_COMMAND_SET,
            structure::INDEPENDENT_NAMESPACE,
        ] {
            assert!(host.identify(structure, 1).is_ok(), "{structure:#x}");
            assert_eq!(host.identify(structure, 17), Err(CommandStatus::INVALID_NAMESPACE));
        }
        for structure in [structure::CONTROLLER_OF_COMMAND_SET, structure::COMMAND_SETS] {
            assert!(host.identify(structure, 0).is_ok(), "{structure:#x}");
        }
        assert_eq!(host.identify(0x77, 0), Err(CommandStatus::INVALID_FIELD));
        for (number, value) in [(0x07, 0x000f_000f), (0x06, 1), (0x0f, 0), (0x0b, 0)] {
            assert_eq!(host.feature(number), Ok((value, Vec::new())), "feature {number:#x}");
        }
        assert_eq!(host.set_feature(0x07, 0x0002_0003), Ok((0x0002_0003, Vec::new())));
        assert_eq!(host.feature(0x70), Err(CommandStatus::INVALID_FIELD));
        for number in [page::SUPPORTED, page::ERROR, page::FIRMWARE, page::EFFECTS, page::SANITIZE]
        {
            assert_eq!(host.log(number, 1024).map(|log| log.len()), Ok(1024), "log {number:#x}");
        }
        assert_eq!(host.log(0x70, 1024), Err(CommandStatus::INVALID_LOG));
        let errors = host.log(page::ERROR, 64).expect("a log");
        assert_eq!(
            errors[..2],
            [6, 0],
            "three namespaces, a structure, a feature and a log do not exist"
        );
    });
}

#[test]
fn a_host_discovers_the_drive() {
    with_drive(|place, _| {
        let mut queue = Queue::open(&place.path, digests(false));
        let status = queue.connect("nqn.2014-08.org.example:other", 0, ANY_CONTROLLER, 0);
        assert_eq!(status, Err(CommandStatus::CONNECT_PARAMETERS));
        let discovery = Place { nqn: DISCOVERY_NQN.to_owned(), ..place.clone() };
        let mut host = Host::connect(&discovery, digests(false));
        let controller = IdentifyController::decode(
            &host.identify(structure::CONTROLLER, 0).expect("an answer"),
        );
        assert!(controller.discovery);
        // A Unix socket has no address that an entry could name.
        assert_eq!(discovery_entries(&host.log(page::DISCOVERY, 2048).expect("a log")), []);
        assert_eq!(host.identify(structure::NAMESPACE, 1), Err(CommandStatus::INVALID_FIELD));
        assert_eq!(host.log(page::SMART, 512), Err(CommandStatus::INVALID_LOG));
    });
}

#[test]
fn only_listed_hosts_connect() {
    let shared = drive(Pace::Fast);
    serve_nvme(&shared, &["nqn.2014-08.org.example:other"], 8, |place| {
        let mut queue = Queue::open(&place.path, digests(false));
        let status = queue.connect(&place.nqn, 0, ANY_CONTROLLER, 0);
        assert_eq!(status, Err(CommandStatus::CONNECT_HOST));
    });
    serve_nvme(&shared, &[crate::nvme_host::HOST], 8, |place| {
        Host::connect(place, digests(false));
    });
}

#[test]
fn wrong_fields_have_their_status() {
    with_drive(|place, shared| {
        let mut host = Host::connect(place, digests(false));
        let mut queue = host.queue(1);
        let blocks_all = shared.with(|disk| disk.shape().capacity_bytes) / 512;
        let one = vec![5; 512];
        let cases = [
            (blocks(nvm::READ, blocks_all, 1, 0, 512), &[][..], CommandStatus::LBA_OUT_OF_RANGE),
            (blocks(nvm::READ, u64::MAX, 2, 0, 1024), &[], CommandStatus::LBA_OUT_OF_RANGE),
            (blocks(nvm::READ, 0, 2, 0, 512), &[], CommandStatus::DATA_LENGTH),
            (blocks(nvm::READ, 0, 4096, 0, 2 << 20), &[], CommandStatus::INVALID_FIELD),
            (blocks(nvm::READ, 0, 1, 1 << 26, 512), &[], CommandStatus::INVALID_FIELD),
            (blocks(nvm::WRITE, 0, 2, 0, 0), &one, CommandStatus::DATA_LENGTH),
            (
                blocks(nvm::WRITE_ZEROES, blocks_all - 1, 2, 0, 0),
                &[],
                CommandStatus::LBA_OUT_OF_RANGE,
            ),
            (command(nvm::FLUSH, 2, [0; 6], 0), &[], CommandStatus::INVALID_NAMESPACE),
            (command(0x79, 1, [0; 6], 0), &[], CommandStatus::INVALID_OPCODE),
            (blocks(nvm::COMPARE, 0, 1, 0, 0), &one, CommandStatus::COMPARE_FAILURE),
        ];
        for (command, data, status) in cases {
            assert_eq!(queue.execute(command, data), Err(status), "{command:?}");
        }
        let range = DatasetRange { attributes: 0, blocks: 2, start: blocks_all - 1 };
        let outcome = queue
            .execute(command(nvm::DATASET_MANAGEMENT, 1, [0, 4, 0, 0, 0, 0], 0), &range.encode());
        assert_eq!(outcome, Err(CommandStatus::LBA_OUT_OF_RANGE));
        assert_eq!(
            queue.execute(blocks(nvm::WRITE_UNCORRECTABLE, 8, 1, 0, 0), &[]),
            Ok((0, Vec::new()))
        );
        assert_eq!(
            queue.execute(blocks(nvm::READ, 8, 1, 0, 512), &[]),
            Err(CommandStatus::READ_ERROR)
        );
        assert_eq!(queue.execute(blocks(nvm::WRITE, 8, 1, 0, 0), &one), Ok((0, Vec::new())));
        assert_eq!(queue.execute(blocks(nvm::READ, 8, 1, 0, 512), &[]), Ok((0, one.clone())));
        assert_eq!(queue.execute(blocks(nvm::COMPARE, 8, 1, 0, 0), &one), Ok((0, Vec::new())));
        assert_eq!(queue.head, 17, "it counts the commands and Connect");
        shared.with(|disk| disk.faults.is_read_only = true);
        assert_eq!(
            queue.execute(blocks(nvm::WRITE, 8, 1, 0, 0), &one),
            Err(CommandStatus::WRITE_PROTECTED)
        );
        let smart = SmartLog::decode(&host.log(page::SMART, 512).expect("a log"));
        assert_eq!((smart.media_errors, smart.critical_warning), (1, 1 << 3));
        assert_eq!((smart.host_writes, smart.host_written_bytes), (1, 512_000));
    });
}

#[test]
fn a_copy_moves_data_within_the_drive_and_counts_as_a_write() {
    with_drive(|place, shared| {
        let mut host = Host::connect(place, digests(true));
        let mut queue = host.queue(1);
        let controller = IdentifyController::decode(
            &host.identify(structure::CONTROLLER, 0).expect("an answer"),
        );
        assert_eq!((controller.nvm_commands >> 8 & 1, controller.copy_formats), (1, 1));
        let effects = host.log(page::EFFECTS, 4096).expect("a log");
        assert_eq!(effects[1024 + 4 * usize::from(nvm::COPY)], 0b11, "it changes data");

        let data: Vec<u8> = (0..64 * 512_u32).map(|at| (at / 512) as u8).collect();
        queue.execute(blocks(nvm::WRITE, 0, 64, FUA, 0), &data).expect("it is written");
        let before = SmartLog::decode(&host.log(page::SMART, 512).expect("a log"));
        let pages = |shared: &SharedDisk| shared.with(|disk| disk.totals().telemetry.host_pages);
        let pages_before = pages(shared);
        // 1,003 blocks: ones from the middle, more than what the begin of the drive has, and again the first.
        let (command, sources) = copy(2005, &[(13, 2), (1000, 1000), (0, 1)], FUA);
        assert_eq!(queue.execute(command, &sources), Ok((0, Vec::new())));
        let (_, moved) = queue.execute(blocks(nvm::READ, 2005, 1003, 0, 1003 * 512), &[]).unwrap();
        let found: Vec<u8> = moved.chunks_exact(512).map(|block| block[0]).collect();
        let expected = [&[13, 14][..], &[0; 1000], &[0]].concat();
        assert_eq!(found, expected);

        let after = SmartLog::decode(&host.log(page::SMART, 512).expect("a log"));
        let [written, reads, writes] = [
            after.host_written_bytes - before.host_written_bytes,
            after.host_reads - before.host_reads,
            after.host_writes - before.host_writes,
        ];
        // 1,067 blocks written are two thousands, after one; the copy and the read are reads.
        assert_eq!((written, reads, writes), (512_000, 2, 1));
        assert_eq!(after.host_read_bytes - before.host_read_bytes, 2 * 512_000, "1,003 blocks");
        assert_eq!(pages(shared) - pages_before, 126, "the drive has written them too");

        // Sources that overlap the destination are read before it is written.
        let (command, sources) = copy(1, &[(0, 8), (8, 1)], 0);
        assert_eq!(queue.execute(command, &sources), Ok((0, Vec::new())));
        let (_, moved) = queue.execute(blocks(nvm::READ, 0, 10, 0, 5120), &[]).unwrap();
        let found: Vec<u8> = moved.chunks_exact(512).map(|block| block[0]).collect();
        assert_eq!(found, [0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
        shared.with(|disk| disk.drive().check()).expect("the drive is sound");
    });
}

#[test]
fn a_copy_with_wrong_fields_has_its_status_and_changes_nothing() {
    with_drive(|place, shared| {
        let mut host = Host::connect(place, digests(false));
        let mut queue = host.queue(1);
        let blocks_all = shared.with(|disk| disk.shape().capacity_bytes) / 512;
        let namespace =
            IdentifyNamespace::decode(&host.identify(structure::NAMESPACE, 1).expect("an answer"));
        let limits = namespace.copy;
        assert_eq!((limits.source_blocks, limits.blocks, limits.sources), (2048, 8192, 127));
        let largest = vec![(0, 2048); 4];
        let too_many = [&largest[..], &[(0, 1)]].concat();
        let cases = [
            (copy(9000, &[(0, 2049)], 0), CommandStatus::SIZE_LIMIT),
            (copy(9000, &too_many, 0), CommandStatus::SIZE_LIMIT),
            (copy(9000, &[(0, 1); 129], 0), CommandStatus::SIZE_LIMIT),
            (copy(9000, &[(0, 1), (blocks_all - 1, 2)], 0), CommandStatus::LBA_OUT_OF_RANGE),
            (copy(9000, &[(u64::MAX, 2)], 0), CommandStatus::LBA_OUT_OF_RANGE),
            (copy(blocks_all - 2, &[(0, 1), (4, 2)], 0), CommandStatus::LBA_OUT_OF_RANGE),
            (copy(9000, &[(0, 1)], 1 << 8), CommandStatus::INVALID_FIELD),
            (copy(9000, &[(0, 1)], 2 << 20), CommandStatus::INVALID_FIELD),
        ];
        for ((command, data), status) in cases {
            assert_eq!(queue.execute(command, &data), Err(status), "{command:?}");
        }
        let (short, data) = copy(9000, &[(0, 1), (4, 2)], 0);
        assert_eq!(queue.execute(short, &data[..32]), Err(CommandStatus::DATA_LENGTH));
        let (other, data) = copy(9000, &[(0, 1)], 0);
        let other = Command { namespace_id: 2, ..other };
        assert_eq!(queue.execute(other, &data), Err(CommandStatus::INVALID_NAMESPACE));
        assert_eq!(shared.with(|disk| disk.totals().telemetry.host_pages), 0);
        let (command, data) = copy(9000, &largest, 0);
        assert_eq!(queue.execute(command, &data), Ok((0, Vec::new())));

        queue.execute(blocks(nvm::WRITE_UNCORRECTABLE, 8, 1, 0, 0), &[]).expect("it is spoiled");
        let (command, data) = copy(9000, &[(0, 1), (7, 2)], 0);
        assert_eq!(queue.execute(command, &data), Err(CommandStatus::READ_ERROR));
        shared.with(|disk| disk.faults.is_read_only = true);
        let (command, data) = copy(9000, &[(0, 1)], 0);
        assert_eq!(queue.execute(command, &data), Err(CommandStatus::WRITE_PROTECTED));
    });
}

/// After a cut a page of the destination has its old data or that of the source, and the source keeps its own.
#[test]
fn a_power_cut_under_a_copy_leaves_each_page_old_or_new() {
    let of = |version: u8| vec![version; 64 * 4096];
    let mut seen = [0; 3];
    // It reads sixteen sources and then writes.
    for commands in 1..18 {
        let shared = Arc::new(SharedDisk::new(disk(cuttable(&[])), Pace::Fast));
        let pages = |first: u64| blocks(nvm::WRITE, first * 8, 512, FUA, 0);
        serve_nvme(&shared, &[], 8, |place| {
            let host = Host::connect(place, digests(false));
            let mut queue = host.queue(1);
            queue.execute(pages(0), &of(1)).expect("the source");
            queue.execute(pages(512), &of(2)).expect("the old destination");
            assert!(shared.with(|disk| disk.order_cut(commands)), "it can lose its power");
            let sources: Vec<_> = (0..16).map(|part| (part * 32, 32)).collect();
            let (command, data) = copy(512 * 8, &sources, FUA);
            let outcome = queue.execute(command, &data);
            let read = |queue: &mut Queue, first: u64| {
                let command = blocks(nvm::READ, first * 8, 512, 0, 64 * 4096);
                queue.execute(command, &[]).expect("it is readable").1
            };
            assert_eq!(read(&mut queue, 0), of(1), "the source, {commands} commands");
            let versions: Vec<u8> =
                read(&mut queue, 512).chunks_exact(4096).map(|page| page[0]).collect();
            assert_eq!(outcome, Err(CommandStatus::WRITE_FAULT));
            versions.iter().for_each(|&version| seen[usize::from(version)] += 1);
        });
    }
    assert_eq!(seen, [0, 64, 16 * 64], "cuts before the write, and at its end");
}

#[test]
fn erasure_empties_the_drive_and_the_books_stay_true() {
    with_drive(|place, shared| {
        let mut host = Host::connect(place, digests(true));
        let mut queue = host.queue(1);
        let data = vec![0xa5; 256 << 10];
        for start in (0..64).map(|index| index * 512) {
            queue.execute(blocks(nvm::WRITE, start, 512, FUA, 0), &data).expect("it is written");
        }
        let used = |host: &mut Host| {
            IdentifyNamespace::decode(&host.identify(structure::NAMESPACE, 1).expect("an answer"))
        };
        assert_eq!(used(&mut host).used_blocks, 64 * 512);
        let nand_bytes = ocp_nand_written_bytes(&host.log(page::OCP, 512).expect("a log"));
        let programmed = shared.with(|disk| disk.totals().telemetry.programmed_pages) * 4096;
        assert_eq!(nand_bytes, Some(programmed));
        assert!(programmed >= 16 << 20, "{programmed}");

        // Every second range, in one command.
        let ranges: Vec<u8> = (0..32)
            .flat_map(|index| {
                DatasetRange { attributes: 0, blocks: 512, start: index * 1024 }.encode()
            })
            .collect();
        let dataset = command(nvm::DATASET_MANAGEMENT, 1, [31, 4, 0, 0, 0, 0], 0);
        assert_eq!(queue.execute(dataset, &ranges), Ok((0, Vec::new())));
        assert_eq!(used(&mut host).used_blocks, 32 * 512);
        assert_eq!(
            shared.with(|disk| disk.drive().valid_pages()),
            32 * 64,
            "the drive knows it too"
        );
        assert_eq!(queue.execute(blocks(nvm::READ, 0, 8, 0, 4096), &[]), Ok((0, vec![0; 4096])));

        let format =
            |lba_format: u32| command(admin::FORMAT, 1, [lba_format | 1 << 9, 0, 0, 0, 0, 0], 0);
        assert_eq!(host.admin.execute(format(2), &[]), Err(CommandStatus::INVALID_FORMAT));
        assert_eq!(host.admin.execute(format(1), &[]), Ok((0, Vec::new())));
        let namespace = used(&mut host);
        assert_eq!((namespace.layout().block_bytes, namespace.used_blocks), (Some(4096), 0));
        assert_eq!(queue.execute(blocks(nvm::READ, 64, 1, 0, 4096), &[]), Ok((0, vec![0; 4096])));
        assert_eq!(shared.with(|disk| disk.drive().valid_pages()), 0);

        queue.execute(blocks(nvm::WRITE, 3, 2, 0, 0), &data[..8192]).expect("it is written");
        for action in [0, 5, 2 | 1 << 9] {
            let refused = host.admin.execute(sanitize(action), &[]);
            assert_eq!(refused, Err(CommandStatus::INVALID_FIELD), "{action:#x}");
        }
        assert_eq!(host.admin.execute(sanitize(2), &[]), Ok((0, Vec::new())));
        let state = SanitizeState::Completed;
        assert_eq!(sanitize_log(&mut host), SanitizeLog { state, ..SanitizeLog::NEVER });
        assert_eq!(queue.execute(blocks(nvm::READ, 3, 2, 0, 8192), &[]), Ok((0, vec![0; 8192])));
        shared.with(|disk| disk.drive().check()).expect("the drive is sound");
    });
}

fn sanitize(action: u32) -> Command {
    command(admin::SANITIZE, 0, [action, 0, 0, 0, 0, 0], 0)
}

fn sanitize_log(host: &mut Host) -> SanitizeLog {
    SanitizeLog::decode(&host.log(page::SANITIZE, 512).expect("a log"))
}

#[test]
fn an_overwrite_programs_every_page_in_each_pass_and_empties_the_drive() {
    const OVERWRITE: u32 = 3;
    with_drive(|place, shared| {
        let mut host = Host::connect(place, digests(false));
        let mut queue = host.queue(1);
        let controller = IdentifyController::decode(
            &host.identify(structure::CONTROLLER, 0).expect("an answer"),
        );
        assert!(controller.sanitize_overwrite);
        queue.execute(blocks(nvm::WRITE, 64, 8, 0, 0), &[7; 4096]).expect("it is written");
        let books = |shared: &SharedDisk| {
            shared.with(|disk| (disk.totals().telemetry.programmed_pages, disk.drive().now().0))
        };
        let before = books(shared);
        let smart = host.log(page::SMART, 512).expect("a log");
        let passes = 2;
        assert_eq!(host.admin.execute(sanitize(OVERWRITE | passes << 4), &[]), Ok((0, vec![])));
        let log = sanitize_log(&mut host);
        assert_eq!((log.state, log.passes), (SanitizeState::Completed, 2));
        let after = books(shared);
        let (shape, link_bytes_per_s) = shared
            .with(|disk| (*disk.shape(), disk.drive().config().interface.link_write_bytes_per_s));
        let written_bytes = u64::from(passes) * shape.capacity_bytes;
        assert!((after.0 - before.0) * 4096 >= written_bytes, "{before:?} {after:?}");
        let least_ns = written_bytes * 1000 / (link_bytes_per_s / 1_000_000);
        assert!(after.1 - before.1 >= least_ns, "{least_ns} ns: {before:?} {after:?}");
        assert_eq!(
            shared.with(|disk| (disk.drive().valid_pages(), disk.contents().pages())),
            (0, 0)
        );
        assert_eq!(queue.execute(blocks(nvm::READ, 64, 8, 0, 4096), &[]), Ok((0, vec![0; 4096])));
        // The host has written nothing more.
        assert_eq!(host.log(page::SMART, 512).expect("a log")[48..64], smart[48..64]);
        assert_eq!(host.admin.execute(sanitize(OVERWRITE), &[]), Ok((0, vec![])));
        assert_eq!(sanitize_log(&mut host).passes, 16, "as many as 0 stands for");
        shared.with(|disk| disk.drive().check()).expect("the drive is sound");
    });
}

#[test]
fn an_overwrite_tells_its_progress_and_nobody_reads_meanwhile() {
    // The drive takes a quarter of a second.
    let shared = drive(Pace::Real { slowdown: 8 });
    serve_nvme(&shared, &[], 8, |place| {
        let mut host = Host::connect(place, digests(false));
        let mut queue = host.queue(1);
        assert_eq!(host.admin.execute(sanitize(3 | 1 << 4), &[]), Ok((0, vec![])));
        let read = blocks(nvm::READ, 64, 8, 0, 4096);
        assert_eq!(queue.execute(read, &[]), Err(CommandStatus::SANITIZING));
        assert_eq!(host.admin.execute(sanitize(2), &[]), Err(CommandStatus::SANITIZING));
        let format = command(admin::FORMAT, 1, [0; 6], 0);
        assert_eq!(host.admin.execute(format, &[]), Err(CommandStatus::SANITIZING));
        let mut seen = vec![0];
        loop {
            let log = sanitize_log(&mut host);
            if log.state != SanitizeState::InProgress {
                assert_eq!((log.state, log.passes), (SanitizeState::Completed, 1));
                break;
            }
            if seen.last() != Some(&log.progress) {
                seen.push(log.progress);
            }
        }
        assert!(seen.is_sorted() && seen.len() > 10, "{seen:?}");
        assert_eq!(queue.execute(read, &[]), Ok((0, vec![0; 4096])));
    });
}

#[test]
fn a_drive_that_keeps_deallocated_data_is_not_erased() {
    let shared =
        Arc::new(SharedDisk::new(disk(config(&[("interface.deallocate", "ignored")])), Pace::Fast));
    serve_nvme(&shared, &[], 8, |place| {
        let mut host = Host::connect(place, digests(false));
        let controller = IdentifyController::decode(
            &host.identify(structure::CONTROLLER, 0).expect("an answer"),
        );
        assert!(!controller.format && !controller.sanitize_block);
        let format = command(admin::FORMAT, 1, [0; 6], 0);
        assert_eq!(host.admin.execute(format, &[]), Err(CommandStatus::INVALID_OPCODE));
    });
}

fn set_transitions(host: &mut Host, is_on: bool, table: &[u8]) -> Outcome {
    let dwords = [power::FEATURE.into(), is_on.into(), 0, 0, 0, 0];
    host.admin.execute(command(admin::SET_FEATURES, 0, dwords, 0), table)
}

#[test]
fn a_host_sees_the_idle_power_states_and_keeps_the_drive_awake() {
    // It sleeps after 100 ms and needs 10 ms to wake.
    let config = config_of("samsung-840-pro-256gb", &[], 1024);
    let shared = Arc::new(SharedDisk::new(disk(config), Pace::Fast));
    serve_nvme(&shared, &[], 8, |place| {
        let mut host = Host::connect(place, digests(false));
        let mut queue = host.queue(1);
        let controller = IdentifyController::decode(
            &host.identify(structure::CONTROLLER, 0).expect("an answer"),
        );
        assert!(controller.autonomous_power && controller.power_states[1].idle);
        let get = |host: &mut Host| {
            let dwords = [power::FEATURE.into(), 0, 0, 0, 0, 0];
            host.admin.execute(command(admin::GET_FEATURES, 0, dwords, 256), &[]).expect("a table")
        };
        let (is_on, table) = get(&mut host);
        let found = power::transitions(&table);
        assert_eq!((is_on, found[0]), (1, Some(Transition { to: 1, after_ms: 100 })));
        let wait_ns = |queue: &mut Queue| {
            let now = || shared.with(|disk| disk.drive().now());
            let idle = base::Nanos(now().0 + 2 * base::Nanos::SECOND.0);
            shared.with(|disk| disk.advance(idle));
            let before = now();
            queue.execute(blocks(nvm::READ, 0, 8, 0, 4096), &[]).expect("a read");
            now().0 - before.0
        };
        assert!(wait_ns(&mut queue) >= 10_000_000, "it slept");
        let other = power::table(&[Some(Transition { to: 1, after_ms: 50 })]);
        assert_eq!(set_transitions(&mut host, true, &other), Err(CommandStatus::NOT_CHANGEABLE));
        assert_eq!(set_transitions(&mut host, true, &table[..8]), Err(CommandStatus::DATA_LENGTH));
        assert_eq!(set_transitions(&mut host, false, &[0; 256]), Ok((0, vec![])));
        assert_eq!(get(&mut host), (0, table.clone()));
        assert!(wait_ns(&mut queue) < 10_000_000, "it was awake");
        assert_eq!(set_transitions(&mut host, true, &table), Ok((0, vec![])));
        assert!(wait_ns(&mut queue) >= 10_000_000, "it slept");
        set_transitions(&mut host, false, &[0; 256]).expect("it is awake");
        host.enable(false);
        host.enable(true);
        assert!(wait_ns(&mut queue) >= 10_000_000, "it slept again");
    });
    let stateless = disk(config_of("intel-ssd-750-400gb", &[], 2000));
    let stateless = Arc::new(SharedDisk::new(stateless, Pace::Fast));
    serve_nvme(&stateless, &[], 8, |place| {
        let mut host = Host::connect(place, digests(false));
        assert_eq!(host.feature(power::FEATURE), Err(CommandStatus::INVALID_FIELD), "no states");
        let set = set_transitions(&mut host, false, &[0; 256]);
        assert_eq!(set, Err(CommandStatus::INVALID_FIELD));
    });
}

#[test]
fn events_reach_the_hosts_that_want_them() {
    with_drive(|place, shared| {
        let mut host = Host::connect(place, digests(false));
        host.set_feature(0x0b, 1 << 3 | 1 << 8).expect("a feature");
        let held = host.admin.send(command(admin::ASYNC_EVENT, 0, [0; 6], 0), &[], false);
        shared.with(|disk| disk.faults.is_read_only = true);
        assert_eq!(host.admin.end(), (held, Ok((0x0002_0001, Vec::new()))), "reliability, log 02h");

        // No second one of the type before the log is read, and one of another type.
        let held = host.admin.send(command(admin::ASYNC_EVENT, 0, [0; 6], 0), &[], false);
        shared.with(|disk| disk.faults.is_read_only = false);
        let mut other = Host::connect(place, digests(false));
        let format = command(admin::FORMAT, 1, [1, 0, 0, 0, 0, 0], 0);
        assert_eq!(other.admin.execute(format, &[]), Ok((0, Vec::new())));
        assert_eq!(
            host.admin.end(),
            (held, Ok((0x0004_0002, Vec::new()))),
            "namespace changed, log 04h"
        );
        assert_eq!(namespace_list(&host.log(page::CHANGED_NAMESPACES, 4096).expect("a log")), [1]);
        assert_eq!(
            namespace_list(&host.log(page::CHANGED_NAMESPACES, 4096).expect("a log")),
            [0; 0]
        );

        let held = host.admin.send(command(admin::ASYNC_EVENT, 0, [0; 6], 0), &[], false);
        let abort = host.admin.send(
            command(admin::ABORT, 0, [u32::from(held) << 16, 0, 0, 0, 0, 0], 0),
            &[],
            false,
        );
        assert_eq!(host.admin.end(), (held, Err(CommandStatus::ABORTED)));
        assert_eq!(host.admin.end(), (abort, Ok((0, Vec::new()))));
        let held: Vec<u16> = (0..4)
            .map(|_| host.admin.send(command(admin::ASYNC_EVENT, 0, [0; 6], 0), &[], false))
            .collect();
        let fifth = host.admin.send(command(admin::ASYNC_EVENT, 0, [0; 6], 0), &[], false);
        assert_eq!(host.admin.end(), (fifth, Err(CommandStatus::EVENT_REQUESTS)), "{held:?}");
    });
}

#[test]
fn a_power_cut_fails_commands_under_way_and_no_others() {
    let shared = Arc::new(SharedDisk::new(
        disk(cuttable(&[("interface.logical_block_bytes", "512")])),
        Pace::Fast,
    ));
    serve_nvme(&shared, &[], 8, |place| {
        let host = Host::connect(place, digests(false));
        let mut queue = host.queue(1);
        let (kept, lost) = (vec![1; 4096], vec![2; 4096]);
        let write = |block: u64| blocks(nvm::WRITE, block * 8, 8, 0, 0);
        queue.execute(blocks(nvm::WRITE, 0, 8, FUA, 0), &kept).expect("it is durable");
        assert!(shared.with(|disk| disk.order_cut(3)), "it can lose its power");
        for block in 1..17 {
            queue.send(write(block), &lost, true);
        }
        for _ in 1..17 {
            let (_, outcome) = queue.end();
            assert!(matches!(outcome, Ok(_) | Err(CommandStatus::WRITE_FAULT)), "{outcome:?}");
        }
        assert_eq!(shared.with(|disk| disk.cuts_made()), 1);
        assert_eq!(queue.execute(blocks(nvm::READ, 0, 8, 0, 4096), &[]), Ok((0, kept)));
        assert_eq!(queue.execute(write(3), &lost), Ok((0, Vec::new())));
    });
}

#[test]
fn random_sequences_give_the_contents_of_the_oracle() {
    seeds(CASES[0], CASES[1]).for_each(sequence);
}

/// One server with a small drive and one to four queues at the same time, each with a region of its own.
fn sequence(seed: u64) {
    let mut rng = Rng::split(seed, "nvme oracle");
    let disk = disk_of(&mut rng);
    let deallocates = disk.shape().deallocates;
    let (capacity_bytes, page_bytes) = (disk.shape().capacity_bytes, disk.shape().page_bytes);
    let pace = if rng.below(4) == 0 { Pace::Real { slowdown: 1 } } else { Pace::Fast };
    let shared = Arc::new(SharedDisk::new(disk, pace));
    let queues = 1 + rng.below(4);
    let block_bytes = [512, 4096][rng.below(2) as usize];
    let digests = digests(rng.chance(1, 2));
    // Connections that have ended without a word stay for a moment.
    serve_nvme(&shared, &[], 256, |place| {
        let mut host = Host::connect(place, digests);
        if deallocates {
            let format =
                command(admin::FORMAT, 1, [u32::from(block_bytes == 4096), 0, 0, 0, 0, 0], 0);
            assert_eq!(host.admin.execute(format, &[]), Ok((0, Vec::new())));
        }
        let namespace =
            IdentifyNamespace::decode(&host.identify(structure::NAMESPACE, 1).expect("an answer"));
        let block_bytes = u64::from(namespace.layout().block_bytes.expect("a size"));
        let host = &host;
        std::thread::scope(|scope| {
            for index in 0..queues {
                let first = index * (capacity_bytes / queues) / page_bytes * page_bytes;
                let rng = Rng::split(seed, &format!("queue {index}"));
                let oracle = vec![0; 600_000 / page_bytes as usize * page_bytes as usize];
                scope.spawn(move || {
                    let queue_id = index as u16 + 1;
                    let queue = host.queue(queue_id);
                    let trims_to = deallocates.then_some(page_bytes);
                    Region {
                        host,
                        queue_id,
                        queue,
                        first,
                        block_bytes,
                        trims_to,
                        oracle,
                        rng,
                        seed,
                    }
                    .work();
                });
            }
        });
    });
    let disk = Arc::into_inner(shared).expect("nobody else has it").into_disk();
    disk.drive().check().unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
}

/// An outstanding command: its number, the bytes that it touches, and the data that it must return.
type Open = (u16, Vec<Range<usize>>, Option<Vec<u8>>);

/// A region of the drive and what it must contain.
struct Region<'a> {
    host: &'a Host,
    queue_id: u16,
    queue: Queue,
    /// First byte.
    first: u64,
    block_bytes: u64,
    /// Size of the pages that a deallocation empties, or `None` if it empties none.
    trims_to: Option<u64>,
    oracle: Vec<u8>,
    rng: Rng,
    seed: u64,
}

impl Region<'_> {
    fn work(mut self) {
        for _ in 0..COMMANDS {
            if self.rng.chance(1, 20) {
                self.reconnect();
            }
            let mut open: Vec<Open> = Vec::new();
            for _ in 0..1 + self.rng.below(6) {
                let range = self.range();
                let sources =
                    if self.rng.chance(1, 8) { self.sources(range.len()) } else { Vec::new() };
                let touched = [&[range.clone()][..], &sources].concat();
                // The order of commands that are outstanding together is open.
                let is_apart = |other: &Range<usize>| {
                    touched.iter().all(|own| other.end <= own.start || own.end <= other.start)
                };
                if open.iter().all(|(_, others, _)| others.iter().all(is_apart)) {
                    let (id, expected) = if sources.is_empty() {
                        self.send(range)
                    } else {
                        (self.send_copy(&range, &sources), None)
                    };
                    open.push((id, touched, expected));
                }
            }
            for _ in 0..open.len() {
                let (id, outcome) = self.queue.end();
                let (_, range, expected) =
                    open.iter().find(|(other, ..)| *other == id).expect("it was sent");
                let (_, data) = outcome
                    .unwrap_or_else(|status| panic!("seed {}: {status:?} of {range:?}", self.seed));
                assert!(
                    expected.as_ref().is_none_or(|expected| *expected == data),
                    "seed {}: {range:?}",
                    self.seed
                );
            }
        }
        let whole = 0..self.oracle.len();
        let (_, expected) = self.read(whole);
        assert!(
            self.queue.end().1.is_ok_and(|(_, data)| Some(data) == expected),
            "seed {}",
            self.seed
        );
    }

    /// Leaves the queue without a word, and comes back with another connection.
    fn reconnect(&mut self) {
        let Place { path, nqn } = &self.host.place;
        let (digests, id) = (digests(true), self.host.controller_id);
        self.queue = Queue::open(path, digests);
        let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
        // The server learns of the end of the other one in its own time.
        while self.queue.connect(nqn, self.queue_id, id, 0).is_err() {
            assert!(std::time::Instant::now() < end, "seed {}: no way back", self.seed);
            std::thread::sleep(std::time::Duration::from_millis(2));
            self.queue = Queue::open(path, digests);
        }
    }

    fn range(&mut self) -> Range<usize> {
        let blocks = self.oracle.len() as u64 / self.block_bytes;
        let start = self.rng.below(blocks);
        let most = (blocks - start).min(if self.rng.chance(1, 4) { 300 } else { 12 });
        let end = start + 1 + self.rng.below(most);
        (start * self.block_bytes) as usize..(end * self.block_bytes) as usize
    }

    /// Ranges that are together as long as a destination; they may overlap it, and one another.
    fn sources(&mut self, bytes: usize) -> Vec<Range<usize>> {
        let (mut sources, mut left) = (Vec::new(), bytes as u64 / self.block_bytes);
        while left > 0 {
            let blocks = if sources.len() < 7 { 1 + self.rng.below(left) } else { left };
            let start = self.rng.below(self.oracle.len() as u64 / self.block_bytes - blocks + 1);
            let end = start + blocks;
            sources.push((start * self.block_bytes) as usize..(end * self.block_bytes) as usize);
            left -= blocks;
        }
        sources
    }

    /// Sends a copy.
    fn send_copy(&mut self, range: &Range<usize>, sources: &[Range<usize>]) -> u16 {
        let data: Vec<u8> =
            sources.iter().flat_map(|source| self.oracle[source.clone()].to_vec()).collect();
        self.oracle[range.clone()].copy_from_slice(&data);
        let sources: Vec<_> = sources.iter().map(|source| self.blocks(source)).collect();
        let fua = if self.rng.chance(1, 8) { FUA } else { 0 };
        let (command, data) = copy(self.blocks(range).0, &sources, fua);
        self.queue.send(command, &data, self.rng.chance(1, 2))
    }

    fn blocks(&self, range: &Range<usize>) -> (u64, u32) {
        let start = (self.first + range.start as u64) / self.block_bytes;
        (start, ((range.end - range.start) as u64 / self.block_bytes) as u32)
    }

    fn read(&mut self, range: Range<usize>) -> (u16, Option<Vec<u8>>) {
        let (start, count) = self.blocks(&range);
        let bytes = (range.end - range.start) as u32;
        let id = self.queue.send(blocks(nvm::READ, start, count, 0, bytes), &[], false);
        (id, Some(self.oracle[range].to_vec()))
    }

    /// Sends a command for these bytes. Returns its number and the data that it must return.
    fn send(&mut self, range: Range<usize>) -> (u16, Option<Vec<u8>>) {
        let (start, count) = self.blocks(&range);
        let fua = if self.rng.chance(1, 8) { FUA } else { 0 };
        let id = match self.rng.below(12) {
            0 => self.queue.send(command(nvm::FLUSH, 1, [0; 6], 0), &[], false),
            1 => self.queue.send(blocks(nvm::VERIFY, start, count, 0, 0), &[], false),
            2 => {
                let data = self.oracle[range].to_vec();
                let in_capsule = data.len() <= 8192;
                self.queue.send(blocks(nvm::COMPARE, start, count, 0, 0), &data, in_capsule)
            }
            3 => {
                if let Some(page_bytes) = self.trims_to {
                    // A block of a partial page may be zero or what it was: the drive decides by pages.
                    let page_bytes = page_bytes as usize;
                    let whole = range.start.next_multiple_of(page_bytes)
                        ..range.end / page_bytes * page_bytes;
                    if !whole.is_empty() {
                        self.oracle[whole].fill(0);
                    }
                }
                let range = DatasetRange { attributes: 0, blocks: count, start };
                self.queue.send(
                    command(nvm::DATASET_MANAGEMENT, 1, [0, 4, 0, 0, 0, 0], 0),
                    &range.encode(),
                    true,
                )
            }
            4 => {
                self.oracle[range].fill(0);
                let flags = if self.rng.chance(1, 2) { DEALLOCATES } else { 0 };
                self.queue.send(blocks(nvm::WRITE_ZEROES, start, count, flags | fua, 0), &[], false)
            }
            5..9 => {
                let mut data = vec![0; range.len()];
                data.iter_mut().for_each(|byte| *byte = self.rng.next_u64() as u8);
                self.oracle[range].copy_from_slice(&data);
                let in_capsule = data.len() <= 8192 && self.rng.chance(1, 2);
                self.queue.send(blocks(nvm::WRITE, start, count, fua, 0), &data, in_capsule)
            }
            _ => return self.read(range),
        };
        (id, None)
    }
}
