//! Tests of the crate through its public items, as one program: it is linked once.

mod client;
mod clocks;
mod control;
mod hostile;
mod nvme;
mod nvme_host;
mod nvme_hostile;
mod nvme_namespaces;
mod nvme_placement;
mod nvme_self_test;
mod nvme_zones;
mod oracle;
mod power_cuts;
mod state_file;
mod zone_cuts;
