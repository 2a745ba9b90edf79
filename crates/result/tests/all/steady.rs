//! Does steady-state detection agree with other programs? Their rules are implemented here
//! independently, from their documentation and their arithmetic, and compared on random series.

use base::Rng;
use result::stats::changepoint::Shape;
use result::stats::steady::{PTS_WINDOW, Window, pts_steady};

const SERIES: u64 = 10_000;

/// The rule of TKperf (`StdyState.checkSteadyState`): a least-squares fit of `k x + d` by the
/// normal equations over the numbers of the rounds; four times the slope against a tenth of the
/// mean.
fn tkperf(first_round: usize, values: &[f64]) -> bool {
    let n = values.len() as f64;
    let rounds: Vec<f64> = (0..values.len()).map(|i| (first_round + i) as f64).collect();
    let (sum_x, sum_y): (f64, f64) = (rounds.iter().sum(), values.iter().sum());
    let sum_xx: f64 = rounds.iter().map(|x| x * x).sum();
    let sum_xy: f64 = rounds.iter().zip(values).map(|(x, y)| x * y).sum();
    let k = (n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x);
    let average = sum_y / n;
    let max = values.iter().copied().fold(f64::MIN, f64::max);
    let min = values.iter().copied().fold(f64::MAX, f64::min);
    max - min <= average * 0.20 && (k * 4.0).abs() <= average * 0.10
}

