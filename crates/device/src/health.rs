//! Health of a drive: temperature, wear and bytes ever written to it, for NVMe and SATA drives
//! alike.

use std::fs::File;
use std::sync::OnceLock;

use base::{HealthSnapshot, Nanos};
use target::TargetError;
use target::clock::Clock as _;
use target::health::HealthProbe;

use crate::ata::counters::{self, Written};
use crate::ata::{self, smart::Attribute};
use crate::describe::{DeviceReport, Protocol};
use crate::host::clock::MonotonicClock;
use crate::nvme::{self, fdp};

/// Zero degrees Celsius.
const ZERO_CELSIUS_K: i32 = 273;

/// Asks a real drive by commands of its protocol.
#[derive(Debug)]
pub struct DriveProbe {
    file: File,
    protocol: Protocol,
    name: String,
    clock: MonotonicClock,
    /// Bytes and pages of the host at the first reading, on drives that count pages of unknown size.
    first: OnceLock<(u64, u64)>,
    /// The counters of data placement, or `None` if the drive has none; unknown before the first reading.
    placement: OnceLock<Option<PlacementCounters>>,
}

/// The counters of an endurance group with data placement. They are exact to the byte, where the SMART log counts thousands
/// of sectors.
#[derive(Clone, Copy, Debug)]
struct PlacementCounters {
    group: u16,
    /// Bytes of the host at the first reading, by these counters and by the SMART log.
    first: (u128, u64),
    /// Whether no other log counts the bytes programmed.
    counts_nand: bool,
}

impl DriveProbe {
    /// A probe of the open device, or `None` if it speaks no protocol that tells of health.
    pub fn new(file: &File, protocol: Protocol, name: &str, clock: MonotonicClock) -> Option<Self> {
        if protocol == Protocol::Other {
            return None;
        }
        let (first, placement) = (OnceLock::new(), OnceLock::new());
        Some(Self {
            file: file.try_clone().ok()?,
            protocol,
            name: name.to_owned(),
            clock,
            first,
            placement,
        })
    }

    fn read_nvme(&self) -> Result<HealthSnapshot, TargetError> {
        let controller = nvme::Controller::new(&self.file, &self.name);
        let mut health = of_nvme(&controller.smart()?);
        // Most drives do not have this log.
        health.nand_written_bytes = controller.nand_written_bytes().ok().flatten();
        let counters = self.placement.get_or_init(|| PlacementCounters::find(&controller, &health));
        if let Some(counters) = counters
            && let Ok(now) = controller.placement_statistics(counters.group)
        {
            counters.add_to(&mut health, now);
        }
        Ok(health)
    }

    fn read_ata(&self) -> Result<HealthSnapshot, TargetError> {
        let mut drive = ata::Drive::new(&self.file, &self.name);
        let id = drive.identify()?;
        let attributes = drive.attributes()?;
        // Optional, and missing in most older drives.
        let statistics = drive.statistics().unwrap_or_default();
        let mut health = of_ata(&attributes, &statistics, id.logical_block_bytes);
        if let Some(written) = counters::written(&id.model, &attributes) {
            add_written(&mut health, written, &self.first);
        }
        Ok(health)
    }
}

impl PlacementCounters {
    /// The counters beside the first health of a drive, or `None` if it has none.
    fn find(controller: &nvme::Controller<'_>, health: &HealthSnapshot) -> Option<Self> {
        let namespace_id = controller.namespace_id().ok()?;
        let group = controller.placement_group(namespace_id).ok().flatten()?;
        let now = controller.placement_statistics(group).ok()?;
        let counts_nand = health.nand_written_bytes.is_none();
        Some(Self {
            group,
            first: (now.host_written_bytes, health.host_written_bytes?),
            counts_nand,
        })
    }

