//! All messages about a file, a target or a plan; `usage` has those about arguments.

use std::fs;
use std::path::Path;

use crate::lab::{Answer, Lab};

const DRIVE: &str = "sim:sandisk-extreme-ii-480gb?scale=1/64";
/// The longest argument that Linux passes on is 128 KiB.
const LONG_CHARS: usize = 100_000;

/// A short run called `run`, with files that a test may damage.
fn with_run(lab: &Lab) {
    let dirs = lab.run(&["null:?size=64MiB", "--set", "duration=2s", "--set", "fill=false"]);
    fs::rename(&dirs[0], lab.path("run")).expect("a run");
}

/// Changes a file of a run for the time of a call.
fn damaged(lab: &Lab, file: &str, change: impl FnOnce(&mut Vec<u8>)) -> String {
    let path = lab.path("run").join(file);
    let whole = fs::read(&path).expect("a file of the run");
    let mut content = whole.clone();
    change(&mut content);
    fs::write(&path, content).expect("changed");
    let told = lab.transcript([&["report", "run", "-o", "page.html"][..]]);
    fs::write(&path, whole).expect("as it was");
    told
}

#[test]
fn damage_of_a_run() {
    let lab = Lab::new();
    with_run(&lab);
    let json = |find: &'static str, put: &'static str| {
        move |content: &mut Vec<u8>| {
            let text = String::from_utf8(std::mem::take(content)).expect("JSON is UTF-8");
            assert!(text.contains(find), "{text}");
            *content = text.replacen(find, put, 1).into_bytes();
        }
    };
    let told = [
        damaged(&lab, "run.json", |content| content.truncate(1)),
        damaged(&lab, "run.json", json("\"consistency\"", "\"inconsistency\"")),
        damaged(&lab, "run.json", |content| *content = br#"{"schema_version": 7}"#.to_vec()),
        damaged(&lab, "run.json", |content| {
            *content = br#"{"schema_version": 1, "phases": 7}"#.to_vec();
        }),
        damaged(&lab, "run.json", |content| content.clear()),
        damaged(&lab, "series.parquet", |content| content.truncate(100)),
        damaged(&lab, "latency.parquet", |content| content[40] ^= 1),
        lab.transcript([
            &["show", "nowhere"][..],
            &["show", "./nowhere"],
            &["show", "latest"],
            &["report", "run", "-o", "nowhere/page.html"],
        ]),
    ];
    insta::assert_snapshot!(told.concat());
}

#[test]
fn targets_and_models() {
    let lab = Lab::new();
    fs::write(lab.path("here"), [7; 8192]).expect("a file");
    fs::write(lab.path("broken.toml"), "name = 1\n").expect("a model");
    let run = |target: &'static str| ["run", "consistency", target];
    let typed = [
        "",
        "sim",
        "sda",
        "disk.img",
        "simm:x",
        "sim:",
        "file:",
        "file:new",
        "file:here",
        "file:.",
        "file:nowhere/new?size=1MiB",
        "file:new?size=1000",
        "file:new?size=much",
        "file:new?keep=no",
        "file:new?size=1MiB&size=2MiB",
        "file:new?colour=red",
        "file:new?size",
        "null:x",
        "null:?size=0",
        "sim:no-such-drive",
        "sim:broken.toml",
        "sim:samsung-840-pro-256gb?nand.colour=red",
        "sim:samsung-840-pro-256gb?gc.policy=magic",
        "/dev/no-such-device",
        "/dev/null",
    ];
    let commands: Vec<_> = typed.into_iter().map(run).collect();
    let with_erase = ["run", "consistency", "file:here", "--erase", "there"];
    let commands = commands.iter().map(|args| &args[..]).chain([&with_erase[..]]);
    insta::assert_snapshot!(lab.transcript(commands));
    assert_eq!(fs::read(lab.path("here")).expect("the file"), [7; 8192], "it was written to");
}

#[test]
fn plans() {
    let lab = Lab::new();
    fs::write(lab.path("here"), [7; 8192]).expect("a file");
    let span = ["plan", "consistency", DRIVE, "--span", "3999661KiB"];
    let told = lab.transcript([
        &["plan", "consistency", DRIVE][..],
        &["plan", "trim", "null:?size=1GiB"],
        &["plan", "pts-iops", DRIVE],
        &["plan", "mixed", "null:?size=1GiB", "--set", "read_percents=50"],
        &["plan", "consistency", "file:here?size=64MiB"],
        &["plan", "mixed", "file:new?size=64MiB", "--format", "json"],
        &span,
        &["advise", "spare", DRIVE, "--floor", "20000", "--plan"],
        &["advise", "spare", "file:here?size=64MiB", "--floor", "20000", "--plan"],
    ]);
    insta::assert_snapshot!(told);
}

#[test]
fn traces_and_meters() {
    let lab = Lab::new();
    let msr = "128166372000000000,host,0,Write,0,4096,100\n";
    for (name, content) in [
        ("work.csv", msr.to_owned()),
        ("torn.csv", msr.repeat(3) + "128166372000"),
        ("words.csv", "once upon a time\n".to_owned()),
        ("empty.csv", String::new()),
        ("backwards.csv", "9,host,0,Write,0,4096,100\n1,host,0,Write,0,4096,100\n".to_owned()),
        ("broken.parquet", "PAR1 and no more".to_owned()),
    ] {
        fs::write(lab.path(name), content).expect("a trace");
    }
    let power = |meter: &'static str| ["run", "power", DRIVE, "--meter", meter];
    let meters = ["", "hwmon:", "hwmon:none", "stream:", "stream:nowhere", "volt:x"].map(power);
    let traces = lab.transcript([
        &["trace", "info", "nowhere.csv"][..],
        &["trace", "info", "torn.csv"],
        &["trace", "info", "words.csv"],
        &["trace", "info", "words.csv", "--from", "msr"],
        &["trace", "info", "work.csv", "--from", "no-format"],
        &["trace", "info", "work.csv", "--from", "csv:time=us,offset=parsecs"],
        &["trace", "info", "work.csv", "--from", "csv:op"],
        &["trace", "info", "empty.csv"],
        &["trace", "info", "empty.csv", "--from", "msr"],
        &["trace", "info", "broken.parquet"],
        &["trace", "info", "synth:no-such-scenario"],
        &["trace", "import", "empty.csv", "--from", "msr", "-o", "out.parquet"],
        &["trace", "convert", "work.csv", "--to", "no-format", "-o", "out"],
        &["trace", "replay", "work.csv", "sim:no-such-drive"],
        &["trace", "replay", "empty.csv", DRIVE],
    ]);
    let meters = lab.transcript(meters.iter().map(|args| &args[..]));
    insta::assert_snapshot!(traces + &meters);
    assert!(!lab.path("out.parquet").exists() && !lab.path("out").exists());
}

/// One document with one sentence in `message`; further output of clap has its own members.
#[test]
fn mistakes_as_json() {
    let lab = Lab::new();
    let mut told = String::new();
    for args in [
        &["run", "consistency", DRIVE, "--seeed", "1"][..],
        &["run", "consistency"],
        &["run", "consistancy", DRIVE],
        &["plan", "consistency", DRIVE, "--spare", "120%"],
        &["plan", "consistency", DRIVE, "--spare", "1%"],
        &["plan", "consistency", DRIVE, "--span", "99TB"],
    ] {
        let answer = Answer::of(lab.command(args).args(["--format", "json"]));
        answer.must_exit_with(2);
        let document = answer.document();
        let message = document["error"]["message"].as_str().expect("a message");
        assert!(!message.contains('\n') && !message.contains("Usage:"), "{message}");
        told += &format!("$ ssdlab {} --format json\n{document:#}\n\n", args.join(" "));
    }
    insta::assert_snapshot!(told);
}

/// A message repeats enough of a value to recognise it.
#[test]
fn a_long_value_does_not_make_a_long_message() {
    let lab = Lab::new();
    let long = "x".repeat(LONG_CHARS);
    let key = |key: &str| format!("sim:samsung-840-pro-256gb?{key}");
    for args in [
        vec!["run".to_owned(), long.clone(), DRIVE.to_owned()],
        run(&long),
        run(&format!("sim:{long}")),
        run(&format!("{long}:x")),
        run(&format!("null:{long}")),
        run(&format!("null:?{long}")),
        run(&format!("null:?{long}=1")),
        run(&format!("null:?size={long}")),
        run(&format!("file:new?keep={long}")),
        run(&format!("null:?size=1GiB&size={long}")),
        run(&key(&format!("gc.policy={long}"))),
        run(&key(&format!("gc.{long}=1"))),
        run(&key(&format!("seed={long}"))),
        run(&key(&format!("scale={long}"))),
        set(&format!("duration={long}")),
        set(&format!("{long}=1")),
        set(&long),
        vec!["show".to_owned(), long.clone()],
    ] {
        must_be_brief(&Answer::of(&mut lab.command(&args)));
    }
    for (name, content) in [
        ("value.toml", format!("name = \"x\"\ncapacity_gb = \"{}\"\n", "x".repeat(200_000))),
        ("key.toml", format!("{} = 1\n", "x".repeat(200_000))),
        ("words.toml", format!("name = {}\n", "x ".repeat(100_000))),
    ] {
        fs::write(lab.path(name), content).expect("a model");
        must_be_brief(&Answer::of(&mut lab.command(&["sim", "check", name])));
    }
    with_run(&lab);
    change_run(&lab.path("run"), |run| run["status"] = long.as_str().into());
    must_be_brief(&Answer::of(&mut lab.command(&["show", "run"])));
}

fn run(target: &str) -> Vec<String> {
    ["run", "consistency", target].map(str::to_owned).to_vec()
}

fn set(setting: &str) -> Vec<String> {
    ["run", "consistency", DRIVE, "--set", setting].map(str::to_owned).to_vec()
}

fn must_be_brief(answer: &Answer) {
    let said = answer.talk();
    assert!([Some(2), Some(4)].contains(&answer.code), "{:?}: {said:.2000}", answer.code);
    assert!(said.len() < 4_000 && said.contains('…'), "{} bytes: {said:.2000}", said.len());
}

fn change_run(dir: &Path, change: impl FnOnce(&mut serde_json::Value)) {
    let path = dir.join("run.json");
    let mut run = crate::lab::read_run(dir);
    run.as_object_mut().expect("a run").remove("checksums");
    change(&mut run);
    fs::write(path, run.to_string()).expect("changed");
}
