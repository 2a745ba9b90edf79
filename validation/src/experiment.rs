//! Measurements of others on real drives, beside the models: `drives/measured.csv`, for
//! `cargo xtask validate`.

mod power_law;
pub mod procedure;
mod qd_curve;
pub mod reason;
pub mod report;
mod under_load;
mod zones;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use base::Ratio;

use crate::role::Role;
use procedure::{ExperimentDrive, WriteRates};

pub use under_load::UnderLoad;

/// The drives whose measured figures nobody has seen: their simulated figures are predictions.
pub const WITHHELD: [&str; 4] =
    ["intel-d3-s4610-480gb", "kioxia-cm7-r-3840gb", "samsung-pm883-480gb", "sk-hynix-pe8110-960gb"];

/// The deviation in percent of a rate or a WAF beyond which it needs a reason.
pub const BOUND_PERCENT: f64 = 25.0;

/// A measured figure: a line of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// The drive model.
    pub drive: String,
    pub quantity: Quantity,
    /// The condition: a queue depth, GiB of span, zones, commands a second.
    pub at: String,
    /// The figure, or `None` of a drive that is withheld.
    pub value: Option<f64>,
    /// Its unit; empty for a ratio.
    pub unit: String,
    /// The difference that a test permits, in percent, or `None` if no test judges the figure.
    pub within_percent: Option<f64>,
    /// The part that it had in making the model.
    pub role: Role,
}

/// A measured quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// Random reads of 4 KiB at a queue depth.
    RandomRead,
    /// Random writes of 4 KiB at a queue depth.
    RandomWrite,
    /// 99th percentile of the latency of such writes.
    RandomWriteP99,
    /// WAF of uniform random writes over a span.
    Waf,
    /// MB/s of them.
    SettledWrite,
    /// Overwrites until cleaning begins.
    Onset,
    /// MB/s of writes beside data that is never written again.
    ReadOnly,
    /// Time until such writes collapse.
    ReadOnlyFall,
    /// MB/s of writes to a hot and a cold zone.
    TwoZones,
    /// MB/s of writes by Zipf's law.
    Zipf,
    /// MB/s of sequential writes into several zones.
    ZoneWrite,
    /// WAF of them.
    ZoneWaf,
    /// Latency of a probe beside a load.
    Load(UnderLoad),
}

impl Quantity {
    /// All quantities.
    pub const ALL: [Self; 16] = [
        Self::RandomRead,
        Self::RandomWrite,
        Self::RandomWriteP99,
        Self::Waf,
        Self::SettledWrite,
        Self::Onset,
        Self::ReadOnly,
        Self::ReadOnlyFall,
        Self::TwoZones,
        Self::Zipf,
        Self::ZoneWrite,
        Self::ZoneWaf,
        Self::Load(UnderLoad::READ_P50),
        Self::Load(UnderLoad::READ_P99),
        Self::Load(UnderLoad::WRITE_P50),
        Self::Load(UnderLoad::WRITE_P99),
    ];

