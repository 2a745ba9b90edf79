//! Every command of the README does what it says.

use std::process::Command;
use std::time::Duration;

use crate::lab::{Answer, Lab};

const README: &str = include_str!("../../../../README.md");

/// The commands of `ssdlab` in the blocks of the README, without their comments.
fn commands() -> Vec<&'static str> {
    let mut is_block = false;
    let mut commands = Vec::new();
    for line in README.lines() {
        is_block ^= line.starts_with("```");
        if is_block && line.starts_with("ssdlab ") {
            commands.push(line.split("  #").next().unwrap_or(line).trim_end());
        }
    }
    commands
}

/// A file stands for the drive of the reader, and short forms for the hours of a test.
fn short(command: &str) -> String {
    let mut words = command.replace("/dev/nvme1n1", "'file:drive?size=64MiB&keep=true'");
    words = words.replace("--erase SERIAL", "--erase drive");
    words = words
        .replace("TEST", "consistency")
        .replace("sim:NAME", "'sim:sandisk-extreme-ii-480gb?scale=1/512'");
    words = words.replace("scale=1/16", "scale=1/512");
    match words.split(' ').nth(1) {
        Some("run") if words.contains("workload") => words + " --set duration=2s",
        Some("run") => words + " --set duration=5s --set steady_from=2s --label before",
        Some("review") => words + " --quick --only latency --set latency.time=1s",
        Some("library") => words + " --listen 127.0.0.1:0",
        Some("compare") => words.replace("after", "before"),
        _ => words,
    }
}

#[test]
fn every_command_of_the_readme_works() {
    let lab = Lab::new();
    let drive = std::fs::File::create(lab.path("drive")).expect("a file");
    drive.set_len(64 << 20).expect("room");
    let all = commands();
    assert!(all.len() >= 10, "{all:?}");
    for command in all {
        let ssdlab = lab.command(&["list"]).get_program().to_string_lossy().into_owned();
        let words = format!("exec {}", short(command).replacen("ssdlab", &ssdlab, 1));
        let mut shell = Command::new("sh");
        shell.current_dir(lab.path(".")).args(["-c", &words]);
        if command.contains("serve") {
            let mut server = shell.spawn().expect("it starts");
            std::thread::sleep(Duration::from_millis(500));
            assert!(server.try_wait().expect("a child").is_none(), "{command} ended");
            server.kill().expect("it ends");
            server.wait().expect("it has ended");
            continue;
        }
        // The plan says that a run without a confirmation would be refused.
        Answer::of(&mut shell).must_exit_with(if command.contains(" plan ") { 3 } else { 0 });
    }
}
