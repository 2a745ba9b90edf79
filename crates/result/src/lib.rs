//! The answer as data: run directory, schema, statistics, report. Knows nothing of engines.
//!
//! A run hands its rows to [`store::RunWriter`]; [`stats`] turns them into figures and sentences;
//! [`report`] into a page. [`metrics`] is the catalogue of all figures. [`store::RunDir`] reads a run
//! directory of this or any older version.

pub mod generated;
pub mod metrics;
pub mod report;
pub mod rows;
pub mod run_id;
pub mod schema;
pub mod stats;
pub mod store;
