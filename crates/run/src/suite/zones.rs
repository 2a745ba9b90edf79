//! Figures of passes over the address space.

use std::collections::BTreeMap;

use result::schema::TableRow;
use result::stats::mixture::{Mixture, Rate};
use result::stats::summary::{Summary, quantile};

use super::{Figures, Measurements, Part, rates};

/// The rates of a pass in the zones of a device, in decimal megabytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pass {
    /// Bytes over time: the rate of the whole pass.
    pub(crate) mean: f64,
    /// The slowest zone.
    pub(crate) min: f64,
    /// 5% of the zones are slower than this.
    pub(crate) p5: f64,
    /// The fastest zone.
    pub(crate) max: f64,
}

impl Pass {
    /// The figures of a complete phase.
    pub(crate) fn of(measured: &Measurements<'_>, phase: &str) -> Option<Self> {
        Self::of_part(&measured.complete(phase)?)
    }

    /// The figures of a pass; `None` without measurements.
    pub(crate) fn of_part(part: &Part<'_>) -> Option<Self> {
        let zones = part.row_mb_per_s();
        let Summary { min, max, .. } = Summary::of(&zones)?;
        Some(Self { mean: part.mb_per_s()?, min, p5: quantile(&zones, 0.05)?, max })
    }

    /// Its figures under their names.
    fn values(self) -> [(&'static str, f64); 4] {
        [
            ("mb_per_s", self.mean),
            ("mb_per_s_min", self.min),
            ("mb_per_s_p5", self.p5),
            ("mb_per_s_max", self.max),
        ]
    }
}

/// Adds `<test>.<pass>.mb_per_s`, `_min`, `_p5` and `_max`.
pub(crate) fn add_pass(
    metrics: &mut BTreeMap<String, Option<f64>>,
    name: &str,
    pass: Option<Pass>,
) {
    let zero = Pass { mean: 0.0, min: 0.0, p5: 0.0, max: 0.0 };
    for (index, (end, _)) in zero.values().into_iter().enumerate() {
        metrics.insert(format!("{name}.{end}"), pass.map(|pass| pass.values()[index].1));
    }
}

/// Metrics, a table and a sentence for each of these passes.
pub(crate) fn figures(measured: &Measurements<'_>, title: &str, passes: &[&str]) -> Figures {
    let test = &measured.run.test;
    let mut figures = Figures::default();
    let columns = [
        ("mean", "MB/s"),
        ("slowest zone", "MB/s"),
        ("5% of zones", "MB/s"),
        ("fastest zone", "MB/s"),
    ];
    let mut table = rates::table("passes", title, "pass", &columns);
    for name in passes {
        let pass = Pass::of(measured, name);
        let metric = format!("{test}.{name}");
        add_pass(&mut figures.metrics, &metric, pass);
        let rows = measured.complete(name).map_or(&[][..], |part| &part.rows.seconds);
        if let Some(mixture) = Mixture::of(rows, Rate::MbPerS) {
            let metric = format!("{metric}.mb_per_s");
            figures.marks.push(mixture.mark(&metric, Rate::MbPerS));
        }
        let values = match pass {
            Some(pass) => pass.values().map(|(_, value)| Some(value)).to_vec(),
            None => vec![None; 4],
        };
        table.rows.push(TableRow { label: (*name).to_owned(), values });
        if let Some(pass) = pass {
            let mut text =
                format!("does the {name} pass at {} on average", rates::mb_per_s(pass.mean));
            if measured.holds(&format!("{metric}.mb_per_s_min")) {
                text += &format!("; its slowest zone does {}", rates::mb_per_s(pass.min));
            }
            let finding = rates::finding(measured, &format!("{metric}.mb_per_s"), &text);
            figures.findings.push(finding);
        }
    }
    figures.tables.push(table);
    figures
}
