//! The host: the path between a program and the drive.
//!
//! Phenomenon: a command costs the operating system and the port of the machine time on its way to
//! the drive, and its end reaches the program later than the report of the drive. The operating
//! system delays commands without a place in the drive's queue. Source: 6.0 us per command through
//! AHCI against 2.8 us through NVMe (Intel, in AnandTech 7843); an HBA limited to about 75,000
//! commands per second for any drive. A program that fills a drive with random data and checksums makes each byte: on
//! the host of SSD-iq a fill of 512 KiB at QD 1 stays at or below 2.04 GB/s, whatever the drive's rating.
//! Simplifications: one processor submits, first come first
//! served; a free port forwards a command at once, and the next one a fixed time later, for any
//! size; a completion costs a delay and keeps nothing busy; data costs time for writes alone, beyond their first page.
//! Test: `tests/latency.rs`.

use std::num::NonZero;

use base::OpKind;

use super::transfer_ns;
use crate::geometry::PAGE_BYTES;

/// The integers of a host profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct HostSystem {
    /// Processor time to submit a command.
    pub submit_ns: u64,
    /// Least time between two commands that pass the port.
    pub port_ns: u64,
    /// Time from the report of the drive to the program: interrupt, driver, wake-up.
    pub complete_ns: u64,
    /// Most outstanding commands in the operating system, those in the drive included.
    pub queue_depth: u32,
    /// Rate at which the program makes the data of a write, or `None` if that takes no time.
    pub data_bytes_per_s: Option<NonZero<u64>>,
}

impl HostSystem {
    /// No host: commands reach the drive at once, as many as it accepts.
    pub const NONE: Self =
        Self { submit_ns: 0, port_ns: 0, complete_ns: 0, queue_depth: 0, data_bytes_per_s: None };

    /// Processor time to submit a command.
    fn submission_ns(&self, kind: OpKind, bytes: u32) -> u64 {
        match self.data_bytes_per_s {
            // The first page is in the time of any command.
            Some(rate) if kind == OpKind::Write => {
                let more_bytes = u64::from(bytes).saturating_sub(PAGE_BYTES);
                self.submit_ns + transfer_ns(more_bytes, rate.get())
            }
            _ => self.submit_ns,
        }
    }
}

/// The path of commands through the operating system and the port, in order.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Way {
    system: HostSystem,
    submitted_ns: u64,
    port_free_ns: u64,
}

impl Way {
    /// An idle host.
    pub fn new(system: HostSystem) -> Self {
        Self { system, submitted_ns: 0, port_free_ns: 0 }
    }

    /// Time at which a command issued at `now_ns` has passed the operating system.
    pub fn submit(&mut self, kind: OpKind, bytes: u32, now_ns: u64) -> u64 {
        self.submitted_ns = self.submitted_ns.max(now_ns) + self.system.submission_ns(kind, bytes);
        self.submitted_ns
    }

    /// Time at which a command that reaches the port at `now_ns` reaches the drive.
    pub fn pass(&mut self, now_ns: u64) -> u64 {
        let passed_ns = self.port_free_ns.max(now_ns);
        self.port_free_ns = passed_ns + self.system.port_ns;
        passed_ns
    }

    /// Time from the report of an end to the program.
    pub fn complete_ns(&self) -> u64 {
        self.system.complete_ns
    }
}
