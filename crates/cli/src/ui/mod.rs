//! The output for people: data, talk, progress and tables.

pub mod out;
pub mod progress;
pub mod table;
