//! Each erasable thing has its own confirmation in the call, and all checks come before the first
//! byte: a refused call leaves every target unchanged. Loop devices stand in for drives; needs
//! root.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::lab::{Answer, Lab};
use crate::loop_device::{LoopDevice, tool};

const DRIVE: &str = "sim:samsung-840-pro-256gb?scale=1/256";
const SIZE_BYTES: usize = 16 << 20;
/// Parameters of the shortest run with a result.
const SHORT: [&str; 6] = ["--set", "duration=1s", "--set", "steady_from=0s", "--set", "fill=false"];

/// A file with content that nobody has released.
struct Precious {
    path: PathBuf,
    content: Vec<u8>,
}

impl Precious {
    fn new(lab: &Lab, name: &str) -> Self {
        let content: Vec<u8> = (0..SIZE_BYTES).map(|index| (index % 251) as u8 | 1).collect();
        let path = lab.path(name);
        fs::write(&path, &content).expect("a file");
        Self { path: path.canonicalize().expect("it is there"), content }
    }

    fn word(&self) -> String {
        self.path.display().to_string()
    }

    /// The file as a target; `query` as in `?size=1MiB`.
    fn target(&self, query: &str) -> String {
        format!("file:{}{query}", self.path.display())
    }

    fn must_be_untouched(&self, answer: &Answer) {
        let now = fs::read(&self.path).expect("still there");
        assert!(now == self.content, "{} was changed by {answer:#?}", self.path.display());
    }
}

fn run(lab: &Lab, args: &[&str]) -> Answer {
    Answer::of(lab.consistency(args).args(SHORT))
}

/// Fails unless the call was refused as unsafe, for this reason.
fn must_be_refused(answer: &Answer, reason: &str) {
    answer.must_exit_with(3);
    assert_eq!(answer.reason(), reason, "{answer:#?}");
}

#[test]
fn no_target_is_touched_while_another_may_be_refused() {
    let lab = Lab::new();
    let (a, b) = (Precious::new(&lab, "a"), Precious::new(&lab, "b"));
    let (first, second) = (a.target("?size=8MiB"), b.target(""));
    for verb in ["consistency", "latency"] {
        let call =
            [verb, &first, &second, "--erase", &a.word(), "--format", "json", "--library", "runs"];
        let answer = Answer::of(&mut lab.command(&[&["run"], &call[..]].concat()));
        answer.must_exit_with(3);
        assert!(answer.stderr.contains(&format!("expected --erase {}", b.word())), "{answer:#?}");
        a.must_be_untouched(&answer);
        b.must_be_untouched(&answer);
    }
    let review = ["review", &first, &second, "--quick", "--erase", &a.word(), "--format", "json"];
    let answer = Answer::of(&mut lab.command(&review));
    answer.must_exit_with(3);
    a.must_be_untouched(&answer);
    assert!(!lab.library().exists(), "nothing ran");
}

#[test]
fn a_target_in_use_keeps_the_others_of_the_call_from_being_touched() {
    let lab = Lab::new();
    let (free, used) = (Precious::new(&lab, "free"), Precious::new(&lab, "used"));
    let (free_device, device) = (LoopDevice::over(&free.path), LoopDevice::over(&used.path));
    tool("mkswap", &[&device.name()]);
    tool("swapon", &[&device.name()]);
    let both = ["--erase", &free.word(), "--erase", &used.word(), "--erase-signatures"];
    let answer = run(&lab, &[&[&*free_device.name(), &device.name()], &both[..]].concat());
    tool("swapoff", &[&device.name()]);
    must_be_refused(&answer, "swap");
    free.must_be_untouched(&answer);
}

#[test]
fn each_target_may_be_confirmed_by_a_word_of_its_own() {
    let lab = Lab::new();
    let (a, b) = (Precious::new(&lab, "a"), Precious::new(&lab, "b"));
    let device = LoopDevice::over(&b.path);
    let answer = run(
        &lab,
        &[&a.target(""), &device.name(), "--erase", &b.word(), "--erase", "a", "--quiet"],
    );
    answer.must_exit_with(0);
    for dir in lab.run_dirs(&answer.document()) {
        let text = fs::read_to_string(dir.join("run.json")).expect("run.json");
        assert!(
            !text.contains("--erase"),
            "a command from a result erases nothing by itself: {text}"
        );
    }
}

