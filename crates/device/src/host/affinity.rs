//! The processors that a thread may run on.

use std::fs;
use std::ops::Range;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use target::TargetError;

use crate::host::sysfs::System;

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

/// Processors for each of several loads, or `None` if there are fewer than `least` for each. No two loads have one in
/// common, nor the two threads of one core where there are enough cores. A load gets the processor that it wants to be
/// near, if no earlier one has it.
pub fn shares(near: &[Option<usize>], least: usize) -> Option<Vec<Vec<usize>>> {
    deal(cores(&System::live(), &allowed_cpus()), near, least)
}

/// These processors by their cores, in the order of the first of each.
fn cores(system: &System, cpus: &[usize]) -> Vec<Vec<usize>> {
    let mut cores: Vec<(Option<[String; 2]>, Vec<usize>)> = Vec::new();
    for &cpu in cpus {
        let dir = system.sys.join(format!("devices/system/cpu/cpu{cpu}/topology"));
        let id = |name: &str| fs::read_to_string(dir.join(name)).ok();
        let core =
            id("physical_package_id").zip(id("core_id")).map(|(package, core)| [package, core]);
        match cores.iter_mut().find(|(known, _)| core.is_some() && *known == core) {
            Some((_, threads)) => threads.push(cpu),
            None => cores.push((core, vec![cpu])),
        }
    }
    cores.into_iter().map(|(_, threads)| threads).collect()
}

fn deal(cores: Vec<Vec<usize>>, near: &[Option<usize>], least: usize) -> Option<Vec<Vec<usize>>> {
    let loads = near.len();
    let mut left = if cores.len() < loads {
        cores.into_iter().flatten().map(|cpu| vec![cpu]).collect()
    } else {
        cores
    };
    let (whole, more) = (left.len().checked_div(loads)?, left.len() % loads);
    let mut shares: Vec<Vec<Vec<usize>>> = vec![Vec::new(); loads];
    for (share, near) in shares.iter_mut().zip(near) {
        let wanted = near.and_then(|cpu| left.iter().position(|core| core.contains(&cpu)));
        share.extend(wanted.map(|core| left.remove(core)));
    }
    for (index, share) in shares.iter_mut().enumerate() {
        let wanted = whole + usize::from(index < more);
        share.extend(left.drain(..wanted.saturating_sub(share.len())));
    }
    let shares = shares.into_iter().map(|cores| {
        let mut cpus = cores.concat();
        cpus.sort_unstable();
        cpus
    });
    let shares: Vec<_> = shares.collect();
    shares.iter().all(|share| share.len() >= least.max(1)).then_some(shares)
}

/// Processors as the kernel lists them: `0-3,8`.
pub fn list(cpus: &[usize]) -> String {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for &cpu in cpus {
        match ranges.last_mut().filter(|range| range.end == cpu) {
            Some(range) => range.end += 1,
            None => ranges.push(cpu..cpu + 1),
        }
    }
    let word = |range: &Range<usize>| match range.len() {
        1 => range.start.to_string(),
        _ => format!("{}-{}", range.start, range.end - 1),
    };
    ranges.iter().map(word).collect::<Vec<_>>().join(",")
}

/// Keeps its thread on some processors; dropping it restores the earlier processors.
#[derive(Debug)]
pub struct Stay {
    before: CpuSet,
}

impl Stay {
    /// The stay of the calling thread on these processors, or `None` if it may not run on one of them.
    pub fn on(cpus: &[usize]) -> Option<Self> {
        let before = sched_getaffinity(None).ok()?;
        let is_allowed = |cpu: usize| cpu < CpuSet::MAX_CPU && before.is_set(cpu);
        let mut wanted = CpuSet::new();
        for &cpu in cpus {
            if !is_allowed(cpu) {
                return None;
            }
            wanted.set(cpu);
        }
        sched_setaffinity(None, &wanted).ok().map(|()| Self { before })
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
    fn loads_get_cores_of_their_own_as_long_as_there_are_some() {
        let threads =
            |cores: &[&[usize]]| cores.iter().map(|core| core.to_vec()).collect::<Vec<_>>();
        let four = || threads(&[&[0, 4], &[1, 5], &[2, 6], &[3, 7]]);
        let anywhere = [None; 2];
        let dealt = |cores, near: &[Option<usize>], least| deal(cores, near, least).unwrap();
        assert_eq!(dealt(four(), &anywhere, 1), threads(&[&[0, 1, 4, 5], &[2, 3, 6, 7]]));
        assert_eq!(dealt(four(), &[None; 3], 1), threads(&[&[0, 1, 4, 5], &[2, 6], &[3, 7]]));
        assert_eq!(dealt(four(), &[Some(6), Some(2)], 1), threads(&[&[0, 2, 4, 6], &[1, 3, 5, 7]]));
        assert_eq!(
            dealt(threads(&[&[0, 1]]), &anywhere, 1),
            threads(&[&[0], &[1]]),
            "threads of one core"
        );
        assert_eq!(deal(threads(&[&[0], &[1]]), &anywhere, 2), None, "two threads of each load");
        assert_eq!(deal(threads(&[&[0]]), &anywhere, 1), None);
        assert_eq!(deal(four(), &[], 1), None);
    }

    #[test]
    fn the_threads_of_a_core_are_known_by_its_numbers() {
        let machine = crate::host::machine::Machine::new();
        for (cpu, core) in [(0, "0"), (1, "1"), (2, "0"), (3, "1")] {
            let dir = machine.system.sys.join(format!("devices/system/cpu/cpu{cpu}/topology"));
            fs::create_dir_all(&dir).unwrap();
            fs::write(dir.join("physical_package_id"), "0\n").unwrap();
            fs::write(dir.join("core_id"), format!("{core}\n")).unwrap();
        }
        assert_eq!(
            cores(&machine.system, &[0, 1, 2, 3, 8, 9]),
            [vec![0, 2], vec![1, 3], vec![8], vec![9]]
        );
    }

    #[test]
    fn processors_are_listed_as_the_kernel_does() {
        assert_eq!(list(&[0, 1, 2, 8, 10, 11]), "0-2,8,10-11");
        assert_eq!(list(&[]), "");
    }

    #[test]
    fn a_stay_ends() {
        let seen = std::thread::spawn(|| {
            let before = allowed_cpus();
            let last = *before.last().expect("a processor");
            let stay = Stay::on(&[last]).expect("one that is allowed");
            let during = allowed_cpus();
            assert!(Stay::on(&[usize::MAX]).is_none(), "there is no such processor");
            drop(stay);
            (before, last, during, allowed_cpus())
        });
        let (before, last, during, after) = seen.join().expect("no panic");
        assert_eq!((during, after), (vec![last], before));
    }
}
