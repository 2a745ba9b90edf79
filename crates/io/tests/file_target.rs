//! Does a file target store its data, stay inside its fence, and leave other files alone?

mod support;

use std::fs;
use std::path::Path;

use base::{Op, OpKind, Rng, Status};
use io::buffer::read_stamp;
use io::{EngineChoice, OpenOptions, Polling, RealTarget, open_file};
use target::{Patient, PurgeMethod, Target, TargetError, TargetSpec};

use support::{errno, op, run, run_ok, writing};

const MIB: u64 = 1 << 20;

/// The two engines, and the ring with a submission thread if the kernel permits one.
fn both_engines(test: impl Fn(EngineChoice)) {
    test(EngineChoice::Auto);
    test(EngineChoice::Sync);
    let polling = Polling { submissions: true, ..Polling::default() };
    let dir = tempfile::tempdir().unwrap();
    let engine = EngineChoice::Uring(polling);
    let options = OpenOptions { engine, ..writing(1) };
    match open_file(&dir.path().join("probe"), Some(MIB), false, &options) {
        Ok(target) => {
            assert!(target.identity().engine.contains("submission thread"));
            test(engine);
        }
        Err(error) => assert!(error.to_string().contains("no io_uring"), "{error}"),
    }
}

fn open(path: &Path, size_bytes: u64, engine: EngineChoice) -> RealTarget {
    let options = OpenOptions { engine, ..writing(32) };
    open_file(path, Some(size_bytes), false, &options).unwrap()
}

fn refusal(result: Result<RealTarget, TargetError>) -> (&'static str, String) {
    match result {
        Err(TargetError::Refused { code, message }) => (code, message),
        other => panic!("expected a refusal, got {other:?}"),
    }
}

fn usage(result: Result<RealTarget, TargetError>) -> String {
    match result {
        Err(TargetError::Usage(message)) => message,
        other => panic!("expected a usage error, got {other:?}"),
    }
}

/// Every 4 KiB block in a seeded random order at queue depth 32, then a check through the file
/// system: each sector must contain its own address.
#[test]
fn every_block_lands_where_it_was_sent() {
    both_engines(|engine| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("target");
        let mut target = open(&path, 8 * MIB, engine);
        let mut blocks: Vec<u64> = (0..8 * MIB / 4096).collect();
        let mut rng = Rng::new(7);
        for index in (1..blocks.len()).rev() {
            blocks.swap(index, usize::try_from(rng.below(index as u64 + 1)).unwrap());
        }
        for batch in blocks.chunks(32) {
            let ops: Vec<_> = (0..)
                .zip(batch)
                .map(|(tag, block)| op(OpKind::Write, tag, block * 4096, 4096))
                .collect();
            run_ok(&mut target, &ops);
        }
        target.flush().unwrap();
        let content = fs::read(&path).unwrap();
        for (index, sector) in content.chunks(512).enumerate() {
            assert_eq!(read_stamp(sector).unwrap().0, index as u64 * 512, "sector {index}");
        }
    });
}

/// The effect of forced unit access is invisible through the file system. The test shows that the
/// kernel takes the commands and stores the data.
#[test]
fn a_forced_write_is_taken_by_the_kernel_and_stored() {
    both_engines(|engine| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("target");
        let mut target = open(&path, MIB, engine);
        run_ok(&mut target, &[Op { fua: true, ..op(OpKind::Write, 0, 8192, 4096) }]);
        let content = fs::read(&path).unwrap();
        assert_eq!(read_stamp(&content[8192..8704]).unwrap().0, 8192);
    });
}

#[test]
fn a_read_returns_what_the_file_holds() {
    both_engines(|engine| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("target");
        let content: Vec<u8> = (0..MIB).map(|i| (i / 512 % 251) as u8).collect();
        fs::write(&path, &content).unwrap();
        let options = OpenOptions { engine, ..OpenOptions::default() };
        let mut target = open_file(&path, None, false, &options).unwrap();
        assert_eq!(target.capacity_bytes(), MIB);
        run_ok(&mut target, &[op(OpKind::Read, 3, 8192, 65536), op(OpKind::Read, 4, 0, 4096)]);
        assert_eq!(target.read_bytes(3, 65536).unwrap(), &content[8192..8192 + 65536]);
        assert_eq!(target.read_bytes(4, 4096).unwrap(), &content[..4096]);
        assert_eq!(target.read_bytes(32, 4096), None);
        assert_eq!(errno(&mut target, op(OpKind::Write, 0, 0, 4096)), 30, "EROFS");
        assert_eq!(fs::read(&path).unwrap(), content);
    });
}

