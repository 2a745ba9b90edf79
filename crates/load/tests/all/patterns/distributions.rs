//! Do random patterns have the distributions of their formulas?

use load::{Sizes, Workload};

use super::{BLOCK, blocks, ops, workload};

const DRAWS: usize = 100_000;

/// Fails where counts differ from expectations more than one of a thousand true samples does (Wilson and
/// Hilferty's approximation of chi-square). Bins with few expected draws are joined with their neighbours.
fn check_counts(what: &str, counts_and_expected: impl IntoIterator<Item = (u64, f64)>) {
    let mut bins: Vec<(f64, f64)> = Vec::new();
    let mut open = (0.0, 0.0);
    for (count, expected) in counts_and_expected {
        open = (open.0 + count as f64, open.1 + expected);
        if open.1 >= 10.0 {
            bins.push(std::mem::take(&mut open));
        }
    }
    if let Some(last) = bins.last_mut() {
        *last = (last.0 + open.0, last.1 + open.1);
    }
    let freedom = bins.len() as f64 - 1.0;
    assert!(freedom >= 1.0, "{what}: too few bins to judge");
    let chi: f64 = bins.iter().map(|(count, expected)| (count - expected).powi(2) / expected).sum();
    let spread = 2.0 / (9.0 * freedom);
    let critical = freedom * (1.0 - spread + 3.09 * spread.sqrt()).powi(3);
    assert!(chi < critical, "{what}: chi-square {chi:.1} of at most {critical:.1}, {freedom} free");
}

/// The largest distance between a sample and a distribution function; fails beyond the bound of 99.9% of true
/// samples.
fn check_distances(what: &str, mut values: Vec<f64>, below: impl Fn(f64) -> f64) {
    values.sort_by(f64::total_cmp);
    let count = values.len() as f64;
    let distance = |(index, value): (usize, &f64)| {
        let expected = below(*value);
        (expected - index as f64 / count).abs().max((expected - (index + 1) as f64 / count).abs())
    };
    let distance = values.iter().enumerate().map(distance).fold(0.0, f64::max);
    let critical = 1.95 / count.sqrt();
    assert!(distance < critical, "{what}: distance {distance:.5} of at most {critical:.5}");
}

/// The sum of k^-theta over a range of ranks: term by term, and by Euler and Maclaurin where it is long.
fn weight(theta: f64, from: u64, to: u64) -> f64 {
    if to - from <= 4_096 {
        return (from..to).map(|k| (k as f64).powf(-theta)).sum();
    }
    let middle = from.max(256);
    let (a, b) = (middle as f64 - 0.5, to as f64 - 0.5);
    let long = if theta == 1.0 {
        (b / a).ln()
    } else {
        (b.powf(1.0 - theta) - a.powf(1.0 - theta)) / (1.0 - theta)
    };
    (from..middle).map(|k| (k as f64).powf(-theta)).sum::<f64>() + long
}

#[test]
fn zipf_ranks_follow_the_law_at_every_exponent_and_span() {
    for (seed, theta) in (1..).zip([0.0, 0.2, 0.5, 0.8, 0.99, 1.0, 1.1, 1.5, 2.5]) {
        for n in [2, 10, 1_000, 1 << 20, (1 << 36) - 7] {
            let bounds: Vec<u64> = (0..=36)
                .map(|bit| 1 << bit)
                .take_while(|start| *start <= n)
                .chain([n + 1])
                .collect();
            let mut counts = vec![0; bounds.len() - 1];
            for block in blocks(&format!("zipf({theta}, contiguous)"), n, seed).take(DRAWS) {
                counts[bounds.partition_point(|start| *start <= block + 1) - 1] += 1;
            }
            let all = weight(theta, 1, n + 1);
            let expected = |pair: &[u64]| DRAWS as f64 * weight(theta, pair[0], pair[1]) / all;
            let expected = bounds.windows(2).map(expected);
            check_counts(&format!("theta {theta}, {n} blocks"), counts.into_iter().zip(expected));
        }
    }
}

