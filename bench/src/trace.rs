//! Traces: speed of synthesis, import and replay; memory of a replay as the trace grows; lateness
//! of commands with a recorded time.
//!
//! The bench runs the program of a user from its start to its end, reads and writes of files
//! included. It reports rates by wall time and by CPU time: on a busy machine, compare those by CPU
//! time.

use std::fmt::Write as _;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::{Value, json};

use super::scratch::{ScratchDir, children_cpu_ns};
use xtask::log::Log;
use xtask::workspace::Workspace;

const LOG: Log = Log::stderr("bench");

const DRIVE: &str = "sim:sandisk-extreme-ii-480gb";

/// Arguments of the benches of whole runs.
#[derive(Args)]
pub(crate) struct TraceArgs {
    /// Small sizes: a check that the bench works
    #[arg(long)]
    pub(super) quick: bool,
    /// Directory of traces, runs and the file target. Default: TMPDIR, or else /var/tmp
    #[arg(long, value_name = "DIR")]
    pub(super) dir: Option<PathBuf>,
    /// Program to measure instead of a release build
    #[arg(long, value_name = "FILE")]
    pub(super) program: Option<PathBuf>,
}

/// Sizes of all parts.
struct Settings {
    /// Part of the Destroyer to write to a file.
    synthesis: &'static str,
    lines: u64,
    /// Parts of the Destroyer to replay, from short to long.
    replays: &'static [&'static str],
    /// Part of the light trace to replay at its own times.
    lateness: &'static str,
}

const FULL: Settings = Settings {
    synthesis: "1/5",
    lines: 6_000_000,
    replays: &["1/40", "1/10", "1"],
    lateness: "1/40",
};
const QUICK: Settings = Settings {
    synthesis: "1/500",
    lines: 100_000,
    replays: &["1/4000", "1/1000"],
    lateness: "1/2000",
};

/// The resources of a program.
pub(super) struct Cost {
    pub(super) wall_s: f64,
    pub(super) cpu_s: f64,
    pub(super) peak_bytes: u64,
}

/// Runs a program and measures its resources; its output must be JSON.
pub(super) struct TraceBench {
    pub(super) program: PathBuf,
    pub(super) dir: ScratchDir,
}

/// Measures and returns the JSON document.
pub(crate) fn run(workspace: &Workspace, args: &TraceArgs) -> Result<String> {
    let program = super::program(workspace, args.program.as_deref())?;
    let settings = if args.quick { QUICK } else { FULL };
    let bench = TraceBench { program, dir: ScratchDir::make(args.dir.as_deref())? };
    let document = json!({
        "bench": "trace",
        "quick": args.quick,
        "drive": DRIVE,
        "synthesis": bench.synthesis(&settings)?,
        "import": [
            bench.import("msr", settings.lines, msr_line)?,
            bench.import("alibaba", settings.lines, alibaba_line)?,
        ],
        "replay": settings.replays.iter().map(|part| bench.replay(part)).collect::<Result<Vec<_>>>()?,
        "lateness": [
            bench.lateness(settings.lateness, "null:", &["purge=false", "fill=false"])?,
            bench.lateness(settings.lateness, "file:target.bin?size=1GiB", &[])?,
        ],
    });
    Ok(serde_json::to_string_pretty(&document)?)
}

impl TraceBench {
    /// `synth` into a trace file.
    fn synthesis(&self, settings: &Settings) -> Result<Value> {
        let args = ["trace", "synth", "destroyer-2013", "--scale", settings.synthesis];
        let (document, cost) =
            self.measured(&[&args[..], &["-o", "synth.trace.parquet"]].concat())?;
        rates("synthesis", "ios", document["ios"].as_u64(), &cost)
    }

    /// `import` of this number of lines.
    fn import(&self, format: &str, lines: u64, line: fn(&mut String, &Draw)) -> Result<Value> {
        let name = format!("{format}.csv");
        write_lines(&self.dir.0.join(&name), lines, line)?;
        let args = ["trace", "import", &name, "--from", format, "-o", "import.trace.parquet"];
        let (document, cost) = self.measured(&args)?;
        std::fs::remove_file(self.dir.0.join(&name))?;
        let mut value = rates(format, "lines", document["ios"].as_u64(), &cost)?;
        value["format"] = format.into();
        Ok(value)
    }

    /// A part of the Destroyer on a full simulated drive; the fill of the drive is a part of the
    /// cost.
    fn replay(&self, part: &str) -> Result<Value> {
        let part_arg = format!("part={part}");
        let args = ["run", "destroyer", DRIVE, "--quiet", "--library", "runs", "--set", &part_arg];
        let (document, cost) = self.measured(&args)?;
        let run = self.read_run(&document)?;
        let phases = run["phases"].as_array().map_or(&[] as &[Value], Vec::as_slice);
        let replay = phases.iter().find(|phase| phase["name"] == "replay");
        let ios = replay.and_then(|replay| replay["ios"].as_u64());
        let mut value = rates(&format!("replay of {part}"), "ios", ios, &cost)?;
        value["part"] = part.into();
        value["memory_bytes_peak"] = cost.peak_bytes.into();
        value["avg_service_time_us"] = run["metrics"]["avg_service_time_us"].clone();
        Ok(value)
    }

