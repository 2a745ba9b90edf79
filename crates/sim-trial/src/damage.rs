//! Damage to NAND while the power is off, which takes information away from a recovery.

use sim::power_loss::{Anchor, MapUnit, NandContents};

/// Erases the order in which pages were written.
pub fn forget_sequences(nand: &mut NandContents) {
    for spare in nand.spares_mut() {
        spare.sequence = 0;
    }
}

/// Makes units of the map unreadable.
pub fn lose_map(nand: &mut NandContents, is_lost: impl Fn(&MapUnit) -> bool) {
    let lost = |(&unit, content): (&u32, &MapUnit)| is_lost(content).then_some(unit);
    let lost: Vec<u32> = nand.map_units().iter().filter_map(lost).collect();
    lost.into_iter().for_each(|unit| nand.tear_unit(unit));
}

/// Makes the journal claim that it covers everything.
pub fn trust_anchors(nand: &mut NandContents) {
    for content in nand.map_units_mut() {
        if let MapUnit::Journal { anchor, .. } | MapUnit::Commit { anchor, .. } = content {
            *anchor = Anchor { sequence: u64::MAX / 2, unsettled: Vec::new() };
        }
    }
}
