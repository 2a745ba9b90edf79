//! Does write amplification equal that of theory for pages that differ: hot and cold data,
//! deallocated pages, pages never written? The mapping alone (`common::untimed`), within 1% of each
//! formula.

use sim::ftl::gc::VictimPolicy;

use crate::common::untimed::Untimed;
use crate::common::{waf_fifo, waf_greedy};

const LOGICAL_PAGES: u64 = 1 << 18;
const BLOCK_PAGES: u32 = 256;
/// Hot data and the writes that go to it, both in percent of all.
const HOT_AND_WRITES: [(u64, u64); 3] = [(20, 80), (10, 90), (5, 95)];

/// One log for everything, FIFO (Desnoyers 2012): a page of group g, which holds the share s of the data and
/// gets the share p of the writes, is overwritten at the rate p / (s U) and survives one turn of
/// the log, alpha U / A host writes, with probability e^(-p alpha / (s A)). A page of g is in the
/// log p / (1 - that) times per write: A = sum of p / (1 - e^(-p alpha / (s A))).
fn waf_mixed(alpha: f64, data: f64, writes: f64) -> f64 {
    let groups = [(data, writes), (1.0 - data, 1.0 - writes)];
    let mut waf = 2.0;
    for _ in 0..100_000 {
        let of_group = |(s, p): (f64, f64)| p / (1.0 - f64::exp(-p * alpha / (s * waf)));
        waf = groups.into_iter().map(of_group).sum();
    }
    waf
}

fn check(what: &str, measured: f64, theory: f64) {
    let error = 100.0 * (measured / theory - 1.0);
    println!("{what}: {measured:.4}, theory {theory:.4}, {error:+.2}%");
    assert!(error.abs() < 1.0, "{what}: {measured} against {theory}");
}

#[test]
fn hot_and_cold_data_in_one_log() {
    for op in [0.07, 0.15, 0.28] {
        for (data, writes) in HOT_AND_WRITES {
            let alpha = 1.0 + op;
            let mut drive = Untimed::new(VictimPolicy::Fifo, 1, alpha, BLOCK_PAGES, LOGICAL_PAGES);
            let measured = drive.waf_of(8, 4, |drive| drive.write_hot_or_cold(data, writes));
            let theory = waf_mixed(alpha, data as f64 / 100.0, writes as f64 / 100.0);
            check(&format!("{data}/{writes} mixed, OP {op}"), measured, theory);
        }
    }
}

/// Separate pools, FIFO in each (Desnoyers 2014): A = sum of p A_fifo(alpha_g), with the spare
/// space divided so that the sum of s alpha_g is alpha. The best share: A is convex in it, hence
/// thirds. Returns the least A with alpha_hot and alpha_cold.
fn waf_apart(alpha: f64, data: f64, writes: f64) -> (f64, f64, f64) {
    let cold_of = |hot: f64| (alpha - data * hot) / (1.0 - data);
    let waf = |hot: f64| writes * waf_fifo(hot) + (1.0 - writes) * waf_fifo(cold_of(hot));
    let (mut low, mut high) = (1.001, (alpha - (1.0 - data) * 1.001) / data);
    for _ in 0..60 {
        let (left, right) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if waf(left) < waf(right) { high = right } else { low = left }
    }
    (waf(low), low, cold_of(low))
}

