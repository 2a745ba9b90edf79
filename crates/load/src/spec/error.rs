//! The refusal of a workload file.

use base::text::shortened;

use crate::jobs::JobsError;
use crate::workload::WorkloadError;

/// A workload file that cannot be used. Names key, value and rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// No TOML, an unknown key, or a value of another type; with line and column.
    #[error("{0}")]
    Syntax(String),
    /// A value that breaks a rule.
    #[error("`{key} = {value}`: {rule}")]
    Value {
        /// The key with its tables, such as `job.log.block`.
        key: String,
        /// The value as the file has it.
        value: String,
        rule: String,
    },
    /// A key that is missing.
    #[error("`{key}` is missing: {rule}")]
    Missing {
        /// The key with its tables.
        key: String,
        rule: String,
    },
    /// Values that do not fit each other, or the target.
    #[error("job `{job}`: {error}")]
    Workload {
        /// Name of the job.
        job: String,
        /// The value and the rule.
        error: WorkloadError,
    },
    /// Jobs that do not fit each other.
    #[error(transparent)]
    Jobs(#[from] JobsError),
}

impl SpecError {
    /// A value that breaks a rule.
    pub(crate) fn value(key: &str, value: impl Into<String>, rule: impl Into<String>) -> Self {
        let value = shortened(&value.into());
        Self::Value { key: key.to_owned(), value, rule: rule.into() }
    }
}