#[test]
fn every_single_rank_of_a_small_zipf_has_its_probability() {
    for (theta, n) in [(0.5, 40_u64), (1.0, 40), (1.2, 40), (0.99, 300)] {
        let mut counts = vec![0_u64; n as usize];
        for block in blocks(&format!("zipf({theta}, contiguous)"), n, 7).take(DRAWS) {
            counts[block as usize] += 1;
        }
        let all = weight(theta, 1, n + 1);
        let expected = (1..=n).map(|rank| DRAWS as f64 * weight(theta, rank, rank + 1) / all);
        check_counts(&format!("theta {theta}, {n} ranks"), counts.into_iter().zip(expected));
    }
}

#[test]
fn scattered_ranks_are_the_contiguous_ones_in_other_places_which_the_layout_seed_decides() {
    let n = 1_000;
    let counts = |pattern: &str, layout_seed, seed| {
        let mut counts = vec![0_u32; n as usize];
        let workload = Workload { layout_seed, ..workload(pattern, n) };
        for op in ops(workload, seed).take(20_000) {
            counts[(op.offset / u64::from(BLOCK)) as usize] += 1;
        }
        counts
    };
    let hottest = |counts: &[u32]| (0..counts.len()).max_by_key(|at| counts[*at]).unwrap();
    let scattered = counts("zipf(1.1)", 5, 1);
    let mut sorted = scattered.clone();
    sorted.sort_unstable();
    let mut contiguous = counts("zipf(1.1, contiguous)", 5, 1);
    assert_eq!(hottest(&contiguous), 0);
    contiguous.sort_unstable();
    assert_eq!(sorted, contiguous, "the same draws");
    assert_eq!(hottest(&scattered), hottest(&counts("zipf(1.1)", 5, 2)), "another seed");
    assert_ne!(hottest(&scattered), hottest(&counts("zipf(1.1)", 6, 1)), "another layout");
}

#[test]
fn workers_share_the_hot_blocks() {
    let whole = Workload { queue_depth: 4, ..workload("zipf(1.2)", 1 << 16) };
    let hottest = load::Generator::shares(&whole, 1, 4).into_iter().map(|mut share| {
        let mut counts = std::collections::BTreeMap::<u64, u32>::new();
        (0..5_000).for_each(|_| *counts.entry(share.next_op(0).unwrap().offset).or_default() += 1);
        counts.into_iter().max_by_key(|(_, count)| *count).unwrap().0
    });
    let hottest: std::collections::BTreeSet<_> = hottest.collect();
    assert_eq!(hottest.len(), 1, "{hottest:?}");
}

#[test]
fn pareto_gives_the_first_share_the_rest_of_the_commands_and_again_within_it() {
    for h in [0.05, 0.2, 0.35, 0.5_f64] {
        for n in [1 << 20, (1 << 36) - 7_u64] {
            let what = format!("pareto({h}, contiguous)");
            let found: Vec<_> = blocks(&what, n, 3).take(DRAWS).collect();
            let power = (1.0 - h).ln() / h.ln();
            let below = |block: u64| DRAWS as f64 * (block as f64 / n as f64).powf(power);
            let mut bounds: Vec<u64> = (0..=40).map(|bit| n >> (40 - bit)).collect();
            bounds.dedup();
            let counts = bounds.windows(2).map(|pair| {
                let range = pair[0]..pair[1];
                let count = found.iter().filter(|block| range.contains(*block)).count();
                (count as u64, below(pair[1]) - below(pair[0]))
            });
            check_counts(&format!("{what}, {n} blocks"), counts);
            let values: Vec<_> =
                found.iter().map(|block| (*block as f64 + 0.5) / n as f64).collect();
            let share =
                |part: f64| values.iter().filter(|x| **x < part).count() as f64 / DRAWS as f64;
            assert!((share(h) - (1.0 - h)).abs() < 0.01, "{h}: {}", share(h));
            assert!((share(h * h) - (1.0 - h).powi(2)).abs() < 0.01, "{h}: {}", share(h * h));
        }
    }
}