    /// Makes the growth of a health exact, and adds the bytes programmed where nothing else counts them: those since
    /// placement was switched on.
    fn add_to(&self, health: &mut HealthSnapshot, now: fdp::Statistics) {
        let grown = now.host_written_bytes.checked_sub(self.first.0);
        let grown = grown.and_then(|bytes| u64::try_from(bytes).ok());
        if let Some(bytes) = grown {
            health.host_written_bytes = Some(self.first.1.saturating_add(bytes));
        }
        if self.counts_nand {
            health.nand_written_bytes = u64::try_from(now.media_written_bytes).ok();
        }
    }
}

impl HealthProbe for DriveProbe {
    fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// NVMe has a queue of its own for such commands, while a SATA drive first ends every command that it has.
    fn is_harmless(&self) -> bool {
        self.protocol == Protocol::Nvme
    }

    fn read(&self) -> Result<HealthSnapshot, TargetError> {
        match self.protocol {
            Protocol::Nvme => self.read_nvme(),
            Protocol::Ata => self.read_ata(),
            Protocol::Other => Err(TargetError::Unsupported(format!("{} has no SMART", self.name))),
        }
    }
}

/// Whether the drive tells the bytes programmed into its NAND. Asks it (needs root), and opens it for reading only.
pub fn counts_nand_writes(report: &DeviceReport) -> bool {
    let read = || {
        let node = File::open(&report.node).ok()?;
        let clock = MonotonicClock::start();
        let probe = DriveProbe::new(&node, report.protocol, &report.name, clock)?;
        probe.read().ok()?.nand_written_bytes
    };
    read().is_some()
}

fn of_nvme(log: &nvme::log::SmartLog) -> HealthSnapshot {
    let temperature_c = i32::from(log.temperature_k) - ZERO_CELSIUS_K;
    let sum = |counts: [u32; 2]| counts.into_iter().map(u64::from).sum();
    HealthSnapshot {
        source: "nvme-smart-log".to_owned(),
        temperature_c: (log.temperature_k > 0).then_some(temperature_c),
        host_read_bytes: Some(log.host_read_bytes),
        host_written_bytes: Some(log.host_written_bytes),
        percentage_used: Some(log.percentage_used),
        available_spare_percent: Some(log.available_spare_percent),
        power_on_hours: Some(log.power_on_hours),
        power_cycles: Some(log.power_cycles),
        unsafe_shutdowns: Some(log.unsafe_shutdowns),
        media_errors: Some(log.media_errors),
        critical_warning: Some(log.critical_warning),
        over_temperature_min: Some(sum([
            log.warning_temperature_min,
            log.critical_temperature_min,
        ])),
        throttle_count: Some(sum(log.throttle_count)),
        throttle_s: Some(sum(log.throttle_s)),
        ..HealthSnapshot::default()
    }
}

fn of_ata(
    attributes: &[Attribute],
    statistics: &ata::smart::Statistics,
    block_bytes: u32,
) -> HealthSnapshot {
    let bytes =
        |blocks: Option<u64>| blocks.map(|blocks| blocks.saturating_mul(block_bytes.into()));
    let raw = |id| attributes.iter().find(|line| line.id == id).map(|line| line.raw);
    // Many vendors keep minutes or more in the upper bytes of the hours.
    let hours = raw(9).map(|hours| hours & 0xffff_ffff);
    HealthSnapshot {
        source: "ata-smart".to_owned(),
        temperature_c: statistics.temperature_c.or_else(|| Attribute::temperature_c(attributes)),
        host_read_bytes: bytes(statistics.read_blocks),
        host_written_bytes: bytes(statistics.written_blocks),
        percentage_used: statistics.percentage_used,
        power_on_hours: statistics.power_on_hours.or(hours),
        power_cycles: statistics.power_cycles.or_else(|| raw(12)),
        over_temperature_min: statistics.over_temperature_min,
        attributes: attributes.iter().map(|line| (line.id.to_string(), line.raw)).collect(),
        ..HealthSnapshot::default()
    }
}

