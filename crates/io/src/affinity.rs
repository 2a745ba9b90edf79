//! Which processors a thread may run on.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::error::IoError;

/// The processors that the calling thread may run on now, by number.
#[must_use]
pub fn allowed_cpus() -> Vec<usize> {
    let allowed = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).collect()
}

/// Keeps the calling thread on one processor from now on.
///
/// # Errors
/// [`IoError::Device`] where the system refuses, for instance because a container may not use it.
pub fn pin_to(cpu: usize) -> Result<(), IoError> {
    let mut only = CpuSet::new();
    only.set(cpu);
    sched_setaffinity(None, &only).map_err(|errno| IoError::Device {
        context: format!("cannot keep a thread on processor {cpu}"),
        source: errno.into(),
    })
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
}
