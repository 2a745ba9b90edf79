//! A drive with placement handles over NVMe/TCP: its structures, its logs beside the books, and writes that name a handle.

use std::sync::Arc;

use base::Rng;
use expose::{Pace, SharedDisk};
use nvme::command::{Command, admin, nvm};
use nvme::fdp::{self, Configuration, HandleStatus, PlacementEvent, Statistics, event};
use nvme::identify::{IdentifyController, IdentifyNamespace, structure};
use nvme::log::{ocp_nand_written_bytes, page};
use nvme::status::CommandStatus;

use crate::client::{config, disk};
use crate::nvme_host::{Host, Queue, blocks, command, digests, serve_nvme};

const HANDLES: u16 = 4;

/// A drive of 120 MB with four handles.
fn with_drive(isolation: &str, work: impl FnOnce(&mut Host, &mut Queue, &SharedDisk)) {
    let keys = [
        ("interface.kind", "nvme"),
        ("interface.placement_handles", "4"),
        ("gc.handle_isolation", isolation),
    ];
    let shared = Arc::new(SharedDisk::new(disk(config(&keys)), Pace::Fast));
    serve_nvme(&shared, &[], 8, |place| {
        let mut host = Host::connect(place, digests(true));
        let mut queue = host.queue(1);
        work(&mut host, &mut queue, &shared);
    });
    shared.with(|disk| disk.drive().check()).expect("the drive is sound");
}

/// A log of an endurance group; of events those of the host.
fn log(host: &mut Host, page: u8, bytes: u32, group: u16) -> Result<Vec<u8>, CommandStatus> {
    let first = u32::from(page) | 1 << 8 | (bytes / 4 - 1) << 16;
    let dwords = [first, u32::from(group) << 16, 0, 0, 0, 0];
    Ok(host.admin.execute(command(admin::GET_LOG_PAGE, 0, dwords, bytes), &[])?.1)
}

/// A write with a directive.
fn write(start: u64, count: u32, directive: u8, specific: u16) -> Command {
    let mut write = blocks(nvm::WRITE, start, count, u32::from(directive) << 20, 0);
    write.dwords[3] = u32::from(specific) << 16;
    write
}

#[test]
fn the_structures_name_one_group_with_its_handles() {
    for (isolation, persistent) in [("initial", false), ("persistent", true)] {
        with_drive(isolation, |host, queue, shared| {
            let controller =
                IdentifyController::decode(&host.identify(structure::CONTROLLER, 0).unwrap());
            assert!(controller.placement);
            let namespace =
                IdentifyNamespace::decode(&host.identify(structure::NAMESPACE, 1).unwrap());
            assert_eq!(namespace.endurance_group, fdp::ENDURANCE_GROUP);
            let groups = host.identify(structure::ENDURANCE_GROUPS, 0).unwrap();
            assert_eq!(groups[..4], [1, 0, 1, 0], "one, of number 1");
            let geometry = shared.with(|disk| disk.drive().config().geometry);
            let found = log(host, page::PLACEMENT_CONFIGURATIONS, 128, 1).unwrap();
            let expected = Configuration {
                groups: 1,
                group_bits: 0,
                handles: HANDLES,
                is_persistent: persistent,
                unit_bytes: u64::from(geometry.superblock_data_pages()) * 4096,
                namespaces: 1,
            };
            assert_eq!(Configuration::decode(&found, 0), Some(expected));
            assert_eq!(found[4..8], [96, 0, 0, 0], "16 bytes, 64, and 4 for each of four handles");
            let usage = log(host, page::PLACEMENT_USAGE, 64, 1).unwrap();
            assert_eq!((usage[0], usage[8], usage[32], usage[40]), (4, 2, 2, 0));
            let wrong = log(host, page::PLACEMENT_STATISTICS, 64, 2);
            assert_eq!(wrong, Err(CommandStatus::INVALID_FIELD), "there is no second group");
            let feature = |host: &mut Host, group| {
                let dwords = [fdp::feature::PLACEMENT.into(), group, 0, 0, 0, 0];
                host.admin.execute(command(admin::GET_FEATURES, 0, dwords, 0), &[])
            };
            assert_eq!(feature(host, 1), Ok((1, vec![])), "switched on, configuration 0");
            assert_eq!(feature(host, 2), Err(CommandStatus::INVALID_FIELD));
            let off = command(admin::SET_FEATURES, 0, [0x1d, 1, 0, 0, 0, 0], 0);
            assert_eq!(host.admin.execute(off, &[]), Err(CommandStatus::NOT_CHANGEABLE));
            let receive = command(admin::DIRECTIVE_RECEIVE, 1, [1023, 1, 0, 0, 0, 0], 4096);
            let directives = host.admin.execute(receive, &[]).expect("parameters").1;
            assert_eq!((directives[0], directives[32], directives[64]), (0b101, 0b101, 0b101));
            let handles = status(queue);
            let whole = expected.unit_bytes / u64::from(namespace.layout().block_bytes.unwrap());
            let full = |handle: &HandleStatus| handle.left_blocks == whole;
            assert!(handles.len() == 4 && handles.iter().all(full), "{handles:?}");
        });
    }
}

