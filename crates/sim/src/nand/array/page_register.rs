//! The page register: what a die has sensed last it need not sense again.
//!
//! Phenomenon: the array loads a whole NAND page into the register of a die, and the host may want it in pieces. Until
//! the die does something else, further pieces cross the channel without tR. Source: ONFI CHANGE READ COLUMN, with
//! which a controller reads any part of the register after a single READ PAGE. Simplifications: the register holds a
//! unit, the pages of all planes, also where a read for collection senses some planes only; every operation on another
//! place takes it, suspended programs that go on among them; reads that wait are not reordered for it. Test:
//! `tests/device/nand.rs`.

/// No unit.
const NOTHING: u32 = u32::MAX;

/// The unit in the register of each die.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct PageRegisters {
    units: Vec<u32>,
}

impl PageRegisters {
    /// Registers that hold nothing.
    pub(super) fn new(dies: u32) -> Self {
        Self { units: vec![NOTHING; dies as usize] }
    }

    /// A die reads a unit, which its register holds from now on; true where it held that before.
    pub(super) fn read(&mut self, die: u32, unit: u32) -> bool {
        std::mem::replace(&mut self.units[die as usize], unit) == unit
    }

    /// The power was off.
    pub(super) fn clear_all(&mut self) {
        self.units.fill(NOTHING);
    }

    /// A die programs or erases.
    pub(super) fn clear(&mut self, die: u32) {
        self.units[die as usize] = NOTHING;
    }
}
