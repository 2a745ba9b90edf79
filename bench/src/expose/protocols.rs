//! One drive on the fast clock over NVMe/TCP and over NBD, in turns.

use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use serde_json::{Value, json};

use super::hosts::{self, Nbd, Nvme, Protocol};
use super::server::Server;
use crate::engine::median::Median;

/// The drive, with blocks of 4 KiB, and bytes of its used part.
pub(super) const DRIVE: &str =
    "sim:samsung-840-pro-256gb?scale=1/200&interface.logical_block_bytes=4096";
const SPAN_BYTES: u64 = 1 << 30;
/// Connections of a host, or its queues, at the same time.
const CONNECTIONS: [u16; 2] = [1, 4];

/// A turn of a protocol.
struct Turn {
    iops: f64,
    /// Time of processors that the server takes for a command.
    cpu_ns: f64,
}

/// Medians of both, and of the ratios of neighbouring turns.
pub(super) fn two_protocols(
    program: &Path,
    dir: &Path,
    turns: usize,
    seconds: u32,
) -> Result<Vec<Value>> {
    let (server, addresses) = Server::of_both(program, dir, DRIVE, "fast")?;
    let time = Duration::from_secs(seconds.into());
    let host = Nvme::connect(&addresses.nvme, &addresses.nqn)?;
    let over_nbd = |connections: u16, is_write| {
        let streams =
            (0..connections).map(|_| Nbd::connect(&addresses.nbd)).collect::<Result<Vec<_>>>()?;
        together(&server, &Nbd, &streams, is_write, time)
    };
    let over_nvme = |connections: u16, is_write| {
        let streams =
            (1..=connections).map(|number| host.queue(number)).collect::<Result<Vec<_>>>()?;
        together(&server, &host, &streams, is_write, time)
    };
    // Neither begins with holes.
    over_nbd(1, true)?;
    let mut cases = Vec::new();
    for (connections, direction) in
        CONNECTIONS.into_iter().flat_map(|count| [(count, "write"), (count, "read")])
    {
        let is_write = direction == "write";
        let mut samples: [Vec<f64>; 6] = Default::default();
        for _ in 0..turns {
            let (own, other) =
                (over_nvme(connections, is_write)?, over_nbd(connections, is_write)?);
            let values = [
                own.iops,
                other.iops,
                own.iops / other.iops,
                own.cpu_ns,
                other.cpu_ns,
                own.cpu_ns / other.cpu_ns,
            ];
            samples.iter_mut().zip(values).for_each(|(sample, value)| sample.push(value));
        }
        let [own, other, ratio, own_cpu, other_cpu, cpu_ratio] = samples.map(Median::of);
        cases.push(json!({
            "direction": direction, "connections": connections,
            "nvme_iops": own.value, "nbd_iops": other.value,
            "ratio": ratio.value, "ratio_interval": ratio.interval(),
            "nvme_cpu_ns": own_cpu.value, "nbd_cpu_ns": other_cpu.value,
            "cpu_ratio": cpu_ratio.value, "cpu_ratio_interval": cpu_ratio.interval(),
        }));
    }
    Ok(cases)
}

/// A turn of several connections, each with a thread of its own.
fn together<P: Protocol + Sync>(
    server: &Server,
    protocol: &P,
    streams: &[TcpStream],
    is_write: bool,
    time: Duration,
) -> Result<Turn> {
    let (start, cpu_ns) = (Instant::now(), server.cpu_ns()?);
    let ended = std::thread::scope(|scope| {
        let work = |(seed, stream)| {
            scope.spawn(move || hosts::work(protocol, stream, is_write, (SPAN_BYTES, time), seed))
        };
        let threads: Vec<_> = (1..).zip(streams).map(work).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Result<u64>>| {
            thread.join().map_err(|_| anyhow!("a host has panicked"))?
        };
        threads.into_iter().map(join).sum::<Result<u64>>()
    })? as f64;
    let iops = ended / start.elapsed().as_secs_f64();
    Ok(Turn { iops, cpu_ns: (server.cpu_ns()? - cpu_ns) / ended })
}
