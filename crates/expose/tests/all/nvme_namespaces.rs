//! A drive that hosts divide into namespaces: their numbers, their data, and the hosts that have them.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::Rng;
use expose::request::{Action, Answer, Deletion, Fault, Request};
use expose::{Pace, SharedDisk};
use nvme::command::{ALL_NAMESPACES, Command, DatasetRange, admin, nvm};
use nvme::identify::{
    IdentifyController, IdentifyNamespace, NamespaceFormat, namespace_list, number_list,
    number_list_of, structure,
};
use nvme::log::{effect, page};
use nvme::status::CommandStatus;

use crate::client::{config, disk, seeds};
use crate::nvme_host::{HOST, Host, Outcome, Place, Queue, blocks, command, digests, serve_nvme};

/// Sequences without another wish, and those of a full check.
const CASES: [u64; 2] = [10, 200];
/// Commands of a sequence.
const COMMANDS: u64 = 200;
/// Most namespaces of a drive.
const NAMESPACES_MAX: u32 = 16;
/// The name of a second host.
const OTHER: &str = "nqn.2014-08.org.nvmexpress:uuid:other";
/// Deallocate, of Dataset Management.
const DEALLOCATES: u32 = 1 << 2;

/// The keys of a drive with placement handles.
const HANDLES: [(&str, &str); 2] =
    [("interface.kind", "nvme"), ("interface.placement_handles", "4")];

fn with_drive(changes: &[(&str, &str)], work: impl FnOnce(&Place, &SharedDisk)) {
    let changes = [&[("interface.logical_block_bytes", "512")], changes].concat();
    let shared = Arc::new(SharedDisk::new(disk(config(&changes)), Pace::Fast));
    serve_nvme(&shared, &[], 16, |place| work(place, &shared));
    let disk = Arc::into_inner(shared).expect("nobody else has it").into_disk();
    disk.drive().check().expect("the drive is sound");
}

/// A namespace of so many blocks, as a host asks for it.
fn wish(blocks: u64) -> IdentifyNamespace {
    IdentifyNamespace { size_blocks: blocks, capacity_blocks: blocks, ..Default::default() }
}

fn create(host: &mut Host, wish: &IdentifyNamespace) -> Result<u32, CommandStatus> {
    let create = command(admin::NAMESPACE_MANAGEMENT, 0, [0; 6], 0);
    host.admin.execute(create, &wish.encode()).map(|(id, _)| id as u32)
}

fn delete(host: &mut Host, id: u32) -> Outcome {
    host.admin.execute(command(admin::NAMESPACE_MANAGEMENT, id, [1, 0, 0, 0, 0, 0], 0), &[])
}

/// Attaches a namespace to these controllers, or detaches it.
fn attach(host: &mut Host, id: u32, controllers: &[u16], is_attached: bool) -> Outcome {
    let operation = u32::from(!is_attached);
    let attach = command(admin::NAMESPACE_ATTACHMENT, id, [operation, 0, 0, 0, 0, 0], 0);
    host.admin.execute(attach, &number_list_of(controllers))
}

fn list(host: &mut Host, structure: u8) -> Vec<u32> {
    namespace_list(&host.identify(structure, 0).expect("a list"))
}

fn controller(host: &mut Host) -> IdentifyController {
    IdentifyController::decode(&host.identify(structure::CONTROLLER, 0).expect("an answer"))
}

fn namespace(host: &mut Host, id: u32) -> IdentifyNamespace {
    IdentifyNamespace::decode(&host.identify(structure::NAMESPACE, id).expect("an answer"))
}

fn write(queue: &mut Queue, id: u32, block: u64, value: u8) -> Outcome {
    let write = Command { namespace_id: id, ..blocks(nvm::WRITE, block, 8, 0, 0) };
    queue.execute(write, &[value; 4096])
}

/// The value of the eight blocks from this one on.
fn read(queue: &mut Queue, id: u32, block: u64) -> Result<u8, CommandStatus> {
    let read = Command { namespace_id: id, ..blocks(nvm::READ, block, 8, 0, 4096) };
    let (_, data) = queue.execute(read, &[])?;
    assert!(data.iter().all(|byte| *byte == data[0]), "parts of several writes");
    Ok(data[0])
}

