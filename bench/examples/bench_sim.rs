//! Shipped models under loads of the test `workload`, as `ssdlab run` carries them out: with host, latencies and
//! read-ahead. For `cargo xtask bench sim`; one JSON document on stdout.
//!
//! Each run has a thread of its own, and the threads exist until the last run ends: a program that counts instructions
//! by thread counts them by run. `--small` takes small drives and few commands, for such a count. A phase has the
//! processor time of its thread from its begin to its end.
#![expect(clippy::print_stdout, reason = "a program of its own")]

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Sender, channel};

use result::schema::{Phase, Setting};
use run::event::Event;
use run::{Control, Outcome};
use serde_json::{Value, json};
use session::job::{Job, Origin, plan, unix_ns};
use session::request;
use session::targets::{self, Requirements};
use target::TargetSpec;

#[global_allocator]
static ALLOCATOR: io::huge_pages::HugePages = io::huge_pages::HugePages;

/// The models: name, and the part of the drive that `--small` takes.
const MODELS: [(&str, u32); 9] = [
    ("sandisk-extreme-ii-480gb", 1024),
    ("samsung-840-pro-256gb", 2048),
    ("samsung-840-evo-250gb", 1024),
    ("ocz-vertex-3-240gb", 2048),
    ("intel-ssd-730-480gb", 1024),
    ("micron-7450-max-800gb", 4096),
    ("solidigm-d7-p5520-1920gb", 8192),
    ("generic-client-hmb-tlc-1tb", 4096),
    ("generic-client-qlc-2tb", 8192),
];

/// A load after a fill of the drive.
struct Load {
    name: &'static str,
    /// Lines of the job in the workload file.
    job: &'static str,
    /// MiB to move at full size, and on a small drive.
    mib: (u64, u64),
}

const LOADS: [Load; 6] = [
    Load { name: "start", job: "op = 'read'\nblock = '4KiB'\nqueue_depth = 1", mib: (0, 0) },
    Load { name: "fill", job: "op = 'read'\nblock = '4KiB'\nqueue_depth = 1", mib: (0, 0) },
    Load {
        name: "write",
        job: "op = 'write'\nblock = '4KiB'\nqueue_depth = 32",
        mib: (131_072, 80),
    },
    Load {
        name: "mixed",
        job: "mix = { read = 70, write = 30 }\nblock = '4KiB'\nqueue_depth = 32",
        mib: (32_768, 24),
    },
    Load {
        name: "read-qd1",
        job: "op = 'read'\nblock = '4KiB'\nqueue_depth = 1",
        mib: (8_192, 16),
    },
    Load {
        name: "read-sequential",
        job: "op = 'read'\nblock = '128KiB'\nqueue_depth = 32",
        mib: (262_144, 256),
    },
];

impl Load {
    fn workload(&self, small: bool) -> String {
        let bytes = (if small { self.mib.1 } else { self.mib.0 } << 20).max(65_536);
        let pattern = if self.name == "read-sequential" { "sequential" } else { "uniform" };
        format!("[job.load]\n{}\npattern = '{pattern}'\nbytes = '{bytes}'\n", self.job)
    }
}

/// Nanoseconds for which this thread has had a processor.
fn processor_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|ns| ns.parse().ok()).unwrap_or(0)
}

/// A line of the status of this process in bytes.
fn status_bytes(field: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// Carries out a run of the test `workload`; its phases with their processor time.
fn run(target: &str, load: &Load, dir: &Path, small: bool) -> Vec<(Phase, u64)> {
    let file = dir.join("load.toml");
    std::fs::write(&file, load.workload(small)).expect("a file in a new directory");
    let file = file.display().to_string();
    let mut request = request::plain("workload", target);
    let fill = (load.name != "start").to_string();
    let settings = [("workload", file.as_str()), ("purge", "false"), ("fill", &fill)];
    request.settings =
        settings.map(|(name, value)| Setting { name: name.into(), value: value.into() }).into();
    let spec: TargetSpec = target.parse().expect("a target");
    let requirements = Requirements { write: true, ..Requirements::READ };
    let inspection = targets::inspect(vec![spec.clone()], requirements).expect("a built-in model");
    let inspected = inspection.target(&spec).expect("inspected above");
    let job = Job::new(request.clone(), &plan(&request, inspected).expect("a plan"), inspected);
    let targets = inspection.hold().expect("a simulated drive is free");
    let (mut begin_ns, mut took_ns) = (0, Vec::new());
    let mut observer = |event: &Event| match event {
        Event::PhaseStarted { .. } => begin_ns = processor_ns(),
        Event::PhaseEnded { .. } => took_ns.push(processor_ns() - begin_ns),
        _ => {}
    };
    let interrupted = &AtomicBool::new(false);
    let control = Control { interrupted, observer: &mut observer, unix_ns };
    let Outcome { run, failure, .. } =
        job.perform(&Origin::default(), dir, &targets, control).expect("a run");
    assert!(failure.is_none(), "{target}: {failure:?}");
    run.phases.into_iter().zip(took_ns).collect()
}

/// A cell of the table: a run of a load on a model.
fn cell(model: &str, scale: u32, load: &Load, small: bool) -> Value {
    let dir = std::env::temp_dir().join(format!("ssdlab-bench-sim-{}", std::process::id()));
    std::fs::create_dir(&dir).expect("a new directory in the directory for temporary files");
    let target =
        if small { format!("sim:{model}?scale=1/{scale}") } else { format!("sim:{model}") };
    // The peak of the memory is that of this run: proc(5).
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let before_bytes = status_bytes("VmRSS:");
    let phases = run(&target, load, &dir, small);
    let memory_bytes = status_bytes("VmHWM:").saturating_sub(before_bytes);
    let _ = std::fs::remove_dir_all(&dir);
    let phases: Vec<_> = phases
        .iter()
        .map(|(phase, ns)| json!({ "name": phase.name, "ios": phase.ios, "processor_ns": ns }))
        .collect();
    json!({ "model": model, "load": load.name, "phases": phases, "memory_bytes": memory_bytes })
}

fn main() {
    let small = std::env::args().any(|arg| arg == "--small");
    // Without a count of instructions the runs of no load say nothing: each phase has its time.
    let loads = if small { &LOADS[..] } else { &LOADS[2..] };
    // Preparations for all runs are in the count of this thread.
    cell(MODELS[0].0, MODELS[0].1, &LOADS[1], true);
    let (done, results) = channel();
    let threads: Vec<(Sender<()>, _)> = MODELS
        .iter()
        .flat_map(|model| loads.iter().map(move |load| (model, load)))
        .map(|((model, scale), load)| {
            let (turn, turns) = channel();
            let done = done.clone();
            let thread = std::thread::spawn(move || {
                turns.recv().expect("a turn");
                done.send(cell(model, *scale, load, small)).expect("somebody waits");
                // Until all have ended: a later thread would get the number of this one.
                let _ = turns.recv();
            });
            (turn, thread)
        })
        .collect();
    let mut cells = Vec::new();
    for (turn, _) in &threads {
        turn.send(()).expect("the thread waits");
        cells.push(results.recv().expect("a run ends with its figures"));
    }
    for (turn, thread) in threads {
        drop(turn);
        thread.join().expect("it has done its run");
    }
    println!("{}", json!({ "bench": "sim", "small": small, "cells": cells }));
}
