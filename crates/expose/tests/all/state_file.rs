//! A drive in a file: it goes on as if it had never stopped, and every other file is refused.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use base::{Fnv, Rng, TelemetryRow};
use expose::plan::Shape;
use expose::request::{Action, Answer, Request};
use expose::snapshot::FileFault;
use expose::snapshot::file::{Replace, SavedState, header, save};
use expose::{Contents, Disk};
use sim::Config;

use super::client::{config, cuttable};

type Plain = Disk<u64>;

/// A disk without data.
fn fresh(config: Config) -> Plain {
    let contents = empty(&config);
    Disk::new(config, contents)
}

fn empty(config: &Config) -> Contents {
    let shape = Shape::of(config);
    Contents::in_memory(shape, shape.capacity_bytes).expect("memory")
}

/// Random requests of a batch, all outstanding together; returns a hash of the answers and of the drive after it.
fn batch(disk: &mut Plain, rng: &mut Rng) -> u64 {
    let Shape { page_bytes, capacity_bytes, .. } = *disk.shape();
    for token in 0..32 {
        let pages = 1 + rng.below(8);
        let bytes = pages * page_bytes;
        let offset = rng.below(capacity_bytes / page_bytes - pages) * page_bytes;
        let action = [Action::Write, Action::Write, Action::Write, Action::Read, Action::Trim]
            [rng.below(5) as usize];
        let is_write = action == Action::Write;
        let data = if is_write { vec![rng.next_u64() as u8; bytes as usize] } else { Vec::new() };
        disk.submit(
            token,
            Request { fua: rng.below(9) == 0, data, ..Request::new(action, offset, bytes) },
        );
    }
    if rng.below(4) == 0 {
        disk.submit(32, Request::new(Action::Flush, 0, 0));
    }
    let mut hash = Fnv::EMPTY;
    for finished in disk.run() {
        hash.add([finished.token, finished.submitted.0, finished.done.0]);
        match finished.result.expect("a sound drive") {
            Answer::Data { bytes, .. } => hash.add(bytes.into_iter().map(u64::from)),
            Answer::Done | Answer::Place(_) => {}
        }
    }
    hash.add(TelemetryRow::COLUMNS.iter().map(|column| (column.get)(&disk.totals().telemetry)));
    hash.add([disk.contents().pages(), disk.volatile_bytes()]);
    hash.value()
}

fn batches(disk: &mut Plain, rng: &mut Rng, count: u64) {
    for _ in 0..count {
        batch(disk, rng);
    }
}

/// A life of so many batches; the disk may change hands after each.
fn life(mut disk: Plain, batches: u64, mut between: impl FnMut(u64, Plain) -> Plain) -> Vec<u64> {
    let mut rng = Rng::new(3);
    let mut hashes = Vec::new();
    for number in 0..batches {
        hashes.push(batch(&mut disk, &mut rng));
        disk = between(number, disk);
    }
    hashes
}

/// Through a file, and on to another disk.
fn through_file(mut disk: Plain, config: &Config, path: &Path) -> Plain {
    let before = (disk.totals(), disk.accounting().latencies().bins().collect::<Vec<_>>());
    save(&mut disk, "a test", path, Replace::State).expect("space");
    let saved = SavedState::read(path, config).expect("the same drive");
    let disk: Plain = saved.into_disk(empty(config)).expect("room");
    let after = (disk.totals(), disk.accounting().latencies().bins().collect::<Vec<_>>());
    assert_eq!(after, before, "the account goes on");
    disk
}

fn dir_and_path() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("state");
    (dir, path)
}

/// Drives whose parts differ: power, temperature, pSLC, host path, map cache, placement, journal.
fn drives() -> Vec<(&'static str, Config)> {
    let models = [
        "samsung-840-evo-250gb",
        "intel-ssd-750-400gb",
        "generic-client-hmb-tlc-1tb",
        "samsung-pm9a3-960gb",
    ];
    let of = |name| (name, crate::client::config_of(name, &[], 1024));
    models.into_iter().map(of).chain([("cuttable", cuttable(&[]))]).collect()
}