#[test]
fn a_confirmation_that_is_for_no_target_is_refused() {
    let lab = Lab::new();
    let (a, other) = (Precious::new(&lab, "a"), Precious::new(&lab, "other"));
    let target = a.target("");
    for word in [&*other.word(), "/dev/loop0", "S3RIAL"] {
        let answer = run(&lab, &[&target, "null:", "--erase", &a.word(), "--erase", word]);
        must_be_refused(&answer, "wrong-serial");
        assert!(answer.stderr.contains(&format!("--erase {word} names no target")), "{answer:#?}");
        a.must_be_untouched(&answer);
    }
    must_be_refused(&run(&lab, &[DRIVE, "--erase", "S3RIAL"]), "wrong-serial");
}

#[test]
fn one_thing_under_two_names_is_refused() {
    let lab = Lab::new();
    let file = Precious::new(&lab, "file");
    let (link, hard) = (lab.path("link"), lab.path("hard"));
    std::os::unix::fs::symlink(&file.path, &link).expect("a link");
    fs::hard_link(&file.path, &hard).expect("another name");
    let attached = [LoopDevice::over(&file.path), LoopDevice::over(&file.path)];
    let [first, second] = attached.each_ref().map(LoopDevice::name);
    let through = |path: &Path| format!("file:{}?size=8MiB", path.display());
    let pairs = [
        [file.target(""), file.target("?size=8MiB")],
        [file.target(""), through(&link)],
        [through(&hard), file.target("")],
        [file.target(""), first.clone()],
        [second.clone(), through(&hard)],
        [first.clone(), second],
        [first.clone(), first],
    ];
    for [one, other] in &pairs {
        for verb in ["run", "plan"] {
            let args = [verb, "consistency", one, DRIVE, other, "--erase", &file.word()];
            let mut command = lab.command(&args);
            let answer = Answer::of(command.args(["--format", "json"]));
            must_be_refused(&answer, "same-target");
            file.must_be_untouched(&answer);
        }
    }
    drop(attached);
    let image = Precious::new(&lab, "image");
    let device = LoopDevice::over(&image.path);
    let disk = device.name();
    tool("addpart", &[&disk, "1", "2048", "4096"]);
    tool("addpart", &[&disk, "2", "8192", "4096"]);
    let [p1, p2] = [1, 2].map(|number| format!("{disk}p{number}"));
    let [w1, w2] = [1, 2].map(|number| format!("{}-part{number}", image.word()));
    let words = ["--erase", &w1, "--erase", &w2, "--erase-signatures"];
    must_be_refused(&run(&lab, &[&[&*disk, &p1], &words[..2]].concat()), "same-target");
    let answer = run(&lab, &[&[&*p1, &disk], &words[..2]].concat());
    must_be_refused(&answer, "same-target");
    image.must_be_untouched(&answer);
    run(&lab, &[&[&*p1, &p2], &words[..]].concat()).must_exit_with(0);
    tool("delpart", &[&disk, "1"]);
    tool("delpart", &[&disk, "2"]);
}

#[test]
fn a_purge_that_is_not_possible_is_refused_before_anything_is_changed() {
    let lab = Lab::new();
    let file = Precious::new(&lab, "file");
    fs::write(lab.path("t.csv"), "128166372003061629,hm,0,Write,0,4096,100\n").expect("a trace");
    let (target, word) = (file.target("?size=8MiB"), file.word());
    let calls: [&[&str]; 5] = [
        &["run", "consistency", &target],
        &["plan", "consistency", &target],
        &["review", &target, "--quick"],
        &["advise", "spare", &target, "--floor", "1"],
        &["trace", "replay", "t.csv", &target],
    ];
    for call in calls {
        let more = ["--erase", &word, "--purge", "nvme-format", "--format", "json"];
        let answer = Answer::of(&mut lab.command(&[call, &more].concat()));
        answer.must_exit_with(5);
        assert!(answer.stderr.contains("--purge nvme-format"), "{answer:#?}");
        file.must_be_untouched(&answer);
    }
}

