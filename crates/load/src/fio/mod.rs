//! fio's job files: read as workload files, and written from them.
//!
//! Options whose effect a workload file can have are carried over; every other one is named with the reason.
//! Source: fio's HOWTO and, where it is silent, `options.c`, `io_u.c` and `init.c` of fio 3.33.

mod export;
mod import;
mod ini;
mod not_carried;
mod pattern;
mod values;

pub use export::export;
pub use import::{Imported, import};

use base::text::shortened;

/// A job file that cannot be read, or whose load no workload file can describe.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FioError {
    /// A line that is none of a job file.
    #[error("line {number}, `{line}`: {rule}")]
    Line {
        /// Its number, from 1 on.
        number: usize,
        /// Its text.
        line: String,
        /// The rule.
        rule: String,
    },
    /// A value that is impossible, or whose effect nothing here has.
    #[error("[{job}] {key}={value}: {rule}")]
    Option {
        /// Name of the job.
        job: String,
        /// The option.
        key: String,
        /// Its value.
        value: String,
        /// The rule.
        rule: String,
    },
    /// Nothing to do.
    #[error("the file has no job, such as [a] with rw=randread below")]
    Empty,
}

impl FioError {
    fn line(number: usize, line: &str, rule: &str) -> Self {
        Self::Line { number, line: shortened(line), rule: rule.to_owned() }
    }
}