#[test]
fn a_drive_goes_on_from_a_file_as_if_it_had_never_stopped() {
    let (_dir, path) = dir_and_path();
    for (name, config) in drives() {
        let straight = life(fresh(config.clone()), 120, |_, disk| disk);
        let stopped = life(fresh(config.clone()), 120, |number, disk| {
            if number % 40 == 20 { through_file(disk, &config, &path) } else { disk }
        });
        assert_eq!(straight, stopped, "{name}");
    }
}

#[test]
fn a_power_cut_after_a_restart_finds_the_same_pages() {
    let (_dir, path) = dir_and_path();
    let config = cuttable(&[]);
    let cut = |is_stopped: bool| {
        let mut disk = fresh(config.clone());
        let mut rng = Rng::new(8);
        batches(&mut disk, &mut rng, 60);
        let mut disk = if is_stopped { through_file(disk, &config, &path) } else { disk };
        let cut = disk.cut_power().expect("it can");
        assert_eq!(cut.broken_pages, 0, "{cut:?}");
        (cut.pages_taken_back, cut.ready, batch(&mut disk, &mut rng))
    };
    assert_eq!(cut(false), cut(true));
}

#[test]
fn a_restored_disk_keeps_its_account_and_takes_the_data() {
    let (_dir, path) = dir_and_path();
    let mut disk = fresh(config(&[]));
    let mut rng = Rng::new(1);
    batch(&mut disk, &mut rng);
    save(&mut disk, "a test", &path, Replace::Nothing).expect("space");
    let pages = disk.contents().pages();
    let ios = disk.totals().counts;
    batches(&mut disk, &mut rng, 9);
    let later = disk.totals();
    assert!(disk.contents().pages() != pages && later.counts != ios);
    let saved = SavedState::read(&path, &config(&[])).expect("the same drive");
    saved.restore(&mut disk).expect("room");
    assert_eq!(disk.contents().pages(), pages);
    let (now, host_pages) = (disk.totals(), disk.totals().telemetry.host_pages);
    assert_eq!(
        (now.counts, now.now, host_pages),
        (later.counts, later.now, later.telemetry.host_pages),
        "the account goes on"
    );
    assert!(matches!(save(&mut disk, "a test", &path, Replace::Nothing), Err(FileFault::Exists)));
}

#[test]
fn the_contents_file_must_be_that_of_the_state() {
    let (dir, path) = dir_and_path();
    let (config, image) = (config(&[]), dir.path().join("image"));
    let shape = Shape::of(&config);
    let open = || {
        let mut options = std::fs::File::options();
        let file = options.read(true).write(true).create(true).truncate(false).open(&image);
        let file = file.expect("a file");
        Contents::in_file(file, &image, shape, shape.capacity_bytes).expect("a file")
    };
    let mut disk: Plain = Disk::new(config.clone(), open());
    batch(&mut disk, &mut Rng::new(4));
    save(&mut disk, "a test", &path, Replace::State).expect("space");
    drop(disk);
    let read = || SavedState::read(&path, &config).expect("the same drive");
    let mut disk: Plain = read().into_disk(open()).expect("its own contents");
    batch(&mut disk, &mut Rng::new(5));
    drop(disk);
    let end = read().into_disk::<u64>(open());
    assert!(matches!(end, Err(FileFault::OtherContents)));
    let small = Contents::in_memory(shape, shape.page_bytes).expect("memory");
    assert!(matches!(read().into_disk::<u64>(small), Err(FileFault::Full)));
}

/// A state file of a small life.
/// A drive that is saved, read and checked in a moment.
fn tiny() -> Config {
    crate::client::config_of("samsung-840-pro-256gb", &[], 1024)
}

fn example(path: &Path) -> Config {
    let config = crate::client::config_of("samsung-840-pro-256gb", &[], 1024);
    let mut disk = fresh(config.clone());
    let mut rng = Rng::new(2);
    batches(&mut disk, &mut rng, 3);
    save(&mut disk, "a test", path, Replace::Nothing).expect("space");
    config
}

