//! Weights that agree with totals: iterative proportional fitting (Deming and Stephan 1940), with
//! an exponential tilt for a given sum of values (Darroch and Ratcliff 1972). Of all weights that
//! agree, it finds those nearest to the first guess in relative entropy, so that the programs keep
//! their character as far as the totals permit.

/// Largest number of rounds.
const ROUNDS_MAX: usize = 5000;

/// Relative error at which a total counts as reached.
const PRECISION: f64 = 1e-9;

/// Relative error from which the totals contradict each other, or the first guess cannot reach
/// them.
const TOLERANCE: f64 = 1e-3;

/// One total that the weights must agree with.
pub(super) struct Constraint {
    /// Its name, for errors.
    pub(super) name: String,
    /// Its members among the weights.
    pub(super) members: Vec<usize>,
    /// The sum of the members.
    pub(super) target: f64,
    /// Values of the members: the target is then the sum of value times weight, and the sum of
    /// weights stays.
    pub(super) values: Option<Vec<f64>>,
}

impl Constraint {
    fn sum(&self, weights: &[f64]) -> f64 {
        self.members.iter().map(|&member| weights[member]).sum()
    }

    /// Relative distance from the target.
    fn error(&self, weights: &[f64]) -> f64 {
        let sum = match &self.values {
            None => self.sum(weights),
            Some(values) => self.members.iter().zip(values).map(|(&m, v)| weights[m] * v).sum(),
        };
        (sum - self.target).abs() / self.target.max(f64::MIN_POSITIVE)
    }

    fn apply(&self, weights: &mut [f64]) {
        match &self.values {
            None => {
                let factor = self.target / self.sum(weights).max(f64::MIN_POSITIVE);
                self.members.iter().for_each(|&member| weights[member] *= factor);
            }
            Some(values) => self.tilt(values, weights),
        }
    }

    /// Multiplies each weight by e^(slope * value), with the slope that gives the wanted mean value.
    fn tilt(&self, values: &[f64], weights: &mut [f64]) {
        let total = self.sum(weights);
        let top = values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let wanted = self.target / total / top;
        let before: Vec<(usize, f64, f64)> =
            self.members.iter().zip(values).map(|(&m, v)| (m, weights[m], v / top)).collect();
        let tilted =
            |slope: f64| before.iter().map(move |&(m, w, v)| (m, w * (slope * (v - 1.0)).exp(), v));
        let mean = |slope: f64| {
            let (sum, moment) =
                tilted(slope).fold((0.0, 0.0), |(s, m), (_, w, v)| (s + w, m + w * v));
            moment / sum
        };
        let (mut low, mut high) = (-400.0, 400.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if mean(middle) < wanted { low = middle } else { high = middle }
        }
        let sum: f64 = tilted(low).map(|(_, w, _)| w).sum();
        tilted(low).for_each(|(m, w, _)| weights[m] = w * total / sum);
    }
}

/// Changes the weights until they agree with every constraint.
pub(super) fn rake(weights: &mut [f64], constraints: &[Constraint]) -> Result<(), String> {
    let worst = |weights: &[f64]| {
        let errors = constraints.iter().map(|constraint| (constraint.error(weights), constraint));
        errors.max_by(|a, b| a.0.total_cmp(&b.0))
    };
    for _ in 0..ROUNDS_MAX {
        constraints.iter().for_each(|constraint| constraint.apply(weights));
        if worst(weights).is_none_or(|(error, _)| error < PRECISION) {
            return Ok(());
        }
    }
    match worst(weights) {
        Some((error, constraint)) if error.is_nan() || error > TOLERANCE => Err(format!(
            "{} cannot be reached with these programs and the other totals (off by {:.1}%)",
            constraint.name,
            error * 100.0
        )),
        _ => Ok(()),
    }
}

/// Whole numbers near the weights that sum up to `total` (largest remainders).
pub(super) fn whole(weights: &[f64], total: u64) -> Vec<u64> {
    let sum: f64 = weights.iter().sum();
    let factor = if sum > 0.0 { total as f64 / sum } else { 0.0 };
    let exact: Vec<f64> = weights.iter().map(|weight| weight * factor).collect();
    let mut counts: Vec<u64> = exact.iter().map(|value| value.floor() as u64).collect();
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_by(|&a, &b| exact[b].fract().total_cmp(&exact[a].fract()).then(a.cmp(&b)));
    let missing = total.saturating_sub(counts.iter().sum());
    for index in order.into_iter().cycle().take(missing as usize) {
        counts[index] += 1;
    }
    counts
}
