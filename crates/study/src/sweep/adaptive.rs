//! The rounds of an adaptive design: more points where the goal is predicted worst.
//!
//! Every point owns the part of the space that is nearest to it, its Voronoi cell; its error is the
//! difference of its goal and its prediction by other points, which a leave-one-out cross validation
//! gives (Xu, Liu, Wang and Jiang 2014: A robust error-pursuing sequential sampling approach for global
//! metamodeling based on Voronoi diagram and cross validation, J. Mech. Des. 136(7)). A new point has the
//! greatest product of the error of its cell and of its distance from all points, so that points do not
//! crowd (Jin, Chen and Sudjianto 2002: On sequential sampling for global metamodeling in engineering
//! design, DETC2002/DAC-34092).
//!
//! Simplification: the prediction is the mean of the nearest other points weighted by inverse distance
//! (Shepard 1968) where the papers use kriging, and random candidates stand for the cells.

use std::collections::BTreeSet;

use base::Rng;
use run::RunError;

use super::design::{Point, share};
use super::spec::{Axis, Spec, usage};

/// Candidates for each point of a round.
const CANDIDATES: usize = 200;
/// The most candidates of a round.
const CANDIDATES_MAX: usize = 20_000;
/// Share of the mean error that every cell has at least, so that flat parts are looked at too;
/// assumed.
const ERROR_FLOOR: f64 = 0.1;
/// Nearest points for each axis that a prediction uses: crowded parts must not outweigh the near points
/// of flat ones.
const NEIGHBOURS: usize = 2;
/// A square distance below which points count as one.
const NEAR: f64 = 1e-18;

/// A possible point of the next round.
struct Candidate {
    point: Point,
    places: Vec<f64>,
    /// Error of the cell in which it lies.
    error: f64,
    /// Square distance from the nearest point.
    distance: f64,
}

/// The next points after `points`, whose goals are known, or `None` where a run has none.
///
/// # Errors
/// [`RunError::Usage`] if no run has the goal.
pub(super) fn round(
    spec: &Spec,
    points: &[Point],
    goals: &[Option<f64>],
    count: usize,
) -> Result<Vec<Point>, RunError> {
    if goals.iter().all(Option::is_none) {
        let goal = spec.goal.as_deref().unwrap_or_default();
        return Err(usage(format!("no run of the first round has the figure `goal = \"{goal}\"`")));
    }
    let places: Vec<_> = points.iter().map(|point| places(spec, point)).collect();
    let errors = errors(spec, &places, goals);
    let mut candidates = candidates(spec, points, count)?;
    for candidate in &mut candidates {
        for (place, error) in places.iter().zip(&errors) {
            candidate.see(spec, place, Some(*error));
        }
    }
    let mut chosen = Vec::with_capacity(count);
    while chosen.len() < count && !candidates.is_empty() {
        let best = best(&candidates);
        let Candidate { point, places, .. } = candidates.swap_remove(best);
        candidates.retain(|candidate| candidate.point != point);
        candidates.iter_mut().for_each(|candidate| candidate.see(spec, &places, None));
        chosen.push(point);
    }
    Ok(chosen)
}

impl Candidate {
    /// Notes a point; the nearest one of an earlier round owns the cell.
    fn see(&mut self, spec: &Spec, place: &[f64], error: Option<f64>) {
        let distance = distance(spec, &self.places, place);
        if distance < self.distance {
            self.distance = distance;
            self.error = error.unwrap_or(self.error);
        }
    }

    fn score(&self) -> f64 {
        self.error * self.distance.sqrt()
    }
}

/// The candidate with the greatest score, of equals the first.
fn best(candidates: &[Candidate]) -> usize {
    let mut best = 0;
    for (index, candidate) in candidates.iter().enumerate() {
        if candidate.score() > candidates[best].score() {
            best = index;
        }
    }
    best
}

/// Random points that differ from all earlier ones and from each other: at least `count`.
fn candidates(spec: &Spec, points: &[Point], count: usize) -> Result<Vec<Candidate>, RunError> {
    let mut rng = Rng::split(spec.seed, &format!("adaptive {}", points.len()));
    let mut known: BTreeSet<Point> = points.iter().cloned().collect();
    let wanted = (count * CANDIDATES).min(CANDIDATES_MAX).max(count);
    let mut candidates = Vec::with_capacity(wanted);
    // A description whose points are at most a quarter of its combinations has enough new ones.
    for drawn in 0.. {
        if candidates.len() >= wanted || (drawn >= wanted && candidates.len() >= count) {
            break;
        }
        let axes = spec.vary.iter();
        let point: Point =
            axes.map(|(name, axis)| axis.at(name, share(&mut rng))).collect::<Result<_, _>>()?;
        if known.insert(point.clone()) {
            let places = places(spec, &point);
            candidates.push(Candidate { point, places, error: 0.0, distance: f64::INFINITY });
        }
    }
    Ok(candidates)
}

fn places(spec: &Spec, point: &Point) -> Vec<f64> {
    let axes = spec.vary.iter().zip(point);
    axes.map(|((name, axis), value)| axis.place(name, value)).collect()
}

/// The square distance in the unit cube; two values of a list are one side apart.
fn distance(spec: &Spec, a: &[f64], b: &[f64]) -> f64 {
    let of_axis = |((axis, a), b): ((&Axis, &f64), &f64)| match axis {
        Axis::Listed(_) => f64::from(u8::from((a - b).abs() > 0.5)),
        Axis::Range(_) => (a - b) * (a - b),
    };
    spec.vary.values().zip(a).zip(b).map(of_axis).sum()
}