/// The rule of CloudHarmony's block-storage suite: the regression line, by correlation and standard
/// deviations, from the first to the last round of the window. Its ends may lie a tenth of the mean
/// apart, and the values a fifth.
fn cloudharmony(values: &[f64]) -> bool {
    let n = values.len() as f64;
    let mean = |of: &[f64]| of.iter().sum::<f64>() / n;
    let rounds: Vec<f64> = (1..=values.len()).map(|round| round as f64).collect();
    let (mean_x, mean_y) = (mean(&rounds), mean(values));
    let deviation =
        |of: &[f64], mean: f64| (of.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
    let (sx, sy) = (deviation(&rounds, mean_x), deviation(values, mean_y));
    let covariance =
        rounds.iter().zip(values).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>() / n;
    let slope = if sy == 0.0 { 0.0 } else { covariance / (sx * sy) * sy / sx };
    let line = |x: f64| mean_y + slope * (x - mean_x);
    let (first, last) = (line(rounds[0]), line(rounds[values.len() - 1]));
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let range = sorted[values.len() - 1] - sorted[0];
    range <= 0.2 * mean_y && (last - first).abs() <= 0.1 * mean_y
}

/// fio's `slope` criterion (`steadystate.c`): the slope per sample from running sums, in percent of the
/// mean, below the limit.
fn fio_slope(values: &[f64], limit_percent: f64) -> bool {
    let n = values.len() as f64;
    let (mut sum_x, mut sum_y, mut sum_xx, mut sum_xy) = (0.0, 0.0, 0.0, 0.0);
    for (x, y) in (0_u32..).map(f64::from).zip(values) {
        sum_x += x;
        sum_y += y;
        sum_xx += x * x;
        sum_xy += x * y;
    }
    let slope = (sum_xy - sum_x * sum_y / n) / (sum_xx - sum_x * sum_x / n);
    (100.0 * slope / (sum_y / n)).abs() < limit_percent
}

/// A series like that of a drive: a fall of some length to a level, with scatter and a trend.
fn series(rng: &mut Rng) -> Vec<f64> {
    let share = |rng: &mut Rng| rng.below(1_000_000) as f64 / 1e6;
    let level = 10.0_f64.powf(1.0 + 5.0 * share(rng));
    let (height, decay) = (10.0 * share(rng), 1.0 + 10.0 * share(rng));
    let (scatter, trend) = (0.3 * share(rng), 0.06 * (share(rng) - 0.5));
    let rounds = 5 + rng.below(26);
    let value = |round: f64, rng: &mut Rng| {
        let fall = height * (-round / decay).exp();
        level * (1.0 + fall + trend * round + scatter * (share(rng) - 0.5)).max(0.01)
    };
    (0..rounds).map(|round| value(round as f64, rng)).collect()
}

/// Values so close to a limit that the order of additions decides; they cannot test a rule.
fn is_on_the_edge(window: &Window) -> bool {
    let near = |value: f64, limit: f64| (value / limit - 1.0).abs() < 1e-9;
    near(window.range, 0.2 * window.mean) || near(window.slope_excursion(), 0.1 * window.mean)
}

#[test]
fn ten_thousand_series_are_judged_as_two_public_suites_judge_them() {
    let mut rng = Rng::split(1, "steady");
    let (mut steady, mut unsteady, mut settled) = (0, 0, 0);
    for _ in 0..SERIES {
        let values = series(&mut rng);
        let mut first = None;
        for end in PTS_WINDOW..=values.len().min(25) {
            let window = Window::last(&values[..end], PTS_WINDOW).unwrap();
            let of_window = &values[window.start..end];
            if is_on_the_edge(&window) {
                continue;
            }
            let ours = window.is_pts_steady();
            assert_eq!(ours, tkperf(window.start + 1, of_window), "{of_window:?}");
            assert_eq!(ours, cloudharmony(of_window), "{of_window:?}");
            if ours {
                steady += 1;
            } else {
                unsteady += 1;
            }
            first = first.or(ours.then_some(window));
        }
        assert_eq!(pts_steady(&values), first, "{values:?}");
        settled += u32::from(first.is_some());
    }
    // The series exercise both answers, and both halves of the loop.
    assert!(steady > 10_000 && unsteady > 10_000, "{steady} steady, {unsteady} not");
    assert!((2_000..9_900).contains(&settled), "{settled}");
}

#[test]
fn ten_thousand_windows_are_as_level_as_fio_says() {
    let mut rng = Rng::split(2, "slope");
    let mut level = 0;
    for _ in 0..SERIES {
        let values = series(&mut rng);
        let window = Window::last(&values, values.len()).unwrap();
        let ours = window.is_level(0.03);
        assert_eq!(ours, fio_slope(&values, 3.0), "{values:?}");
        level += u64::from(ours);
    }
    assert!((500..SERIES - 500).contains(&level), "{level}");
}

/// Rates of a drive after a sequential fill, one for each bucket of host writes, from an
/// independent program: 1 / WAF. One series for each over-provisioning, with the places of its
/// buckets.
fn recorded() -> Vec<(f64, Vec<f64>, Vec<f64>)> {
    let lines = include_str!("../fixtures/wa_transient.csv").lines().skip(1);
    let mut recorded: Vec<(f64, Vec<f64>, Vec<f64>)> = Vec::new();
    for line in lines {
        let fields: Vec<f64> = line.split(',').map(|field| field.parse().unwrap()).collect();
        let &[alpha, place, waf] = &fields[..] else { panic!("three fields in {line}") };
        if recorded.last().is_none_or(|(last, ..)| *last != alpha) {
            recorded.push((alpha, Vec::new(), Vec::new()));
        }
        let (_, places, rates) = recorded.last_mut().unwrap();
        places.push(place);
        rates.push(1.0 / waf);
    }
    recorded
}

#[test]
fn recorded_series_are_judged_as_two_public_suites_judge_them() {
    let (mut steady, mut unsteady) = (0, 0);
    for (_, _, rates) in recorded() {
        for end in PTS_WINDOW..=rates.len() {
            let window = Window::last(&rates[..end], PTS_WINDOW).unwrap();
            let of_window = &rates[window.start..end];
            let ours = window.is_pts_steady();
            assert_eq!(ours, tkperf(window.start + 1, of_window), "{of_window:?}");
            assert_eq!(ours, cloudharmony(of_window), "{of_window:?}");
            assert_eq!(window.is_level(0.005), fio_slope(of_window, 0.5), "{of_window:?}");
            if ours { steady += 1 } else { unsteady += 1 }
        }
    }
    assert!(steady > 100 && unsteady >= 3, "{steady}, {unsteady}");
}

/// Theory predicts the fall of each recorded series (when the spare, alpha - 1 of the data, has
/// been written) and its final level. Each bucket represents ten seconds here.
#[test]
fn recorded_series_fall_and_settle_where_theory_says() {
    const SECONDS: usize = 10;
    for (alpha, places, rates) in recorded() {
        let values: Vec<f64> = rates.iter().flat_map(|&rate| [rate; SECONDS]).collect();
        let shape = Shape::of(&values);
        let half = places[0];
        let bucket = places.iter().position(|place| alpha - 1.0 < place + half).unwrap();
        assert_eq!(shape.fall_start, Some(bucket * SECONDS), "alpha {alpha}: {shape:?}");
        let settled = shape.steady_start.expect("settles");
        // The first turn of the log, alpha / A of the data, is what it rings in.
        let turn = alpha * rates[rates.len() - 1];
        let place = places[settled / SECONDS] - half;
        assert!(place <= alpha - 1.0 + 2.0 * turn, "alpha {alpha}: settles at {place}");
        let level = shape.level_from(settled).unwrap();
        let last = rates[rates.len() - 1];
        assert!((level / last - 1.0).abs() < 0.02, "alpha {alpha}: {level}, ends with {last}");
    }
}
