//! `[interface]`: the path between host and drive.

mod placement;

use serde::Deserialize;

use crate::ftl::placement::HANDLES_MAX;
use crate::geometry::PAGE_BYTES;
use crate::host::DeallocateSupport;
use crate::host::coalescing::Coalescing;
use crate::host::limits::InterfaceLimits;
use crate::model::check::CrossCheck;
use crate::model::schema::{HOUR_NS, TB_PER_S, section};
use crate::model::{ModelError, Sourced};

/// Most commands of SATA's native command queueing.
const NCQ_COMMANDS: u64 = 32;

/// Most entries of an NVMe queue, and of all queues of a model together.
const ENTRIES_MAX: u64 = 65_536;

section! {
    /// Path between host and drive.
    pub struct Interface {
        /// Protocol and link; absent: SATA.
        pub kind: Option<Sourced<InterfaceKind>>,
        /// Payload rate of the link, bytes per second; for NVMe in each direction.
        pub link_bytes_per_s: Sourced<u64> [1_000_000, TB_PER_S],
        /// Payload rate of data to the drive; absent: that of the link.
        pub link_write_bytes_per_s: Option<Sourced<u64>> [1_000_000, TB_PER_S],
        /// Most outstanding commands; for NVMe in each queue.
        pub queue_depth: Sourced<u32> [1, ENTRIES_MAX],
        /// NVMe submission queues; absent: 1.
        pub queues: Option<Sourced<u32>>,
        /// Number of completions that raise an interrupt; absent: each one does.
        pub coalesced_commands: Option<Sourced<u32>> [1, 256],
        /// Longest wait of a completion for others; goes with `coalesced_commands`.
        pub coalesced_ns: Option<Sourced<u64>> [0, HOUR_NS],
        /// Commands per turn of a queue; absent: 1.
        pub arbitration_burst: Option<Sourced<u32>> [1, 256],
        /// Commands between fetch and write buffer; absent: as many as are outstanding.
        pub command_slots: Option<Sourced<u32>> [1, ENTRIES_MAX],
        /// Placement handles that a write may name; absent: 1.
        pub placement_handles: Option<Sourced<u32>> [1, HANDLES_MAX as u64],
        /// The treatment of TRIM; absent: it works.
        pub deallocate: Option<Sourced<DeallocateSupport>>,
        /// Smallest unit that the host can address, bytes; absent: 4,096.
        pub logical_block_bytes: Option<Sourced<u32>>,
    }
}

/// Protocol and link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InterfaceKind {
    /// One queue of at most 32 commands, data in one direction at a time.
    Sata,
    /// Several queues, data in both directions at once.
    Nvme,
}

fn value(optional: Option<&Sourced<u32>>, absent: u32) -> u32 {
    optional.map_or(absent, |sourced| sourced.value)
}

impl Interface {
    /// Most outstanding commands in all queues together.
    pub(in crate::model) fn entries(&self) -> u32 {
        self.queue_depth.value * value(self.queues.as_ref(), 1)
    }

    pub(in crate::model) fn link_write_bytes_per_s(&self) -> u64 {
        self.link_write_bytes_per_s.as_ref().unwrap_or(&self.link_bytes_per_s).value
    }

    pub(in crate::model) fn resolve(
        &self,
        check: &CrossCheck<'_>,
    ) -> Result<InterfaceLimits, ModelError> {
        let kind = self.kind();
        let queues = value(self.queues.as_ref(), 1);
        let arbitration_burst = value(self.arbitration_burst.as_ref(), 1);
        let depth = u64::from(self.queue_depth.value);
        if kind == InterfaceKind::Sata {
            self.check_sata(check, queues, depth)?;
        }
        check.within("interface.queues", queues.into(), 1, ENTRIES_MAX / depth)?;
        let logical_block_bytes = value(self.logical_block_bytes.as_ref(), PAGE_BYTES as u32);
        if ![512, 4096].contains(&logical_block_bytes) {
            let rule = "it must be 512 or 4096";
            return check.fail("interface.logical_block_bytes", logical_block_bytes, rule);
        }
        Ok(InterfaceLimits {
            deallocate: match &self.deallocate {
                _ if check.model.zones.is_some() => DeallocateSupport::Absent,
                Some(support) => support.value,
                None => DeallocateSupport::default(),
            },
            link_bytes_per_s: self.link_bytes_per_s.value,
            link_write_bytes_per_s: self.link_write_bytes_per_s(),
            full_duplex: kind == InterfaceKind::Nvme,
            commands: self.entries(),
            queues,
            arbitration_burst,
            slots: self.command_slots.as_ref().map(|slots| slots.value),
            logical_block_bytes: logical_block_bytes.into(),
        })
    }

    /// Rule for interrupts; `None` if each completion raises one.
    pub(in crate::model) fn coalescing(
        &self,
        check: &CrossCheck<'_>,
    ) -> Result<Option<Coalescing>, ModelError> {
        let (threshold, time_ns) = match (&self.coalesced_commands, &self.coalesced_ns) {
            (Some(threshold), Some(time_ns)) => (threshold.value, time_ns.value),
            (None, None) => return Ok(None),
            (Some(threshold), None) => {
                let rule = "it goes with interface.coalesced_ns";
                return check.fail("interface.coalesced_commands", threshold.value, rule);
            }
            (None, Some(time_ns)) => {
                let rule = "it goes with interface.coalesced_commands";
                return check.fail("interface.coalesced_ns", time_ns.value, rule);
            }
        };
        if self.kind() == InterfaceKind::Sata {
            let rule = "SATA has no interrupt coalescing of its own; interface.kind = \"nvme\" has";
            return check.fail("interface.coalesced_commands", threshold, rule);
        }
        Ok(Some(Coalescing { threshold, time_ns }))
    }

    fn kind(&self) -> InterfaceKind {
        self.kind.as_ref().map_or(InterfaceKind::Sata, |kind| kind.value)
    }

    fn check_sata(
        &self,
        check: &CrossCheck<'_>,
        queues: u32,
        depth: u64,
    ) -> Result<(), ModelError> {
        if depth > NCQ_COMMANDS {
            let rule = "SATA has 32 commands; interface.kind = \"nvme\" has more";
            return check.fail("interface.queue_depth", depth, rule);
        }
        if queues > 1 {
            let rule = "SATA has one queue; interface.kind = \"nvme\" has more";
            return check.fail("interface.queues", queues, rule);
        }
        Ok(())
    }
}