    /// Its name in the file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RandomRead => "random read",
            Self::RandomWrite => "random write",
            Self::RandomWriteP99 => "random write p99",
            Self::Waf => "WAF",
            Self::SettledWrite => "settled write",
            Self::Onset => "onset of cleaning",
            Self::ReadOnly => "write beside read-only data",
            Self::ReadOnlyFall => "fall beside read-only data",
            Self::TwoZones => "write to two zones",
            Self::Zipf => "write by Zipf's law",
            Self::ZoneWrite => "zone streams",
            Self::ZoneWaf => "WAF of zone streams",
            Self::Load(figure) => figure.name(),
        }
    }

    /// The kind of its cells in the summary of errors, but those of overload.
    const fn kind(self) -> &'static str {
        match self {
            Self::RandomRead | Self::RandomWrite => "QD curve",
            Self::RandomWriteP99 => "QD curve, p99",
            Self::Waf => "WAF",
            Self::SettledWrite => "steady MB/s",
            Self::ReadOnly | Self::TwoZones | Self::Zipf => "steady MB/s under skew",
            Self::Onset => "onset of cleaning",
            Self::ZoneWrite | Self::ZoneWaf => "zone streams",
            Self::ReadOnlyFall => "fall beside read-only data",
            Self::Load(figure) if figure.is_median() => "latency under load, p50",
            Self::Load(_) => "latency under load, p99",
        }
    }

    /// Whether a figure deviates by the ratio to the measured one, so that half is as far as twice.
    const fn is_ratio(self) -> bool {
        match self {
            Self::Load(figure) => !figure.is_median(),
            _ => matches!(self, Self::RandomWriteP99),
        }
    }

    /// The deviation in percent beyond which a figure needs a reason.
    pub const fn bound_percent(self) -> f64 {
        match self {
            Self::Load(figure) if figure.is_median() => 15.0,
            Self::Load(_) | Self::RandomWriteP99 => 50.0,
            _ => BOUND_PERCENT,
        }
    }
}

/// A line is no fact.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("drives/measured.csv: `{line}`: {fault}")]
pub struct FactError {
    line: String,
    fault: &'static str,
}

impl FromStr for Fact {
    type Err = FactError;

    fn from_str(line: &str) -> Result<Self, FactError> {
        let fail = |fault| FactError { line: line.to_owned(), fault };
        let fields: Vec<&str> = line.splitn(8, ',').collect();
        let [drive, quantity, at, value, unit, within_percent, role, _source] = fields[..] else {
            return Err(fail("not eight fields"));
        };
        let number = |text: &str| text.parse().map_err(|_| fail("no number"));
        let bound = (!within_percent.is_empty()).then(|| number(within_percent)).transpose()?;
        let quantity = Quantity::ALL.into_iter().find(|known| known.name() == quantity);
        Ok(Self {
            drive: drive.to_owned(),
            quantity: quantity.ok_or_else(|| fail("no such quantity"))?,
            at: at.to_owned(),
            value: Some(number(value)?),
            unit: unit.to_owned(),
            within_percent: bound,
            role: Role::named(role).ok_or_else(|| fail("no such role"))?,
        })
    }
}

/// The facts of a file.
///
/// # Errors
/// [`FactError`] with the line and its fault.
pub fn facts(text: &str) -> Result<Vec<Fact>, FactError> {
    text.lines().skip(1).map(str::parse).collect()
}

/// The figures that are predicted for each drive that is withheld: the rate of uniform writes over the
/// whole drive and its WAF.
pub fn predictions() -> Vec<Fact> {
    let quantities = [(Quantity::SettledWrite, "MB/s"), (Quantity::Waf, "")];
    let of = |drive: &str| {
        quantities.map(|(quantity, unit)| Fact {
            drive: drive.to_owned(),
            quantity,
            at: "whole drive".to_owned(),
            value: None,
            unit: unit.to_owned(),
            within_percent: None,
            role: Role::Withheld,
        })
    };
    WITHHELD.into_iter().flat_map(of).collect()
}

/// A procedure on a drive, which gives one or more figures.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Experiment {
    /// The drive model.
    pub drive: String,
    /// The first of the quantities that it gives.
    quantity: Quantity,
    /// The number in its condition, or `None` if it has none or gives figures at several.
    number: Option<u64>,
}

/// A quantity, and the number in its condition where an experiment gives it at several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Figure {
    quantity: Quantity,
    at: Option<u64>,
}

/// The figures of an experiment.
pub type Figures = BTreeMap<Figure, f64>;

impl Experiment {
    /// The figures of the model at a scale.
    ///
    /// # Errors
    /// If there is no such model, or it is refused.
    pub fn run(&self, scale: Ratio) -> Result<Figures, String> {
        self.run_with(&[], scale)
    }

