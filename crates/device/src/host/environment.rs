//! The machine of a measurement, as far as it may matter for the figures.
//!
//! No host name, no user, no path: results are published.

use std::collections::BTreeMap;
use std::fs;

/// Label to value; facts that cannot be found out are omitted. The labels are `kernel`,
/// `architecture`, `cpu`, `cpus`, `cpu_governor`, `memory_bytes`, `clock_source`,
/// `virtual_machine`, `io_uring_disabled` and `polled_nvme_queues`.
pub fn environment() -> BTreeMap<String, String> {
    let uname = rustix::system::uname();
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpus = std::thread::available_parallelism().ok().map(|count| count.to_string());
    [
        ("kernel", Some(uname.release().to_string_lossy().into_owned())),
        ("architecture", Some(uname.machine().to_string_lossy().into_owned())),
        ("cpu", cpuinfo_field(&cpuinfo, "model name")),
        ("cpus", cpus),
        ("cpu_governor", line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
        ("memory_bytes", memory_bytes()),
        ("clock_source", line("/sys/devices/system/clocksource/clocksource0/current_clocksource")),
        ("virtual_machine", Some(is_virtual(&cpuinfo).to_string())),
        ("io_uring_disabled", line("/proc/sys/kernel/io_uring_disabled")),
        ("polled_nvme_queues", line("/sys/module/nvme/parameters/poll_queues")),
    ]
    .into_iter()
    .filter_map(|(label, value)| Some((label.to_owned(), value?)))
    .collect()
}

fn line(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn cpuinfo_field(cpuinfo: &str, label: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with(label))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The processor itself says so: a hypervisor sets this flag for its guests.
fn is_virtual(cpuinfo: &str) -> bool {
    cpuinfo_field(cpuinfo, "flags").is_some_and(|flags| flags.split(' ').any(|f| f == "hypervisor"))
}

fn memory_bytes() -> Option<String> {
    let meminfo = fs::read_to_string("/proc/meminfo").ok()?;
    let kib: u64 = cpuinfo_field(&meminfo, "MemTotal")?.split(' ').next()?.parse().ok()?;
    Some(kib.saturating_mul(1024).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_described_without_naming_it() {
        let found = environment();
        assert!(found.contains_key("kernel") && found.contains_key("memory_bytes"), "{found:?}");
        let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        if name.len() > 3 {
            assert!(!found.values().any(|value| value == &name));
        }
    }

    #[test]
    fn fields_are_found_by_their_label() {
        let cpuinfo = "processor\t: 0\nmodel name\t: Fast CPU\nflags\t\t: fpu hypervisor sse\n";
        assert_eq!(cpuinfo_field(cpuinfo, "model name").as_deref(), Some("Fast CPU"));
        assert!(is_virtual(cpuinfo) && !is_virtual("flags : fpu"));
    }
}
