//! `[power]`: power states and energy per operation.

mod thermal;

use serde::Deserialize;

use crate::model::check::{Check, HOUR_NS};
use crate::model::{ModelError, Sourced};
use crate::power;

pub use thermal::{ThermalModel, ThermalStepModel};

/// The power of a drive.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerModel {
    /// Power at work, mW, without the energy of NAND operations.
    pub active_mw: Sourced<u64>,
    /// Power without work, mW.
    pub idle_mw: Sourced<u64>,
    /// One sense of one unit, nJ.
    pub read_nj: Sourced<u64>,
    /// One program of one unit, nJ.
    pub program_nj: Sourced<u64>,
    /// One erase on one die, nJ.
    pub erase_nj: Sourced<u64>,
    /// One page over a channel, nJ (of 4 KiB; on a compressing drive one granule).
    pub transfer_nj: Sourced<u64>,
    /// First state of rest (SATA slumber, an NVMe non-operational state); absent: the drive stays idle.
    pub slumber: Option<RestModel>,
    /// Deeper state of rest (SATA device sleep, the last NVMe state); absent: there is none.
    pub sleep: Option<RestModel>,
}

/// A state of rest.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RestModel {
    /// Time without work before entry.
    pub after_ns: Sourced<u64>,
    /// Duration of entry.
    pub entry_ns: Sourced<u64>,
    /// Wait of the first command.
    pub exit_ns: Sourced<u64>,
    /// Power, mW.
    pub power_mw: Sourced<u64>,
}

impl PowerModel {
    /// The power of a drive with blocks shortened from `block_pages` to `scaled_pages`.
    pub(in crate::model) fn resolve(
        &self,
        check: &Check<'_>,
        scaled_pages: u32,
        block_pages: u32,
    ) -> Result<power::PowerModel, ModelError> {
        const KILOWATT_MW: u64 = 1_000_000;
        const JOULE_NJ: u64 = 1_000_000_000;
        for (key, value, max) in [
            ("power.active_mw", &self.active_mw, KILOWATT_MW),
            ("power.idle_mw", &self.idle_mw, KILOWATT_MW),
            ("power.read_nj", &self.read_nj, JOULE_NJ),
            ("power.program_nj", &self.program_nj, JOULE_NJ),
            ("power.erase_nj", &self.erase_nj, JOULE_NJ),
            ("power.transfer_nj", &self.transfer_nj, JOULE_NJ),
        ] {
            check.within(key, value.value, 0, max)?;
        }
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
        check: &Check<'_>,
        section: &str,
        above_mw: u64,
    ) -> Result<power::RestState, ModelError> {
        for (key, value) in
            [("after_ns", &self.after_ns), ("entry_ns", &self.entry_ns), ("exit_ns", &self.exit_ns)]
        {
            check.within(&format!("{section}.{key}"), value.value, 0, HOUR_NS)?;
        }
        check.within(&format!("{section}.power_mw"), self.power_mw.value, 0, above_mw)?;
        Ok(power::RestState {
            after_ns: self.after_ns.value,
            entry_ns: self.entry_ns.value,
            exit_ns: self.exit_ns.value,
            power_mw: self.power_mw.value,
        })
    }
}
