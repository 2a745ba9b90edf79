//! `ssdlab sim models`: drive models with their facts, and hosts.

use ::target::{TargetError, TargetSpec};
use base::Facts;
use clap::Args as ClapArgs;
use serde_json::{Value, json};
use sim::model::{BUILT_IN, HOSTS, HostProfile};

use crate::args::Format;
use crate::args::heading;
use crate::failure::EXIT_DONE;
use crate::ui::out::data;
use crate::ui::table::{self, bytes};

const EXAMPLES: &str = "\
Examples:
  ssdlab sim models
  ssdlab sim models sim:samsung-840-pro-256gb  # all facts of one drive
  ssdlab sim models --format json";

/// Arguments of `sim models`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct ModelsArgs {
    /// One simulated drive, `sim:NAME[?key=value&...]`; default: all models and hosts
    #[arg(value_name = "TARGET")]
    pub target: Option<String>,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    pub format: Format,
}

pub fn run(args: &ModelsArgs) -> anyhow::Result<u8> {
    match (args.format, &args.target) {
        (Format::Json, target) => data!("{}", document(target.as_deref())?),
        (Format::Text, Some(target)) => print_drive(&SimulatedDrive::of(target)?),
        (Format::Text, None) => {
            print_drives()?;
            data!("");
            print_hosts()?;
        }
    }
    Ok(EXIT_DONE)
}

fn document(target: Option<&str>) -> anyhow::Result<Value> {
    if let Some(target) = target {
        return Ok(json!({ "drive_models": [SimulatedDrive::of(target)?.document()] }));
    }
    let drives = SimulatedDrive::built_in()?;
    let drives: Vec<_> = drives.iter().map(SimulatedDrive::document).collect();
    let host = |(host, profile): (_, HostProfile)| json!({ "host": host, "name": profile.name });
    let hosts: Vec<_> = hosts()?.into_iter().map(host).collect();
    Ok(json!({ "drive_models": drives, "hosts": hosts }))
}

/// Longest text of a fact in the list of all models, in characters.
const FACT_CHARS_MAX: usize = 40;

/// A simulated drive as lists show it.
struct SimulatedDrive {
    target: String,
    identity: ::target::Identity,
}

impl SimulatedDrive {
    fn of(target: &str) -> anyhow::Result<Self> {
        let spec: TargetSpec = target.parse()?;
        let Some((name, settings)) = spec.model() else {
            let message = format!("{spec} is no simulated drive; expected sim:NAME");
            return Err(TargetError::Usage(message).into());
        };
        let (identity, _) = io::engine::sim::describe(target, name, settings)?;
        Ok(Self { target: target.to_owned(), identity })
    }

    fn built_in() -> anyhow::Result<Vec<Self>> {
        BUILT_IN.iter().map(|(name, _)| Self::of(&format!("sim:{name}"))).collect()
    }

    fn document(&self) -> Value {
        let Self { target, identity } = self;
        json!({
            "target": target, "name": identity.name, "simulated": true,
            "firmware": identity.firmware, "capacity_bytes": identity.capacity_bytes,
            "raw_bytes": identity.raw_bytes, "facts": identity.facts,
        })
    }

    fn row(&self) -> Vec<String> {
        let Facts { nand_type, interface, controller, .. } = &self.identity.facts;
        let [nand_type, interface, controller] = [
            nand_type.as_ref().map(|fact| fact.value.name()),
            interface.as_ref().map(|fact| fact.value.as_str()),
            controller.as_ref().map(|fact| fact.value.as_str()),
        ]
        .map(Option::unwrap_or_default);
        let (target, capacity) = (&self.target, bytes(self.identity.capacity_bytes));
        [format!("  {target}"), capacity, nand_type.to_owned(), cut(interface), cut(controller)]
            .into()
    }
}

/// The beginning of a long text.
fn cut(text: &str) -> String {
    match text.char_indices().nth(FACT_CHARS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
    }
}

/// The host profiles that come with ssdlab, each with its word.
fn hosts() -> anyhow::Result<Vec<(&'static str, HostProfile)>> {
    let load = |(host, text)| Ok((host, HostProfile::load(host, text)?));
    HOSTS.into_iter().map(load).collect()
}

fn print_drives() -> anyhow::Result<()> {
    data!("Drive models (simulated; all facts of one: ssdlab sim models sim:NAME):");
    let drives = SimulatedDrive::built_in()?;
    table::print(&drives.iter().map(SimulatedDrive::row).collect::<Vec<_>>());
    Ok(())
}

/// Every fact of a drive with its source.
fn print_drive(drive: &SimulatedDrive) {
    let SimulatedDrive { target, identity } = drive;
    data!("{} (simulated: {target})", identity.name);
    let raw = identity.raw_bytes.map(|raw| ("Raw NAND", raw));
    let sizes = [("Capacity", identity.capacity_bytes)].into_iter().chain(raw);
    let sizes = sizes.map(|(label, size)| vec![format!("  {label}"), bytes(size)]);
    let facts = identity.facts.known().map(|fact| {
        let conditions = fact.conditions.map_or_else(String::new, |words| format!(" ({words})"));
        vec![format!("  {}", fact.label), fact.text() + &conditions, fact.from.to_owned()]
    });
    table::print(&sizes.chain(facts).collect::<Vec<_>>());
}

fn print_hosts() -> anyhow::Result<()> {
    data!("Hosts (sim:NAME?host=HOST, or none):");
    let rows = hosts()?.into_iter().map(|(host, profile)| vec![format!("  {host}"), profile.name]);
    table::print(&rows.collect::<Vec<_>>());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_models_or_one_drive_are_a_document() {
        let all = document(None).unwrap();
        let drives = all["drive_models"].as_array().unwrap();
        assert_eq!(drives.len(), BUILT_IN.len());
        for drive in drives {
            assert!(drive["facts"]["use"]["value"].is_string(), "{drive} has no use");
        }
        assert_eq!(all["hosts"].as_array().unwrap().len(), HOSTS.len());
        let drive = document(Some("sim:samsung-840-pro-256gb?scale=1/64")).unwrap();
        let drive = &drive["drive_models"][0];
        assert_eq!(drive["facts"]["nand_type"]["value"], "MLC");
        assert!(drive["capacity_bytes"].as_u64().unwrap() < 5_000_000_000, "{drive}");
        assert!(document(Some("null:")).is_err());
    }
}
