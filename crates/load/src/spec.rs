//! Workload files: jobs as TOML (docs/reference/workloads.md).
//!
//! [`file`] has the text, [`resolve`] its meaning on a span, [`library`] the files that come with ssdlab.

mod error;
mod file;
pub mod library;
mod resolve;

pub use error::SpecError;
pub use file::{AfterText, JobText, MixText, OpText, WorkloadFile};
pub use resolve::{ALL, JOBS_MAX, WorkloadSite};
