//! Temperature, and the rate that firmware allows a hot drive.
//!
//! Phenomenon: a drive warms up until its surroundings take away as much power as it draws. At a first threshold
//! firmware limits the rate of the host, at a second one it limits it further. It ends a limit after the drive has
//! cooled by some degrees. The rate falls in a step or, if the limit cools the drive, in a saw-tooth. Source: NVM
//! Express base specification (host controlled thermal management, light and heavy throttling); reviews of bare M.2
//! drives: a step by a quarter at 80 C, a saw-tooth to less than 50 MB/s. Simplifications: one body with one thermal
//! resistance and capacity, which nobody published for any drive; the energy of an operation warms the drive from its
//! begin; firmware reads the temperature 64 times per time constant, at least every second; it limits the data of the
//! host on the link, reads and writes alike, and not the work of the drive itself. Test: `tests/mechanisms/thermal.rs`.
//!
//! At constant power the temperature follows the exponential exactly; a stretch under load counts with its mean power.
//! A stretch ends when a power state changes or firmware reads the temperature, never because of telemetry.

use base::facts::Sourced;

use crate::geometry::Geometry;
use crate::mechanism::basis::{Basis, Section};
use crate::mechanism::power::{OperationCounts, Power};
use crate::model::schema::{Check, ModelError, TB_PER_S, section};

section! {
    /// Thermal properties of the drive as one body.
    pub struct ThermalSection {
        /// Temperature of the surroundings, degrees Celsius.
        pub ambient_c: Sourced<u64> [0, 100],
        /// Thermal resistance to the surroundings, thousandths of a kelvin per watt.
        pub resistance_mk_per_w: Sourced<u64> [1, 1_000_000],
        /// Heat capacity, thousandths of a joule per kelvin.
        pub capacity_mj_per_k: Sourced<u64> [1, 1_000_000_000],
        /// First threshold of firmware; absent: there is none.
        pub light: Option<ThermalStepSection>,
        /// Second threshold of firmware; absent: there is none.
        pub heavy: Option<ThermalStepSection>,
    }
}

section! {
    /// A threshold at which firmware limits the rate of the host.
    pub struct ThermalStepSection {
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
const RATE_MAX_BYTES_PER_S: u64 = TB_PER_S;

/// Thermal properties of the drive as one body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ThermalModel {
    /// Temperature of the surroundings.
    pub ambient_mk: u64,
    /// Final rise of temperature per watt.
    pub resistance_mk_per_w: u64,
    /// Time constant: resistance times capacity.
    pub time_constant_ns: u64,
    /// Thresholds, the lower one first.
    pub steps: [Option<ThermalStep>; 2],
}

/// A threshold of firmware.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ThermalStep {
    /// Temperature at which the limit begins.
    pub hot_mk: u64,
    /// Temperature below which it ends.
    pub cool_mk: u64,
    /// Rate limit of data in each direction.
    pub bytes_per_s: u64,
}

/// Thousandths of a kelvin above absolute zero.
pub(super) const fn millikelvin(celsius: u64) -> u64 {
    273_150 + 1000 * celsius
}

impl Section for ThermalSection {
    type Plan = ThermalModel;
    type State = Thermal;

