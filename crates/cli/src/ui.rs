//! The output for people: data, messages, progress and tables.

pub mod live;
pub mod out;
pub mod plot;
pub mod progress;
pub mod table;
pub mod wait;
