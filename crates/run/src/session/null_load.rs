//! The host without a drive: the same loads on a target that completes every command at once.
//!
//! A drive that answers nearly as fast as nothing at all is not measured: the figure is that of the program on this
//! host. The loads are repeated after the last phase, in the program alone, so that the drive notices nothing.

use std::sync::atomic::AtomicBool;

use base::Nanos;
use device::host::affinity::Stay;
use device::host::clock::MonotonicClock;
use load::{Generator, Pacing, Workload};
use result::schema::{Load, NullLoad, Phase};
use target::Target;
use target::null::NullTarget;

use crate::drive::drive;
use crate::recorder::Recorder;
use crate::workers::{Workers, drive_workers};

const LENGTH: Nanos = Nanos(Nanos::SECOND.0 / 4);

/// Rates of a drive below which a host is never the limit.
const IOPS_MIN: u64 = 20_000;
const BYTES_PER_S_MIN: u64 = 1_000_000_000;

/// The loads of a run that a host may limit, each with the index of its phase.
#[derive(Debug, Default)]
pub(super) struct FastLoads(Vec<(usize, Workload)>);

impl FastLoads {
    /// Takes a load in a closed loop, if its phase was fast.
    pub(super) fn add(&mut self, index: usize, phase: &Phase, workload: &Workload) {
        let a_second = |count: u64| {
            let second = u128::from(Nanos::SECOND.0);
            u128::from(count) * second / u128::from(phase.duration_ns.max(1))
        };
        let is_fast = a_second(phase.ios) > u128::from(IOPS_MIN)
            || a_second(phase.bytes) > u128::from(BYTES_PER_S_MIN);
        if is_fast && workload.pacing == Pacing::ClosedLoop {
            self.0.push((index, workload.clone()));
        }
    }

    /// Repeats the loads without a drive, each shape once, and tells their phases.
    pub(super) fn repeat(self, phases: &mut [Phase], threads: Threads, interrupted: &AtomicBool) {
        let mut measured: Vec<(Load, Option<NullLoad>)> = Vec::new();
        for (index, workload) in self.0 {
            let Phase { load: Some(load), host: Some(host), .. } = &mut phases[index] else {
                continue;
            };
            let shape = Load { offset_bytes: 0, span_bytes: 0, ..load.clone() };
            let known = measured.iter().find(|(known, _)| *known == shape);
            host.null_load = known
                .map_or_else(|| threads.null_load(&workload, interrupted), |(_, known)| *known);
            measured.push((shape, host.null_load));
        }
    }
}

/// The threads of a load.
#[derive(Clone, Copy, Debug)]
pub(super) struct Threads {
    pub(super) workers: Workers,
    /// The processor of a thread that issues one command at a time, or `None` if it is not kept on one.
    pub(super) home: Option<usize>,
    pub(super) seed: u64,
}

impl Threads {
    /// The commands of this load on a target that completes them at once, or `None` if no thread can be had.
    fn null_load(self, workload: &Workload, interrupted: &AtomicBool) -> Option<NullLoad> {
        let capacity_bytes = workload.span_offset_bytes.saturating_add(workload.span_bytes);
        let endless = Workload { limit_bytes: None, ..workload.clone() };
        let mut generators = Generator::shares(&endless, self.seed, self.workers.count);
        let mut target = NullTarget::new(capacity_bytes, MonotonicClock::start());
        let is_single = workload.queue_depth == 1;
        let _stay = self.home.filter(|_| is_single).and_then(|home| Stay::on(&[home]));
        let mut recorder = Recorder::new(target.now(), Some(LENGTH));
        let deadline = recorder.deadline();
        let pin = self.workers.is_pinned();
        if let ([generator], false) = (&mut generators[..], pin) {
            drive(&mut target, generator, deadline, &mut recorder, interrupted, |_| ()).ok()?;
        } else {
            drive_workers(&mut target, generators, pin, &mut recorder, interrupted, |_| ()).ok()?;
        }
        let ios = recorder.ios;
        let (_, Nanos(duration_ns)) = recorder.finish(target.now());
        Some(NullLoad { ios, duration_ns })
    }
}
