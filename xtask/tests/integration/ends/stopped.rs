//! Signals to commands without data to keep: the same exit code as everywhere.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::lab::{Answer, Lab};

fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args([name, &pid]).status().expect("kill starts").success());
}

/// The same command with the default for SIGHUP: these tests may run under `nohup`.
fn minding_hangups(command: &Command) -> Command {
    let mut env = Command::new("env");
    env.arg("--default-signal=HUP").arg(command.get_program()).args(command.get_args());
    if let Some(dir) = command.get_current_dir() {
        env.current_dir(dir);
    }
    env
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
        for name in ["-INT", "-TERM", "-HUP"] {
            let mut command = minding_hangups(&lab.command(args));
            command.args(["--format", "json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
            let child = command.spawn().expect("starts");
            std::thread::sleep(Duration::from_millis(500));
            signal(&child, name);
            let answer = Answer::new(&command, child.wait_with_output().expect("ends"));
            answer.must_exit_with(130);
            assert_eq!(answer.reason(), "interrupted", "{answer:#?}");
        }
    }
}

/// A run ends regularly at the first signal. At the second it ends at once, with a message.
#[test]
fn the_second_signal_ends_a_run_with_a_document() {
    let lab = Lab::new();
    // Its purge takes seconds, and is not cut short.
    let mut command = lab.consistency(&["sim:sandisk-extreme-ii-480gb"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    std::thread::sleep(Duration::from_millis(1500));
    for _ in 0..2 {
        signal(&child, "-INT");
        std::thread::sleep(Duration::from_millis(20));
    }
    let answer = Answer::new(&command, child.wait_with_output().expect("ends"));
    answer.must_exit_with(130);
    answer.document();
}

/// The environment of `nohup`, or of a service started by a shell.
#[test]
fn a_closed_terminal_does_not_matter_where_it_was_said_so() {
    let lab = Lab::new();
    let program = lab.command::<&str>(&[]);
    let mut command = Command::new("sh");
    command.args(["-c", r#"trap "" HUP; exec "$0" selftest"#]).arg(program.get_program());
    let mut child = command.stdout(Stdio::null()).spawn().expect("starts");
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, "-HUP");
    assert_eq!(child.wait().expect("ends").code(), Some(0));
}