#[test]
fn a_run_stays_inside_its_span() {
    both_engines(|engine| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("target");
        let mut target = open(&path, MIB, engine);
        target.confine(MIB / 2);
        target.confine(MIB);
        run_ok(&mut target, &[op(OpKind::Write, 0, MIB / 2 - 4096, 4096)]);
        for (kind, offset) in [
            (OpKind::Write, MIB / 2),
            (OpKind::Write, MIB / 2 - 512),
            (OpKind::Deallocate, MIB / 2),
            (OpKind::Read, MIB - 4096),
        ] {
            assert_eq!(errno(&mut target, op(kind, 0, offset, 4096)), 22, "{kind:?} at {offset}");
        }
        let message = target.deallocate(MIB / 2, 4096).unwrap_err().to_string();
        assert!(message.contains("inside the 524288 bytes granted"), "{message}");
        assert!(fs::read(&path).unwrap()[MIB as usize / 2..].iter().all(|&byte| byte == 0));
        target.purge(&Patient).unwrap();
    });
}

#[test]
fn nothing_leaves_the_fence() {
    both_engines(|engine| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("target");
        let mut target = open(&path, MIB, engine);
        let outside = [
            op(OpKind::Write, 0, MIB, 4096),
            op(OpKind::Write, 1, MIB - 4096, 8192),
            op(OpKind::Write, 2, 100, 4096),
            op(OpKind::Write, 3, u64::MAX - 4095, 4096),
            op(OpKind::Write, 4, 0, 0),
            op(OpKind::Write, 5, 0, 256 << 10),
            op(OpKind::Read, 6, MIB, 4096),
            op(OpKind::Deallocate, 7, MIB, 4096),
        ];
        for completion in run(&mut target, &outside) {
            assert_eq!(completion.status, Status::Failed { errno: 22 }, "{completion:?}");
        }
        assert_eq!(errno(&mut target, op(OpKind::Write, 32, 0, 4096)), 22, "tag beyond the depth");
        assert_eq!(fs::metadata(&path).unwrap().len(), MIB);
        assert!(fs::read(&path).unwrap().iter().all(|&byte| byte == 0));
        // Good and bad commands in one batch do not disturb each other.
        let mixed = [op(OpKind::Write, 0, 0, 4096), op(OpKind::Write, 1, MIB, 4096)];
        let statuses: Vec<_> = run(&mut target, &mixed).iter().map(|c| c.status).collect();
        assert_eq!(statuses, [Status::Ok, Status::Failed { errno: 22 }]);
    });
}

#[test]
fn a_tag_in_use_is_not_taken_twice() {
    let dir = tempfile::tempdir().unwrap();
    let mut target = open(&dir.path().join("target"), MIB, EngineChoice::Auto);
    if !target.uses_uring() {
        return;
    }
    let ops = [op(OpKind::Write, 0, 0, 4096), op(OpKind::Write, 0, 4096, 4096)];
    let failed = run(&mut target, &ops).iter().filter(|c| c.status != Status::Ok).count();
    assert_eq!(failed, 1);
}

#[test]
fn deallocate_and_purge_leave_zeros_and_keep_the_space() {
    both_engines(|engine| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("target");
        let mut target = open(&path, MIB, engine);
        assert!(target.limits().deallocate);
        let writes: Vec<_> =
            (0..8).map(|tag| op(OpKind::Write, tag, u64::from(tag) * 131_072, 131_072)).collect();
        run_ok(&mut target, &writes);
        run_ok(&mut target, &[op(OpKind::Deallocate, 0, 4096, 8192), op(OpKind::Flush, 1, 0, 0)]);
        let content = fs::read(&path).unwrap();
        assert!(content[4096..12288].iter().all(|&byte| byte == 0));
        assert!(content[..4096].iter().any(|&byte| byte != 0));
        target.deallocate(131_072, 131_072).unwrap();
        assert!(fs::read(&path).unwrap()[131_072..262_144].iter().all(|&byte| byte == 0));
        let message = target.deallocate(0, 2 * MIB).unwrap_err().to_string();
        assert!(message.contains("inside the 1048576 bytes granted"), "{message}");
        assert_eq!(target.purge(&Patient).unwrap(), PurgeMethod::Deallocate);
        assert!(fs::read(&path).unwrap().iter().all(|&byte| byte == 0));
        let allocated_bytes =
            std::os::unix::fs::MetadataExt::blocks(&fs::metadata(&path).unwrap()) * 512;
        assert!(allocated_bytes >= MIB, "{allocated_bytes}");
    });
}

