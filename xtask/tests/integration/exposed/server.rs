//! A server of an exposed drive, and orders to it.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::lab::{Answer, Lab};

/// A drive of 250 MB, in pages of 4 KiB.
pub(super) const TARGET: &str = "sim:samsung-840-pro-256gb?scale=1/1024";

/// A server, killed at the latest when it is dropped.
pub(super) struct Server {
    child: Option<Child>,
    socket: PathBuf,
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().and_then(|()| child.wait()).expect("it is a child");
        }
    }
}

impl Server {
    pub(super) fn start(lab: &Lab, args: &[&str]) -> Self {
        Self::of(lab, TARGET, args)
    }

    /// A server of this drive, which takes orders at the socket `control`.
    pub(super) fn of(lab: &Lab, target: &str, args: &[&str]) -> Self {
        let mut command =
            lab.command(&["sim", "expose", target, "--nbd", "nbd", "--format", "json"]);
        command.args(["--control", "control"]).args(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut server =
            Self { child: Some(command.spawn().expect("the binary")), socket: lab.path("nbd") };
        let end = Instant::now() + Duration::from_secs(60);
        while std::os::unix::net::UnixStream::connect(&server.socket).is_err() {
            let ended = server.child.as_mut().map(|child| child.try_wait().expect("a child"));
            assert!(Instant::now() < end && ended == Some(None), "no server: {ended:?}");
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(lab.path("control").exists(), "the control is there when NBD is");
        server
    }

    pub(super) fn uri(&self) -> String {
        format!("nbd+unix:///?socket={}", self.socket.display())
    }

    /// Asks it to end, and returns its document.
    pub(super) fn end(mut self) -> Value {
        let child = self.child.take().expect("it runs");
        let pid = child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().expect("kill").success());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("one document")
    }
}

/// Gives an order to the drive, and returns the answer.
pub(super) fn order(lab: &Lab, words: &[&str]) -> Value {
    let command = ["sim", "control", "control", "--format", "json"];
    let answer = Answer::of(lab.command(&command).args(words));
    answer.must_exit_with(0);
    answer.document()
}

/// Runs a tool that must succeed, and returns its stdout.
pub(super) fn tool(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output().expect(program);
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {args:?}: {words}");
    String::from_utf8(output.stdout).expect("text")
}
