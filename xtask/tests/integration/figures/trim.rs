//! The TRIM test on files and loop devices, which have no flash that torture could slow down: it
//! must make no claim, whatever else runs. `SSDLAB_TEST_REPETITIONS=25` repeats each case; needs
//! root for loop devices.

use std::process::{Child, Command, Stdio};

use crate::lab::{Answer, Lab};
use crate::loop_device::LoopDevice;

/// Another program that keeps a processor and the disk busy on and off, until dropped.
struct Load(Child);

impl Load {
    fn start(lab: &Lab) -> Self {
        let script = "while :; do dd if=/dev/zero of=load.bin bs=1M count=32 oflag=direct conv=notrunc; \
                      timeout 0.5 sha256sum /dev/zero; sleep 1; done";
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).current_dir(lab.path("."));
        Self(shell.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("sh starts"))
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        // A test that fails must still clean up as far as it can.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn repetitions() -> usize {
    let text = std::env::var("SSDLAB_TEST_REPETITIONS");
    text.map_or(1, |text| text.parse().expect("SSDLAB_TEST_REPETITIONS is a number above 0"))
}

fn trim(lab: &Lab, target: &str, erase: Option<&str>) -> Answer {
    let mut command = lab.command(&["run", "trim", target, "--format", "json", "--quiet"]);
    command.args(["--set", "torture=1s", "--set", "idle=0s"]);
    command.args(erase.iter().flat_map(|name| ["--erase", *name]));
    Answer::of(command.arg("--library").arg(lab.library()))
}

fn must_claim_nothing(answer: &Answer) {
    answer.must_exit_with(0);
    let run = &answer.document()["runs"][0];
    let verdict = &run["verdict"];
    assert_eq!(verdict["outcome"], "inconclusive", "{verdict:#}");
    let text = verdict["text"].as_str().expect("words");
    assert!(text.contains("fresh passes differ by up to"), "the noise is not told: {text}");
    let rounds = run["metrics"]["trim.rounds"].as_f64().expect("rounds");
    assert!((4.0..=6.0).contains(&rounds), "{rounds} rounds");
}

#[test]
fn trim_claims_nothing_about_a_file_or_a_loop_device() {
    for is_loaded in [false, true] {
        for _ in 0..repetitions() {
            let lab = Lab::new();
            let _load = is_loaded.then(|| Load::start(&lab));
            let file = format!("file:{}?size=32MiB", lab.path("disk.img").display());
            must_claim_nothing(&trim(&lab, &file, None));
            let device = LoopDevice::attach(&lab);
            must_claim_nothing(&trim(&lab, &device.name(), Some(&device.word())));
        }
    }
}
