//! The common parts of formats: input, lines and fields, names and units.

pub(crate) mod binary;
pub(crate) mod fields;
pub(crate) mod lines;
pub(crate) mod names;
pub(crate) mod time;
