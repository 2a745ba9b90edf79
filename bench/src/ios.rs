//! Rows of single commands (`--ios`): rows a second of the writer, and the price for a run.
//!
//! Runs with and without rows take turns, and each figure is the median of its turns: on a busy machine
//! the ratios hold, and the rates are lower than on a quiet one.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::engine::median::Median;
use super::scratch::ScratchDir;
use super::trace::{Cost, TraceArgs, TraceBench};
use xtask::log::Log;
use xtask::workspace::Workspace;

const LOG: Log = Log::stderr("bench");

/// One run: its commands, its rows, and its resources.
struct Turn {
    ios: f64,
    rows: f64,
    /// Length of the measured phase in s.
    length_s: f64,
    cost: Cost,
}

/// Measures and returns the JSON document.
pub(crate) fn run(workspace: &Workspace, args: &TraceArgs) -> Result<String> {
    let program = super::program(workspace, args.program.as_deref())?;
    let bench = TraceBench { program, dir: ScratchDir::make(args.dir.as_deref())? };
    let (turns, seconds) = if args.quick { (1, 2) } else { (5, 20) };
    let document = json!({
        "bench": "ios",
        "quick": args.quick,
        "turns": turns,
        "simulated": simulated(&bench, turns, seconds)?,
        "null": no_delay(&bench, turns, seconds)?,
    });
    Ok(serde_json::to_string_pretty(&document)?)
}

/// Random writes on a simulated drive: the run waits for the writer.
fn simulated(bench: &TraceBench, turns: usize, seconds: u32) -> Result<Value> {
    let target = "sim:sandisk-extreme-ii-480gb?scale=1/64";
    let [plain, rows] = in_turns(bench, target, turns, seconds)?;
    let wall = |turn: &Turn| turn.cost.wall_s;
    let cpu = |turn: &Turn| turn.cost.cpu_s;
    let (wall_ratio, cpu_ratio) =
        (median(&rows, wall) / median(&plain, wall), median(&rows, cpu) / median(&plain, cpu));
    LOG.line(&format!("simulated: {wall_ratio:.2} of the time with a row for each command"));
    Ok(json!({
        "target": target,
        "commands": median(&rows, |turn| turn.ios),
        "wall_s_without": median(&plain, wall),
        "wall_s_with_rows": median(&rows, wall),
        "wall_ratio": wall_ratio,
        "cpu_ratio": cpu_ratio,
    }))
}

/// Commands that take no time: as many as the writer can take, and more.
fn no_delay(bench: &TraceBench, turns: usize, seconds: u32) -> Result<Value> {
    let [plain, rows] = in_turns(bench, "null:", turns, seconds)?;
    let iops = |turn: &Turn| turn.ios / turn.length_s;
    let rows_per_s = median(&rows, |turn| turn.rows / turn.length_s);
    let iops_ratio = median(&rows, iops) / median(&plain, iops);
    LOG.line(&format!("null: {rows_per_s:.0} rows a second, {iops_ratio:.2} of the rate"));
    Ok(json!({
        "iops_without": median(&plain, iops),
        "iops_with_rows": median(&rows, iops),
        "iops_ratio": iops_ratio,
        "rows_per_s": rows_per_s,
        "rows_kept_share": median(&rows, |turn| turn.rows / turn.ios),
        "memory_bytes_peak_without": median(&plain, |turn| turn.cost.peak_bytes as f64),
        "memory_bytes_peak_with_rows": median(&rows, |turn| turn.cost.peak_bytes as f64),
    }))
}

/// Turns without rows, and turns with a row for each command.
fn in_turns(
    bench: &TraceBench,
    target: &str,
    turns: usize,
    seconds: u32,
) -> Result<[Vec<Turn>; 2]> {
    let mut found = [Vec::new(), Vec::new()];
    for _ in 0..turns {
        for (place, ios) in found.iter_mut().zip([&[][..], &["--ios", "all"]]) {
            place.push(turn(bench, target, seconds, ios)?);
        }
    }
    Ok(found)
}

fn turn(bench: &TraceBench, target: &str, seconds: u32, ios: &[&str]) -> Result<Turn> {
    let duration = format!("duration={seconds}s");
    let mut args = vec!["run", "consistency", target, "--quiet", "--library", "runs"];
    for setting in [&*duration, "steady_from=1s", "purge=false", "fill=false"] {
        args.extend(["--set", setting]);
    }
    args.extend(ios);
    let (document, cost) = bench.measured(&args)?;
    let run = bench.read_run(&document)?;
    let phases = run["phases"].as_array().map_or(&[] as &[Value], Vec::as_slice);
    let load = phases.iter().find(|phase| phase["name"] == "load").context("no phase `load`")?;
    std::fs::remove_dir_all(bench.dir.0.join("runs"))?;
    Ok(Turn {
        ios: load["ios"].as_f64().context("no count of commands")?,
        rows: run["ios"]["rows"].as_f64().unwrap_or(0.0),
        length_s: load["duration_ns"].as_f64().context("no length")? / 1e9,
        cost,
    })
}

/// The median of a figure over all turns.
fn median(turns: &[Turn], figure: impl Fn(&Turn) -> f64) -> f64 {
    Median::of(turns.iter().map(figure).collect()).value
}
