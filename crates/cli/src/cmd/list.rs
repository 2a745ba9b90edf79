//! `ssdlab list`: real devices, drive models, hosts, tests. It changes nothing.

use device::DeviceReport;
use device::describe::report as discover;
use device::host::shell::quoted;
use run::Test;
use sim::model::{HOSTS, HostProfile};

use crate::args::{Format, ListArgs};
use crate::failure::EXIT_DONE;
use crate::ui::out::data;
use crate::ui::table::{self, bytes};

pub fn run(args: &ListArgs) -> anyhow::Result<u8> {
    let devices = discover::list();
    match args.format {
        Format::Json => data!("{}", document(&devices)?),
        Format::Text => print(&devices)?,
    }
    Ok(EXIT_DONE)
}

fn document(devices: &[DeviceReport]) -> anyhow::Result<serde_json::Value> {
    let devices: Vec<_> = devices
        .iter()
        .map(|device| {
            let reasons: Vec<_> = device.in_use.iter().map(|reason| reason.code).collect();
            serde_json::json!({
                "target": device.node, "model": device.model, "serial": device.serial,
                "firmware": device.firmware, "capacity_bytes": device.capacity_bytes,
                "logical_block_bytes": device.logical_block_bytes,
                "physical_block_bytes": device.physical_block_bytes,
                "rotational": device.rotational, "scheduler": device.scheduler,
                "deallocate": device.deallocate, "in_use": reasons,
            })
        })
        .collect();
    let mut models = Vec::new();
    for (name, _) in sim::model::BUILT_IN {
        let target = format!("sim:{name}");
        let (identity, _) = io::engine::sim::describe(&target, name, &[])?;
        models.push(serde_json::json!({
            "target": target, "name": identity.name, "simulated": true,
            "capacity_bytes": identity.capacity_bytes, "raw_bytes": identity.raw_bytes,
        }));
    }
    let hosts = hosts()?;
    let hosts: Vec<_> = hosts
        .iter()
        .map(|(host, profile)| serde_json::json!({ "host": host, "name": profile.name }))
        .collect();
    let tests = Test::ALL.map(|test| {
        serde_json::json!({
            "test": test.name(), "question": test.question(),
            "parameters": test.params().iter().map(|p| (p.name, p.default)).collect::<Vec<_>>(),
        })
    });
    Ok(serde_json::json!({
        "devices": devices, "drive_models": models, "hosts": hosts, "tests": tests,
    }))
}

/// The host profiles that come with ssdlab, each with its word.
fn hosts() -> anyhow::Result<Vec<(&'static str, HostProfile)>> {
    let load = |(host, text)| Ok((host, HostProfile::load(host, text)?));
    HOSTS.into_iter().map(load).collect()
}

fn print(devices: &[DeviceReport]) -> anyhow::Result<()> {
    data!("Devices:");
    let rows = devices.iter().map(|device| {
        let state = match device.in_use.first() {
            Some(reason) => format!("in use: {}", reason.code),
            None => {
                let word = device.confirmations.first().map_or("", String::as_str);
                format!("free; --erase {}", quoted(word))
            }
        };
        let model = device.model.clone().unwrap_or_default();
        vec![format!("  {}", device.node.display()), bytes(device.capacity_bytes), model, state]
    });
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        data!("  none");
    }
    table::print(&rows);
    data!("\nDrive models (simulated):");
    let mut rows = Vec::new();
    for (name, _) in sim::model::BUILT_IN {
        let target = format!("sim:{name}");
        let (identity, _) = io::engine::sim::describe(&target, name, &[])?;
        rows.push(vec![format!("  {target}"), bytes(identity.capacity_bytes), identity.name]);
    }
    table::print(&rows);
    data!("\nHosts (sim:NAME?host=HOST, or none):");
    let rows = hosts()?.into_iter().map(|(host, profile)| vec![format!("  {host}"), profile.name]);
    table::print(&rows.collect::<Vec<_>>());
    data!("\nTests:");
    for test in Test::ALL {
        data!("  {}: {}", test.name(), test.question());
        let rows = test.params().iter().map(|param| {
            vec![format!("    --set {}={}", param.name, param.default), param.help.to_owned()]
        });
        table::print(&rows.collect::<Vec<_>>());
    }
    Ok(())
}
