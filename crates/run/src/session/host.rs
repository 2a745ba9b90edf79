//! The part of the host in a phase.

use device::host::affinity::allowed_cpus;
use device::host::processors::{MachineCounters, ProcessorTime};
use result::schema::HostUse;

/// A look at the host at the begin of a phase.
pub(super) struct HostWatch {
    processors: Vec<usize>,
    thread: ProcessorTime,
    machine: MachineCounters,
}

impl HostWatch {
    /// Begins on the thread that carries the phase out.
    pub(super) fn begin() -> Self {
        let processors = allowed_cpus();
        let machine = MachineCounters::now(&processors);
        Self { processors, thread: ProcessorTime::of_thread(), machine }
    }

    /// The use since the begin, by this thread and by the others of the load, which have ended.
    pub(super) fn end(self, others: ProcessorTime, busiest_second_share: Option<f64>) -> HostUse {
        let machine = MachineCounters::now(&self.processors);
        let ProcessorTime { user_ns, system_ns } =
            ProcessorTime::of_thread() - self.thread + others;
        HostUse {
            user_ns,
            system_ns,
            interrupts: machine.interrupts_since(&self.machine),
            processors_busy_share: machine.worked_share_since(&self.machine),
            busiest_second_share,
            null_load: None,
        }
    }
}

/// The host second by second.
pub(super) struct HostSeconds {
    processors: Vec<usize>,
    last: MachineCounters,
    /// Largest share of a second in which the processors had work, or `None` before the first one.
    pub(super) busiest_share: Option<f64>,
}

impl HostSeconds {
    pub(super) fn begin() -> Self {
        let processors = allowed_cpus();
        let last = MachineCounters::now(&processors);
        Self { processors, last, busiest_share: None }
    }

    /// A second has passed; a shorter time counts with the next one.
    pub(super) fn passed(&mut self) {
        let now = MachineCounters::now(&self.processors);
        if let Some(share) = now.worked_share_since(&self.last) {
            self.busiest_share = Some(self.busiest_share.map_or(share, |most| most.max(share)));
            self.last = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_second_of_full_processors_is_told_after_quiet_ones() {
        let mut seconds = HostSeconds::begin();
        seconds.passed();
        assert_eq!(seconds.busiest_share, None, "no time has passed");
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..2 * seconds.processors.len() {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            thread::sleep(Duration::from_millis(1_500));
            seconds.passed();
            is_over.store(true, Ordering::Relaxed);
        });
        let full = seconds.busiest_share.unwrap();
        assert!(full > 0.9, "{full}");
        thread::sleep(Duration::from_millis(1_100));
        seconds.passed();
        assert!(seconds.busiest_share.unwrap() >= full);
    }
}
