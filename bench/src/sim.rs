//! Shipped models as `ssdlab run` carries them out: processor time, or instructions beside a baseline.
//!
//! `bench/examples/bench_sim.rs` runs the loads. A count of instructions is of small drives in the build of the
//! tests under Valgrind: it does not depend on the speed of the machine or on its other work. The cost of a load is its
//! run less one that only fills the drive; that of the fill is this run less one without a fill.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use serde_json::Value;

use super::figures;
use super::scratch::ScratchDir;
use xtask::log::Log;
use xtask::proc;
use xtask::workspace::Workspace;

/// Arguments of the bench.
#[derive(Args)]
pub(crate) struct SimArgs {
    /// Count instructions, and fail if a load takes over 3% more than in bench/baseline.csv
    #[arg(long)]
    compare: bool,
    /// Count instructions, and write them into bench/baseline.csv
    #[arg(long, conflicts_with = "compare")]
    accept: bool,
    /// Write the processor times into docs/evidence/benchmarks.md, too
    #[arg(long, conflicts_with_all = ["compare", "accept"])]
    write: bool,
}

const BASELINE: &str = "bench/baseline.csv";
const ACCEPT: &str = "cargo xtask bench sim --accept";
/// Instructions in percent of those of the baseline that fail.
const MOST_PERCENT: f64 = 103.0;
/// The thread of the first run: the program itself is 1.
const FIRST_THREAD: usize = 2;
const LOADS: [&str; 5] = ["fill", "write", "mixed", "read-qd1", "read-sequential"];
const LOG: Log = Log::stderr("bench");

/// Instructions of a command, by model and load.
type Costs = BTreeMap<(String, String), f64>;

/// Measures and returns the JSON document, or the table of instructions.
pub(crate) fn run(workspace: &Workspace, args: &SimArgs) -> Result<String> {
    if !args.compare && !args.accept {
        let document = super::example(workspace, "bench_sim", false)?;
        if args.write {
            let note = "One run of each load, and the median of its four fills.";
            let times = times(&serde_json::from_str(&document)?)
                .context("the document is not of a whole call")?;
            figures::write(workspace, "sim", note, &times)?;
        }
        return Ok(document);
    }
    let compiler = proc::capture(Command::new("rustc").arg("--version"))?;
    let now = table(compiler.trim(), &counted(workspace)?);
    let path = workspace.path(BASELINE);
    if args.accept {
        std::fs::write(&path, &now).with_context(|| path.display().to_string())?;
        return Ok(now);
    }
    let before = std::fs::read_to_string(&path)
        .with_context(|| format!("{BASELINE} cannot be read; make it with `{ACCEPT}`"))?;
    compare(&before, &now)?;
    Ok(now)
}

/// Runs the loads on small drives and counts their instructions.
fn counted(workspace: &Workspace) -> Result<Costs> {
    let mut build = workspace.build_debug(&["--example", "bench_sim"]);
    // A build with records for the next one takes up to 4% more instructions.
    proc::stream(LOG, build.env("CARGO_INCREMENTAL", "0"))?;
    let dir = ScratchDir::make(None)?;
    let log = dir.0.join("counts");
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=exp-bbv", "--instr-count-only=yes"]);
    valgrind.arg(format!("--log-file={}", log.display()));
    valgrind.arg(workspace.debug_dir().join("examples/bench_sim")).arg("--small");
    valgrind.current_dir(&dir.0).env("TMPDIR", &dir.0);
    let document: Value = serde_json::from_str(&proc::capture(&mut valgrind)?)?;
    let text = std::fs::read_to_string(&log).with_context(|| log.display().to_string())?;
    costs(&document, &by_thread(&text)).context("the counts are not those of the runs")
}

/// Instructions of each thread, from the report of exp-bbv.
fn by_thread(report: &str) -> BTreeMap<usize, f64> {
    let mut counts = BTreeMap::new();
    let mut thread = 0;
    for line in report.lines() {
        if let Some((_, number)) = line.split_once("# Thread ") {
            thread = number.trim().parse().unwrap_or(0);
        } else if let Some((_, count)) = line.split_once("Total instructions: ") {
            counts.insert(thread, count.trim().parse().unwrap_or(0.0));
        }
    }
    counts
}

/// The cost of a command in each load; `None` if the counts do not fit the runs.
fn costs(document: &Value, by_thread: &BTreeMap<usize, f64>) -> Option<Costs> {
    let mut costs = Costs::new();
    let (mut start, mut fill) = (0.0, 0.0);
    for (index, cell) in document["cells"].as_array()?.iter().enumerate() {
        let count = *by_thread.get(&(index + FIRST_THREAD))?;
        let (model, load) = (cell["model"].as_str()?, cell["load"].as_str()?);
        let ios = |phase: &str| {
            let mut phases = cell["phases"].as_array()?.iter();
            phases.find(|it| it["name"] == phase)?["ios"].as_f64()
        };
        let cost = match load {
            "start" => {
                start = count;
                continue;
            }
            "fill" => {
                fill = count;
                (count - start) / ios("fill")?
            }
            _ => (count - fill) / ios("load")?,
        };
        costs.insert((model.to_owned(), load.to_owned()), cost);
    }
    Some(costs)
}

