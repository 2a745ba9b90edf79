//! The drive gets warm and cools; see [`Thermal`].

use super::Device;
use super::timers::Timer;
use crate::events::NEVER;
use crate::mechanism::thermal::Thermal;
use crate::nand::aging::past::Past;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// The temperature at a moment from the last event to the next, or `None` if the model has none.
    pub(super) fn thermal_at(&self, time_ns: u64) -> Option<Thermal> {
        let (thermal, power) = (self.mechanisms.thermal?, self.mechanisms.power.as_ref()?);
        Some(thermal.after(time_ns, power, self.nand.operations()))
    }

    /// Firmware reads the temperature and sets the rate of the link.
    pub(super) fn look_at_temperature(&mut self) {
        let Some(mut thermal) = self.thermal_at(self.now_ns) else { return };
        self.link.limit(thermal.look());
        if let Some(heat) = &mut self.mechanisms.heat_aging {
            let retention_ns = heat.more_ns(self.now_ns, thermal.temperature_mk());
            self.nand.add_past(Past { retention_ns, ..Past::default() });
        }
        self.mechanisms.thermal = Some(thermal);
    }

    /// Puts the drive into surroundings of another temperature; false if its model has no temperature.
    pub fn set_ambient(&mut self, ambient_mk: u64) -> bool {
        self.look_at_temperature();
        let Some(thermal) = self.mechanisms.thermal else { return false };
        self.mechanisms.thermal = Some(thermal.amid(ambient_mk));
        self.look_at_temperature();
        true
    }

    /// Lets the drive take the temperature of its surroundings, after days without power.
    pub(super) fn cool_down(&mut self) {
        self.look_at_temperature();
        self.mechanisms.thermal = self.mechanisms.thermal.map(Thermal::cooled);
        self.look_at_temperature();
    }

    /// Handles the timer of the temperature.
    pub(super) fn on_heat_timer(&mut self) {
        self.look_at_temperature();
        // Without any other event the drive has come to a standstill; this timer must not hide that.
        let goes_on = self.next_work_ns() != NEVER
            || self.next_transit_ns() != NEVER
            || self.timers.next_ns() != NEVER;
        if goes_on && self.mechanisms.power.as_ref().is_some_and(|power| power.is_active()) {
            self.keep_looking();
        }
    }

    /// Sets the timer of the temperature, if it is not set.
    pub(super) fn keep_looking(&mut self) {
        if let Some(thermal) = &self.mechanisms.thermal
            && !self.timers.is_set(Timer::Heat)
        {
            self.timers.set(Timer::Heat, self.now_ns.saturating_add(thermal.look_ns()));
        }
    }
}
