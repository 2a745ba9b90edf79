//! Power of a drive, measured beside it: power meters as sources of readings.
//!
//! [`MeterSpec`] is the user's argument, [`open`] makes a [`Meter`] of it: `hwmon` asks a sensor of
//! the kernel, `stream` takes lines from any program that prints them, in the format of
//! `docs/reference/formats/power-stream.md` (`line` decodes them). Every reading carries a time of the
//! machine's monotonic clock, so that it can be compared with the seconds of a run.

mod hwmon;
mod line;
mod spec;
mod stream;

use std::time::Duration;

use target::TargetError;

use crate::host::clock::monotonic_ns;

pub use spec::{HwmonSpec, MeterSpec, StreamClock, StreamSpec};

/// The largest plausible power, up or down: 1 kW.
const POWER_UW_MAX: i64 = 1_000_000_000;

/// Power at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The time on the machine's monotonic clock.
    pub at_ns: u64,
    /// Power; a little below zero is the noise of a sensor.
    pub power_uw: i64,
}

/// Output of a meter that was no reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Number of faults.
    pub count: u64,
    /// The first fault, in words, or `None` if there is none.
    pub first: Option<String>,
}

impl Faults {
    fn note(&mut self, words: impl FnOnce() -> String) {
        self.count += 1;
        self.first.get_or_insert_with(words);
    }
}

/// A source of readings.
pub trait Meter: Send {
    /// Description of the meter, for the result.
    fn describe(&self) -> String;

    /// Waits at most about `patience` for readings and appends those that came, in the order of time.
    ///
    /// # Errors
    /// If it is gone for good; bad output is counted in [`Meter::faults`].
    fn read(&mut self, patience: Duration, out: &mut Vec<Reading>) -> Result<(), TargetError>;

    /// The faults so far.
    fn faults(&self) -> &Faults;
}

/// Opens a meter.
///
/// # Errors
/// [`TargetError::Usage`] if there is no such meter, [`TargetError::Device`] if it cannot be opened.
pub fn open(spec: &MeterSpec) -> Result<Box<dyn Meter>, TargetError> {
    Ok(match spec {
        MeterSpec::Hwmon(spec) => Box::new(hwmon::Hwmon::open(spec)?),
        MeterSpec::Stream(spec) => Box::new(stream::Stream::open(spec)?),
    })
}

/// The current time, on the clock of the readings.
pub fn now_ns() -> u64 {
    monotonic_ns()
}

/// A power in watts as a reading holds it, or `None` if it is not plausible.
fn believable_uw(power_w: f64) -> Option<i64> {
    let power_uw = (power_w * 1e6).round();
    (power_uw.abs() <= POWER_UW_MAX as f64).then_some(power_uw as i64)
}
