//! `import` and `site`, killed at any moment or on a disk that fills: no half of a run, no half of a
//! site, and nothing of others lost. Full disks need root.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::full_disk::TinyDisk;
use super::killed::Moments;
use crate::lab::{Answer, Lab, PAGE};

const KILLS: u64 = 25;

const IMPORT: [&str; 6] = ["library", "import", "fio", "result.json", "--drive", "Example 480"];

/// A lab with a result of fio and a page.
fn lab() -> Lab {
    let lab = Lab::new();
    let result = include_str!("../../../../crates/result/tests/import/fio-3.33.json");
    fs::write(lab.path("result.json"), result).expect("room for a result");
    fs::write(lab.path("page.html"), PAGE).expect("room for a page");
    lab
}

fn import(lab: &Lab, library: &str) -> Command {
    lab.command(&[&IMPORT[..], &["--library", library, "--format", "json"]].concat())
}

fn site(lab: &Lab, to: &str, title: &str) -> Command {
    let args =
        ["library", "site", to, "--library", "runs", "--web", "page.html", "--format", "json"];
    lab.command(&[&args[..], &["--title", title]].concat())
}

/// Kills a command at this time after its start.
fn killed(command: &mut Command, after: Duration) {
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = child.expect("starts");
    std::thread::sleep(after);
    let _ = child.kill();
    child.wait().expect("ends");
}

/// The length of a command that succeeds, in ms.
fn length_ms(command: &mut Command) -> u64 {
    let begin = Instant::now();
    Answer::of(command).must_exit_with(0);
    u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX).max(1)
}

/// The names that are not hidden.
fn names(dir: &Path) -> Vec<String> {
    let entries = dir.read_dir().into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<_> = names.filter(|name| !name.starts_with(".ssdlab-")).collect();
    names.sort();
    names
}

/// All files below a directory with their content, those of hidden directories of ssdlab apart.
fn tree(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for name in names(dir) {
        let path = dir.join(name);
        if path.is_dir() {
            found.extend(tree(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).expect("a file"));
        }
    }
    found
}

/// Every run of a library is whole: it is complete, and its rows are those that were written.
fn must_be_whole(lab: &Lab, library: &str) {
    let listed = Answer::of(&mut lab.command(&[
        "library",
        "list",
        "--library",
        library,
        "--format",
        "json",
    ]));
    listed.must_exit_with(0);
    let listed = listed.document();
    assert_eq!(listed["rejected"], serde_json::json!([]), "{listed:#}");
    for name in names(&lab.path(library)).iter().filter(|name| *name != "index.sqlite") {
        let show = ["show", name, "--library", library, "--format", "json"];
        let shown = Answer::of(&mut lab.command(&show));
        shown.must_exit_with(0);
        let run = &shown.document()[0];
        assert_eq!(run["status"], "complete", "{run:#}");
        assert!(lab.path(library).join(name).join("series.parquet").is_file());
    }
}

#[test]
fn a_killed_import_leaves_whole_runs_or_none() {
    let lab = lab();
    let length = length_ms(&mut import(&lab, "runs"));
    let mut moments = Moments(31);
    for number in 0..KILLS {
        let after = moments.next_below(length + length / 4);
        killed(&mut import(&lab, "runs"), after);
        if number % 5 == 4 {
            must_be_whole(&lab, "runs");
        }
    }
    let before = names(&lab.path("runs")).len();
    length_ms(&mut import(&lab, "runs"));
    assert_eq!(names(&lab.path("runs")).len(), before + 1);
}