    /// A smaller drive warms up after a smaller volume, so that its curve has the same shape.
    fn resolve(&self, basis: &Basis<'_>) -> Result<ThermalModel, ModelError> {
        let check = &basis.check;
        let ambient_c = self.ambient_c.value;
        let (resistance, capacity) = (self.resistance_mk_per_w.value, self.capacity_mj_per_k.value);
        if !basis.has("power") {
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
        Ok(ThermalModel {
            ambient_mk: millikelvin(ambient_c),
            resistance_mk_per_w: resistance,
            // 0.001 K/W times 0.001 J/K is a microsecond.
            time_constant_ns: basis.scale.of(resistance * capacity * 1000).max(1),
            steps: if light.is_some() { [light, heavy] } else { [heavy, None] },
        })
    }

    fn begin(plan: ThermalModel, _: &Geometry, _: usize) -> Thermal {
        Thermal::new(plan)
    }
}

impl ThermalStepSection {
    fn resolve(
        &self,
        check: &Check<'_>,
        section: &str,
        threshold_min_c: u64,
        rate_max: u64,
    ) -> Result<ThermalStep, ModelError> {
        let Self { threshold_c, hysteresis_c, bytes_per_s } = self;
        let key = |name: &str| format!("{section}.{name}");
        check.within(&key("threshold_c"), threshold_c.value, threshold_min_c, THRESHOLD_MAX_C)?;
        check.within(&key("hysteresis_c"), hysteresis_c.value, 0, threshold_c.value)?;
        check.within(&key("bytes_per_s"), bytes_per_s.value, RATE_MIN_BYTES_PER_S, rate_max)?;
        Ok(ThermalStep {
            hot_mk: millikelvin(threshold_c.value),
            cool_mk: millikelvin(threshold_c.value - hysteresis_c.value),
            bytes_per_s: bytes_per_s.value,
        })
    }
}

/// Longest time between two readings of the temperature.
const LOOK_MAX_NS: u64 = 1_000_000_000;
/// Shortest time between them.
const LOOK_MIN_NS: u64 = 10_000_000;
/// Readings per time constant.
const LOOKS: u64 = 64;
/// Above any temperature that a drive can have, in nanokelvin.
const RISE_MAX_NK: u128 = 1_000_000_000_000_000_000;

/// The temperature of a drive at one moment.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Thermal {
    model: ThermalModel,
    /// Rise above the surroundings, in nanokelvin.
    rise_nk: u64,
    /// The moment, and the energy drawn until then.
    now_ns: u64,
    energy_nj: u64,
    /// Number of thresholds whose limits have begun and not ended.
    passed: usize,
}

impl Thermal {
    /// A drive with the temperature of its surroundings, at time 0.
    pub fn new(model: ThermalModel) -> Self {
        Self { model, rise_nk: 0, now_ns: 0, energy_nj: 0, passed: 0 }
    }

    /// This temperature, with the count of energy back at 0.
    #[must_use]
    pub fn renewed(self) -> Self {
        Self { energy_nj: 0, ..self }
    }

    /// This drive with the temperature of its surroundings.
    #[must_use]
    pub fn cooled(self) -> Self {
        Self { rise_nk: 0, ..self }
    }

    /// This drive, as warm as it is, in surroundings of another temperature. One that is colder than they are takes
    /// their temperature.
    #[must_use]
    pub fn amid(mut self, ambient_mk: u64) -> Self {
        let rise_mk = self.temperature_mk().saturating_sub(ambient_mk);
        self.rise_nk = rise_mk.saturating_mul(1_000_000);
        self.model.ambient_mk = ambient_mk;
        self
    }

    /// Time between two readings of the temperature of a drive at work.
    pub fn look_ns(&self) -> u64 {
        (self.model.time_constant_ns / LOOKS).clamp(LOOK_MIN_NS, LOOK_MAX_NS)
    }

    /// The temperature.
    pub fn temperature_mk(&self) -> u64 {
        self.model.ambient_mk + self.rise_nk / 1_000_000
    }

    /// The drive at a later moment, with the power that it drew until then.
    #[must_use]
    pub fn after(mut self, later_ns: u64, power: &Power, operations: OperationCounts) -> Self {
        let is_before = |&change_ns: &u64| change_ns < later_ns;
        while let Some(change_ns) = power.next_change_ns(self.now_ns).filter(is_before) {
            self.draw(change_ns, power.energy_nj(change_ns, operations));
        }
        self.draw(later_ns, power.energy_nj(later_ns, operations));
        self
    }