/// Adds the vendor's counters; the standard's count of the host's bytes comes before the vendor's. Pages get the mean
/// size that they had at the `first` reading, so that the ratio of two differences is that of the pages.
fn add_written(health: &mut HealthSnapshot, written: Written, first: &OnceLock<(u64, u64)>) {
    match written {
        Written::Bytes { host, nand } => {
            health.host_written_bytes = health.host_written_bytes.or(Some(host));
            health.nand_written_bytes = Some(nand);
        }
        Written::Pages { host_bytes, host, all } => {
            health.host_written_bytes = health.host_written_bytes.or(host_bytes);
            let Some(bytes) = health.host_written_bytes.filter(|_| host > 0) else { return };
            let (bytes, pages) = *first.get_or_init(|| (bytes, host));
            let nand = u128::from(all) * u128::from(bytes) / u128::from(pages);
            health.nand_written_bytes = u64::try_from(nand).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ata::smart::Statistics;
    use crate::nvme::log::SmartLog;

    #[test]
    fn a_controller_without_a_thermometer_is_not_at_absolute_zero() {
        let mut bytes = [0; 512];
        assert_eq!(of_nvme(&SmartLog::decode(&bytes)).temperature_c, None);
        bytes[1..3].copy_from_slice(&310_u16.to_le_bytes());
        bytes[216] = 2;
        bytes[220] = 3;
        let health = of_nvme(&SmartLog::decode(&bytes));
        assert_eq!((health.temperature_c, health.throttle_count), (Some(37), Some(5)));
    }

    #[test]
    fn the_counters_of_placement_make_what_was_written_exact() {
        let counters = PlacementCounters { group: 1, first: (4_096, 512_000), counts_nand: true };
        let smart =
            HealthSnapshot { host_written_bytes: Some(1_024_000), ..HealthSnapshot::default() };
        let read = |counters: PlacementCounters, host_written_bytes| {
            let mut health = smart.clone();
            let media_written_bytes = 3 * 409_600;
            let counted =
                fdp::Statistics { host_written_bytes, media_written_bytes, ..Default::default() };
            counters.add_to(&mut health, counted);
            (health.host_written_bytes, health.nand_written_bytes)
        };
        assert_eq!(read(counters, 413_696), (Some(921_600), Some(1_228_800)));
        let beside_ocp = PlacementCounters { counts_nand: false, ..counters };
        assert_eq!(read(beside_ocp, 413_696), (Some(921_600), None));
        assert_eq!(read(counters, 0).0, Some(1_024_000), "counters that were set back");
        assert_eq!(read(counters, u128::MAX).0, Some(1_024_000));
    }

    #[test]
    fn pages_keep_their_size_from_reading_to_reading() {
        let first = OnceLock::new();
        let read = |host_bytes, host, all| {
            let mut health = HealthSnapshot::default();
            let written = Written::Pages { host_bytes: Some(host_bytes), host, all };
            add_written(&mut health, written, &first);
            health.nand_written_bytes.unwrap()
        };
        let before = read(32_000_000, 1_000, 3_000);
        // Half-full pages since: 200 pages for the host, and 400 of the drive itself.
        let after = read(35_200_000, 1_200, 3_600);
        assert_eq!((before, after - before), (96_000_000, 600 * 32_000));
    }

    #[test]
    fn the_standards_statistics_come_before_the_vendors_attributes() {
        let line = |id, raw| Attribute { id, value: 100, worst: 100, raw };
        let lines = [line(9, 0x0007_0000_0011), line(12, 4), line(194, 30)];
        let vendor = of_ata(&lines, &Statistics::default(), 512);
        assert_eq!(vendor.power_on_hours, Some(0x11));
        assert_eq!((vendor.temperature_c, vendor.host_written_bytes), (Some(30), None));
        let statistics = Statistics {
            temperature_c: Some(31),
            written_blocks: Some(10),
            power_on_hours: Some(18),
            ..Statistics::default()
        };
        let standard = of_ata(&lines, &statistics, 4096);
        assert_eq!((standard.temperature_c, standard.power_on_hours), (Some(31), Some(18)));
        assert_eq!(standard.host_written_bytes, Some(40_960));
        assert_eq!(standard.attributes["194"], 30);
    }
}
