//! `cargo xtask bench load`: what a command costs in each pattern. One JSON document on stdout: medians of turns in
//! ns a command, and their ratios to `uniform` in the same turn.
#![expect(clippy::print_stdout, reason = "a program of its own")]

use std::hint::black_box;
use std::time::Instant;

use base::OpKind;
use load::{Generator, Workload};
use serde_json::{Map, json};

const BLOCK: u32 = 4_096;
/// The first is what the others are compared with.
const PATTERNS: [&str; 14] = [
    "uniform",
    "sequential",
    "streams(8)",
    "stride(1MiB)",
    "zipf(0.5)",
    "zipf(0.99)",
    "zipf(1)",
    "zipf(1.2)",
    "zipf(0.99, contiguous)",
    "pareto(20%)",
    "normal(10%)",
    "zones(\"20:80\")",
    "read-only(40%)",
    "append(zones=8, zone=1GiB)",
];
/// Blocks of 1 TB, and of the widest span that is tested.
const SPANS: [(&str, u64); 2] = [("2^28", 1 << 28), ("2^36", 1 << 36)];

fn main() {
    let quick = std::env::args().any(|arg| arg == "--quick");
    let (turns, draws) = if quick { (3, 100_000) } else { (11, 2_000_000) };
    let mut document = Map::new();
    for (name, blocks) in SPANS {
        let mut ns: Vec<Vec<f64>> = vec![Vec::new(); PATTERNS.len()];
        for _ in 0..turns {
            for (pattern, ns) in PATTERNS.iter().zip(&mut ns) {
                ns.push(ns_per_command(pattern, blocks, draws));
            }
        }
        let row = |at: usize| {
            let ratios = ns[at].iter().zip(&ns[0]).map(|(ns, uniform)| ns / uniform).collect();
            let row =
                json!({ "ns": round(median(ns[at].clone())), "of_uniform": round(median(ratios)) });
            (PATTERNS[at].to_owned(), row)
        };
        let rows: Map<_, _> = (0..PATTERNS.len()).map(row).collect();
        document.insert(format!("{name} blocks"), rows.into());
    }
    println!("{:#}", serde_json::Value::from(document));
}

fn ns_per_command(pattern: &str, blocks: u64, draws: u64) -> f64 {
    let order = pattern.parse().expect("a pattern");
    let workload = Workload::new(OpKind::Write, order, BLOCK, 1, blocks * u64::from(BLOCK));
    let mut generator = Generator::new(workload, 1);
    let start = Instant::now();
    for tag in 0..draws {
        black_box(generator.next_op(tag as u32));
    }
    start.elapsed().as_nanos() as f64 / draws as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
