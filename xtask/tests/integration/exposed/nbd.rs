//! `ssdlab sim expose --nbd` with the clients of others: nbdinfo, nbdcopy, qemu-img and fio.

use std::fs;

use serde_json::Value;

use super::server::{Server, TARGET, order, tool};
use crate::lab::{Answer, Lab};

#[test]
fn clients_agree_about_size_flags_and_contents() {
    let lab = Lab::new();
    let (image, back) = (lab.path("image"), lab.path("back"));
    let server = Server::start(&lab, &["--contents", "disk"]);
    let uri = server.uri();
    let size: usize = tool("nbdinfo", &["--size", &uri]).trim().parse().expect("a number");
    let info: Value = serde_json::from_str(&tool("nbdinfo", &["--json", &uri])).expect("JSON");
    let export = &info["exports"][0];
    for flag in ["can_flush", "can_fua", "can_trim", "can_zero", "can_multi_conn", "can_df"] {
        assert_eq!(export[flag], true, "{flag}: {export:#}");
    }
    assert_eq!(export["contexts"][0], "base:allocation");
    assert_eq!(export["is_read_only"], false, "{export:#}");
    order(&lab, &["read-only", "on"]);
    let protected = tool("nbdinfo", &["--is", "read-only", &uri]);
    assert_eq!(protected, "", "nbdinfo says it with its exit code");
    order(&lab, &["read-only", "off"]);

    // A third of data, holes, and the last byte.
    let mut bytes: Vec<u8> = (0..size).map(|at| (at / 7 * 31) as u8).collect();
    bytes[size / 3..size - 1].fill(0);
    fs::write(&image, &bytes).expect("space");
    let (image, back) = (image.to_str().expect("text"), back.to_str().expect("text"));
    tool("qemu-img", &["convert", "-n", "-f", "raw", "-O", "raw", image, &uri]);
    tool("qemu-img", &["compare", "-f", "raw", "-F", "raw", image, &uri]);
    tool("nbdcopy", &[&uri, back]);
    assert!(fs::read(back).expect("a copy") == bytes, "nbdcopy reads other bytes");
    let map: Value =
        serde_json::from_str(&tool("nbdinfo", &["--map", "--json", &uri])).expect("JSON");
    let holes: u64 = map
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|extent| (extent["type"] == 3).then(|| extent["length"].as_u64()).flatten())
        .sum();
    assert!(holes > size as u64 / 2, "holes of {holes} bytes in {map:#}");

    // Killed, the server leaves an image, and a new one goes on with it.
    drop(server);
    assert!(
        fs::read(lab.path("disk")).expect("the contents") == bytes,
        "the contents file differs"
    );
    let server = Server::start(&lab, &["--contents", "disk"]);
    tool("qemu-img", &["compare", "-f", "raw", "-F", "raw", image, &server.uri()]);
    let written_pages = server.end()["host_pages"].as_u64().expect("a number");
    assert_eq!(written_pages, (size as u64 - holes) / 4096, "the drive has written its data");
}

#[test]
fn fio_finds_what_it_wrote() {
    let lab = Lab::new();
    let server = Server::start(&lab, &[]);
    let uri = format!("--uri={}", server.uri());
    let common =
        ["--name=v", "--ioengine=nbd", &uri, "--iodepth=32", "--size=16m", "--verify_state_save=0"];
    for job in [
        &["--rw=randwrite", "--bsrange=512-64k", "--bs_unaligned", "--verify=crc32c"][..],
        &[
            "--rw=randwrite",
            "--bs=4k",
            "--fsync=16",
            "--verify=crc32c",
            "--offset=16m",
            "--size=8m",
        ],
        &["--rw=randtrim", "--bs=8k"],
    ] {
        tool("fio", &[&common[..], job].concat());
    }
    let document = server.end();
    assert_eq!(document["connections_broken"], 0, "{document:#}");
    assert!(document["waf"].as_f64().expect("it wrote") >= 1.0, "{document:#}");
}

#[test]
fn a_drive_goes_on_from_its_saved_state_in_another_process() {
    let lab = Lab::new();
    let server = Server::start(&lab, &["--state", "state"]);
    let uri = format!("--uri={}", server.uri());
    let job = ["--name=s", "--ioengine=nbd", "--rw=randwrite", "--bs=4k", "--size=8m", &uri];
    let verify = ["--verify=crc32c", "--verify_state_save=0"];
    tool("fio", &[&job[..], &verify, &["--do_verify=0"]].concat());
    let before = order(&lab, &["status"]);
    server.end();
    let info = Answer::of(&mut lab.command(&["sim", "check", "state", "--format", "json"]));
    info.must_exit_with(0);
    assert_eq!(info.document()["data_bytes"], 8 << 20, "{info:#?}");

    let server = Server::start(&lab, &["--state", "state"]);
    let after = order(&lab, &["status"]);
    for member in ["telemetry", "requests", "bytes", "valid_pages", "latency_ns", "waf"] {
        assert_eq!(after[member], before[member], "{member}");
    }
    tool("fio", &[&job[..], &verify, &["--verify_only=1"]].concat());
    Answer::of(&mut lab.command(&["sim", "save", "control", "copy"])).must_exit_with(0);
    let again = Answer::of(&mut lab.command(&["sim", "save", "control", "copy"]));
    again.must_exit_with(5);
    assert!(again.stderr.contains("exists; give the name of a new file"), "{again:#?}");
    Answer::of(&mut lab.command(&["sim", "load", "control", "copy"])).must_exit_with(0);
    tool("fio", &[&job[..], &verify, &["--verify_only=1"]].concat());
    server.end();
    let other = [TARGET, "&seed=9"].concat();
    let args = ["sim", "expose", &other, "--nbd", "nbd", "--state", "state"];
    let refusal = Answer::of(&mut lab.command(&args));
    refusal.must_exit_with(2);
    assert!(refusal.stderr.contains("which is another drive"), "{refusal:#?}");
}