fn status(queue: &mut Queue) -> Vec<HandleStatus> {
    let receive = command(fdp::opcode::MANAGEMENT_RECEIVE, 1, [1, 63, 0, 0, 0, 0], 256);
    HandleStatus::decode_all(&queue.execute(receive, &[]).expect("states").1)
}

#[test]
fn a_drive_without_handles_has_no_placement() {
    let shared = Arc::new(SharedDisk::new(disk(config(&[])), Pace::Fast));
    serve_nvme(&shared, &[], 8, |place| {
        let mut host = Host::connect(place, digests(false));
        let mut queue = host.queue(1);
        let controller =
            IdentifyController::decode(&host.identify(structure::CONTROLLER, 0).unwrap());
        assert!(!controller.placement);
        let found = log(&mut host, page::PLACEMENT_STATISTICS, 64, 1);
        assert_eq!(found, Err(CommandStatus::INVALID_LOG));
        let data = vec![1; 512];
        let refused = queue.execute(write(0, 1, fdp::DIRECTIVE, 0), &data);
        assert_eq!(refused, Err(CommandStatus::INVALID_FIELD));
        let receive = command(fdp::opcode::MANAGEMENT_RECEIVE, 1, [1, 63, 0, 0, 0, 0], 256);
        assert_eq!(queue.execute(receive, &[]), Err(CommandStatus::INVALID_OPCODE));
    });
}

/// Hot and cold blocks in turn: the rewrites of the hot ones cost less where each has a handle. The statistics are those of
/// the drive's books, to the page.
#[test]
fn handles_keep_data_apart_and_the_statistics_close() {
    let waf = |separate: bool| {
        let mut waf = 0.0;
        with_drive("initial", |host, queue, shared| {
            let namespace =
                IdentifyNamespace::decode(&host.identify(structure::NAMESPACE, 1).unwrap());
            let block = u64::from(namespace.layout().block_bytes.unwrap());
            let pages = namespace.size_blocks * block / 4096;
            let (count, data) = ((4096 / block) as u32, vec![7; 4096]);
            let mut put = |page: u64, handle: u16| {
                let write = write(page * u64::from(count), count, fdp::DIRECTIVE, handle);
                queue.execute(write, &data).expect("it is written");
            };
            let hot = pages / 5;
            let mut rng = Rng::new(1);
            for page in 0..pages {
                // Every fifth page is hot.
                let handle = if page % 5 == 0 { 1 } else { 2 };
                put(page, if separate { handle } else { 0 });
            }
            let of = |host: &mut Host| {
                let found = log(host, page::PLACEMENT_STATISTICS, 64, 1).unwrap();
                Statistics::decode(&found)
            };
            let before = of(host);
            for _ in 0..2 * pages {
                put(5 * rng.below(hot), u16::from(separate));
            }
            let after = of(host);
            let totals = shared.with(|disk| disk.totals().telemetry);
            assert_eq!(after.host_written_bytes, u128::from(3 * pages * 4096));
            let programmed = u128::from(totals.programmed_pages * 4096);
            let ocp = ocp_nand_written_bytes(&host.log(page::OCP, 512).unwrap());
            assert_eq!((after.media_written_bytes, ocp), (programmed, Some(programmed as u64)));
            let superblock = shared.with(|disk| disk.drive().config().geometry.superblock_bytes());
            let erased = u128::from(totals.erased_superblocks * superblock);
            assert_eq!(after.media_erased_bytes, erased);
            assert!(erased > 0);
            let media = after.media_written_bytes - before.media_written_bytes;
            let host_bytes = after.host_written_bytes - before.host_written_bytes;
            waf = media as f64 / host_bytes as f64;
        });
        waf
    };
    let (mixed, separate) = (waf(false), waf(true));
    println!("WAF {mixed:.3} mixed, {separate:.3} separate");
    assert!(separate < 0.95 * mixed, "{separate} of {mixed}");
}

