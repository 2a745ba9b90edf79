//! `ssdlab sim expose --fuse` under clients and mount points that nobody would wish for; needs root.

use std::fs::{self, File, OpenOptions, Permissions};
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use base::Rng;
use rustix::fs::{XattrFlags, ioctl_blksszget, setxattr};

use super::server::{Server, TARGET, order};
use crate::lab::{Answer, Lab};

/// Length of a part of the file that is checked byte by byte.
const PART_BYTES: u64 = 1 << 20;

/// The directory of a mount, which is unmounted at the latest when it is dropped: a server that was killed leaves it.
struct Place(PathBuf);

impl Place {
    fn new(lab: &Lab) -> Self {
        let place = lab.path("mnt");
        fs::create_dir(&place).expect("a directory");
        Self(place)
    }

    fn file(&self) -> PathBuf {
        self.0.join("disk")
    }

    fn open(&self) -> File {
        OpenOptions::new().read(true).write(true).open(self.file()).expect("the file")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Usually there is no mount any more.
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).stderr(Stdio::null()).status();
    }
}

fn start(lab: &Lab) -> Server {
    Server::start(lab, &["--fuse", "mnt"])
}

/// Fails unless the server answers and the file is whole.
fn serves(lab: &Lab, place: &Place, length: u64) {
    assert!(order(lab, &["status"])["valid_pages"].is_u64());
    assert_eq!(place.file().metadata().expect("the file").len(), length);
    place.open().read_exact_at(&mut [0; 4096], length - 4096).expect("the last page");
}

#[test]
fn odd_offsets_and_sizes_are_those_of_a_plain_file() {
    let lab = Lab::new();
    let place = Place::new(&lab);
    let server = start(&lab);
    let file = place.open();
    let length = file.metadata().expect("the file").len();
    let mut rng = Rng::new(37);
    for begin in [0, length - PART_BYTES] {
        let mut wanted = vec![0_u8; PART_BYTES as usize];
        for _ in 0..200 {
            let at = rng.below(PART_BYTES);
            let bytes = [1, 511, 4095, 4097, 65_537, 200_000][rng.below(6) as usize];
            let bytes = bytes.min(PART_BYTES - at) as usize;
            let at = at as usize;
            if rng.below(2) == 0 {
                let data: Vec<u8> = (0..bytes).map(|_| rng.next_u64() as u8).collect();
                file.write_all_at(&data, begin + at as u64).expect("a write");
                wanted[at..at + bytes].copy_from_slice(&data);
            }
            let mut found = vec![0; bytes];
            file.read_exact_at(&mut found, begin + at as u64).expect("a read");
            assert!(found == wanted[at..at + bytes], "{bytes} bytes at {begin} + {at}");
        }
    }
    let mut buffer = [1; 300];
    assert_eq!(file.read_at(&mut buffer, length - 10).expect("the end"), 10);
    for beyond in [length, length + 1, 1 << 50, i64::MAX as u64 - 4096] {
        assert_eq!(file.read_at(&mut buffer, beyond).expect("nothing"), 0, "at {beyond}");
        let error = file.write_at(&buffer, beyond).expect_err("no room");
        let code = error.raw_os_error().expect("of the system");
        // No space, or a file too large by the kernel's own limit.
        assert!([28, 27].contains(&code), "{error} at {beyond}");
    }
    assert_eq!(file.write_at(&buffer, length - 100).expect("a part"), 100);
    serves(&lab, &place, length);
    drop(file);
    server.end();
}

#[test]
fn nothing_but_the_bytes_of_the_file_can_be_changed() {
    let lab = Lab::new();
    let place = Place::new(&lab);
    let server = start(&lab);
    let (file, path) = (place.open(), place.file());
    let length = file.metadata().expect("the file").len();
    file.write_all_at(b"kept", 8192).expect("a write");
    let other = place.0.join("other");
    for size in [0, 1, length - 1, length + 1, i64::MAX as u64] {
        assert!(file.set_len(size).is_err(), "{size} bytes");
    }
    assert!(OpenOptions::new().write(true).truncate(true).open(&path).is_err());
    assert!(fs::remove_file(&path).is_err());
    assert!(fs::rename(&path, &other).is_err());
    assert!(fs::rename(&path, lab.path("away")).is_err());
    assert!(fs::hard_link(&path, &other).is_err());
    assert!(symlink(&path, &other).is_err());
    assert!(File::create(&other).is_err());
    assert!(fs::create_dir(&other).is_err());
    assert!(fs::remove_dir(&place.0).is_err());
    assert!(fs::set_permissions(&path, Permissions::from_mode(0o777)).is_err());
    assert!(setxattr(&path, "user.a", b"b", XattrFlags::empty()).is_err());
    assert!(ioctl_blksszget(&file).is_err());
    // Whether the kernel maps it is its own affair.
    let name = path.to_string_lossy().into_owned();
    let job = ["--name=m", "--ioengine=mmap", "--rw=randrw", "--size=1m", "--offset=64m"];
    let mut mapped = Command::new("fio");
    mapped.args(job).arg(format!("--filename={name}")).current_dir(lab.path("."));
    mapped.output().expect("fio");
    assert_eq!(fs::read_dir(&place.0).expect("a directory").count(), 1);
    let mut kept = [0; 4];
    file.read_exact_at(&mut kept, 8192).expect("a read");
    assert_eq!(&kept, b"kept");
    serves(&lab, &place, length);
    drop(file);
    server.end();
}

