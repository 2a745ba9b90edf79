//! Check that a simulated drive fits into the memory. Its maps are touched everywhere, so a drive
//! that does not fit ends with the machine swapping or the program killed, an hour into a run.

use std::fs;
use std::path::Path;

use base::Bytes;
use target::TargetError;

/// Memory that this program may still take: the memory that the kernel calls available, limited to
/// the remainder of each control group and of the limits of the process (`ulimit -v`, `ulimit -d`),
/// or `None` if the kernel does not say.
pub fn available_bytes() -> Option<u64> {
    available_in(Path::new("/proc"), Path::new("/sys/fs/cgroup"))
}

/// Refuses `what`, which takes `needed_bytes`, if less is available.
///
/// # Errors
/// [`TargetError::Unsupported`] with both figures and the way out.
pub fn check(what: &str, needed_bytes: u64) -> Result<(), TargetError> {
    check_against(what, needed_bytes, available_bytes())
}

/// Checks a need against the available memory, `None` if that is not known.
///
/// # Errors
/// As [`check`].
pub fn check_against(
    what: &str,
    needed_bytes: u64,
    available_bytes: Option<u64>,
) -> Result<(), TargetError> {
    match available_bytes {
        Some(available_bytes) if needed_bytes > available_bytes => {
            Err(TargetError::Unsupported(too_large(what, needed_bytes, available_bytes)))
        }
        _ => Ok(()),
    }
}

fn too_large(what: &str, needed_bytes: u64, available_bytes: u64) -> String {
    format!(
        "the maps of {what} take {} of memory, and {} are available; simulate a part of the drive, which takes as \
         much less and behaves the same, with the key `scale=1/64` in the target",
        Bytes(needed_bytes).rounded(),
        Bytes(available_bytes).rounded()
    )
}

fn available_in(proc: &Path, groups: &Path) -> Option<u64> {
    let meminfo = fs::read_to_string(proc.join("meminfo")).ok()?;
    let machine = first_number(&meminfo, "MemAvailable:")?.saturating_mul(1024);
    [left_by_groups(proc, groups), left_by_limits(proc), Some(machine)].into_iter().flatten().min()
}

/// The remainder under the limits of this process for its address space and its data.
fn left_by_limits(proc: &Path) -> Option<u64> {
    let limits = fs::read_to_string(proc.join("self/limits")).ok()?;
    let status = fs::read_to_string(proc.join("self/status")).ok()?;
    // No number stands where there is no limit.
    let limit = |name| first_number(&limits, name);
    let held = |name| first_number(&status, name).map(|kib| kib.saturating_mul(1024));
    let left = |(limited, holding)| Some(limit(limited)?.saturating_sub(held(holding)?));
    let pairs = [("Max address space", "VmSize:"), ("Max data size", "VmData:")];
    pairs.into_iter().filter_map(left).min()
}

/// The number that follows `name` at the beginning of a line.
fn first_number(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// The remainder in the control group of this program, or in one around it; version 2 of the
/// interface.
fn left_by_groups(proc: &Path, groups: &Path) -> Option<u64> {
    let own = fs::read_to_string(proc.join("self/cgroup")).ok()?;
    let own = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    groups.join(own).ancestors().take_while(|dir| dir.starts_with(groups)).filter_map(left_by).min()
}

/// The limit of a group less its use; cached file content can be reclaimed and does not count.
fn left_by(group: &Path) -> Option<u64> {
    let number = |name: &str| fs::read_to_string(group.join(name)).ok()?.trim().parse::<u64>().ok();
    let (limit, held) = (number("memory.max")?, number("memory.current")?);
    let stat = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
    let cached = stat.lines().filter_map(|line| {
        let (name, bytes) = line.split_once(' ')?;
        matches!(name, "inactive_file" | "active_file").then(|| bytes.parse::<u64>().ok())?
    });
    Some(limit.saturating_sub(held.saturating_sub(cached.sum())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(root: &Path, name: &str, text: &str) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn the_tightest_limit_counts_and_cached_files_give_way() {
        let dir = tempfile::tempdir().unwrap();
        let (proc, groups) = (dir.path().join("proc"), dir.path().join("groups"));
        let available = || available_in(&proc, &groups);
        assert_eq!(available(), None);
        file(&proc, "meminfo", "MemTotal:  4000 kB\nMemAvailable:    3000 kB\n");
        assert_eq!(available(), Some(3000 * 1024));
        file(&proc, "self/cgroup", "0::/outer/inner\n");
        file(&groups, "outer/inner/memory.max", "max\n");
        file(&groups, "outer/inner/memory.current", "500\n");
        assert_eq!(available(), Some(3000 * 1024));
        file(&groups, "outer/memory.max", "9000\n");
        file(&groups, "outer/memory.current", "8000\n");
        file(&groups, "outer/memory.stat", "anon 1000\ninactive_file 4000\nactive_file 2000\n");
        assert_eq!(available(), Some(7000));
        file(&proc, "self/status", "VmSize:\t      5 kB\nVmData:\t       1 kB\n");
        let limits = |space: &str, data: &str| {
            let unlimited = format!("Max data size    {data}    unlimited    bytes");
            let space = format!("Max address space    {space}    unlimited    bytes");
            file(&proc, "self/limits", &format!("Limit    Soft Limit\n{unlimited}\n{space}\n"));
            available()
        };
        assert_eq!(limits("unlimited", "unlimited"), Some(7000));
        assert_eq!(limits("10240", "unlimited"), Some(5120));
        assert_eq!(limits("10240", "2048"), Some(1024));
        assert_eq!(limits("1024", "unlimited"), Some(0));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_both_figures_and_the_way_out() {
        check("sim:ideal", 0).unwrap();
        let Err(TargetError::Unsupported(message)) = check("sim:x", u64::MAX) else { panic!() };
        assert!(message.contains("sim:x") && message.contains("18446744.1 TB"), "{message}");
        assert!(message.contains("are available") && message.contains("scale=1/64"), "{message}");
    }
}