/// Nanoseconds of processor time a command by load and the peak of the memory, a row for each
/// model; `None` if a figure is missing.
fn times(document: &Value) -> Option<figures::Table> {
    let mut costs: BTreeMap<(&str, &str), Vec<f64>> = BTreeMap::new();
    let mut memory: BTreeMap<&str, f64> = BTreeMap::new();
    for cell in document["cells"].as_array()? {
        let (model, load) = (cell["model"].as_str()?, cell["load"].as_str()?);
        let peak = memory.entry(model).or_default();
        *peak = peak.max(cell["memory_bytes"].as_f64()?);
        for phase in cell["phases"].as_array()? {
            let load = if phase["name"] == "fill" { "fill" } else { load };
            let cost = phase["processor_ns"].as_f64()? / phase["ios"].as_f64()?;
            costs.entry((model, load)).or_default().push(cost);
        }
    }
    let mut rows = Vec::new();
    for (model, bytes) in memory {
        let mut row = vec![model.to_owned()];
        for load in LOADS {
            let of_load = costs.get_mut(&(model, load))?;
            of_load.sort_by(f64::total_cmp);
            row.push(figures::three(of_load[of_load.len() / 2]));
        }
        row.push(figures::three(bytes / 1e9));
        rows.push(row);
    }
    let head = ["ns of processor time a command"].into_iter().chain(LOADS).chain(["memory, GB"]);
    Some(figures::Table { head: head.collect(), rows })
}

fn table(compiler: &str, costs: &Costs) -> String {
    let mut text = format!("# {compiler}; `{ACCEPT}` writes this file\nmodel,load,instructions\n");
    for ((model, load), cost) in costs {
        let _ = writeln!(text, "{model},{load},{cost:.1}");
    }
    text
}

/// The compiler and the costs of a table.
fn read(table: &str) -> Result<(&str, Costs)> {
    let (head, rows) = table.split_once('\n').unwrap_or((table, ""));
    let row = |line: &str| {
        let mut fields = line.split(',');
        let key = (fields.next()?.to_owned(), fields.next()?.to_owned());
        Some((key, fields.next()?.parse().ok()?))
    };
    let rows = rows.lines().skip(1).map(|line| {
        row(line).with_context(|| format!("{BASELINE}: expected model,load,instructions: {line}"))
    });
    let compiler = head.trim_start_matches("# ").split(';').next().unwrap_or_default();
    Ok((compiler, rows.collect::<Result<_>>()?))
}

/// Compares two tables.
///
/// # Errors
/// For another compiler, for other loads, and for a load that takes over 3% more instructions.
fn compare(before: &str, now: &str) -> Result<()> {
    let ((compiler_before, before), (compiler, now)) = (read(before)?, read(now)?);
    ensure!(
        compiler_before == compiler,
        "{BASELINE} is of {compiler_before}, and this is {compiler}, which may need other \
         instructions for the same source: `{ACCEPT}`"
    );
    ensure!(
        before.keys().eq(now.keys()),
        "{BASELINE} has other models or loads than the bench: `{ACCEPT}`"
    );
    let percents =
        now.iter().map(|(key, cost)| (key, before[key], *cost, 100.0 * cost / before[key]));
    let least = percents.clone().map(|it| it.3).fold(f64::INFINITY, f64::min);
    let most = percents.clone().map(|it| it.3).fold(0.0, f64::max);
    LOG.line(&format!("instructions in percent of the baseline: {least:.2} to {most:.2}"));
    let slower: Vec<_> = percents
        .filter(|it| it.3 > MOST_PERCENT)
        .map(|((model, load), before, now, percent)| {
            format!("{model}, {load}: {now:.1} instructions a command, {before:.1} before ({percent:.1}%)")
        })
        .collect();
    if !slower.is_empty() {
        bail!("over 3% more instructions; to accept them: `{ACCEPT}`\n{}", slower.join("\n"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_load_costs_its_run_less_the_fill() {
        let report = "==7== # Thread 2\n==7== #   Total instructions: 100\n==7== # Thread 3\n\
                      ==7== #   Total instructions: 500\n==7== # Thread 4\n==7== #   Total instructions: 900\n";
        let phases = json!([{ "name": "fill", "ios": 4 }, { "name": "load", "ios": 8 }]);
        let cell = |load| json!({ "model": "m", "load": load, "phases": phases });
        let document = json!({ "cells": [cell("start"), cell("fill"), cell("write")] });
        let costs = costs(&document, &by_thread(report)).unwrap();
        assert_eq!(
            table("rustc 1", &costs).lines().skip(2).collect::<Vec<_>>(),
            ["m,fill,100.0", "m,write,50.0"]
        );
    }

    #[test]
    fn more_instructions_and_another_compiler_fail_with_the_remedy() {
        let of = |compiler: &str, cost| {
            table(compiler, &[(("m".to_owned(), "write".to_owned()), cost)].into())
        };
        let before = of("rustc 1", 1000.0);
        compare(&before, &of("rustc 1", 1030.0)).unwrap();
        compare(&before, &of("rustc 1", 10.0)).unwrap();
        let error = compare(&before, &of("rustc 1", 1031.0)).unwrap_err().to_string();
        for part in ["m, write", "1031.0", "1000.0", ACCEPT] {
            assert!(error.contains(part), "{error}");
        }
        let error = compare(&before, &of("rustc 2", 1000.0)).unwrap_err().to_string();
        assert!(error.contains("rustc 1") && error.contains(ACCEPT), "{error}");
    }
}
