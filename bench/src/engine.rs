//! ssdlab against fio with equal settings: 4 KB random writes at several queue depths to nothing,
//! to a file and to devices.
//!
//! The speed of a disk drifts (some disks lend speed for a while and take it back). The two
//! programs therefore take turns, and take turns in going first. Only neighbours are compared: the
//! result is the median of their ratios, with its confidence interval. Many short turns give more
//! than few long ones. CPU time excludes the start and end of each program. Afterwards ssdlab runs
//! alone at given rates; the result is the accuracy and the cost of these rates.

pub(super) mod median;
mod medium;
mod program;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use serde_json::{Value, json};

use super::scratch::ScratchDir;
use median::Median;
use medium::{Medium, Ready};
use program::{Load, Overhead, Sample};
use xtask::log::Log;
use xtask::proc;
use xtask::workspace::Workspace;

/// Arguments of the bench.
#[derive(Args)]
pub(crate) struct EngineArgs {
    /// Two turns of 1 s with a small file instead of twelve of 4 s: a check that the bench works.
    #[arg(long)]
    quick: bool,
    /// Turns of each program in each case
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    turns: Option<u32>,
    /// Seconds of a turn
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=3600))]
    seconds: Option<u32>,
    /// Media to write to; a missing one is omitted with the reason
    #[arg(long, value_enum, value_delimiter = ',', default_value = "null,file,loop,zram")]
    media: Vec<Medium>,
    /// Outstanding commands
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,32,128")]
    queue_depths: Vec<u32>,
    /// Rates on the null target, as for `--set rate=`
    #[arg(
        long,
        value_name = "RATE",
        value_delimiter = ',',
        default_value = "1k,10k,100k,1M,poisson:1k,poisson:100k,poisson:1M"
    )]
    rates: Vec<String>,
    /// Directory of the file; its file system must support O_DIRECT. Default: TMPDIR, or else
    /// /var/tmp
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Program to measure instead of a new build
    #[arg(long, value_name = "FILE")]
    ssdlab: Option<PathBuf>,
}

#[derive(Clone, Copy)]
struct Settings {
    turns: u32,
    seconds: u32,
    file_bytes: u64,
}

const FULL: Settings = Settings { turns: 12, seconds: 4, file_bytes: 2 << 30 };
const QUICK: Settings = Settings { turns: 2, seconds: 1, file_bytes: 256 << 20 };

const LOG: Log = Log::stderr("bench");

/// Measures and returns the JSON document.
pub(crate) fn run(workspace: &Workspace, args: &EngineArgs) -> Result<String> {
    if proc::which("fio").is_none() {
        bail!("fio is not in PATH: it is what ssdlab is compared with (Debian package fio)");
    }
    let binary = super::program(workspace, args.ssdlab.as_deref())?;
    let usual = if args.quick { QUICK } else { FULL };
    let turns = args.turns.unwrap_or(usual.turns);
    let settings = Settings { turns, seconds: args.seconds.unwrap_or(usual.seconds), ..usual };
    let dir = ScratchDir::make(args.dir.as_deref())?;
    let bench = Bench { binary: &binary, settings, dir: &dir.0 };
    let (mut cells, mut left_out) = (Vec::new(), Vec::new());
    for &medium in &args.media {
        match medium.prepare(&dir.0, settings.file_bytes) {
            Ok(ready) => {
                cells.extend(bench.cells(&ready, &args.queue_depths)?);
            }
            Err(error) => {
                LOG.line(&format!("{} is left out: {error:#}", medium.name()));
                left_out.push(json!({ "medium": medium.name(), "reason": format!("{error:#}") }));
            }
        }
    }
    let rates = args.rates.iter().map(|rate| bench.rate(rate)).collect::<Result<Vec<_>>>()?;
    let document = json!({
        "bench": "engine",
        "settings": {
            "rw": "randwrite", "block_bytes": 4096, "engine": "io_uring", "direct": true,
            "file_bytes": settings.file_bytes, "turns": settings.turns, "turn_s": settings.seconds,
        },
        "cells": cells, "left_out": left_out, "open_loop": rates,
    });
    Ok(serde_json::to_string_pretty(&document)?)
}

struct Bench<'a> {
    binary: &'a Path,
    settings: Settings,
    dir: &'a Path,
}

/// Both programs, one directly after the other.
struct Turn {
    fio: Sample,
    ssdlab: Sample,
}

