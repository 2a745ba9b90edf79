//! `[controller]`: the costs of commands and moved pages.

use serde::Deserialize;

use crate::host::pipeline::PipelineLatency;
use crate::model::check::{Check, HOUR_NS};
use crate::model::{ModelError, Sourced};

/// Most processors of a controller.
const PROCESSORS_MAX: u64 = 64;

/// The costs of the controller.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Controller {
    /// Processor time of a read command.
    pub read_command_ns: Sourced<u64>,
    /// Processor time of any other command.
    pub write_command_ns: Sourced<u64>,
    /// Processor time to move one valid page during garbage collection.
    pub relocate_ns: Sourced<u64>,
    /// Number of processors; absent: 1.
    pub processors: Option<Sourced<u32>>,
    /// Time of a read in the controller's pipeline without occupying it; absent: none.
    pub read_latency_ns: Option<Sourced<u64>>,
    /// The same of any other command; absent: none.
    pub write_latency_ns: Option<Sourced<u64>>,
    /// Largest addition to these, drawn at random for each command; absent: none.
    pub latency_spread_ns: Option<Sourced<u64>>,
}

impl Controller {
    /// Its processors.
    pub(in crate::model) fn processors(&self, check: &Check<'_>) -> Result<u32, ModelError> {
        let processors = self.processors.as_ref().map_or(1, |processors| processors.value);
        check.within("controller.processors", processors.into(), 1, PROCESSORS_MAX)?;
        Ok(processors)
    }

    /// The latency of its pipeline; `None` if it adds no time.
    pub(in crate::model) fn pipeline(
        &self,
        check: &Check<'_>,
    ) -> Result<Option<PipelineLatency>, ModelError> {
        let time = |key: &str, value: &Option<Sourced<u64>>| {
            let time_ns = value.as_ref().map_or(0, |value| value.value);
            check.within(key, time_ns, 0, HOUR_NS).map(|()| time_ns)
        };
        let latency = PipelineLatency {
            read_ns: time("controller.read_latency_ns", &self.read_latency_ns)?,
            write_ns: time("controller.write_latency_ns", &self.write_latency_ns)?,
            spread_ns: time("controller.latency_spread_ns", &self.latency_spread_ns)?,
        };
        Ok((latency != PipelineLatency::NONE).then_some(latency))
    }
}
