//! `ssdlab list`: real devices, drive models with their facts, hosts, tests, defaults. It changes nothing.

mod config;
mod test;

use ::target::TargetSpec;
use base::Facts;
use clap::Args as ClapArgs;
use device::DeviceReport;
use device::describe::report as discover;
use device::host::shell::quoted;
use run::Test;
use serde_json::{Map, Value, json};
use sim::model::{BUILT_IN, HOSTS, HostProfile};

use crate::args::Format;
use crate::commands::workload;
use crate::defaults::Defaults;
use crate::failure::EXIT_DONE;
use crate::ui::out::data;
use crate::ui::table::{self, bytes};

const EXAMPLES: &str = "\
Examples:
  ssdlab list devices
  ssdlab list waf  # one test: its keys, metrics and targets
  ssdlab list sim:samsung-840-pro-256gb  # all facts of a simulated drive
  ssdlab list config  # defaults, and where they come from";

/// One of the lists of `list`, or one simulated drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listed {
    /// Real devices.
    Devices,
    /// Drive models.
    Drives,
    /// Hosts of simulated drives.
    Hosts,
    /// Tests.
    Tests,
    /// Workloads that come with ssdlab.
    Workloads,
    /// Defaults of the user.
    Config,
    /// One test.
    Test(Test),
    /// The simulated drive of this target string.
    Drive(String),
}

/// Arguments of `list`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct ListArgs {
    /// One list: devices, drives, hosts, tests or workloads; config: the defaults of this user; or one thing: a test
    /// such as `waf`, a simulated drive by sim:NAME. Default: all lists
    #[arg(value_name = "LIST", value_parser = parse_listed)]
    pub listed: Option<Listed>,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// The lists by their words.
pub const LISTS: [(&str, Listed); 6] = [
    ("devices", Listed::Devices),
    ("drives", Listed::Drives),
    ("hosts", Listed::Hosts),
    ("tests", Listed::Tests),
    ("workloads", Listed::Workloads),
    ("config", Listed::Config),
];

