//! Made-up libraries and a running server.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;

use base::OpKind;
use result::report::Page;
use result::rows::{LatencyRow, PhaseRows, SecondRow};
use result::schema::{Phase, Run, RunStatus};
use result::store::RunWriter;
use serve::{Config, PlannedPhase, ServeError, Token, serve};

/// Most bytes of an upload to a server of these tests.
pub(crate) const UPLOAD_BYTES_MAX: usize = 1 << 20;

pub(crate) const TOKEN: &str = "0123456789abcdefXYZ";

const PAGE: &str = "<html><meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
    connect-src 'none'\" /><script type=\"text/plain\" id=\"ssdlab-data\">null</script></html>";

/// A description without phases.
pub(crate) fn run_named(name: &str) -> Run {
    let example = include_str!("../../../result/tests/compat/v2/run.json");
    let mut run: Run = serde_json::from_str(example).unwrap();
    name.clone_into(&mut run.run_id);
    (run.phases, run.status) = (Vec::new(), RunStatus::Running);
    run
}

/// Begins a run with one phase that has ended.
pub(crate) fn begun(library: &Path, run: &mut Run, seconds: u32) -> RunWriter {
    let mut writer = RunWriter::create(library, run).unwrap();
    let rows = rows(seconds);
    run.phases.push(phase("load", &rows));
    writer.write_phase(run, "load", &rows).unwrap();
    writer
}

/// A complete run; returns its directory.
pub(crate) fn add_run(library: &Path, name: &str) -> PathBuf {
    let mut run = run_named(name);
    let mut writer = begun(library, &mut run, 20);
    run.status = RunStatus::Complete;
    run.metrics.insert("iops_steady_mean".to_owned(), Some(1000.0));
    // A run of today knows that it was steady.
    run.metrics.insert("iops_fresh_mean".to_owned(), None);
    writer.finish(&run).unwrap();
    writer.path().to_owned()
}

fn phase(name: &str, rows: &PhaseRows) -> Phase {
    Phase {
        name: name.to_owned(),
        what: "example".to_owned(),
        duration_ns: rows.seconds.iter().map(|row| row.duration_ns).sum(),
        ios: rows.seconds.iter().flat_map(|row| row.ios).sum(),
        bytes: rows.seconds.iter().flat_map(|row| row.bytes).sum(),
        complete: true,
        ..Phase::default()
    }
}

fn rows(seconds: u32) -> PhaseRows {
    let mut rows = PhaseRows::default();
    for second in 0..seconds {
        rows.seconds.push(SecondRow {
            second,
            start_ns: u64::from(second) * 1_000_000_000,
            duration_ns: 1_000_000_000,
            ios: [0, 100, 0, 0],
            bytes: [0, 409_600, 0, 0],
            latency_ns_max: Some(5_000_000),
            ..SecondRow::default()
        });
        let bin = LatencyRow { second, op: OpKind::Write, lower_ns: 200, count: 100 };
        rows.latencies.push(bin);
    }
    rows
}

/// A server that ends with the test.
pub(crate) struct Running {
    pub(crate) url: String,
    pub(crate) address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), ServeError>>>,
}

impl Running {
    pub(crate) fn start(library: &Path, token: Option<&str>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("page.html");
        fs::write(&file, PAGE).unwrap();
        let config = Config {
            library: library.to_owned(),
            listen: "127.0.0.1:0".parse().unwrap(),
            token: token.and_then(Token::parse),
            upload_bytes_max: UPLOAD_BYTES_MAX,
            title: "Bench".to_owned(),
            page: Page::load(Some(&file)).unwrap().bench().unwrap(),
            plan: |run| {
                vec![PlannedPhase {
                    name: format!("next of {}", run.test),
                    duration_ns: Some(9_000_000_000),
                    is_estimate: false,
                    is_optional: false,
                }]
            },
        };
        let stop = Arc::new(AtomicBool::new(false));
        let (ready, is_ready) = channel();
        let thread = std::thread::spawn({
            let stop = Arc::clone(&stop);
            move || serve(config, &stop, |address, _| ready.send(address).unwrap())
        });
        let address: SocketAddr = is_ready.recv().expect("the server starts");
        Self { url: format!("http://{address}"), address, stop, thread: Some(thread) }
    }

    /// Status and body of an answer.
    pub(crate) fn get(&self, path: &str) -> (u16, Vec<u8>) {
        let mut response = agent().get(format!("{}{path}", self.url)).call().unwrap();
        (response.status().as_u16(), response.body_mut().read_to_vec().unwrap())
    }

    pub(crate) fn library(&self) -> serde_json::Value {
        let (status, body) = self.get("/library.json");
        assert_eq!(status, 200);
        serde_json::from_slice(&body).unwrap()
    }

    /// Ends the server as Ctrl-C does.
    pub(crate) fn end(mut self) -> Result<(), ServeError> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

pub(crate) fn agent() -> ureq::Agent {
    ureq::Agent::config_builder().http_status_as_error(false).build().into()
}

/// Names in a library, sorted, without the index.
pub(crate) fn names(library: &Path) -> Vec<String> {
    let entries = fs::read_dir(library).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name != serve::INDEX_FILE).collect();
    names.sort();
    names
}
