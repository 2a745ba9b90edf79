//! ssdlab against fio with equal settings: 4 KB random writes at several queue depths to nothing, to a
//! file and to devices. The two take turns, and take turns in going first, because a disk's speed drifts
//! (some lend speed for a while and take it back): only neighbours are compared, and their median
//! counts. Then ssdlab alone at rates asked for: how exactly it delivers them, and at what price.

mod medium;
mod program;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use serde_json::{Value, json};

use super::scratch::ScratchDir;
use crate::log::Log;
use crate::proc;
use crate::workspace::Workspace;
use medium::{Medium, Ready};
use program::{Load, Sample};

/// What to measure with.
#[derive(Args)]
pub(crate) struct EngineArgs {
    /// Two turns of 1 s with a small file instead of five of 10 s: shows that all still works.
    #[arg(long)]
    quick: bool,
    /// What to write to; what the machine does not have is left out with the reason.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "null,file,loop,zram")]
    media: Vec<Medium>,
    /// Commands kept outstanding.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,32,128")]
    queue_depths: Vec<u32>,
    /// Rates to ask for on the null target, as `--set rate=` takes them.
    #[arg(
        long,
        value_name = "RATE",
        value_delimiter = ',',
        default_value = "1k,10k,100k,1M,poisson:1k,poisson:100k,poisson:1M"
    )]
    rates: Vec<String>,
    /// Where the file is made; its filesystem must know O_DIRECT. TMPDIR, or else /var/tmp.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Measure this program instead of building one.
    #[arg(long, value_name = "FILE")]
    ssdlab: Option<PathBuf>,
}

#[derive(Clone, Copy)]
struct Settings {
    turns: usize,
    seconds: u32,
    file_bytes: u64,
}

const FULL: Settings = Settings { turns: 5, seconds: 10, file_bytes: 2 << 30 };
const QUICK: Settings = Settings { turns: 2, seconds: 1, file_bytes: 256 << 20 };

const LOG: Log = Log::stderr("bench");

/// Measures and returns the JSON document.
pub(crate) fn run(workspace: &Workspace, args: &EngineArgs) -> Result<String> {
    if proc::which("fio").is_none() {
        bail!("fio is not in PATH: it is what ssdlab is compared with (Debian package fio)");
    }
    let binary = super::program(workspace, args.ssdlab.as_deref())?;
    let settings = if args.quick { QUICK } else { FULL };
    let dir = ScratchDir::make(args.dir.as_deref())?;
    let bench = Bench { binary: &binary, settings, dir: &dir.0 };
    let (mut cells, mut left_out) = (Vec::new(), Vec::new());
    for &medium in &args.media {
        match medium.prepare(&dir.0, settings.file_bytes) {
            Ok(ready) => {
                for &queue_depth in &args.queue_depths {
                    cells.push(bench.cell(&ready, queue_depth)?);
                }
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
    /// All turns on one medium at one queue depth.
    fn cell(&self, ready: &Ready, queue_depth: u32) -> Result<Value> {
        let load = Load { queue_depth, seconds: self.settings.seconds };
        let mut turns = Vec::new();
        for number in 0..self.settings.turns {
            turns.push(self.turn(ready, load, number % 2 == 1)?);
        }
        let cell = cell_json(ready.medium, queue_depth, &turns);
        LOG.line(&format!(
            "{} at QD {queue_depth}: {:.2} of fio's IOPS, {:.2} of its CPU time an I/O",
            ready.medium.name(),
            cell["iops_ratio"].as_f64().unwrap_or(f64::NAN),
            cell["cpu_ratio"].as_f64().unwrap_or(f64::NAN),
        ));
        Ok(cell)
    }

    fn turn(&self, ready: &Ready, load: Load, ssdlab_first: bool) -> Result<Turn> {
        let ssdlab = || program::ssdlab(self.binary, ready, load, "max");
        let early = if ssdlab_first { Some(ssdlab()?) } else { None };
        let fio = program::fio(ready, load)?;
        let ssdlab = early.map_or_else(ssdlab, Ok)?;
        Ok(Turn { fio, ssdlab })
    }

    /// One run on the null target at a rate asked for.
    fn rate(&self, rate: &str) -> Result<Value> {
        let ready = Medium::Null.prepare(self.dir, self.settings.file_bytes)?;
        let load = Load { queue_depth: 128, seconds: self.settings.seconds };
        let sample = program::ssdlab(self.binary, &ready, load, rate)?;
        let cores = sample.iops * sample.cpu_ns_per_io / 1e9;
        LOG.line(&format!("{rate}: {:.1} IOPS delivered, {cores:.2} cores", sample.iops));
        Ok(json!({ "rate": rate, "delivered": sample.json(), "cores": cores }))
    }
}

fn cell_json(medium: Medium, queue_depth: u32, turns: &[Turn]) -> Value {
    let median_of = |figure: &dyn Fn(&Turn) -> f64| median(turns.iter().map(figure).collect());
    let sample_of = |which: &dyn Fn(&Turn) -> Sample| Sample {
        iops: median_of(&|turn| which(turn).iops),
        cpu_ns_per_io: median_of(&|turn| which(turn).cpu_ns_per_io),
        latency_ns_p50: median_of(&|turn| which(turn).latency_ns_p50),
        latency_ns_p99: median_of(&|turn| which(turn).latency_ns_p99),
    };
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
        "iops_ratio": median_of(&|turn| turn.ssdlab.iops / turn.fio.iops),
        "cpu_ratio": median_of(&|turn| turn.ssdlab.cpu_ns_per_io / turn.fio.cpu_ns_per_io),
    })
}

/// The middle value, or the mean of the two in the middle.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_odd_and_even() {
        assert!((median(vec![3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!((median(vec![4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < f64::EPSILON);
    }
}
