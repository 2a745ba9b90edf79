//! `[mapping]`: the journal and the checkpoints of the map.

use crate::ftl::placement::Placement;
use crate::geometry::Geometry;
use crate::mapping::MappingShape;
use crate::model::check::CrossCheck;
use crate::model::schema::section;
use crate::model::{ModelError, Sourced};

/// Units of the journal beside its open superblock that every drive needs.
const JOURNAL_UNITS_MIN: u64 = 8;

/// Most program units that the collection of one victim may pad on a drive without placement handles: one each in the
/// streams of host, cache, collected and cold data.
const PADDED_UNITS: u64 = 4;

section! {
    /// The records of a drive about its map.
    pub struct MappingModel {
        /// Bytes of a journal entry: one map change.
        pub entry_bytes: Sourced<u32> [4, 1_024],
        /// Bytes of a map entry in a checkpoint.
        pub map_entry_bytes: Sourced<u32> [4, 1_024],
        /// Superblocks of the journal, taken from `nand.reserved_superblocks`.
        pub journal_superblocks: Sourced<u32> [3, 1 << 16],
    }
}

/// To keep its erase from waiting, every victim may complete an open unit of each stream with
/// padding. A victim must on average give more than that, or collection would never end.
fn check_padding(check: &CrossCheck<'_>, geometry: &Geometry) -> Result<(), ModelError> {
    let spare_units = geometry.spare_superblocks() * u64::from(geometry.superblock_units);
    let of_handles = check.placement()?.map_or(0, Placement::more_open_superblocks);
    let padded_units = PADDED_UNITS + u64::from(of_handles);
    let needed = padded_units * u64::from(geometry.superblocks);
    if spare_units > needed {
        return Ok(());
    }
    let rule = format!(
        "{spare_units} program units of spare space are left, and a drive with [mapping] needs more than \
         {padded_units} for each of its {} superblocks; lower it, enlarge nand.pages_per_block, or take a \
         larger scale",
        geometry.superblocks
    );
    check.fail("capacity_gb", check.model.capacity_gb.value, &rule)
}

impl MappingModel {
    /// Sizes for a drive with `reserved` superblocks beside those of the FTL.
    pub(in crate::model) fn resolve(
        &self,
        check: &CrossCheck<'_>,
        geometry: &Geometry,
        reserved: u32,
    ) -> Result<MappingShape, ModelError> {
        let (entry, map_entry) = (self.entry_bytes.value, self.map_entry_bytes.value);
        let superblocks = self.journal_superblocks.value;
        if u64::from(superblocks - 1) * u64::from(geometry.superblock_units) < JOURNAL_UNITS_MIN {
            let rule = format!(
                "a superblock holds {} program units, and all but one of the journal's superblocks must \
                 hold {JOURNAL_UNITS_MIN}",
                geometry.superblock_units
            );
            return check.fail("mapping.journal_superblocks", superblocks, &rule);
        }
        check_padding(check, geometry)?;
        let unit_entries = geometry.unit_bytes() / u64::from(map_entry);
        if geometry.logical_pages / unit_entries >= u64::from(u32::MAX / 2) {
            let rule = "a checkpoint must have fewer than 2^31 program units";
            return check.fail("mapping.map_entry_bytes", map_entry, rule);
        }
        let shape = MappingShape::new(geometry, entry, map_entry, superblocks);
        if shape.superblocks() <= reserved {
            return Ok(shape);
        }
        let rule = format!(
            "journal and two checkpoints of {} superblocks take {} of them",
            shape.area_superblocks,
            shape.superblocks()
        );
        check.fail("nand.reserved_superblocks", reserved, &rule)
    }
}
