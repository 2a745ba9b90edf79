//! `ssdlab list config`: the defaults of this user, each with its origin.

use serde_json::{Value, json};

use crate::defaults::{Default, Defaults};
use crate::ui::out::data;
use crate::ui::table;

pub fn document(defaults: &Defaults) -> Value {
    let one = |Default { name, value, source, from, variable, .. }: &Default| {
        json!({
            "key": name, "value": value, "source": source, "from": from, "variable": variable,
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
    let row = |Default { name, value, from, typed, variable, .. }: &Default| {
        let value = if value.is_empty() { "that of the drive model" } else { value };
        let typed = format!("{typed}, {variable}");
        vec![format!("  {name}"), value.to_owned(), format!("from: {from}"), typed]
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
