//! From a description to its points. Each axis draws from its own generator, so that another axis
//! changes no values of it.

use base::Rng;
use run::RunError;

use super::spec::{Axis, Design, Range, Spec, text};

/// The values of one point, in the order of the axes.
pub(super) type Point = Vec<String>;

/// The points of a sweep that are known before any run, in their order: all of them, but only the
/// first round of an adaptive design.
pub(super) fn points(spec: &Spec) -> Result<Vec<Point>, RunError> {
    let count = spec.points_count()?;
    let is_adaptive = spec.design == Design::Adaptive;
    let count = if is_adaptive { count.min(spec.round_length()) } else { count };
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let columns = match spec.design {
        Design::Grid => grid(spec, count)?,
        Design::Random | Design::Lhs | Design::Adaptive => {
            let axes = spec.vary.iter();
            axes.map(|(name, axis)| drawn(spec, name, axis, count)).collect::<Result<_, _>>()?
        }
    };
    let mut columns: Vec<_> = columns.into_iter().map(Vec::into_iter).collect();
    let mut next = || columns.iter_mut().filter_map(Iterator::next).collect();
    Ok((0..count).map(|_| next()).collect())
}

/// Every combination; the last axis changes fastest.
fn grid(spec: &Spec, count: usize) -> Result<Vec<Vec<String>>, RunError> {
    let mut repeats = count;
    let mut columns = Vec::new();
    for (name, axis) in &spec.vary {
        let values = grid_values(name, axis)?;
        repeats /= values.len();
        let value = |row: usize| values[row / repeats % values.len()].clone();
        columns.push((0..count).map(value).collect());
    }
    Ok(columns)
}

fn grid_values(name: &str, axis: &Axis) -> Result<Vec<String>, RunError> {
    match axis {
        Axis::Listed(values) => values.iter().map(|value| text(name, value)).collect(),
        Axis::Range(range) => {
            let steps = range.steps.unwrap_or(2);
            let share = |step: u32| f64::from(step) / f64::from(steps - 1);
            Ok((0..steps).map(|step| range.at(share(step))).collect())
        }
    }
}

/// The values of an axis whose points are drawn.
fn drawn(spec: &Spec, name: &str, axis: &Axis, count: usize) -> Result<Vec<String>, RunError> {
    let mut rng = Rng::split(spec.seed, name);
    let mut strata: Vec<usize> = (0..count).collect();
    let is_stratified = matches!(spec.design, Design::Lhs | Design::Adaptive);
    if is_stratified {
        for place in (1..count).rev() {
            strata.swap(place, rng.below(place as u64 + 1) as usize);
        }
    }
    let values = strata.into_iter().map(|stratum| {
        let share = share(&mut rng);
        if is_stratified { (stratum as f64 + share) / count as f64 } else { share }
    });
    values.map(|share| axis.at(name, share)).collect()
}

