//! Does write amplification equal that of theory for data that is never written again, and under
//! Zipf's law? The mapping alone (`common::untimed`), FIFO.

use sim::ftl::gc::VictimPolicy;

use crate::common::untimed::Untimed;
use crate::common::waf_fifo;

const LOGICAL_PAGES: u64 = 1 << 17;
const BLOCK_PAGES: u32 = 256;

/// A part of the data with its share of the writes.
type Group = (f64, f64);

/// One log, FIFO (Desnoyers 2012), as in `theory_workloads` with any number of groups: A is the sum of
/// p / (1 - e^(-p alpha / (s A))). For p = 0 that tends to s A / alpha: each turn of the log moves the data once.
fn waf_of_groups(alpha: f64, groups: &[Group]) -> f64 {
    let moved = |waf: f64, &(data, writes): &Group| match writes {
        0.0 => data * waf / alpha,
        _ => writes / -f64::exp_m1(-writes * alpha / (data * waf)),
    };
    (0..10_000).fold(2.0, |waf, _| groups.iter().map(|group| moved(waf, group)).sum())
}

fn check(what: &str, measured: f64, theory: f64, tolerance: f64) {
    let error = measured / theory - 1.0;
    println!("{what}: {measured:.4}, theory {theory:.4}, {:+.2}%", 100.0 * error);
    assert!(error.abs() < tolerance, "{what}: {measured} against {theory}");
}

#[test]
fn data_that_is_never_written_again_in_one_log() {
    for op in [0.07, 0.15, 0.28] {
        for percent in [30, 60, 90] {
            let alpha = 1.0 + op;
            let mut drive = Untimed::new(VictimPolicy::Fifo, 1, alpha, BLOCK_PAGES, LOGICAL_PAGES);
            let pages = drive.ftl.geometry.logical_pages;
            // Among the others: in a run, all of it would be moved at one time of each turn. The order of such data
            // in the log never changes, and neither does the ringing, so that it takes many turns to level out.
            let is_read_only = |page: u64| page % 10 < percent / 10;
            let measured = drive.waf_of(8, 24, |drive| {
                let page = loop {
                    let page = drive.rng.below(pages);
                    if !is_read_only(page) {
                        break page;
                    }
                };
                drive.write(page);
            });
            let read_only = (0..pages).filter(|&page| is_read_only(page)).count();
            let share = read_only as f64 / pages as f64;
            let theory = waf_of_groups(alpha, &[(1.0 - share, 1.0), (share, 0.0)]);
            check(&format!("{percent}% read only, mixed, OP {op}"), measured, theory, 0.01);
        }
    }
}

/// Blocks of data that is never written have nothing to clean, and all spare space is left to the rest:
/// A is that of (alpha - s) / (1 - s).
#[test]
fn data_that_is_never_written_again_in_a_pool_of_its_own() {
    for op in [0.07, 0.15, 0.28] {
        for percent in [30, 60, 90] {
            let (policy, alpha) = (VictimPolicy::Fifo, 1.0 + op);
            let mut drive = Untimed::empty(policy, 1, alpha, BLOCK_PAGES, LOGICAL_PAGES);
            let pages = drive.ftl.geometry.logical_pages;
            // The pool of cold data ends with a whole superblock.
            let block = u64::from(BLOCK_PAGES);
            let cold = pages / 100 * percent / block * block;
            drive.first_cold = pages - cold;
            drive.cold_superblocks = Some((cold / block) as usize);
            (0..pages).rev().for_each(|logical| drive.write(logical));
            let measured = drive.waf_of(8, 4, |drive| drive.write_below(pages - cold));
            let share = cold as f64 / pages as f64;
            let theory = waf_fifo((alpha - share) / (1.0 - share));
            check(&format!("{percent}% read only, apart, OP {op}"), measured, theory, 0.01);
        }
    }
}

/// Cumulative probabilities of ranks by Zipf's law.
fn cumulative(theta: f64, ranks: u64) -> Vec<f64> {
    let mut sum = 0.0;
    let mut sums: Vec<f64> = (1..=ranks)
        .map(|rank| {
            sum += (rank as f64).powf(-theta);
            sum
        })
        .collect();
    sums.iter_mut().for_each(|value| *value /= sum);
    sums
}

/// The reference shares no code with the drive or its workloads: it sums the formula over every page.
#[test]
fn writes_by_zipfs_law_in_one_log() {
    for op in [0.07, 0.28] {
        for theta in [0.4, 0.8, 1.0] {
            let alpha = 1.0 + op;
            let mut drive = Untimed::new(VictimPolicy::Fifo, 1, alpha, BLOCK_PAGES, LOGICAL_PAGES);
            let pages = drive.ftl.geometry.logical_pages;
            let cumulative = cumulative(theta, pages);
            let write = |drive: &mut Untimed| {
                let drawn = (drive.rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
                let rank = cumulative.partition_point(|sum| *sum <= drawn);
                drive.write((rank as u64).min(pages - 1));
            };
            let measured = drive.waf_of(8, 4, write);
            let before = std::iter::once(0.0).chain(cumulative.iter().copied());
            let each: Vec<f64> =
                cumulative.iter().zip(before).map(|(upto, from)| upto - from).collect();
            // Ranks of nearly the same probability together: the formula is smooth.
            let groups: Vec<Group> = each
                .chunks((pages / 4096) as usize)
                .enumerate()
                .flat_map(|(chunk, all)| {
                    let single = if chunk == 0 { all.len() } else { 1 };
                    let size = all.len() / single;
                    all.chunks(size.max(1))
                        .map(|part| (part.len() as f64 / pages as f64, part.iter().sum()))
                })
                .collect();
            let theory = waf_of_groups(alpha, &groups);
            check(&format!("zipf {theta}, OP {op}"), measured, theory, 0.02);
        }
    }
}
