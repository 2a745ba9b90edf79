//! A matrix of rates at the queue depth of the specification, with one cell tracked over the rounds.

use load::Order;

use super::Common;
use super::matrix::{self, Cell};
use super::rounds::{Rounds, TrackedFigure, of_rounds, until_steady};
use crate::suite::{Figures, Measurements, Notes, Part, Site, Step};

/// The matrix of one test.
pub(crate) struct RateMatrix {
    /// The test, with which its metrics begin.
    pub(crate) test: &'static str,
    /// The cells, in the order of a round.
    pub(crate) cells: fn() -> Vec<Cell>,
    /// Order of the addresses within a cell.
    pub(crate) order: Order,
    /// The cell whose rate must become steady.
    pub(crate) tracked: Cell,
    /// The tracked cell in words.
    pub(crate) tracked_words: &'static str,
    /// Name and title of the table.
    pub(crate) table: (&'static str, &'static str),
    /// The rate of the table and of the tracked cell.
    pub(crate) rate: fn(&Part<'_>) -> Option<f64>,
    /// Unit of the rate.
    pub(crate) unit: &'static str,
}

impl RateMatrix {
    /// The beginning of the specification, then rounds until the tracked cell is steady.
    pub(crate) fn steps(
        &'static self,
        common: &Common,
        site: &Site<'_>,
        notes: &mut Notes,
    ) -> Vec<Step> {
        let settled = until_steady(|measured| self.tracked_rates(measured));
        matrix::steps_of(common, (&(self.cells)(), &self.order), settled, site, notes)
    }

    /// Means over the steady rounds: metrics of every cell, the table, and the tracked rate.
    pub(crate) fn figures(&self, common: &Common, measured: &Measurements<'_>) -> Figures {
        let mut figures = Figures::default();
        let (tracked, cells) = (self.tracked_rates(measured), (self.cells)());
        let rounds = Rounds::of(&tracked);
        let mean = |cell: Cell, value: fn(&Part<'_>) -> Option<f64>| {
            rounds.mean(&of_rounds(measured, &cell.name(), |part| value(&part)))
        };
        for &cell in &cells {
            let name = format!("{}.{}", self.test, cell.name());
            figures.metrics.insert(format!("{name}.iops"), mean(cell, |part| part.iops()));
            figures.metrics.insert(format!("{name}.mb_per_s"), mean(cell, |part| part.mb_per_s()));
        }
        let conditions = common.conditions(measured);
        let (name, title) = self.table;
        let value = |cell| mean(cell, self.rate);
        figures.tables.push(matrix::table((name, title, self.unit), &cells, &conditions, value));
        let (words, unit) = (self.tracked_words, self.unit);
        let tracked = TrackedFigure { stage: "", words, unit, values: &tracked };
        tracked.add_to(&mut figures, measured, &conditions);
        figures
    }

    fn tracked_rates(&self, measured: &Measurements<'_>) -> Vec<f64> {
        of_rounds(measured, &self.tracked.name(), |part| (self.rate)(&part))
    }
}
