//! `[parity]`: stripes over dies.

use crate::model::check::CrossCheck;
use crate::model::schema::section;
use crate::model::{ModelError, Sourced};

section! {
    /// Parity over dies (RAIN, RAISE).
    pub struct ParityModel {
        /// Units in a stripe, the parity unit included; divides the number of dies.
        pub stripe_units: Sourced<u32>,
    }
}

/// Units in a parity stripe, 0 if there is none. Each unit of a stripe is on another die; otherwise
/// the loss of one die could take two of its units.
pub(in crate::model) fn stripe_units(check: &CrossCheck<'_>, dies: u32) -> Result<u32, ModelError> {
    let Some(parity) = &check.model.parity else { return Ok(0) };
    let units = parity.stripe_units.value;
    if units >= 2 && dies.is_multiple_of(units) {
        return Ok(units);
    }
    let rule = format!("it must be at least 2 and divide the number of dies, {dies}");
    check.fail("parity.stripe_units", units, &rule)
}