#[test]
fn many_clients_at_once_and_those_that_are_killed_harm_nobody() {
    let lab = Lab::new();
    let place = Place::new(&lab);
    let server = start(&lab);
    let length = place.file().metadata().expect("the file").len();
    thread::scope(|scope| {
        for client in 0..24_u64 {
            let place = &place;
            scope.spawn(move || {
                let file = place.open();
                let mut found = vec![0; 65_536];
                for round in 0..20_u64 {
                    let data = vec![(client * 20 + round) as u8; 65_536];
                    let at = client * PART_BYTES + round * 4096;
                    file.write_all_at(&data, at).expect("a write");
                    file.read_exact_at(&mut found, at).expect("a read");
                    assert!(found == data, "client {client}, round {round}");
                }
            });
        }
    });
    let path = place.file().to_string_lossy().into_owned();
    let (from, to) = (format!("if={path}"), format!("of={path}"));
    for round in 0..10 {
        let reader = [from.as_str(), "of=/dev/null", "bs=1M"];
        let writer = ["if=/dev/zero", to.as_str(), "bs=1M", "conv=notrunc", "seek=64"];
        let mut clients = [&reader[..], &writer[..]].map(|args| {
            let mut dd = Command::new("dd");
            dd.args(args).stderr(Stdio::null()).spawn().expect("dd")
        });
        // At another point of its work each time.
        thread::sleep(Duration::from_millis(round * 7));
        for client in &mut clients {
            client.kill().and_then(|()| client.wait()).expect("a child");
        }
    }
    serves(&lab, &place, length);
    server.end();
    assert!(!place.file().exists(), "it is unmounted");
}

#[test]
fn a_file_in_use_is_unmounted_when_it_is_free() {
    let lab = Lab::new();
    let place = Place::new(&lab);
    let server = start(&lab);
    let file = place.open();
    let ended = thread::spawn(move || server.end());
    // The other fronts are gone before the file is.
    while lab.path("nbd").exists() {
        thread::sleep(Duration::from_millis(5));
    }
    file.write_all_at(b"late", 0).expect("it still serves");
    assert!(!ended.is_finished());
    drop(file);
    let document = ended.join().expect("it ended with 0");
    assert!(document["host_pages"].as_u64().expect("a number") >= 1);
    assert!(!place.file().exists(), "it is unmounted");
}

/// The refusal of a mount there, with what stands on stderr.
fn refusal(lab: &Lab, place: &Path) -> String {
    let mut command = lab.command(&["sim", "expose", TARGET, "--fuse"]);
    let answer = Answer::of(command.arg(place));
    answer.must_exit_with(2);
    answer.stderr
}

#[test]
fn a_mount_point_is_an_empty_directory_or_refused() {
    let lab = Lab::new();
    let (file, full) = (lab.path("file"), lab.path("full"));
    fs::write(&file, "mine").expect("a file");
    fs::create_dir(&full).expect("a directory");
    fs::write(full.join("mine"), "mine").expect("a file");
    symlink(&full, lab.path("to-full")).expect("a link");
    symlink(lab.path("nowhere"), lab.path("dangling")).expect("a link");
    for name in ["file", "full", "to-full", "dangling", "missing"] {
        let told = refusal(&lab, &lab.path(name));
        assert!(told.contains("name an empty directory"), "{name}: {told}");
    }
    assert_eq!(fs::read(&file).expect("it is kept"), b"mine");
    assert_eq!(fs::read(full.join("mine")).expect("it is kept"), b"mine");
    // A link to an empty one is a name of it, and may lead elsewhere later.
    let place = Place::new(&lab);
    let link = lab.path("link");
    symlink(&place.0, &link).expect("a link");
    let server = Server::start(&lab, &["--fuse", "link"]);
    assert!(place.file().is_file());
    fs::remove_file(&link).and_then(|()| symlink(&full, &link)).expect("another link");
    server.end();
    assert!(!place.file().exists(), "it is unmounted");
    assert_eq!(fs::read(full.join("mine")).expect("it is kept"), b"mine");
}

#[test]
fn the_mount_of_a_killed_server_is_named_and_can_be_freed() {
    let lab = Lab::new();
    let place = Place::new(&lab);
    // Dropping a server kills it.
    drop(start(&lab));
    let told = refusal(&lab, &place.0);
    assert!(told.contains("a server that has died") && told.contains("umount"), "{told}");
    let freed = Command::new("umount").arg(&place.0).status().expect("umount");
    assert!(freed.success());
    for socket in ["nbd", "control"] {
        fs::remove_file(lab.path(socket)).expect("the socket of the killed server");
    }
    let server = start(&lab);
    let length = place.file().metadata().expect("the file").len();
    serves(&lab, &place, length);
    server.end();
}
