//! The tests, a file each, by chapter.

pub(crate) mod energy {
    pub(crate) mod power;
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
    pub(crate) mod latency;
    pub(crate) mod mixed;
    pub(crate) mod qd_sweep;
}

pub(crate) mod speed {
    pub(crate) mod corners;
    pub(crate) mod incompressible;
    pub(crate) mod linear;
    pub(crate) mod sweep;
}

pub(crate) mod steady_state {
    pub(crate) mod consistency;
    pub(crate) mod trim;
}

pub(crate) mod storage_bench {
    pub(crate) mod destroyer;
    pub(crate) mod heavy;
    pub(crate) mod light;
    pub(crate) mod replay;
}

pub(crate) mod sustained {
    pub(crate) mod full_write;
    pub(crate) mod pslc;
}
