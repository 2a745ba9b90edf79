//! From requests in words to finished runs, for every front end: the program and the Python package.
//!
//! ```text
//! request -> prepare (look at, hold) -> perform (open, run) -> run directory
//! sweep: design -> requests -> pool -> perform -> one table
//! fit: runs -> figures -> pool of simulations <-> search -> model file
//! ```
//!
//! Reading order: [`request`] (a run as data), [`prepare`] (the only way to a usable target),
//! [`perform`] (one run), [`pool`] (several at a time), [`sweep`],
//! [`fit`], [`exit`] (errors as exit codes).

pub mod exit;
pub mod facts;
pub mod fit;
#[cfg(test)]
#[allow(dead_code, unreachable_pub, reason = "shared with the tests of the engines")]
#[path = "../../io/tests/support/loops.rs"]
mod loops;
mod perform;
pub mod pool;
pub mod prepare;
pub mod request;
mod simulate;
pub mod sweep;

pub use device::describe::report::list as devices;
pub use perform::{Needs, perform};
