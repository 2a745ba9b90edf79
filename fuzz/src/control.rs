//! The lines of a client of the control socket.

use std::io::Cursor;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use expose::control::{Control, serve_lines};
use expose::plan::Shape;
use expose::{Contents, Disk, Pace, SharedDisk};

/// A drive of 200 MB that can lose its power.
fn disk() -> SharedDisk {
    let name = "samsung-840-pro-256gb";
    let text = sim::model::built_in(name).expect("a built-in model");
    let changes = [
        ("mapping.entry_bytes", "8"),
        ("mapping.map_entry_bytes", "4"),
        ("mapping.journal_superblocks", "4"),
        ("capacity_gb", "200"),
    ];
    let changes = changes.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let model = sim::Model::load(name, text, &changes).expect("a valid model");
    let config = model.resolve(base::Ratio::new(1, 1024).expect("a ratio")).expect("a drive");
    let shape = Shape::of(&config);
    let contents = Contents::in_memory(shape, shape.capacity_bytes).expect("memory");
    SharedDisk::new(Disk::new(config, contents), Pace::Fast)
}

/// Obeys the client, and checks that every line has an answer and the drive is sound. The stop button is pressed, so
/// that nothing waits.
pub(crate) fn obey(data: &[u8]) {
    let shared = Arc::new(disk());
    let control = Control::new(Arc::clone(&shared), "a drive".to_owned(), || Some(1 << 28));
    let mut out = Vec::new();
    serve_lines(&control, Cursor::new(data), &mut out, &AtomicBool::new(true)).expect("memory");
    for line in out.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let answer: serde_json::Value = serde_json::from_slice(line).expect("an answer is JSON");
        assert!(answer["ok"] == true || answer["error"].is_string(), "{answer}");
    }
    shared.with(|disk| disk.drive().check()).expect("the drive is sound");
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let lines = [
        "{\"order\":\"status\"}",
        "{\"order\":\"cut\"}\n{\"order\":\"cut\",\"after_commands\":3}\n{\"order\":\"cuts\"}",
        "{\"order\":\"media-error\",\"offset\":4096,\"bytes\":512}\n{\"order\":\"heal\"}",
        "{\"order\":\"read-only\",\"on\":true}\n{\"order\":\"wear\",\"cycles\":7}",
        "{\"order\":\"idle\",\"seconds\":3}\n{\"order\":\"age\",\"days\":1}",
        "{\"order\":\"mark\",\"name\":\"a\"}\n{\"order\":\"waf\",\"since\":\"a\"}\n{\"order\":\"reset\"}",
        "{\"order\":\"snapshot\",\"name\":\"a\"}\n{\"order\":\"restore\",\"name\":\"a\"}",
        "{\"order\":\"watch\",\"interval_ms\":10,\"count\":2}\n{\"order\":\"temperature\",\"celsius\":-4}",
    ];
    lines.map(|line| line.as_bytes().to_vec()).into()
}
