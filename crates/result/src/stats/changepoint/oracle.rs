//! The segmentation compared with a second method that shares no code with it, on random series.
//!
//! Segment neighbourhood search (Auger and Lawrence 1989): the least cost for every number of
//! segments, by a table over (segments, end), with the sum of squares of each segment taken from
//! its values. The penalty then selects the number of segments. The method is slow and easy to
//! verify.

use base::Rng;

use super::{log_blocks, optimal_cuts, penalty};

const SERIES: u64 = 10_000;

/// Sum of squares around the mean, from the values themselves.
fn squares(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| (value - mean) * (value - mean)).sum()
}

/// Cost of given cuts: sums of squares and a penalty for each cut.
fn cost_of(values: &[f64], cuts: &[usize], penalty: f64) -> f64 {
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain([values.len()]);
    let segments = starts.zip(ends).map(|(start, end)| squares(&values[start..end]));
    segments.sum::<f64>() + penalty * cuts.len() as f64
}

/// The least cost of any segmentation into segments of at least `shortest` values.
fn least_cost(values: &[f64], shortest: usize, penalty: f64) -> f64 {
    let n = values.len();
    let mut costs = vec![vec![f64::INFINITY; n + 1]; n];
    for (start, row) in costs.iter_mut().enumerate() {
        for end in start + shortest..=n {
            row[end] = squares(&values[start..end]);
        }
    }
    // best[end] with one segment, then with one more in each turn.
    let mut best: Vec<f64> = costs[0].clone();
    let mut least = best[n];
    for cuts in 1..n / shortest {
        let with_one_more = |end: usize| {
            (0..end).map(|start| best[start] + costs[start][end]).fold(f64::INFINITY, f64::min)
        };
        best = (0..=n).map(with_one_more).collect();
        least = least.min(best[n] + penalty * cuts as f64);
    }
    least
}

/// A series of a few levels with noise; some without any level, some without noise.
fn series(rng: &mut Rng) -> Vec<f64> {
    let share = |rng: &mut Rng| rng.below(1_000_001) as f64 / 1e6;
    let length = 20 + rng.below(21) as usize;
    let (levels, noise) = (1 + rng.below(5) as usize, 0.5 * share(rng) * share(rng));
    let heights: Vec<f64> = (0..levels).map(|_| 10_f64.powf(2.0 + 3.0 * share(rng))).collect();
    let value = |second: usize, rng: &mut Rng| {
        heights[second * levels / length] * (1.0 + noise * (2.0 * share(rng) - 1.0))
    };
    (0..length).map(|second| value(second, rng)).collect()
}

#[test]
fn ten_thousand_series_are_cut_where_an_exact_search_cuts_them() {
    let mut rng = Rng::split(1, "change points");
    let mut counts = [0_u32; 8];
    for _ in 0..SERIES {
        let blocks = log_blocks(&series(&mut rng), 1);
        let (shortest, penalty) = (3, penalty(&blocks));
        let cuts = optimal_cuts(&blocks, shortest, penalty);
        let (ours, least) =
            (cost_of(&blocks, &cuts, penalty), least_cost(&blocks, shortest, penalty));
        assert!((ours - least).abs() < 1e-9 * (1.0 + least), "{ours}, not {least}: {blocks:?}");
        let bounds: Vec<usize> = [0].into_iter().chain(cuts).chain([blocks.len()]).collect();
        assert!(bounds.windows(2).all(|pair| pair[1] - pair[0] >= shortest), "{bounds:?}");
        counts[(bounds.len() - 2).min(7)] += 1;
    }
    // The series exercise every number of cuts that five levels can have.
    assert!(counts[..5].iter().all(|&count| count > 300), "{counts:?}");
}
