//! Answers from simulated passes: a drive's rates times noise of a known kind.

use base::Rng;

use super::*;

/// Rates of a target in its three states, MB/s.
#[derive(Clone, Copy)]
struct Rates {
    fresh: f64,
    tortured: f64,
    after_trim: f64,
}

const NO_MARK: Rates = Rates { fresh: 500.0, tortured: 500.0, after_trim: 500.0 };
/// A file: writes to allocated blocks are faster.
const FASTER_WHEN_WRITTEN: Rates = Rates { fresh: 300.0, tortured: 600.0, after_trim: 300.0 };
const WORKS: Rates = Rates { fresh: 500.0, tortured: 200.0, after_trim: 490.0 };
const IGNORED: Rates = Rates { fresh: 500.0, tortured: 200.0, after_trim: 200.0 };
const SLIGHT_AND_IGNORED: Rates = Rates { fresh: 500.0, tortured: 460.0, after_trim: 460.0 };

/// Noise of a host: a factor for each pass in turn.
type Noise = fn(&mut Rng, &mut f64) -> f64;

/// From 0 up to 1.
fn unit(rng: &mut Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Normal with mean 0 and deviation 1 (sum of twelve).
fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| unit(rng)).sum::<f64>() - 6.0
}

const NOISES: [(&str, Noise); 9] = [
    ("none", |_, _| 1.0),
    ("1%", |rng, _| (0.01 * normal(rng)).exp()),
    ("10%", |rng, _| (0.1 * normal(rng)).exp()),
    ("50%", |rng, _| (0.5 * normal(rng)).exp()),
    ("stalls", |rng, _| if unit(rng) < 0.2 { 0.1 } else { (0.02 * normal(rng)).exp() }),
    ("a load in half of the passes", |rng, _| {
        let speed = if unit(rng) < 0.5 { 0.4 } else { 1.0 };
        speed * (0.01 * normal(rng)).exp()
    }),
    ("a load that stays for three passes", |rng, load| {
        if unit(rng) < 1.0 / 3.0 {
            *load = 1.0 - *load;
        }
        (0.01 * normal(rng) - *load).exp()
    }),
    ("a random walk", |rng, level| {
        *level += 0.15 * normal(rng);
        level.exp()
    }),
    ("a slowdown", |rng, passes| {
        *passes += 1.0;
        (0.01 * normal(rng) - 0.08 * *passes).exp()
    }),
];

fn compared(passes: &Passes) -> PassComparison {
    PassComparison::of(passes, (0.9, false), false).unwrap()
}

/// A run: rounds until they give an answer, at most `rounds_max`.
fn run(rates: Rates, noise: Noise, seed: u64, rounds_max: usize) -> PassComparison {
    let (mut rng, mut state) = (Rng::new(seed), 0.0);
    let mut pass = |rate: f64| rate * noise(&mut rng, &mut state);
    let mut passes = Passes { fresh: vec![pass(rates.fresh)], ..Passes::default() };
    for _ in 0..rounds_max {
        passes.tortured.push(pass(rates.tortured));
        passes.after_trim.push(pass(rates.after_trim));
        passes.fresh.push(pass(rates.fresh));
        if compared(&passes).answer().is_settled() {
            break;
        }
    }
    compared(&passes)
}

const TRIALS: u64 = 4_000;

/// Number of trials with this outcome.
fn count(rates: Rates, noise: Noise, outcome: VerdictOutcome) -> usize {
    let outcomes = (0..TRIALS).map(|seed| run(rates, noise, seed, 6).answer().outcome());
    outcomes.filter(|found| *found == outcome).count()
}

/// Two in a thousand.
const FALSE_MAX: usize = TRIALS as usize / 500;

#[test]
fn a_target_without_a_mark_gets_neither_yes_nor_no_whatever_the_noise() {
    for (name, noise) in NOISES {
        for rates in [NO_MARK, FASTER_WHEN_WRITTEN] {
            let [yes, no] = [VerdictOutcome::Pass, VerdictOutcome::Fail]
                .map(|claim| count(rates, noise, claim));
            assert!(yes + no <= FALSE_MAX, "{name}: {yes} yes and {no} no of {TRIALS}");
        }
    }
}

#[test]
fn a_trim_that_works_gets_no_no_and_one_that_does_not_no_yes() {
    for (name, noise) in NOISES {
        let no = count(WORKS, noise, VerdictOutcome::Fail);
        assert!(no <= FALSE_MAX, "{name}: {no} no of {TRIALS}");
        for rates in [IGNORED, SLIGHT_AND_IGNORED] {
            let yes = count(rates, noise, VerdictOutcome::Pass);
            assert!(yes <= FALSE_MAX, "{name}: {yes} yes of {TRIALS}");
        }
    }
}

#[test]
fn little_noise_lets_the_test_tell() {
    for (name, noise) in &NOISES[..2] {
        let told = |rates, claim| count(rates, *noise, claim) as u64;
        assert_eq!(told(WORKS, VerdictOutcome::Pass), TRIALS, "{name}");
        assert_eq!(told(IGNORED, VerdictOutcome::Fail), TRIALS, "{name}");
    }
    let (_, tenth) = NOISES[2];
    assert!(count(WORKS, tenth, VerdictOutcome::Pass) as u64 > TRIALS / 2);
    assert!(count(IGNORED, tenth, VerdictOutcome::Fail) as u64 > TRIALS / 2);
}

