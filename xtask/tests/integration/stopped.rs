//! Signals to commands that have nothing to keep: the same exit code as everywhere.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::lab::Lab;

fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args([name, &pid]).status().expect("kill starts").success());
}

#[test]
fn every_command_ends_as_interrupted() {
    let lab = Lab::new();
    let endless: [&[&str]; 3] = [
        &["selftest", "--seconds", "60"],
        &["trace", "info", "synth:destroyer-2013"],
        &["trace", "info", "/dev/zero", "--from", "msr"],
    ];
    for args in endless {
        for name in ["-INT", "-TERM"] {
            let mut command = lab.command(args);
            let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
            let mut child = child.expect("starts");
            std::thread::sleep(Duration::from_millis(500));
            signal(&child, name);
            let code = child.wait().expect("ends").code();
            assert_eq!(code, Some(130), "{args:?} {name}");
        }
    }
}
