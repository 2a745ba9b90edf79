//! Every command that writes to a file of the user's choice, beside files that somebody uses; and
//! the tables of the kernel that cannot be read. Needs root.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::lab::{Answer, Lab, PAGE, binary, read_run};
use crate::loop_device::{LoopDevice, Mounted, tool};

/// A drive of 250 MB.
const DRIVE: &str = "sim:samsung-840-pro-256gb?scale=1/1024";

/// A program that holds a lock on a part of a file, as a database does.
struct Locked(Child);

impl Locked {
    fn new(path: &Path) -> Self {
        let program = format!(
            "import fcntl\nf = open({path:?}, 'r+b')\n\
             fcntl.lockf(f, fcntl.LOCK_EX, 1, 9)\nprint('ready', flush=True)\ninput()"
        );
        let mut child = Command::new("python3")
            .args(["-c", &program])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3");
        let mut line = String::new();
        let stdout = child.stdout.as_mut().expect("its output");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        assert_eq!(line, "ready\n");
        Self(child)
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        let _ = self.0.stdin.as_mut().map(|stdin| stdin.write_all(b"\n"));
        let _ = self.0.wait();
    }
}

/// The answer of a command; one that serves a drive, which no test here wants, is ended.
fn answer<S: AsRef<std::ffi::OsStr>>(lab: &Lab, args: &[S]) -> Answer {
    let plain = lab.command(args);
    let mut command = Command::new("timeout");
    command.arg("60").arg(plain.get_program()).args(plain.get_args());
    Answer::of(command.current_dir(lab.path("")).env("SSDLAB_CONFIG", ""))
}

/// A server of the drive, asked to end by [`Server::end`].
struct Server(Child);

impl Server {
    fn start(lab: &Lab, args: &[&str]) -> Self {
        let mut command = lab.command(&["sim", "expose", DRIVE, "--no-run", "--nbd", "nbd"]);
        let mut server = Self(command.args(args).stderr(Stdio::null()).spawn().expect("starts"));
        let end = Instant::now() + Duration::from_secs(60);
        while std::os::unix::net::UnixStream::connect(lab.path("nbd")).is_err() {
            let ended = server.0.try_wait().expect("a child");
            assert!(Instant::now() < end && ended.is_none(), "no server: {ended:?}");
            sleep(Duration::from_millis(5));
        }
        server
    }