/// A number from 0 to below 1.
pub(super) fn share(rng: &mut Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

impl Axis {
    /// The value at a share of the axis, from 0 to below 1.
    pub(super) fn at(&self, name: &str, share: f64) -> Result<String, RunError> {
        match self {
            Self::Listed(values) => {
                let place = (share * values.len() as f64) as usize;
                text(name, &values[place.min(values.len() - 1)])
            }
            Self::Range(range) => Ok(range.at(share)),
        }
    }

    /// The place of a value: the share of an interval, the number in a list.
    pub(super) fn place(&self, name: &str, value: &str) -> f64 {
        match self {
            Self::Listed(values) => {
                let is_it = |listed: &_| text(name, listed).is_ok_and(|listed| listed == value);
                values.iter().position(is_it).unwrap_or_default() as f64
            }
            Self::Range(range) => value.parse().map_or(0.0, |value| range.share_of(value)),
        }
    }
}

impl Range {
    fn at(&self, share: f64) -> String {
        let (from, to) = self.ends().unwrap_or_default();
        let value = if self.log {
            (from.ln() + (to.ln() - from.ln()) * share).exp()
        } else {
            from + (to - from) * share
        };
        if self.is_whole() { format!("{value:.0}") } else { value.to_string() }
    }

    fn share_of(&self, value: f64) -> f64 {
        let (from, to) = self.ends().unwrap_or_default();
        if self.log {
            (value.ln() - from.ln()) / (to.ln() - from.ln())
        } else {
            (value - from) / (to - from)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn spec(text: &str) -> Spec {
        Spec::parse(text).unwrap()
    }

    /// The values of the axis in this place.
    fn column(points: &[Point], axis: usize) -> Vec<String> {
        points.iter().map(|point| point[axis].clone()).collect()
    }

    #[test]
    fn a_grid_has_every_combination_once() {
        let points = points(&spec(
            "[vary]\n\"gc.policy\" = ['greedy', 'fifo']\nspare = { from = 10, to = 1000, steps = 3, log = true }",
        ));
        let points = points.unwrap();
        assert_eq!(column(&points, 1), ["10", "100", "1000", "10", "100", "1000"]);
        assert_eq!(points.iter().collect::<BTreeSet<_>>().len(), 6);
    }

    #[test]
    fn a_latin_hypercube_has_one_point_in_every_part_of_every_axis() {
        let text = "design = 'lhs'\npoints = 20\n[vary]\na = { from = 0.0, to = 20.0 }\n\
                    b = ['x', 'y']\nc = { from = 0, to = 2000 }";
        let points = points(&spec(text)).unwrap();
        let part = |text: &String| text.parse::<f64>().unwrap() as usize;
        let a: BTreeSet<_> = column(&points, 0).iter().map(part).collect();
        assert_eq!(a.len(), 20);
        assert_eq!(column(&points, 1).iter().filter(|b| *b == "x").count(), 10);
        assert!(column(&points, 2).iter().all(|c| c.parse::<u32>().is_ok()));
    }

    #[test]
    fn another_axis_changes_no_values_of_this_one() {
        let both = "design = 'random'\npoints = 9\n[vary]\na = { from = 0.0, to = 1.0 }\n";
        let alone = column(&points(&spec(both)).unwrap(), 0);
        let more = format!("{both}b = [1, 2]");
        assert_eq!(column(&points(&spec(&more)).unwrap(), 0), alone);
        let other = format!("seed = 2\n{both}");
        assert_ne!(column(&points(&spec(&other)).unwrap(), 0), alone);
    }

    #[test]
    fn a_faulty_description_says_what_was_expected() {
        for (text, expected) in [
            ("[vary]", "at least one"),
            ("[vary]\na = []", "no value"),
            ("[vary]\na = { from = 1, to = 2 }", "steps"),
            ("[vary]\na = { from = 2, to = 1, steps = 2 }", "from < to"),
            ("[vary]\na = { from = 0, to = 1, steps = 2, log = true }", "above 0"),
            ("design = 'lhs'\n[vary]\na = [1]", "points = 100"),
            ("design = 'adaptive'\npoints = 9\n[vary]\na = { from = 0.0, to = 1.0 }", "goal"),
            ("goal = 'waf_steady'\n[vary]\na = [1]", "adaptive"),
            (
                "design = 'adaptive'\ngoal = 'waf_steady'\npoints = 9\n[vary]\na = { from = 1, to = 9 }",
                "quarter",
            ),
            (
                "metrics = ['waf_steady', 'latency_ns_p9x']\n[vary]\na = [1]",
                "there is no metric `latency_ns_p9x`",
            ),
            (
                "design = 'adaptive'\ngoal = 'waff'\npoints = 9\n[vary]\na = { from = 0.0, to = 1.0 }",
                "there is no metric `waff`",
            ),
            ("points = 3\n[vary]\na = [1]", "grid"),
            ("design = 'lhs'\npoints = 9\n[vary]\na = { from = 1, to = 2, steps = 2 }", "draws"),
            ("repeat = 0\n[vary]\na = [1]", "at least 1"),
            ("[fixed]\na = 1\n[vary]\na = [1]", "[fixed]"),
            ("[vary]\na = [[1]]", "array"),
            ("colour = 1\n[vary]\na = [1]", "colour"),
            ("design = 'random'\npoints = 100000000\n[vary]\na = [1]", "1000000"),
        ] {
            let message = Spec::parse(text).unwrap_err().to_string();
            assert!(message.contains(expected), "{text}: {message}");
        }
    }
}
