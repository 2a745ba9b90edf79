//! `gc.quantum_bytes` and `gc.duty_percent`: cleaning in bursts. `gc.rate_iops` and `gc.rate_burst_bytes`: cleaning
//! ahead of a constant rate.

use base::Ratio;

use crate::ftl::pacing::{PacingKind, Quantum};
use crate::geometry::{Geometry, PAGE_BYTES};
use crate::mechanism::throttle::Throttle;
use crate::model::check::CrossCheck;
use crate::model::{GcModel, ModelError};

impl GcModel {
    /// The bursts, or `None` if the model has none. A smaller drive has smaller ones, so that as many of them make
    /// its curve.
    pub(in crate::model) fn quantum(
        &self,
        check: &CrossCheck<'_>,
        scale: Ratio,
        geometry: &Geometry,
    ) -> Result<Option<Quantum>, ModelError> {
        let duty_percent = self.duty_percent.as_ref().map_or(100, |duty| duty.value);
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
        if let kind @ (PacingKind::Watermark | PacingKind::Rate) = self.pacing.value {
            let rule = format!("gc.pacing is {}, which owes no pages to save up", kind.name());
            return check.fail("gc.quantum_bytes", quantum.value, &rule);
        }
        let pages = scale.of(quantum.value) / geometry.physical_page_bytes();
        Ok(Some(Quantum { pages: pages.max(1), duty_percent }))
    }

    /// The limit of the host's writes under `rate` pacing; `None` under others.
    pub(in crate::model) fn write_rate(
        &self,
        check: &CrossCheck<'_>,
    ) -> Result<Option<Throttle>, ModelError> {
        match (&self.rate_iops, self.pacing.value) {
            (None, PacingKind::Rate) => {
                check.fail("gc.pacing", "rate", "it needs gc.rate_iops, which is absent")
            }
            (None, _) => self.rate_burst_bytes.as_ref().map_or(Ok(None), |burst| {
                check.fail("gc.rate_burst_bytes", burst.value, "gc.pacing is not rate")
            }),
            (Some(rate), PacingKind::Rate) => {
                let burst = self.rate_burst_bytes.as_ref().map_or(PAGE_BYTES, |burst| burst.value);
                let page_ns = 1_000_000_000_u64.div_ceil(rate.value);
                Ok(Some(Throttle { page_ns, burst_ns: burst / PAGE_BYTES * page_ns }))
            }
            (Some(rate), _) => check.fail("gc.rate_iops", rate.value, "gc.pacing is not rate"),
        }
    }
}