/// The answer without any variation.
fn answer(tortured: f64, after_trim: f64, zones: (f64, bool)) -> TrimAnswer {
    let passes = Passes {
        fresh: vec![1.0; 5],
        tortured: vec![tortured; 4],
        after_trim: vec![after_trim; 4],
    };
    PassComparison::of(&passes, zones, false).unwrap().answer()
}

#[test]
fn the_answer_follows_mark_mean_and_worst_zone() {
    let even = (0.9, false);
    assert_eq!(answer(0.4, 0.97, even), TrimAnswer::Works);
    assert_eq!(answer(0.4, 0.45, even), TrimAnswer::DoesNotWork);
    assert_eq!(answer(0.4, 0.85, even), TrimAnswer::InPart, "most comes back, but not 90%");
    assert_eq!(answer(0.4, 0.97, (0.3, true)), TrimAnswer::DoesNotWork, "one zone stays slow");
    assert_eq!(answer(0.4, 0.97, (0.45, false)), TrimAnswer::InPart, "one zone may be slow");
    assert_eq!(answer(0.99, 0.99, even), TrimAnswer::NoMark);
    assert_eq!(answer(1.5, 0.6, even), TrimAnswer::NoMark, "TRIM slows down, torture does not");
    assert_eq!(answer(0.93, 0.93, even), TrimAnswer::NoMark, "above 90% without any TRIM");
}

#[test]
fn few_rounds_tell_on_a_simulated_drive_only() {
    let round =
        Passes { fresh: vec![500.0, 495.0], tortured: vec![100.0], after_trim: vec![490.0] };
    let answer =
        |is_simulated| PassComparison::of(&round, (0.9, false), is_simulated).unwrap().answer();
    assert_eq!(answer(true), TrimAnswer::Works);
    assert_eq!(answer(false), TrimAnswer::TooFewRounds);
    assert!(PassComparison::of(&Passes::default(), (0.9, false), true).is_none());
    let noisy = Passes { fresh: vec![500.0, 250.0], ..round };
    let noisy = PassComparison::of(&noisy, (0.9, false), true).unwrap();
    assert_eq!(noisy.answer(), TrimAnswer::Noise, "the fresh passes differ by a half");
}

#[test]
fn two_kinds_of_data_fail_by_one_pass_by_one_and_are_silent_only_together() {
    let kind = |rates| run(rates, |_, _| 1.0, 1, 6);
    let (pass, fail, silent) = (kind(WORKS), kind(IGNORED), kind(NO_MARK));
    let both = |first, second| {
        verdict(&[("incompressible", first), ("repeating", second)]).expect("two kinds").outcome
    };
    assert_eq!(both(pass, silent), VerdictOutcome::Pass);
    assert_eq!(both(silent, pass), VerdictOutcome::Pass);
    assert_eq!(both(pass, pass), VerdictOutcome::Pass);
    assert_eq!(both(silent, silent), VerdictOutcome::Inconclusive);
    for other in [pass, fail, silent] {
        assert_eq!(both(fail, other), VerdictOutcome::Fail);
        assert_eq!(both(other, fail), VerdictOutcome::Fail);
    }
    assert_eq!(verdict(&[]), None);
}

#[test]
fn the_verdict_names_both_kinds_and_the_noise() {
    let noise: Noise = |rng, _| (0.01 * normal(rng)).exp();
    let kinds =
        [("incompressible", run(WORKS, noise, 1, 6)), ("repeating", run(NO_MARK, noise, 2, 6))];
    assert_eq!(
        verdict(&kinds).expect("two kinds").text,
        "TRIM works: in 4 rounds with incompressible data a linear pass after torture does 40% (36% to 44%) of the \
         fresh speed, after TRIM 99% (97% to 101%) with 90% in the worst zone, and the 5 fresh passes differ by up \
         to 2%; in 4 rounds with repeating data a linear pass after torture does 100% (98% to 103%) of the fresh \
         speed, after TRIM 100% (97% to 104%) with 90% in the worst zone, and the 5 fresh passes differ by up to 3% \
         (cannot tell: torture left no mark); ranges hold with 99.9% confidence on either side."
    );
    let hidden = run(NO_MARK, NOISES[3].1, 3, 2);
    assert_eq!(
        verdict(&[("repeating", hidden)]).expect("a kind").text,
        "This run does not show whether TRIM works, because fewer than four rounds do not show the noise: in 2 \
         rounds with repeating data a linear pass after torture does 67% of the fresh speed, after TRIM 96% with \
         90% in the worst zone, and the 3 fresh passes differ by up to 45%."
    );
    let hidden = run(NO_MARK, NOISES[3].1, 10, 6);
    assert_eq!(
        verdict(&[("repeating", hidden)]).expect("a kind").text,
        "This run does not show whether TRIM works, because torture left no mark: in 4 rounds with repeating data a \
         linear pass after torture does 99% (14% to 681%) of the fresh speed, after TRIM 88% (12% to 635%) with 90% \
         in the worst zone, and the 5 fresh passes differ by up to 294%; ranges hold with 99.9% confidence on either \
         side."
    );
}
