//! The first guess, from formulas.

use super::values::SPARE_MAX;

/// Steps of a bisection: more than the bits of a float.
const STEPS: u32 = 60;

/// Write amplification of uniform random writes on a log of `alpha` times the data:
/// `alpha / (alpha + W(-alpha e^-alpha))` with Lambert's W (Robinson 1996, Desnoyers 2014); infinite for
/// a log that is not larger than the data.
///
/// ```
/// let waf = study::fit::write_amplification(1.28);
/// assert!((waf - 2.48).abs() < 0.005);
/// ```
pub fn write_amplification(alpha: f64) -> f64 {
    if alpha.is_nan() || alpha <= 1.0 {
        return f64::INFINITY;
    }
    // The share x of valid pages in a victim obeys x = exp(-alpha (1 - x)).
    let valid = bisected(0.0, 1.0, |x| (-alpha * (1.0 - x)).exp() > x);
    1.0 / (1.0 - valid)
}

/// Effective spare of a whole drive whose steady rates at two shares of its LBA space have this ratio:
/// that at `less` over that at `more`.
pub(super) fn spare_of_ratio(more: f64, less: f64, ratio: f64) -> f64 {
    bisected(0.001, SPARE_MAX, |spare| {
        let alpha = 1.0 / (1.0 - spare);
        write_amplification(alpha / more) / write_amplification(alpha / less) > ratio
    })
}

/// The place where `is_below` turns false.
fn bisected(mut low: f64, mut high: f64, is_below: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..STEPS {
        let middle = f64::midpoint(low, high);
        if is_below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spare_area_follows_from_the_ratio_of_two_rates() {
        for spare in [0.05, 0.11, 0.3] {
            let alpha = 1.0 / (1.0 - spare);
            let ratio = write_amplification(alpha) / write_amplification(alpha / 0.8);
            assert!((spare_of_ratio(1.0, 0.8, ratio) - spare).abs() < 1e-6, "{spare}");
        }
    }
}
