//! What people see: progress and tables.

pub mod progress;
pub mod table;
