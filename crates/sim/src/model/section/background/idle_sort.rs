//! `[idle_sort]`: data in the order of its LBAs, while the host is away.

use serde::Deserialize;

use crate::firmware::idle_sort::IdleSort;
use crate::geometry::Geometry;
use crate::model::check::{Check, HOUR_NS};
use crate::model::{ModelError, Sourced};

/// Rewriting of what lies scattered while the host is away.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdleSortModel {
    /// Time without a host command before it begins.
    pub after_ns: Sourced<u64>,
    /// Largest rate of moves, in pages of 4 KiB per second.
    pub pages_per_s: Sourced<u64>,
    /// Data that is read and rewritten together.
    pub stretch_bytes: Sourced<u64>,
}

impl IdleSortModel {
    pub(in crate::model) fn resolve(
        &self,
        check: &Check<'_>,
        geometry: &Geometry,
    ) -> Result<IdleSort, ModelError> {
        const STRETCH: &str = "idle_sort.stretch_bytes";
        let stretch_bytes = self.stretch_bytes.value;
        check.within("idle_sort.after_ns", self.after_ns.value, 1_000_000, HOUR_NS)?;
        check.within("idle_sort.pages_per_s", self.pages_per_s.value, 1, 1_000_000_000)?;
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
