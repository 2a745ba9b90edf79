//! The effects of a run on a drive by the drive's own counters: before, after, and the difference.

use base::HealthSnapshot;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema::{Health, HealthSample};

/// Counters of NAND often advance in steps of tens of MiB: below this a ratio would be noise.
const RATIO_BYTES_MIN: u64 = 1_000_000_000;

/// Counters of SATA vendors advance in steps of a GiB: below this a ratio is more than 3% off.
const HOST_BYTES_MIN: u64 = 32 << 30;
/// A reading at most this far from the end of a phase is one beside it.
const BESIDE_NS: u64 = 10_000_000_000;

/// The health of a drive for a reader.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, PartialEq)]
pub struct HealthSummary {
    /// Source of the values: `nvme-smart-log` or `ata-smart`.
    pub source: String,
    /// The counters and readings of the drive, in reading order.
    pub rows: Vec<HealthRow>,
    /// Lowest and highest temperature of all samples, in degrees Celsius; missing if the drive
    /// reports none.
    pub temperature_c: Option<(i32, i32)>,
    /// Number of samples.
    pub looks: u32,
    /// Bytes programmed into NAND / bytes written by the host during the run; missing if the drive
    /// does not count both, or less than 1 GB was written.
    pub nand_over_host: Option<f64>,
}

/// One counter or reading.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub struct HealthRow {
    /// Name of the counter or reading.
    pub label: String,
    /// `bytes`, `degrees C`, `%`, `h`, `min`, `s`, or nothing for counts.
    pub unit: String,
    /// Before the first phase.
    pub before: Option<i64>,
    /// After the last one.
    pub after: Option<i64>,
    /// Whether a rise is bad.
    pub rise_is_bad: bool,
}

impl HealthRow {
    /// Value after minus value before; `None` if one of them is unknown.
    pub fn change(&self) -> Option<i64> {
        self.after?.checked_sub(self.before?)
    }
}

type Reading = fn(&HealthSnapshot) -> Option<u64>;

/// Label, unit, whether a rise is bad, and the reading.
const READINGS: [(&str, &str, bool, Reading); 12] = [
    ("written by the host", "bytes", false, |look| look.host_written_bytes),
    ("programmed into NAND", "bytes", false, |look| look.nand_written_bytes),
    ("read by the host", "bytes", false, |look| look.host_read_bytes),
    ("life used, as the drive estimates", "%", false, |look| look.percentage_used.map(u64::from)),
    ("spare blocks left", "%", false, |look| look.available_spare_percent.map(u64::from)),
    ("switched on", "h", false, |look| look.power_on_hours),
    ("switched on, times", "", false, |look| look.power_cycles),
    ("lost power without notice, times", "", true, |look| look.unsafe_shutdowns),
    ("errors that could not be corrected", "", true, |look| look.media_errors),
    ("above its limits of temperature", "min", true, |look| look.over_temperature_min),
    ("throttled because of heat, times", "", true, |look| look.throttle_count),
    ("throttled because of heat", "s", true, |look| look.throttle_s),
];

impl HealthSummary {
    /// The summary of the record; `None` if the drive reported nothing.
    pub fn of(health: &Health) -> Option<Self> {
        let (before, after) = (health.before.as_ref(), health.after.as_ref());
        let source = before.or(after)?.source.clone();
        let readings = READINGS.iter().map(|&(label, unit, rise_is_bad, reading)| HealthRow {
            label: label.to_owned(),
            unit: unit.to_owned(),
            before: before.and_then(reading).and_then(signed),
            after: after.and_then(reading).and_then(signed),
            rise_is_bad,
        });
        let told = |row: &HealthRow| row.before.is_some() || row.after.is_some();
        let rows = temperature_row(before, after).into_iter().chain(readings).filter(told);
        Some(Self {
            source,
            rows: rows.chain(changed_attributes(before, after)).collect(),
            temperature_c: temperatures(health),
            looks: u32::try_from(
                health.samples.len() + usize::from(before.is_some()) + usize::from(after.is_some()),
            )
            .unwrap_or(u32::MAX),
            nand_over_host: nand_over_host(before, after),
        })
    }
}

fn signed(value: u64) -> Option<i64> {
    i64::try_from(value).ok()
}

fn temperature_row(
    before: Option<&HealthSnapshot>,
    after: Option<&HealthSnapshot>,
) -> Option<HealthRow> {
    let reading = |look: Option<&HealthSnapshot>| look?.temperature_c.map(i64::from);
    Some(HealthRow {
        label: "temperature".to_owned(),
        unit: "degrees C".to_owned(),
        before: reading(before),
        after: reading(after),
        rise_is_bad: false,
    })
}

