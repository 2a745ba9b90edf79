//! From requests to finished runs, for every front end: the program, the Python package and studies.
//!
//! ```text
//! request -> targets: inspect, hold -> perform: open, run -> run directory
//! ```
//!
//! Reading order: [`request`] (a run as data), [`targets`] (the only way to a usable target),
//! [`perform`] (one run), [`pool`] (several at a time), [`exit`] (errors as exit codes).

pub mod exit;
pub mod facts;
#[cfg(test)]
#[allow(dead_code, unreachable_pub, reason = "shared with the tests of the engines")]
#[path = "../../io/tests/support/loops.rs"]
mod loops;
mod perform;
pub mod pool;
pub mod request;
pub mod targets;

pub use device::describe::report::list as devices;
pub use perform::{Needs, perform};