/// Requests that come before a deletion are carried out before the bytes are emptied, and later ones are refused: the
/// bytes may belong to somebody else. A read that is under way returns nothing of theirs.
#[test]
fn no_request_for_a_deleted_namespace_reaches_its_bytes() {
    const BYTES: u64 = 4096;
    let mut disk = disk::<u64>(config(&[]));
    let deletion = Deletion::default();
    let request = |action, value: u8| Request {
        data: if action == Action::Write { vec![value; BYTES as usize] } else { Vec::new() },
        deletion: Some(deletion.clone()),
        ..Request::new(action, 0, BYTES)
    };
    disk.submit(0, request(Action::Write, 1));
    disk.submit(1, request(Action::Read, 0));
    deletion.happen();
    disk.submit(2, Request::new(Action::Trim, 0, BYTES));
    disk.submit(3, request(Action::Write, 2));
    disk.submit(4, request(Action::Read, 0));
    let mut ended: Vec<_> = disk.run().map(|end| (end.token, end.result)).collect();
    ended.sort_by_key(|(token, _)| *token);
    let deleted = || Err(Fault::Deleted);
    let expected = [Ok(Answer::Done), deleted(), Ok(Answer::Done), deleted(), deleted()];
    assert_eq!(ended, (0..).zip(expected).collect::<Vec<_>>());
    assert_eq!(disk.contents().pages(), 0, "the page is empty");
}

#[test]
fn each_namespace_keeps_its_own_data() {
    with_drive(&[], |place, shared| {
        let mut host = Host::connect(place, digests(true));
        let mut queue = host.queue(1);
        let capacity_bytes = shared.with(|disk| disk.shape().capacity_bytes);
        let blocks_all = capacity_bytes / 512;
        assert_eq!(write(&mut queue, 1, 0, 9), Ok((0, Vec::new())));
        assert_eq!(
            (controller(&mut host).free_nvm_bytes, controller(&mut host).namespaces),
            (0, NAMESPACES_MAX)
        );
        let full = create(&mut host, &wish(8));
        assert_eq!(full, Err(CommandStatus::NAMESPACE_CAPACITY), "the first one has everything");

        assert_eq!(delete(&mut host, 1), Ok((0, Vec::new())));
        assert_eq!(list(&mut host, structure::ALLOCATED_NAMESPACES), [0; 0]);
        assert_eq!(controller(&mut host).free_nvm_bytes, capacity_bytes.into());
        assert_eq!(shared.with(|disk| disk.contents().pages()), 0, "its data is gone");
        assert_eq!(read(&mut queue, 1, 0), Err(CommandStatus::INVALID_NAMESPACE));

        let sizes = [1001, blocks_all - 1008];
        for (id, size) in (1..).zip(sizes) {
            assert_eq!(create(&mut host, &wish(size)), Ok(id));
            assert_eq!(
                read(&mut queue, id, 0),
                Err(CommandStatus::INVALID_NAMESPACE),
                "nobody has it"
            );
            assert_eq!(namespace(&mut host, id), IdentifyNamespace::decode(&[]), "all zeros");
            let own = host.controller_id;
            assert_eq!(attach(&mut host, id, &[own], true), Ok((0, Vec::new())));
            assert_eq!(
                (namespace(&mut host, id).size_blocks, namespace(&mut host, id).capacity_blocks),
                (size, size)
            );
        }
        assert_eq!(controller(&mut host).free_nvm_bytes, 0, "seven blocks fill a page");
        assert_eq!(list(&mut host, structure::ACTIVE_NAMESPACES), [1, 2]);
        assert_ne!(namespace(&mut host, 1).guid, namespace(&mut host, 2).guid);
        for (id, size) in (1..).zip(sizes) {
            for block in [0, size - 8] {
                assert_eq!(write(&mut queue, id, block, id as u8), Ok((0, Vec::new())));
            }
            assert_eq!(write(&mut queue, id, size - 7, 0), Err(CommandStatus::LBA_OUT_OF_RANGE));
        }
        for (id, size) in (1..).zip(sizes) {
            for block in [0, size - 8] {
                assert_eq!(read(&mut queue, id, block), Ok(id as u8), "{id}, {block}");
            }
        }
        // A namespace that comes anew is empty, and another one.
        let guid = namespace(&mut host, 1).guid;
        assert_eq!(delete(&mut host, 1), Ok((0, Vec::new())));
        assert_eq!(read(&mut queue, 2, 0), Ok(2));
        assert_eq!(create(&mut host, &wish(1001)), Ok(1));
        let own = host.controller_id;
        assert_eq!(attach(&mut host, 1, &[own], true), Ok((0, Vec::new())));
        assert_eq!(read(&mut queue, 1, 0), Ok(0));
        assert_ne!(namespace(&mut host, 1).guid, guid);
        // A format names one and empties all.
        assert!(controller(&mut host).format_hits_all && controller(&mut host).erase_hits_all);
        let format = command(admin::FORMAT, 1, [0; 6], 0);
        assert_eq!(host.admin.execute(format, &[]), Ok((0, Vec::new())));
        assert_eq!(read(&mut queue, 2, 0), Ok(0));
        assert_eq!(delete(&mut host, ALL_NAMESPACES), Ok((0, Vec::new())));
        assert_eq!(list(&mut host, structure::ALLOCATED_NAMESPACES), [0; 0]);
    });
}

