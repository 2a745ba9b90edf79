//! Drives a workload against a target, phase by phase, and produces a result.
//!
//! ```text
//! suite (a test as a list of phases) -> session (purge, drive, record, write) -> run directory
//!                                          drive: Generator -> Target -> Recorder
//! ```
//!
//! Reading order: [`drive`] (the main loop), [`recorder`] (completions to seconds), [`workers`]
//! (several threads), [`jobs`] (several jobs at once), [`suite`] (the tests), [`session`] (from a request to a run directory),
//! [`event`] (for observers).

pub mod advise;
pub mod backlog;
pub mod drive;
pub mod error;
pub mod event;
mod health;
pub mod jobs;
pub mod params;
mod power;
mod pulse;
pub mod recorder;
pub mod replay;
pub mod session;
pub mod span;
pub mod suite;
pub mod verify;
pub mod workers;

pub use error::RunError;
pub use event::Event;
pub use session::{Control, Outcome, Request, TOOL_VERSION, run};
pub use span::SpanRequest;
pub use suite::Test;
pub use workers::{Placement, WORKERS_MAX, Workers};
