//! `[gc]`: garbage collection, its pace and its bursts.

use base::Ratio;

use crate::ftl::gc::VictimPolicy;
use crate::ftl::gc::handle_choice::HandleChoice;
use crate::ftl::pacing::early::EarlyGc;
use crate::ftl::pacing::{HostLimit, PacingKind, Quantum};
use crate::ftl::placement::Isolation;
use crate::ftl::reclaim_groups::VictimScope;
use crate::geometry::{Geometry, PAGE_BYTES};
use crate::mechanism::throttle::Throttle;
use crate::model::check::CrossCheck;
use crate::model::schema::section;
use crate::model::{ModelError, Sourced};
use crate::nand::rank::ReadRank;

section! {
    /// Garbage collection.
    pub struct GcModel {
        /// Rule for the choice of the superblock.
        pub policy: Sourced<VictimPolicy>,
        /// Superblocks that some policies examine (d-choices, windowed-greedy).
        pub candidates: Sourced<u32> [1, 1 << 20],
        /// Superblocks among which a victim is chosen; absent: all.
        pub victims: Option<Sourced<VictimScope>>,
        /// Whether moved data of one placement handle may mix with that of others; absent: `initial`, it may.
        pub handle_isolation: Option<Sourced<Isolation>>,
        /// Placement handle from which a victim is taken; absent: the victim is chosen among the superblocks of all.
        pub victim_handle: Option<Sourced<HandleChoice>>,
        /// Rank of the host's reads against garbage collection on a die; absent: `first`.
        pub host_reads: Option<Sourced<ReadRank>>,
        /// Rule for the time.
        pub pacing: Sourced<PacingKind>,
        /// Number of erased superblocks below which the host waits.
        pub free_low: Sourced<u32> [2, 1 << 20],
        /// Superblocks of writable space at which collection starts or stops.
        pub free_high: Sourced<u32>,
        /// Most host writes of 4 KiB in a second under `rate` pacing; absent under others.
        pub rate_iops: Option<Sourced<u64>> [1, 1_000_000_000],
        /// Share of valid pages in victims below which that rate grows with the room that they give; absent: it does not.
        pub rate_valid_percent: Option<Sourced<u32>> [0, 99],
        /// Host data that may enter at once after a pause under `rate` pacing; absent: a page.
        pub rate_burst_bytes: Option<Sourced<u64>> [PAGE_BYTES, 1 << 30],
        /// Share of superblocks in use from which the drive collects beside the host, whatever its pacing; absent: it
        /// waits until it needs room.
        pub early_used_percent: Option<Sourced<u32>> [1, 99],
        /// Share of valid pages up to which such collection takes a superblock.
        pub early_valid_percent: Option<Sourced<u32>> [0, 99],
        /// Owed data that moves as one burst; absent: it moves at once.
        pub quantum_bytes: Option<Sourced<u64>> [PAGE_BYTES, 1 << 43],
        /// Most writes of the host that wait for the end of a burst, beside which further ones enter at the pace of
        /// collection; absent: all wait.
        pub burst_waiting_writes: Option<Sourced<u32>> [1, 1 << 16],
        /// Share of collection in a burst; absent: all.
        pub duty_percent: Option<Sourced<u32>> [1, 100],
    }
}

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
            let alone = [
                ("gc.duty_percent", &self.duty_percent),
                ("gc.burst_waiting_writes", &self.burst_waiting_writes),
            ];
            let alone = alone.into_iter().find_map(|(key, value)| Some((key, value.as_ref()?)));
            return alone.map_or(Ok(None), |(key, value)| {
                check.fail(key, value.value, "it belongs to gc.quantum_bytes, which is absent")
            });
        };
        if let kind @ (PacingKind::Watermark | PacingKind::Rate) = self.pacing.value {
            let rule = format!("gc.pacing is {}, which owes no pages to save up", kind.name());
            return check.fail("gc.quantum_bytes", quantum.value, &rule);
        }
        let pages = scale.of(quantum.value) / geometry.physical_page_bytes();
        let waiting_writes_max = self.burst_waiting_writes.as_ref().map(|writes| writes.value);
        Ok(Some(Quantum { pages: pages.max(1), duty_percent, waiting_writes_max }))
    }

    /// Collection that begins early, or `None` if the drive waits until it needs room.
    pub(in crate::model) fn early(
        &self,
        check: &CrossCheck<'_>,
        geometry: &Geometry,
    ) -> Result<Option<EarlyGc>, ModelError> {
        let [used, valid] = [&self.early_used_percent, &self.early_valid_percent]
            .map(|percent| percent.as_ref().map(|percent| percent.value));
        match (used, valid) {
            (None, None) => Ok(None),
            (Some(used), Some(valid)) => Ok(Some(EarlyGc::new(geometry, used, valid))),
            (Some(used), None) => {
                let rule = "it needs gc.early_valid_percent, which is absent";
                check.fail("gc.early_used_percent", used, rule)
            }
            (None, Some(valid)) => {
                let rule = "it belongs to gc.early_used_percent, which is absent";
                check.fail("gc.early_valid_percent", valid, rule)
            }
        }
    }

    /// The limit of the host's writes under `rate` pacing; `None` under others.
    pub(in crate::model) fn write_rate(
        &self,
        check: &CrossCheck<'_>,
    ) -> Result<Option<HostLimit>, ModelError> {
        let valid_percent = self.rate_valid_percent.as_ref().map(|percent| percent.value);
        match (&self.rate_iops, self.pacing.value) {
            (None, PacingKind::Rate) => {
                check.fail("gc.pacing", "rate", "it needs gc.rate_iops, which is absent")
            }
            (None, _) => {
                let rule = "gc.pacing is not rate";
                if let Some(percent) = valid_percent {
                    return check.fail("gc.rate_valid_percent", percent, rule);
                }
                self.rate_burst_bytes
                    .as_ref()
                    .map_or(Ok(None), |burst| check.fail("gc.rate_burst_bytes", burst.value, rule))
            }
            (Some(rate), PacingKind::Rate) => {
                let burst = self.rate_burst_bytes.as_ref().map_or(PAGE_BYTES, |burst| burst.value);
                let page_ns = 1_000_000_000_u64.div_ceil(rate.value);
                let throttle = Throttle { page_ns, burst_ns: burst / PAGE_BYTES * page_ns };
                Ok(Some(HostLimit { throttle, valid_percent }))
            }
            (Some(rate), _) => check.fail("gc.rate_iops", rate.value, "gc.pacing is not rate"),
        }
    }
}