#[test]
fn other_drives_and_other_files_are_refused_by_name() {
    let (dir, path) = dir_and_path();
    let config = example(&path);
    assert_eq!(header(&path).expect("a state").drive, "a test");
    let other = Config { seed: config.seed + 1, ..config.clone() };
    for (name, other) in [("another seed", other), ("another model", crate::client::config(&[]))] {
        let slip = SavedState::read(&path, &other).expect_err(name).to_string();
        assert!(slip.contains("is the state of a test, which is another drive"), "{slip}");
    }
    let text = dir.path().join("text");
    fs::write(&text, "a file of somebody").expect("a file");
    assert!(matches!(SavedState::read(&text, &config), Err(FileFault::NoState)));
    assert!(matches!(Replace::State.check(&text), Err(FileFault::Exists)), "it must stay");
    Replace::State.check(&path).expect("a state may go");
    let mut bytes = fs::read(&path).expect("a state");
    bytes[8] = 9;
    fs::write(&text, &bytes).expect("a file");
    let slip = SavedState::read(&text, &config).expect_err("another format").to_string();
    assert!(slip.contains("format 9"), "{slip}");
}

#[test]
fn damage_of_any_byte_and_any_length_is_found() {
    let (dir, path) = dir_and_path();
    let config = example(&path);
    let (bytes, copy) = (fs::read(&path).expect("a state"), dir.path().join("copy"));
    let seed = 11;
    let mut rng = Rng::new(seed);
    for round in 0..300 {
        let mut damaged = bytes.clone();
        // The first bytes, which have all the lengths, more often than others.
        let end = if rng.below(3) == 0 { 600 } else { bytes.len() as u64 };
        let at = rng.below(end) as usize;
        if rng.below(4) == 0 {
            damaged.truncate(at);
        } else {
            damaged[at] ^= 1 << rng.below(8);
        }
        fs::write(&copy, &damaged).expect("space");
        let read = SavedState::read(&copy, &config);
        assert!(
            read.is_err(),
            "seed {seed}, round {round}: a change at {at} of {} bytes",
            bytes.len()
        );
    }
}

/// A forgery of a state: right checksums, wrong content. A later state of the same drive gives pieces that are right
/// in themselves.
fn forged(bytes: &[u8], later: &[u8], rng: &mut Rng) -> Vec<u8> {
    let name = [b"DISK", b"DISK", b"DISK", b"PAGE", b"HEAD"][rng.below(5) as usize];
    let (start, length) = section(bytes, name);
    let mut body = bytes[start..start + length].to_vec();
    let (from, of_later) = section(later, name);
    let later = &later[from..from + of_later];
    for _ in 0..=rng.below(4) {
        let at = rng.below(body.len().max(1) as u64) as usize;
        let end = (at + 1 + rng.below(12) as usize).min(body.len());
        match rng.below(8) {
            0 => body[at..end].fill(0),
            1 => body[at..end].fill(0xff),
            // The largest number of the encoding.
            2 => body.splice(at..end, [[0xff; 9].as_slice(), &[1]].concat()).for_each(drop),
            3 => body.truncate(at),
            4 => body.splice(at..at, body[at..end].to_vec()).for_each(drop),
            5 if end <= later.len() => body[at..end].copy_from_slice(&later[at..end]),
            6 if at < later.len() => {
                body.truncate(at);
                body.extend_from_slice(&later[at..]);
            }
            _ if end > at => body[at] = rng.next_u64() as u8,
            _ => body.push(rng.next_u64() as u8),
        }
        if body.is_empty() {
            body.push(0);
        }
    }
    let crc = crc_of(name, &body);
    let mut file = bytes[..start - 8].to_vec();
    file.extend((body.len() as u64).to_le_bytes());
    file.extend(&body);
    file.extend(crc.to_le_bytes());
    file.extend(&bytes[start + length + 4..]);
    file
}

