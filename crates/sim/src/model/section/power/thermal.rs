//! `[thermal]`: the temperature of a drive, and the limits that its firmware sets.

use crate::model::check::CrossCheck;
use crate::model::schema::section;
use crate::model::{ModelError, Sourced};
use crate::power::thermal;
use base::Ratio;

section! {
    /// Thermal properties of the drive as one body.
    pub struct ThermalModel {
        /// Temperature of the surroundings, degrees Celsius.
        pub ambient_c: Sourced<u64> [0, 100],
        /// Thermal resistance to the surroundings, thousandths of a kelvin per watt.
        pub resistance_mk_per_w: Sourced<u64> [1, 1_000_000],
        /// Heat capacity, thousandths of a joule per kelvin.
        pub capacity_mj_per_k: Sourced<u64> [1, 1_000_000_000],
        /// First threshold of firmware; absent: there is none.
        pub light: Option<ThermalStepModel>,
        /// Second threshold of firmware; absent: there is none.
        pub heavy: Option<ThermalStepModel>,
    }
}

section! {
    /// A threshold at which firmware limits the rate of the host.
    pub struct ThermalStepModel {
        /// Temperature, degrees Celsius.
        pub threshold_c: Sourced<u64>,
        /// Degrees below it at which the limit ends.
        pub hysteresis_c: Sourced<u64>,
        /// Rate limit of data in each direction, bytes per second.
        pub bytes_per_s: Sourced<u64>,
    }
}

const THRESHOLD_MAX_C: u64 = 200;
const RATE_MIN_BYTES_PER_S: u64 = 1_000_000;
const RATE_MAX_BYTES_PER_S: u64 = 1_000_000_000_000;

/// Thousandths of a kelvin above absolute zero.
const fn millikelvin(celsius: u64) -> u64 {
    273_150 + 1000 * celsius
}

impl ThermalModel {
    /// A smaller drive warms up after a smaller volume, so that its curve has the same shape.
    pub(in crate::model) fn resolve(
        &self,
        check: &CrossCheck<'_>,
        scale: Ratio,
    ) -> Result<thermal::ThermalModel, ModelError> {
        let ambient_c = self.ambient_c.value;
        let (resistance, capacity) = (self.resistance_mk_per_w.value, self.capacity_mj_per_k.value);
        if check.model.power.is_none() {
            let rule = "heat comes from the power of the drive, and the model has no [power]";
            return check.fail("thermal.ambient_c", ambient_c, rule);
        }
        let light = self
            .light
            .as_ref()
            .map(|step| step.resolve(check, "thermal.light", ambient_c + 1, RATE_MAX_BYTES_PER_S));
        let light = light.transpose()?;
        let (cooler_c, rate_max) = match &self.light {
            Some(light) => (light.threshold_c.value, light.bytes_per_s.value),
            None => (ambient_c, RATE_MAX_BYTES_PER_S),
        };
        let heavy = self.heavy.as_ref();
        let heavy = heavy.map(|step| step.resolve(check, "thermal.heavy", cooler_c + 1, rate_max));
        let heavy = heavy.transpose()?;
        Ok(thermal::ThermalModel {
            ambient_mk: millikelvin(ambient_c),
            resistance_mk_per_w: resistance,
            // 0.001 K/W times 0.001 J/K is a microsecond.
            time_constant_ns: scale.of(resistance * capacity * 1000).max(1),
            steps: if light.is_some() { [light, heavy] } else { [heavy, None] },
        })
    }
}

impl ThermalStepModel {
    fn resolve(
        &self,
        check: &CrossCheck<'_>,
        section: &str,
        threshold_min_c: u64,
        rate_max: u64,
    ) -> Result<thermal::ThermalStep, ModelError> {
        let Self { threshold_c, hysteresis_c, bytes_per_s } = self;
        let key = |name: &str| format!("{section}.{name}");
        check.within(&key("threshold_c"), threshold_c.value, threshold_min_c, THRESHOLD_MAX_C)?;
        check.within(&key("hysteresis_c"), hysteresis_c.value, 0, threshold_c.value)?;
        check.within(&key("bytes_per_s"), bytes_per_s.value, RATE_MIN_BYTES_PER_S, rate_max)?;
        Ok(thermal::ThermalStep {
            hot_mk: millikelvin(threshold_c.value),
            cool_mk: millikelvin(threshold_c.value - hysteresis_c.value),
            bytes_per_s: bytes_per_s.value,
        })
    }
}
