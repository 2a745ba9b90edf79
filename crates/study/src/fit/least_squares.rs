//! Linear least squares of few values: steps within limits, and the deviations of the values.

/// A sum of squares near a point.
#[derive(Clone, Debug)]
pub(super) struct Linear {
    /// The terms at the point.
    pub(super) terms: Vec<f64>,
    /// The derivatives of the terms by each value, or `None` for a value that stays.
    pub(super) columns: Vec<Option<Vec<f64>>>,
}

impl Linear {
    /// The step to the least sum of squares, with every value within limits around its place. A value that would leave
    /// them goes to the limit, and the others make up for it.
    pub(super) fn step(&self, limits: &[(f64, f64)]) -> Vec<f64> {
        let mut step = vec![0.0; self.columns.len()];
        let mut free = self.free();
        loop {
            let mut terms = self.terms.clone();
            for (place, column) in self.columns.iter().enumerate() {
                let moved = column.iter().flatten().map(|slope| slope * step[place]);
                terms.iter_mut().zip(moved).for_each(|(term, moved)| *term += moved);
            }
            let wanted: Vec<f64> =
                free.iter().map(|place| -dot(self.column(*place), &terms)).collect();
            let moves = solved(&self.products(&free), &wanted);
            let beyond = |(index, place): (usize, &usize)| {
                let (low, high) = limits[*place];
                (index, (low - moves[index]).max(moves[index] - high))
            };
            let furthest = free.iter().enumerate().map(beyond).max_by(|a, b| a.1.total_cmp(&b.1));
            let Some((index, _)) = furthest.filter(|(_, beyond)| *beyond > 0.0) else {
                free.iter().zip(moves).for_each(|(place, move_)| step[*place] = move_);
                return step;
            };
            let place = free.remove(index);
            step[place] = moves[index].clamp(limits[place].0, limits[place].1);
        }
    }

    /// The standard deviation of each value with all others unknown; 0 for one that stays.
    pub(super) fn deviations(&self) -> Vec<f64> {
        let free = self.free();
        let products = self.products(&free);
        let mut deviations = vec![0.0; self.columns.len()];
        for (index, place) in free.iter().enumerate() {
            let mut unit = vec![0.0; free.len()];
            unit[index] = 1.0;
            deviations[*place] = solved(&products, &unit)[index].sqrt();
        }
        deviations
    }

    fn free(&self) -> Vec<usize> {
        (0..self.columns.len()).filter(|place| self.columns[*place].is_some()).collect()
    }

    fn column(&self, place: usize) -> &[f64] {
        self.columns[place].as_deref().unwrap_or_default()
    }

    /// The products of the columns of some values.
    fn products(&self, free: &[usize]) -> Vec<Vec<f64>> {
        let with = |one: &usize, other: &usize| dot(self.column(*one), self.column(*other));
        free.iter().map(|one| free.iter().map(|other| with(one, other)).collect()).collect()
    }
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

/// The solution of a symmetric positive definite system, by Cholesky's method.
fn solved(matrix: &[Vec<f64>], wanted: &[f64]) -> Vec<f64> {
    let count = wanted.len();
    let mut lower = vec![vec![0.0; count]; count];
    for row in 0..count {
        for column in 0..=row {
            let known = dot(&lower[row][..column], &lower[column][..column]);
            let rest: f64 = matrix[row][column] - known;
            lower[row][column] = if row == column {
                rest.max(f64::MIN_POSITIVE).sqrt()
            } else {
                rest / lower[column][column]
            };
        }
    }
    let mut found = wanted.to_vec();
    for row in 0..count {
        found[row] = (found[row] - dot(&lower[row][..row], &found[..row])) / lower[row][row];
    }
    for row in (0..count).rev() {
        let known: f64 = (row + 1..count).map(|below| lower[below][row] * found[below]).sum();
        found[row] = (found[row] - known) / lower[row][row];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Terms `x + 2 y - 5`, `x - y - 2` and `y / 10` at (0, 0), and a value that stays.
    fn linear() -> Linear {
        let columns = vec![Some(vec![1.0, 1.0, 0.0]), None, Some(vec![2.0, -1.0, 0.1])];
        Linear { terms: vec![-5.0, -2.0, 0.0], columns }
    }

    const FAR: (f64, f64) = (-100.0, 100.0);

    #[test]
    fn a_step_ends_at_the_least_sum_of_squares() {
        let step = linear().step(&[FAR; 3]);
        assert!((step[0] - 3.0).abs() < 0.01 && (step[2] - 1.0).abs() < 0.01, "{step:?}");
        assert!(step[1].abs() < 1e-12, "{step:?}");
    }

    #[test]
    fn a_value_stops_at_its_limit_and_the_others_make_up_for_it() {
        let step = linear().step(&[(-1.0, 1.0), FAR, FAR]);
        // Beside x = 1 the least of (2 y - 4)^2 + (y + 1)^2 is at y = 7/5.
        assert!((step[0] - 1.0).abs() < 1e-12 && (step[2] - 1.4).abs() < 0.01, "{step:?}");
    }

    #[test]
    fn deviations_are_those_with_all_other_values_unknown() {
        // The inverse of [[2, 1], [1, 5]] has the diagonal 5/9 and 2/9.
        let deviations = linear().deviations();
        assert!((deviations[0] - (5.0_f64 / 9.0).sqrt()).abs() < 0.01, "{deviations:?}");
        assert!((deviations[2] - (2.0_f64 / 9.0).sqrt()).abs() < 0.01, "{deviations:?}");
        assert!(deviations[1].abs() < 1e-12, "{deviations:?}");
    }
}
