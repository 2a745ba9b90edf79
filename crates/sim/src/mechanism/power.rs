//! Power states and energy.
//!
//! Phenomenon: a drive draws more power at work than while it waits, and less again when it sleeps;
//! waking delays the next command. Every NAND operation and every page over a channel costs energy
//! on top of that. Source: Serial ATA interface power management and device sleep (slumber,
//! `DevSleep`), NVM Express power state descriptors (entry and exit latency, power); rated and
//! measured powers of drives. Simplifications: the drive goes to sleep by its own timers, unless
//! the host keeps it awake; during entry into a state it draws the power of the preceding one,
//! during exit that of work; the energy of a program or erase is drawn at once when it begins.
//! Test: `tests/mechanisms/power.rs`.
//!
//! ```text
//! working --> idle --after_ns--> (entry_ns) slumber --after_ns--> (entry_ns) sleep
//!    ^------- at once -+------------- exit_ns ---+---------------- exit_ns ---+
//! ```
//!
//! No event is needed: the state of the drive follows from the length of its idle time.

use base::facts::Sourced;

use crate::geometry::Geometry;
use crate::mechanism::basis::{Basis, Section};
use crate::model::schema::{Check, HOUR_NS, ModelError, section};

const KILOWATT_MW: u64 = 1_000_000;
const JOULE_NJ: u64 = 1_000_000_000;

section! {
    /// The power of a drive.
    pub struct PowerSection {
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
        /// First idle power state (SATA slumber, an NVMe non-operational state); absent: the drive stays idle.
        pub slumber: Option<IdlePowerStateSection>,
        /// Deeper idle power state (SATA device sleep, the last NVMe state); absent: there is none.
        pub sleep: Option<IdlePowerStateSection>,
    }
}

section! {
    /// An idle power state.
    pub struct IdlePowerStateSection {
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

/// The power of a drive; powers in mW, energies in nJ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PowerModel {
    /// Power at work.
    pub active_mw: u64,
    /// Power without work.
    pub idle_mw: u64,
    /// The first idle power state, or `None` if the drive stays idle.
    pub slumber: Option<IdlePowerState>,
    /// The deeper one, or `None` if there is none.
    pub sleep: Option<IdlePowerState>,
    /// One sense of one unit.
    pub read_nj: u64,
    /// One program of one unit.
    pub program_nj: u64,
    /// One erase on one die.
    pub erase_nj: u64,
    /// One page over a channel (of 4 KiB; on a compressing drive one granule).
    pub transfer_nj: u64,
}

/// A state that a drive enters after a time without work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct IdlePowerState {
    /// Time without work before entry.
    pub after_ns: u64,
    /// Duration of entry; a command that comes meanwhile waits for its end.
    pub entry_ns: u64,
    /// Wait of the first command until the drive is ready.
    pub exit_ns: u64,
    /// Power in the state.
    pub power_mw: u64,
}

impl Section for PowerSection {
    type Plan = PowerModel;
    type State = Power;

    fn resolve(&self, basis: &Basis<'_>) -> Result<PowerModel, ModelError> {
        let Basis { check, blocks, .. } = basis;
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
        Ok(PowerModel {
            active_mw: self.active_mw.value,
            idle_mw,
            slumber,
            sleep,
            read_nj: self.read_nj.value,
            program_nj: self.program_nj.value,
            // Shorter blocks are erased more often; the energy for a page stays the same.
            erase_nj: (self.erase_nj.value * u64::from(blocks.scaled_pages))
                .div_ceil(u64::from(blocks.pages)),
            transfer_nj: self.transfer_nj.value,
        })
    }

    fn begin(plan: PowerModel, _: &Geometry, _: usize) -> Power {
        Power::new(plan, 0)
    }
}

impl IdlePowerStateSection {
    /// A deeper state draws no more than the one before it.
    fn resolve(
        &self,
        check: &Check<'_>,
        section: &str,
        above_mw: u64,
    ) -> Result<IdlePowerState, ModelError> {
        check.within(&format!("{section}.power_mw"), self.power_mw.value, 0, above_mw)?;
        Ok(IdlePowerState {
            after_ns: self.after_ns.value,
            entry_ns: self.entry_ns.value,
            exit_ns: self.exit_ns.value,
            power_mw: self.power_mw.value,
        })
    }
}

/// Number of NAND operations begun so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct OperationCounts {
    /// Senses of a unit.
    pub reads: u64,
    /// Programs of a unit.
    pub programs: u64,
    /// Erases of a superblock's blocks on one die.
    pub erases: u64,
    /// Pages (on a compressing drive: granules) over a channel.
    pub transfers: u64,
}

/// Time spent in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct StateTimes {
    /// At work.
    pub active_ns: u64,
    /// Without work; entry into slumber counts here.
    pub idle_ns: u64,
    /// In slumber.
    pub slumber_ns: u64,
    /// In the deeper state.
    pub sleep_ns: u64,
}