#[test]
fn every_command_refuses_a_purge_of_what_is_built_anew() {
    let lab = Lab::new();
    fs::write(lab.path("t.csv"), "128166372003061629,hm,0,Write,0,4096,100\n").expect("a trace");
    let calls: [&[&str]; 5] = [
        &["run", "consistency", DRIVE],
        &["plan", "consistency", DRIVE],
        &["review", DRIVE, "--quick"],
        &["advise", "spare", DRIVE, "--floor", "1"],
        &["trace", "replay", "t.csv", DRIVE],
    ];
    for call in calls {
        let more = ["--purge", "nvme-format", "--format", "json"];
        let answer = Answer::of(&mut lab.command(&[call, &more].concat()));
        answer.must_exit_with(5);
        assert!(
            answer.stderr.contains(&format!("--purge nvme-format is not for {DRIVE}")),
            "{answer:#?}"
        );
    }
}

/// A plan prints every refusal of the run, and exits with its code.
#[test]
fn a_plan_exits_as_the_run_would() {
    let lab = Lab::new();
    let (file, other) = (Precious::new(&lab, "file"), Precious::new(&lab, "other"));
    let device = LoopDevice::over(&other.path);
    let (target, node, word) = (file.target("?size=8MiB"), device.name(), file.word());
    let new = format!("file:{}?size=8MiB", lab.path("new").display());
    let huge = format!("file:{}?size=1048576TiB", lab.path("new").display());
    let nowhere = format!("file:{}?size=8MiB", lab.path("no/new").display());
    let (image, image_word) = (other.target(""), other.word());
    let calls: [(&[&str], i32); 13] = [
        (&[&target], 3),
        (&[&target, "--erase", &image_word], 3),
        (&[&target, "--read-only"], 3),
        (&[&target, "--erase", &word, "--purge", "nvme-format"], 5),
        (&[&target, "--erase", &word, "--workers", "0"], 2),
        (&[&node], 3),
        (&[&node, "--erase", &node], 3),
        (&[&image, "--erase", &image_word], 3),
        (&[DRIVE, "--workers", "2"], 5),
        (&[&new, "--engine", "uring,passthrough"], 5),
        (&[&new, &target, "--erase", "new"], 3),
        (&[&huge], 4),
        (&[&nowhere], 2),
    ];
    for (args, code) in calls {
        let json = ["--format", "json", "--library", "runs"];
        let answers = ["run", "plan"].map(|verb| {
            Answer::of(&mut lab.command(&[&[verb, "consistency"], args, &json[..]].concat()))
        });
        for answer in &answers {
            answer.must_exit_with(code);
            file.must_be_untouched(answer);
            other.must_be_untouched(answer);
        }
        assert_eq!(answers[0].reason(), answers[1].reason(), "{args:?}");
    }
    assert!(!lab.path("new").exists() && !lab.library().exists(), "something was made");
    let granted = [&["plan", "consistency", &target, "--erase"], &[&*word][..]].concat();
    let answer = Answer::of(&mut lab.command(&granted));
    answer.must_exit_with(0);
    file.must_be_untouched(&answer);
}

#[test]
fn a_loop_device_is_confirmed_by_the_file_behind_it() {
    let lab = Lab::new();
    let file = Precious::new(&lab, "file");
    let device = LoopDevice::over(&file.path);
    let (node, word) = (device.name(), file.word());
    let answer = run(&lab, &[&node, "--erase", &node]);
    must_be_refused(&answer, "wrong-serial");
    assert!(answer.stderr.contains(&word), "names the word: {answer:#?}");
    file.must_be_untouched(&answer);

    // Another file takes the name: it is not the one behind the device.
    let moved = lab.path("moved");
    fs::rename(&file.path, &moved).expect("renamed");
    let decoy = Precious::new(&lab, "file");
    let answer = run(&lab, &[&node, "--erase", &word]);
    must_be_refused(&answer, "wrong-serial");
    assert!(answer.stderr.contains(&moved.display().to_string()), "{answer:#?}");
    decoy.must_be_untouched(&answer);
    assert!(fs::read(&moved).expect("still there") == file.content, "{answer:#?}");

    // Without a name there is nothing to confirm, not even by a file of the name that the kernel shows.
    fs::remove_file(&moved).expect("removed");
    let shown = format!("{} (deleted)", moved.display());
    for word in [&shown, &moved.display().to_string()] {
        must_be_refused(&run(&lab, &[&node, "--erase", word]), "wrong-serial");
    }
    let decoy = Precious::new(&lab, "moved (deleted)");
    let answer = run(&lab, &[&node, "--erase", &shown]);
    must_be_refused(&answer, "wrong-serial");
    assert!(answer.stderr.contains("losetup -d"), "{answer:#?}");
    decoy.must_be_untouched(&answer);
    assert!(fs::read(&device.path).expect("readable") == file.content, "the device was changed");
}

