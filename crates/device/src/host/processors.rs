//! The use of the host: processor time of a thread, interrupts of the machine, and processors without idle time.

#![expect(unsafe_code, reason = "getrusage fills a structure of C")]

use std::fs;
use std::mem::MaybeUninit;
use std::ops::{Add, Sub};

/// Processor time in a program and in the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorTime {
    pub user_ns: u64,
    pub system_ns: u64,
}

impl ProcessorTime {
    /// That of the calling thread so far.
    pub fn of_thread() -> Self {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the pointer is valid for a write of the structure.
        unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
        // SAFETY: all bits zero are a valid value, and the call writes nothing but valid ones.
        let usage = unsafe { usage.assume_init() };
        let ns = |time: libc::timeval| {
            let (s, us) = (time.tv_sec.unsigned_abs(), time.tv_usec.unsigned_abs());
            s.saturating_mul(1_000_000_000).saturating_add(us.saturating_mul(1_000))
        };
        Self { user_ns: ns(usage.ru_utime), system_ns: ns(usage.ru_stime) }
    }
}

impl Add for ProcessorTime {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_add(other.user_ns),
            system_ns: self.system_ns.saturating_add(other.system_ns),
        }
    }
}

impl Sub for ProcessorTime {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(other.user_ns),
            system_ns: self.system_ns.saturating_sub(other.system_ns),
        }
    }
}

/// The counters of the kernel about the machine (`/proc/stat`) at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineCounters {
    /// Interrupts since the start, or `None` if they cannot be read.
    interrupts: Option<u64>,
    /// Ticks of the chosen processors together: those with work, and all.
    worked: u64,
    all: u64,
}

/// Least number of ticks (10 ms) for a share of them.
const TICKS_MIN: u64 = 100;

impl MachineCounters {
    /// The counters now; ticks only of these processors.
    pub fn now(processors: &[usize]) -> Self {
        Self::parse(&fs::read_to_string("/proc/stat").unwrap_or_default(), processors)
    }

    fn parse(stat: &str, processors: &[usize]) -> Self {
        let mut counters = Self::default();
        for line in stat.lines() {
            let mut words = line.split_ascii_whitespace();
            let name = words.next().unwrap_or_default();
            let number = name.strip_prefix("cpu").and_then(|number| number.parse::<usize>().ok());
            if name == "intr" {
                counters.interrupts = words.next().and_then(|count| count.parse().ok());
            } else if number.is_some_and(|number| processors.contains(&number)) {
                // User, nice, system, idle, wait for I/O, interrupts, soft interrupts, time of other machines. The
                // time of guests, which follows, is counted as that of users already.
                let ticks: Vec<u64> = words.take(8).map_while(|tick| tick.parse().ok()).collect();
                let all: u64 = ticks.iter().sum();
                let idle: u64 = ticks.iter().skip(3).take(2).sum();
                counters.all += all;
                counters.worked += all - idle;
            }
        }
        counters
    }

    /// Interrupts since an earlier moment, or `None` if they are not known.
    pub fn interrupts_since(&self, earlier: &Self) -> Option<u64> {
        self.interrupts?.checked_sub(earlier.interrupts?)
    }

    /// Share of the time since an earlier moment in which the chosen processors had work, 0 to 1, or `None` if the time
    /// was too short.
    pub fn worked_share_since(&self, earlier: &Self) -> Option<f64> {
        let all = self.all.checked_sub(earlier.all).filter(|all| *all >= TICKS_MIN)?;
        Some((self.worked.checked_sub(earlier.worked)? as f64 / all as f64).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_the_time_of_its_own_work() {
        let begin = ProcessorTime::of_thread();
        let (mut sum, until) = (0_u64, crate::host::clock::thread_ns() + 50_000_000);
        while crate::host::clock::thread_ns() < until {
            sum = std::hint::black_box(sum + 1);
        }
        let ProcessorTime { user_ns, system_ns } = ProcessorTime::of_thread() - begin;
        assert!(
            (40_000_000..500_000_000).contains(&(user_ns + system_ns)),
            "{user_ns} {system_ns}"
        );
        let other = std::thread::spawn(ProcessorTime::of_thread).join().unwrap();
        assert!(other.user_ns + other.system_ns < 40_000_000, "{other:?}");
    }

    #[test]
    fn the_work_of_the_chosen_processors_counts() {
        let stat = |idle: u64, work: u64, interrupts: u64| {
            let text = format!(
                "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 {work} 0 10 {idle} 5 1 2 3 {work} 0\ncpu1 1 0 0 7 0 0 0 0 0 0\n\
                 intr {interrupts} 0 7\nctxt 9\n"
            );
            MachineCounters::parse(&text, &[0])
        };
        let (begin, end) = (stat(100, 50, 1000), stat(110, 240, 4500));
        assert_eq!(end.interrupts_since(&begin), Some(3500));
        assert_eq!(end.worked_share_since(&begin), Some(0.95));
        assert_eq!(stat(110, 130, 1000).worked_share_since(&begin), None, "90 ticks");
        assert_eq!(begin.interrupts_since(&end), None);
        let unread = MachineCounters::parse("", &[0]);
        assert_eq!(
            (unread.interrupts_since(&begin), unread.worked_share_since(&begin)),
            (None, None)
        );
    }

    #[test]
    fn this_machine_counts() {
        let counters = MachineCounters::now(&crate::host::affinity::allowed_cpus());
        assert!(counters.interrupts.is_some() && counters.all > 0, "{counters:?}");
    }
}
