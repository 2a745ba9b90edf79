//! An exposed drive on the fast clock beside the memory plugin of nbdkit: fio over a Unix socket, in turns. The same drive
//! over NVMe/TCP beside itself over NBD, in turns. On the real clock: how late answers come at a rate, by the account of the
//! drive and at a host. By itself: the drive over NVMe/TCP beside the kernel's own target.

mod delay;
mod hosts;
mod kernel_target;
mod protocols;
pub(super) mod server;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::{Value, json};

use self::delay::{FAST_DRIVE, delay};
use self::protocols::two_protocols;
use self::server::Server;
use super::engine::median::Median;
use super::scratch::ScratchDir;
use xtask::proc;
use xtask::workspace::Workspace;

/// A drive of 1.2 GB, so that a turn overwrites it.
const DRIVE: &str = "sim:samsung-840-pro-256gb?scale=1/200";
/// The used part, the same for both.
const SPAN: &str = "1g";
const RATES: [u32; 3] = [1_000, 10_000, 50_000];
/// Arguments of the bench.
#[derive(Args)]
pub(crate) struct ExposeArgs {
    /// Two turns of a second: a check that the bench works
    #[arg(long)]
    quick: bool,
    /// Turns of each program
    #[arg(long, value_name = "N", default_value_t = 12)]
    turns: usize,
    /// Length of a turn
    #[arg(long, value_name = "S", default_value_t = 4)]
    seconds: u32,
    /// Only NVMe/TCP beside NBD, on both clocks
    #[arg(long)]
    protocols: bool,
    /// Only NVMe/TCP beside the kernel's own target, in the emulated machine
    #[arg(long, conflicts_with = "protocols")]
    kernel_target: bool,
    /// Program to measure instead of a release build
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// One direction of the load.
struct Fio<'a> {
    socket: &'a Path,
    direction: &'a str,
    seconds: u32,
}

impl Fio<'_> {
    /// IOPS of a turn.
    fn iops(&self, more: &[&str]) -> Result<f64> {
        let mut command = Command::new("fio");
        command.args(["--name=bench", "--thread", "--bs=4k", "--iodepth=32", "--ioengine=nbd"]);
        command.args(["--norandommap", "--randrepeat=0", "--time_based", "--output-format=json"]);
        command.arg(format!("--size={SPAN}")).args(more);
        command.arg(format!("--uri=nbd+unix:///?socket={}", self.socket.display()));
        command.arg(format!("--rw=rand{}", self.direction));
        command.arg(format!("--runtime={}", self.seconds));
        let text = proc::capture(&mut command)?;
        // Its engine talks before the document begins.
        let document = text.find('{').map_or("", |begin| &text[begin..]);
        let document: Value = serde_json::from_str(document).context("fio's document")?;
        let iops = document["jobs"][0][self.direction]["iops"].as_f64();
        iops.context("fio tells no IOPS")
    }
}

/// Measures and returns the JSON document.
pub(crate) fn run(workspace: &Workspace, args: &ExposeArgs) -> Result<String> {
    let program = super::program(workspace, args.program.as_deref())?;
    let (turns, seconds) = if args.quick { (2, 1) } else { (args.turns.max(1), args.seconds) };
    if args.kernel_target {
        let document = json!({
            "bench": "expose", "quick": args.quick, "turns": turns, "seconds": seconds,
            "kernel_target": kernel_target::measure(workspace, &program, turns, seconds)?,
        });
        return Ok(serde_json::to_string_pretty(&document)?);
    }
    let dir = ScratchDir::make(None)?;
    let two_protocols = two_protocols(&program, &dir.0, turns, seconds)?;
    let delay = delay(&program, &dir.0, turns, seconds)?;
    if args.protocols {
        let document = json!({
            "bench": "expose", "quick": args.quick, "turns": turns, "seconds": seconds,
            "two_protocols": two_protocols, "delay": delay,
        });
        return Ok(serde_json::to_string_pretty(&document)?);
    }
    let fast_clock = ["write", "read"]
        .map(|direction| beside_nbdkit(&program, &dir.0, direction, turns, seconds))
        .into_iter()
        .collect::<Result<Vec<_>>>()?;
    let real_clock = RATES
        .map(|rate| lateness(&program, &dir.0, rate, seconds))
        .into_iter()
        .collect::<Result<Vec<_>>>()?;
    let document = json!({
        "bench": "expose",
        "quick": args.quick,
        "drive": DRIVE,
        "turns": turns,
        "seconds": seconds,
        "fast_clock": fast_clock,
        "two_protocols": two_protocols,
        "delay": delay,
        "real_clock": real_clock,
    });
    Ok(serde_json::to_string_pretty(&document)?)
}

fn exposed(program: &Path, dir: &Path, drive: &str, clock: &str) -> Result<Server> {
    let socket = dir.join("ssdlab.sock");
    let mut command = Command::new(program);
    command.args(["sim", "expose", drive, "--no-run", "--format", "json", "--clock", clock]);
    Server::start(command.arg("--nbd").arg(&socket), socket)
}

/// Medians of both, and of the ratios of neighbouring turns.
fn beside_nbdkit(
    program: &Path,
    dir: &Path,
    direction: &str,
    turns: usize,
    seconds: u32,
) -> Result<Value> {
    let ssdlab = exposed(program, dir, DRIVE, "fast")?;
    let socket = dir.join("nbdkit.sock");
    let mut nbdkit = Command::new("nbdkit");
    nbdkit.arg("--foreground").arg("--unix").arg(&socket).args(["memory", SPAN]);
    let nbdkit = Server::start(&mut nbdkit, socket)?;
    let fio = |server: &Server, rw, seconds| {
        Fio { socket: &server.socket, direction: rw, seconds }.iops(&[])
    };
    // Neither begins with holes.
    for server in [&ssdlab, &nbdkit] {
        fio(server, "write", seconds)?;
    }
    let mut samples: [Vec<f64>; 3] = Default::default();
    for _ in 0..turns {
        let (own, other) = (fio(&ssdlab, direction, seconds)?, fio(&nbdkit, direction, seconds)?);
        for (sample, value) in samples.iter_mut().zip([own, other, own / other]) {
            sample.push(value);
        }
    }
    let [own, other, ratio] = samples.map(Median::of);
    Ok(json!({
        "direction": direction,
        "ssdlab_iops": own.value, "ssdlab_iops_interval": own.interval(),
        "nbdkit_iops": other.value, "nbdkit_iops_interval": other.interval(),
        "ratio": ratio.value, "ratio_interval": ratio.interval(),
    }))
}

/// Lateness of the answers on the real clock at a rate of reads, and the processors that the server takes: meanwhile, and
/// afterwards without a request.
fn lateness(program: &Path, dir: &Path, rate: u32, seconds: u32) -> Result<Value> {
    let server = exposed(program, dir, FAST_DRIVE, "real")?;
    let fio = Fio { socket: &server.socket, direction: "read", seconds };
    let before_ns = server.cpu_ns()?;
    let iops = fio.iops(&[&format!("--rate_iops={rate}")])?;
    let worked_ns = server.cpu_ns()?;
    std::thread::sleep(Duration::from_secs(seconds.into()));
    let second_ns = f64::from(seconds) * 1e9;
    let busy = (worked_ns - before_ns) / second_ns;
    let idle = (server.cpu_ns()? - worked_ns) / second_ns;
    let document = server.end()?;
    Ok(json!({
        "rate": rate, "iops": iops, "lateness_ns": document["lateness_ns"],
        "processors": busy, "processors_idle": idle,
    }))
}