/// Whatever the content, reading ends with a disk or with words, and no panic reaches a terminal. A load that is
/// refused leaves the disk as it was.
#[test]
fn a_forged_state_is_refused_in_words_or_that_of_a_sound_drive() {
    static PANICS: AtomicU64 = AtomicU64::new(0);
    thread_local!(static IS_HERE: Cell<bool> = const { Cell::new(false) });
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if IS_HERE.get() {
            PANICS.fetch_add(1, Ordering::Relaxed);
        } else {
            before(panic);
        }
    }));
    let seeds = std::env::var("SSDLAB_FORGED_STATES").ok().and_then(|seeds| seeds.parse().ok());
    let is_full = std::env::var("SSDLAB_TEST_FULL").is_ok_and(|all| all == "1");
    let seeds: u64 = seeds.unwrap_or(if is_full { 3_000 } else { 200 });
    let (dir, path) = dir_and_path();
    let (copy, later) = (dir.path().join("copy"), dir.path().join("later"));
    let (mut refused, mut taken) = (0, 0);
    for (name, config) in [("plain", tiny()), ("cuttable", cuttable(&[]))] {
        let mut disk = fresh(config.clone());
        let mut rng = Rng::new(2);
        batches(&mut disk, &mut rng, 3);
        save(&mut disk, "a test", &path, Replace::State).expect("space");
        batches(&mut disk, &mut rng, 3);
        save(&mut disk, "a test", &later, Replace::State).expect("space");
        let (bytes, later) =
            (fs::read(&path).expect("a state"), fs::read(&later).expect("a state"));
        let mut victim = fresh(config.clone());
        for seed in 0..seeds / 2 {
            fs::write(&copy, forged(&bytes, &later, &mut Rng::new(seed))).expect("space");
            let _ = header(&copy);
            let pages = victim.contents().pages();
            IS_HERE.set(true);
            let loaded =
                SavedState::read(&copy, &config).and_then(|saved| saved.restore(&mut victim));
            IS_HERE.set(false);
            assert_eq!(PANICS.load(Ordering::Relaxed), 0, "{name}, seed {seed}");
            match loaded {
                Err(fault) => {
                    refused += 1;
                    assert!(!fault.to_string().is_empty());
                    assert_eq!(victim.contents().pages(), pages, "{name}, seed {seed}");
                    victim.drive().check().expect("the drive of before");
                }
                Ok(()) => taken += 1,
            }
        }
    }
    assert!(refused > seeds / 2, "{refused} of {seeds} refused, {taken} taken");
}

/// The open of a pipe would wait for ever, and with it the drive.
#[test]
fn a_pipe_a_socket_and_a_folder_are_no_states() {
    let (dir, path) = dir_and_path();
    let config = tiny();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0)
        .expect("a pipe");
    let socket = dir.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
    for (path, words) in
        [(path, "a pipe"), (socket, "a socket"), (dir.path().to_owned(), "a directory")]
    {
        let slip = SavedState::read(&path, &config).expect_err("no file").to_string();
        assert!(slip.contains(words) && slip.contains("regular file"), "{slip}");
        assert_eq!(header(&path).expect_err("no file").to_string(), slip);
        assert!(matches!(Replace::State.check(&path), Err(FileFault::Exists)));
    }
}

/// Place and length of the bytes of a section.
fn section(bytes: &[u8], name: &[u8; 4]) -> (usize, usize) {
    let mut at = 12;
    loop {
        let number: [u8; 8] = bytes[at + 4..at + 12].try_into().expect("eight bytes");
        let length = u64::from_le_bytes(number) as usize;
        if &bytes[at..at + 4] == name {
            return (at + 12, length);
        }
        at += 16 + length;
    }
}

fn crc_of(name: &[u8; 4], body: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(body);
    crc.update(name);
    crc.update(&(body.len() as u64).to_le_bytes());
    crc.finalize()
}

#[test]
fn a_snapshot_replaces_nothing_and_a_state_only_a_state() {
    let (dir, path) = dir_and_path();
    example(&path);
    let (text, new) = (dir.path().join("text"), dir.path().join("new"));
    fs::write(&text, "a file of somebody").expect("a file");
    let refuses =
        |replace: Replace, path: &Path| matches!(replace.check(path), Err(FileFault::Exists));
    for taken in [&text, dir.path()] {
        assert!(refuses(Replace::State, taken) && refuses(Replace::Nothing, taken));
    }
    assert!(refuses(Replace::Nothing, &path) && !refuses(Replace::State, &path));
    assert!(!refuses(Replace::Nothing, &new) && !refuses(Replace::State, &new));
}
