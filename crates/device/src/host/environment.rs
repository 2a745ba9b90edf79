//! The machine of a measurement, as far as it may matter for the figures.
//!
//! No host name, no user, no path: results are published.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Label to value; facts that cannot be found out are omitted. The labels are `kernel`,
/// `architecture`, `cpu`, `cpus`, `cpu_governor`, `cpu_idle_driver`, `cpu_idle_states`, `memory_bytes`, `clock_source`,
/// `virtual_machine`, `io_uring_disabled`, `pcie_aspm` and `polled_nvme_queues`.
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
        ("cpu_idle_driver", line("/sys/devices/system/cpu/cpuidle/current_driver")),
        ("cpu_idle_states", idle_states(Path::new("/sys/devices/system/cpu/cpu0/cpuidle"))),
        ("memory_bytes", memory_bytes()),
        ("clock_source", line("/sys/devices/system/clocksource/clocksource0/current_clocksource")),
        ("virtual_machine", Some(is_virtual(&cpuinfo).to_string())),
        ("io_uring_disabled", line("/proc/sys/kernel/io_uring_disabled")),
        (
            "pcie_aspm",
            line("/sys/module/pcie_aspm/parameters/policy").and_then(|list| chosen(&list)),
        ),
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

/// The states in which a processor may rest, as it names them: `POLL, C1, C6`; without those that are switched off.
fn idle_states(dir: &Path) -> Option<String> {
    let entries = fs::read_dir(dir).ok()?.flatten();
    let number =
        |dir: &PathBuf| dir.file_name()?.to_str()?.strip_prefix("state")?.parse::<u32>().ok();
    let states = entries.filter_map(|entry| Some((number(&entry.path())?, entry.path())));
    let text =
        |dir: &Path, name: &str| Some(fs::read_to_string(dir.join(name)).ok()?.trim().to_owned());
    let is_on = |dir: &Path| text(dir, "disable").is_none_or(|flag| flag == "0");
    let names: BTreeMap<u32, String> = states
        .filter(|(_, dir)| is_on(dir))
        .filter_map(|(number, dir)| Some((number, text(&dir, "name")?)))
        .collect();
    let names = names.into_values().collect::<Vec<_>>().join(", ");
    (!names.is_empty()).then_some(names)
}

/// `default [powersave] performance` has the chosen one in brackets.
fn chosen(list: &str) -> Option<String> {
    Some(list.split_once('[')?.1.split_once(']')?.0.to_owned())
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
    fn states_of_rest_are_named_unless_switched_off() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(idle_states(dir.path()), None);
        for (number, name, disable) in
            [("10", "C10", "0"), ("0", "POLL", "0"), ("2", "C6", "1"), ("1", "C1", "0")]
        {
            let state = dir.path().join(format!("state{number}"));
            fs::create_dir(&state).unwrap();
            fs::write(state.join("name"), format!("{name}\n")).unwrap();
            fs::write(state.join("disable"), format!("{disable}\n")).unwrap();
        }
        assert_eq!(idle_states(dir.path()).as_deref(), Some("POLL, C1, C10"));
        assert_eq!(chosen("default [powersave] performance").as_deref(), Some("powersave"));
    }

    #[test]
    fn fields_are_found_by_their_label() {
        let cpuinfo = "processor\t: 0\nmodel name\t: Fast CPU\nflags\t\t: fpu hypervisor sse\n";
        assert_eq!(cpuinfo_field(cpuinfo, "model name").as_deref(), Some("Fast CPU"));
        assert!(is_virtual(cpuinfo) && !is_virtual("flags : fpu"));
    }
}