    fn end(mut self) -> Option<i32> {
        tool("kill", &["-TERM", &self.0.id().to_string()]);
        self.0.wait().expect("it ends").code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

/// A run in the library, and inputs for every command.
fn prepare(lab: &Lab) {
    let run = ["run", "latency", "sim:samsung-840-pro-256gb?scale=1/1024", "--set", "time=1s"];
    Answer::of(lab.command(&run).args(["--library", "runs", "--quiet"])).must_exit_with(0);
    let trace = "8,0 0 1 0.0 1 Q W 0 + 8 [x]\n8,0 0 2 0.1 1 Q R 80 + 16 [x]\n";
    fs::write(lab.path("two.trace"), trace).expect("a trace");
    fs::write(lab.path("page.html"), PAGE).expect("a page");
    fs::write(lab.path("job.fio"), "[a]\nrw=randread\nbs=4k\nsize=1m\n").expect("a job");
}

/// Commands with a file to write, `OUT`.
const WRITERS: &[&str] = &[
    "report latest --library runs --web page.html -o OUT",
    "library export latest --library runs --as csv -o OUT",
    "library export latest --library runs --as parquet -o OUT",
    "trace import two.trace -o OUT",
    "trace model two.trace -o OUT",
    "trace convert two.trace --to iolog -o OUT",
    "trace synth light-2011 --scale 1/1000 -o OUT",
    "workload import job.fio -o OUT",
    "workload export log --as fio -o OUT",
    "review DRIVE --quick --only latency --library runs --web page.html -o OUT",
    "sim expose DRIVE --no-run --nbd nbd --contents OUT",
    "run linear file:OUT --library runs --erase OUT --erase-signatures",
];

fn words(line: &str, out: &Path) -> Vec<String> {
    let word = |word: &str| word.replace("OUT", &out.to_string_lossy()).replace("DRIVE", DRIVE);
    line.split(' ').map(word).collect()
}

#[test]
fn no_command_writes_to_a_file_in_use() {
    let lab = Lab::new();
    prepare(&lab);
    let mounted = Mounted::new(&lab, 16 << 20);
    let link = lab.path("link");
    fs::hard_link(&mounted.image, &link).expect("a hard link");
    let database = lab.path("database");
    fs::write(&database, vec![7; 1 << 20]).expect("a file");
    let _locked = Locked::new(&database);
    let things = [&mounted.image, &link, &database];
    let before = things.map(|path| (fs::read(path).expect("a file"), inode(path)));
    for line in WRITERS {
        for (path, reason) in [(&mounted.image, "loop"), (&link, "loop"), (&database, "locked")] {
            let answer = answer(&lab, &words(line, path));
            answer.must_exit_with(3);
            assert!(answer.stderr.contains(reason), "{line}: {}", answer.stderr);
        }
    }
    let after = things.map(|path| (fs::read(path).expect("a file"), inode(path)));
    assert!(before == after, "a command changed a file in use");
    let loops = mounted.node.name();
    assert!(fs::read_dir(&mounted.at).is_ok(), "{loops} is still mounted");
}

/// A file that the commands above refuse is one that they write otherwise.
#[test]
fn every_writer_writes_to_a_free_file() {
    let lab = Lab::new();
    prepare(&lab);
    let out = lab.path("out");
    for line in WRITERS.iter().filter(|line| !line.starts_with("sim expose")) {
        fs::write(&out, vec![0; 8 << 20]).expect("a file");
        let answer = Answer::of(&mut lab.command(&words(line, &out)));
        answer.must_exit_with(0);
        assert!(fs::read(&out).expect("a file") != vec![0; 8 << 20], "{line} wrote nothing");
    }
}

fn inode(path: &Path) -> (u64, u64) {
    let found = fs::symlink_metadata(path).expect("a thing");
    (found.dev(), found.ino())
}

/// An image of exactly the size of the drive, as it was served once.
#[test]
fn contents_in_use_are_not_served() {
    let lab = Lab::new();
    assert_eq!(Server::start(&lab, &["--contents", "image"]).end(), Some(0));
    let size_bytes = fs::metadata(lab.path("image")).expect("the contents").len();
    fs::remove_file(lab.path("image")).expect("the contents");
    let mounted = Mounted::new(&lab, size_bytes);
    fs::hard_link(&mounted.image, lab.path("link")).expect("a hard link");
    let before = fs::read(&mounted.image).expect("the image");
    let serve = |name: &str| {
        let args = ["sim", "expose", DRIVE, "--no-run", "--nbd", "nbd", "--contents", name];
        answer(&lab, &[&args[..], &["--format", "json"]].concat())
    };
    for name in ["image", "link"] {
        let answer = serve(name);
        answer.must_exit_with(3);
        assert_eq!(answer.reason(), "held");
    }
    assert!(before == fs::read(&mounted.image).expect("the image"), "it was written to");
    drop(mounted);
    let locked = Locked::new(&lab.path("image"));
    assert_eq!(serve("image").reason(), "busy");
    drop(locked);
    let server = Server::start(&lab, &["--contents", "image"]);
    let image = lab.path("image").to_string_lossy().into_owned();
    let erase = ["--erase", &image, "--erase-signatures"];
    let target = format!("file:{image}");
    let run = Answer::of(lab.consistency(&[&target]).args(erase));
    run.must_exit_with(3);
    assert_eq!(run.reason(), "busy", "the image of a served drive is in use");
    assert_eq!(server.end(), Some(0), "a free image is served");
}

#[test]
fn a_socket_replaces_only_a_dead_one_and_removes_only_itself() {
    let lab = Lab::new();
    let living = UnixDatagram::bind(lab.path("living")).expect("a socket");
    fs::write(lab.path("file"), "a thesis").expect("a file");
    let things = ["living", "file"].map(|name| lab.path(name));
    let before = things.each_ref().map(|path| inode(path));
    for name in ["living", "file"] {
        for flags in [["--nbd", name, "--control", "c"], ["--nbd", "n", "--control", name]] {
            let args = ["sim", "expose", DRIVE, "--no-run", "--format", "json"];
            let answer = answer(&lab, &[&args[..], &flags].concat());
            answer.must_exit_with(3);
            assert_eq!(answer.reason(), "existing-file");
        }
    }
    assert_eq!(before, things.each_ref().map(|path| inode(path)));
    drop(living);
    assert_eq!(Server::start(&lab, &["--control", "living"]).end(), Some(0));
    assert!(!lab.path("living").exists(), "a dead one is replaced, and goes with the server");
    let server = Server::start(&lab, &["--control", "control"]);
    fs::remove_file(lab.path("control")).expect("the socket");
    fs::write(lab.path("control"), "a thesis").expect("a file");
    assert_eq!(server.end(), Some(0));
    assert_eq!(fs::read_to_string(lab.path("control")).expect("the file"), "a thesis");
}

/// Ways to hide tables, as commands of a shell that then becomes ssdlab, and the hidden place.
const MASKS: &[(&str, &str)] = &[
    ("mount -t tmpfs none /sys", "/sys"),
    ("mount -t tmpfs none /sys/block", "/sys/block"),
    ("mount --bind $EMPTY /sys/block", "/sys/block"),
    ("mount -t tmpfs none /sys/dev/block", "/sys/dev/block"),
    ("mount -t tmpfs none /sys/devices/virtual/block", "/sys/"),
    ("mount -t tmpfs none $LOOP/loop", "/sys/devices"),
    ("mount -t tmpfs none /proc", "/proc"),
    ("mount --bind $NOTHING /proc/$$/mountinfo", "mountinfo"),
    ("mount --bind $NOTHING /proc/locks", "/proc/locks"),
    ("mount --bind /dev/null /proc/locks", "/proc/locks"),
    ("mount --bind $NOTHING /proc/swaps", "/proc/swaps"),
];

#[test]
fn a_table_that_cannot_be_read_refuses() {
    let lab = Lab::new();
    prepare(&lab);
    let mounted = Mounted::new(&lab, 16 << 20);
    let free = lab.path("free");
    fs::write(&free, vec![0; 1 << 20]).expect("a file");
    fs::create_dir(lab.path("empty")).expect("a directory");
    fs::write(lab.path("nothing"), "").expect("a file");
    let before = fs::read(&mounted.image).expect("the image");
    let node = mounted.node.path.clone();
    let node_name = node.file_name().expect("its name").to_string_lossy();
    let calls = [
        words(WRITERS[WRITERS.len() - 1], &mounted.image),
        words(WRITERS[WRITERS.len() - 1], &free),
        words("run linear OUT --library runs --erase OUT --erase-signatures", &node),
        words("sim expose DRIVE --no-run --nbd nbd --contents OUT", &mounted.image),
        words("report latest --library runs --web page.html -o OUT", &mounted.image),
        words("verify file:OUT --erase OUT --erase-signatures --writes 1", &mounted.image),
    ];
    for (mask, table) in MASKS {
        for call in &calls {
            let quoted: Vec<_> = call.iter().map(|word| format!("'{word}'")).collect();
            let script = format!(
                "EMPTY={} NOTHING={} LOOP=/sys/devices/virtual/block/{node_name}; {mask} && exec {} {}",
                lab.path("empty").display(),
                lab.path("nothing").display(),
                binary().display(),
                quoted.join(" ")
            );
            let mut command = Command::new("timeout");
            command.args(["60", "unshare", "--mount", "--propagation", "private"]);
            command.args(["sh", "-c", &script]);
            let answer = Answer::of(command.current_dir(lab.path("")).env("SSDLAB_CONFIG", ""));
            assert!(matches!(answer.code, Some(3 | 5)), "{mask}; {call:?}: {answer:?}");
            let is_named = answer.stderr.contains(table) || answer.code == Some(3);
            assert!(is_named, "{mask}; {call:?}: {}", answer.stderr);
        }
    }
    assert!(before == fs::read(&mounted.image).expect("the image"), "it was written to");
    assert!(fs::read(&free).expect("the file") == vec![0; 1 << 20]);
    let answer = Answer::of(&mut lab.command(&calls[1]));
    answer.must_exit_with(0);
}

#[test]
fn a_run_ends_when_somebody_attaches_a_loop_device_to_its_file() {
    let lab = Lab::new();
    let image = lab.path("image");
    let target = format!("file:{}?size=16MiB&keep=true", image.display());
    let set = ["--set", "duration=120s", "--set", "steady_from=0s", "--set", "fill=false"];
    let mut command = lab.consistency(&[&target]);
    let mut child = command.args(set).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    let runs = || fs::read_dir(lab.library()).into_iter().flatten().flatten();
    let has_begun = || {
        runs().any(|entry| {
            entry.path().join("live").exists() || entry.path().join("run.json").exists()
        })
    };
    while !(image.exists() && has_begun()) {
        assert!(Instant::now() < end && child.try_wait().unwrap().is_none(), "no run");
        sleep(Duration::from_millis(5));
    }
    let node = LoopDevice::over(&image);
    let output = child.wait_with_output().expect("it ends by itself");
    let answer = Answer::new(&command, output);
    answer.must_exit_with(3);
    assert_eq!(answer.reason(), "held");
    let dir = runs().map(|entry| entry.path()).find(|dir| dir.join("run.json").exists());
    let run = read_run(&dir.expect("what was measured is kept"));
    assert_eq!(run["status"], "failed", "{run:#}");
    let warnings = run["warnings"].to_string();
    assert!(warnings.contains(&node.name()), "{warnings}");
}
