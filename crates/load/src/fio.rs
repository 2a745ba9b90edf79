//! fio's job files: read as workload files, and written from them.
//!
//! Options whose effect a workload file can have are carried over, those without an effect on the commands are named
//! in one line, and every other one refuses the file with job, option, value and rule.
//! Source: fio's HOWTO and, where it is silent, `options.c`, `io_u.c` and `init.c` of fio 3.33.

mod export;
mod import;
mod ini;
mod job;
mod options;
mod pattern;
mod values;

pub use export::export;
pub use import::{Context, FioImport, import};

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
        rule: String,
    },
    /// A value that is impossible, or whose effect nothing here has.
    #[error("[{job}] {key}={value}: {rule}")]
    Option {
        /// Name of the job.
        job: String,
        /// The option.
        key: String,
        value: String,
        rule: String,
    },
    /// The jobs of the drive of the call are none.
    #[error("no job has filename={drive}; there are {known}")]
    Drive {
        /// The drive of the call.
        drive: String,
        /// The drives of the jobs.
        known: String,
    },
    /// Nothing to do.
    #[error("the file has no job, such as [a] with rw=randread below")]
    Empty,
}

impl FioError {
    fn option(job: &str, key: &str, value: &str, rule: impl Into<String>) -> Self {
        let (job, value) = (shortened(job), shortened(value));
        Self::Option { job, key: key.to_owned(), value, rule: rule.into() }
    }

    fn line(number: usize, line: &str, rule: &str) -> Self {
        Self::Line { number, line: shortened(line), rule: rule.to_owned() }
    }
}