impl Bench<'_> {
    /// All turns on one medium.
    fn cells(&self, ready: &Ready, queue_depths: &[u32]) -> Result<Vec<Value>> {
        let overhead = self.overhead(ready)?;
        let seconds = self.settings.seconds;
        let loads = queue_depths.iter().map(|&queue_depth| Load { queue_depth, seconds, overhead });
        loads.map(|load| self.cell(ready, load)).collect()
    }

    /// All turns on one medium at one queue depth.
    fn cell(&self, ready: &Ready, load: Load) -> Result<Value> {
        let mut turns = Vec::new();
        for number in 0..self.settings.turns {
            turns.push(self.turn(ready, load, number % 2 == 1)?);
        }
        let cell = cell_json(ready.medium, load.queue_depth, &turns);
        LOG.line(&format!(
            "{} at QD {}: {} of fio's IOPS, {} of its CPU time an I/O",
            ready.medium.name(),
            load.queue_depth,
            in_words(&cell, "iops_ratio"),
            in_words(&cell, "cpu_ratio"),
        ));
        Ok(cell)
    }

    /// The CPU time of a turn of one second with almost no work.
    fn overhead(&self, ready: &Ready) -> Result<Overhead> {
        let idle = Load { queue_depth: 1, seconds: 1, overhead: Overhead::default() };
        Ok(Overhead {
            fio_ns: program::fio(ready, idle, Some(1))?.cpu_ns,
            ssdlab_ns: program::ssdlab(self.binary, ready, idle, "1")?.cpu_ns,
        })
    }

    fn turn(&self, ready: &Ready, load: Load, ssdlab_first: bool) -> Result<Turn> {
        let ssdlab = || program::ssdlab(self.binary, ready, load, "max");
        let early = if ssdlab_first { Some(ssdlab()?) } else { None };
        let fio = program::fio(ready, load, None)?;
        let ssdlab = early.map_or_else(ssdlab, Ok)?;
        Ok(Turn { fio, ssdlab })
    }

    /// One run on the null target at a given rate.
    fn rate(&self, rate: &str) -> Result<Value> {
        let ready = Medium::Null.prepare(self.dir, self.settings.file_bytes)?;
        let overhead = Overhead::default();
        let load = Load { queue_depth: 128, seconds: self.settings.seconds, overhead };
        let sample = program::ssdlab(self.binary, &ready, load, rate)?;
        let cores = sample.iops * sample.cpu_ns_per_io / 1e9;
        LOG.line(&format!("{rate}: {:.1} IOPS delivered, {cores:.2} cores", sample.iops));
        Ok(json!({ "rate": rate, "delivered": sample.json(), "cores": cores }))
    }
}

/// `0.99 (0.97 to 1.01)`.
fn in_words(cell: &Value, name: &str) -> String {
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let interval = &cell[format!("{name}_95")];
    let (low, high) = (number(&interval[0]), number(&interval[1]));
    format!("{:.2} ({low:.2} to {high:.2})", number(&cell[name]))
}

fn cell_json(medium: Medium, queue_depth: u32, turns: &[Turn]) -> Value {
    let median_of = |figure: &dyn Fn(&Turn) -> f64| Median::of(turns.iter().map(figure).collect());
    let sample_of = |which: &dyn Fn(&Turn) -> Sample| Sample {
        iops: median_of(&|turn| which(turn).iops).value,
        cpu_ns: median_of(&|turn| which(turn).cpu_ns).value,
        cpu_ns_per_io: median_of(&|turn| which(turn).cpu_ns_per_io).value,
        latency_ns_p50: median_of(&|turn| which(turn).latency_ns_p50).value,
        latency_ns_p99: median_of(&|turn| which(turn).latency_ns_p99).value,
    };
    let iops_ratio = median_of(&|turn| turn.ssdlab.iops / turn.fio.iops);
    let cpu_ratio = median_of(&|turn| turn.ssdlab.cpu_ns_per_io / turn.fio.cpu_ns_per_io);
    json!({
        "medium": medium.name(), "queue_depth": queue_depth,
        "samples": {
            "fio": turns.iter().map(|turn| turn.fio.json()).collect::<Vec<_>>(),
            "ssdlab": turns.iter().map(|turn| turn.ssdlab.json()).collect::<Vec<_>>(),
        },
        "median": {
            "fio": sample_of(&|turn| turn.fio).json(),
            "ssdlab": sample_of(&|turn| turn.ssdlab).json(),
        },
        "iops_ratio": iops_ratio.value, "iops_ratio_95": iops_ratio.interval(),
        "cpu_ratio": cpu_ratio.value, "cpu_ratio_95": cpu_ratio.interval(),
    })
}
