//! `ssdlab drives check`: validity and description of a drive model file.

use ::target::IoError;
use base::Ratio;
use sim::{Config, Model};

use crate::args::{DrivesCheckArgs, Format};
use crate::failure::EXIT_DONE;
use crate::ui::out::data;
use crate::ui::table::{self, bytes, count};

pub fn check(args: &DrivesCheckArgs) -> anyhow::Result<u8> {
    let name = args.file.display().to_string();
    let text = device::host::small_file::read(&args.file)
        .map_err(|error| IoError::Usage(format!("drive model `{name}` cannot be read: {error}")))?;
    let usage = |error: sim::ModelError| IoError::Usage(error.to_string());
    let model = Model::load(&name, &text, &[]).map_err(usage)?;
    let config = model.resolve(Ratio::ONE).map_err(usage)?;
    match args.format {
        Format::Json => data!("{}", document(&model, &config)),
        Format::Text => print(&model, &config),
    }
    Ok(EXIT_DONE)
}

fn document(model: &Model, config: &Config) -> serde_json::Value {
    serde_json::json!({
        "valid": true, "name": model.name,
        "capacity_bytes": config.capacity_bytes(), "raw_bytes": config.raw_bytes,
        "dies": config.geometry.dies, "superblocks": config.geometry.superblocks,
    })
}

fn print(model: &Model, config: &Config) {
    let geometry = &config.geometry;
    let superblock_bytes = geometry.superblock_bytes();
    let spare = 1.0 - config.capacity_bytes() as f64 / config.raw_bytes as f64;
    data!("{} is valid", model.name);
    let row = |label: &str, value: String| vec![format!("  {label}"), value];
    table::print(&[
        row("capacity", bytes(config.capacity_bytes())),
        row("raw NAND", bytes(config.raw_bytes)),
        row("spare of raw", format!("{:.1}%", spare * 100.0)),
        row("dies", count(f64::from(geometry.dies))),
        row("superblocks", count(f64::from(geometry.superblocks))),
        row("superblock", bytes(superblock_bytes)),
    ]);
}
