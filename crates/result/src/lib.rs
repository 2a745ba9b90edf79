//! The answer as data: run directory, schema, statistics, report. Knows nothing of engines.

pub mod report;
pub mod rows;
pub mod schema;