#[test]
fn a_target_opened_here_can_be_driven_in_another_thread() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("target");
    let mut target = open(&path, MIB, EngineChoice::Auto);
    let worker = std::thread::spawn(move || {
        run_ok(&mut target, &[op(OpKind::Write, 0, 0, 4096)]);
        target
    });
    // The file lives as long as its target.
    let _target = worker.join().unwrap();
    assert!(fs::read(&path).unwrap()[..4096].iter().any(|&byte| byte != 0), "nothing was written");
}

#[test]
fn dropping_with_commands_outstanding_is_safe() {
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..20 {
        let mut target = open(&dir.path().join("target"), MIB, EngineChoice::Auto);
        let ops: Vec<_> =
            (0..8).map(|tag| op(OpKind::Read, tag, u64::from(tag) * 131_072, 131_072)).collect();
        target.submit(&ops);
        let mut out = Vec::new();
        target.reap(1, &mut out).unwrap();
    }
}

#[test]
fn a_created_file_goes_and_a_kept_one_stays() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("target");
    drop(open(&path, MIB, EngineChoice::Auto));
    assert!(!path.exists());
    // Refused for another reason, before it was used.
    drop(open_file(&path, Some(MIB), true, &writing(1)).unwrap());
    assert!(!path.exists());
    let kept = open_file(&path, Some(MIB), true, &writing(1)).unwrap();
    kept.confirm_identity().unwrap();
    drop(kept);
    assert_eq!(fs::metadata(&path).unwrap().len(), MIB);
}

#[test]
fn an_existing_file_is_overwritten_only_by_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("precious");
    fs::write(&path, vec![1; 8192]).unwrap();
    let erase = |word: &str| {
        let options = OpenOptions { erase: vec![word.to_owned()], ..writing(4) };
        open_file(&path, Some(MIB), false, &options)
    };
    let (code, message) = refusal(open_file(&path, Some(MIB), false, &writing(4)));
    assert_eq!(code, "existing-file");
    assert!(message.contains("--erase"), "{message}");
    assert_eq!(refusal(erase("/tmp")).0, "wrong-serial");
    assert_eq!(fs::read(&path).unwrap(), vec![1; 8192]);
    // The wide door is for writing; reading needs no permission.
    open_file(&path, None, false, &OpenOptions::default()).unwrap();

    let link = dir.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert_eq!(refusal(open_file(&link, None, false, &writing(4))).0, "existing-file");

    let mut target = erase(path.to_str().unwrap()).unwrap();
    target.confirm_identity().unwrap();
    run_ok(&mut target, &[op(OpKind::Write, 0, 0, 4096)]);
    assert_eq!(refusal(erase(path.to_str().unwrap())).0, "busy");
    drop(target);
    assert_eq!(fs::metadata(&path).unwrap().len(), MIB, "an existing file stays");
}

/// A refusal may come after the target was opened (journal, library, meter, engine): the file is
/// then unchanged. It gets its size at the first destructive phase.
#[test]
fn an_existing_file_is_as_it_was_until_the_run_begins() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("precious");
    let content = vec![7; 4 * MIB as usize + 100];
    fs::write(&path, &content).unwrap();
    let open = |size, engine| {
        let erase = vec![path.display().to_string()];
        open_file(&path, size, false, &OpenOptions { erase, engine, ..writing(4) })
    };
    let unchanged = || fs::read(&path).unwrap() == content;
    for engine in [EngineChoice::Auto, EngineChoice::Sync] {
        for size in [None, Some(2 * MIB), Some(8 * MIB)] {
            drop(open(size, engine).unwrap());
            assert!(unchanged(), "{engine} {size:?}");
        }
    }
    let refused = open(Some(2 * MIB), EngineChoice::Passthrough(Polling::default()));
    assert!(matches!(refused, Err(TargetError::Unsupported(_))), "{refused:?}");
    let too_much = open(Some(1 << 60), EngineChoice::Auto).unwrap_err().to_string();
    assert!(too_much.contains("smaller ?size="), "{too_much}");
    assert!(unchanged());

    let target = open(None, EngineChoice::Auto).unwrap();
    target.confirm_identity().unwrap();
    drop(target);
    assert!(unchanged(), "no size was named, so the file keeps its own");
    let target = open(None, EngineChoice::Auto).unwrap();
    fs::write(&path, &content[..4096]).unwrap();
    let cut_short = target.confirm_identity();
    assert!(matches!(cut_short, Err(TargetError::Refused { code: "identity-changed", .. })));
    drop(target);
    for size in [2 * MIB, 8 * MIB] {
        let target = open(Some(size), EngineChoice::Auto).unwrap();
        assert!(target.limits().deallocate);
        target.confirm_identity().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), size);
    }
    let mut target = open(Some(MIB), EngineChoice::Auto).unwrap();
    target.purge(&Patient).unwrap();
    assert_eq!(fs::read(&path).unwrap(), vec![0; MIB as usize]);
}

