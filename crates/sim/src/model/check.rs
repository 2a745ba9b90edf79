//! Checks that concern several sections of a model.

use std::ops::Deref;

use super::Model;
use super::schema::Check;

/// A model whose values are checked against each other.
pub(super) struct CrossCheck<'a> {
    pub(super) model: &'a Model,
    check: Check<'a>,
}

impl<'a> CrossCheck<'a> {
    pub(super) fn new(model: &'a Model) -> Self {
        Self { model, check: Check { name: &model.name } }
    }
}

impl<'a> Deref for CrossCheck<'a> {
    type Target = Check<'a>;

    fn deref(&self) -> &Check<'a> {
        &self.check
    }
}
