//! `[idle_sort]`: data in the order of its LBAs, while the host is away.

use crate::firmware::idle_sort::IdleSort;
use crate::geometry::Geometry;
use crate::model::check::CrossCheck;
use crate::model::schema::{HOUR_NS, section};
use crate::model::{ModelError, Sourced};

section! {
    /// Rewriting of what lies scattered while the host is away.
    pub struct IdleSortModel {
        /// Time without a host command before it begins.
        pub after_ns: Sourced<u64> [1_000_000, HOUR_NS],
        /// Largest rate of moves, in pages of 4 KiB per second.
        pub pages_per_s: Sourced<u64> [1, 1_000_000_000],
        /// Data that is read and rewritten together.
        pub stretch_bytes: Sourced<u64>,
    }
}

impl IdleSortModel {
    pub(in crate::model) fn resolve(
        &self,
        check: &CrossCheck<'_>,
        geometry: &Geometry,
    ) -> Result<IdleSort, ModelError> {
        const STRETCH: &str = "idle_sort.stretch_bytes";
        let stretch_bytes = self.stretch_bytes.value;
        check.within(STRETCH, stretch_bytes, geometry.page_bytes.into(), 1 << 24)?;
        let handles = check.model.interface.placement_handles.as_ref();
        for (section, is_there) in [
            ("nand.die_groups", geometry.die_groups > 1),
            ("[compression]", check.model.compression.is_some()),
            ("interface.placement_handles", handles.is_some_and(|handles| handles.value > 1)),
        ] {
            if is_there {
                let rule = format!("re-sorting does not go together with {section}");
                return check.fail(STRETCH, stretch_bytes, &rule);
            }
        }
        Ok(IdleSort {
            after_ns: self.after_ns.value,
            unit_interval_ns: geometry.unit_interval_ns(self.pages_per_s.value),
            stretch_pages: (stretch_bytes / u64::from(geometry.page_bytes)) as u32,
        })
    }
}
