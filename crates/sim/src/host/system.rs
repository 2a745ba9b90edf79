//! The host: what stands between a program and the drive.
//!
//! Phenomenon: a command costs the operating system and the port of the machine time on its way to the drive, and its
//! end reaches the program later than the drive reports it; the operating system keeps commands back that find no
//! place in the drive's queue. Source: 6.0 us a command through AHCI against 2.8 us through NVMe (Intel, in
//! AnandTech 7843); an HBA that ends near 75,000 commands a second whatever the drive. Simplifications: one processor
//! submits, first come first served; a port that is free passes a command on at once, and the next one so much later,
//! whatever their sizes; what a completion costs is a delay and keeps nothing busy. Test: `tests/latency.rs`.

/// The integers of a host profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostSystem {
    /// Processor time to submit a command.
    pub submit_ns: u64,
    /// Least time between two commands that pass the port.
    pub port_ns: u64,
    /// From the drive's report to the program: interrupt, driver, wake-up.
    pub complete_ns: u64,
    /// Commands that the operating system takes at a time, those in the drive among them.
    pub queue_depth: u32,
}

impl HostSystem {
    /// No host: commands reach the drive at once, as many as it takes itself.
    pub const NONE: Self = Self { submit_ns: 0, port_ns: 0, complete_ns: 0, queue_depth: 0 };
}

/// The way of commands through the operating system and the port, in order.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    system: HostSystem,
    submitted_ns: u64,
    port_free_ns: u64,
}

impl Way {
    /// An idle host.
    #[must_use]
    pub fn new(system: HostSystem) -> Self {
        Self { system, submitted_ns: 0, port_free_ns: 0 }
    }

    /// When a command that the program issues at `now_ns` has passed the operating system.
    pub fn submit(&mut self, now_ns: u64) -> u64 {
        self.submitted_ns = self.submitted_ns.max(now_ns) + self.system.submit_ns;
        self.submitted_ns
    }

    /// When a command that comes to the port at `now_ns` reaches the drive.
    pub fn pass(&mut self, now_ns: u64) -> u64 {
        let passed_ns = self.port_free_ns.max(now_ns);
        self.port_free_ns = passed_ns + self.system.port_ns;
        passed_ns
    }

    /// From the drive's report of an end to the program.
    #[must_use]
    pub fn complete_ns(&self) -> u64 {
        self.system.complete_ns
    }
}
