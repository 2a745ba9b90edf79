//! Readers that leave early, output without room, and files that are either complete or absent.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::lab::{Answer, Lab, page_data, read_run};
use crate::loop_device::LoopDevice;

const TARGET: &str = "sim:sandisk-extreme-ii-480gb?scale=1/128";

/// A pipe without a reader.
fn unread() -> Stdio {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    writer.into()
}

/// The only run in the library of a lab.
fn only_run(lab: &Lab) -> serde_json::Value {
    let entries = lab.library().read_dir().expect("a library");
    let dirs: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    let [dir] = dirs.as_slice() else { panic!("not one run: {dirs:?}") };
    read_run(dir)
}

/// As in `ssdlab list | head -1`.
#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let lab = Lab::new();
    let mut command = lab.command(&["list"]);
    let child = command.stdout(unread()).stderr(Stdio::piped()).spawn().expect("starts");
    let answer = Answer::new(&command, child.wait_with_output().expect("ends"));
    answer.must_exit_with(0);
    assert_eq!(answer.stderr, "");
}

#[test]
fn a_run_that_nobody_listens_to_is_complete() {
    let lab = Lab::new();
    let mut command = lab.consistency(&[TARGET, "--set", "duration=20s"]);
    let child = command.stdout(unread()).stderr(unread()).spawn().expect("starts");
    let answer = Answer::new(&command, child.wait_with_output().expect("ends"));
    answer.must_exit_with(0);
    assert_eq!(only_run(&lab)["status"], "complete");
}

#[test]
fn data_without_room_is_told_and_the_run_is_kept() {
    let lab = Lab::new();
    let full = File::options().write(true).open("/dev/full").expect("a device without room");
    let mut command = lab.consistency(&[TARGET, "--set", "duration=20s"]);
    let child = command.stdout(full).stderr(Stdio::piped()).spawn().expect("starts");
    let answer = Answer::new(&command, child.wait_with_output().expect("ends"));
    answer.must_exit_with(4);
    assert!(answer.stderr.contains("the output is not complete"), "{answer:#?}");
    assert_eq!(only_run(&lab)["status"], "complete");
}

#[test]
fn an_interrupted_writer_of_a_trace_leaves_nothing() {
    let lab = Lab::new();
    let mut command = lab.command(&["trace", "synth", "destroyer-2013", "-o", "t.trace.parquet"]);
    let child = command.stderr(Stdio::piped()).spawn().expect("starts");
    let files = || lab.path("").read_dir().expect("a directory").count();
    let begun = Instant::now();
    while files() == 0 {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing is being written");
        std::thread::sleep(Duration::from_millis(10));
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().expect("kill starts").success());
    let answer = Answer::new(&command, child.wait_with_output().expect("ends"));
    answer.must_exit_with(130);
    assert_eq!(files(), 0, "{answer:#?}");
}

#[test]
fn a_review_looks_at_its_report_before_it_measures() {
    let lab = Lab::new();
    for (option, path) in [("-o", "missing/x.html"), ("-o", "/dev/null"), ("--web", "missing.html")]
    {
        let mut command = lab.command(&["review", TARGET, "--quick", option, path]);
        let answer = Answer::of(command.arg("--library").arg(lab.library()));
        assert!(matches!(answer.code, Some(2 | 4)), "{answer:#?}");
        assert!(answer.stderr.contains(path), "{answer:#?}");
        assert!(!lab.library().exists(), "{answer:#?}");
    }
}

#[test]
fn a_name_that_is_no_text_is_refused() {
    let lab = Lab::new();
    let name = OsStr::from_bytes(b"runs\xff");
    for verb in ["show", "report"] {
        let words = [OsStr::new(verb), name, OsStr::new("--format=json")];
        let answer = Answer::of(&mut lab.command(&words));
        answer.must_exit_with(2);
        assert!(answer.stderr.contains("UTF-8"), "{answer:#?}");
        assert_eq!(answer.reason(), "usage");
    }
}

/// Every file below a directory with its content.
fn contents(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = dir.read_dir().expect("a directory").map(|entry| entry.expect("an entry").path());
    let mut found: Vec<_> = entries
        .flat_map(|path| {
            if path.is_dir() {
                return contents(&path);
            }
            let bytes = std::fs::read(&path).expect("readable");
            vec![(path, bytes)]
        })
        .collect();
    found.sort();
    found
}

fn must_refuse_the_output(lab: &Lab, args: &[&str]) {
    must_refuse_for(lab, args, "output-is-input");
}

fn must_refuse_for(lab: &Lab, args: &[&str], reason: &str) {
    let before = contents(&lab.path(""));
    let answer = Answer::of(lab.command(args).args(["--format", "json"]));
    answer.must_exit_with(3);
    assert_eq!(answer.reason(), reason, "{answer:#?}");
    assert!(contents(&lab.path("")) == before, "something was changed by {args:?}");
}