#[test]
fn a_write_moves_on_in_the_unit_of_its_handle_alone() {
    with_drive("persistent", |_, queue, _| {
        let before = status(queue);
        let data = vec![7; 8 * 512];
        queue.execute(write(0, 8, fdp::DIRECTIVE, 2), &data).expect("it is written");
        let after = status(queue);
        for (handle, (before, after)) in before.iter().zip(&after).enumerate() {
            let taken = before.left_blocks - after.left_blocks;
            assert_eq!(taken > 0, handle == 2, "handle {handle}: {taken} blocks");
        }
    });
}

#[test]
fn an_unknown_identifier_is_an_event_for_those_who_ask() {
    with_drive("initial", |host, queue, _| {
        let data = vec![7; 512];
        let wrong = write(0, 1, fdp::DIRECTIVE, 9);
        assert_eq!(queue.execute(wrong, &data), Ok((0, vec![])), "it takes the first handle");
        let events = |host: &mut Host| {
            PlacementEvent::decode_all(&log(host, page::PLACEMENT_EVENTS, 256, 1).unwrap())
        };
        assert_eq!(events(host), [], "nobody has asked");
        let dwords = [fdp::feature::EVENTS.into(), 1 << 16, 1, 0, 0, 0];
        let ask = command(admin::SET_FEATURES, 1, dwords, 0);
        assert_eq!(host.admin.execute(ask, &[event::INVALID_PLACEMENT]), Ok((0, vec![])));
        assert_eq!(queue.execute(wrong, &data), Ok((0, vec![])));
        let found = events(host);
        let expected = (1, event::INVALID_PLACEMENT, 9, 1);
        let PlacementEvent { kind, placement, namespace_id, .. } = found[0];
        assert_eq!((found.len(), kind, placement, namespace_id), expected);
        let unknown = write(0, 1, 1, 0);
        assert_eq!(queue.execute(unknown, &data), Err(CommandStatus::INVALID_FIELD), "streams");
    });
}

/// I/O Management Send for these identifiers.
fn exchange(queue: &mut Queue, identifiers: &[u16]) -> Result<(), CommandStatus> {
    let data: Vec<u8> = identifiers.iter().flat_map(|id| id.to_le_bytes()).collect();
    let dwords = [1 | (identifiers.len() as u32 - 1) << 16, 0, 0, 0, 0, 0];
    let send = command(fdp::opcode::MANAGEMENT_SEND, 1, dwords, data.len() as u32);
    queue.execute(send, &data).map(drop)
}

#[test]
fn a_host_exchanges_units_before_they_are_full() {
    with_drive("initial", |host, queue, shared| {
        let whole = status(queue);
        let data = vec![7; 8 * 512];
        for handle in [1, 3] {
            queue.execute(write(0, 8, fdp::DIRECTIVE, handle), &data).expect("it is written");
        }
        let begun = status(queue);
        assert_eq!(exchange(queue, &[1, 9]), Err(CommandStatus::INVALID_FIELD));
        assert_eq!(status(queue), begun, "one unknown identifier, and no unit is exchanged");
        let dwords = [fdp::feature::EVENTS.into(), 1 << 16, 1, 0, 0, 0];
        let ask = command(admin::SET_FEATURES, 1, dwords, 0);
        assert_eq!(host.admin.execute(ask, &[event::UNIT_NOT_FULL]), Ok((0, vec![])));
        let moved =
            |shared: &SharedDisk| shared.with(|disk| disk.totals().telemetry.gc_moved_pages);
        let before = moved(shared);
        assert_eq!(exchange(queue, &[1, 2]), Ok(()));
        let found = status(queue);
        assert_eq!(found[..3], whole[..3], "whole units again");
        assert_eq!(found[3], begun[3], "but for the one that was not named");
        let events =
            PlacementEvent::decode_all(&log(host, page::PLACEMENT_EVENTS, 256, 1).unwrap());
        let events: Vec<_> = events.iter().map(|event| (event.kind, event.placement)).collect();
        assert_eq!(events, [(event::UNIT_NOT_FULL, 1)], "handle 2 had no unit");
        assert_eq!(moved(shared), before, "an empty drive has room");
    });
}
