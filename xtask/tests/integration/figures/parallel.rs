//! Several real targets at the same time (`--parallel`): the figures of each alone, the conditions that tell of the
//! others, and one that ends without the others. Loop devices stand in for drives; needs root.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::lab::{Answer, Lab, PAGE, phase, read_run};
use crate::loop_device::{LoopDevice, tool};

/// A rate far below the limits of any machine: its figures do not depend on what else goes on.
const STEADY: &str = "\
    duration = \"3s\"\n\
    [job.steady]\n\
    op = \"write\"\n\
    block = \"4KiB\"\n\
    pattern = \"uniform\"\n\
    queue_depth = 4\n\
    rate = 400\n";

/// Two loop devices over files of this size.
fn pair(lab: &Lab, size_bytes: u64) -> [LoopDevice; 2] {
    ["one.img", "two.img"].map(|name| {
        let file = fs::File::create(lab.path(name)).expect("a backing file");
        file.set_len(size_bytes).expect("room");
        LoopDevice::over(&lab.path(name))
    })
}

/// `ssdlab run ARGS...` on these devices, with the confirmation for each.
fn run(lab: &Lab, devices: &[&LoopDevice], args: &[&str]) -> Command {
    let mut command = lab.command(&["run"]);
    command.args(args).args(["--format", "json", "--library"]).arg(lab.library());
    for device in devices {
        command.arg(&device.path).args(["--erase", &device.word()]);
    }
    command
}

/// The runs of an answer by their targets.
fn runs(lab: &Lab, answer: &Answer) -> Vec<Value> {
    lab.run_dirs(&answer.document()).iter().map(|dir: &PathBuf| read_run(dir)).collect()
}

/// The shortest corners whose steps have figures.
const CORNERS: [&str; 7] =
    ["corners", "--set", "time=2s", "--set", "random_span=32MiB", "--set", "sequential_time=2s"];

#[test]
fn two_devices_at_the_same_time_have_the_figures_of_each_alone() {
    let lab = Lab::new();
    let devices = pair(&lab, 64 << 20);
    fs::write(lab.path("steady.toml"), STEADY).expect("room");
    let args = ["workload", "--workload", "steady.toml", "--set", "purge=false"];
    let alone = devices.each_ref().map(|device| {
        let answer = Answer::of(&mut run(&lab, &[device], &args));
        answer.must_exit_with(0);
        runs(&lab, &answer).remove(0)
    });
    let [one, two] = &devices;
    let begin = Instant::now();
    let answer = Answer::of(run(&lab, &[one, two], &args).arg("--parallel"));
    let took = begin.elapsed();
    answer.must_exit_with(0);
    let together = runs(&lab, &answer);
    assert_eq!(together.len(), 2);
    for ((run, alone), other) in together.iter().zip(&alone).zip([two, one]) {
        for metric in ["workload.steady.iops", "workload.steady.mb_per_s"] {
            let figure = |run: &Value| run["metrics"][metric].as_f64().expect("a figure");
            let share = figure(run) / figure(alone);
            assert!((0.95..1.05).contains(&share), "{metric}: {share} of the figure alone");
        }
        assert_eq!(
            run["command"], alone["command"],
            "the command that repeats it is that of a run alone"
        );
        let told =
            |label: &str| run["environment"][label].as_str().expect("a condition").to_owned();
        assert_eq!(told("beside"), other.name());
        assert!(told("shared_links").contains(&format!(" with {}", other.name())));
        assert!(told("processors").contains("its own") || told("processors").contains("shared"));
        assert_eq!(
            run["environment"]["cpus"], alone["environment"]["cpus"],
            "those of the machine"
        );
        assert!(alone["environment"].get("beside").is_none());
    }
    let [begin_ns, end_ns] = ["started_unix_ns", "finished_unix_ns"].map(|name| {
        together.iter().map(|run| run[name].as_u64().expect("a time")).collect::<Vec<_>>()
    });
    assert!(begin_ns.iter().max() < end_ns.iter().min(), "one after the other, in {took:?}");
}