/// The error of each point: its goal beside the prediction of the others, and at least a share of the mean
/// error. A point without a goal has the least; if all points agree, only distances count.
fn errors(spec: &Spec, places: &[Vec<f64>], goals: &[Option<f64>]) -> Vec<f64> {
    let error = |index: usize| {
        let predicted = predicted(spec, places, goals, index);
        Some((goals[index]? - predicted?).abs())
    };
    let errors: Vec<_> = (0..places.len()).map(error).collect();
    let known = errors.iter().flatten().count().max(1);
    let mean = errors.iter().flatten().sum::<f64>() / known as f64;
    let floor = if mean > 0.0 { mean * ERROR_FLOOR } else { 1.0 };
    errors.into_iter().map(|error| error.unwrap_or_default().max(floor)).collect()
}

/// The prediction at a point by the nearest others; `None` if no other has a goal.
fn predicted(spec: &Spec, places: &[Vec<f64>], goals: &[Option<f64>], index: usize) -> Option<f64> {
    let others = goals.iter().enumerate().filter(|(other, _)| *other != index);
    let distance_of = |other: usize| distance(spec, &places[index], &places[other]).max(NEAR);
    let mut others: Vec<_> = others
        .filter_map(|(other, goal)| goal.map(|goal| (distance_of(other), other, goal)))
        .collect();
    let nearest = (NEIGHBOURS * spec.vary.len()).min(others.len());
    if nearest < others.len() {
        others.select_nth_unstable_by(nearest, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    }
    others.truncate(nearest);
    // The sum of floats depends on their order.
    others.sort_unstable_by_key(|(_, other, _)| *other);
    let (mut sum, mut weights) = (0.0, 0.0);
    for (distance, _, goal) in others {
        let weight = spec.vary.keys().fold(1.0, |weight, _| weight / distance);
        sum += weight * goal;
        weights += weight;
    }
    (weights > 0.0).then(|| sum / weights)
}

#[cfg(test)]
mod tests {
    use super::super::design;
    use super::*;

    fn spec(design: &str, points: usize) -> Spec {
        let rounds = if design == "adaptive" { "goal = 'waf'\nround = 10\n" } else { "" };
        let text = format!(
            "design = '{design}'\npoints = {points}\n{rounds}[vary]\n\
             a = {{ from = 0.0, to = 1.0 }}\nb = {{ from = 1.0, to = 1000.0, log = true }}"
        );
        Spec::parse(&text).unwrap()
    }

    /// A steep front in one corner of a flat plane.
    fn goal(spec: &Spec, point: &Point) -> f64 {
        let places = places(spec, point);
        let from_front = (places[0] - 0.8) + (places[1] - 0.7);
        1.0 / (1.0 + (from_front * -40.0).exp())
    }

    fn adapted(spec: &Spec) -> Vec<Point> {
        let mut points = design::points(spec).unwrap();
        while points.len() < spec.points.unwrap() as usize {
            let goals: Vec<_> = points.iter().map(|point| Some(goal(spec, point))).collect();
            points.extend(round(spec, &points, &goals, 10).unwrap());
        }
        points
    }

    /// The mean error of the prediction by `points` at places of a fine grid.
    fn mean_error(spec: &Spec, points: &[Point]) -> f64 {
        let mut known: Vec<_> = points.iter().map(|point| places(spec, point)).collect();
        let mut goals: Vec<_> = points.iter().map(|point| Some(goal(spec, point))).collect();
        known.push(vec![0.0, 0.0]);
        goals.push(None);
        let (last, mut sum) = (points.len(), 0.0);
        for (a, b) in (0..40).flat_map(|a| (0..40).map(move |b| (a, b))) {
            known[last] = vec![(f64::from(a) + 0.5) / 40.0, (f64::from(b) + 0.5) / 40.0];
            let point: Point = spec
                .vary
                .iter()
                .zip(&known[last])
                .map(|((n, x), s)| x.at(n, *s).unwrap())
                .collect();
            sum += (goal(spec, &point) - predicted(spec, &known, &goals, last).unwrap()).abs();
        }
        sum / 1600.0
    }

    #[test]
    fn adaptive_points_resolve_a_front_better_than_as_many_even_ones() {
        let (adaptive, even) = (spec("adaptive", 100), spec("lhs", 100));
        let points = adapted(&adaptive);
        assert_eq!(points.iter().collect::<BTreeSet<_>>().len(), 100, "no point twice");
        let (mine, others) =
            (mean_error(&adaptive, &points), mean_error(&even, &design::points(&even).unwrap()));
        assert!(mine < 0.6 * others, "{mine} against {others}");
    }

    #[test]
    fn the_same_goals_give_the_same_points_and_another_seed_gives_others() {
        let spec = spec("adaptive", 40);
        assert_eq!(adapted(&spec), adapted(&spec));
        let other = Spec { seed: 2, ..spec.clone() };
        assert_ne!(adapted(&spec), adapted(&other));
    }

    #[test]
    fn failed_runs_and_lists_have_a_place_in_a_round_too() {
        let spec = Spec::parse(
            "design = 'adaptive'\ngoal = 'waf'\npoints = 8\nround = 4\n[vary]\n\
             a = ['x', 'y']\nb = { from = 1, to = 40 }",
        );
        let spec = spec.unwrap();
        let points = design::points(&spec).unwrap();
        let more = round(&spec, &points, &[Some(1.0), None, None, Some(2.0)], 4).unwrap();
        assert_eq!(points.iter().chain(&more).collect::<BTreeSet<_>>().len(), 8);
        let none = round(&spec, &points, &[None; 4], 4).unwrap_err().to_string();
        assert!(none.contains("waf"), "{none}");
    }
}
