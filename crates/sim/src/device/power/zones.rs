//! A drive with zones around a loss of power.

use base::Nanos;

use crate::device::Device;
use crate::geometry::Geometry;
use crate::nand::DieOp;
use crate::probe::Probe;

impl<P: Probe + Default> Device<P> {
    /// Cuts the power of a drive with zones and restores it. Outstanding commands are never answered; telemetry goes on.
    /// Returns the time that the capacitors kept the drive alive, or `None` if it has no zones.
    pub fn cycle_power_of_zones(&mut self) -> Option<Nanos> {
        let mut zones = self.mechanisms.zones.take()?;
        let off_ns = self.now_ns;
        while let Some((_, op)) = self.next_end() {
            if let DieOp::Program { unit, .. } | DieOp::Parity { unit } = op {
                self.in_nand(unit);
            }
        }
        let (erased, buffered_pages) = zones.cycle_power(self.geometry().unit_pages);
        let geometry = *self.geometry();
        self.totals.erased_superblocks += erased.len() as u64;
        for &superblock in &erased {
            let units = geometry.superblock_units;
            self.programmed.remove(superblock * units..(superblock + 1) * units);
            self.ftl.erased(superblock);
        }
        let empty = Geometry { superblocks: 0, logical_pages: 0, ..geometry };
        let ftl = std::mem::replace(&mut self.ftl, crate::ftl::Ftl::new(empty));
        let thermal = self.thermal_at(self.now_ns);
        let mut next = self.renewed(ftl, thermal);
        next.totals = self.totals;
        next.buffer.add(buffered_pages);
        next.mechanisms.zones = Some(zones);
        std::mem::swap(&mut next.programmed, &mut self.programmed);
        next.look_at_temperature();
        next.start_clock();
        *self = next;
        Some(Nanos(self.now_ns - off_ns))
    }
}