#[test]
fn what_cannot_be_a_file_target_is_explained() {
    let dir = tempfile::tempdir().unwrap();
    let new = dir.path().join("new");
    let dangling = dir.path().join("dangling");
    std::os::unix::fs::symlink(dir.path().join("nowhere"), &dangling).unwrap();
    let try_open = |path: &Path, size, options: &OpenOptions| open_file(path, size, false, options);
    let w = writing(4);
    assert!(usage(try_open(&new, None, &w)).contains("?size=8GiB"));
    assert!(usage(try_open(&new, Some(0), &w)).contains("multiple of 4096"));
    assert!(usage(try_open(&new, Some(5000), &w)).contains("multiple of 4096"));
    assert!(usage(try_open(dir.path(), Some(MIB), &w)).contains("a directory"));
    assert!(usage(try_open(&dangling, Some(MIB), &w)).contains("link to nothing"));
    assert!(usage(try_open(Path::new("/dev/nvme9n9typo"), Some(MIB), &w)).contains("outside /dev"));
    assert!(usage(try_open(&dir.path().join("no/such"), Some(MIB), &w)).contains("its directory"));
    assert!(usage(try_open(&new, None, &OpenOptions::default())).contains("only reads"));
    assert!(
        usage(try_open(&new, Some(MIB), &OpenOptions { queue_depth: 0, ..w.clone() }))
            .contains("queue depth 0")
    );
    assert_eq!(
        refusal(try_open(&new, Some(MIB), &OpenOptions { read_only: true, ..w.clone() })).0,
        "read-only"
    );
    let huge = try_open(&new, Some(1 << 60), &w).unwrap_err().to_string();
    assert!(huge.contains("smaller ?size="), "{huge}");
    assert!(!new.exists(), "a refused target leaves nothing behind");
}

/// Any block device; the message names it as the way out.
#[test]
fn a_block_device_is_no_file() {
    let is_block = |entry: &fs::DirEntry| {
        entry.file_type().is_ok_and(|kind| std::os::unix::fs::FileTypeExt::is_block_device(&kind))
    };
    let Some(device) = fs::read_dir("/dev").unwrap().flatten().find(is_block) else { return };
    let node = device.path();
    let message = usage(open_file(&node, Some(MIB), false, &writing(4)));
    assert!(message.contains(&format!("use {} itself", node.display())), "{message}");
}

#[test]
fn a_loop_of_links_is_an_error_not_a_hang() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("a"), dir.path().join("b"));
    std::os::unix::fs::symlink(&a, &b).unwrap();
    std::os::unix::fs::symlink(&b, &a).unwrap();
    let error = open_file(&a, Some(MIB), false, &writing(4)).map(drop).unwrap_err();
    // ELOOP: too many levels of symbolic links.
    let TargetError::Device { source, .. } = &error else { panic!("{error:?}") };
    assert_eq!(source.raw_os_error(), Some(40), "{error:?}");
}

#[test]
fn a_replaced_file_is_noticed_before_the_purge() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("target");
    let mut target = open(&path, MIB, EngineChoice::Auto);
    target.confirm_identity().unwrap();
    fs::remove_file(&path).unwrap();
    fs::write(&path, b"somebody else's").unwrap();
    assert!(matches!(
        target.purge(&Patient),
        Err(TargetError::Refused { code: "identity-changed", .. })
    ));
    drop(target);
    assert_eq!(fs::read(&path).unwrap(), b"somebody else's");
}

