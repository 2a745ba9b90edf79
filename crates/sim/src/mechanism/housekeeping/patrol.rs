//! Patrol reads: the drive reads through all that it holds, again and again.
//!
//! Phenomenon: firmware finds pages that begin to fail before the host reads them; each patrol read keeps a die from
//! other work. Source: patrol read as SSSTC describes it for its drives, background scan of SMART Modular; rates are
//! not in print (assumed). Simplifications: a whole unit at a time, in physical order, one for each die at most; it
//! waits its turn on its die behind the host's reads; what it finds is always sound. Test:
//! `tests/mechanisms/housekeeping.rs`.

use crate::nand::programmed::ProgrammedUnits;

/// The round of a drive over its units.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Patrol {
    interval_ns: u64,
    next_unit: u32,
    /// Units that are being read, and how many may be.
    reading: u32,
    reading_max: u32,
}

impl Patrol {
    /// A round that begins on a drive of so many dies, with a unit for each interval.
    pub fn new(interval_ns: u64, dies: u32) -> Self {
        Self { interval_ns, next_unit: 0, reading: 0, reading_max: dies }
    }

    /// Time from one unit to the next.
    pub fn interval_ns(&self) -> u64 {
        self.interval_ns
    }

    /// The unit to read now, or `None` if as many as there are dies still wait or the drive holds nothing.
    pub fn begin(&mut self, programmed: &ProgrammedUnits) -> Option<u32> {
        if self.reading == self.reading_max {
            return None;
        }
        let unit = programmed.first_from(self.next_unit).or_else(|| programmed.first_from(0))?;
        self.next_unit = unit + 1;
        self.reading += 1;
        Some(unit)
    }

    /// A unit has been read.
    pub fn end(&mut self) {
        self.reading -= 1;
    }
}
