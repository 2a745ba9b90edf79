//! Orders over the control socket: each does what it says or says why not, and hostile clients hurt nobody.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use expose::control::{Control, ControlServer, LINE_BYTES_MAX};
use expose::request::{Action, Answer, Fault, Request};
use expose::{Pace, SharedDisk};
use serde_json::{Value, json};

use crate::client::{config, cuttable, disk};

/// A disk with the model's values changed so that every order has something to act on.
fn everything() -> Arc<SharedDisk> {
    let changes = [
        ("nand.wear.program_less_per_kilocycle_permille", "10"),
        ("nand.wear.erase_more_per_kilocycle_permille", "10"),
    ];
    Arc::new(SharedDisk::new(disk(cuttable(&changes)), Pace::Fast))
}

/// Serves orders to a disk while `work` lasts.
fn serve(shared: &Arc<SharedDisk>, work: impl FnOnce(&Path)) {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("control");
    let control = Control::new(Arc::clone(shared), "a test".to_owned(), || Some(1 << 40));
    let server = ControlServer::bind(&path, control).expect("a path");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let server = scope.spawn(|| server.run(&stop));
        let worked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&path)));
        stop.store(true, Ordering::Relaxed);
        server.join().expect("the server does not panic");
        worked.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

fn ask(path: &Path, order: &Value) -> Value {
    let mut stream = UnixStream::connect(path).expect("a server");
    writeln!(stream, "{order}").expect("it listens");
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).expect("an answer");
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line:?}"))
}

fn must(path: &Path, order: &Value) -> Value {
    let answer = ask(path, order);
    assert_eq!(answer["ok"], true, "{order}: {answer}");
    answer
}

fn refused(path: &Path, order: &Value, words: &str) {
    let answer = ask(path, order);
    assert_eq!(answer["ok"], false, "{order}: {answer}");
    let error = answer["error"].as_str().expect("words");
    assert!(error.contains(words), "{order}: {error}");
}

/// Carries out a request at once.
fn request(shared: &SharedDisk, action: Action, offset: u64, data: &[u8]) -> Result<Answer, Fault> {
    let (sender, receiver) = std::sync::mpsc::channel();
    let bytes = if data.is_empty() { 4096 } else { data.len() as u64 };
    let request = Request { data: data.to_vec(), ..Request::new(action, offset, bytes) };
    let reply = move |result| sender.send(result).expect("somebody waits");
    shared.send(request, Box::new(reply));
    receiver.recv().expect("an answer")
}

