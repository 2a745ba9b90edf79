//! From shares in a description to counts that agree with the published totals.

use base::OpKind;

use super::rake::{Constraint, rake, whole};
use super::scenario::{Scenario, TraceTotals, size_weights};
use crate::trace::stats::{DEPTH_BINS, SIZE_BINS, size_bin};

/// One kind of I/O of one program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) op: OpKind,
    pub(super) len: u32,
    /// I/Os that jump; each begins a run.
    pub(super) jumps: u64,
    /// I/Os that continue at the end of the preceding one.
    pub(super) sequential: u64,
}

/// One kind of I/O of one program, with its first guess.
struct Guess {
    phase: usize,
    app: usize,
    op: OpKind,
    len: u32,
    sequential: f64,
}

/// Counts of every kind of I/O, by phase and program.
pub(super) fn cells(
    scenario: &Scenario,
    published: &TraceTotals,
) -> Result<Vec<Vec<Vec<Cell>>>, String> {
    let (guesses, mut weights) = first_guess(scenario)?;
    rake(&mut weights, &constraints(&guesses, published))?;
    let mut counts = vec![0; weights.len()];
    for (op, total) in [(OpKind::Read, published.reads), (OpKind::Write, published.writes)] {
        let members = members(&guesses, |guess| guess.op == op);
        let of_op: Vec<f64> = members.iter().map(|&member| weights[member]).collect();
        for (&member, count) in members.iter().zip(whole(&of_op, total)) {
            counts[member] = count;
        }
    }
    let sequential = sequential(&guesses, &counts, published.sequential_share)?;
    let mut cells: Vec<Vec<Vec<Cell>>> =
        scenario.phases.iter().map(|phase| vec![Vec::new(); phase.apps.len()]).collect();
    for ((guess, &ios), sequential) in guesses.iter().zip(&counts).zip(sequential) {
        if ios > 0 {
            // A run begins with a jump.
            let sequential = sequential.min(ios - 1);
            let cell = Cell { op: guess.op, len: guess.len, jumps: ios - sequential, sequential };
            cells[guess.phase][guess.app].push(cell);
        }
    }
    Ok(cells)
}

fn first_guess(scenario: &Scenario) -> Result<(Vec<Guess>, Vec<f64>), String> {
    let (mut guesses, mut weights) = (Vec::new(), Vec::new());
    let phases: f64 = scenario.phases.iter().map(|phase| phase.weight).sum();
    for (phase, spec) in scenario.phases.iter().enumerate() {
        let apps: f64 = spec.apps.iter().map(|app| app.weight).sum();
        for (app, program) in spec.apps.iter().enumerate() {
            let ios = spec.weight / phases * program.weight / apps;
            for (op, share, sizes) in [
                (OpKind::Read, program.read_share, &program.read_sizes),
                (OpKind::Write, 1.0 - program.read_share, &program.write_sizes),
            ] {
                let sizes = size_weights(sizes)?;
                let all: f64 = sizes.iter().map(|(_, weight)| weight).sum();
                for (len, weight) in sizes.into_iter().filter(|_| share > 0.0) {
                    guesses.push(Guess { phase, app, op, len, sequential: program.sequential });
                    weights.push(ios * share * weight / all);
                }
            }
        }
    }
    let all = scenario.published.reads + scenario.published.writes;
    weights.iter_mut().for_each(|weight| *weight *= all as f64);
    Ok((guesses, weights))
}

fn members(guesses: &[Guess], is: impl Fn(&Guess) -> bool) -> Vec<usize> {
    (0..guesses.len()).filter(|&index| is(&guesses[index])).collect()
}

/// Sizes first, then numbers, then bytes: the last one agrees best.
fn constraints(guesses: &[Guess], published: &TraceTotals) -> Vec<Constraint> {
    let all = (published.reads + published.writes) as f64;
    let mut constraints = Vec::new();
    for (size, share) in &published.sizes {
        let members = members(guesses, |guess| SIZE_BINS[size_bin(guess.len)] == size);
        let name = format!("the share of I/Os of {size}");
        constraints.push(Constraint { name, members, target: share * all, values: None });
    }
    for (op, ios, bytes) in [
        (OpKind::Read, published.reads, published.read_bytes),
        (OpKind::Write, published.writes, published.write_bytes),
    ] {
        if ios == 0 {
            continue;
        }
        let members = members(guesses, |guess| guess.op == op);
        let name = format!("the number of {}s", op.name());
        let values = members.iter().map(|&m| f64::from(guesses[m].len)).collect();
        let bytes_name = format!("the bytes of the {}s", op.name());
        let target = ios as f64;
        constraints.push(Constraint { name, members: members.clone(), target, values: None });
        let (target, values) = (bytes as f64, Some(values));
        constraints.push(Constraint { name: bytes_name, members, target, values });
    }
    constraints
}