/// Raw attributes of a SATA drive that changed during the run; the vendor defines their meaning.
fn changed_attributes(
    before: Option<&HealthSnapshot>,
    after: Option<&HealthSnapshot>,
) -> Vec<HealthRow> {
    let (Some(before), Some(after)) = (before, after) else { return Vec::new() };
    let mut changed: Vec<(u8, HealthRow)> = Vec::new();
    for (id, now) in &after.attributes {
        let (Some(then), Ok(number)) = (before.attributes.get(id), id.parse()) else { continue };
        if then != now {
            let label = format!("SMART attribute {id}, raw");
            let (before, after) = (signed(*then), signed(*now));
            let unit = String::new();
            changed.push((number, HealthRow { label, unit, before, after, rise_is_bad: false }));
        }
    }
    changed.sort_by_key(|(number, _)| *number);
    changed.into_iter().map(|(_, row)| row).collect()
}

fn temperatures(health: &Health) -> Option<(i32, i32)> {
    let looks = health.before.iter().chain(&health.after).filter_map(|look| look.temperature_c);
    let all = looks.chain(health.samples.iter().filter_map(|sample| sample.temperature_c));
    all.fold(None, |range, c| {
        let (low, high) = range.unwrap_or((c, c));
        Some((low.min(c), high.max(c)))
    })
}

/// The ratio over a whole run, where enough was written for the steps of the counters.
fn nand_over_host(before: Option<&HealthSnapshot>, after: Option<&HealthSnapshot>) -> Option<f64> {
    let grown = |reading: Reading| reading(after?)?.checked_sub(reading(before?)?);
    let is_sata = before.is_some_and(|look| look.source == "ata-smart");
    let least = if is_sata { HOST_BYTES_MIN } else { RATIO_BYTES_MIN };
    let host = grown(|look| look.host_written_bytes).filter(|&bytes| bytes >= least)?;
    let nand = grown(|look| look.nand_written_bytes)?;
    Some(nand as f64 / host as f64)
}

/// Write amplification in a part of a run, by the drive's own counters: bytes programmed into NAND
/// over bytes written by the host, from the first update of the NAND counter in that time to the
/// last one; `None` if the samples show fewer than two updates there. Times are on the target's
/// clock.
///
/// Drives update that counter at their own pace (a Micron 7450 every second, a Solidigm P5520 every
/// 60 s). Between two updates it stands still while the host writes on, so only the differences
/// from update to update are of the same time.
pub fn waf_between(samples: &[HealthSample], from_ns: u64, until_ns: u64) -> Option<f64> {
    let within = samples.iter().filter(|sample| (from_ns..=until_ns).contains(&sample.at_ns));
    let counts: Vec<(u64, u64)> =
        within.filter_map(|look| look.host_written_bytes.zip(look.nand_written_bytes)).collect();
    let updates = counts.windows(2).filter(|pair| pair[1].1 != pair[0].1).map(|pair| pair[1]);
    let updates: Vec<(u64, u64)> = updates.collect();
    let (first, last) = (updates.first()?, updates.last()?);
    let host = last.0.checked_sub(first.0).filter(|bytes| *bytes > 0)?;
    Some(last.1.checked_sub(first.1)? as f64 / host as f64)
}

