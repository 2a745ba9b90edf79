//! Every command of the README and of the guide does what it says, with the files that the page shows.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::lab::{Answer, Lab};

/// The lines of the blocks of a page, each block with its language.
fn blocks(page: &str) -> Vec<(&str, Vec<&str>)> {
    let mut blocks: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut is_block = false;
    for line in page.lines() {
        if let Some(language) = line.strip_prefix("```") {
            is_block = !is_block;
            blocks.extend(is_block.then_some((language, Vec::new())));
        } else if let (true, Some((_, lines))) = (is_block, blocks.last_mut()) {
            lines.push(line);
        }
    }
    blocks
}

/// The commands of `ssdlab` in a page, without their comments.
fn commands(page: &str) -> Vec<&str> {
    let blocks = blocks(page).into_iter().filter(|(language, _)| language.is_empty());
    let lines = blocks.flat_map(|(_, lines)| lines).filter(|line| line.starts_with("ssdlab "));
    lines.map(|line| line.split("  #").next().unwrap_or(line).trim_end()).collect()
}

/// The files of a page: blocks of TOML, and of fio, that begin with their name.
fn files(page: &str) -> Vec<(&str, String)> {
    let blocks = blocks(page).into_iter();
    let files = blocks.filter(|(language, _)| ["toml", "ini"].contains(language));
    let named = files.filter_map(|(_, lines)| Some((lines.first()?.strip_prefix("# ")?, lines)));
    named.map(|(name, lines)| (name, lines.join("\n"))).collect()
}

/// Whether another test has the command: hours of fits (`figures/fit.rs`), Ray (`words/cluster.rs`), and a second
/// terminal (`exposed/server.rs`).
fn is_elsewhere(command: &str) -> bool {
    let others = ["sim fit", "lab start", "lab show", "sim control"];
    others.iter().any(|other| command.starts_with(&format!("ssdlab {other}")))
}

/// A file stands for the drive of the reader, and short forms for the hours of a test.
fn short(command: &str) -> String {
    let mut words = command.replace("/dev/nvme1n1", "'file:drive?size=64MiB&keep=true'");
    words = words.replace("--erase SERIAL", "--erase drive");
    words = words
        .replace("TEST", "consistency")
        .replace("sim:NAME", "'sim:sandisk-extreme-ii-480gb?scale=1/512'")
        .replace("/tmp/", "./");
    for scale in ["scale=1/16", "scale=1/64"] {
        words = words.replace(scale, "scale=1/512");
    }
    let is_labelled = words.contains("--label");
    match words.split(' ').nth(1) {
        Some("run") if words.contains(" workload ") => words + " --set duration=1s",
        Some("run") if words.contains(" corners ") => {
            words + " --set time=1s --set sequential_time=1s"
        }
        Some("run") if words.contains(" qd-sweep ") => {
            words + " --set time=1s --set queue_depths=1,32"
        }
        Some("run") => {
            let label = if is_labelled { "" } else { " --label before" };
            words + " --set duration=2s --set steady_from=1s" + label
        }
        Some("review") => words + " --quick --only latency --set latency.time=1s",
        Some("library") if words.contains("serve") => words + " --listen 127.0.0.1:0",
        _ => words,
    }
}

/// Whether a command serves until it is stopped.
fn serves(command: &str) -> bool {
    command.contains(" serve") || command.contains(" expose ")
}

fn try_page(page: &str, commands_min: usize) {
    let lab = Lab::new();
    let drive = std::fs::File::create(lab.path("drive")).expect("a file");
    drive.set_len(64 << 20).expect("room");
    for (name, text) in files(page) {
        std::fs::write(lab.path(name), text).expect("a file of the page");
    }
    let all = commands(page);
    assert!(all.len() >= commands_min, "{all:?}");
    for command in all.into_iter().filter(|command| !is_elsewhere(command)) {
        let ssdlab = lab.command(&["list"]).get_program().to_string_lossy().into_owned();
        let words = short(command).replacen("ssdlab", &ssdlab, 1);
        // The README has no run with the label `after`.
        let words =
            if page.contains("--label after") { words } else { words.replace("after", "before") };
        let mut shell = Command::new("sh");
        shell.current_dir(lab.path(".")).args(["-c", &format!("exec {words}")]);
        if serves(command) {
            let mut server = shell.spawn().expect("it starts");
            std::thread::sleep(Duration::from_millis(500));
            assert!(server.try_wait().expect("a child").is_none(), "{command} ended");
            server.kill().expect("it ends");
            server.wait().expect("it has ended");
            continue;
        }
        let answer = Answer::of(&mut shell);
        match command {
            // The plan says that a run without a confirmation would be refused.
            plan if plan.contains(" plan ") && plan.contains("/dev/") => answer.must_exit_with(3),
            // Whether a policy is worse is a verdict.
            compare if compare.contains(" compare ") => {
                assert!(matches!(answer.code, Some(0 | 1)), "{command}: {}", answer.stderr);
            }
            _ => answer.must_exit_with(0),
        }
    }
}

#[test]
fn every_command_of_the_readme_works() {
    try_page(include_str!("../../../../README.md"), 10);
}

#[test]
fn every_command_and_file_of_the_guide_works() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide");
    let mut pages = 0;
    for page in guide.read_dir().expect("docs/guide") {
        let page = page.expect("a page").path();
        try_page(&std::fs::read_to_string(&page).expect("text"), 0);
        pages += 1;
    }
    assert!(pages >= 10, "{pages}");
}
