//! Does the guard protect a device in use, and give the reason? Does a free device work as a
//! target? Needs root and loop devices.

mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use base::{OpKind, Status};
use device::guard::inspect;
use io::buffer::read_stamp;
use io::{EngineChoice, OpenOptions, RealTarget, open_block, open_file};
use target::{Patient, PurgeMethod, Target, TargetError};

use support::loops::{LoopDevice, Undo, attach, must, require_or_skip};
use support::{errno, op, run, run_ok, writing};

const MIB: u64 = 1 << 20;
const SIZE_BYTES: u64 = 16 * MIB;

fn erasing(word: &str) -> OpenOptions {
    OpenOptions { erase: vec![word.to_owned()], ..writing(32) }
}

/// The code and message of a refusal to write to the device.
fn refusal(path: &Path, options: &OpenOptions) -> (&'static str, String) {
    match open_block(path, options) {
        Err(TargetError::Refused { code, message }) => (code, message),
        other => panic!("expected a refusal, got {other:?}"),
    }
}

fn open(device: &LoopDevice, engine: EngineChoice) -> RealTarget {
    open_block(&device.node, &OpenOptions { engine, ..erasing(device.word()) }).unwrap()
}

#[test]
fn a_clean_device_needs_its_own_name_and_nothing_else() {
    if !require_or_skip("a_clean_device_needs_its_own_name_and_nothing_else", &["losetup"]) {
        return;
    }
    let device = LoopDevice::new(SIZE_BYTES);
    let (code, message) = refusal(&device.node, &writing(4));
    assert_eq!(code, "needs-erase");
    assert!(message.contains(&format!("--erase {}", device.word())), "{message}");
    let (code, message) = refusal(&device.node, &erasing("/dev/sda"));
    assert_eq!(code, "wrong-serial");
    assert!(message.contains(device.word()), "{message}");
    // The node may stand for another file tomorrow.
    let (code, message) = refusal(&device.node, &erasing(device.node()));
    assert_eq!(code, "wrong-serial");
    assert!(message.contains(&format!("expected {}", device.word())), "{message}");
    let read_only = OpenOptions { read_only: true, ..erasing(device.word()) };
    assert_eq!(refusal(&device.node, &read_only).0, "read-only");
    drop(open_block(&device.node, &erasing(device.word())).unwrap());
    let both = vec!["/dev/sda".to_owned(), device.word().to_owned()];
    drop(open_block(&device.node, &OpenOptions { erase: both, ..writing(4) }).unwrap());
}

#[test]
fn an_accepted_device_stores_what_it_is_told() {
    if !require_or_skip("an_accepted_device_stores_what_it_is_told", &["losetup"]) {
        return;
    }
    for engine in [EngineChoice::Auto, EngineChoice::Sync] {
        let device = LoopDevice::new(SIZE_BYTES);
        let mut target = open(&device, engine);
        assert_eq!(target.capacity_bytes(), SIZE_BYTES);
        assert_eq!(target.identity().serial.as_deref(), device.image.to_str());
        assert!(target.identity().engine.contains("O_DIRECT"));
        for batch in 0..SIZE_BYTES / 4096 / 32 {
            let at = |tag: u32| (batch * 32 + u64::from(tag)) * 4096;
            let ops: Vec<_> = (0..32).map(|tag| op(OpKind::Write, tag, at(tag), 4096)).collect();
            run_ok(&mut target, &ops);
        }
        run_ok(&mut target, &[op(OpKind::Deallocate, 0, MIB, 65536), op(OpKind::Flush, 1, 0, 0)]);
        assert_eq!(errno(&mut target, op(OpKind::Write, 0, SIZE_BYTES, 4096)), 22);
        run_ok(&mut target, &[op(OpKind::Read, 5, 8192, 4096)]);
        assert_eq!(read_stamp(target.read_bytes(5, 4096).unwrap()).unwrap().0, 8192);
        let content = fs::read(&device.image).unwrap();
        for (index, sector) in content.chunks(512).enumerate() {
            let offset = index as u64 * 512;
            if (MIB..MIB + 65536).contains(&offset) {
                assert!(sector.iter().all(|&byte| byte == 0), "sector {index}");
            } else {
                assert_eq!(read_stamp(sector).unwrap().0, offset, "sector {index}");
            }
        }
        assert_eq!(target.purge(&Patient).unwrap(), PurgeMethod::Deallocate);
        run_ok(&mut target, &[op(OpKind::Read, 5, 8192, 4096)]);
        assert!(target.read_bytes(5, 4096).unwrap().iter().all(|&byte| byte == 0));
    }
}

