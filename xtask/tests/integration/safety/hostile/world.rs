//! All things that a call could change.

use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::calls::Call;
use super::things::{Name, Thing};
use super::writers::DRIVE;
use crate::lab::PAGE;

/// A result of fio.
const FIO: &str = r#"{"fio version": "fio-3.33", "timestamp": 1700000000, "global options": {}, "jobs": [
    {"jobname": "a", "groupid": 0, "error": 0, "job options": {"rw": "randread", "bs": "4k", "iodepth": "1"},
     "read": {"io_bytes": 40960, "bw_bytes": 40960, "iops": 10.0, "runtime": 1000, "total_ios": 10}}]}"#;

/// A sweep of two runs.
const SWEEP: &str = r#"metrics = ["iops"]
[fixed]
drive = "samsung-840-pro-256gb"
scale = "1/1024"
test = "latency"
"set.time" = "1s"
[vary]
spare = ["default", "25%"]
"#;

/// An action on drop, also after a failure.
pub(super) enum Undo {
    Command(&'static str, String),
    /// A process that keeps a mount namespace of its own until it reads a line.
    Process(Child),
    /// A lock that ends with its file.
    Lock(#[allow(dead_code, reason = "only its end matters")] File),
}

impl Undo {
    pub(super) fn new(program: &'static str, argument: &str) -> Self {
        Self::Command(program, argument.to_owned())
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        // A test that fails must still clean up as far as it can.
        match self {
            Self::Command(program, argument) => {
                let _ = Command::new(program).arg(argument).output();
            }
            Self::Process(child) => {
                let _ = child.stdin.as_mut().map(|stdin| stdin.write_all(b"\n"));
                let _ = child.wait();
            }
            Self::Lock(_) => {}
        }
    }
}

/// The actions undone on drop, the last one first.
#[derive(Default)]
pub(super) struct UndoAll(pub(super) Vec<Undo>);

impl Drop for UndoAll {
    fn drop(&mut self) {
        while self.0.pop().is_some() {}
    }
}

/// A thing that is no target and stays as it is.
pub(super) struct Kept {
    pub(super) path: PathBuf,
    inode: u64,
    /// Its content, or `None` if it is no file.
    content: Option<Vec<u8>>,
}

impl Kept {
    fn new(path: PathBuf) -> Self {
        let inode = fs::symlink_metadata(&path).expect("a thing").ino();
        let content = fs::read(&path).ok();
        Self { path, inode, content }
    }

    /// A new file with some content, in new directories.
    fn written(path: PathBuf) -> Self {
        fs::create_dir_all(path.parent().expect("a directory")).expect("directories");
        fs::write(&path, "of the user").expect("a file");
        Self::new(path)
    }

    fn is_the_same(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok_and(|found| found.ino() == self.inode)
            && fs::read(&self.path).ok() == self.content
    }
}

/// Files of a web site and of another library, which calls meet as a directory for results and behind links.
const FOREIGN: [&str; 6] = [
    "foreign/.git/HEAD",
    "foreign/CNAME",
    "foreign/photographs/1.jpg",
    "foreign/runs/thesis.tex",
    "other/a-run/run.json",
    "other/a-run/thesis.tex",
];

/// Files and devices in every state, and a directory for the results of calls.
pub(super) struct World {
    pub(super) things: Vec<Thing>,
    /// Living sockets.
    pub(super) sockets: Vec<Kept>,
    foreign: Vec<Kept>,
    /// Address of a server that takes uploads.
    pub(super) url: String,
    _bound: (UnixDatagram, UnixListener),
    _servers: [Server; 2],
    dir: TempDir,
}

/// A program that ends with this.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

impl World {
    pub(super) fn new() -> Self {
        // Swap files need a file system on a drive, which /tmp often is not.
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
        let at = dir.path().canonicalize().expect("it exists");
        let read_only = Thing::new(&at, "read-only").used();
        let read_only_path = read_only.file.clone();
        let mut things = vec![
            Thing::new(&at, "mounted")
                .with_ext4()
                .attached()
                .mounted()
                .bound()
                .attached_again()
                .stacked(),
            Thing::new(&at, "swap-device").attached().swap_device().stacked(),
            Thing::new(&at, "swap-file").bound().swap_file(),
            Thing::new(&at, "partition").attach(&at.join("partition"), &["-P"]).mounted_partition(),
            mounted_elsewhere(Thing::new(&at, "elsewhere").with_ext4().attached()),
            read_only.attach(&read_only_path, &["--read-only"]),
            Thing::new(&at, "stacked").attached().stacked(),
            Thing::new(&at, "free").attached(),
            Thing::new(&at, "formatted").with_ext4().attached(),
            Thing::new(&at, "plain").bound(),
            Thing::new(&at, "database").with_database(),
            Thing::new(&at, "image").with_ext4().bound(),
            Thing::new(&at, "locked").locked(),
            Thing::new(&at, "served-below").attached().stacked().locked(),
        ];
        things.iter_mut().for_each(Thing::remember);
        fs::create_dir(at.join("own")).expect("a directory for the calls");
        let trace = "8,0 0 1 0.0 1 Q W 0 + 8 [x]\n8,0 0 2 0.1 1 Q R 80 + 16 [x]\n";
        fs::write(at.join("two.trace"), trace).expect("a trace");
        fs::write(at.join("job.fio"), "[a]\nrw=randread\nbs=4k\nsize=1m\n").expect("a job");
        fs::write(at.join("page.html"), PAGE).expect("a page");
        fs::write(at.join("fio.json"), FIO).expect("a result");
        fs::write(at.join("sweep.toml"), SWEEP).expect("a sweep");
        let (datagram, stream) = (at.join("datagram"), at.join("stream"));
        let bound = (
            UnixDatagram::bind(&datagram).expect("a socket"),
            UnixListener::bind(&stream).expect("a socket"),
        );
        let drive = expose(&at);
        let sockets = [datagram, stream, at.join("control")].map(Kept::new).into();
        let foreign = FOREIGN.map(|path| Kept::written(at.join(path))).into();
        fs::create_dir(at.join("linked")).expect("a library");
        symlink("../other/a-run", at.join("linked/a-run")).expect("a link");
        let (library, url) = serve(&at);
        Self { things, sockets, foreign, url, _bound: bound, _servers: [drive, library], dir }
    }

    /// Working directory of the calls; they may write freely to the things in `own`.
    pub(super) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Checks that all things are unchanged, except those released to the call. Returns the number
    /// of changes among the latter.
    pub(super) fn check(&mut self, call: &Call, when: &str) -> u64 {
        let mut given = 0;
        for thing in &mut self.things {
            let was_given = call.was_given(thing);
            thing.was_given_before |= was_given;
            let Some(at) = thing.changed_at() else { continue };
            let name = thing.file.display();
            assert!(was_given, "{when} changed {name} at byte {at}: {call}");
            given += 1;
            thing.signed = false;
            thing.remember();
        }
        for kept in self.sockets.iter().chain(&self.foreign) {
            assert!(kept.is_the_same(), "{when} changed {}: {call}", kept.path.display());
        }
        given
    }
}

/// A library that takes uploads, and its address.
fn serve(at: &Path) -> (Server, String) {
    fs::create_dir(at.join("uploads")).expect("a library");
    fs::write(at.join("token"), "0123456789abcdef").expect("a token");
    fs::set_permissions(at.join("token"), Permissions::from_mode(0o600)).expect("its mode");
    let mut command = Command::new(crate::lab::binary());
    command.args(["library", "serve", "--library", "uploads", "--listen", "127.0.0.1:0"]);
    command.args(["--token-file", "token", "--web", "page.html"]);
    let mut server =
        Server(command.current_dir(at).stdout(Stdio::piped()).spawn().expect("starts"));
    let mut output = BufReader::new(server.0.stdout.take().expect("its output"));
    let mut line = String::new();
    while !line.contains("http://") {
        line.clear();
        assert_ne!(output.read_line(&mut line).expect("a line"), 0, "no address");
    }
    server.0.stdout = Some(output.into_inner());
    let url = line.split_whitespace().find(|word| word.starts_with("http://")).expect("a URL");
    (server, url.to_owned())
}

/// A drive that takes orders at the socket `control`.
fn expose(at: &Path) -> Server {
    let mut command = Command::new(crate::lab::binary());
    command.args(["sim", "expose", DRIVE, "--no-run", "--nbd", "nbd", "--control", "control"]);
    let server = command.current_dir(at).stderr(Stdio::null()).spawn().expect("starts");
    let server = Server(server);
    let end = Instant::now() + Duration::from_secs(60);
    while !at.join("nbd").exists() {
        assert!(Instant::now() < end, "no server");
        sleep(Duration::from_millis(5));
    }
    server
}

/// Mounts the thing in the mount namespace of another process only.
fn mounted_elsewhere(thing: Thing) -> Thing {
    let script = format!(
        "mount -o ro {} {} && echo ready && read wait",
        thing.nodes[0].display(),
        thing.mount_point()
    );
    let mut child = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("unshare starts");
    let mut line = String::new();
    let stdout = child.stdout.as_mut().expect("its output");
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    assert_eq!(line, "ready\n", "{script}");
    let inside = format!("/proc/{}/root{}", child.id(), thing.file.display());
    let mut thing = thing.used();
    thing.names.push(Name::file(&inside));
    thing.until(Undo::Process(child)).attached_again()
}
