//! Do the figures of a recipe agree with the drive's own accounting?

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// Bytes of a page of the drives.
const PAGE_BYTES: u64 = 4096;

/// The counters of a drive that `status` tells.
pub(super) struct Accounting<'a>(pub(super) &'a Value);

impl Accounting<'_> {
    /// A column of telemetry.
    pub(super) fn pages(&self, column: &str) -> Result<u64> {
        let found = self.0["telemetry"][column].as_u64();
        found.with_context(|| format!("status has no {column}: {}", self.0))
    }

    fn written_bytes(&self) -> Result<u64> {
        self.0["bytes"]["write"].as_u64().context("status has the bytes of the writes")
    }
}

/// The account of some work after a rest, in which the drive has ended its programs, with the time at the end of the work.
pub(super) fn settled(end: &Value, mut rested: Value) -> Value {
    rested["simulated_ns"] = end["simulated_ns"].clone();
    rested
}

/// Whether requests of a recipe are whole pages of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Requests {
    WholePages,
    /// A page that a request has in part is a page of the drive all the same.
    AnyBytes,
}

/// Compares the account since a reset: WAF is the quotient of the pages programmed and written, and the pages of the host
/// are the bytes of its requests, or more if requests are no whole pages.
pub(super) fn check(account: &Value, requests: Requests) -> Result<()> {
    let accounting = Accounting(account);
    let (host, programmed) =
        (accounting.pages("host_pages")?, accounting.pages("programmed_pages")?);
    let waf = account["waf"].as_f64().context("status has a WAF")?;
    let counted = programmed as f64 / host as f64;
    ensure!((waf - counted).abs() < 1e-9, "WAF is {waf}, {programmed} / {host} pages {counted}");

    let (bytes, host_bytes) = (accounting.written_bytes()?, host * PAGE_BYTES);
    let writes = account["requests"]["write"].as_u64().context("status counts the writes")?;
    // At most the first and the last page of a request are not whole.
    let partial_bytes = 2 * writes * PAGE_BYTES;
    let agrees = match requests {
        Requests::WholePages => bytes == host_bytes,
        Requests::AnyBytes => (bytes..=bytes + partial_bytes).contains(&host_bytes),
    };
    ensure!(agrees, "{writes} requests wrote {bytes} bytes, and the drive counts {host} pages");
    Ok(())
}

/// Compares the account of a drive at rest since it was fresh, to the page: the pages programmed are those of the host that
/// have left the buffer, moves, padding and metadata.
pub(super) fn check_life(life: &Value) -> Result<()> {
    const CAUSES: [&str; 6] = [
        "host_pages",
        "gc_moved_pages",
        "padding_pages",
        "metadata_pages",
        "folded_pages",
        "parity_pages",
    ];
    let accounting = Accounting(life);
    let causes = CAUSES.into_iter().map(|column| accounting.pages(column)).sum::<Result<u64>>()?;
    let programmed = accounting.pages("programmed_pages")?;
    let left = accounting.pages("buffer_pages")? + accounting.pages("saved_pages")?;
    ensure!(
        programmed + left == causes,
        "{programmed} pages are programmed, {left} buffered or saved, and {causes} have a cause: {life}"
    );
    Ok(())
}
