//! The use of time by the parts of a simulated drive: the controller, the channels, the dies.

use std::collections::BTreeMap;

use base::TelemetryRow;

use crate::rows::SecondRow;

/// Parts that are busy for at least this share of the time limit the drive.
pub const LIMIT_SHARE: f64 = 0.95;

/// Parts of one kind that work side by side.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    /// Their name in a sentence.
    pub words: &'static str,
    /// Name of the figure for their use of time in steady state.
    pub steady_share_metric: &'static str,
    /// Name of the detail with their number, or `None` if there is always one.
    count: Option<&'static str>,
    busy_ns: fn(&TelemetryRow) -> u64,
}

/// The processor that accepts commands and moves pages.
pub const CONTROLLER: Parts = Parts {
    words: "controller",
    steady_share_metric: "controller_busy_steady_share",
    count: None,
    busy_ns: |t| t.controller_busy_ns,
};

/// The buses between controller and dies.
pub const CHANNELS: Parts = Parts {
    words: "channels",
    steady_share_metric: "channel_busy_steady_share",
    count: Some("sim.channels"),
    busy_ns: |t| t.channel_busy_ns,
};

/// The NAND.
pub const DIES: Parts = Parts {
    words: "dies",
    steady_share_metric: "die_busy_steady_share",
    count: Some("sim.dies"),
    busy_ns: |t| t.die_busy_ns,
};

impl Parts {
    /// All kinds, from the host to the NAND.
    pub const ALL: [Self; 3] = [CONTROLLER, CHANNELS, DIES];

    /// Number of these parts; `None` if the target does not report it.
    fn count(&self, details: &BTreeMap<String, String>) -> Option<f64> {
        let Some(label) = self.count else { return Some(1.0) };
        let count: u32 = details.get(label)?.parse().ok()?;
        (count > 0).then(|| f64::from(count))
    }

    fn busy_ns(&self, row: &SecondRow) -> Option<u64> {
        row.telemetry.as_ref().map(self.busy_ns)
    }

    /// The mean share of them that was busy, row by row; `None` in a row without telemetry. Empty
    /// if nothing is known. A series of zeros counts as unknown, because earlier versions did not
    /// count all parts.
    pub fn shares(
        &self,
        rows: &[&SecondRow],
        details: &BTreeMap<String, String>,
    ) -> Vec<Option<f64>> {
        if rows.iter().all(|row| self.busy_ns(row).unwrap_or(0) == 0) {
            return Vec::new();
        }
        let Some(count) = self.count(details) else { return Vec::new() };
        let share = |row: &&SecondRow| share_of(self.busy_ns(row)?, row.duration_ns, count);
        rows.iter().map(share).collect()
    }

    /// The mean share of them that was busy over all rows with telemetry; `None` if nothing is
    /// known.
    pub fn share(&self, rows: &[SecondRow], details: &BTreeMap<String, String>) -> Option<f64> {
        let told = rows.iter().filter(|row| row.telemetry.is_some());
        let busy_ns = told.clone().filter_map(|row| self.busy_ns(row)).sum();
        let time_ns = told.map(|row| row.duration_ns).sum();
        if busy_ns == 0 { None } else { share_of(busy_ns, time_ns, self.count(details)?) }
    }
}

/// At most 1: dies and channels count an operation at its begin, so that a row can contain more
/// time than its length.
fn share_of(busy_ns: u64, time_ns: u64, count: f64) -> Option<f64> {
    (time_ns > 0).then(|| (busy_ns as f64 / (count * time_ns as f64)).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(busy_ns: Option<u64>) -> SecondRow {
        let telemetry = busy_ns.map(|ns| TelemetryRow {
            die_busy_ns: ns,
            controller_busy_ns: ns,
            ..TelemetryRow::default()
        });
        SecondRow { duration_ns: 1_000, telemetry, ..SecondRow::default() }
    }

    fn dies(count: &str) -> BTreeMap<String, String> {
        [("sim.dies".to_owned(), count.to_owned())].into()
    }

    #[test]
    fn busy_time_becomes_a_share_of_all_parts() {
        let rows = [row(Some(500)), row(None), row(Some(1_500))];
        let by_row: Vec<&SecondRow> = rows.iter().collect();
        assert_eq!(DIES.shares(&by_row, &dies("2")), [Some(0.25), None, Some(0.75)]);
        assert_eq!(DIES.share(&rows, &dies("2")), Some(0.5));
        assert_eq!(CONTROLLER.share(&rows, &dies("2")), Some(1.0));
    }

    #[test]
    fn what_began_in_a_row_may_end_after_it() {
        let rows = [row(Some(2_100))];
        assert_eq!(DIES.shares(&[&rows[0]], &dies("2")), [Some(1.0)]);
        assert_eq!(DIES.share(&rows, &dies("2")), Some(1.0));
    }

    #[test]
    fn unknown_is_unknown() {
        let empty = SecondRow { duration_ns: 0, ..row(Some(5)) };
        for (rows, details) in [
            (vec![], dies("2")),
            (vec![row(None)], dies("2")),
            (vec![row(Some(0))], dies("2")),
            (vec![row(Some(5))], dies("0")),
            (vec![row(Some(5))], dies("many")),
            (vec![row(Some(5))], BTreeMap::new()),
            (vec![empty], dies("2")),
        ] {
            assert_eq!(DIES.share(&rows, &details), None, "{rows:?} {details:?}");
            let by_row: Vec<&SecondRow> = rows.iter().collect();
            assert!(DIES.shares(&by_row, &details).iter().all(Option::is_none));
        }
    }
}
