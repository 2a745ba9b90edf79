//! The health of a drive before, during and after a run.
//!
//! Reading it costs the drive time. Only NVMe drives, which have a separate queue for it, are read
//! during a measurement; others that count NAND writes are read between two phases. No drive is read
//! while it rests, because that would wake it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;

use base::HealthSnapshot;
use result::schema::{Health, HealthSample};
use target::health::HealthProbe;
use target::{Target, TargetError};

/// Reads the health of a drive from its creation until [`Watch::finish`].
pub(crate) struct Watch {
    probe: Arc<dyn HealthProbe>,
    before: HealthSnapshot,
    /// The samples between two phases.
    between: Vec<HealthSample>,
    is_resting: Arc<AtomicBool>,
    /// Dropped to stop the thread.
    stop: Sender<()>,
    looking: JoinHandle<Vec<HealthSample>>,
}

impl Watch {
    /// Reads the health once and begins to repeat it, except while `is_resting`; `None` if the
    /// drive reports none.
    ///
    /// # Errors
    /// If the drive should report it and does not: a sentence for the result.
    pub(crate) fn start<T: Target>(
        target: &T,
        is_resting: Arc<AtomicBool>,
    ) -> Result<Option<Self>, String> {
        let Some(probe) = target.health_probe() else { return Ok(None) };
        let before = probe.read().map_err(|error| not_read(&error))?;
        let (stop, stopped) = channel();
        let beside = Arc::clone(&probe);
        let rests = Arc::clone(&is_resting);
        let looking = std::thread::spawn(move || {
            let mut samples = Vec::new();
            while stopped.recv_timeout(beside.interval()) == Err(RecvTimeoutError::Timeout) {
                if beside.is_harmless() && !rests.load(Ordering::Relaxed) {
                    samples.extend(sample(&*beside));
                }
            }
            samples
        });
        Ok(Some(Self { probe, before, between: Vec::new(), is_resting, stop, looking }))
    }

    /// Reads a drive that counts NAND writes and is not read during a measurement. Call it while no command is
    /// outstanding.
    pub(crate) fn look_between_phases(&mut self) {
        let counts = self.before.nand_written_bytes.is_some();
        if counts && !self.probe.is_harmless() && !self.is_resting.load(Ordering::Relaxed) {
            self.between.extend(sample(&*self.probe));
        }
    }

    /// The health so far, so that a later crash does not lose it.
    pub(crate) fn so_far(&self) -> Health {
        Health { before: Some(self.before.clone()), after: None, samples: Vec::new() }
    }

    /// Reads the health for the last time; returns all samples and the reasons to trust the figures
    /// less.
    pub(crate) fn finish(self) -> (Health, Vec<String>) {
        let Self { probe, before, between: mut samples, stop, looking, .. } = self;
        drop(stop);
        let Ok(during) = looking.join() else {
            let health = Health { before: Some(before), after: None, samples };
            return (health, vec!["the watch over the drive's health died".to_owned()]);
        };
        samples.extend(during);
        let (after, warnings) = match probe.read() {
            Ok(after) => {
                let warnings = warnings(&before, &after);
                (Some(after), warnings)
            }
            Err(error) => (None, vec![not_read(&error)]),
        };
        (Health { before: Some(before), after, samples }, warnings)
    }
}

fn not_read(error: &TargetError) -> String {
    format!("the drive's health could not be read: {}", error.with_cause())
}

fn sample(probe: &dyn HealthProbe) -> Option<HealthSample> {
    let at_ns = probe.now().0;
    let health = probe.read().ok()?;
    Some(HealthSample {
        at_ns,
        temperature_c: health.temperature_c,
        host_written_bytes: health.host_written_bytes,
        nand_written_bytes: health.nand_written_bytes,
    })
}

/// The events of the drive between two samples that a reader of the figures must know.
fn warnings(before: &HealthSnapshot, after: &HealthSnapshot) -> Vec<String> {
    let grown = |of: fn(&HealthSnapshot) -> Option<u64>| {
        let growth = of(after)?.checked_sub(of(before)?)?;
        (growth > 0).then_some(growth)
    };
    let hottest = after.temperature_c.map(|c| format!(" (it has {c} degrees C now)"));
    let now = hottest.unwrap_or_default();
    let mut warnings = Vec::new();
    if let Some(seconds) = grown(|health| health.throttle_s) {
        warnings.push(format!("the drive throttled for {seconds} s because of heat{now}"));
    } else if let Some(times) = grown(|health| health.throttle_count) {
        warnings.push(format!("the drive throttled {times} times because of heat{now}"));
    }
    if let Some(minutes) = grown(|health| health.over_temperature_min) {
        warnings
            .push(format!("the drive was above its limit of temperature for {minutes} min{now}"));
    }
    if let Some(errors) = grown(|health| health.media_errors) {
        warnings.push(format!("the drive could not correct {errors} errors during the run"));
    }
    if let Some(bits) = after.critical_warning.filter(|&bits| bits != 0) {
        warnings.push(format!("the drive warns about its state: {}", critical(bits)));
    }
    warnings
}

/// Words for the bits of the NVMe critical warning.
fn critical(bits: u8) -> String {
    const WORDS: [&str; 6] = [
        "few spare blocks are left",
        "temperature is out of bounds",
        "reliability is degraded",
        "it takes no more writes",
        "the backup of its volatile memory failed",
        "its persistent memory is read only",
    ];
    let set = WORDS.iter().enumerate().filter(|(bit, _)| bits & 1 << bit != 0);
    let words: Vec<_> = set.map(|(_, words)| *words).collect();
    if words.is_empty() { format!("{bits:#04x}") } else { words.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn health(throttle_s: u64, over_temperature_min: u64, critical_warning: u8) -> HealthSnapshot {
        HealthSnapshot {
            source: "nvme-smart-log".to_owned(),
            temperature_c: Some(85),
            throttle_s: Some(throttle_s),
            throttle_count: Some(throttle_s),
            over_temperature_min: Some(over_temperature_min),
            critical_warning: Some(critical_warning),
            ..HealthSnapshot::default()
        }
    }

    #[test]
    fn heat_during_the_run_is_a_warning_and_heat_before_it_is_not() {
        assert_eq!(warnings(&health(7, 3, 0), &health(7, 3, 0)), [] as [&str; 0]);
        let found = warnings(&health(7, 3, 0), &health(9, 4, 0));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("for 2 s") && found[0].contains("85 degrees"), "{found:?}");
        assert!(found[1].contains("for 1 min"), "{found:?}");
    }

    #[test]
    fn a_counter_that_was_reset_is_no_warning() {
        assert_eq!(warnings(&health(7, 3, 0), &health(0, 0, 0)), [] as [&str; 0]);
    }

    #[test]
    fn each_bit_of_the_critical_warning_has_its_words() {
        let found = warnings(&health(0, 0, 0), &health(0, 0, 0b1010));
        assert!(found[0].contains("temperature is out") && found[0].contains("no more writes"));
        assert_eq!(critical(0x80), "0x80");
    }
}
