//! The declarations of a test.

use super::procedure::Procedure;
use super::site::Site;
use crate::error::RunError;
use crate::params::{Param, Params};

/// The definition of a test.
#[derive(Debug)]
pub struct Definition {
    /// The word on the command line and in results.
    pub name: &'static str,
    /// The question it answers, in one sentence.
    pub question: &'static str,
    /// Whether it destroys the data on the target.
    pub writes: bool,
    /// Its parameters with defaults.
    pub params: &'static [Param],
    /// Its procedure with these parameters at a site.
    pub procedure: fn(&Params, &Site<'_>) -> Result<Procedure, RunError>,
}