#[test]
fn hosts_have_what_is_attached_to_them_and_hear_of_it() {
    with_drive(&[], |place, _| {
        let mut host = Host::connect(place, digests(false));
        let mut other = Host::connect_as(OTHER, place, digests(false));
        assert_eq!(delete(&mut host, 1), Ok((0, Vec::new())));
        other.set_feature(0x0b, 1 << 8).expect("a feature");
        let event = |other: &mut Host, changed: &[u32]| {
            let held = other.admin.send(command(admin::ASYNC_EVENT, 0, [0; 6], 0), &[], false);
            assert_eq!(other.admin.end(), (held, Ok((0x0004_0002, Vec::new()))));
            let log = other.log(page::CHANGED_NAMESPACES, 4096).expect("a log");
            assert_eq!(namespace_list(&log), changed);
        };
        assert_eq!(
            other.log(page::CHANGED_NAMESPACES, 4096).map(|log| namespace_list(&log)),
            Ok(vec![1])
        );
        for id in 1..3 {
            assert_eq!(create(&mut host, &wish(1024)), Ok(id));
        }
        let [own, others] = [host.controller_id, other.controller_id];
        assert_eq!(attach(&mut host, 1, &[own], true), Ok((0, Vec::new())));
        assert_eq!(attach(&mut host, 2, &[own, others], true), Ok((0, Vec::new())));
        event(&mut other, &[2]);
        assert_eq!(list(&mut host, structure::ACTIVE_NAMESPACES), [1, 2]);
        assert_eq!(list(&mut other, structure::ACTIVE_NAMESPACES), [2]);
        assert_eq!(list(&mut other, structure::ALLOCATED_NAMESPACES), [1, 2]);
        let named = |host: &mut Host, structure, id| {
            number_list(&host.identify(structure, id).expect("a list")).expect("a whole list")
        };
        assert_eq!(named(&mut host, structure::CONTROLLERS, 0), [own, others]);
        assert_eq!(named(&mut host, structure::CONTROLLERS_OF_NAMESPACE, 1), [own]);
        assert_eq!(named(&mut host, structure::CONTROLLERS_OF_NAMESPACE, 2), [own, others]);
        let mut queue = other.queue(1);
        assert_eq!(
            write(&mut queue, 1, 0, 1),
            Err(CommandStatus::INVALID_NAMESPACE),
            "not its own"
        );
        assert_eq!(write(&mut queue, 2, 0, 2), Ok((0, Vec::new())));

        // It is the same for a host that comes again.
        drop((queue, other));
        let mut other = Host::connect_as(OTHER, place, digests(false));
        assert_eq!(list(&mut other, structure::ACTIVE_NAMESPACES), [2]);
        other.set_feature(0x0b, 1 << 8).expect("a feature");
        let others = other.controller_id;
        assert_eq!(attach(&mut host, 2, &[others], false), Ok((0, Vec::new())));
        event(&mut other, &[2]);
        assert_eq!(list(&mut other, structure::ACTIVE_NAMESPACES), [0; 0]);
        assert_eq!(read(&mut host.queue(1), 2, 0), Ok(2), "it has its data still");
        assert_eq!(attach(&mut host, 2, &[others], true), Ok((0, Vec::new())));
        event(&mut other, &[2]);
        assert_eq!(delete(&mut host, ALL_NAMESPACES), Ok((0, Vec::new())));
        event(&mut other, &[2]);
    });
}