impl StateTimes {
    /// Time in all states.
    pub fn total_ns(&self) -> u64 {
        self.active_ns + self.idle_ns + self.slumber_ns + self.sleep_ns
    }
}

/// The present and past power states of a drive.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Power {
    model: PowerModel,
    is_active: bool,
    /// Whether the host permits idle power states.
    permits_idle_states: bool,
    /// Time since which it has had work, or none.
    since_ns: u64,
    /// Times until then.
    before: StateTimes,
}

impl Power {
    /// A drive that has no work from `now_ns`.
    pub fn new(model: PowerModel, now_ns: u64) -> Self {
        let before = StateTimes::default();
        Self { model, is_active: false, permits_idle_states: true, since_ns: now_ns, before }
    }

    /// Records whether the drive has work from `now_ns` on.
    #[inline]
    pub fn note(&mut self, has_work: bool, now_ns: u64) {
        if has_work != self.is_active {
            self.before = self.times(now_ns);
            self.since_ns = now_ns;
            self.is_active = has_work;
        }
    }

    /// Whether the drive has work.
    pub fn is_active(&self) -> bool {
        self.is_active
    }

    /// The next moment after `after_ns` at which the drive enters an idle power state, or `None` if only work changes its
    /// power. `after_ns` is not before the latest begin or end of work.
    pub fn next_change_ns(&self, after_ns: u64) -> Option<u64> {
        let begun_ns = |state: IdlePowerState| self.since_ns + state.after_ns + state.entry_ns;
        let changes = self.idle_states().into_iter().flatten().map(begun_ns);
        changes.filter(|&change_ns| change_ns > after_ns && !self.is_active).min()
    }

    /// Makes the drive new at `now_ns`: no time spent in any state, and the permission of the host
    /// as before.
    pub fn renewed(&self, now_ns: u64) -> Self {
        Self { permits_idle_states: self.permits_idle_states, ..Self::new(self.model, now_ns) }
    }

    /// Permits idle power states, or keeps the drive awake. Its timers start again.
    pub fn allow_idle_states(&mut self, allowed: bool, now_ns: u64) {
        self.before = self.times(now_ns);
        self.since_ns = now_ns;
        self.permits_idle_states = allowed;
    }

    /// The permitted idle power states: slumber and the deeper one.
    fn idle_states(&self) -> [Option<IdlePowerState>; 2] {
        if self.permits_idle_states { [self.model.slumber, self.model.sleep] } else { [None, None] }
    }

    /// Wait of a command that comes at `now_ns` until the drive is ready.
    pub fn wake_ns(&self, now_ns: u64) -> u64 {
        if self.is_active {
            return 0;
        }
        let idle_ns = now_ns - self.since_ns;
        let entered =
            self.idle_states().into_iter().rev().flatten().find(|state| state.after_ns <= idle_ns);
        match entered {
            Some(state) => {
                (state.after_ns + state.entry_ns).saturating_sub(idle_ns) + state.exit_ns
            }
            None => 0,
        }
    }

    /// Time spent in each state until `now_ns`.
    pub fn times(&self, now_ns: u64) -> StateTimes {
        let mut times = self.before;
        let mut left_ns = now_ns - self.since_ns;
        if self.is_active {
            times.active_ns += left_ns;
            return times;
        }
        let beyond = |left_ns: u64, state: Option<IdlePowerState>| {
            state.map_or(0, |state| left_ns.saturating_sub(state.after_ns + state.entry_ns))
        };
        let [slumber, sleep] = self.idle_states();
        let sleep_ns = beyond(left_ns, sleep);
        left_ns -= sleep_ns;
        let slumber_ns = beyond(left_ns, slumber);
        times.sleep_ns += sleep_ns;
        times.slumber_ns += slumber_ns;
        times.idle_ns += left_ns - slumber_ns;
        times
    }

    /// Energy until `now_ns`, rounded down.
    pub fn energy_nj(&self, now_ns: u64, operations: OperationCounts) -> u64 {
        let (model, times) = (&self.model, self.times(now_ns));
        let idle_state_mw = |state: Option<IdlePowerState>| state.map_or(0, |state| state.power_mw);
        // A milliwatt for a nanosecond is a picojoule.
        let states_pj: u128 = [
            (times.active_ns, model.active_mw),
            (times.idle_ns, model.idle_mw),
            (times.slumber_ns, idle_state_mw(model.slumber)),
            (times.sleep_ns, idle_state_mw(model.sleep)),
        ]
        .map(product)
        .iter()
        .sum();
        let operations_nj: u128 = [
            (operations.reads, model.read_nj),
            (operations.programs, model.program_nj),
            (operations.erases, model.erase_nj),
            (operations.transfers, model.transfer_nj),
        ]
        .map(product)
        .iter()
        .sum();
        (states_pj / 1000 + operations_nj) as u64
    }
}

fn product((count, each): (u64, u64)) -> u128 {
    u128::from(count) * u128::from(each)
}