/// Whatever a kill left, the site is the old one, the new one, or one on its way that the next call
/// completes; and somebody's files beside it are as they were.
#[test]
fn a_killed_site_is_completed_by_the_next_call() {
    let lab = lab();
    for _ in 0..3 {
        length_ms(&mut import(&lab, "runs"));
    }
    fs::create_dir_all(lab.path("web/.git")).expect("a directory of somebody");
    fs::create_dir_all(lab.path("web/runs")).expect("a directory of somebody");
    let others = ["web/.git/HEAD", "web/CNAME", "web/photo.raw", "web/runs/marathon.gpx"];
    others.iter().for_each(|name| fs::write(lab.path(name), name).expect("a file of somebody"));
    let title = |number: u64| format!("Bench {number}");
    let length = length_ms(&mut site(&lab, "web", &title(0)));
    let mut moments = Moments(32);
    for number in 1..=KILLS {
        let after = moments.next_below(length + length / 4);
        killed(&mut site(&lab, "web", &title(number)), after);
        for name in others {
            let content = fs::read_to_string(lab.path(name)).expect("it is still there");
            assert_eq!(content, name, "killed after {after:?}");
        }
        for name in ["web/index.html", "web/library.json", "web/ssdlab-site.json"] {
            let content = fs::read_to_string(lab.path(name)).expect("it is always there");
            assert!(!content.is_empty(), "{name}, killed after {after:?}");
        }
        let library = fs::read_to_string(lab.path("web/library.json")).expect("a library");
        serde_json::from_str::<serde_json::Value>(&library).expect("a whole one");
        if number % 5 == 0 {
            Answer::of(&mut site(&lab, "web", &title(1000 + number))).must_exit_with(0);
            let library = fs::read_to_string(lab.path("web/library.json")).expect("a library");
            assert!(library.contains(&title(1000 + number)), "{library}");
            let hidden = lab.path("web").read_dir().expect("a site").flatten();
            let hidden =
                hidden.filter(|entry| entry.file_name().to_string_lossy().starts_with(".ssdlab-"));
            assert_eq!(hidden.count(), 0, "the remains are gone");
        }
    }
}

#[test]
fn an_import_on_a_full_disk_leaves_what_was_there() {
    let lab = lab();
    let disk = TinyDisk::mount(lab.library(), "4m");
    length_ms(&mut import(&lab, "runs"));
    disk.fill();
    let before = tree(&lab.library());
    let answer = Answer::of(&mut import(&lab, "runs"));
    answer.must_exit_with(4);
    assert!(answer.stderr.contains("--library"), "{answer:#?}");
    assert_eq!(tree(&lab.library()), before);
    fs::remove_file(lab.library().join("junk")).expect("it fills the disk");
    must_be_whole(&lab, "runs");
    // A write that fails in the middle, after the check for room.
    let mut ends = Vec::new();
    for kib in [1, 2, 4, 8, 16, 64, 1024] {
        let runs = names(&lab.library());
        let import = import(&lab, "runs");
        let mut limited = Command::new("bash");
        limited.args(["-c", &format!("ulimit -f {kib}; exec \"$0\" \"$@\"")]);
        limited.arg(import.get_program()).args(import.get_args()).current_dir(lab.path(""));
        let answer = Answer::of(limited.env("SSDLAB_CONFIG", ""));
        let is_more = names(&lab.library()).len() > runs.len();
        assert_eq!(answer.code, Some(if is_more { 0 } else { 4 }), "{kib} KiB: {answer:#?}");
        ends.push(is_more);
        must_be_whole(&lab, "runs");
    }
    assert!(ends.contains(&true) && ends.contains(&false), "{ends:?}");
}

#[test]
fn a_site_on_a_full_disk_is_the_one_of_before() {
    let lab = lab();
    length_ms(&mut import(&lab, "runs"));
    let disk = TinyDisk::mount(lab.path("web"), "2m");
    fs::write(lab.path("web/CNAME"), "ssd.example").expect("a file of somebody");
    length_ms(&mut site(&lab, "web", "before"));
    let before = tree(&lab.path("web"));
    for room in [0, 4096, 8192, 12_288, 16_384] {
        disk.fill_but(room);
        let answer = Answer::of(&mut site(&lab, "web", "after"));
        fs::remove_file(lab.path("web/junk")).expect("it fills the disk");
        let library = fs::read_to_string(lab.path("web/library.json")).expect("a library");
        match answer.code {
            Some(4) if library.contains("before") => assert_eq!(tree(&lab.path("web")), before),
            Some(4) => assert!(library.contains("after"), "it was on its way: {answer:#?}"),
            Some(0) => assert!(library.contains("after")),
            _ => panic!("{answer:#?}"),
        }
        let cname = fs::read_to_string(lab.path("web/CNAME")).expect("it is still there");
        assert_eq!(cname, "ssd.example");
        length_ms(&mut site(&lab, "web", "before"));
    }
    assert_eq!(tree(&lab.path("web")), before);
}
