//! `[power]`: power states and energy per operation.

use crate::model::check::CrossCheck;
use crate::model::schema::{HOUR_NS, section};
use crate::model::{ModelError, Sourced};
use crate::power;

const KILOWATT_MW: u64 = 1_000_000;
const JOULE_NJ: u64 = 1_000_000_000;

section! {
    /// The power of a drive.
    pub struct PowerModel {
        /// Power at work, mW, without the energy of NAND operations.
        pub active_mw: Sourced<u64> [0, KILOWATT_MW],
        /// Power without work, mW.
        pub idle_mw: Sourced<u64> [0, KILOWATT_MW],
        /// One sense of one unit, nJ.
        pub read_nj: Sourced<u64> [0, JOULE_NJ],
        /// One program of one unit, nJ.
        pub program_nj: Sourced<u64> [0, JOULE_NJ],
        /// One erase on one die, nJ.
        pub erase_nj: Sourced<u64> [0, JOULE_NJ],
        /// One page over a channel, nJ (of 4 KiB; on a compressing drive one granule).
        pub transfer_nj: Sourced<u64> [0, JOULE_NJ],
        /// First state of rest (SATA slumber, an NVMe non-operational state); absent: the drive stays idle.
        pub slumber: Option<RestModel>,
        /// Deeper state of rest (SATA device sleep, the last NVMe state); absent: there is none.
        pub sleep: Option<RestModel>,
    }
}

section! {
    /// A state of rest.
    pub struct RestModel {
        /// Time without work before entry.
        pub after_ns: Sourced<u64> [0, HOUR_NS],
        /// Duration of entry.
        pub entry_ns: Sourced<u64> [0, HOUR_NS],
        /// Wait of the first command.
        pub exit_ns: Sourced<u64> [0, HOUR_NS],
        /// Power, mW.
        pub power_mw: Sourced<u64>,
    }
}

impl PowerModel {
    /// The power of a drive with blocks shortened from `block_pages` to `scaled_pages`.
    pub(in crate::model) fn resolve(
        &self,
        check: &CrossCheck<'_>,
        scaled_pages: u32,
        block_pages: u32,
    ) -> Result<power::PowerModel, ModelError> {
        let idle_mw = self.idle_mw.value;
        let slumber = self.slumber.as_ref().map(|s| s.resolve(check, "power.slumber", idle_mw));
        let slumber = slumber.transpose()?;
        let above_mw = slumber.map_or(idle_mw, |slumber| slumber.power_mw);
        let sleep = self.sleep.as_ref().map(|s| s.resolve(check, "power.sleep", above_mw));
        let sleep = sleep.transpose()?;
        if let (Some(slumber), Some(sleep)) = (slumber, sleep) {
            let begun_ns = slumber.after_ns + slumber.entry_ns;
            check.within("power.sleep.after_ns", sleep.after_ns, begun_ns, u64::MAX)?;
        }
        Ok(power::PowerModel {
            active_mw: self.active_mw.value,
            idle_mw,
            slumber,
            sleep,
            read_nj: self.read_nj.value,
            program_nj: self.program_nj.value,
            // Shorter blocks are erased more often; the energy for a page stays the same.
            erase_nj: (self.erase_nj.value * u64::from(scaled_pages))
                .div_ceil(u64::from(block_pages)),
            transfer_nj: self.transfer_nj.value,
        })
    }
}

impl RestModel {
    /// A state of rest draws no more than the one before it.
    fn resolve(
        &self,
        check: &CrossCheck<'_>,
        section: &str,
        above_mw: u64,
    ) -> Result<power::RestState, ModelError> {
        check.within(&format!("{section}.power_mw"), self.power_mw.value, 0, above_mw)?;
        Ok(power::RestState {
            after_ns: self.after_ns.value,
            entry_ns: self.entry_ns.value,
            exit_ns: self.exit_ns.value,
            power_mw: self.power_mw.value,
        })
    }
}
