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
    pub(super) fn end(self, others: ProcessorTime) -> HostUse {
        let machine = MachineCounters::now(&self.processors);
        let ProcessorTime { user_ns, system_ns } =
            ProcessorTime::of_thread() - self.thread + others;
        HostUse {
            user_ns,
            system_ns,
            interrupts: machine.interrupts_since(&self.machine),
            processors_busy_share: machine.worked_share_since(&self.machine),
        }
    }
}