/// Number of I/Os of each kind that continue at the end of the preceding one: the shares of the
/// programs, all shifted equally on the scale of odds until the total fits.
fn sequential(guesses: &[Guess], counts: &[u64], share: Option<f64>) -> Result<Vec<u64>, String> {
    let odds = |guess: &Guess| {
        let share = guess.sequential.clamp(0.001, 0.999);
        (share / (1.0 - share)).ln()
    };
    let shifted = |shift: f64| {
        let pairs = guesses.iter().zip(counts);
        let share = move |guess: &Guess| 1.0 / (1.0 + (-(odds(guess) + shift)).exp());
        pairs.map(move |(guess, &ios)| ios as f64 * share(guess)).collect::<Vec<f64>>()
    };
    let all: u64 = counts.iter().sum();
    let Some(share) = share else {
        let free = shifted(0.0);
        let total = free.iter().sum::<f64>().round() as u64;
        return Ok(whole(&free, total));
    };
    let wanted = share * all as f64;
    let (mut low, mut high) = (-50.0, 50.0);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if shifted(middle).iter().sum::<f64>() < wanted { low = middle } else { high = middle }
    }
    let total = wanted.round() as u64;
    let counts = whole(&shifted(low), total);
    if counts.iter().sum::<u64>() == total { Ok(counts) } else { Err("no I/O at all".to_owned()) }
}

/// I/Os at each queue depth (the index; 0 is empty), by phase; `ios` are the totals of the phases.
pub(super) fn depths(
    scenario: &Scenario,
    published: &TraceTotals,
    ios: &[u64],
) -> Result<Vec<Vec<u64>>, String> {
    let depth_max = usize::from(scenario.queue_depth_max);
    let mut weights = Vec::new();
    for (phase, &ios) in scenario.phases.iter().zip(ios) {
        // Geometric with the mean that the phase tends to; the second term lets every phase reach every depth.
        let ratio = 1.0 - 1.0 / phase.queue_depth.max(1.01);
        let guess =
            |depth: usize| ratio.powf(depth as f64 - 1.0) / phase.queue_depth + 1e-5 / depth as f64;
        weights.extend((1..=depth_max).map(|depth| guess(depth) * ios as f64));
    }
    rake(&mut weights, &depth_constraints(published, ios, depth_max))?;
    let rows = weights.chunks(depth_max).zip(ios);
    let row = |(weights, &ios): (&[f64], &u64)| {
        let mut counts = vec![0];
        counts.extend(whole(weights, ios));
        counts
    };
    Ok(rows.map(row).collect())
}

fn depth_constraints(published: &TraceTotals, ios: &[u64], depth_max: usize) -> Vec<Constraint> {
    let phases = ios.len();
    let all: f64 = ios.iter().sum::<u64>() as f64;
    let at = |first: usize, last: usize| -> Vec<usize> {
        let depths = first..=last.min(depth_max);
        (0..phases).flat_map(|p| depths.clone().map(move |d| p * depth_max + d - 1)).collect()
    };
    let mut constraints = Vec::new();
    let mut share = |name: &str, members: Vec<usize>, share: f64| {
        let target = share * all;
        constraints.push(Constraint { name: name.to_owned(), members, target, values: None });
    };
    if let Some(shares) = &published.queue_depth_shares {
        // Printed shares need not sum up to exactly one.
        let sum: f64 = shares.iter().sum();
        for ((first, last), part) in DEPTH_BINS.into_iter().zip(shares) {
            let members = at(usize::from(first), usize::from(last));
            share("the table of queue depths", members, part / sum);
        }
    } else if let Some(at_1) = published.queue_depth_1_share {
        share("the share at queue depth 1", at(1, 1), at_1);
    }
    if let Some(mean) = published.queue_depth_mean {
        let members = at(1, depth_max);
        let values = members.iter().map(|member| (member % depth_max + 1) as f64).collect();
        let name = "the mean queue depth".to_owned();
        constraints.push(Constraint { name, members, target: mean * all, values: Some(values) });
    }
    for (phase, &ios) in ios.iter().enumerate() {
        let members = (phase * depth_max..(phase + 1) * depth_max).collect();
        let name = "the I/Os of a phase".to_owned();
        constraints.push(Constraint { name, members, target: ios as f64, values: None });
    }
    constraints
}
