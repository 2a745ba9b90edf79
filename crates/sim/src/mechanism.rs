//! Optional mechanisms: one phenomenon, one file, with its section in a model file, its integers, its state and its rules.
//!
//! They use the maps and the geometry, but neither the drive nor its model: they get the time and other facts as
//! arguments, and return decisions. [`device`](crate::device) asks them and carries the decisions out, in the file of
//! the same name. The list below gives a mechanism its section in [`Model`](crate::Model), its place in
//! [`Options`](crate::model::Options) and its state in the drive. [`parity`] has no state: the geometry holds it.

pub mod basis;
pub mod cleaning_states;
pub mod compression;
pub mod heat_aging;
pub mod housekeeping;
pub mod idle_sort;
pub mod map_cache;
pub mod mapping;
pub mod parity;
pub mod performance_mode;
pub mod power;
pub mod pslc;
pub mod quiet_gc;
pub mod read_ahead;
pub mod read_cache;
pub mod streams;
pub mod thermal;
pub mod throttle;
pub mod wear_budget;
pub mod wear_leveling;
pub mod write_caps;
pub mod zones;

/// Calls a macro with every mechanism: the name of its section, and the type of that.
macro_rules! mechanisms {
    ($with:ident) => {
        $with! {
            /// DRAM that caches reads; absent: none.
            read_cache: $crate::mechanism::read_cache::ReadCacheSection,
            /// Streams that are read ahead of the host; absent: none.
            read_ahead: $crate::mechanism::read_ahead::ReadAheadSection,
            /// Collection in the gaps of a busy host; absent: none.
            background_gc: $crate::mechanism::quiet_gc::BackgroundGcSection,
            /// Collection while the host is away; absent: none.
            idle_gc: $crate::mechanism::quiet_gc::IdleGcSection,
            /// Rewriting of what lies scattered while the host is away; absent: it stays as it is.
            idle_sort: $crate::mechanism::idle_sort::IdleSortSection,
            /// A stream for cold data; absent: none.
            streams: $crate::mechanism::streams::StreamsSection,
            /// The part of the map in DRAM; absent: all of it is.
            map_cache: $crate::mechanism::map_cache::MapCacheSection,
            /// Journal and checkpoints of the map; absent: the map costs no NAND traffic.
            mapping: $crate::mechanism::mapping::MappingSection,
            /// Distribution of erases; absent: the superblock erased first comes first, and cold data stays.
            wear_leveling: $crate::mechanism::wear_leveling::WearLevelingSection,
            /// A cache of blocks with one bit per cell; absent: none.
            pslc: $crate::mechanism::pslc::PslcSection,
            /// Patrol reads, refresh and map flush; absent: none.
            housekeeping: $crate::mechanism::housekeeping::HousekeepingSection,
            /// A compressing controller; absent: data is stored uncompressed.
            compression: $crate::mechanism::compression::CompressionSection,
            /// Power states and energy; absent: no energy is counted.
            power: $crate::mechanism::power::PowerSection,
            /// A cap on sustained host writes; absent: none.
            throttle: $crate::mechanism::throttle::ThrottleSection,
            /// Temperature and its limits; absent: no temperature is computed.
            thermal: $crate::mechanism::thermal::ThermalSection,
            /// A budget of NAND programs; absent: the drive is never slowed down for its wear.
            wear_budget: $crate::mechanism::wear_budget::WearBudgetSection,
            /// Caps on random or sequential writes; absent: none.
            write_caps: $crate::mechanism::write_caps::WriteCapsSection,
            /// Rates of random writes that depend on the reserve of erased superblocks; absent: none.
            cleaning_states: $crate::mechanism::cleaning_states::CleaningStatesSection,
            /// Fast writes into a drive that is less than half full; absent: none.
            performance_mode: $crate::mechanism::performance_mode::PerformanceModeSection,
            /// Faster loss of charge in a hot drive; absent: heat leaves data as it is.
            heat_aging: $crate::mechanism::heat_aging::HeatAgingSection,
            /// Zones that are written in order; absent: the host may write anywhere.
            zones: $crate::mechanism::zones::ZonesSection,
        }
    };
}

pub(crate) use mechanisms;
