//! All things that a call could change.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::calls::Call;
use super::things::{Name, Thing};

/// An action on drop, also after a failure.
pub(super) enum Undo {
    Command(&'static str, String),
    /// A process that keeps a mount namespace of its own until it reads a line.
    Process(Child),
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

/// Files and devices in every state, and a directory for the results of calls.
pub(super) struct World {
    pub(super) things: Vec<Thing>,
    dir: TempDir,
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
        ];
        things.iter_mut().for_each(Thing::remember);
        fs::create_dir(at.join("own")).expect("a directory for the calls");
        let trace = "8,0 0 1 0.0 1 Q W 0 + 8 [x]\n8,0 0 2 0.1 1 Q R 80 + 16 [x]\n";
        fs::write(at.join("two.trace"), trace).expect("a trace");
        Self { things, dir }
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
        given
    }
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
