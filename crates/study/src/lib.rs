//! Many simulated runs for one answer: sweeps over the values of a drive, and fits of them.
//!
//! ```text
//! sweep: design -> requests -> pool -> perform -> one table
//! fit: runs -> figures -> pool of simulations <-> search -> model file
//! ```
//!
//! Each run is carried out by `session`, as those of the program are. Reading order: [`sweep`], [`fit`].

pub mod fit;
#[cfg(test)]
#[allow(dead_code, unreachable_pub, reason = "shared with the tests of the engines")]
#[path = "../../io/tests/support/loops.rs"]
mod loops;
mod simulate;
pub mod sweep;