#[test]
fn hot_and_cold_data_in_pools_of_the_best_size() {
    for op in [0.07, 0.15, 0.28] {
        for (data, writes) in HOT_AND_WRITES {
            let (policy, share) = (VictimPolicy::Fifo, data as f64 / 100.0);
            let mut drive = Untimed::empty(policy, 1, 1.0 + op, BLOCK_PAGES, LOGICAL_PAGES);
            let pages = drive.ftl.geometry.logical_pages;
            drive.first_cold = (pages as f64 * share) as u64;
            for logical in 0..pages {
                drive.write(logical);
            }
            // One more superblock stands open, and half of it is no spare.
            let alpha = 1.0 + op - 0.5 * f64::from(BLOCK_PAGES) / pages as f64;
            let (theory, _, alpha_cold) = waf_apart(alpha, share, writes as f64 / 100.0);
            let cold_pages = (pages - drive.first_cold) as f64;
            let quota = cold_pages * alpha_cold / f64::from(BLOCK_PAGES);
            drive.cold_superblocks = Some(quota.round() as usize);
            let measured = drive.waf_of(6, 4, |drive| drive.write_hot_or_cold(data, writes));
            check(&format!("{data}/{writes} apart, OP {op}"), measured, theory);
        }
    }
}

#[test]
fn the_formulas_give_the_published_values() {
    for (alpha, data, writes, mixed, apart) in [
        (1.07, 0.2, 0.8, 8.182, 5.254),
        (1.15, 0.1, 0.9, 4.957, 1.930),
        (1.28, 0.05, 0.95, 3.788, 1.170),
    ] {
        for (got, want) in
            [(waf_mixed(alpha, data, writes), mixed), (waf_apart(alpha, data, writes).0, apart)]
        {
            assert!((got / want - 1.0).abs() < 1e-3, "{data}/{writes}: {got}, not {want}");
        }
    }
}

/// Of all requests the share q deallocates a random mapped page, the rest writes any page. The
/// share s in use is steady when as many pages get mapped as unmapped, (1 - q)(1 - s) = q, so that
/// s = (1 - 2q) / (1 - q), and A is that of alpha / s (Frankie, Hughes and Kreutz-Delgado 2012).
#[test]
fn deallocated_pages_are_spare() {
    for op in [0.07, 0.15, 0.28] {
        for percent in [5, 10, 20] {
            for (name, policy) in [("fifo", VictimPolicy::Fifo), ("greedy", VictimPolicy::Greedy)] {
                let alpha = 1.0 + op;
                let mut drive = Untimed::new(policy, 1, alpha, BLOCK_PAGES, LOGICAL_PAGES);
                let measured = drive.waf_of(8, 4, |drive| write_or_deallocate(drive, percent));
                let q = percent as f64 / 100.0;
                let alpha_in_use = alpha * (1.0 - q) / (1.0 - 2.0 * q);
                let theory = match policy {
                    VictimPolicy::Greedy => waf_greedy(alpha_in_use, BLOCK_PAGES),
                    _ => waf_fifo(alpha_in_use),
                };
                check(&format!("{name}, {percent}% deallocations, OP {op}"), measured, theory);
            }
        }
    }
}

fn write_or_deallocate(drive: &mut Untimed, percent: u64) {
    let pages = drive.ftl.geometry.logical_pages;
    if !drive.rng.chance(percent, 100) {
        return drive.write_below(pages);
    }
    loop {
        let logical = drive.rng.below(pages);
        if drive.ftl.unmap(logical) {
            return;
        }
    }
}

/// Pages never written need no room: if only the share x of the LBAs is ever written, A is that of
/// alpha / x.
#[test]
fn pages_never_written_are_spare() {
    for op in [0.07, 0.15, 0.28] {
        for percent in [95, 90, 80, 50] {
            let alpha = 1.0 + op;
            let mut drive =
                Untimed::empty(VictimPolicy::Greedy, 1, alpha, BLOCK_PAGES, LOGICAL_PAGES);
            let pages = drive.ftl.geometry.logical_pages / 100 * percent;
            for logical in 0..pages {
                drive.write(logical);
            }
            let measured = drive.waf_of(4, 3, |drive| drive.write_below(pages));
            let share = pages as f64 / drive.ftl.geometry.logical_pages as f64;
            let theory = waf_greedy(alpha / share, BLOCK_PAGES);
            check(&format!("{percent}% of the LBAs written, OP {op}"), measured, theory);
        }
    }
}
