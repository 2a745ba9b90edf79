//! `ssdlab list`: real devices, tests, workloads, defaults. It changes nothing.

mod config;
mod test;

use base::text::close_to;
use clap::Args as ClapArgs;
use device::DeviceReport;
use device::describe::report as discover;
use device::host::shell::quoted;
use run::Test;
use serde_json::{Map, Value, json};

use crate::args::Format;
use crate::args::heading;
use crate::commands::workload;
use crate::defaults::Defaults;
use crate::failure::EXIT_DONE;
use crate::ui::out::data;
use crate::ui::table::{self, bytes};

const EXAMPLES: &str = "\
Examples:
  ssdlab list devices
  ssdlab list waf  # one test: its keys, metrics and targets
  ssdlab list config  # defaults, and where they come from";

/// One of the lists of `list`, or one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum List {
    /// Real devices.
    Devices,
    /// Tests.
    Tests,
    /// Workloads that come with ssdlab.
    Workloads,
    /// Defaults of the user.
    Config,
    /// One test.
    Test(Test),
}

/// Arguments of `list`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct ListArgs {
    /// One list: devices, tests or workloads; config: the defaults of this user; or one test such as `waf`. Default:
    /// all lists. `ssdlab sim models` lists simulated drives
    #[arg(value_name = "LIST", value_parser = parse_listed)]
    pub listed: Option<List>,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    pub format: Format,
}

/// The lists by their words.
pub const LISTS: [(&str, List); 4] = [
    ("devices", List::Devices),
    ("tests", List::Tests),
    ("workloads", List::Workloads),
    ("config", List::Config),
];

fn parse_listed(text: &str) -> Result<List, String> {
    let list = LISTS.into_iter().find(|(word, _)| *word == text).map(|(_, list)| list);
    let found = list.or_else(|| text.parse().ok().map(List::Test));
    found.ok_or_else(|| {
        let words = LISTS.map(|(word, _)| word);
        let near = close_to(text, words.into_iter().chain(Test::ALL.map(Test::name)));
        let words = words.join(", ");
        format!("expected {words}, or a test such as consistency{near}; `ssdlab sim models` lists simulated drives")
    })
}

pub fn run(args: &ListArgs, defaults: &Defaults) -> anyhow::Result<u8> {
    match args.format {
        Format::Json => data!("{}", document(args.listed.as_ref(), defaults)?),
        Format::Text => print(args.listed.as_ref(), defaults)?,
    }
    Ok(EXIT_DONE)
}

/// The wanted lists in one document.
fn document(listed: Option<&List>, defaults: &Defaults) -> anyhow::Result<Value> {
    let wants = |list: &List| listed.is_none_or(|listed| listed == list);
    let mut document = Map::new();
    if listed == Some(&List::Config) {
        document.insert("config".to_owned(), config::document(defaults));
    }
    if wants(&List::Devices) {
        document.insert("devices".to_owned(), discover::list().iter().map(device).collect());
    }
    if let Some(List::Test(test)) = listed {
        document.insert("tests".to_owned(), json!([test::whole(*test)?]));
    }
    if wants(&List::Tests) {
        document.insert("tests".to_owned(), Test::ALL.into_iter().map(test::brief).collect());
    }
    if wants(&List::Workloads) {
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

fn print(listed: Option<&List>, defaults: &Defaults) -> anyhow::Result<()> {
    match listed {
        None => {
            print_devices();
            data!("");
            print_tests();
            data!("");
            print_workloads();
            data!("\nSimulated drives: ssdlab sim models");
        }
        Some(List::Devices) => print_devices(),
        Some(List::Tests) => print_tests(),
        Some(List::Workloads) => print_workloads(),
        Some(List::Test(test)) => test::print(*test)?,
        Some(List::Config) => config::print(defaults),
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
    fn one_list_is_a_document_of_its_own() {
        let keys = |listed: Option<&List>| -> Vec<String> {
            document(listed, &Defaults::built_in())
                .unwrap()
                .as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect()
        };
        assert_eq!(keys(None), ["devices", "tests", "workloads"]);
        assert_eq!(keys(Some(&List::Tests)), ["tests"]);
    }
}
