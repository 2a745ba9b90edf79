//! Things of others that a name leads to, inputs that are no files, and damage: each is told, and
//! nothing is lost or waited for.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::lab::{Answer, Lab};

const RUN: [&str; 3] = ["sim:sandisk-extreme-ii-480gb?scale=1/256", "--set", "duration=3s"];

#[test]
fn a_run_of_another_library_behind_a_link_stays() {
    let lab = Lab::new();
    let run = lab.run(&RUN).remove(0);
    let name = run.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
    fs::create_dir(lab.path("mine")).expect("a library");
    symlink(&run, lab.path("mine").join(&name)).expect("a link");
    let remove = ["library", "rm", &name, "--format", "json", "--library"];
    let answer = Answer::of(lab.command(&remove).arg("mine"));
    answer.must_exit_with(3);
    assert!(answer.stderr.contains("is a link"), "{answer:#?}");
    assert!(run.join("series.parquet").is_file() && lab.path("mine").join(&name).is_symlink());
    fs::write(run.join("thesis.tex"), "years").expect("a file of somebody");
    Answer::of(lab.command(&remove).arg("runs")).must_exit_with(3);
    fs::remove_file(run.join("thesis.tex")).expect("it is there");
    Answer::of(lab.command(&remove).arg("runs")).must_exit_with(0);
    assert!(!run.exists());
    for name in ["..", ".", "latest", "mine/x", "index.sqlite"] {
        Answer::of(lab.command(&["library", "rm", name, "--library"]).arg("runs"))
            .must_exit_with(2);
    }
}

#[test]
fn a_damaged_file_of_a_run_is_shown_by_nobody() {
    let lab = Lab::new();
    let run = lab.run(&RUN).remove(0);
    let show = ["show", "latest", "--library", "runs"];
    Answer::of(&mut lab.command(&show)).must_exit_with(0);
    for name in ["series.parquet", "latency.parquet"] {
        let whole = fs::read(run.join(name)).expect("a file");
        let mut damaged = whole.clone();
        damaged[whole.len() / 2] ^= 1;
        fs::write(run.join(name), damaged).expect("room");
        for format in ["text", "json"] {
            let answer = Answer::of(lab.command(&show).args(["--format", format]));
            answer.must_exit_with(4);
            assert!(answer.stderr.contains(name), "{answer:#?}");
        }
        fs::write(run.join(name), whole).expect("room");
    }
    Answer::of(&mut lab.command(&show)).must_exit_with(0);
}

#[test]
fn an_id_that_is_no_name_is_refused_wherever_it_enters() {
    let lab = Lab::new();
    let run = lab.run(&RUN).remove(0);
    let text = fs::read_to_string(run.join("run.json")).expect("a run");
    for id in
        ["../escaped", "index.sqlite-journal", "index.sqlite-wal", "latest", "facts", "-rf", "a b"]
    {
        let mut json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        json.as_object_mut().expect("an object").remove("checksums");
        json["run_id"] = id.into();
        fs::write(run.join("run.json"), json.to_string()).expect("room");
        let dir = run.to_str().expect("UTF-8");
        for args in [&["run", "--resume", dir][..], &["show", dir], &["report", dir]] {
            let answer = Answer::of(lab.command(args).args(["--library", "runs"]));
            answer.must_exit_with(4);
            assert!(answer.stderr.contains("cannot be the id of a run"), "{id}: {answer:#?}");
        }
    }
    assert!(!lab.path("escaped").exists());
}

/// A pipe without a writer in the place of each input. The limit of `timeout` is far beyond the
/// patience of the program, and its exit code is 124.
#[test]
fn no_input_is_waited_for_without_end() {
    let lab = Lab::new();
    let pipe = lab.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo starts").success());
    lab.run(&RUN);
    fs::create_dir(lab.path("broken")).expect("a directory");
    symlink(&pipe, lab.path("broken/run.json")).expect("a link");
    let commands: [&[&str]; 10] = [
        &["sim", "check", "pipe"],
        &["library", "import", "fio", "pipe", "--drive", "a"],
        &["show", "./broken"],
        &["report", "latest", "--web", "pipe", "-o", "page.html", "--library", "runs"],
        &["report", "latest", "--words", "pipe", "-o", "page.html", "--library", "runs"],
        &["verify", "null:", "--check", "--journal", "pipe"],
        &["trace", "info", "pipe"],
        &["workload", "check", "pipe"],
        &["workload", "import", "pipe"],
        &["plan", "consistency", "sim:./pipe"],
    ];
    std::thread::scope(|scope| {
        for args in commands {
            let lab = &lab;
            scope.spawn(move || {
                let command = lab.command(args);
                let mut limited = Command::new("timeout");
                limited.args(["-k", "5", "120"]).arg(command.get_program()).args(args);
                let limited = limited.current_dir(lab.path("")).env("SSDLAB_CONFIG", "");
                let answer = Answer::of(limited);
                assert!(
                    matches!(answer.code, Some(2..=5)) && !answer.stderr.contains("panicked"),
                    "{answer:#?}"
                );
            });
        }
    });
}
