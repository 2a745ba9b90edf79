//! The checks of every section of a model.

use super::{Model, ModelError};

/// The longest time of a single value.
pub(super) const HOUR_NS: u64 = 3_600_000_000_000;

/// Collects the checks of one model.
pub(super) struct Check<'a> {
    pub(super) model: &'a Model,
}

impl Check<'_> {
    pub(super) fn fail<T>(
        &self,
        key: &str,
        value: impl std::fmt::Display,
        rule: &str,
    ) -> Result<T, ModelError> {
        Err(ModelError::Value {
            name: self.model.name.clone(),
            key: key.to_owned(),
            value: value.to_string(),
            rule: rule.to_owned(),
        })
    }

    pub(super) fn within(
        &self,
        key: &str,
        value: u64,
        min: u64,
        max: u64,
    ) -> Result<(), ModelError> {
        if (min..=max).contains(&value) {
            return Ok(());
        }
        self.fail(key, value, &format!("it must lie between {min} and {max}"))
    }
}
