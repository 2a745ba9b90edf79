//! The delay of completions at a host, on the real clock: reads at a rate, over NVMe/TCP and over NBD in turns.
//!
//! The reads find unmapped pages, so that the drive takes the same time for each: from its own account it is known at
//! which instant it ends a command, and everything beyond is delay. How far apart the 50th and the 99th percentile of the
//! drive lie says how exact that is.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::hosts::{Nbd, Nvme, paced};
use super::server::Server;
use crate::engine::median::Median;

/// A drive that is faster than the rates.
pub(super) const FAST_DRIVE: &str = "sim:intel-ssd-750-400gb?scale=1/200";
const RATES: [u32; 2] = [10_000, 50_000];
/// Bytes that the reads are spread over.
const SPAN_BYTES: u64 = 1 << 30;

/// Delays at each rate over each protocol.
pub(super) fn delay(program: &Path, dir: &Path, turns: usize, seconds: u32) -> Result<Vec<Value>> {
    // Its blocks are those of the hosts.
    let drive = format!("{FAST_DRIVE}&interface.logical_block_bytes=4096");
    let time = Duration::from_secs(seconds.into());
    let mut cases = Vec::new();
    for (rate, is_nvme) in RATES.into_iter().flat_map(|rate| [(rate, true), (rate, false)]) {
        let mut samples: [Vec<f64>; 5] = Default::default();
        for seed in 0..turns as u64 {
            let (server, addresses) = Server::of_both(program, dir, &drive, "real")?;
            let mut waits_ns = if is_nvme {
                let host = Nvme::connect(&addresses.nvme, &addresses.nqn)?;
                paced(&host, &host.queue(1)?, rate, (SPAN_BYTES, time), seed)?
            } else {
                paced(&Nbd, &Nbd::connect(&addresses.nbd)?, rate, (SPAN_BYTES, time), seed)?
            };
            let status = server.order("status")?;
            let of_drive = |name: &str| {
                status["latency_ns"][name].as_f64().context("the drive tells no latency")
            };
            waits_ns.sort_unstable();
            let of_host =
                |percent: usize| waits_ns.get(waits_ns.len() * percent / 100).copied().unwrap_or(0);
            let (drive_p50, drive_p99) = (of_drive("p50")?, of_drive("p99")?);
            let values = [
                waits_ns.len() as f64 / time.as_secs_f64(),
                drive_p50,
                drive_p99,
                of_host(50) as f64 - drive_p50,
                of_host(99) as f64 - drive_p50,
            ];
            samples.iter_mut().zip(values).for_each(|(sample, value)| sample.push(value));
        }
        let [iops, drive_p50, drive_p99, p50, p99] = samples.map(Median::of);
        cases.push(json!({
            "protocol": if is_nvme { "NVMe/TCP" } else { "NBD" }, "rate": rate, "iops": iops.value,
            "drive_ns": { "p50": drive_p50.value, "p99": drive_p99.value },
            "delay_ns": { "p50": p50.value, "p99": p99.value },
            "delay_ns_p99_interval": p99.interval(),
        }));
    }
    Ok(cases)
}
