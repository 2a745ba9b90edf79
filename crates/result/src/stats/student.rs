//! Student's t distribution for whole degrees of freedom.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

/// The value that a t-distributed variable exceeds with probability `chance`, at most one half.
pub fn beyond(chance: f64, freedom: usize) -> f64 {
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    // An angle of 64 bits has no more digits than this halving finds.
    for _ in 0..64 {
        let angle = f64::midpoint(low, high);
        if (1.0 - within(angle, freedom)) / 2.0 > chance {
            low = angle;
        } else {
            high = angle;
        }
    }
    (freedom as f64).sqrt() * f64::tan(low)
}

/// The probability of a variable between -t and t, where `angle` is atan(t / sqrt(freedom)): Abramowitz and Stegun
/// (1964), 26.7.3 and 26.7.4.
fn within(angle: f64, freedom: usize) -> f64 {
    let (sin, cos) = angle.sin_cos();
    let is_odd = freedom % 2 == 1;
    let (first, mut term) = if is_odd { (3, cos) } else { (2, 1.0) };
    let mut sum = if freedom == 1 { 0.0 } else { term };
    for k in (first..freedom).step_by(2) {
        term *= (k - 1) as f64 / k as f64 * cos * cos;
        sum += term;
    }
    if is_odd { FRAC_2_PI * (angle + sin * sum) } else { sin * sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables of the distribution, e.g. NIST/SEMATECH e-Handbook, 1.3.6.7.2.
    #[test]
    fn values_are_those_of_the_tables() {
        for (chance, freedom, value) in [
            (0.05, 1, 6.314),
            (0.05, 2, 2.920),
            (0.025, 3, 3.182),
            (0.025, 4, 2.776),
            (0.001, 5, 5.893),
            (0.01, 10, 2.764),
            (0.005, 29, 2.756),
            (0.1, 30, 1.310),
            (0.05, 100, 1.660),
            (0.5, 7, 0.0),
        ] {
            let found = beyond(chance, freedom);
            assert!((found - value).abs() < 0.0006, "{chance} {freedom}: {found}, not {value}");
        }
    }
}