fn byte(shared: &SharedDisk, offset: u64) -> u8 {
    match request(shared, Action::Read, offset, &[]) {
        Ok(Answer::Data { bytes, .. }) => bytes[0],
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_snapshot_brings_drive_and_data_back() {
    let shared = everything();
    serve(&shared, |path| {
        request(&shared, Action::Write, 0, &[1; 4096]).expect("space");
        let time = shared.with(|disk| disk.drive().now());
        must(path, &json!({"order": "snapshot", "name": "one"}));
        refused(path, &json!({"order": "snapshot", "name": "one"}), "there is a snapshot `one`");
        for page in 0..200 {
            request(&shared, Action::Write, page * 4096, &[2; 4096]).expect("space");
        }
        let later = must(path, &json!({"order": "status"}));
        refused(path, &json!({"order": "restore", "name": "two"}), "there are one");
        must(path, &json!({"order": "restore", "name": "one"}));
        let found = shared.with(|disk| (disk.drive().now(), disk.contents().pages()));
        assert_eq!(found, (time, 1), "the drive and its data are those of the snapshot");
        assert_eq!((byte(&shared, 0), byte(&shared, 4096)), (1, 0));
        shared.with(|disk| disk.drive().check()).expect("the drive is sound");
        let now = must(path, &json!({"order": "status"}));
        let written = |status: &Value| status["requests"]["write"].as_u64().expect("a count");
        assert_eq!(written(&now), written(&later), "the account goes on");
        must(path, &json!({"order": "forget", "name": "one"}));
        refused(path, &json!({"order": "restore", "name": "one"}), "and no other");
    });
}

#[test]
fn a_cut_takes_back_what_no_flush_covers() {
    let shared = everything();
    serve(&shared, |path| {
        request(&shared, Action::Write, 0, &[1; 4096]).expect("space");
        request(&shared, Action::Flush, 0, &[]).expect("a flush");
        request(&shared, Action::Write, 0, &[2; 4096]).expect("space");
        request(&shared, Action::Write, 8192, &[3; 4096]).expect("space");
        assert_eq!(byte(&shared, 0), 2);
        let report = must(path, &json!({"order": "cut"}));
        assert_eq!((&report["pages_taken_back"], &report["broken_pages"]), (&2.into(), &0.into()));
        assert!(report["recovery_ns"].as_u64().expect("a time") > 0);
        assert_eq!((byte(&shared, 0), byte(&shared, 8192)), (1, 0));
        must(path, &json!({"order": "cut", "after_commands": 3}));
        let outcomes: Vec<_> =
            (0..3).map(|page| request(&shared, Action::Write, page << 12, &[4; 4096])).collect();
        assert_eq!(outcomes.last(), Some(&Err(Fault::Io)), "{outcomes:?}");
        let cuts = must(path, &json!({"order": "cuts"}));
        assert_eq!(cuts["cuts"].as_array().map(Vec::len), Some(1), "{cuts}");
    });
}

#[test]
fn faults_come_and_go_and_marks_measure() {
    let shared = everything();
    serve(&shared, |path| {
        request(&shared, Action::Write, 4096, &[1; 4096]).expect("space");
        must(path, &json!({"order": "media-error", "offset": 4096, "bytes": 1}));
        assert_eq!(request(&shared, Action::Read, 4096, &[]), Err(Fault::Io));
        must(path, &json!({"order": "heal"}));
        assert_eq!(byte(&shared, 4096), 1);
        must(path, &json!({"order": "read-only", "on": true}));
        assert_eq!(request(&shared, Action::Write, 0, &[1; 4096]), Err(Fault::ReadOnly));
        must(path, &json!({"order": "read-only", "on": false}));
        must(path, &json!({"order": "wear", "cycles": 1000}));
        must(path, &json!({"order": "mark", "name": "here"}));
        for page in 0..64 {
            request(&shared, Action::Write, page * 4096, &[9; 4096]).expect("space");
        }
        let since = must(path, &json!({"order": "waf", "since": "here"}));
        assert_eq!(since["telemetry"]["host_pages"], 64, "{since}");
        must(path, &json!({"order": "reset"}));
        let now = must(path, &json!({"order": "waf"}));
        assert_eq!((&now["waf"], &now["telemetry"]["host_pages"]), (&Value::Null, &0.into()));
        let before = shared.with(|disk| disk.drive().now());
        must(path, &json!({"order": "idle", "seconds": 60}));
        assert_eq!(shared.with(|disk| disk.drive().now()).0 - before.0, 60_000_000_000);
    });
}

#[test]
fn orders_that_cannot_be_are_refused_with_what_can() {
    let shared = everything();
    serve(&shared, |path| {
        for (order, words) in [
            (json!({"order": "fly"}), "expected one of `status`"),
            (json!({"order": "cut", "after": 3}), "unknown field `after`"),
            (json!({"order": "cut", "after_commands": 0}), "expected at least 1"),
            (json!({"order": "age", "days": -1}), "expected u32"),
            (json!({"order": "age", "days": 30}), "a model with [nand.retry]"),
            (json!({"order": "temperature", "celsius": 25}), "one with [thermal]"),
            (json!({"order": "temperature", "celsius": 4000}), "expected -100 to 200"),
            (json!({"order": "cache", "superblocks": 1}), "pslc.borrows"),
            (json!({"order": "idle", "seconds": u64::MAX}), "expected at most"),
            (json!({"order": "media-error", "offset": u64::MAX, "bytes": 2}), "do not lie within"),
            (json!({"order": "media-error", "offset": 0, "bytes": 0}), "do not lie within"),
            (json!({"order": "waf", "since": "never"}), "no mark `never`"),
            (json!({"order": "mark", "name": ""}), "expected 1 to 100"),
            (json!([1, 2]), "invalid type"),
        ] {
            refused(path, &order, words);
        }
        // A drive on the real clock has its own time.
        let real = Arc::new(SharedDisk::new(disk(config(&[])), Pace::Real { slowdown: 1 }));
        serve(&real, |path| {
            refused(path, &json!({"order": "idle", "seconds": 1}), "passes by itself");
        });
    });
}

#[test]
fn hostile_clients_lose_their_connection_and_nothing_else() {
    let shared = everything();
    serve(&shared, |path| {
        let say = |bytes: &[u8]| {
            let mut stream = UnixStream::connect(path).expect("a server");
            // The server may have ended the connection already.
            let _ = stream.write_all(bytes);
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let mut answer = String::new();
            let _ = stream.read_to_string(&mut answer);
            answer
        };
        let endless = vec![b'x'; 2 * LINE_BYTES_MAX as usize];
        assert!(say(&endless).contains("a line has more than"));
        assert!(say(&[0xff, 0xfe, b'\n']).contains("\"ok\":false"));
        let deep = [vec![b'['; 10_000], vec![b'\n']].concat();
        assert!(say(&deep).contains("\"ok\":false"), "nesting has a limit");
        assert_eq!(say(b"\n\n  \n"), "");
        assert!(say(b"{\"order\":\"status\"").contains("\"ok\":false"), "half a line");
        // Connections beyond the limit are closed; those that watch without reading stop nobody.
        let mut held = Vec::new();
        for _ in 0..200 {
            let mut stream = UnixStream::connect(path).expect("a server");
            let _ = stream.write_all(b"{\"order\":\"watch\",\"interval_ms\":0}\n");
            held.push(stream);
        }
        drop(held);
        let end = std::time::Instant::now() + std::time::Duration::from_secs(30);
        while !say(b"{\"order\":\"status\"}\n").contains("\"ok\":true") {
            assert!(std::time::Instant::now() < end, "the control takes no more orders");
        }
    });
}