#[test]
fn the_real_clock_tells_how_late_it_was_and_the_run_has_the_work() {
    let lab = Lab::new();
    let server = Server::start(&lab, &["--clock", "real", "--ios", "all"]);
    let uri = format!("--uri={}", server.uri());
    let job = ["--name=r", "--ioengine=nbd", "--rw=randwrite", "--bs=4k", "--iodepth=8"];
    tool("fio", &[&job[..], &[&uri, "--size=64m", "--runtime=3", "--time_based"]].concat());
    let status = order(&lab, &["status"]);
    let requests = status["requests"]["write"].as_u64().expect("a count");
    assert!(status["lateness_ns"]["count"].as_u64().expect("a count") >= requests, "{status:#}");
    let document = server.end();
    assert!(document["lateness_ns"]["p99"].as_u64().is_some(), "{document:#}");
    let dir = &lab.run_dirs(&document)[0];
    let text = fs::read(dir.join("run.json")).expect("a run directory");
    let run: Value = serde_json::from_slice(&text).expect("JSON");
    assert_eq!((&run["test"], &run["status"]), (&"expose".into(), &"complete".into()));
    assert_eq!(run["phases"][0]["ios"].as_u64(), Some(requests), "{run:#}");
    assert_eq!(run["metrics"]["expose.load.waf"], document["waf"], "{run:#}");
    let lost = run["phases"][0]["ios_lost"].as_u64().unwrap_or(0);
    assert_eq!(run["ios"]["rows"].as_u64().map(|rows| rows + lost), Some(requests), "{run:#}");
    Answer::of(lab.command(&["show"]).arg(dir)).must_exit_with(0);
}

#[test]
fn what_cannot_be_exposed_is_told_before_anything_is_made() {
    let lab = Lab::new();
    fs::create_dir(lab.path("mnt")).expect("a directory");
    for (args, code, words) in [
        (&["null:", "--nbd", "s"][..], 2, "expose takes sim:NAME"),
        (&[TARGET, "--nbd", "0.0.0.0:0"], 2, "--listen-anywhere"),
        (&[TARGET, "--nbd", "host:port"], 2, "no number from 0 to 65535"),
        (&[TARGET, "--nbd", "s", "--contents", "."], 2, "is no regular file"),
        (&[TARGET], 2, "--nbd"),
        (&[TARGET, "--nvme", "s"], 2, "name a host and its port"),
        (&[TARGET, "--nvme", "127.0.0.1:0"], 2, "name a host and its port"),
        (&[TARGET, "--nvme", "0.0.0.0:4420"], 2, "--listen-anywhere"),
        (&[TARGET, "--nvme", "0.0.0.0:4420", "--listen-anywhere"], 2, "--host-nqn"),
        (&[TARGET, "--nbd", "s", "--host-nqn", "nqn.a"], 2, "--nvme"),
        (&[TARGET, "--nbd", "s", "--clock", "slow"], 2, "expected fast, real, or real*N"),
        (&[TARGET, "--fuse", "no/such/folder"], 2, "name an empty directory"),
        (&[TARGET, "--nbd", "no/such/folder/s"], 4, "no/such/folder/s"),
        // The mount comes first, and goes again.
        (&[TARGET, "--nbd", "no/such/folder/s", "--fuse", "mnt"], 4, "no/such/folder/s"),
    ] {
        let answer = Answer::of(lab.command(&["sim", "expose"]).args(args));
        answer.must_exit_with(code);
        assert!(answer.stderr.contains(words), "{args:?}: {answer:#?}");
    }
    assert!(!lab.path("s").exists());
    assert!(!lab.path("mnt/disk").exists(), "it is unmounted");
}

/// The open of a pipe would wait for its writer, and all clients of the drive with it.
#[test]
fn a_pipe_in_the_place_of_a_saved_state_stops_no_drive() {
    let lab = Lab::new();
    let server = Server::start(&lab, &[]);
    tool("mkfifo", &[&lab.path("pipe").to_string_lossy()]);
    let load = lab.command(&["sim", "load", "control", "pipe"]);
    let mut limited = std::process::Command::new("timeout");
    limited.args(["-k", "5", "60"]).arg(load.get_program()).args(load.get_args());
    let answer = Answer::of(limited.current_dir(lab.path("")).env("SSDLAB_CONFIG", ""));
    answer.must_exit_with(5);
    assert!(answer.stderr.contains("it is a pipe; expected a regular file"), "{answer:#?}");
    order(&lab, &["status"]);
    server.end();
}
