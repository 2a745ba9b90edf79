//! The common needs of several benches: a scratch directory, and the CPU time of child processes.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Times in /proc are given in ticks of this many ns; Linux keeps 100 Hz here on every machine.
const TICK_NS: f64 = 1e7;

/// A scratch directory, removed on drop.
pub(super) struct ScratchDir(pub(super) PathBuf);

impl ScratchDir {
    /// /tmp may be memory, which would measure no disk; hence the default /var/tmp.
    pub(super) fn make(dir: Option<&Path>) -> Result<Self> {
        let parent = match dir {
            Some(dir) => dir.to_path_buf(),
            None => std::env::var_os("TMPDIR").map_or_else(|| "/var/tmp".into(), PathBuf::from),
        };
        let path = parent.join(format!("ssdlab-bench-{}", std::process::id()));
        std::fs::create_dir(&path).with_context(|| {
            format!("cannot make {}; choose a place with --dir", path.display())
        })?;
        Ok(Self(path))
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        // Nothing depends on it, and the name says whose it is.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// CPU time of all children that ended so far, user and system, in ns.
pub(crate) fn children_cpu_ns() -> Result<f64> {
    let stat =
        std::fs::read_to_string("/proc/self/stat").context("CPU times need Linux's /proc")?;
    ticks(&stat, CHILDREN).map(|ticks| ticks * TICK_NS).context("/proc/self/stat is not as known")
}

/// CPU time of a process so far, user and system, in ns.
pub(crate) fn process_cpu_ns(pid: u32) -> Result<f64> {
    let path = format!("/proc/{pid}/stat");
    let stat = std::fs::read_to_string(&path).with_context(|| path.clone())?;
    ticks(&stat, OWN)
        .map(|ticks| ticks * TICK_NS)
        .with_context(|| format!("{path} is not as known"))
}

/// The first of two fields of proc(5) with user and system ticks: those of the process, and those of the children that
/// it has waited for.
const OWN: usize = 14;
const CHILDREN: usize = 16;

/// The sum of two fields of proc(5). The name in field 2 may hold spaces, so counting starts behind its closing bracket,
/// at field 3.
fn ticks(stat: &str, first_field: usize) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut ticks = fields.split_whitespace().skip(first_field - 3).take(2);
    let (user, system): (f64, f64) = (ticks.next()?.parse().ok()?, ticks.next()?.parse().ok()?);
    Some(user + system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_read_behind_a_name_with_spaces() {
        let stat = "7 (a ) b) S 1 2 3 4 5 6 7 8 9 10 11 12 30 12 20 0";
        assert_eq!(ticks(stat, CHILDREN), Some(42.0));
        assert_eq!(ticks(stat, OWN), Some(23.0));
        assert_eq!(ticks("nonsense", OWN), None);
    }
}