    /// The figures of the model at a scale, with other values for some of its keys.
    ///
    /// # Errors
    /// If there is no such model, or it is refused with these values.
    pub fn run_with(&self, values: &[(String, String)], scale: Ratio) -> Result<Figures, String> {
        let mut bench = match self.quantity {
            Quantity::Load(_) => {
                let (scale, queues) = (under_load::scale(scale), Some(under_load::THREADS));
                ExperimentDrive::with_whole_bursts(&self.drive, values, scale, queues)?
            }
            Quantity::RandomWrite => {
                ExperimentDrive::with_whole_bursts(&self.drive, values, scale, None)?
            }
            _ => ExperimentDrive::new(&self.drive, values, scale)?,
        };
        let number = self.number.unwrap_or(0);
        let at = |quantity, at, value| (Figure { quantity, at: Some(at) }, value);
        let one = |quantity, value| (Figure { quantity, at: None }, value);
        let rate = |settled: WriteRates| vec![one(self.quantity, settled.mb_per_s)];
        let figures = match self.quantity {
            Quantity::RandomRead => {
                let curve = bench.read_curve().into_iter();
                curve.map(|(depth, iops)| at(self.quantity, depth.into(), iops)).collect()
            }
            Quantity::RandomWrite | Quantity::RandomWriteP99 => {
                let point = |(depth, iops, p99_us): (u32, f64, f64)| {
                    let p99 = at(Quantity::RandomWriteP99, depth.into(), p99_us);
                    [at(Quantity::RandomWrite, depth.into(), iops), p99]
                };
                bench.write_curve().into_iter().flat_map(point).collect()
            }
            Quantity::Waf | Quantity::SettledWrite | Quantity::Onset => {
                let (WriteRates { waf, mb_per_s }, onset) = bench.uniform(self.number);
                let rate = one(Quantity::SettledWrite, mb_per_s);
                vec![one(Quantity::Waf, waf), rate, one(Quantity::Onset, onset)]
            }
            Quantity::ReadOnly | Quantity::ReadOnlyFall => {
                let (settled, fall) = bench.beside_read_only(number);
                let fall = fall.map(|seconds| one(Quantity::ReadOnlyFall, seconds));
                rate(settled).into_iter().chain(fall).collect()
            }
            Quantity::TwoZones => rate(bench.two_zones(number)),
            Quantity::Zipf => rate(bench.zipf(number)),
            Quantity::ZoneWrite | Quantity::ZoneWaf => {
                let WriteRates { waf, mb_per_s } = bench.zone_streams(number);
                vec![one(Quantity::ZoneWaf, waf), one(Quantity::ZoneWrite, mb_per_s)]
            }
            Quantity::Load(_) => {
                let figure = |(iops, figure, us)| at(Quantity::Load(figure), iops, us);
                bench.under_load().into_iter().map(figure).collect()
            }
        };
        Ok(figures.into_iter().collect())
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some(at) => write!(f, "{} at {at}", self.quantity),
            None => write!(f, "{}", self.quantity),
        }
    }
}

/// A text names no figure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no figure of an experiment")]
pub struct FigureError(String);

impl FromStr for Figure {
    type Err = FigureError;

    fn from_str(text: &str) -> Result<Self, FigureError> {
        let named = |name: &str| Quantity::ALL.into_iter().find(|known| known.name() == name);
        let fail = || FigureError(text.to_owned());
        match text.rsplit_once(" at ") {
            Some((name, at)) => {
                let at = Some(at.parse().map_err(|_| fail())?);
                Ok(Self { quantity: named(name).ok_or_else(fail)?, at })
            }
            None => Ok(Self { quantity: named(text).ok_or_else(fail)?, at: None }),
        }
    }
}

impl fmt::Display for Experiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.number.map_or("whole drive".to_owned(), |number| number.to_string());
        write!(f, "{}, {} at {number}", self.drive, self.quantity)
    }
}