#[test]
fn wrong_fields_of_a_division_have_their_status() {
    with_drive(&[], |place, _| {
        let mut host = Host::connect(place, digests(false));
        let effects = host.log(page::EFFECTS, 4096).expect("a log");
        for opcode in [admin::NAMESPACE_MANAGEMENT, admin::NAMESPACE_ATTACHMENT] {
            let effect = u32::from(effects[4 * usize::from(opcode)]);
            assert_eq!(effect & effect::NAMESPACES, effect::NAMESPACES, "{opcode:#x}");
        }
        assert_eq!(delete(&mut host, 1), Ok((0, Vec::new())));
        let other_format = |format| IdentifyNamespace { format, ..wish(8) };
        let cases = [
            (wish(0), CommandStatus::INVALID_FIELD),
            (wish(u64::MAX), CommandStatus::NAMESPACE_CAPACITY),
            (wish(1 << 40), CommandStatus::NAMESPACE_CAPACITY),
            (IdentifyNamespace { capacity_blocks: 4, ..wish(8) }, CommandStatus::THIN),
            (
                other_format(NamespaceFormat { lba_format: 1, ..Default::default() }),
                CommandStatus::INVALID_FORMAT,
            ),
            (
                other_format(NamespaceFormat { lba_format: 9, ..Default::default() }),
                CommandStatus::INVALID_FORMAT,
            ),
            (
                other_format(NamespaceFormat { protection: 1, ..Default::default() }),
                CommandStatus::INVALID_FORMAT,
            ),
        ];
        for (wish, status) in cases {
            assert_eq!(create(&mut host, &wish), Err(status), "{wish:?}");
        }
        let short = command(admin::NAMESPACE_MANAGEMENT, 0, [0; 6], 0);
        assert_eq!(host.admin.execute(short, &[0; 384]), Err(CommandStatus::DATA_LENGTH));
        let zoned = command(admin::NAMESPACE_MANAGEMENT, 0, [0, 2 << 24, 0, 0, 0, 0], 0);
        assert_eq!(host.admin.execute(zoned, &wish(8).encode()), Err(CommandStatus::COMMAND_SET));
        let unknown = command(admin::NAMESPACE_MANAGEMENT, 0, [2, 0, 0, 0, 0, 0], 0);
        assert_eq!(host.admin.execute(unknown, &[]), Err(CommandStatus::INVALID_FIELD));
        assert_eq!(
            list(&mut host, structure::ALLOCATED_NAMESPACES),
            [0; 0],
            "nothing has come of it"
        );

        for id in 1..=NAMESPACES_MAX {
            assert_eq!(create(&mut host, &wish(8)), Ok(id));
        }
        assert_eq!(create(&mut host, &wish(8)), Err(CommandStatus::NAMESPACE_IDS));
        let own = host.controller_id;
        let cases: [(u32, &[u16], bool, _); 7] = [
            (17, &[own], true, CommandStatus::INVALID_NAMESPACE),
            (1, &[own], false, CommandStatus::NOT_ATTACHED),
            (1, &[], true, CommandStatus::CONTROLLER_LIST),
            (1, &[own, own], true, CommandStatus::CONTROLLER_LIST),
            (1, &[own, own + 9], true, CommandStatus::CONTROLLER_LIST),
            (1, &[0xffff], true, CommandStatus::CONTROLLER_LIST),
            (0, &[own], true, CommandStatus::INVALID_NAMESPACE),
        ];
        for (id, controllers, is_attached, status) in cases {
            let outcome = attach(&mut host, id, controllers, is_attached);
            assert_eq!(outcome, Err(status), "{id}, {controllers:?}");
        }
        // The list says that it has more than it has.
        let lies = [0xff, 0xff, 1, 0];
        let attachment = command(admin::NAMESPACE_ATTACHMENT, 1, [0; 6], 0);
        assert_eq!(host.admin.execute(attachment, &lies), Err(CommandStatus::CONTROLLER_LIST));
        assert_eq!(list(&mut host, structure::ACTIVE_NAMESPACES), [0; 0]);
        assert_eq!(attach(&mut host, 1, &[own], true), Ok((0, Vec::new())));
        assert_eq!(attach(&mut host, 1, &[own], true), Err(CommandStatus::ALREADY_ATTACHED));
        for id in [0, 17] {
            assert_eq!(delete(&mut host, id), Err(CommandStatus::INVALID_NAMESPACE));
        }
    });
}

#[test]
fn a_drive_with_handles_cannot_be_divided() {
    with_drive(&HANDLES, |place, _| {
        let mut host = Host::connect(place, digests(false));
        assert!(!controller(&mut host).namespace_management);
        assert_eq!(create(&mut host, &wish(8)), Err(CommandStatus::INVALID_OPCODE));
        assert_eq!(delete(&mut host, 1), Err(CommandStatus::INVALID_OPCODE));
        let own = host.controller_id;
        assert_eq!(attach(&mut host, 1, &[own], false), Err(CommandStatus::INVALID_OPCODE));
        let lists = [structure::ALLOCATED_NAMESPACES, structure::CONTROLLERS];
        for structure in lists {
            assert_eq!(host.identify(structure, 0), Err(CommandStatus::INVALID_FIELD));
        }
        assert_eq!(read(&mut host.queue(1), 1, 0), Ok(0), "it has its namespace");
    });
}

