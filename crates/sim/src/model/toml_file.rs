//! From the table of a model to its types: provenance, overrides by dotted name.

use base::facts::{CERTAINTIES, has_certainty};
use base::text::{shortened, shortened_words};
use toml::{Table, Value};

use super::{Model, ModelError, ModelValue};

/// Beginning of the source of an override.
const OVERRIDE: &str = "override:";

/// Every optional key of a model, with a value of its kind: overrides build a section from nothing.
/// A section must then have all the keys that its type in `model.rs` demands.
const OPTIONAL: &str = "
nand.cache_program = false
nand.die_groups = 1
nand.multi_plane = true
nand.page_register = false
nand.pages.program_lower_ns = 0
nand.pages.program_middle_ns = 0
nand.pages.program_upper_ns = 0
nand.moves_by_plane = false
nand.independent_planes = false
nand.pages.read_lower_ns = 0
nand.pages.read_middle_ns = 0
nand.pages.read_upper_ns = 0
nand.retry.corrected_ppb = 0
nand.retry.fresh_ppb = 0
nand.retry.initial_cycles = 0
nand.retry.per_day_per_kilocycle_ppb = 0
nand.retry.per_day_ppb = 0
nand.retry.per_kilocycle_ppb = 0
nand.retry.per_kiloread_ppb = 0
nand.retry.reclaim_reads = 0
nand.retry.retries_max = 0
nand.spread.erase_percent = 0
nand.spread.layer_percent = 0
nand.spread.program_percent = 0
nand.suspend.per_operation_max = 0
nand.suspend.resume_ns = 0
nand.suspend.suspend_ns = 0
nand.wear.erase_more_per_kilocycle_permille = 0
nand.wear.program_less_per_kilocycle_permille = 0
age.cycles = 0
age.read_count = 0
age.retention_days = 0
background_gc.free_target = 0
cleaning_states.balance_free = 0
cleaning_states.balance_random_iops = 0
cleaning_states.reserve_free = 0
cleaning_states.starved_free = 0
cleaning_states.starved_random_iops = 0
controller.latency_spread_ns = 0
controller.processors = 0
controller.read_latency_ns = 0
controller.write_latency_ns = 0
gc.duty_percent = 0
gc.quantum_bytes = 0
gc.rate_burst_bytes = 0
gc.rate_iops = 0
gc.handle_isolation = ''
gc.host_reads = ''
gc.victims = ''
housekeeping.map_flush_bytes_max = 0
housekeeping.map_flush_period_ns = 0
housekeeping.patrol_interval_ns = 0
housekeeping.refresh_after_ns = 0
housekeeping.refresh_pages_per_s = 0
idle_gc.after_ns = 0
idle_gc.free_target = 0
idle_gc.pages_per_s = 0
idle_gc.valid_percent_max = 0
idle_sort.after_ns = 0
idle_sort.pages_per_s = 0
idle_sort.stretch_bytes = 0
interface.arbitration_burst = 0
interface.coalesced_commands = 0
interface.coalesced_ns = 0
interface.deallocate = 'works'
interface.kind = 'sata'
interface.link_write_bytes_per_s = 0
interface.logical_block_bytes = 0
interface.placement_handles = 0
interface.queues = 0
map.unit_bytes = 0
map_cache.bytes = 0
map_cache.entry_bytes = 0
map_cache.hmb_bytes = 0
map_cache.hmb_latency_ns = 0
map_cache.in_pslc = false
mapping.entry_bytes = 0
mapping.journal_superblocks = 0
mapping.map_entry_bytes = 0
parity.stripe_units = 0
performance_mode.fill_percent = 0
performance_mode.program_ns = 0
performance_mode.reorganise_pages_per_s = 0
performance_mode.reorganise_priority_percent = 0
power.active_mw = 0
power.erase_nj = 0
power.idle_mw = 0
power.program_nj = 0
power.read_nj = 0
power.sleep.after_ns = 0
power.sleep.entry_ns = 0
power.sleep.exit_ns = 0
power.sleep.power_mw = 0
power.slumber.after_ns = 0
power.slumber.entry_ns = 0
power.slumber.exit_ns = 0
power.slumber.power_mw = 0
power.transfer_nj = 0
pslc.bits_per_cell = 0
pslc.borrowed_bytes_max = 0
pslc.borrows = false
pslc.busy_fold_percent = 0
pslc.bytes = 0
pslc.direct_bytes_per_s = 0
pslc.erase_ns = 0
pslc.idle_after_ns = 0
pslc.only_below_bytes = 0
pslc.program_ns = 0
pslc.read_ns = 0
pslc.when_full = ''
read_ahead.buffer_bytes = 0
read_ahead.streams = 0
read_ahead.window_bytes = 0
read_cache.bytes = 0
streams.cold = ''
thermal.ambient_c = 0
thermal.capacity_mj_per_k = 0
thermal.heavy.bytes_per_s = 0
thermal.heavy.hysteresis_c = 0
thermal.heavy.threshold_c = 0
thermal.light.bytes_per_s = 0
thermal.light.hysteresis_c = 0
thermal.light.threshold_c = 0
thermal.resistance_mk_per_w = 0
throttle.burst_bytes = 0
throttle.bytes_per_s = 0
wear_budget.burst_bytes = 0
wear_budget.bytes_per_s = 0
write_caps.random_burst_commands = 0
write_caps.random_iops = 0
write_caps.sequential_bytes_per_s = 0
write_caps.streams = 0
compression.granule_bytes = 0
wear_leveling.allocation = ''
wear_leveling.spread_max = 0
";

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
    let optional: Table = toml::from_str(OPTIONAL).unwrap_or_default();
    let pattern = entry_of(table, key).and_then(|entry| entry.get("value"));
    let Some(pattern) =
        pattern.or_else(|| value_of(&optional, key).filter(|value| !value.is_table()))
    else {
        return Err(ModelError::UnknownKey {
            name: shortened(name),
            key: shortened(key),
            known: known_beside(key, table),
        });
    };
    let value = like(pattern, text).ok_or_else(|| ModelError::Value {
        name: name.to_owned(),
        key: key.to_owned(),
        value: format!("`{}`", shortened(text)),
        rule: format!("it must be {} as in the model file", kind(pattern)),
    })?;
    insert(table, key, value);
    Ok(())
}

/// Suggestions for a key: the values of its section, or the sections.
fn known_beside(key: &str, table: &Table) -> String {
    let mut known = ["host", "scale", "seed"].map(str::to_owned).to_vec();
    list_keys(table, "", &mut known);
    known.extend(optional_keys().map(str::to_owned));
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

fn optional_keys() -> impl Iterator<Item = &'static str> {
    OPTIONAL.lines().filter_map(|line| line.split_once(" = ")).map(|(key, _)| key)
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

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Integer(_) => "a whole number",
        Value::Boolean(_) => "true or false",
        _ => "a word",
    }
}

/// Reads `text` as the same TOML type as `pattern`.
fn like(pattern: &Value, text: &str) -> Option<Value> {
    match pattern {
        Value::Integer(_) => text.replace('_', "").parse().ok().map(Value::Integer),
        Value::Boolean(_) => text.parse().ok().map(Value::Boolean),
        Value::String(_) => Some(Value::String(text.to_owned())),
        _ => None,
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
