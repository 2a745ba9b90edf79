//! From the table of a model to its types: provenance, overrides by dotted name.

use base::facts::{CERTAINTIES, has_certainty};
use base::text::{shortened, shortened_words};
use toml::{Table, Value};

use super::{Kind, Model, ModelError, ModelValue};

/// Beginning of the source of an override.
const OVERRIDE: &str = "override:";

/// Reads a complete table with overrides.
pub(super) fn load(
    name: &str,
    mut table: Table,
    overrides: &[(String, String)],
) -> Result<Model, ModelError> {
    for (key, value) in overrides {
        override_value(name, &mut table, key, value)?;
    }
    check_provenance(name, &table, "")?;
    let model = typed(&table)
        .map_err(|message| parse_error(name, &format!("after overrides: {message}")))?;
    check_price(name, &model)?;
    Ok(model)
}

/// The model in a complete table, or the fault in one line.
pub(super) fn typed(table: &Table) -> Result<Model, String> {
    // Its second line says in which section.
    let in_one_line = |error: toml::de::Error| error.to_string().trim().replace('\n', " ");
    Value::Table(table.clone()).try_into().map_err(in_one_line)
}

pub(super) fn parse_error(name: &str, message: &str) -> ModelError {
    ModelError::Parse { name: shortened(name), message: shortened_words(message.trim_end()) }
}

fn check_price(name: &str, model: &Model) -> Result<(), ModelError> {
    let Some(price) = &model.facts.price else { return Ok(()) };
    price.check().map_err(|fault| ModelError::Value {
        name: name.to_owned(),
        key: format!("facts.{}", fault.key),
        value: fault.value,
        rule: fault.rule,
    })
}

/// Replaces the `value` of one sourced entry, or adds a missing entry.
fn override_value(name: &str, table: &mut Table, key: &str, text: &str) -> Result<(), ModelError> {
    let present = entry_of(table, key).and_then(|entry| entry.get("value")).map(kind_of);
    let known = || Model::keys().into_iter().find(|known| known.name == key);
    let Some(kind) = present.or_else(|| known().map(|known| known.kind)) else {
        return Err(ModelError::UnknownKey {
            name: shortened(name),
            key: shortened(key),
            known: known_beside(key, table),
        });
    };
    let value = parsed(kind, text).ok_or_else(|| ModelError::Value {
        name: name.to_owned(),
        key: key.to_owned(),
        value: format!("`{}`", shortened(text)),
        rule: format!("it must be {kind} as in the model file"),
    })?;
    replace_capacity(table, key);
    insert(table, key, value);
    Ok(())
}

/// Removes the user capacity in its other form if `key` gives it: the later one counts.
pub(super) fn replace_capacity(table: &mut Table, key: &str) {
    match key {
        "capacity" => table.remove("capacity_gb"),
        "capacity_gb" => table.remove("capacity"),
        _ => None,
    };
}

/// Suggestions for a key: the values of its section, or the sections.
fn known_beside(key: &str, table: &Table) -> String {
    let mut known = ["host", "scale", "seed"].map(str::to_owned).to_vec();
    list_keys(table, "", &mut known);
    known.extend(Model::keys().into_iter().map(|key| key.name));
    let section = key.split_once('.').map_or("", |(section, _)| section);
    let within = |name: &String| name.split_once('.').is_some_and(|(of, _)| of == section);
    let (what, mut names): (_, Vec<_>) = if known.iter().any(within) {
        (format!("`{section}` has"), known.into_iter().filter(within).collect())
    } else {
        let top =
            |name: &String| name.split_once('.').map_or(name.clone(), |(of, _)| format!("{of}.*"));
        ("it has".to_owned(), known.iter().map(top).collect())
    };
    names.sort_unstable();
    names.dedup();
    format!("{what} {}", names.join(", "))
}

/// The value under a dotted name.
fn value_of<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
    match key.split_once('.') {
        None => table.get(key),
        Some((section, rest)) => value_of(table.get(section)?.as_table()?, rest),
    }
}

/// The sourced entry under a dotted name.
fn entry_of<'a>(table: &'a Table, key: &str) -> Option<&'a Table> {
    value_of(table, key)?.as_table().filter(|entry| is_sourced(entry))
}

/// Adds a sourced entry under a dotted name, and creates the sections on the way.
fn insert(table: &mut Table, key: &str, value: Value) {
    let Some((section, rest)) = key.split_once('.') else {
        let from = Value::String(format!("{OVERRIDE} command line"));
        let entry = Table::from_iter([("value".to_owned(), value), ("from".to_owned(), from)]);
        table.insert(key.to_owned(), Value::Table(entry));
        return;
    };
    let inner = table.entry(section).or_insert_with(|| Value::Table(Table::new()));
    if let Value::Table(inner) = inner {
        insert(inner, rest, value);
    }
}

fn kind_of(value: &Value) -> Kind {
    match value {
        Value::Integer(_) => Kind::Number,
        Value::Boolean(_) => Kind::Flag,
        _ => Kind::Word,
    }
}

/// Reads `text` as a value of a kind.
fn parsed(kind: Kind, text: &str) -> Option<Value> {
    match kind {
        Kind::Number => text.replace('_', "").parse().ok().map(Value::Integer),
        Kind::Flag => text.parse().ok().map(Value::Boolean),
        Kind::Word => Some(Value::String(text.to_owned())),
    }
}

/// Whether a table is a value with its source, and no section.
pub(super) fn is_sourced(table: &Table) -> bool {
    table.contains_key("from")
}

/// Dotted names of all sourced values.
pub(super) fn list_keys(table: &Table, prefix: &str, keys: &mut Vec<String>) {
    for (key, value) in table {
        if let Value::Table(inner) = value {
            let path = format!("{prefix}{key}");
            if is_sourced(inner) {
                keys.push(path);
            } else {
                list_keys(inner, &format!("{path}."), keys);
            }
        }
    }
}

/// Every `from` must begin with the certainty of the value.
pub(super) fn check_provenance(name: &str, table: &Table, prefix: &str) -> Result<(), ModelError> {
    for (key, value) in table {
        let Value::Table(inner) = value else { continue };
        let path = format!("{prefix}{key}");
        if !is_sourced(inner) {
            check_provenance(name, inner, &format!("{path}."))?;
            continue;
        }
        let from = inner.get("from").and_then(Value::as_str).unwrap_or_default();
        if !has_certainty(from) && !from.starts_with(OVERRIDE) {
            return Err(ModelError::Value {
                name: name.to_owned(),
                key: format!("{path}.from"),
                value: format!("`{}`", shortened(from)),
                rule: format!("it must begin with one of {}", CERTAINTIES.join(" ")),
            });
        }
    }
    Ok(())
}

/// All sourced values of a table in the order of their names.
pub(super) fn values(table: &Table) -> Vec<ModelValue> {
    let mut keys = Vec::new();
    list_keys(table, "", &mut keys);
    let value = |key: String| {
        let entry = entry_of(table, &key)?;
        let from = plain(entry.get("from")?);
        Some(ModelValue { key, value: entry_text(entry), from, inherited_from: None })
    };
    keys.into_iter().filter_map(value).collect()
}

/// The value of an entry, and all that it says beside value and source.
fn entry_text(entry: &Table) -> String {
    let value = entry.get("value").map(plain);
    let others = entry.iter().filter(|(key, _)| !["value", "from"].contains(&key.as_str()));
    let others = others.map(|(key, value)| format!("{key} {}", plain(value)));
    value.into_iter().chain(others).collect::<Vec<_>>().join(", ")
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
