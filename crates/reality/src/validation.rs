//! Measurements of others on real drives, beside the models: `drives/measured.csv`, for
//! `cargo xtask validate`.

mod power_law;
pub mod procedure;
pub mod reason;
pub mod report;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use base::{OpKind, Ratio};

use procedure::{Bench, Settled, UnderLoad};

/// The drives whose measured figures nobody has seen: their simulated figures are predictions.
pub const WITHHELD: [&str; 4] =
    ["intel-d3-s4610-480gb", "kioxia-cm7-r-3840gb", "samsung-pm883-480gb", "sk-hynix-pe8110-960gb"];

/// A measured figure: a line of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// The drive model.
    pub drive: String,
    /// The quantity.
    pub quantity: Quantity,
    /// The condition: a queue depth, GiB of span, zones, commands a second.
    pub at: String,
    /// The figure, or `None` of a drive that is withheld.
    pub value: Option<f64>,
    /// Its unit; empty for a ratio.
    pub unit: String,
    /// The difference that a test permits, in percent, or `None` if no test judges the figure.
    pub within_percent: Option<f64>,
    /// Its role: `fitted`, `held out` or `not explained`.
    pub role: String,
}

/// A measured quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// Random reads of 4 KiB at a queue depth.
    RandomRead,
    /// Random writes of 4 KiB at a queue depth.
    RandomWrite,
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
    pub const ALL: [Self; 15] = [
        Self::RandomRead,
        Self::RandomWrite,
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
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RandomRead => "random read",
            Self::RandomWrite => "random write",
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

    /// The kind of cell in the summary of errors.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self {
            Self::RandomRead | Self::RandomWrite => "QD curve",
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

    /// The deviation in percent beyond which a figure needs a reason.
    #[must_use]
    pub const fn bound_percent(self) -> f64 {
        match self {
            Self::Load(figure) if figure.is_median() => 15.0,
            Self::Load(_) => 50.0,
            _ => 25.0,
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
        if !["fitted", "held out", "not explained"].contains(&role) {
            return Err(fail("no such role"));
        }
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
            role: role.to_owned(),
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
#[must_use]
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
            role: "withheld".to_owned(),
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
    /// The number in its condition.
    number: Option<u64>,
}

/// The figures of an experiment.
pub type Figures = BTreeMap<Quantity, f64>;

impl Experiment {
    /// The figures of the model at a scale.
    ///
    /// # Errors
    /// If there is no such model, or it is refused.
    pub fn run(&self, scale: Ratio) -> Result<Figures, String> {
        let mut bench = Bench::new(&self.drive, scale)?;
        let number = self.number.unwrap_or(0);
        let rate = |settled: Settled| vec![(self.quantity, settled.mb_per_s)];
        let figures = match self.quantity {
            Quantity::RandomRead => {
                vec![(self.quantity, bench.random(OpKind::Read, number as u32))]
            }
            Quantity::RandomWrite => {
                vec![(self.quantity, bench.random(OpKind::Write, number as u32))]
            }
            Quantity::Waf | Quantity::SettledWrite => {
                let Settled { waf, mb_per_s } = bench.settled(self.number);
                vec![(Quantity::Waf, waf), (Quantity::SettledWrite, mb_per_s)]
            }
            Quantity::Onset => vec![(self.quantity, bench.onset(self.number))],
            Quantity::ReadOnly => rate(bench.beside_read_only(number)),
            Quantity::ReadOnlyFall => {
                let fall = bench.fall_beside_read_only(number);
                fall.into_iter().map(|seconds| (self.quantity, seconds)).collect()
            }
            Quantity::TwoZones => rate(bench.two_zones(number)),
            Quantity::Zipf => rate(bench.zipf(number)),
            Quantity::ZoneWrite | Quantity::ZoneWaf => {
                let Settled { waf, mb_per_s } = bench.zone_streams(number);
                vec![(Quantity::ZoneWaf, waf), (Quantity::ZoneWrite, mb_per_s)]
            }
            Quantity::Load(_) => {
                let found = bench.under_load(number).into_iter();
                found.map(|(figure, us)| (Quantity::Load(figure), us)).collect()
            }
        };
        Ok(figures.into_iter().collect())
    }
}

impl fmt::Display for Experiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.number.map_or("whole drive".to_owned(), |number| number.to_string());
        write!(f, "{}, {} at {number}", self.drive, self.quantity)
    }
}

impl Fact {
    /// The experiment that gives the figure.
    #[must_use]
    pub fn experiment(&self) -> Experiment {
        let quantity = match self.quantity {
            Quantity::Waf => Quantity::SettledWrite,
            Quantity::ZoneWaf => Quantity::ZoneWrite,
            Quantity::Load(_) => Quantity::Load(UnderLoad::READ_P50),
            other => other,
        };
        Experiment { drive: self.drive.clone(), quantity, number: self.numbers().next() }
    }

    /// The numbers of the condition, in order.
    fn numbers(&self) -> impl Iterator<Item = u64> {
        self.at.split([' ', '/', '%']).filter_map(|word| word.parse().ok())
    }

    /// The size of the error in percent, or `None` without a measured figure. For a 99th percentile it is the ratio of
    /// the two: a factor of 1.5 is 50%.
    #[must_use]
    pub fn deviation_percent(&self, simulated: f64) -> Option<f64> {
        let value = self.value?;
        Some(match self.quantity {
            Quantity::Load(figure) if !figure.is_median() => {
                ((simulated / value).max(value / simulated) - 1.0) * 100.0
            }
            _ => (simulated / value - 1.0).abs() * 100.0,
        })
    }

    /// The error of a simulated figure in percent, or `None` without a measured one.
    #[must_use]
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
        let sound = "d,zone streams,4 zones of 8 GiB,974,MB/s,25,held out,SSD-iq";
        let fact: Fact = sound.parse().unwrap();
        assert_eq!((fact.quantity, fact.value), (Quantity::ZoneWrite, Some(974.0)));
        assert_eq!(fact.numbers().next(), Some(4));
        assert_eq!(fact.error_percent(487.0), Some(-50.0));
        let faults = [
            ("zone streams", "mood", "quantity"),
            ("974", "x", "number"),
            ("held out", "y", "role"),
        ];
        for (from, to, fault) in faults {
            let error = sound.replace(from, to).parse::<Fact>().unwrap_err();
            assert!(error.to_string().contains(fault), "{error}");
        }
    }
}
