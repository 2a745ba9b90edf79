//! The account of an exposed drive at its end.

use std::path::Path;

use base::{Bytes, Histogram, Ratio};
use expose::SharedDisk;
use expose::server::Clients;
use serde_json::{Value, json};

use crate::args::Format;
use crate::ui::out::data;
use crate::ui::table;

/// Prints the account, in a text with the run directory last.
pub(super) fn print(
    format: Format,
    shared: &SharedDisk,
    clients: &Clients,
    run_dir: Option<&Path>,
) {
    let totals = shared.with(|disk| disk.totals());
    let waf = totals.waf_since(&Default::default());
    let (work, time, lateness) = (totals.telemetry, totals.now, shared.lateness());
    match format {
        Format::Json => data!(
            "{}",
            json!({
                "host_pages": work.host_pages,
                "programmed_pages": work.programmed_pages,
                "waf": waf,
                "simulated_ns": time.0,
                "clock": shared.pace().to_string(),
                "lateness_ns": quantiles(&lateness),
                "connections": clients.served,
                "connections_turned_away": clients.turned_away,
                "connections_broken": clients.broken,
                "last_error": clients.last_error,
                "run_dirs": run_dir.iter().map(|dir| dir.display().to_string()).collect::<Vec<_>>(),
            })
        ),
        Format::Text => {
            let waf = waf.map_or_else(|| "unknown".to_owned(), |waf| format!("{waf:.2}"));
            data!(
                "simulated: {} written by the host, {} to NAND, WAF {waf}, in {}",
                Bytes(work.host_pages * ::sim::PAGE_BYTES).rounded(),
                Bytes(work.programmed_pages * ::sim::PAGE_BYTES).rounded(),
                table::seconds(time)
            );
            print_lateness(&lateness);
            let Clients { served, turned_away, broken, last_error } = clients;
            data!("connections: {served}, turned away: {turned_away}, broken: {broken}");
            if let Some(error) = last_error {
                data!("the last of these: {error}");
            }
            if let Some(dir) = run_dir {
                data!("{}", dir.display());
            }
        }
    }
}

fn quantile(histogram: &Histogram, share: (u64, u64)) -> Option<u64> {
    Ratio::new(share.0, share.1).and_then(|share| histogram.quantile(share))
}

/// Lateness of the answers, or null if none had a time.
fn quantiles(lateness: &Histogram) -> Value {
    if lateness.count() == 0 {
        return Value::Null;
    }
    json!({
        "count": lateness.count(),
        "p50": quantile(lateness, (1, 2)),
        "p99": quantile(lateness, (99, 100)),
        "max": lateness.max(),
    })
}

fn print_lateness(lateness: &Histogram) {
    let words = |ns: Option<u64>| ns.map_or_else(String::new, |ns| table::latency(ns as f64));
    if lateness.count() > 0 {
        data!(
            "answers behind their time: p50 {}, p99 {}, at most {} ({} answers)",
            words(quantile(lateness, (1, 2))),
            words(quantile(lateness, (99, 100))),
            words(lateness.max()),
            lateness.count()
        );
    }
}