/// The engine refuses a target that cannot be polled; it never drives it in another way than
/// requested.
#[test]
fn polled_completions_work_or_are_refused_with_the_way_out() {
    let dir = tempfile::tempdir().unwrap();
    let engine = EngineChoice::Uring(Polling { completions: true, ..Polling::default() });
    let options = OpenOptions { engine, ..writing(4) };
    let path = dir.path().join("target");
    let details = open(&path, MIB, EngineChoice::Auto).identity().details;
    let cannot = details.get("io_poll").is_some_and(|flag| flag == "0");
    match open_file(&path, Some(MIB), false, &options) {
        Ok(mut target) => {
            assert!(
                !cannot,
                "the kernel takes such commands and waits for interrupts: {details:?}"
            );
            assert!(target.identity().engine.contains("polled completions"));
            let ops = [op(OpKind::Write, 0, 4096, 4096), op(OpKind::Flush, 1, 0, 0)];
            run_ok(&mut target, &ops);
        }
        Err(TargetError::Unsupported(message)) => {
            assert!(message.contains("engine uring,iopoll"), "{message}");
            let why = ["nvme.poll_queues", "no io_uring"];
            assert!(why.iter().any(|why| message.contains(why)), "{message}");
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn the_identity_tells_which_engine_and_why() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("target");
    let identity = open(&path, MIB, EngineChoice::Sync).identity();
    assert!(identity.engine.starts_with("sync, one command at a time (asked for)"), "{identity:?}");
    assert_eq!(
        identity.serial.as_deref(),
        path.canonicalize().ok().as_deref().or(Some(&*path)).and_then(Path::to_str)
    );
    let target = open(&path, MIB, EngineChoice::Auto);
    println!("{}\n{:?}", target.identity().engine, target.limits());
}

/// Files with recognised contents need a second consent, however small or strange they are.
#[test]
fn an_existing_file_that_holds_something_needs_a_second_consent() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("precious");
    let word = path.to_str().unwrap().to_owned();
    let open = |erase_signatures| {
        let options = OpenOptions { erase: vec![word.clone()], erase_signatures, ..writing(4) };
        open_file(&path, Some(MIB), false, &options)
    };
    let mut boot = vec![0; 512];
    for (at, byte) in [(450, 0x83), (458, 1), (510, 0x55), (511, 0xaa)] {
        boot[at] = byte;
    }
    let notes = "Measured on Tuesday with the door of the cabinet open; see page 12 of the book.";
    let gzip = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 0, 0];
    for (what, content) in [
        ("SQLite database", [b"SQLite format 3\0".to_vec(), vec![1; 9000]].concat()),
        ("MBR partition table", boot),
        ("gzip data", gzip),
        ("text", notes.into()),
    ] {
        fs::write(&path, &content).unwrap();
        let (code, message) = refusal(open(false));
        assert_eq!(code, "signature");
        assert!(message.contains(what) && message.contains("--erase-signatures"), "{message}");
        assert_eq!(needs(&path), format!("--erase {word} --erase-signatures"));
        drop(open(true).unwrap());
        assert!(fs::read(&path).unwrap() == content, "{what} was changed");
    }
}

/// The argument that a run on an existing file needs.
fn needs(path: &Path) -> String {
    let spec = TargetSpec::File { path: path.to_owned(), size_bytes: Some(MIB), keep: false };
    io::open::inspect(&spec, &writing(4)).unwrap().needs.unwrap()
}

/// The file of an earlier run, and an empty, sparse or huge file, need no second consent.
#[test]
fn our_own_data_and_zeros_need_no_second_consent() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("target");
    let word = path.to_str().unwrap().to_owned();
    for verifiable in [false, true] {
        let options = OpenOptions { erase: vec![word.clone()], verifiable, ..writing(32) };
        let mut target = open_file(&path, Some(MIB), true, &options).unwrap();
        target.confirm_identity().unwrap();
        let blocks = (0..32).map(|tag| op(OpKind::Write, tag, u64::from(tag) * 4096, 4096));
        run_ok(&mut target, &blocks.collect::<Vec<_>>());
        drop(target);
        drop(open_file(&path, None, true, &options).unwrap());
    }
    for size_bytes in [0, 100, 4096, 1 << 40] {
        let file = fs::File::create(&path).unwrap();
        file.set_len(size_bytes).unwrap();
        assert_eq!(needs(&path), format!("--erase {word}"), "{size_bytes}");
    }
}