#[test]
fn a_purge_goes_the_way_that_was_asked_for() {
    if !require_or_skip("a_purge_goes_the_way_that_was_asked_for", &["losetup"]) {
        return;
    }
    let device = LoopDevice::new(SIZE_BYTES);
    let open = |purge| {
        let options = OpenOptions { purge: Some(purge), ..erasing(device.word()) };
        open_block(&device.node, &options).unwrap()
    };
    assert_eq!(open(PurgeMethod::Overwrite).purge(&Patient).unwrap(), PurgeMethod::Overwrite);
    let content = fs::read(&device.image).unwrap();
    for (index, sector) in content.chunks(512).enumerate() {
        assert_eq!(read_stamp(sector).unwrap().0, index as u64 * 512, "sector {index}");
    }
    for method in [PurgeMethod::NvmeFormat, PurgeMethod::AtaSecurityErase] {
        let error = open(method).purge(&Patient).unwrap_err();
        assert!(matches!(error, TargetError::Unsupported(_)), "{error}");
        assert!(error.to_string().contains("deallocate, overwrite"), "{error}");
    }
    assert!(fs::read(&device.image).unwrap() == content, "a way that is closed did something");
}

#[test]
fn a_held_device_is_held_for_the_whole_run_and_no_longer() {
    if !require_or_skip("a_held_device_is_held_for_the_whole_run_and_no_longer", &["losetup"]) {
        return;
    }
    let device = LoopDevice::new(SIZE_BYTES);
    for engine in [EngineChoice::Auto, EngineChoice::Sync] {
        let target = open(&device, engine);
        assert_eq!(refusal(&device.node, &erasing(device.word())).0, "busy");
        target.confirm_identity().unwrap();
        drop(target);
        drop(open(&device, engine));
    }
}

#[test]
fn a_mounted_device_is_refused_even_through_a_link() {
    if !require_or_skip(
        "a_mounted_device_is_refused_even_through_a_link",
        &["losetup", "mkfs.ext4"],
    ) {
        return;
    }
    let device = LoopDevice::new(SIZE_BYTES);
    must("mkfs.ext4", &["-q", device.node()]);
    let (at, link) = (device.beside("mounted here"), device.beside("by-id"));
    fs::create_dir(&at).unwrap();
    must("mount", &[device.node(), at.to_str().unwrap()]);
    let _undo = Undo::new("umount", at.to_str().unwrap());
    symlink(&device.node, &link).unwrap();
    for path in [&device.node, &link] {
        let all = OpenOptions { erase_signatures: true, ..erasing(device.word()) };
        let (code, message) = refusal(path, &all);
        assert_eq!(code, "mounted");
        assert!(message.contains("mounted here") && message.contains("umount"), "{message}");
    }
    // Reading only is allowed, and the result says that it was not alone.
    let mut target = open_block(&device.node, &OpenOptions::default()).unwrap();
    assert!(target.warnings()[0].contains("in use"), "{:?}", target.warnings());
    run_ok(&mut target, &[op(OpKind::Read, 0, 0, 4096)]);
    let statuses =
        run(&mut target, &[op(OpKind::Write, 0, 0, 4096), op(OpKind::Deallocate, 1, 0, 4096)]);
    assert!(statuses.iter().all(|c| c.status == Status::Failed { errno: 30 }), "{statuses:?}");
    for refused in [target.purge(&Patient).map(drop), target.deallocate(0, 4096)] {
        let message = refused.unwrap_err().to_string();
        assert!(message.contains("opened for reading only"), "{message}");
    }
}

#[test]
fn a_mounted_partition_keeps_its_disk() {
    let tools = ["losetup", "mkfs.ext4", "addpart"];
    if !require_or_skip("a_mounted_partition_keeps_its_disk", &tools) {
        return;
    }
    let device = LoopDevice::with(SIZE_BYTES, &["--partscan"]);
    must("addpart", &[device.node(), "1", "2048", "16384"]);
    let partition = Path::new(&format!("{}p1", device.node())).to_path_buf();
    let name = partition.to_str().unwrap();
    let word = format!("{}-part1", device.word());
    must("mkfs.ext4", &["-q", name]);
    let at = device.beside("mounted");
    fs::create_dir(&at).unwrap();
    must("mount", &[name, at.to_str().unwrap()]);
    let undo = Undo::new("umount", at.to_str().unwrap());
    let all = |word| OpenOptions { erase_signatures: true, ..erasing(word) };
    for (path, word) in [(&device.node, device.word()), (&partition, &*word)] {
        let (code, message) = refusal(path, &all(word));
        assert_eq!(code, "mounted");
        assert!(message.contains(name), "{message}");
    }
    drop(undo);
    for other in [name, device.word()] {
        assert_eq!(refusal(&partition, &all(other)).0, "wrong-serial", "{other}");
    }
    let target = open_block(&partition, &all(&word)).unwrap();
    assert_eq!(target.capacity_bytes(), 8 * MIB);
    assert_eq!(refusal(&device.node, &all(device.word())).0, "busy", "its partition is held");
}

