//! From requests to finished runs, for every front end: the program, the Python package and studies.
//!
//! ```text
//! request -> targets: inspect, hold -> job: plan, open, run -> run directory
//! ```
//!
//! Reading order: [`request`] (a run as data), [`targets`] (the only way to a usable target),
//! [`job`] (one run), [`pool`] (several at a time), [`exit`] (errors as exit codes).

pub mod effort;
pub mod exit;
pub mod facts;
pub mod job;
#[cfg(test)]
#[allow(dead_code, unreachable_pub, reason = "shared with the tests of the engines")]
#[path = "../../io/tests/support/loops.rs"]
mod loops;
pub mod pool;
pub mod request;
pub mod targets;

pub use device::describe::report::list as devices;
