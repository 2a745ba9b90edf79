//! `interface.placement_handles`, `gc.handle_isolation` and `gc.victim_handle`: data that the host keeps apart.

use crate::ftl::placement::{Isolation, Placement};
use crate::model::ModelError;
use crate::model::check::CrossCheck;

use super::InterfaceKind;

impl CrossCheck<'_> {
    /// The placement handles, or `None` if all data of the host goes to one stream.
    pub(in crate::model) fn placement(&self) -> Result<Option<Placement>, ModelError> {
        const KEY: &str = "interface.placement_handles";
        let model = self.model;
        let handles = super::value(model.interface.placement_handles.as_ref(), 1);
        let isolation = model.gc.handle_isolation.as_ref().map(|isolation| isolation.value);
        let victim_handle = model.gc.victim_handle.as_ref().map(|choice| choice.value);
        if handles == 1 {
            let isolated = isolation.map(|isolation| ("gc.handle_isolation", isolation.name()));
            let chosen = victim_handle.map(|choice| ("gc.victim_handle", choice.name()));
            return isolated.or(chosen).map_or(Ok(None), |(key, word)| {
                self.fail(key, word, "it needs interface.placement_handles above 1")
            });
        }
        if model.interface.kind() == InterfaceKind::Sata {
            let rule = "SATA has no placement handles; interface.kind = \"nvme\" has";
            return self.fail(KEY, handles, rule);
        }
        let housekeeping = model.housekeeping.as_ref();
        let refreshes = housekeeping.is_some_and(|keys| keys.refresh_after_ns.is_some());
        for (section, is_there) in [
            ("[pslc]", model.pslc.is_some()),
            ("[performance_mode]", model.performance_mode.is_some()),
            ("[streams]", model.streams.is_some()),
            ("[wear_leveling]", model.wear_leveling.is_some()),
            ("[compression]", model.compression.is_some()),
            ("[map_cache]", model.map_cache.is_some()),
            ("housekeeping.refresh_after_ns", refreshes),
        ] {
            if is_there {
                let rule = format!("handles do not go together with {section}");
                return self.fail(KEY, handles, &rule);
            }
        }
        let isolation = isolation.unwrap_or(Isolation::Initial);
        Ok(Some(Placement { handles, isolation, victim_handle }))
    }
}
