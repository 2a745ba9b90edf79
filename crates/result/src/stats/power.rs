//! Power and energy of a series: readings of a meter, or counts of a simulated drive.

use crate::rows::SecondRow;
use crate::stats::rates::seconds;

/// The power over some rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerDraw {
    /// Mean power over the time with a known power.
    pub mean_w: f64,
    /// Highest reading; for a simulated drive the highest mean of a row.
    pub max_w: f64,
    /// Share of the rows' time with a known power.
    pub known_share: f64,
}

impl PowerDraw {
    /// Joules for 10^9 bytes at a rate; `None` if nothing moved.
    pub fn j_per_gb(&self, mb_per_s: f64) -> Option<f64> {
        (mb_per_s > 0.0).then(|| self.mean_w * 1e3 / mb_per_s)
    }
}

/// Mean power of a row in watts, from the meter or else from the drive; `None` if there is neither.
pub fn watts(row: &SecondRow) -> Option<f64> {
    row.power_uw_mean.map(|power_uw| power_uw as f64 / 1e6).or_else(|| own_watts(row))
}

/// A nanojoule in a nanosecond is a watt.
fn own_watts(row: &SecondRow) -> Option<f64> {
    let energy_nj = row.telemetry.map(|telemetry| telemetry.energy_nj).filter(|&nj| nj > 0);
    (row.duration_ns > 0).then_some(energy_nj? as f64 / row.duration_ns as f64)
}

/// Highest reading of a row in watts.
pub fn watts_max(row: &SecondRow) -> Option<f64> {
    row.power_uw_max.map(|power_uw| power_uw as f64 / 1e6).or_else(|| own_watts(row))
}

/// The power over these rows, or `None` without readings.
pub fn drawn(rows: &[SecondRow]) -> Option<PowerDraw> {
    let known = || rows.iter().filter_map(|row| Some((row, watts(row)?)));
    let known_s: f64 = known().map(|(row, _)| seconds(row.duration_ns)).sum();
    let all_s: f64 = rows.iter().map(|row| seconds(row.duration_ns)).sum();
    let energy_j: f64 = known().map(|(row, watts)| watts * seconds(row.duration_ns)).sum();
    let max_w = rows.iter().filter_map(watts_max).max_by(f64::total_cmp)?;
    Some(PowerDraw { mean_w: energy_j / known_s, max_w, known_share: known_s / all_s })
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::TelemetryRow;

    fn row(duration_ns: u64, energy_nj: u64) -> SecondRow {
        let telemetry = Some(TelemetryRow { energy_nj, ..TelemetryRow::default() });
        SecondRow { duration_ns, telemetry, ..SecondRow::default() }
    }

    #[test]
    fn a_mean_weighs_every_row_by_its_length() {
        let rows = [row(1_000_000_000, 2_000_000_000), row(250_000_000, 1_000_000_000)];
        let found = drawn(&rows).unwrap();
        assert_eq!(found, PowerDraw { mean_w: 2.4, max_w: 4.0, known_share: 1.0 });
    }

    #[test]
    fn a_meter_goes_before_what_the_drive_says() {
        let read = SecondRow {
            power_uw_mean: Some(1_500_000),
            power_uw_max: Some(4_000_000),
            ..row(1_000_000_000, 7)
        };
        assert_eq!(drawn(&[read]), Some(PowerDraw { mean_w: 1.5, max_w: 4.0, known_share: 1.0 }));
    }

    #[test]
    fn seconds_that_nobody_read_are_left_out_and_said() {
        let unknown = SecondRow { duration_ns: 1_000_000_000, ..SecondRow::default() };
        let rows = [row(1_000_000_000, 3_000_000_000), unknown.clone(), row(0, 7)];
        let found = drawn(&rows).unwrap();
        assert_eq!(found, PowerDraw { mean_w: 3.0, max_w: 3.0, known_share: 0.5 });
        assert_eq!(drawn(&[unknown]), None);
        assert_eq!(watts(&row(1_000_000_000, 0)), None, "a drive without [power] counts nothing");
    }
}