/// The write amplification of a drive that is read only between phases, from the reading before to the one after: both at most
/// [`BESIDE_NS`] away, and the host wrote enough for counters in GiB. `None` otherwise.
pub fn waf_around(samples: &[HealthSample], from_ns: u64, until_ns: u64) -> Option<f64> {
    let before = samples.iter().rfind(|sample| sample.at_ns <= from_ns);
    let after = samples.iter().find(|sample| sample.at_ns >= until_ns);
    let (before, after) = (before?, after?);
    let is_beside = from_ns - before.at_ns <= BESIDE_NS && after.at_ns - until_ns <= BESIDE_NS;
    let host = after.host_written_bytes?.checked_sub(before.host_written_bytes?)?;
    let nand = after.nand_written_bytes?.checked_sub(before.nand_written_bytes?)?;
    (is_beside && host >= HOST_BYTES_MIN && nand > 0).then(|| nand as f64 / host as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u64 = 1_000_000_000;

    fn look(temperature_c: i32, host_gb: u64, nand_gb: u64) -> HealthSnapshot {
        HealthSnapshot {
            temperature_c: Some(temperature_c),
            host_written_bytes: Some(host_gb * GB),
            nand_written_bytes: Some(nand_gb * GB),
            ..blank("nvme-smart-log")
        }
    }

    fn blank(source: &str) -> HealthSnapshot {
        HealthSnapshot { source: source.to_owned(), ..HealthSnapshot::default() }
    }

    fn health(before: HealthSnapshot, after: Option<HealthSnapshot>, samples: &[i32]) -> Health {
        let sample = |&temperature_c: &i32| HealthSample {
            at_ns: 0,
            temperature_c: Some(temperature_c),
            host_written_bytes: None,
            nand_written_bytes: None,
        };
        Health { before: Some(before), after, samples: samples.iter().map(sample).collect() }
    }

    #[test]
    fn what_was_written_is_the_difference_and_its_ratio_the_amplification_of_the_run() {
        let seen = health(look(31, 100, 150), Some(look(58, 110, 180)), &[40, 63, 59]);
        let summary = HealthSummary::of(&seen).expect("a drive that tells");
        let labels: Vec<_> = summary.rows.iter().map(|row| row.label.as_str()).collect();
        assert_eq!(labels, ["temperature", "written by the host", "programmed into NAND"]);
        assert_eq!(summary.rows[1].change(), Some(10 * GB as i64));
        assert_eq!(summary.nand_over_host, Some(3.0));
        assert_eq!((summary.temperature_c, summary.looks), (Some((31, 63)), 5));
    }

    #[test]
    fn little_written_or_counters_set_back_give_no_ratio() {
        let ratio = |after| {
            let seen = health(look(31, 100, 150), Some(after), &[]);
            HealthSummary::of(&seen).and_then(|summary| summary.nand_over_host)
        };
        assert_eq!(ratio(look(31, 100, 150)), None);
        assert_eq!(ratio(look(31, 2, 3)), None);
    }

    #[test]
    fn a_run_that_died_has_only_what_was_read_before() {
        let summary = HealthSummary::of(&health(look(31, 1, 1), None, &[])).expect("one look");
        assert!(summary.rows.iter().all(|row| row.after.is_none() && row.change().is_none()));
        assert_eq!(HealthSummary::of(&Health::default()), None);
    }

    #[test]
    fn of_raw_attributes_only_those_that_moved_are_told_in_the_order_of_their_numbers() {
        let at = |wear: u64, written: u64| HealthSnapshot {
            attributes: [("9", 4), ("241", written), ("177", wear)]
                .map(|(id, raw)| (id.to_owned(), raw))
                .into(),
            ..blank("ata-smart")
        };
        let summary = HealthSummary::of(&health(at(7, 100), Some(at(8, 300)), &[])).expect("SMART");
        let rows: Vec<_> =
            summary.rows.iter().map(|row| (row.label.as_str(), row.change())).collect();
        let attribute = |id| format!("SMART attribute {id}, raw");
        assert_eq!(
            rows,
            [(attribute(177).as_str(), Some(1)), (attribute(241).as_str(), Some(200))]
        );
    }

    /// Seconds, bytes by the host, bytes into NAND.
    fn samples(values: &[(u64, u64, u64)]) -> Vec<HealthSample> {
        let sample = |&(at_s, host, nand): &(u64, u64, u64)| HealthSample {
            at_ns: at_s * 1_000_000_000,
            temperature_c: None,
            host_written_bytes: Some(host),
            nand_written_bytes: Some(nand),
        };
        values.iter().map(sample).collect()
    }

    #[test]
    fn a_slow_counter_is_read_from_update_to_update() {
        // The host writes 10 a second; the drive programs 30 and counts them every 60 s.
        let of = |at: u64| (at, 10 * at, 30 * (at / 60) * 60);
        let all = samples(&(0..=30).map(|n| of(10 * n)).collect::<Vec<_>>());
        assert_eq!(waf_between(&all, 0, u64::MAX), Some(3.0));
        assert_eq!(waf_between(&all, 65_000_000_000, 250_000_000_000), Some(3.0));
        assert_eq!(waf_between(&all, 65_000_000_000, 150_000_000_000), None, "one update");
    }

    #[test]
    fn readings_between_phases_count_what_is_between_them() {
        let gib = |count: u64| count << 30;
        let all = samples(&[(0, 0, 0), (100, gib(40), gib(40)), (500, gib(140), gib(290))]);
        let at = |seconds: u64| seconds * 1_000_000_000;
        assert_eq!(waf_around(&all, at(101), at(499)), Some(2.5));
        assert_eq!(waf_around(&all, at(1), at(99)), Some(1.0));
        assert_eq!(waf_around(&all, at(300), at(499)), None, "the last part of a phase");
        assert_eq!(waf_around(&all, at(501), at(600)), None, "no reading after");
        let little = samples(&[(0, 0, 0), (10, gib(2), gib(3))]);
        assert_eq!(waf_around(&little, at(1), at(9)), None, "counters in GiB");
    }

    #[test]
    fn what_is_not_counted_gives_no_amplification() {
        let mut all = samples(&[(0, 0, 0), (10, 5, 10), (20, 10, 20)]);
        assert_eq!(waf_between(&all, 0, u64::MAX), Some(2.0));
        all[2].nand_written_bytes = None;
        assert_eq!(waf_between(&all, 0, u64::MAX), None);
        for (still, reset) in [((5, 10), (5, 12)), ((5, 10), (9, 2))] {
            let all = samples(&[(0, 0, 9), (1, still.0, still.1), (2, reset.0, reset.1)]);
            assert_eq!(waf_between(&all, 0, u64::MAX), None);
        }
    }
}