fn parse_listed(text: &str) -> Result<Listed, String> {
    if text.starts_with("sim:") {
        return Ok(Listed::Drive(text.to_owned()));
    }
    let list = LISTS.into_iter().find(|(word, _)| *word == text).map(|(_, list)| list);
    let found = list.or_else(|| text.parse().ok().map(Listed::Test));
    found.ok_or_else(|| {
        let words = LISTS.map(|(word, _)| word).join(", ");
        format!("expected {words}, a test such as consistency, or sim:NAME")
    })
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
        let (name, settings) = spec.model().unwrap_or_default();
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

pub fn run(args: &ListArgs, defaults: &Defaults) -> anyhow::Result<u8> {
    match args.format {
        Format::Json => data!("{}", document(args.listed.as_ref(), defaults)?),
        Format::Text => print(args.listed.as_ref(), defaults)?,
    }
    Ok(EXIT_DONE)
}

/// The wanted lists in one document.
fn document(listed: Option<&Listed>, defaults: &Defaults) -> anyhow::Result<Value> {
    let wants = |list: &Listed| listed.is_none_or(|listed| listed == list);
    let mut document = Map::new();
    if listed == Some(&Listed::Config) {
        document.insert("config".to_owned(), config::document(defaults));
    }
    if wants(&Listed::Devices) {
        document.insert("devices".to_owned(), discover::list().iter().map(device).collect());
    }
    if let Some(Listed::Drive(target)) = listed {
        let drive = SimulatedDrive::of(target)?.document();
        document.insert("drive_models".to_owned(), json!([drive]));
    }
    if wants(&Listed::Drives) {
        let drives = SimulatedDrive::built_in()?;
        let drives = drives.iter().map(SimulatedDrive::document).collect();
        document.insert("drive_models".to_owned(), drives);
    }
    if wants(&Listed::Hosts) {
        let host = |(host, profile): (_, HostProfile)| json!({"host": host, "name": profile.name});
        document.insert("hosts".to_owned(), hosts()?.into_iter().map(host).collect());
    }
    if let Some(Listed::Test(test)) = listed {
        document.insert("tests".to_owned(), json!([test::whole(*test)?]));
    }
    if wants(&Listed::Tests) {
        document.insert("tests".to_owned(), Test::ALL.into_iter().map(test::brief).collect());
    }
    if wants(&Listed::Workloads) {
        let workload = |(name, about)| json!({ "workload": name, "about": about });
        let workloads = workload::built_in().into_iter().map(workload).collect();
        document.insert("workloads".to_owned(), workloads);
    }
    Ok(document.into())
}

fn device(device: &DeviceReport) -> Value {
    let reasons: Vec<_> = device.in_use.iter().map(|reason| reason.code).collect();
    json!({
        "target": device.node, "model": device.model, "serial": device.serial,
        "firmware": device.firmware, "capacity_bytes": device.capacity_bytes,
        "logical_block_bytes": device.logical_block_bytes,
        "physical_block_bytes": device.physical_block_bytes,
        "rotational": device.rotational, "scheduler": device.scheduler,
        "deallocate": device.deallocate, "in_use": reasons,
    })
}

/// The host profiles that come with ssdlab, each with its word.
fn hosts() -> anyhow::Result<Vec<(&'static str, HostProfile)>> {
    let load = |(host, text)| Ok((host, HostProfile::load(host, text)?));
    HOSTS.into_iter().map(load).collect()
}

fn print(listed: Option<&Listed>, defaults: &Defaults) -> anyhow::Result<()> {
    match listed {
        None => {
            print_devices();
            data!("");
            print_drives()?;
            data!("");
            print_hosts()?;
            data!("");
            print_tests();
            data!("");
            print_workloads();
        }
        Some(Listed::Devices) => print_devices(),
        Some(Listed::Drives) => print_drives()?,
        Some(Listed::Hosts) => print_hosts()?,
        Some(Listed::Tests) => print_tests(),
        Some(Listed::Workloads) => print_workloads(),
        Some(Listed::Test(test)) => test::print(*test)?,
        Some(Listed::Config) => config::print(defaults),
        Some(Listed::Drive(target)) => print_drive(&SimulatedDrive::of(target)?),
    }
    Ok(())
}

fn print_devices() {
    data!("Devices:");
    let rows = discover::list().into_iter().map(|device| {
        let state = match device.in_use.first() {
            Some(reason) => format!("in use: {}", reason.code),
            None => {
                let word = device.confirmations.first().map_or("", String::as_str);
                format!("free; --erase {}", quoted(word))
            }
        };
        let [model, firmware] = [device.model, device.firmware].map(Option::unwrap_or_default);
        let node = format!("  {}", device.node.display());
        vec![node, bytes(device.capacity_bytes), model, firmware, state]
    });
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        data!("  none");
    }
    table::print(&rows);
}

fn print_drives() -> anyhow::Result<()> {
    data!("Drive models (simulated; all facts of one: ssdlab list sim:NAME):");
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

fn print_workloads() {
    data!(
        "Workloads (ssdlab run workload TARGET --workload NAME; all of one: ssdlab workload show NAME):"
    );
    let rows =
        workload::built_in().into_iter().map(|(name, about)| vec![format!("  {name}"), about]);
    table::print(&rows.collect::<Vec<_>>());
}

fn print_tests() {
    data!("Tests (keys, metrics and targets of one: ssdlab list TEST):");
    let rows = Test::ALL.map(|test| vec![format!("  {}", test.name()), test.question().to_owned()]);
    table::print(&rows);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_list_or_one_drive_is_a_document_of_its_own() {
        let keys = |listed: Option<&Listed>| -> Vec<String> {
            document(listed, &Defaults::built_in())
                .unwrap()
                .as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect()
        };
        assert_eq!(keys(None), ["devices", "drive_models", "hosts", "tests", "workloads"]);
        assert_eq!(keys(Some(&Listed::Tests)), ["tests"]);
        let drives = document(Some(&Listed::Drives), &Defaults::built_in()).unwrap();
        assert_eq!(drives["drive_models"].as_array().unwrap().len(), BUILT_IN.len());
        let drive = Listed::Drive("sim:samsung-840-pro-256gb?scale=1/64".to_owned());
        let drive = &document(Some(&drive), &Defaults::built_in()).unwrap()["drive_models"][0];
        assert_eq!(drive["facts"]["nand_type"]["value"], "MLC");
        assert!(drive["capacity_bytes"].as_u64().unwrap() < 5_000_000_000, "{drive}");
    }
}
