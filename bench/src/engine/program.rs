//! One turn of one program, and its own figures.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::medium::{Medium, Ready};
use crate::scratch::children_cpu_ns;
use xtask::proc;

/// Settings of both programs.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) queue_depth: u32,
    pub(crate) seconds: u32,
    pub(crate) overhead: Overhead,
}

/// CPU time of a program apart from its load: start and end.
#[derive(Clone, Copy, Default)]
pub(crate) struct Overhead {
    pub(crate) fio_ns: f64,
    pub(crate) ssdlab_ns: f64,
}

/// The result of a turn.
#[derive(Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) iops: f64,
    /// CPU time of the whole program.
    pub(crate) cpu_ns: f64,
    /// CPU time for each command, without the overhead.
    pub(crate) cpu_ns_per_io: f64,
    pub(crate) latency_ns_p50: f64,
    pub(crate) latency_ns_p99: f64,
}

impl Sample {
    pub(crate) fn json(&self) -> Value {
        json!({
            "iops": self.iops, "cpu_ns_per_io": self.cpu_ns_per_io,
            "latency_ns_p50": self.latency_ns_p50, "latency_ns_p99": self.latency_ns_p99,
        })
    }
}

/// A turn of fio with the settings of ssdlab: registered buffers and files, blocks drawn with
/// replacement, one latency of every command, from its issue to its end; at `rate_iops`, or as fast
/// as possible.
pub(crate) fn fio(ready: &Ready, load: Load, rate_iops: Option<u32>) -> Result<Sample> {
    let mut command = Command::new("fio");
    command.args(["--name=bench", "--thread", "--rw=randwrite", "--bs=4k"]);
    command.args(["--norandommap", "--randrepeat=0", "--time_based", "--lat_percentiles=1"]);
    command.args(["--disable_slat=1", "--disable_clat=1", "--clat_percentiles=0"]);
    command.args(["--percentile_list=50:99", "--output-format=json"]);
    command.args(rate_iops.map(|rate| format!("--rate_iops={rate}")));
    command.arg(format!("--iodepth={}", load.queue_depth));
    command.arg(format!("--runtime={}", load.seconds));
    command.arg(format!("--size={}", ready.size_bytes));
    match ready.medium {
        // The null target takes no data, so fio need not make any.
        Medium::Null => command.args(["--ioengine=null", "--zero_buffers=1"]),
        Medium::File | Medium::Loop | Medium::Zram => command
            .args(["--ioengine=io_uring", "--direct=1", "--fixedbufs=1", "--registerfiles=1"])
            .arg(format!("--filename={}", ready.path.display())),
    };
    let (text, cpu_ns) = capture_with_cpu(&mut command)?;
    let job: Value = serde_json::from_str(&text).context("fio did not print JSON")?;
    let write = &job["jobs"][0]["write"];
    let percentile = |name: &str| write["lat_ns"]["percentile"][name].as_f64();
    sample(
        write["iops"].as_f64(),
        write["total_ios"].as_u64(),
        [cpu_ns, load.overhead.fio_ns],
        [percentile("50.000000"), percentile("99.000000")],
    )
    .context("in fio's JSON")
}

/// A turn of ssdlab; `rate` as in `--set rate=`.
pub(crate) fn ssdlab(binary: &Path, ready: &Ready, load: Load, rate: &str) -> Result<Sample> {
    let mut command = Command::new(binary);
    command.args(["run", "consistency"]);
    match ready.medium {
        Medium::Null => command.arg("null:"),
        Medium::File => command.arg(format!("file:{}", ready.path.display())),
        Medium::Loop | Medium::Zram => command.arg(&ready.path),
    };
    if ready.medium != Medium::Null {
        // The blocks are fio's; what they hold may look like anything.
        command.arg("--erase").arg(&ready.word).arg("--erase-signatures");
    }
    command.arg("--library").arg(&ready.library);
    for setting in ["fill=false", "purge=false", "steady_from=0s"] {
        command.args(["--set", setting]);
    }
    command.args(["--set", &format!("duration={}s", load.seconds)]);
    command.args(["--set", &format!("queue_depth={}", load.queue_depth)]);
    command.args(["--set", &format!("rate={rate}"), "--format", "json", "--quiet"]);
    let (text, cpu_ns) = capture_with_cpu(&mut command)?;
    let run = read_run(&text)?;
    let phases = run["phases"].as_array().map_or(&[] as &[Value], Vec::as_slice);
    let phase = phases.iter().find(|phase| phase["name"] == "load");
    let ios = phase.and_then(|phase| phase["ios"].as_u64());
    let metric = |name: &str| run["metrics"][name].as_f64();
    let latencies = [metric("latency_ns_p50"), metric("latency_ns_p99")];
    let cpu_ns = [cpu_ns, load.overhead.ssdlab_ns];
    sample(metric("iops_mean"), ios, cpu_ns, latencies).context("in run.json")
}

/// The run.json of the only run in the document.
fn read_run(document: &str) -> Result<Value> {
    let document: Value = serde_json::from_str(document).context("ssdlab did not print JSON")?;
    let dir = document["run_dirs"][0].as_str().context("ssdlab named no run directory")?;
    let path = Path::new(dir).join("run.json");
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    Ok(serde_json::from_str(&text)?)
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn sample(
    iops: Option<f64>,
    ios: Option<u64>,
    [cpu_ns, overhead_ns]: [f64; 2],
    latencies: [Option<f64>; 2],
) -> Result<Sample> {
    let ios = ios.filter(|ios| *ios > 0).context("no number of I/Os")?;
    Ok(Sample {
        iops: iops.context("no figure of IOPS")?,
        cpu_ns,
        cpu_ns_per_io: (cpu_ns - overhead_ns).max(0.0) / ios as f64,
        // An idle turn, which measures the overhead, has too few commands for a percentile.
        latency_ns_p50: latencies[0].unwrap_or(f64::NAN),
        latency_ns_p99: latencies[1].unwrap_or(f64::NAN),
    })
}

/// Runs a command; returns its output and the CPU time of the program and its children, start and
/// end included.
fn capture_with_cpu(command: &mut Command) -> Result<(String, f64)> {
    let before = children_cpu_ns()?;
    let text = proc::capture(command)?;
    Ok((text, children_cpu_ns()? - before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_costs_cpu_time() {
        let mut busy = Command::new("sh");
        busy.args(["-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo done"]);
        let (text, cpu_ns) = capture_with_cpu(&mut busy).unwrap();
        assert_eq!(text.trim(), "done");
        assert!(cpu_ns > 0.0);
    }
}
