//! `gc.quantum_bytes` and `gc.duty_percent`: cleaning in bursts.

use base::Ratio;

use crate::ftl::pacing::{PacingKind, Quantum};
use crate::geometry::{Geometry, PAGE_BYTES};
use crate::model::check::Check;
use crate::model::{GcModel, ModelError};

impl GcModel {
    /// The bursts, or `None` if the model has none. A smaller drive has smaller ones, so that as many of them make
    /// its curve.
    pub(in crate::model) fn quantum(
        &self,
        check: &Check<'_>,
        scale: Ratio,
        geometry: &Geometry,
    ) -> Result<Option<Quantum>, ModelError> {
        let duty_percent = self.duty_percent.as_ref().map_or(100, |duty| duty.value);
        check.within("gc.duty_percent", duty_percent.into(), 1, 100)?;
        let Some(quantum) = &self.quantum_bytes else {
            return match self.duty_percent {
                Some(_) => check.fail(
                    "gc.duty_percent",
                    duty_percent,
                    "it belongs to gc.quantum_bytes, which is absent",
                ),
                None => Ok(None),
            };
        };
        check.within("gc.quantum_bytes", quantum.value, PAGE_BYTES, 1 << 43)?;
        if self.pacing.value == PacingKind::Watermark {
            let rule = "gc.pacing is watermark, which owes no pages to save up";
            return check.fail("gc.quantum_bytes", quantum.value, rule);
        }
        let pages = scale.of(quantum.value) / geometry.physical_page_bytes();
        Ok(Some(Quantum { pages: pages.max(1), duty_percent }))
    }
}
