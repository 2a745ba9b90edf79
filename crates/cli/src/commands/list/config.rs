//! `ssdlab list config`: the defaults of this user, each with its origin.

use serde_json::{Value, json};

use crate::defaults::{Default, Defaults};
use crate::ui::out::data;
use crate::ui::table;

pub fn document(defaults: &Defaults) -> Value {
    let one = |Default { key, value, source }: &Default| {
        json!({
            "key": key.name, "value": value, "source": source.word(), "from": source.to_string(),
            "variable": key.variable,
        })
    };
    json!({
        "file": defaults.file, "file_is_there": defaults.has_file,
        "defaults": defaults.all.iter().map(one).collect::<Vec<_>>(),
        "variables_without_effect": defaults.unread,
    })
}

pub fn print(defaults: &Defaults) {
    data!("Defaults (an option in a call comes first, then the variable, then the file):");
    let row = |Default { key, value, source }: &Default| {
        let value = if value.is_empty() { "that of the drive model" } else { value };
        let typed = format!("{}, {}", key.typed, key.variable);
        vec![format!("  {}", key.name), value.to_owned(), format!("from: {source}"), typed]
    };
    table::print(&defaults.all.iter().map(row).collect::<Vec<_>>());
    match (&defaults.file, defaults.has_file) {
        (None, _) => data!("Configuration file: none"),
        (Some(path), true) => data!("Configuration file: {}", path.display()),
        (Some(path), false) => data!("Configuration file: {} (not there)", path.display()),
    }
    if !defaults.unread.is_empty() {
        data!("Variables without effect: {}", defaults.unread.join(", "));
    }
}
