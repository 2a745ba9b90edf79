//! The tests by name.

use std::str::FromStr;

use super::definition::Definition;
use super::tests;
use crate::error::RunError;
use crate::params::Param;

/// A test of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// See [`tests::steady_state::consistency`].
    Consistency,
    /// See [`tests::steady_state::trim`].
    Trim,
    /// See [`tests::speed::corners`].
    Corners,
    /// See [`tests::speed::incompressible`].
    Incompressible,
    /// See [`tests::speed::sweep`].
    Sweep,
    /// See [`tests::speed::linear`].
    Linear,
    /// See [`tests::response::latency`].
    Latency,
    /// See [`tests::response::qd_sweep`].
    QdSweep,
    /// See [`tests::response::mixed`].
    Mixed,
    /// See [`tests::sustained::full_write`].
    FullWrite,
    /// See [`tests::sustained::pslc`].
    Pslc,
    /// See [`tests::energy::power`].
    Power,
    /// See [`tests::storage_bench::heavy`].
    Heavy,
    /// See [`tests::storage_bench::light`].
    Light,
    /// See [`tests::storage_bench::destroyer`].
    Destroyer,
    /// See [`tests::storage_bench::replay`].
    Replay,
    /// See [`tests::pts::iops`].
    PtsIops,
    /// See [`tests::pts::throughput`].
    PtsThroughput,
    /// See [`tests::pts::latency`].
    PtsLatency,
    /// See [`tests::pts::write_saturation`].
    PtsWriteSaturation,
    /// See [`tests::pts::host_idle`].
    PtsHostIdle,
    /// See [`tests::pts::cross_stimulus`].
    PtsCrossStimulus,
    /// See [`tests::pts::composite`].
    PtsComposite,
    /// See [`tests::pts::demand`].
    PtsDemand,
}

impl Test {
    /// Every test, in the order of the suite.
    pub const ALL: [Self; 24] = [
        Self::Consistency,
        Self::Trim,
        Self::Corners,
        Self::Incompressible,
        Self::Sweep,
        Self::Linear,
        Self::Latency,
        Self::QdSweep,
        Self::Mixed,
        Self::FullWrite,
        Self::Pslc,
        Self::Power,
        Self::Heavy,
        Self::Light,
        Self::Destroyer,
        Self::Replay,
        Self::PtsIops,
        Self::PtsThroughput,
        Self::PtsLatency,
        Self::PtsWriteSaturation,
        Self::PtsHostIdle,
        Self::PtsCrossStimulus,
        Self::PtsComposite,
        Self::PtsDemand,
    ];

    /// The definition of the test.
    #[must_use]
    pub const fn definition(self) -> &'static Definition {
        match self {
            Self::Consistency => &tests::steady_state::consistency::DEFINITION,
            Self::Trim => &tests::steady_state::trim::DEFINITION,
            Self::Corners => &tests::speed::corners::DEFINITION,
            Self::Incompressible => &tests::speed::incompressible::DEFINITION,
            Self::Sweep => &tests::speed::sweep::DEFINITION,
            Self::Linear => &tests::speed::linear::DEFINITION,
            Self::Latency => &tests::response::latency::DEFINITION,
            Self::QdSweep => &tests::response::qd_sweep::DEFINITION,
            Self::Mixed => &tests::response::mixed::DEFINITION,
            Self::FullWrite => &tests::sustained::full_write::DEFINITION,
            Self::Pslc => &tests::sustained::pslc::DEFINITION,
            Self::Power => &tests::energy::power::DEFINITION,
            Self::Heavy => &tests::storage_bench::heavy::DEFINITION,
            Self::Light => &tests::storage_bench::light::DEFINITION,
            Self::Destroyer => &tests::storage_bench::destroyer::DEFINITION,
            Self::Replay => &tests::storage_bench::replay::DEFINITION,
            Self::PtsIops => &tests::pts::iops::DEFINITION,
            Self::PtsThroughput => &tests::pts::throughput::DEFINITION,
            Self::PtsLatency => &tests::pts::latency::DEFINITION,
            Self::PtsWriteSaturation => &tests::pts::write_saturation::DEFINITION,
            Self::PtsHostIdle => &tests::pts::host_idle::DEFINITION,
            Self::PtsCrossStimulus => &tests::pts::cross_stimulus::DEFINITION,
            Self::PtsComposite => &tests::pts::composite::DEFINITION,
            Self::PtsDemand => &tests::pts::demand::DEFINITION,
        }
    }

    /// The word on the command line and in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.definition().name
    }

    /// The question it answers.
    #[must_use]
    pub const fn question(self) -> &'static str {
        self.definition().question
    }

    /// Whether it destroys the data on the target.
    #[must_use]
    pub const fn writes(self) -> bool {
        self.definition().writes
    }

    /// Its parameters with defaults.
    #[must_use]
    pub const fn params(self) -> &'static [Param] {
        self.definition().params
    }
}

impl FromStr for Test {
    type Err = RunError;

    fn from_str(text: &str) -> Result<Self, RunError> {
        Self::ALL.into_iter().find(|test| test.name() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            RunError::Usage(format!("there is no test `{text}`; known are {names}"))
        })
    }
}
