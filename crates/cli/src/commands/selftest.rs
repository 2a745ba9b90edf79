//! `ssdlab selftest`: the cost of the harness itself on the null target, with everything that a
//! real run has: full histogram, one row per second.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use ::target::Target;
use ::target::null::NullTarget;
use base::{Nanos, OpKind};
use clap::Args as ClapArgs;
use device::host::clock::MonotonicClock;
use load::{Generator, Order, Workload};
use run::drive::drive;
use run::recorder::Recorder;

use crate::args::heading;
use crate::args::{Format, whole};
use crate::failure::EXIT_DONE;
use crate::ui::out::data;
use crate::ui::table::{self, count};

const EXAMPLES: &str = "\
Examples:
  ssdlab selftest
  ssdlab selftest --seconds 10
  ssdlab selftest --format json";

/// Arguments of `selftest`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct SelftestArgs {
    /// Seconds for each measurement
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = whole::<u32, 1, 60>)]
    pub seconds: u32,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    pub format: Format,
}

const QUEUE_DEPTHS: [u32; 3] = [1, 32, 128];
const CAPACITY_BYTES: u64 = 1 << 40;

pub fn run(args: &SelftestArgs) -> anyhow::Result<u8> {
    let mut rows = vec![vec!["queue depth".to_owned(), "ns per I/O".to_owned(), "IOPS".to_owned()]];
    let mut costs = Vec::new();
    for queue_depth in QUEUE_DEPTHS {
        let ns = cost_ns(queue_depth, args.seconds)?;
        rows.push(vec![queue_depth.to_string(), format!("{ns:.1}"), count(1e9 / ns)]);
        costs.push(serde_json::json!({ "queue_depth": queue_depth, "ns_per_io": ns }));
    }
    let clock_ns = clock_resolution_ns();
    match args.format {
        Format::Json => {
            data!(
                "{}",
                serde_json::json!({ "null_target": costs, "clock_resolution_ns": clock_ns })
            );
        }
        Format::Text => {
            data!("Cost of the harness on the null target:");
            table::print(&rows);
            data!("Smallest step of the clock: {clock_ns} ns");
        }
    }
    Ok(EXIT_DONE)
}

/// Wall time per I/O on a target that does nothing.
fn cost_ns(queue_depth: u32, seconds: u32) -> anyhow::Result<f64> {
    let mut target = NullTarget::new(CAPACITY_BYTES, MonotonicClock::start());
    let workload = Workload::new(OpKind::Write, Order::Uniform, 4096, queue_depth, CAPACITY_BYTES);
    let length = Nanos(u64::from(seconds) * Nanos::SECOND.0);
    let start = target.now();
    let mut recorder = Recorder::new(start, Some(length));
    let mut generator = Generator::new(workload, 1);
    let never = AtomicBool::new(false);
    let deadline = Some(Nanos(start.0 + length.0));
    drive(&mut target, &mut generator, deadline, &mut recorder, &never, |_| ())?;
    Ok(length.0 as f64 / recorder.ios.max(1) as f64)
}

/// The smallest difference between two readings that differ.
fn clock_resolution_ns() -> u64 {
    const READINGS: usize = 100_000;
    let start = Instant::now();
    let mut last = 0;
    let mut smallest = u64::MAX;
    for _ in 0..READINGS {
        let now = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        if now > last {
            smallest = smallest.min(now - last);
        }
        last = now;
    }
    smallest
}