#[test]
fn no_device_is_written_to_before_every_one_is_checked() {
    let lab = Lab::new();
    let [one, two] = pair(&lab, 16 << 20);
    let content = [&one, &two].map(|device| {
        let content = vec![7; 16 << 20];
        fs::write(&device.path, &content).expect("room");
        content
    });
    let refused = |devices: &[&LoopDevice], more: &[&str], reason: &str| {
        let mut command =
            run(&lab, devices, &["consistency", "--set", "duration=2s", "--parallel"]);
        let answer = Answer::of(command.args(more));
        answer.must_exit_with(3);
        assert_eq!(answer.reason(), reason, "{answer:#?}");
        for (device, content) in [&one, &two].into_iter().zip(&content) {
            assert!(&fs::read(&device.path).expect("it reads") == content, "it was written to");
        }
    };
    let name = two.name();
    refused(&[&one], &[&name], "wrong-serial");
    let file = format!("file:{}", one.word());
    refused(&[&one, &two], &[&file], "same-target");
    let again = LoopDevice::over(&one.backing);
    refused(&[&one, &again], &[], "same-target");
    drop(again);
    tool("mkfs.ext4", &["-q", &two.name()]);
    let content = fs::read(&two.path).expect("it reads");
    let mut command =
        run(&lab, &[&one, &two], &["consistency", "--set", "duration=2s", "--parallel"]);
    let answer = Answer::of(&mut command);
    answer.must_exit_with(3);
    assert_eq!(answer.reason(), "signature", "{answer:#?}");
    assert!(fs::read(&one.path).expect("it reads") == vec![7; 16 << 20], "it was written to");
    assert!(fs::read(&two.path).expect("it reads") == content, "it was written to");
}

#[test]
fn the_plan_names_the_links_and_one_target_has_none() {
    let lab = Lab::new();
    let [one, two] = pair(&lab, 16 << 20);
    let plan = |targets: &[&str], more: &[&str]| {
        Answer::of(lab.command(&["plan", "consistency", "--parallel"]).args(targets).args(more))
    };
    let (one, two) = (one.name(), two.name());
    let answer = plan(&[&one, &two], &["--format", "json"]);
    answer.must_exit_with(3);
    let links = answer.document()["shared_links"].clone();
    assert_eq!(links[0]["targets"], serde_json::json!([one, two]), "{answer:#?}");
    let text = plan(&[&one, &two], &[]).stdout;
    assert!(text.contains(&format!(", by {one} and {two}")), "{text}");
    let answer = plan(&[&one, "sim:ideal"], &["--format", "json"]);
    answer.must_exit_with(2);
    assert!(answer.stderr.contains("two real targets or more"), "{answer:#?}");
}

#[test]
fn a_review_of_two_drives_is_one_page_and_names_what_they_share() {
    let lab = Lab::new();
    let [one, two] = pair(&lab, 64 << 20);
    fs::write(lab.path("page.html"), PAGE).expect("room");
    let mut command =
        lab.command(&["review", "--quick", "--only", "corners,latency", "--parallel"]);
    command.args(["--set", "corners.time=1s", "--set", "corners.sequential_time=1s"]);
    command.args(["--set", "latency.time=1s", "--web", "page.html", "--format", "json"]);
    for device in [&one, &two] {
        command.arg(&device.path).args(["--erase", &device.word()]);
    }
    let answer = Answer::of(command.arg("--library").arg(lab.library()));
    answer.must_exit_with(0);
    assert!(lab.path("review.html").is_file());
    let both = format!("by {} and {}", one.name(), two.name());
    assert!(answer.stderr.contains("shared: ") && answer.stderr.contains(&both), "{answer:#?}");
    let runs = runs(&lab, &answer);
    let tests: Vec<_> = runs.iter().map(|run| (&run["target"]["spec"], &run["test"])).collect();
    let [one, two] = [one.name(), two.name()];
    let expected = [(&one, "corners"), (&one, "latency"), (&two, "corners"), (&two, "latency")];
    let mut expected = expected.map(|(spec, test)| (spec.clone(), test.to_owned())).to_vec();
    let mut tests: Vec<_> = tests
        .into_iter()
        .map(|(spec, test)| (spec.as_str().unwrap().to_owned(), test.as_str().unwrap().to_owned()))
        .collect();
    tests.sort();
    expected.sort();
    assert_eq!(tests, expected);
    let first = &runs[0]["environment"]["beside"];
    assert!([&one, &two].iter().any(|name| first == name.as_str()), "{first}");
}