    /// Follows a stretch of time at whose end the total energy is `energy_nj`.
    fn draw(&mut self, end_ns: u64, energy_nj: u64) {
        let length_ns = end_ns - self.now_ns;
        if length_ns == 0 {
            return;
        }
        // A nanojoule in a nanosecond is a watt.
        let drawn_nj = u128::from(energy_nj - self.energy_nj);
        let scaled = drawn_nj * u128::from(self.model.resistance_mk_per_w) * 1_000_000;
        let final_nk = (scaled / u128::from(length_ns)).min(100 * RISE_MAX_NK);
        let kept = u128::from(decay(length_ns, self.model.time_constant_ns));
        let gone = u128::from(ONE) - kept;
        let rise_nk = (u128::from(self.rise_nk) * kept + final_nk * gone) >> ONE_BITS;
        self.rise_nk = rise_nk.min(RISE_MAX_NK) as u64;
        (self.now_ns, self.energy_nj) = (end_ns, energy_nj);
    }

    /// Handles a reading of the temperature by firmware; returns the rate limit, or `None` if there is none.
    pub fn look(&mut self) -> Option<u64> {
        let now_mk = self.temperature_mk();
        let steps = self.model.steps;
        let step = |index: usize| steps.get(index).copied().flatten();
        while step(self.passed).is_some_and(|next| now_mk >= next.hot_mk) {
            self.passed += 1;
        }
        while let Some(last) = self.passed.checked_sub(1).and_then(step)
            && now_mk < last.cool_mk
        {
            self.passed -= 1;
        }
        self.passed.checked_sub(1).and_then(step).map(|step| step.bytes_per_s)
    }
}

/// Fixed-point fractions: 60 bits behind the point.
const ONE_BITS: u32 = 60;
const ONE: u64 = 1 << ONE_BITS;
/// The natural logarithm of 2.
const LN_2: u64 = 799_144_290_325_165_979;
/// Terms of the series: for exponents below ln 2, the rest is below 2^-60.
const TERMS: u64 = 20;

/// e^(-time / constant) as a fraction of [`ONE`].
fn decay(time_ns: u64, constant_ns: u64) -> u64 {
    let exponent = (u128::from(time_ns) << ONE_BITS) / u128::from(constant_ns);
    let halvings = exponent / u128::from(LN_2);
    if halvings >= u128::from(ONE_BITS) {
        return 0;
    }
    let rest = exponent % u128::from(LN_2);
    // 1 - r (1 - r/2 (1 - r/3 (...))), from within.
    let series = (1..=TERMS).rev().fold(u128::from(ONE), |inner, term| {
        u128::from(ONE) - ((rest * inner) >> ONE_BITS) / u128::from(term)
    });
    (series >> halvings) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_decay_is_exponential() {
        // Of 2^60, from arithmetic with 60 digits.
        for (time_ns, constant_ns, want) in [
            (0, 7, 1_152_921_504_606_846_976),
            (1, 1_000_000_000_000, 1_152_921_504_605_694_054),
            (1, 3, 826_104_356_684_649_064),
            (693_147, 1_000_000, 576_460_856_389_154_793),
            (5, 1, 7_768_323_992_146_806),
            (41, 1, 1),
            (1, 1, 424_136_118_829_305_329),
        ] {
            let got = decay(time_ns, constant_ns);
            assert!(got.abs_diff(want) <= TERMS, "{time_ns} / {constant_ns}: {got}, not {want}");
        }
        assert_eq!((decay(u64::MAX, 1), decay(0, 1)), (0, ONE));
    }

    #[test]
    fn firmware_slows_the_host_step_by_step_and_lets_go_when_it_is_cool() {
        let step =
            |hot_mk, bytes_per_s| Some(ThermalStep { hot_mk, cool_mk: hot_mk - 5, bytes_per_s });
        let model = ThermalModel {
            ambient_mk: 0,
            resistance_mk_per_w: 1,
            time_constant_ns: 1,
            steps: [step(70, 900), step(80, 100)],
        };
        let mut thermal = Thermal::new(model);
        let mut look_at = |temperature_mk: u64| {
            thermal.rise_nk = temperature_mk * 1_000_000;
            thermal.look()
        };
        let rates = [69, 70, 66, 79, 80, 75, 74, 64, 85, 10].map(&mut look_at);
        let (light, heavy) = (Some(900), Some(100));
        let want = [None, light, light, light, heavy, heavy, light, None, heavy, None];
        assert_eq!(rates, want);
    }
}
