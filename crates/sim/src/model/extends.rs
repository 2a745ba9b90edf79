//! Models that extend another one: a value that a file does not give is that of its parent.
//!
//! `extends` names a built-in model, or a file beside the one that is read. `without` lists tables
//! and values of the parent that the drive does not have. Name, rated figures and price are never
//! inherited.

use std::collections::BTreeMap;

use base::text::shortened;
use toml::{Table, Value};

use super::toml_file::{self, is_sourced, list_keys, parse_error, replace_capacity};
use super::{Model, ModelError, built_in};

/// Longest line of models, each the parent of the one before.
const LINE_MODELS_MAX: usize = 16;

/// Values that are never a parent's.
const OWN: [&str; 3] = ["name", "facts.rated", "facts.price"];

/// Reads the model file of this name beside the one that extends it; an error is a reason in words.
pub type Beside<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// The complete text of a model as a table.
pub(super) struct CompleteModel {
    pub(super) table: Table,
    /// The model that gives an inherited value, by the dotted name of the value.
    pub(super) origins: BTreeMap<String, String>,
}

pub(super) fn resolve(
    name: &str,
    text: &str,
    beside: Beside<'_>,
) -> Result<CompleteModel, ModelError> {
    let file_name = name.rsplit('/').next().unwrap_or(name);
    resolve_in_line(name, text, beside, &mut vec![file_name.to_owned()])
}

/// Resolves a model; `line` begins with the first model and ends with this one.
fn resolve_in_line(
    name: &str,
    text: &str,
    beside: Beside<'_>,
    line: &mut Vec<String>,
) -> Result<CompleteModel, ModelError> {
    let fail = |message: String| parse_error(name, &message);
    let mut own: Table = toml::from_str(text).map_err(|error| fail(error.to_string()))?;
    let parent = take_parent(name, &mut own)?;
    let without = take_without(name, &mut own, parent.is_some())?;
    let Some(parent) = parent else {
        // Typed as written, so that a message shows the line in the file.
        toml::from_str::<Model>(text).map_err(|error| fail(error.to_string()))?;
        return Ok(CompleteModel { table: own, origins: BTreeMap::new() });
    };
    let parent_text = parent_text(name, &parent, beside, line)?;
    let inherited = resolve_in_line(&parent, &parent_text, beside, line)?;
    let resolved = inherited.extended(name, &parent, own, &without)?;
    toml_file::typed(&resolved.table)
        .map_err(|message| fail(format!("with the values of `{parent}`: {message}")))?;
    Ok(resolved)
}

impl CompleteModel {
    /// The model with the values of a child.
    fn extended(
        self,
        name: &str,
        parent: &str,
        own: Table,
        without: &[String],
    ) -> Result<Self, ModelError> {
        let Self { mut table, origins } = self;
        for key in OWN {
            remove(&mut table, key);
        }
        for key in without {
            if !remove(&mut table, key) {
                let rule = format!("`{parent}` has no such table or value to inherit");
                return Err(refusal(name, "without", key, &rule));
            }
        }
        let inherited = keys(&table).into_iter().map(|key| {
            let origin = origins.get(&key).map_or(parent, String::as_str).to_owned();
            (key, origin)
        });
        let mut origins: BTreeMap<String, String> = inherited.collect();
        let given = keys(&own);
        own.keys().for_each(|key| replace_capacity(&mut table, key));
        merge(&mut table, own);
        let present = keys(&table);
        origins.retain(|key, _| present.contains(key) && !given.contains(key));
        Ok(Self { table, origins })
    }
}

/// Takes the name of the parent out of a file, or `None` if the file names none.
fn take_parent(name: &str, own: &mut Table) -> Result<Option<String>, ModelError> {
    match own.remove("extends") {
        None => Ok(None),
        Some(Value::String(parent)) => Ok(Some(parent)),
        Some(other) => {
            Err(refusal(name, "extends", &other.to_string(), "it must be the name of a model"))
        }
    }
}

/// Takes the list of what the drive does not have out of a file.
fn take_without(name: &str, own: &mut Table, has_parent: bool) -> Result<Vec<String>, ModelError> {
    let Some(without) = own.remove("without") else { return Ok(Vec::new()) };
    let text = without.to_string();
    if !has_parent {
        return Err(refusal(name, "without", &text, "only a model with `extends` has a parent"));
    }
    without
        .try_into()
        .map_err(|_| refusal(name, "without", &text, "it must be a list of dotted names"))
}

/// The text of the parent, which joins the line.
fn parent_text(
    name: &str,
    parent: &str,
    beside: Beside<'_>,
    line: &mut Vec<String>,
) -> Result<String, ModelError> {
    let refuse = |rule: &str| Err(refusal(name, "extends", parent, rule));
    line.push(parent.to_owned());
    if line[..line.len() - 1].iter().any(|earlier| earlier == parent) {
        return refuse(&format!("no model may extend itself: {}", line.join(" extends ")));
    }
    if line.len() > LINE_MODELS_MAX {
        return refuse(&format!("at most {LINE_MODELS_MAX} models may extend one another"));
    }
    if let Some(text) = built_in(parent) {
        return Ok(text.to_owned());
    }
    if parent.contains('/') || !parent.ends_with(".toml") {
        return refuse(
            "it must be a built-in model (`ssdlab sim models`) or a .toml file beside this one",
        );
    }
    beside(parent).or_else(|reason| refuse(&format!("that file cannot be read: {reason}")))
}

fn refusal(name: &str, key: &str, value: &str, rule: &str) -> ModelError {
    ModelError::Value {
        name: shortened(name),
        key: key.to_owned(),
        value: format!("`{}`", shortened(value)),
        rule: rule.to_owned(),
    }
}

fn keys(table: &Table) -> Vec<String> {
    let mut keys = Vec::new();
    list_keys(table, "", &mut keys);
    keys
}

/// Removes a table or a sourced value by its dotted name. Returns whether it was there.
fn remove(table: &mut Table, key: &str) -> bool {
    match key.split_once('.') {
        None => table.remove(key).is_some(),
        Some((section, rest)) => match table.get_mut(section) {
            Some(Value::Table(inner)) if !is_sourced(inner) => remove(inner, rest),
            _ => false,
        },
    }
}

/// Puts the values of a child over those of its parent.
fn merge(table: &mut Table, own: Table) {
    for (key, value) in own {
        match (table.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(own))
                if !is_sourced(inner) && !is_sourced(&own) =>
            {
                merge(inner, own);
            }
            (_, value) => {
                table.insert(key, value);
            }
        }
    }
}
