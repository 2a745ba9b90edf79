//! `ssdlab verify`: blocks that a file keeps, findings and refusals; power cuts of simulated
//! drives.

use std::os::unix::fs::FileExt;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::lab::{Answer, Lab};

const TARGET: &str = "file:target?size=8MiB&keep=true";

fn verify(lab: &Lab, args: &[&str]) -> Answer {
    let mut command = lab.command(&["verify"]);
    Answer::of(command.args(args).args(["--format", "json"]))
}

fn offsets(document: &Value) -> Vec<u64> {
    let broken = document["broken"].as_array().expect("a list");
    broken.iter().filter_map(|broken| broken["offset_bytes"].as_u64()).collect()
}

#[test]
fn what_is_damaged_later_is_found_by_a_later_check() {
    let lab = Lab::new();
    // 3,000 writes hit most of 2,048 blocks; with this seed also those that are damaged below.
    let written = verify(&lab, &[TARGET, "--writes", "3000", "--seed", "1"]);
    written.must_exit_with(0);
    assert_eq!(written.document()["writes"], 3000);
    let check = [TARGET, "--check"];
    verify(&lab, &check).must_exit_with(0);

    let file = std::fs::File::options().write(true).open(lab.path("target")).expect("kept");
    file.write_all_at(&[0; 4096], 0).expect("written");
    file.write_all_at(b"!", (1 << 20) + 77).expect("written");
    let found = verify(&lab, &check);
    found.must_exit_with(1);
    let document = found.document();
    assert_eq!(document["writes"], Value::Null, "nothing was written: {document:#}");
    assert_eq!(offsets(&document), [0, 1 << 20], "{document:#}");
    assert_eq!(document["broken_blocks"], 2);
}

#[test]
fn a_journal_is_not_overwritten() {
    let lab = Lab::new();
    verify(&lab, &[TARGET, "--writes", "100"]).must_exit_with(0);
    let again = verify(&lab, &[TARGET, "--writes", "100", "--erase", "target"]);
    again.must_exit_with(2);
    assert!(again.stderr.contains("ssdlab-verify.journal exists already"), "{again:#?}");
}

#[test]
fn a_damaged_journal_is_told_and_a_cut_off_one_is_read() {
    let lab = Lab::new();
    verify(&lab, &[TARGET, "--writes", "3000"]).must_exit_with(0);
    let path = lab.path("ssdlab-verify.journal");
    let whole = std::fs::read(&path).expect("written");
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 4;
    std::fs::write(&path, damaged).expect("written");
    let refused = verify(&lab, &[TARGET, "--check"]);
    refused.must_exit_with(4);
    assert_eq!(refused.document()["error"]["reason"], "journal", "{refused:#?}");
    assert!(refused.stderr.contains("nothing can be said about the drive"), "{refused:#?}");
    assert_eq!(refused.document().get("broken_blocks"), None, "no verdict: {refused:#?}");

    std::fs::write(&path, &whole[..whole.len() - 40]).expect("written");
    verify(&lab, &[TARGET, "--check"]).must_exit_with(0);
}