/// A file system in memory is no drive: the target works through the page cache, and reports it.
#[test]
fn a_file_in_memory_is_used_with_a_warning() {
    if !require_or_skip("a_file_in_memory_is_used_with_a_warning", &["mount"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().to_str().unwrap();
    must("mount", &["-t", "tmpfs", "-o", "size=4m", "none", at]);
    let _undo = Undo::new("umount", at);
    let path = dir.path().join("target");
    let mut target = open_file(&path, Some(MIB), false, &writing(4)).unwrap();
    run_ok(&mut target, &[op(OpKind::Write, 0, 4096, 512)]);
    assert_eq!(read_stamp(&fs::read(&path).unwrap()[4096..]).unwrap().0, 4096);
    assert!(target.identity().engine.contains("buffered (the file system lives in memory)"));
    assert!(target.warnings()[0].contains("not of a drive"), "{:?}", target.warnings());
    assert_eq!(target.identity().details["file_system"], "tmpfs");
    let full = open_file(&dir.path().join("big"), Some(8 * MIB), false, &writing(4));
    assert!(full.unwrap_err().to_string().contains("smaller ?size="));
    assert!(!dir.path().join("big").exists());
}

#[test]
fn swap_space_is_refused() {
    if !require_or_skip("swap_space_is_refused", &["losetup", "mkswap", "swapon"]) {
        return;
    }
    let device = LoopDevice::new(SIZE_BYTES);
    must("mkswap", &[device.node()]);
    must("swapon", &[device.node()]);
    let undo = Undo::new("swapoff", device.node());
    let (code, message) = refusal(&device.node, &erasing(device.word()));
    assert_eq!(code, "swap");
    assert!(message.contains("swapoff"), "{message}");
    drop(undo);
    let (code, message) = refusal(&device.node, &erasing(device.word()));
    assert_eq!(code, "signature");
    assert!(message.contains("swap space"), "{message}");
}

#[test]
fn a_device_or_file_below_a_loop_device_is_held() {
    if !require_or_skip("a_device_or_file_below_a_loop_device_is_held", &["losetup"]) {
        return;
    }
    let device = LoopDevice::new(SIZE_BYTES);
    let top = attach(&device.node, &[]);
    let (code, message) = refusal(&device.node, &erasing(device.word()));
    assert_eq!(code, "held");
    assert!(message.contains(top.to_str().unwrap()), "{message}");
    drop(top);
    let image = device.image.to_str().unwrap();
    let file = open_file(&device.image, None, false, &erasing(image));
    assert!(matches!(file, Err(TargetError::Refused { code: "held", .. })), "{file:?}");
}

#[test]
fn a_file_system_needs_a_second_consent() {
    if !require_or_skip("a_file_system_needs_a_second_consent", &["losetup", "mkfs.ext4"]) {
        return;
    }
    let device = LoopDevice::new(SIZE_BYTES);
    must("mkfs.ext4", &["-q", device.node()]);
    let before = fs::read(&device.image).unwrap();
    let (code, message) = refusal(&device.node, &erasing(device.word()));
    assert_eq!(code, "signature");
    assert!(message.contains("ext4") && message.contains("--erase-signatures"), "{message}");
    let report = inspect(&device.node).unwrap();
    assert_eq!(report.signatures.unwrap()[0].what, "ext4 file system");
    assert!(fs::read(&device.image).unwrap() == before, "looking changed something");
    let all = OpenOptions { erase_signatures: true, ..erasing(device.word()) };
    drop(open_block(&device.node, &all).unwrap());
}

#[test]
fn a_device_swapped_under_the_run_is_noticed() {
    if !require_or_skip("a_device_swapped_under_the_run_is_noticed", &["losetup"]) {
        return;
    }
    let device = LoopDevice::new(SIZE_BYTES);
    let mut target = open(&device, EngineChoice::Auto);
    fs::File::options().write(true).open(&device.image).unwrap().set_len(2 * SIZE_BYTES).unwrap();
    must("losetup", &["-c", device.node()]);
    let Err(TargetError::Refused { code, message }) = target.purge(&Patient) else {
        panic!("purged")
    };
    assert_eq!(code, "identity-changed");
    assert!(message.contains("size in bytes"), "{message}");
    let confirmed = target.confirm_identity();
    assert!(
        matches!(confirmed, Err(TargetError::Refused { code: "identity-changed", .. })),
        "{confirmed:?}"
    );
}

#[test]
fn a_node_that_leads_elsewhere_is_noticed() {
    if !require_or_skip("a_node_that_leads_elsewhere_is_noticed", &["losetup", "mknod"]) {
        return;
    }
    let (own, other) = (LoopDevice::new(SIZE_BYTES), LoopDevice::new(SIZE_BYTES));
    let node = own.beside("node");
    let lead_to = |device: &LoopDevice| {
        let number = inspect(&device.node).unwrap().number;
        let (major, minor) = (number.major.to_string(), number.minor.to_string());
        must("mknod", &[node.to_str().unwrap(), "b", &major, &minor]);
    };
    lead_to(&own);
    let mut target = open_block(&node, &erasing(own.image.to_str().unwrap())).unwrap();
    target.confirm_identity().unwrap();
    fs::remove_file(&node).unwrap();
    let Err(TargetError::Refused { code, .. }) = target.purge(&Patient) else {
        panic!("purged: gone")
    };
    assert_eq!(code, "identity-changed");
    lead_to(&other);
    let Err(TargetError::Refused { code, message }) = target.purge(&Patient) else {
        panic!("purged")
    };
    assert_eq!(code, "identity-changed");
    assert!(message.contains("device number"), "{message}");
}

#[test]
fn a_read_only_device_is_refused_for_writing() {
    if !require_or_skip("a_read_only_device_is_refused_for_writing", &["losetup"]) {
        return;
    }
    let device = LoopDevice::with(SIZE_BYTES, &["--read-only"]);
    assert_eq!(refusal(&device.node, &erasing(device.word())).0, "read-only");
    drop(open_block(&device.node, &OpenOptions::default()).unwrap());
}

#[test]
fn large_blocks_are_respected() {
    if !require_or_skip("large_blocks_are_respected", &["losetup"]) {
        return;
    }
    let device = LoopDevice::with(SIZE_BYTES, &["--sector-size", "4096"]);
    let mut target = open(&device, EngineChoice::Auto);
    assert_eq!(target.limits().logical_block_bytes, 4096);
    assert_eq!(errno(&mut target, op(OpKind::Write, 0, 512, 512)), 22);
    run_ok(&mut target, &[op(OpKind::Write, 0, 4096, 4096)]);
}

#[test]
fn what_is_no_block_device_is_refused_and_nothing_is_created() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "x").unwrap();
    let (code, message) = refusal(&file, &erasing("x"));
    assert_eq!(code, "not-a-block-device");
    assert!(message.contains("file:"), "{message}");
    assert_eq!(refusal(Path::new("/dev/null"), &erasing("x")).0, "not-a-block-device");
    assert_eq!(refusal(dir.path(), &erasing("x")).0, "not-a-block-device");
    let typo = Path::new("/dev/nvme9n9typo");
    assert!(matches!(open_block(typo, &erasing("x")), Err(TargetError::Usage(_))));
    assert!(!typo.exists());
}

/// Other tests attach and detach loop devices meanwhile. Only the device of this test and devices
/// other than loop devices stay the same between the two looks.
#[test]
fn every_listed_device_can_be_inspected() {
    if !require_or_skip("every_listed_device_can_be_inspected", &["losetup"]) {
        return;
    }
    let own = LoopDevice::new(SIZE_BYTES);
    let listed = device::describe::report::list();
    assert!(listed.iter().any(|device| device.node == own.node));
    let of_another_test = |node: &Path| {
        node != own.node && node.to_str().is_some_and(|node| node.starts_with("/dev/loop"))
    };
    for device in listed.iter().filter(|device| !of_another_test(&device.node)) {
        let report = inspect(&device.node).unwrap();
        assert_eq!((report.number, &report.serial), (device.number, &device.serial));
        assert!(!report.confirmations.is_empty());
    }
}