/// A spinning program leaves no idle time on the only processor that both may use.
#[test]
fn figures_of_a_full_processor_have_the_mark() {
    let lab = Lab::new();
    let [one, two] = pair(&lab, 64 << 20);
    let status = fs::read_to_string("/proc/self/status").expect("it reads");
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let first = allowed.expect("a list").trim().split([',', '-']).next().expect("a processor");
    let on_first = |program: &str| {
        let mut command = Command::new("taskset");
        command.args(["--cpu-list", first, program]);
        command
    };
    let mut spinning =
        on_first("sh").args(["-c", "while :; do :; done"]).spawn().expect("it starts");
    let plain = run(&lab, &[&one, &two], &CORNERS);
    let mut command = on_first(plain.get_program().to_str().expect("UTF-8"));
    let command = command.args(plain.get_args()).arg("--parallel").current_dir(lab.path("."));
    let answer = Answer::of(command);
    spinning.kill().expect("it spins");
    spinning.wait().expect("it ends");
    answer.must_exit_with(0);
    for run in runs(&lab, &answer) {
        let told = run["environment"]["processors"].as_str().expect("a condition");
        assert_eq!(told, format!("{first}, shared with the others"));
        let host = &phase(&run, "random_read")["host"];
        assert!(
            host["system_ns"].as_u64() > Some(0) && host["interrupts"].as_u64() > Some(0),
            "{host}"
        );
        let marks = run["marks"].as_array().expect("marks");
        let of_reads = |mark: &&Value| mark["metric"] == "corners.random_read.mb_per_s";
        let mut kinds = marks.iter().filter(of_reads).map(|mark| &mark["kind"]);
        assert!(kinds.any(|kind| kind == "host-limited"), "{marks:#?}");
    }
}

/// A call on both devices, begun and on its way.
fn begun(lab: &Lab, devices: [&LoopDevice; 2], args: &[&str]) -> (Command, Child) {
    let mut command = run(lab, &devices, args);
    let child = command.arg("--parallel").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    std::thread::sleep(Duration::from_secs(3));
    (command, child.expect("it starts"))
}

#[test]
fn an_interruption_ends_all_in_order() {
    let lab = Lab::new();
    let [one, two] = pair(&lab, 16 << 20);
    let (command, child) = begun(&lab, [&one, &two], &["consistency", "--set", "duration=60s"]);
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(status.expect("kill starts").success());
    let asked = Instant::now();
    let answer = Answer::new(&command, child.wait_with_output().expect("it ends"));
    assert!(asked.elapsed() < Duration::from_secs(10), "took {:?} to stop", asked.elapsed());
    answer.must_exit_with(130);
    let runs = runs(&lab, &answer);
    assert_eq!(runs.len(), 2);
    runs.iter().for_each(|run| assert_eq!(run["status"], "interrupted", "{run:#}"));
    for (device, run) in [one, two].iter().zip(&runs) {
        let line = format!("consistency {}", device.name());
        assert!(answer.stderr.contains(&line), "no line of {line}: {}", answer.stderr);
        assert_eq!(run["target"]["spec"], device.name());
    }
}

/// The look at the border of a phase finds somebody on the first device.
#[test]
fn one_that_fails_does_not_stop_the_others() {
    let lab = Lab::new();
    let [one, two] = pair(&lab, 64 << 20);
    let (command, child) = begun(&lab, [&one, &two], &CORNERS);
    let intruder = LoopDevice::over(&one.backing);
    let answer = Answer::new(&command, child.wait_with_output().expect("it ends"));
    drop(intruder);
    answer.must_exit_with(3);
    assert_eq!(answer.reason(), "held", "{answer:#?}");
    let runs = runs(&lab, &answer);
    let status: Vec<_> = runs.iter().map(|run| run["status"].as_str().expect("a word")).collect();
    assert_eq!(status, ["failed", "complete"]);
}