/// The kernel releases the files of a killed ring only after the end of its process.
fn check_of_killed(lab: &Lab) -> Answer {
    for _ in 0..100 {
        let checked = verify(lab, &["file:target", "--check"]);
        if !checked.stdout.contains("\"busy\"") {
            return checked;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("locked for more than 10 s after its owner was killed");
}

/// A process that writes until it is killed.
fn writing(lab: &Lab) -> Child {
    let mut command = lab.command(&["verify", TARGET, "--duration", "60s"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("starts")
}

fn wait_for_a_promise(lab: &Lab) {
    let journal = lab.path("ssdlab-verify.journal");
    let lines = || std::fs::read(&journal).unwrap_or_default().split(|byte| *byte == b'\n').count();
    while lines() < 3 {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn kill(mut child: Child) {
    child.kill().expect("SIGKILL is sent");
    child.wait().expect("ends");
}

/// A repeated call names the journal and the command that reads it back; `--erase` would lose the
/// promises.
#[test]
fn a_run_that_ended_early_is_explained() {
    let lab = Lab::new();
    let child = writing(&lab);
    wait_for_a_promise(&lab);
    let alive = verify(&lab, &[TARGET]);
    alive.must_exit_with(2);
    assert!(alive.stderr.contains("another `ssdlab verify` is writing it"), "{alive:#?}");
    kill(child);
    let again = verify(&lab, &[TARGET]);
    again.must_exit_with(2);
    let check = format!("ssdlab verify '{TARGET}' --check --journal ssdlab-verify.journal");
    assert!(again.stderr.contains(&check), "{again:#?}");
    assert!(again.stderr.contains("blocks") && !again.stderr.contains("--erase"), "{again:#?}");
    check_of_killed(&lab).must_exit_with(0);
}

/// At any moment, the journal promises no more than the target contains.
#[test]
fn a_killed_process_accuses_no_drive() {
    for delay_ms in [0, 1, 3, 7, 13, 29, 61] {
        let lab = Lab::new();
        let child = writing(&lab);
        wait_for_a_promise(&lab);
        std::thread::sleep(Duration::from_millis(delay_ms));
        kill(child);
        let checked = check_of_killed(&lab);
        checked.must_exit_with(0);
        assert_eq!(checked.document()["broken_blocks"], 0, "{delay_ms} ms: {checked:#?}");
    }
    for delay_ms in [2, 20, 50, 100, 200] {
        let lab = Lab::new();
        let child = writing(&lab);
        std::thread::sleep(Duration::from_millis(delay_ms));
        kill(child);
        // Before there was a journal (2), or the first promise in it (5), or after.
        let code = check_of_killed(&lab).code;
        assert!([Some(0), Some(2), Some(5)].contains(&code), "{delay_ms} ms: {code:?}");
    }
}

/// Two processes with one journal: the second is refused, and leaves nothing behind.
#[test]
fn a_journal_has_one_writer() {
    let lab = Lab::new();
    let first = writing(&lab);
    wait_for_a_promise(&lab);
    let second = verify(&lab, &["file:other?size=8MiB&keep=true", "--writes", "100"]);
    let check = verify(&lab, &["file:target", "--check"]);
    kill(first);
    second.must_exit_with(2);
    assert!(second.stderr.contains("exists already"), "{second:#?}");
    assert!(!lab.path("other").exists());
    check.must_exit_with(3);
    assert_eq!(check.document()["error"]["reason"], "busy", "{check:#?}");
    check_of_killed(&lab).must_exit_with(0);
}

#[test]
fn a_target_without_data_cannot_be_verified() {
    let lab = Lab::new();
    verify(&lab, &["null:"]).must_exit_with(5);
    let no_journal = verify(&lab, &[TARGET, "--check"]);
    no_journal.must_exit_with(2);
    assert!(no_journal.stderr.contains("ssdlab-verify.journal"), "{no_journal:#?}");
}

#[test]
fn a_simulated_drive_keeps_its_promises_through_power_cuts() {
    let lab = Lab::new();
    let drive = "sim:sandisk-extreme-ii-480gb?scale=1/512";
    let cuts = ["--power-cuts", "40", "--seed", "7"];
    let exposed = verify(&lab, &[&[drive], &cuts[..]].concat());
    exposed.must_exit_with(0);
    let document = exposed.document();
    assert_eq!((&document["cuts"], &document["broken_pages"]), (&40.into(), &0.into()));
    let number = |pointer| document.pointer(pointer).and_then(Value::as_u64).expect(pointer);
    for pointer in [
        "/writes_not_durable",
        "/at_the_cuts/programs_torn",
        "/recovery/duration_ns/max",
        "/recovery/units_read/max",
        "/gc_moved_pages",
    ] {
        assert!(number(pointer) > 0, "{pointer}: {document:#}");
    }
    let again = verify(&lab, &[&[drive], &cuts[..]].concat());
    assert_eq!(again.stdout, exposed.stdout, "a seed gives one life");

    let kept = format!("{drive}&buffer.power_loss_protected=true");
    let kept = verify(&lab, &[&[&kept[..]], &cuts[..]].concat());
    kept.must_exit_with(0);
    let document = kept.document();
    assert_eq!(document["writes_not_durable"], 0, "capacitors keep what was acknowledged");
    assert!(document["at_the_cuts"]["held_up_ns"]["max"].as_u64() > Some(0), "{document:#}");
}

#[test]
fn power_cuts_that_cannot_be_are_refused_with_the_way_out() {
    let lab = Lab::new();
    let small = "sim:sandisk-extreme-ii-480gb?scale=1/512";
    for (args, code, words) in [
        (&["null:", "--power-cuts", "1"][..], 2, "--power-cuts is for simulated drives"),
        (&[TARGET, "--power-cuts", "1"], 2, "use --check"),
        (&["sim:sandisk-extreme-ii-480gb", "--power-cuts", "1"], 2, "scale="),
        (&[small, "--power-cuts", "0"], 2, "--power-cuts"),
        (&[small, "--power-cuts", "1", "--queue-depth", "0"], 2, "--queue-depth 0"),
        (&[small, "--power-cuts", "1", "--queue-depth", "33"], 2, "takes 1 to 32"),
        (&[small, "--power-cuts", "1", "--check"], 2, "cannot be used with"),
        (&[small], 5, "--power-cuts N"),
    ] {
        let refused = verify(&lab, args);
        refused.must_exit_with(code);
        assert!(refused.stderr.contains(words), "{args:?}: {refused:#?}");
    }
}
