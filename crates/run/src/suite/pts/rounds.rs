//! The figure that a test tracks over its rounds until it is steady.

use result::marks::Reason;
use result::schema::{Finding, Table, TableRow};
use result::stats::steady::{PTS_ROUNDS_MAX, Window, pts_steady};

use crate::suite::{Conditions, Figures, Formula, Measurements, Part, rates};

/// The value of a step in each round so far, round 1 first.
pub(crate) fn of_rounds(
    measured: &Measurements<'_>,
    step: &str,
    value: impl Fn(Part<'_>) -> Option<f64>,
) -> Vec<f64> {
    let parts = measured.parts().filter(|part| {
        let name = part.phase.name.rsplit_once(".r");
        part.phase.complete && name.is_some_and(|(name, _)| name == step)
    });
    parts.filter_map(value).collect()
}

/// The window of the figures: the steady one, or the last rounds if there is none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounds {
    pub(crate) steady: Option<Window>,
    /// Positions of the rounds.
    from: usize,
    to: usize,
}

impl Rounds {
    pub(crate) fn of(tracked: &[f64]) -> Self {
        let steady = pts_steady(tracked);
        let (from, to) = match steady {
            Some(window) => (window.start, window.start + window.len),
            None => (tracked.len().saturating_sub(5), tracked.len()),
        };
        Self { steady, from, to }
    }

    /// Mean over the window.
    pub(crate) fn mean(&self, values: &[f64]) -> Option<f64> {
        let window = values.get(self.from..self.to.min(values.len()))?;
        (!window.is_empty()).then(|| window.iter().sum::<f64>() / window.len() as f64)
    }

    /// Largest value in the window.
    pub(crate) fn max(&self, values: &[f64]) -> Option<f64> {
        values.get(self.from..self.to.min(values.len()))?.iter().copied().reduce(f64::max)
    }
}

/// Whether a figure is a mean over the window of the rounds.
fn is_over_rounds(metric: &str) -> bool {
    let end = metric.rsplit_once('.').map_or(metric, |(_, end)| end);
    ["iops", "mb_per_s"].contains(&end) || end.starts_with("latency_ns_")
}

/// Whether a figure is steady over the rounds so far.
pub(crate) fn until_steady(
    tracked: impl Fn(&Measurements<'_>) -> Vec<f64> + Send + Sync + 'static,
) -> Formula<bool> {
    Formula::new(move |measured| Rounds::of(&tracked(measured)).steady.is_some())
}

/// The tracked figure, in every round so far.
pub(crate) struct TrackedFigure<'a> {
    /// Stage of a test with several; its metrics are `<test>.<stage>.rounds` and so on. Empty
    /// without stages.
    pub(crate) stage: &'a str,
    /// The figure in words.
    pub(crate) words: &'a str,
    pub(crate) unit: &'a str,
    /// Its values, round 1 first.
    pub(crate) values: &'a [f64],
}

impl TrackedFigure<'_> {
    /// Adds metrics, a table, and a sentence or a warning about the figure and its steady state.
    pub(crate) fn add_to(
        &self,
        figures: &mut Figures,
        measured: &Measurements<'_>,
        conditions: &Conditions,
    ) {
        let dot = if self.stage.is_empty() { "" } else { "." };
        let test = format!("{}{dot}{}", measured.run.test, self.stage);
        let rounds = Rounds::of(self.values).steady;
        let obstacle = match rounds {
            None => Some(format!("no steady state within {} rounds", self.values.len())),
            Some(_) => measured.obstacle_of_past(),
        };
        let steady = rounds.filter(|_| obstacle.is_none());
        for (name, value) in [
            ("rounds", Some(self.values.len() as f64)),
            ("steady_from_round", steady.map(|window| (window.start + 1) as f64)),
            ("steady_mean", steady.map(|window| window.mean)),
            ("steady_range_share", steady.map(|window| window.range / window.mean)),
            ("steady_slope_share", steady.map(|window| window.slope_excursion() / window.mean)),
        ] {
            figures.metrics.insert(format!("{test}.{name}"), value);
        }
        if let Some(text) = obstacle {
            let reason = Reason::not_steady(text);
            figures.marks.push(reason.mark(&format!("{test}.steady_mean")));
            rates::mark(figures, &reason, is_over_rounds);
        }
        figures.tables.push(self.table(conditions));
        if let Some(window) = steady {
            figures.findings.push(self.finding(measured, &test, &window));
        } else if self.values.len() >= PTS_ROUNDS_MAX as usize {
            figures.warnings.push(format!(
                "no steady state within {PTS_ROUNDS_MAX} rounds; the figures are those of the last five"
            ));
        }
    }

    fn table(&self, conditions: &Conditions) -> Table {
        let Self { stage, words, unit, values } = self;
        let (underscore, comma) = if stage.is_empty() { ("", "") } else { ("_", ", ") };
        let name = format!("rounds{underscore}{stage}");
        let title = format!("Steady state convergence{comma}{stage}");
        let mut table = rates::table(&name, &title, "round", &[(words, unit)]);
        table.conditions = conditions.clone();
        let row = |(round, value): (u32, &f64)| TableRow {
            label: round.to_string(),
            values: vec![Some(*value)],
        };
        table.rows = (1..).zip(*values).map(row).collect();
        table
    }

    fn finding(&self, measured: &Measurements<'_>, test: &str, window: &Window) -> Finding {
        let text = format!(
            "is in steady state from round {} to {}: {} within {:.0}% (20 allowed), trend {:.1}% (10 \
             allowed)",
            window.start + 1,
            window.start + window.len,
            self.words,
            100.0 * window.range / window.mean,
            100.0 * window.slope_excursion() / window.mean
        );
        rates::finding(measured, &format!("{test}.steady_from_round"), &text)
    }
}