/// A run on `target`, killed after its begin.
fn killed(lab: &Lab, args: &[&str]) {
    let mut command =
        lab.consistency(&[args, &["--set", "duration=60s", "--set", "fill=false"]].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
    while lab.library().read_dir().map_or(0, Iterator::count) == 0 {
        assert!(child.try_wait().expect("a child").is_none(), "the run ended before it began");
        sleep(Duration::from_millis(20));
    }
    sleep(Duration::from_millis(300));
    child.kill().expect("SIGKILL is sent");
    child.wait().expect("ends");
}

fn resume(lab: &Lab, args: &[&str]) -> Answer {
    let mut command = lab.command(&["run", "--resume", "--quiet", "--format", "json", "--library"]);
    Answer::of(command.arg(lab.library()).args(args))
}

#[test]
fn a_continued_run_asks_again_for_a_file_that_has_changed() {
    let lab = Lab::new();
    let file = Precious::new(&lab, "file");
    killed(&lab, &[&file.target(""), "--erase", &file.word()]);
    // The same path, the same size: somebody else's data.
    fs::remove_file(&file.path).expect("removed");
    let file = Precious::new(&lab, "file");
    let answer = resume(&lab, &[]);
    must_be_refused(&answer, "existing-file");
    assert!(answer.stderr.contains(&file.target("")), "shows the target: {answer:#?}");
    file.must_be_untouched(&answer);
}

#[test]
fn a_changed_record_gives_nothing_away() {
    let lab = Lab::new();
    let (own, victim) = (Precious::new(&lab, "own"), Precious::new(&lab, "victim"));
    killed(&lab, &[&own.target(""), "--erase", &own.word()]);
    let dir = lab.library().read_dir().expect("a library").flatten().next().expect("a run").path();
    let run_json = dir.join("run.json");
    let text = fs::read_to_string(&run_json).expect("run.json");
    let mut run: Value = serde_json::from_str(&text).expect("JSON");
    // As the program itself advises whoever wants to use a file that was edited.
    run.as_object_mut().expect("an object").remove("checksums");
    let changed = run.to_string().replace(&own.word(), &victim.word());
    // No confirmation is read from a record, whatever it is called there.
    let confirmed = format!(r#""request":{{"erase":["{}"],"#, victim.word());
    let confirmed = changed.replace(r#""request":{"#, &confirmed);
    assert_ne!(confirmed, changed, "a request without a confirmation");
    for text in [changed, confirmed] {
        fs::write(&run_json, text).expect("changed");
        let answer = resume(&lab, &[]);
        must_be_refused(&answer, "existing-file");
        assert!(answer.stderr.contains(&victim.target("")), "shows the target: {answer:#?}");
        victim.must_be_untouched(&answer);
        let answer = resume(&lab, &["--erase", &own.word()]);
        must_be_refused(&answer, "wrong-serial");
        victim.must_be_untouched(&answer);
    }
}

#[test]
fn a_new_file_that_is_kept_is_the_next_runs_too() {
    let lab = Lab::new();
    let target = format!("file:{}?size=16MiB&keep=true", lab.path("new").display());
    let answer = run(&lab, &[&target, "--spare", "default,50%", "--set", "raw_capacity=16MiB"]);
    answer.must_exit_with(0);
    assert_eq!(lab.run_dirs(&answer.document()).len(), 2);
    assert_eq!(fs::metadata(lab.path("new")).expect("kept").len(), 16 << 20);
}

#[test]
fn verify_asks_by_the_same_rules() {
    let lab = Lab::new();
    let file = Precious::new(&lab, "file");
    let target = file.target("?size=8MiB");
    let verify = |args: &[&str]| {
        let mut command = lab.command(&["verify", &target, "--writes", "9", "--format", "json"]);
        let answer = Answer::of(command.args(args));
        file.must_be_untouched(&answer);
        answer
    };
    must_be_refused(&verify(&[]), "existing-file");
    must_be_refused(&verify(&["--erase", "other"]), "wrong-serial");
    must_be_refused(&verify(&["--erase", &file.word(), "--erase", "other"]), "wrong-serial");
    assert!(!lab.path("ssdlab-verify.journal").exists());
}
