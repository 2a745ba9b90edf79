//! `ssdlab sim check`: validity and description of a drive model or of a saved state.

use std::path::PathBuf;

use ::target::TargetError;
use base::Ratio;
use clap::Args as ClapArgs;
use expose::snapshot::file::Header;
use expose::snapshot::{FileFault, file};
use serde_json::Value;
use sim::model::ModelValue;
use sim::{Config, Model};

use super::control::print as print_members;
use super::state::slip;
use crate::args::Format;
use crate::args::heading;
use crate::failure::EXIT_DONE;
use crate::ui::out::data;
use crate::ui::table::{self, bytes, count};

const EXAMPLES: &str = "\
Examples:
  ssdlab sim check my-drive.toml
  ssdlab sim check aged.state
  ssdlab sim check my-drive.toml --format json";

/// Arguments of `sim check`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct CheckArgs {
    /// Drive model, a TOML file; or a file that `ssdlab sim save` or `ssdlab sim expose --state` wrote
    pub file: PathBuf,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    pub format: Format,
}

pub fn run(args: &CheckArgs) -> anyhow::Result<u8> {
    match file::header(&args.file) {
        Ok(header) => print_header(&header, args.format)?,
        Err(FileFault::NoState | FileFault::Io(_)) => check_model(args)?,
        Err(fault) => return Err(slip(&args.file, fault).into()),
    }
    Ok(EXIT_DONE)
}

fn print_header(header: &Header, format: Format) -> anyhow::Result<()> {
    match (format, serde_json::to_value(header)?) {
        (Format::Text, Value::Object(members)) => print_members(&members),
        (_, header) => data!("{header}"),
    }
    Ok(())
}

fn check_model(args: &CheckArgs) -> Result<(), TargetError> {
    let name = args.file.display().to_string();
    let text = device::host::small_file::read(&args.file).map_err(|error| {
        TargetError::Usage(format!("drive model `{name}` cannot be read: {error}"))
    })?;
    let usage = |error: sim::ModelError| TargetError::Usage(error.to_string());
    let beside = |file: &str| io::engine::sim::beside(&args.file, file);
    let model = Model::load_beside(&name, &text, &[], &beside).map_err(usage)?;
    let config = model.resolve(Ratio::ONE).map_err(usage)?;
    let values = Model::values(&name, &text, &beside).map_err(usage)?;
    match args.format {
        Format::Json => data!("{}", document(&model, &config, &values)),
        Format::Text => print(&model, &config, &values),
    }
    Ok(())
}

fn document(model: &Model, config: &Config, values: &[ModelValue]) -> serde_json::Value {
    let values = values.iter().map(|value| {
        serde_json::json!({
            "key": value.key, "value": value.value, "from": value.from,
            "inherited_from": value.inherited_from,
        })
    });
    let (user, raw) = (config.capacity_bytes() as f64, config.raw_bytes as f64);
    serde_json::json!({
        "valid": true, "name": model.name,
        "capacity_bytes": config.capacity_bytes(), "raw_bytes": config.raw_bytes,
        "spare_of_raw_share": 1.0 - user / raw, "over_provisioning_of_user_share": raw / user - 1.0,
        "dies": config.geometry.dies, "superblocks": config.geometry.superblocks,
        "values": values.collect::<Vec<_>>(),
    })
}

fn print(model: &Model, config: &Config, values: &[ModelValue]) {
    let geometry = &config.geometry;
    let superblock_bytes = geometry.superblock_bytes();
    let (user, raw) = (config.capacity_bytes() as f64, config.raw_bytes as f64);
    data!("{} is valid", model.name);
    let row = |label: &str, value: String| vec![format!("  {label}"), value];
    table::print(&[
        row("capacity", bytes(config.capacity_bytes())),
        row("raw NAND", bytes(config.raw_bytes)),
        row("spare", format!("{:.1}% of raw, (raw - user) / raw", (1.0 - user / raw) * 100.0)),
        row(
            "over-provisioning",
            format!("{:.1}% of user, (raw - user) / user", (raw / user - 1.0) * 100.0),
        ),
        row("dies", count(f64::from(geometry.dies))),
        row("superblocks", count(f64::from(geometry.superblocks))),
        row("superblock", bytes(superblock_bytes)),
    ]);
    data!("\nvalues");
    let rows = values.iter().map(|value| {
        let parent = value.inherited_from.as_ref();
        let from = parent.map_or_else(String::new, |parent| format!("inherited from {parent}; "));
        vec![format!("  {}", value.key), value.value.clone(), from + &value.from]
    });
    table::print(&rows.collect::<Vec<_>>());
}
