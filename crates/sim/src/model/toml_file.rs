//! Reading a model file: TOML, provenance, overrides by dotted name.

use toml::{Table, Value};

use super::{Model, ModelError};

const SURENESS: [&str; 6] =
    ["published:", "rated:", "measured:", "derived:", "assumed:", "override:"];

pub(super) fn load(
    name: &str,
    text: &str,
    overrides: &[(String, String)],
) -> Result<Model, ModelError> {
    let parse_error = |message: String| ModelError::Parse { name: name.to_owned(), message };
    let mut table: Table = toml::from_str(text).map_err(|error| parse_error(error.to_string()))?;
    // Typed once as written, so that a message shows the line in the file; overrides come after.
    toml::from_str::<Model>(text).map_err(|error| parse_error(error.to_string()))?;
    for (key, value) in overrides {
        override_value(name, &mut table, key, value)?;
    }
    check_provenance(name, &table, "")?;
    Value::Table(table).try_into().map_err(|error: toml::de::Error| {
        parse_error(format!("after overrides: {}", error.message()))
    })
}

/// Replaces the `value` of one sourced entry.
fn override_value(name: &str, table: &mut Table, key: &str, text: &str) -> Result<(), ModelError> {
    let mut known = Vec::new();
    list_keys(table, "", &mut known);
    if !known.iter().any(|known| known == key) {
        return Err(ModelError::UnknownKey {
            name: name.to_owned(),
            key: key.to_owned(),
            known: format!("scale, seed, {}", known.join(", ")),
        });
    }
    let mut entry = table;
    for part in key.split('.') {
        let Some(Value::Table(next)) = entry.get_mut(part) else { return Ok(()) };
        entry = next;
    }
    let value = like(entry.get("value"), text).ok_or_else(|| ModelError::Value {
        name: name.to_owned(),
        key: key.to_owned(),
        value: format!("`{text}`"),
        rule: "it must be of the same kind as the value in the model file".to_owned(),
    })?;
    entry.insert("value".to_owned(), value);
    entry.insert("from".to_owned(), Value::String("override: command line".to_owned()));
    Ok(())
}

/// Reads `text` as the same TOML type as `pattern`.
fn like(pattern: Option<&Value>, text: &str) -> Option<Value> {
    match pattern? {
        Value::Integer(_) => text.replace('_', "").parse().ok().map(Value::Integer),
        Value::Boolean(_) => text.parse().ok().map(Value::Boolean),
        Value::String(_) => Some(Value::String(text.to_owned())),
        _ => None,
    }
}

fn is_sourced(table: &Table) -> bool {
    table.contains_key("value") && table.contains_key("from")
}

/// Dotted names of all sourced values.
fn list_keys(table: &Table, prefix: &str, keys: &mut Vec<String>) {
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

/// Every `from` must begin with how sure the value is.
fn check_provenance(name: &str, table: &Table, prefix: &str) -> Result<(), ModelError> {
    for (key, value) in table {
        let Value::Table(inner) = value else { continue };
        let path = format!("{prefix}{key}");
        if !is_sourced(inner) {
            check_provenance(name, inner, &format!("{path}."))?;
            continue;
        }
        let from = inner.get("from").and_then(Value::as_str).unwrap_or_default();
        if !SURENESS.iter().any(|word| from.starts_with(word)) {
            return Err(ModelError::Value {
                name: name.to_owned(),
                key: format!("{path}.from"),
                value: format!("`{from}`"),
                rule: format!("it must begin with one of {}", SURENESS[..5].join(" ")),
            });
        }
    }
    Ok(())
}
