//! `[write_caps]`: firmware caps on random or sequential writes.

use crate::firmware::caps::write_caps::CapsPlan;
use crate::model::check::CrossCheck;
use crate::model::schema::{TB_PER_S, section};
use crate::model::{ModelError, Sourced};
use base::Ratio;

/// Streams that are followed unless the model says otherwise (assumed).
const STREAMS_USUAL: u32 = 8;
/// Most random writes in a second.
pub(super) const RANDOM_IOPS_MAX: u64 = 10_000_000;

section! {
    /// Firmware caps on random or sequential writes, see [`crate::firmware::caps::write_caps`].
    pub struct WriteCapsModel {
        /// Streams of sequential writes followed at a time; absent: 8.
        pub streams: Option<Sourced<u32>> [1, 64],
        /// Random writes in a second, or `None` if they have no cap.
        pub random_iops: Option<Sourced<u64>> [1, RANDOM_IOPS_MAX],
        /// Random writes that a rested drive of full size takes at full speed; absent: one. Goes with `random_iops`.
        pub random_burst_commands: Option<Sourced<u64>> [1, 1_000_000_000],
        /// Rate of sequential writes, or `None` if they have no cap.
        pub sequential_bytes_per_s: Option<Sourced<u64>> [1_000_000, TB_PER_S],
    }
}

impl WriteCapsModel {
    /// A smaller drive takes fewer random writes at full speed, so that its curve has the same shape.
    pub(in crate::model) fn resolve(
        &self,
        check: &CrossCheck<'_>,
        scale: Ratio,
    ) -> Result<CapsPlan, ModelError> {
        let streams = self.streams.as_ref().map_or(STREAMS_USUAL, |streams| streams.value);
        let random_command_ns = self.random_iops.as_ref().map_or(0, |iops| command_ns(iops.value));
        let burst_commands = self.random_burst_commands.as_ref().map_or(1, |burst| burst.value);
        let sequential_bytes_per_s = self.sequential_bytes_per_s.as_ref().map(|rate| rate.value);
        if random_command_ns == 0 && self.random_burst_commands.is_some() {
            let rule = "it goes with write_caps.random_iops";
            return check.fail("write_caps.random_burst_commands", burst_commands, rule);
        }
        let is_needed = check.model.cleaning_states.is_some();
        if random_command_ns == 0 && sequential_bytes_per_s.is_none() && !is_needed {
            let rule = "a cap goes with it: write_caps.random_iops, \
                        write_caps.sequential_bytes_per_s or [cleaning_states]";
            return check.fail("write_caps.streams", streams, rule);
        }
        Ok(CapsPlan {
            streams,
            random_command_ns,
            random_burst_ns: (scale.of(burst_commands).max(1) - 1) * random_command_ns,
            sequential_bytes_per_s,
        })
    }
}

/// Time of a random write at a rate.
pub(super) fn command_ns(iops: u64) -> u64 {
    1_000_000_000_u64.div_ceil(iops)
}

/// The caps of a drive that only tells random writes from others, if it has to.
pub(in crate::model) fn without_section(check: &CrossCheck<'_>) -> Option<CapsPlan> {
    let none = CapsPlan {
        streams: STREAMS_USUAL,
        random_command_ns: 0,
        random_burst_ns: 0,
        sequential_bytes_per_s: None,
    };
    check.model.cleaning_states.as_ref().map(|_| none)
}
