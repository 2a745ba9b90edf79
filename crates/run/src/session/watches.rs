//! The watches beside the commands: health and power of the drive.

use std::sync::Arc;

use result::schema::Health;
use target::Target;

use super::Session;
use crate::health::Watch;
use crate::power::PowerWatch;

impl Session {
    /// Begins to read the health, if the drive reports it.
    pub(super) fn watch_health<T: Target>(&mut self, target: &T) {
        let watch = Watch::start(target, Arc::clone(&self.is_resting)).unwrap_or_else(|warning| {
            self.warn(warning);
            None
        });
        let so_far = watch.as_ref().map(Watch::so_far);
        self.keep_health(so_far);
        self.health = watch;
    }

    /// Reads the counters of a drive that is not read during a phase.
    pub(super) fn look_between_phases(&mut self) {
        self.health.iter_mut().for_each(Watch::look_between_phases);
    }

    /// Reads the health for the last time; returns the reasons to trust the figures less.
    pub(super) fn end_watches(&mut self) {
        let power = self.power.take().map(PowerWatch::finish).unwrap_or_default();
        power.into_iter().for_each(|warning| self.warn(warning));
        if let Some(watch) = self.health.take() {
            let (health, warnings) = watch.finish();
            self.keep_health(Some(health));
            warnings.into_iter().for_each(|warning| self.warn(warning));
        }
    }

    /// The health of the drive; the first sample of an earlier run stays.
    fn keep_health(&mut self, health: Option<Health>) {
        let Some(mut health) = health else { return };
        for sample in &mut health.samples {
            sample.at_ns = sample.at_ns.saturating_add(self.clock_offset_ns);
        }
        if let Some(before) = self.run.health.take().and_then(|health| health.before) {
            health.before = Some(before);
        }
        self.run.health = Some(health);
    }
}