/// One formats and looks, the other divides: each tells the other, and nobody waits for ever.
#[test]
fn hosts_divide_and_format_at_the_same_time() {
    const TURNS: usize = 300;
    with_drive(&[], |place, _| {
        let [mut host, mut other] =
            [HOST, OTHER].map(|name| Host::connect_as(name, place, digests(false)));
        delete(&mut host, 1).expect("it is divided anew");
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for _ in 0..TURNS {
                    let format = command(admin::FORMAT, ALL_NAMESPACES, [0; 6], 0);
                    assert_eq!(other.admin.execute(format, &[]), Ok((0, Vec::new())));
                    assert!(controller(&mut other).namespace_management);
                    list(&mut other, structure::ALLOCATED_NAMESPACES);
                    other.identify(structure::ALLOCATED_NAMESPACE, 1).expect("one or zeros");
                }
            });
            let own = host.controller_id;
            for _ in 0..TURNS {
                let id = create(&mut host, &wish(64)).expect("there is room");
                assert_eq!(attach(&mut host, id, &[own], true), Ok((0, Vec::new())));
                assert_eq!(delete(&mut host, id), Ok((0, Vec::new())));
            }
        });
    });
}

#[test]
fn random_divisions_give_the_contents_of_the_oracle() {
    seeds(CASES[0], CASES[1])
        .for_each(|seed| with_drive(&[], |place, shared| sequence(seed, place, shared)));
}

/// A namespace of the oracle: its blocks, and the values of written groups of eight.
type Content = (u64, BTreeMap<u64, u8>);

fn sequence(seed: u64, place: &Place, shared: &SharedDisk) {
    let mut rng = Rng::split(seed, "namespaces");
    let mut host = Host::connect(place, digests(rng.chance(1, 2)));
    let mut queue = host.queue(1);
    let own = host.controller_id;
    let blocks_all = shared.with(|disk| disk.shape().capacity_bytes) / 512;
    delete(&mut host, 1).expect("it is divided anew");
    let mut known: BTreeMap<u32, Content> = BTreeMap::new();
    for _ in 0..COMMANDS {
        let chosen = known.keys().nth(rng.below(known.len().max(1) as u64) as usize).copied();
        match (rng.below(10), chosen) {
            (0..2, _) | (_, None) => {
                let size = 8 + rng.below(blocks_all / 4);
                match create(&mut host, &wish(size)) {
                    Ok(id) => {
                        attach(&mut host, id, &[own], true).expect("it is new");
                        assert!(
                            known.insert(id, (size, BTreeMap::new())).is_none(),
                            "seed {seed}: {id}"
                        );
                    }
                    Err(CommandStatus::NAMESPACE_CAPACITY | CommandStatus::NAMESPACE_IDS) => {}
                    other => panic!("seed {seed}: {other:?}"),
                }
            }
            (2, Some(id)) => {
                delete(&mut host, id).expect("there is one");
                known.remove(&id);
            }
            (3, Some(id)) => {
                let (size, values) = known.get_mut(&id).expect("it is known");
                let range = DatasetRange { attributes: 0, blocks: *size as u32, start: 0 };
                let trim = command(nvm::DATASET_MANAGEMENT, id, [0, DEALLOCATES, 0, 0, 0, 0], 0);
                queue.execute(trim, &range.encode()).expect("it is empty");
                // A page at its end that it does not fill keeps its data.
                values.retain(|&block, _| block + 8 > *size / 8 * 8);
            }
            (4..8, Some(id)) => {
                let (size, values) = known.get_mut(&id).expect("it is known");
                let block = rng.below(*size / 8) * 8;
                let value = 1 + rng.below(255) as u8;
                write(&mut queue, id, block, value).expect("it has the block");
                values.insert(block, value);
            }
            (_, Some(id)) => {
                for (&block, &value) in &known[&id].1 {
                    assert_eq!(
                        read(&mut queue, id, block),
                        Ok(value),
                        "seed {seed}: {id}, {block}"
                    );
                }
                let (size, values) = &known[&id];
                let block = rng.below(*size / 8) * 8;
                let value = values.get(&block).copied().unwrap_or(0);
                assert_eq!(read(&mut queue, id, block), Ok(value), "seed {seed}: {id}, {block}");
            }
        }
        let taken: u64 = known.values().map(|(size, _)| size.next_multiple_of(8) * 512).sum();
        let free = controller(&mut host).free_nvm_bytes;
        assert_eq!(free, u128::from(blocks_all * 512 - taken), "seed {seed}");
    }
}
