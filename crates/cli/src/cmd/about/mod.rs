//! Lists, one test, the defaults of the user, and the command line for shells and readers.

mod config;
pub mod list;
pub mod shell;
mod test;
