//! The wishes of the user, and the parts that all requests share.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use result::report::BenchPage;
use result::schema::Run;
use serde::Serialize;
use tokio::sync::Semaphore;

use crate::Token;
use crate::bench::LibraryBench;

/// Uploads at once.
const UPLOADS: usize = 2;
/// Readers of live runs at once.
const LIVE_READERS: usize = 64;

/// A phase of a run before it begins, for readers who follow the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedPhase {
    /// Name in the result.
    pub name: String,
    /// Its length on the clock of the target, or `None` for a moment and if nobody knows it.
    pub duration_ns: Option<u64>,
    /// Whether the length is guessed from the bytes that it moves.
    pub is_estimate: bool,
    /// Whether it may be left out, as the last rounds of a test that ends as soon as it has enough.
    pub is_optional: bool,
}

/// The wishes of the user.
#[derive(Debug)]
pub struct Config {
    /// Directory of run directories.
    pub library: PathBuf,
    /// Address to listen on; port 0 for any free one.
    pub listen: SocketAddr,
    /// The token of those who may upload, or `None` if nobody may.
    pub token: Option<Token>,
    /// Most bytes of an upload; see [`UPLOAD_BYTES_MAX`](crate::UPLOAD_BYTES_MAX).
    pub upload_bytes_max: usize,
    /// Heading of the Bench.
    pub title: String,
    /// The app.
    pub page: BenchPage,
    /// The phases of a run in progress; none if they are not known.
    pub plan: fn(&Run) -> Vec<PlannedPhase>,
}

/// The parts that all requests share.
pub(crate) struct Server {
    pub(crate) bench: LibraryBench,
    pub(crate) page: String,
    pub(crate) token: Option<Token>,
    pub(crate) uploads: Semaphore,
    pub(crate) upload_bytes_max: usize,
    pub(crate) live_readers: Arc<Semaphore>,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) plan: fn(&Run) -> Vec<PlannedPhase>,
    /// Seconds since the Unix epoch, for marks of resources.
    pub(crate) started: u64,
}

impl Server {
    pub(crate) fn new(config: Config, bench: LibraryBench, stop: &Arc<AtomicBool>) -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Self {
            bench,
            page: config.page.html,
            token: config.token,
            uploads: Semaphore::new(UPLOADS),
            upload_bytes_max: config.upload_bytes_max,
            live_readers: Arc::new(Semaphore::new(LIVE_READERS)),
            stop: Arc::clone(stop),
            plan: config.plan,
            started: since.map_or(0, |since| since.as_secs()),
        }
    }
}
