//! `[controller]`: the costs of commands and moved pages.

use crate::host::pauses::PausePlan;
use crate::host::pipeline::PipelineLatency;
use crate::model::Sourced;
use crate::model::schema::{Check, HOUR_NS, ModelError, section};

section! {
    /// The costs of the controller.
    pub struct Controller {
        /// Processor time of a read command.
        pub read_command_ns: Sourced<u64> [0, HOUR_NS],
        /// Processor time of any other command.
        pub write_command_ns: Sourced<u64> [0, HOUR_NS],
        /// Processor time to move one valid page during garbage collection.
        pub relocate_ns: Sourced<u64> [0, HOUR_NS],
        /// Number of processors; absent: 1.
        pub processors: Option<Sourced<u32>> [1, 64],
        /// Time of a read in the controller's pipeline without occupying it; absent: none.
        pub read_latency_ns: Option<Sourced<u64>> [0, HOUR_NS],
        /// Time of any other command in the pipeline; absent: none.
        pub write_latency_ns: Option<Sourced<u64>> [0, HOUR_NS],
        /// Largest addition to these, drawn at random for each command; absent: none.
        pub latency_spread_ns: Option<Sourced<u64>> [0, HOUR_NS],
        /// Mean of a further addition, drawn at random for each command: most are short, one in a hundred is 4.5 times
        /// as long; absent: none.
        pub latency_tail_ns: Option<Sourced<u64>> [0, HOUR_NS],
        /// Mean time from one pause to the next, in which a controller that takes writes saves its tables; absent: none.
        pub pause_interval_ns: Option<Sourced<u64>> [1_000_000, HOUR_NS],
        /// Mean length of a pause; goes with `pause_interval_ns`.
        pub pause_ns: Option<Sourced<u64>> [1, HOUR_NS],
    }
}

impl Controller {
    /// The latency of its pipeline; `None` if it adds no time.
    pub(in crate::model) fn pipeline(&self) -> Option<PipelineLatency> {
        let time_ns = |value: &Option<Sourced<u64>>| value.as_ref().map_or(0, |value| value.value);
        let latency = PipelineLatency {
            read_ns: time_ns(&self.read_latency_ns),
            write_ns: time_ns(&self.write_latency_ns),
            spread_ns: time_ns(&self.latency_spread_ns),
            tail_ns: time_ns(&self.latency_tail_ns),
        };
        (latency != PipelineLatency::NONE).then_some(latency)
    }

    /// Frequency and length of its pauses, or `None` if it makes none.
    pub(in crate::model) fn pauses(
        &self,
        check: &Check<'_>,
    ) -> Result<Option<PausePlan>, ModelError> {
        let (interval_key, length_key) = ("controller.pause_interval_ns", "controller.pause_ns");
        match (&self.pause_interval_ns, &self.pause_ns) {
            (Some(interval), Some(length)) => {
                Ok(Some(PausePlan { interval_ns: interval.value, length_ns: length.value }))
            }
            (None, None) => Ok(None),
            (Some(interval), None) => {
                check.fail(interval_key, interval.value, &format!("it goes with {length_key}"))
            }
            (None, Some(length)) => {
                check.fail(length_key, length.value, &format!("it goes with {interval_key}"))
            }
        }
    }
}