#[test]
fn normal_blocks_lie_around_the_middle() {
    for deviation in [0.05, 0.2, 1.0] {
        let n = 1 << 30;
        let values = blocks(&format!("normal({deviation})"), n, 3).take(DRAWS);
        let values: Vec<_> = values.map(|block| (block as f64 + 0.5) / n as f64).collect();
        let upto = |x: f64| libm::erf((x - 0.5) / (deviation * std::f64::consts::SQRT_2));
        let within = |x: f64| (upto(x) - upto(0.0)) / (upto(1.0) - upto(0.0));
        check_distances(&format!("deviation {deviation}"), values, within);
    }
}

#[test]
fn zones_have_their_shares_and_are_uniform_within() {
    for n in [1_000, 1 << 20, 1 << 36] {
        let mut counts = [0_u64; 100];
        for block in blocks("zones(\"5:60, 15:25, 30:0\", contiguous)", n, 3).take(DRAWS) {
            counts[(u128::from(block) * 100 / u128::from(n)) as usize] += 1;
        }
        let expected = |percent: usize| {
            let (commands, size) = match percent {
                0..5 => (0.6, 5.0),
                5..20 => (0.25, 15.0),
                20..50 => (0.0, 30.0),
                _ => (0.15, 50.0),
            };
            DRAWS as f64 * commands / size
        };
        assert_eq!(counts[20..50].iter().sum::<u64>(), 0, "a part without commands");
        let used = (0..100).filter(|percent| !(20..50).contains(percent));
        check_counts(&format!("{n} blocks"), used.map(|at| (counts[at], expected(at))));
    }
}

#[test]
fn a_read_only_share_is_left_alone() {
    let n = 1_000;
    let mut counts = vec![0_u64; n as usize];
    blocks("read-only(40%)", n, 3).take(DRAWS).for_each(|block| counts[block as usize] += 1);
    assert_eq!(counts.iter().filter(|count| **count == 0).count(), 400);
    let used = counts.into_iter().filter(|count| *count > 0);
    check_counts("the others", used.map(|count| (count, DRAWS as f64 / 600.0)));
}

#[test]
fn sizes_have_their_weights_and_fit_the_span() {
    let weighted = [(4_096, 60), (16_384, 30), (131_072, 10)];
    for pattern in
        ["uniform", "zipf(0.9)", "sequential", "streams(3)", "stride(64KiB)", "normal(30%)"]
    {
        let sizes = Sizes::new(&weighted);
        let workload = Workload { sizes, block_bytes: 131_072, ..workload(pattern, 1_000) };
        workload.check(512).unwrap();
        let ops: Vec<_> = ops(workload, 1).take(DRAWS).collect();
        let fits = |op: &&base::Op| {
            op.offset + u64::from(op.len) <= 1_000 * 4_096 && op.offset.is_multiple_of(4_096)
        };
        assert_eq!(ops.iter().filter(fits).count(), DRAWS, "{pattern}");
        let count = |bytes| ops.iter().filter(|op| op.len == bytes).count() as u64;
        let expected = |percent: u32| DRAWS as f64 * f64::from(percent) / 100.0;
        let counts = weighted.map(|(bytes, percent)| (count(bytes), expected(percent)));
        check_counts(pattern, counts);
    }
}

#[test]
fn a_traces_blocks_come_up_as_often_as_in_the_trace() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("trace.csv");
    // fio's write_iolog: half of the commands at the start, a quarter in the middle, a quarter at the end.
    let mut text = "fio version 2 iolog\nd add\nd open\n".to_owned();
    for offset in [0, 0, 524_288, 1_044_480] {
        text += &format!("d write {offset} 4096\n");
    }
    std::fs::write(&file, text).unwrap();
    let pattern = format!("trace({})", file.display());
    let mut counts = std::collections::BTreeMap::<u64, u64>::new();
    blocks(&pattern, 256, 1).take(10_000).for_each(|block| *counts.entry(block).or_default() += 1);
    assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [0, 128, 255]);
    let expected = [5_000.0, 2_500.0, 2_500.0];
    check_counts("the trace", counts.into_values().zip(expected));
    // Stretched to twice the span, each part has two blocks.
    let wide: std::collections::BTreeSet<_> = blocks(&pattern, 512, 1).take(10_000).collect();
    assert_eq!(wide.into_iter().collect::<Vec<_>>(), [0, 1, 256, 257, 510, 511]);
}
