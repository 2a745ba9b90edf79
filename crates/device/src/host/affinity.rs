//! The processors that a thread may run on.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use target::TargetError;

/// The processors that the calling thread may run on now, by number.
pub fn allowed_cpus() -> Vec<usize> {
    let allowed = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).collect()
}

/// Keeps the calling thread on one processor from now on.
///
/// # Errors
/// [`TargetError::Device`] if the system refuses, for instance because a container may not use it.
pub fn pin_to(cpu: usize) -> Result<(), TargetError> {
    let mut only = CpuSet::new();
    only.set(cpu);
    sched_setaffinity(None, &only).map_err(|errno| TargetError::Device {
        context: format!("cannot keep a thread on processor {cpu}"),
        source: errno.into(),
    })
}

/// Keeps its thread on one processor; dropping it restores the earlier processors.
#[derive(Debug)]
pub struct Stay {
    before: CpuSet,
}

impl Stay {
    /// The stay of the calling thread, or `None` if it may not run there.
    pub fn on(cpu: usize) -> Option<Self> {
        let before = sched_getaffinity(None).ok()?;
        let is_allowed = cpu < CpuSet::MAX_CPU && before.is_set(cpu);
        (is_allowed && pin_to(cpu).is_ok()).then_some(Self { before })
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        // A setting that was possible before is possible again.
        let _ = sched_setaffinity(None, &self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_stays_where_it_was_put() {
        let pinned = std::thread::spawn(|| {
            let last = *allowed_cpus().last().expect("a processor");
            pin_to(last).expect("one that is allowed");
            (last, allowed_cpus())
        });
        let (last, allowed) = pinned.join().expect("no panic");
        assert_eq!(allowed, [last]);
    }

    #[test]
    fn a_stay_ends() {
        let seen = std::thread::spawn(|| {
            let before = allowed_cpus();
            let last = *before.last().expect("a processor");
            let stay = Stay::on(last).expect("one that is allowed");
            let during = allowed_cpus();
            assert!(Stay::on(usize::MAX).is_none(), "there is no such processor");
            drop(stay);
            (before, last, during, allowed_cpus())
        });
        let (before, last, during, after) = seen.join().expect("no panic");
        assert_eq!((during, after), (vec![last], before));
    }
}
