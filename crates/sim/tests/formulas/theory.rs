//! Does write amplification equal that of theory, for every victim policy at every
//! over-provisioning?
//!
//! Uniform random writes to the mapping alone (`common::untimed`), at one of the over-provisionings unless all
//! cases are asked for. Formulas and their sources:
//! `docs/reference/simulator.md`.

use sim::ftl::gc::VictimPolicy;

use crate::common::cases::Cases;
use crate::common::untimed::{OVER_PROVISIONING, Untimed};
use crate::common::{waf_fifo, waf_greedy};

/// d-choices by Van Houdt 2013: F_i = F_(i+1) + (1 - F_i^d) / (w i) from F_(b+1) = 0, with w such that
/// the F_i for i >= 1 add up to b / alpha; then A = b / (b - sum of F_i^d).
fn waf_d_choices(alpha: f64, b: u32, d: i32) -> f64 {
    let shares = |w: f64| -> Vec<f64> {
        let mut next = 0.0;
        (1..=b)
            .rev()
            .map(|i| {
                // The one root between `next` and 1 of f + (f^d - 1) / (w i) = next.
                let (mut low, mut high) = (next, 1.0_f64);
                for _ in 0..60 {
                    let f = f64::midpoint(low, high);
                    let value = f - (1.0 - f.powi(d)) / (w * f64::from(i));
                    if value < next { low = f } else { high = f }
                }
                next = low;
                low
            })
            .collect()
    };
    let (mut low, mut high) = (1e-9, 1e9_f64);
    for _ in 0..200 {
        let w = (low * high).sqrt();
        let sum: f64 = shares(w).iter().sum();
        if sum > f64::from(b) / alpha { low = w } else { high = w }
    }
    let moved: f64 = shares((low * high).sqrt()).iter().map(|f| f.powi(d)).sum();
    f64::from(b) / (f64::from(b) - moved)
}

fn check(name: &str, policy: VictimPolicy, candidates: u32, b: u32, theory: impl Fn(f64) -> f64) {
    // Enough superblocks that one more or less does not matter, more where lots are drawn.
    let draws_lots = policy == VictimPolicy::DChoices;
    let logical_pages = if draws_lots { b * 8192 } else { (b * 1024).max(1 << 18) };
    for op in Cases::chosen().members(&OVER_PROVISIONING) {
        let alpha = 1.0 + op;
        let mut drive = Untimed::new(policy, candidates, alpha, b, logical_pages.into());
        let measured = drive.waf(3, 2);
        let theory = theory(alpha);
        let error = 100.0 * (measured / theory - 1.0);
        let free = drive.free_sum as f64 / drive.free_samples as f64;
        println!(
            "{name} b={b} OP {op}: {measured:.4}, theory {theory:.4}, {error:+.2}%, free {free:.2}"
        );
        assert!(error.abs() < 0.5, "{name} b={b} OP {op}: {measured} against {theory}");
    }
}

#[test]
fn greedy_on_small_blocks() {
    check("greedy", VictimPolicy::Greedy, 1, 64, |alpha| waf_greedy(alpha, 64));
}

#[test]
fn greedy_on_superblocks_equals_fifo() {
    check("greedy", VictimPolicy::Greedy, 1, 4096, waf_fifo);
}

#[test]
fn fifo() {
    check("fifo", VictimPolicy::Fifo, 1, 256, waf_fifo);
}

#[test]
fn random_choice() {
    check("random", VictimPolicy::DChoices, 1, 64, |alpha| alpha / (alpha - 1.0));
}

#[test]
fn ten_choices() {
    check("d=10", VictimPolicy::DChoices, 10, 64, |alpha| waf_d_choices(alpha, 64, 10));
}

#[test]
fn the_d_choices_formula_gives_the_published_values() {
    // Reference table: d = 2 and 10 at OP 7%, 15% and 28% with 64 pages a block.
    for (alpha, d, want) in [
        (1.07, 2, 10.2772),
        (1.07, 10, 7.3230),
        (1.15, 2, 5.3123),
        (1.15, 10, 3.9304),
        (1.28, 10, 2.4706),
    ] {
        let got = waf_d_choices(alpha, 64, d);
        assert!((got / want - 1.0).abs() < 1e-3, "alpha {alpha} d {d}: {got}, not {want}");
    }
}

#[test]
fn a_window_lies_between_fifo_and_greedy() {
    let waf = |policy, candidates| Untimed::new(policy, candidates, 1.15, 64, 1 << 18).waf(3, 3);
    let fifo = waf(VictimPolicy::Fifo, 1);
    let narrow = waf(VictimPolicy::WindowedGreedy, 47);
    let wide = waf(VictimPolicy::WindowedGreedy, 470);
    let greedy = waf(VictimPolicy::Greedy, 1);
    println!("fifo {fifo:.3}, 1% {narrow:.3}, 10% {wide:.3}, greedy {greedy:.3}");
    assert!(fifo > narrow && narrow > wide && wide > greedy * 0.999);
    assert!((narrow / 3.984 - 1.0).abs() < 0.01, "the reference has 3.984 for a window of 1%");
}

#[test]
fn cost_benefit_separates_what_greedy_mixes() {
    // 90% of the writes go to 10% of the pages: age is worth something, so cost-benefit beats greedy.
    let waf = |policy| {
        let mut drive = Untimed::new(policy, 1, 1.15, 64, 1 << 18);
        drive.waf_of(4, 8, |drive| drive.write_hot_or_cold(10, 90))
    };
    let (fifo, greedy) = (waf(VictimPolicy::Fifo), waf(VictimPolicy::Greedy));
    let cost_benefit = waf(VictimPolicy::CostBenefit);
    println!("hot and cold: fifo {fifo:.3}, greedy {greedy:.3}, cost-benefit {cost_benefit:.3}");
    assert!(cost_benefit < 0.9 * greedy);
}
