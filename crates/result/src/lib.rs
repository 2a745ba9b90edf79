//! The result as data: run directory, schema, statistics, report. Depends on no engine.
//!
//! A run passes its rows to [`store::RunWriter`]; [`stats`] computes figures and sentences, and
//! [`report`] a page, beside which [`reference`] sets simulated drives. [`compare`] judges two groups of runs, and [`expectation`] one figure.
//! [`metrics`] is the catalogue of all figures, and [`marks`] decides which of them may be called
//! what their names say. [`store::RunDir`] reads a run
//! directory of this or any older version.

pub mod bench;
pub mod compare;
pub mod dataset;
pub mod expectation;
pub mod export;
pub mod facts_file;
pub mod generated;
pub mod import;
pub mod marks;
pub mod metrics;
pub mod reference;
pub mod report;
pub mod rows;
pub mod run_id;
pub mod schema;
pub mod stats;
pub mod store;