impl Fact {
    /// The kind of cell in the summary of errors.
    pub fn kind(&self) -> &'static str {
        match self.quantity {
            Quantity::Load(figure) if self.is_overload() => {
                if figure.is_median() {
                    "overload, p50"
                } else {
                    "overload, p99"
                }
            }
            other => other.kind(),
        }
    }

    /// Whether more was offered than the drive took.
    fn is_overload(&self) -> bool {
        self.at.ends_with("(overload)")
    }

    /// The experiment that gives the figure.
    pub fn experiment(&self) -> Experiment {
        let quantity = match self.quantity {
            Quantity::RandomWriteP99 => Quantity::RandomWrite,
            Quantity::Waf | Quantity::Onset => Quantity::SettledWrite,
            Quantity::ReadOnlyFall => Quantity::ReadOnly,
            Quantity::ZoneWaf => Quantity::ZoneWrite,
            Quantity::Load(_) => Quantity::Load(UnderLoad::READ_P50),
            other => other,
        };
        let number = if self.is_one_of_several() { None } else { self.numbers().next() };
        Experiment { drive: self.drive.clone(), quantity, number }
    }

    /// The figure among those of its experiment.
    pub fn figure(&self) -> Figure {
        let at = if self.is_one_of_several() { self.numbers().next() } else { None };
        Figure { quantity: self.quantity, at }
    }

    /// Whether its experiment gives figures at several conditions.
    const fn is_one_of_several(&self) -> bool {
        use Quantity::{Load, RandomRead, RandomWrite, RandomWriteP99};
        matches!(self.quantity, RandomRead | RandomWrite | RandomWriteP99 | Load(_))
    }

    /// The numbers of the condition, in order.
    fn numbers(&self) -> impl Iterator<Item = u64> {
        self.at.split([' ', '/', '%']).filter_map(|word| word.parse().ok())
    }

    /// The size of the error in percent, or `None` without a measured figure. For a 99th percentile it is the ratio of
    /// the two: a factor of 1.5 is 50%.
    pub fn deviation_percent(&self, simulated: f64) -> Option<f64> {
        let value = self.value?;
        Some(match self.quantity {
            _ if self.quantity.is_ratio() => {
                ((simulated / value).max(value / simulated) - 1.0) * 100.0
            }
            _ => (simulated / value - 1.0).abs() * 100.0,
        })
    }

    /// The error of a simulated figure in percent, or `None` without a measured one.
    pub fn error_percent(&self, simulated: f64) -> Option<f64> {
        self.value.map(|value| (simulated / value - 1.0) * 100.0)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_fact_or_says_its_fault() {
        let sound = "d,zone streams,4 zones of 8 GiB,974,MB/s,25,predicted,SSD-iq";
        let fact: Fact = sound.parse().unwrap();
        assert_eq!((fact.quantity, fact.value), (Quantity::ZoneWrite, Some(974.0)));
        assert_eq!(fact.numbers().next(), Some(4));
        assert_eq!(fact.error_percent(487.0), Some(-50.0));
        assert_eq!((fact.figure().at, fact.experiment().number), (None, Some(4)));
        let faults = [
            ("zone streams", "mood", "quantity"),
            ("974", "x", "number"),
            ("predicted", "y", "role"),
        ];
        for (from, to, fault) in faults {
            let error = sound.replace(from, to).parse::<Fact>().unwrap_err();
            assert!(error.to_string().contains(fault), "{error}");
        }
    }

    #[test]
    fn figures_have_names_that_are_read_again() {
        for figure in [
            Figure { quantity: Quantity::Zipf, at: None },
            Figure { quantity: Quantity::Load(UnderLoad::WRITE_P99), at: Some(95_000) },
        ] {
            assert_eq!(figure.to_string().parse(), Ok(figure));
        }
        assert!("mood at 3".parse::<Figure>().is_err() && "WAF at x".parse::<Figure>().is_err());
    }
}