    /// A part of the light trace at its own times: lateness by the program's own measurement. A
    /// target without delay shows the lateness of the program; a drive that cannot keep up adds its
    /// own.
    fn lateness(&self, part: &str, target: &str, settings: &[&str]) -> Result<Value> {
        let part_arg = format!("part={part}");
        let mut args = vec!["run", "light", target, "--quiet", "--library", "runs"];
        for setting in [&[&part_arg[..], "form=open"], settings].concat() {
            args.extend(["--set", setting]);
        }
        let (document, _) = self.measured(&args)?;
        let run = self.read_run(&document)?;
        let mut value = json!({ "part": part, "target": target });
        for name in ["p50", "p99", "p999", "max"] {
            let name = format!("issue_lateness_ns_{name}");
            value[&name] = run["metrics"][&name].clone();
        }
        LOG.line(&format!("lateness on {target}: p99 {} ns", value["issue_lateness_ns_p99"]));
        Ok(value)
    }

    /// Runs `ssdlab ARGS... --format json`.
    pub(super) fn measured(&self, args: &[&str]) -> Result<(Value, Cost)> {
        let mut command = Command::new(&self.program);
        command.args(args).args(["--format", "json"]).current_dir(&self.dir.0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let (cpu_before, start) = (children_cpu_ns()?, Instant::now());
        let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        let stdout = child.stdout.take().context("stdout was not piped")?;
        let reader = std::thread::spawn(move || std::io::read_to_string(stdout));
        let peak_bytes = watch(&mut child)?;
        let wall_s = start.elapsed().as_secs_f64();
        let status = child.wait()?;
        if !status.success() {
            bail!("{command:?} ended with {status}");
        }
        let text = reader.join().map_err(|_| anyhow::anyhow!("the reader panicked"))??;
        let cost = Cost { wall_s, cpu_s: (children_cpu_ns()? - cpu_before) / 1e9, peak_bytes };
        Ok((serde_json::from_str(&text).context("ssdlab did not print JSON")?, cost))
    }

    /// The run.json of the only run in the document.
    pub(super) fn read_run(&self, document: &Value) -> Result<Value> {
        let dir = document["run_dirs"][0].as_str().context("ssdlab named no run directory")?;
        let text = std::fs::read_to_string(self.dir.0.join(dir).join("run.json"))?;
        Ok(serde_json::from_str(&text)?)
    }
}

/// Waits for the end of a program; returns its peak memory, as last seen before its end.
fn watch(child: &mut Child) -> Result<u64> {
    let path = format!("/proc/{}/status", child.id());
    let mut peak_bytes = 0;
    while child.try_wait()?.is_none() {
        let status = std::fs::read_to_string(&path).unwrap_or_default();
        peak_bytes = peak_bytes.max(peak_memory_bytes(&status).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(peak_bytes)
}

fn peak_memory_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn rates(what: &str, unit: &str, count: Option<u64>, cost: &Cost) -> Result<Value> {
    let count = count.filter(|count| *count > 0).with_context(|| format!("{what}: no {unit}"))?;
    let (wall, cpu) = (count as f64 / cost.wall_s, count as f64 / cost.cpu_s.max(0.01));
    LOG.line(&format!("{what}: {count} {unit}, {wall:.0} a second, {cpu:.0} a CPU second"));
    Ok(json!({
        unit: count,
        "wall_s": cost.wall_s,
        "cpu_s": cost.cpu_s,
        format!("{unit}_per_wall_s"): wall.round(),
        format!("{unit}_per_cpu_s"): cpu.round(),
    }))
}

/// The values of a line of a generated trace.
struct Draw {
    time_us: u64,
    write: bool,
    offset: u64,
    len: u64,
    response_us: u64,
}

fn msr_line(out: &mut String, d: &Draw) {
    let kind = if d.write { "Write" } else { "Read" };
    // Windows file time of 2007, as in the set.
    let (ticks, response) = (128_166_372_003_061_629 + 10 * d.time_us, 10 * d.response_us);
    let _ = writeln!(out, "{ticks},hm,1,{kind},{},{},{response}", d.offset, d.len);
}

fn alibaba_line(out: &mut String, d: &Draw) {
    let (kind, time_us) = (if d.write { "W" } else { "R" }, 1_577_808_144_360_767 + d.time_us);
    let _ = writeln!(out, "{},{kind},{},{},{time_us}", d.offset % 800, d.offset, d.len);
}

/// A trace of random I/Os: the parsers accept any, and every run has the same one.
fn write_lines(path: &Path, lines: u64, line: fn(&mut String, &Draw)) -> Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, std::fs::File::create(path)?);
    let mut state = 1_u64;
    let mut text = String::new();
    let mut draw = Draw { time_us: 0, write: false, offset: 0, len: 0, response_us: 0 };
    for _ in 0..lines {
        // Knuth's MMIX generator; its high bits are good enough for a made-up trace.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        draw.time_us += (state >> 54) & 0xff;
        draw.write = state >> 63 == 1;
        draw.offset = (state >> 30) % (1 << 28) * 512;
        draw.len = 512 << ((state >> 40) % 8);
        draw.response_us = 30 + (state >> 20) % 8192;
        text.clear();
        line(&mut text, &draw);
        out.write_all(text.as_bytes())?;
    }
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_are_those_of_the_formats() {
        let draw = Draw { time_us: 7, write: true, offset: 4096, len: 512, response_us: 40 };
        let line = |write: fn(&mut String, &Draw)| {
            let mut text = String::new();
            write(&mut text, &draw);
            text
        };
        assert_eq!(line(msr_line), "128166372003061699,hm,1,Write,4096,512,400\n");
        assert_eq!(line(alibaba_line), "96,W,4096,512,1577808144360774\n");
    }

    #[test]
    fn peak_memory_is_read_in_bytes() {
        assert_eq!(peak_memory_bytes("Name:\tx\nVmHWM:\t    1234 kB\n"), Some(1234 * 1024));
        assert_eq!(peak_memory_bytes("Name:\tx\n"), None);
    }
}