#[test]
fn no_output_takes_the_place_of_an_input() {
    let lab = Lab::new();
    let run = lab.run(&[TARGET, "--set", "duration=5s"]).remove(0);
    let file = |name: &str| run.join(name).display().to_string();
    std::fs::hard_link(run.join("run.json"), lab.path("hard")).expect("a link");
    symlink(run.join("series.parquet"), lab.path("soft")).expect("a link");
    let name = run.display().to_string();
    for output in [&*file("run.json"), &*file("latency.parquet"), "hard", "soft"] {
        must_refuse_the_output(&lab, &["report", &name, "-o", output]);
        must_refuse_the_output(&lab, &["review", TARGET, "--library", "runs", "-o", output]);
    }
    std::fs::write(lab.path("page.html"), "a page").expect("a page");
    must_refuse_the_output(&lab, &["report", &name, "--web", "page.html", "-o", "page.html"]);
    let review = ["review", "file:disk?size=64MiB", "--only", "linear", "-o"];
    must_refuse_the_output(&lab, &[&review[..], &["disk"]].concat());
    must_refuse_the_output(&lab, &["verify", "file:disk?size=8MiB", "--journal", "disk"]);
    std::fs::write(lab.path("disk"), "somebody's").expect("a file");
    std::fs::hard_link(lab.path("disk"), lab.path("second")).expect("a link");
    must_refuse_the_output(&lab, &[&review[..], &["second"]].concat());
}

#[test]
fn no_output_takes_the_place_of_a_trace() {
    let lab = Lab::new();
    let work = "128166372000000000,host,0,Write,0,4096,100\n";
    std::fs::write(lab.path("work.csv"), work).expect("a trace");
    std::fs::hard_link(lab.path("work.csv"), lab.path("hard")).expect("a link");
    for output in ["work.csv", "hard"] {
        must_refuse_the_output(&lab, &["trace", "import", "work.csv", "-o", output]);
        must_refuse_the_output(&lab, &["trace", "model", "work.csv", "-o", output]);
        let convert = ["trace", "convert", "work.csv", "--to", "iolog", "-o", output];
        must_refuse_the_output(&lab, &convert);
    }
    let mut piped = lab.command(&["trace", "import", "-", "--from", "msr", "-o", "work.csv"]);
    let answer = Answer::of(piped.stdin(File::open(lab.path("work.csv")).expect("a trace")));
    answer.must_exit_with(3);
    assert_eq!(std::fs::read_to_string(lab.path("work.csv")).expect("there"), work);
}

#[test]
fn no_output_takes_the_place_of_an_image_that_is_attached() {
    let lab = Lab::new();
    let device = LoopDevice::attach(&lab);
    let image = device.backing.display().to_string();
    let synth = ["trace", "synth", "light-2011", "--scale", "1/1000", "-o", &image];
    for args in [&synth[..], &["review", &device.name(), "-o", &image]] {
        must_refuse_for(&lab, args, "held");
    }
}

/// The name of a file may contain characters that a terminal or a shell executes.
#[test]
fn names_are_shown_and_quoted() {
    let lab = Lab::new();
    let name = "a\u{1b}[31m\u{9b}2J b;c";
    let path = lab.path(name);
    let target = format!("file:{}?size=64MiB&keep=true", path.display());
    let settings = ["--set", "duration=1s", "--library", "runs"];
    let words = [&["run", "consistency", &target][..], &settings].concat();
    let run = Answer::of(&mut lab.command(&words));
    run.must_exit_with(0);
    let again = Answer::of(&mut lab.command(&words));
    again.must_exit_with(3);
    let shown = Answer::of(&mut lab.command(&["show", "latest", "--library", "runs"]));
    let document = Answer::of(&mut lab.command(&[&words[..], &["--format", "json"]].concat()));
    for answer in [&run, &again, &shown, &document] {
        assert!(!answer.talk().contains(['\u{1b}', '\u{9b}']), "{answer:#?}");
        assert!(answer.talk().contains(r"a\u001b[31m\u009b2J b;c"), "{answer:#?}");
    }
    let message = document.document()["error"]["message"].as_str().expect("a sentence").to_owned();
    assert!(message.contains(&format!("--erase '{}'", path.display())), "{message}");
}

#[test]
fn a_review_says_everywhere_what_it_left_out() {
    let lab = Lab::new();
    let mut command = lab.command(&["review", "file:disk?size=64MiB", "--quick", "--quiet"]);
    command.args(["--only", "latency,power", "--set", "latency.time=1s", "--format", "json"]);
    let answer = Answer::of(command.arg("--library").arg(lab.library()));
    answer.must_exit_with(0);
    let document = answer.document();
    let reason = document["left_out"][0].as_str().expect("a reason");
    assert!(reason.starts_with("file:disk?size=64MiB: power: nothing tells"), "{reason}");
    assert_eq!(only_run(&lab)["left_out"], document["left_out"]);
    let again = ["report", "latest", "--library", "runs", "-o", "again.html"];
    Answer::of(&mut lab.command(&again)).must_exit_with(0);
    for page in ["review.html", "again.html"] {
        let page = page_data(&std::fs::read_to_string(lab.path(page)).expect("a page"));
        assert!(page.contains(reason), "the page has no word of it");
    }
}
