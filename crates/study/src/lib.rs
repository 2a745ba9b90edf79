//! From requests in words to finished runs, for every front end: the program and the Python package.
//!
//! ```text
//! request -> prepare (look at, hold) -> perform (open, run) -> run directory
//! sweep: design -> requests -> pool -> perform -> one table
//! ```
//!
//! Reading order: [`request`] (a run as data), [`prepare`] (the only way to a usable target),
//! [`perform`] (one run), [`pool`] (several at a time), [`sweep`], [`exit`] (errors as exit codes).

pub mod exit;
pub mod facts;
mod perform;
pub mod pool;
pub mod prepare;
pub mod request;
pub mod sweep;

pub use perform::{Needs, perform};
