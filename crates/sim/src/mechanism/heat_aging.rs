//! Heat: the data of a hot drive ages faster, so that its reads need retries sooner.
//!
//! Phenomenon: charge leaks faster out of hot cells. Source: bakes stand for storage, 3 h at 120 C for a year at room
//! temperature (the Arrhenius law), which is a doubling of the rate every 8 K. Rule: data ages as `[nand.retry]` says
//! at the reference temperature and below it, and twice as fast for each step of temperature above it. Simplifications:
//! linear between two doublings; an interval between two readings of the temperature counts with the temperature at its
//! end; cold data ages no slower than at the reference. Test: `tests/mechanisms/thermal.rs`.

use base::facts::Sourced;

use crate::geometry::Geometry;
use crate::mechanism::basis::{Basis, Section};
use crate::mechanism::thermal::millikelvin;
use crate::model::schema::{ModelError, section};

section! {
    /// Faster loss of charge in a hot drive.
    pub struct HeatAgingSection {
        /// Temperature up to which data ages at the rate of `[nand.retry]`, degrees Celsius.
        pub reference_c: Sourced<u64> [0, 100],
        /// Kelvins above it that double the rate.
        pub doubling_k: Sourced<u64> [1, 100],
    }
}

/// The law of aging.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct HeatAgingPlan {
    /// Temperature up to which data ages as fast as time passes.
    pub reference_mk: u64,
    /// Rise of temperature that doubles the rate.
    pub doubling_mk: u64,
}

/// Most doublings of the rate: more than a drive can survive.
const DOUBLINGS_MAX: u64 = 32;

impl Section for HeatAgingSection {
    type Plan = HeatAgingPlan;
    type State = HeatAging;

    fn resolve(&self, basis: &Basis<'_>) -> Result<HeatAgingPlan, ModelError> {
        let reference_c = self.reference_c.value;
        if !basis.has("thermal") || !basis.has("nand.retry") {
            let rule = "it goes with [thermal] and [nand.retry]";
            return basis.check.fail("heat_aging.reference_c", reference_c, rule);
        }
        Ok(HeatAgingPlan {
            reference_mk: millikelvin(reference_c),
            doubling_mk: 1_000 * self.doubling_k.value,
        })
    }

    fn begin(plan: HeatAgingPlan, _: &Geometry, _: usize) -> HeatAging {
        HeatAging { plan, counted_ns: None }
    }
}

/// The law, and the time up to which it has been applied.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct HeatAging {
    plan: HeatAgingPlan,
    /// The last reading of the temperature, or `None` before the first.
    counted_ns: Option<u64>,
}

impl HeatAging {
    /// Time by which data has aged more than the clock says since the last reading, at this temperature.
    pub fn more_ns(&mut self, now_ns: u64, temperature_mk: u64) -> u64 {
        let length_ns = now_ns - self.counted_ns.replace(now_ns).unwrap_or(now_ns);
        let HeatAgingPlan { reference_mk, doubling_mk } = self.plan;
        let above_mk = temperature_mk.saturating_sub(reference_mk).min(DOUBLINGS_MAX * doubling_mk);
        let (doublings, rest_mk) = (above_mk / doubling_mk, above_mk % doubling_mk);
        let rate_permille = (1_000 + 1_000 * rest_mk / doubling_mk) << doublings;
        let more_ns = u128::from(length_ns) * u128::from(rate_permille - 1_000) / 1_000;
        more_ns.min(u64::MAX.into()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_of_temperature_doubles_the_rate() {
        let plan = HeatAgingPlan { reference_mk: 300_000, doubling_mk: 10_000 };
        let more_in_a_second = |temperature_mk| {
            let mut heat = HeatAging { plan, counted_ns: Some(5_000) };
            heat.more_ns(6_000, temperature_mk)
        };
        let temperatures = [200_000, 300_000, 305_000, 310_000, 315_000, 330_000];
        assert_eq!(temperatures.map(more_in_a_second), [0, 0, 500, 1_000, 2_000, 7_000]);
        let mut first = HeatAging { plan, counted_ns: None };
        assert_eq!(first.more_ns(9_000, 330_000), 0, "nothing is older than the first reading");
        assert_eq!(first.more_ns(u64::MAX, u64::MAX), u64::MAX);
    }
}
