//! The tests of the suite, a file each. `cargo xtask schema` writes this list from the folder.

use crate::suite::Definition;

pub(crate) mod energy {
    pub(crate) mod power;
    pub(crate) mod thermal;
}

pub(crate) mod pts {
    pub(crate) mod composite;
    pub(crate) mod cross_stimulus;
    pub(crate) mod demand;
    pub(crate) mod host_idle;
    pub(crate) mod iops;
    pub(crate) mod latency;
    pub(crate) mod throughput;
    pub(crate) mod write_saturation;
}

pub(crate) mod response {
    pub(crate) mod feel;
    pub(crate) mod latency;
    pub(crate) mod load_latency;
    pub(crate) mod matrix;
    pub(crate) mod mixed;
    pub(crate) mod neighbours;
    pub(crate) mod qd_sweep;
}

pub(crate) mod speed {
    pub(crate) mod corners;
    pub(crate) mod incompressible;
    pub(crate) mod linear;
    pub(crate) mod mixed_sizes;
    pub(crate) mod sweep;
    pub(crate) mod zones;
}

pub(crate) mod steady_state {
    pub(crate) mod consistency;
    pub(crate) mod fill_level;
    pub(crate) mod placement;
    pub(crate) mod streams;
    pub(crate) mod trim;
    pub(crate) mod waf;
}

pub(crate) mod storage_bench {
    pub(crate) mod destroyer;
    pub(crate) mod destroyer_full;
    pub(crate) mod heavy;
    pub(crate) mod heavy_full;
    pub(crate) mod light;
    pub(crate) mod light_full;
    pub(crate) mod replay;
    pub(crate) mod workload;
}

pub(crate) mod sustained {
    pub(crate) mod full_write;
    pub(crate) mod idle;
    pub(crate) mod pslc;
    pub(crate) mod recovery;
    pub(crate) mod retention;
}

/// The definition of every test, by chapter and file.
pub(super) const DEFINITIONS: [&Definition; 42] = [
    &energy::power::DEFINITION,
    &energy::thermal::DEFINITION,
    &pts::composite::DEFINITION,
    &pts::cross_stimulus::DEFINITION,
    &pts::demand::DEFINITION,
    &pts::host_idle::DEFINITION,
    &pts::iops::DEFINITION,
    &pts::latency::DEFINITION,
    &pts::throughput::DEFINITION,
    &pts::write_saturation::DEFINITION,
    &response::feel::DEFINITION,
    &response::latency::DEFINITION,
    &response::load_latency::DEFINITION,
    &response::matrix::DEFINITION,
    &response::mixed::DEFINITION,
    &response::neighbours::DEFINITION,
    &response::qd_sweep::DEFINITION,
    &speed::corners::DEFINITION,
    &speed::incompressible::DEFINITION,
    &speed::linear::DEFINITION,
    &speed::mixed_sizes::DEFINITION,
    &speed::sweep::DEFINITION,
    &speed::zones::DEFINITION,
    &steady_state::consistency::DEFINITION,
    &steady_state::fill_level::DEFINITION,
    &steady_state::placement::DEFINITION,
    &steady_state::streams::DEFINITION,
    &steady_state::trim::DEFINITION,
    &steady_state::waf::DEFINITION,
    &storage_bench::destroyer::DEFINITION,
    &storage_bench::destroyer_full::DEFINITION,
    &storage_bench::heavy::DEFINITION,
    &storage_bench::heavy_full::DEFINITION,
    &storage_bench::light::DEFINITION,
    &storage_bench::light_full::DEFINITION,
    &storage_bench::replay::DEFINITION,
    &storage_bench::workload::DEFINITION,
    &sustained::full_write::DEFINITION,
    &sustained::idle::DEFINITION,
    &sustained::pslc::DEFINITION,
    &sustained::recovery::DEFINITION,
    &sustained::retention::DEFINITION,
];
