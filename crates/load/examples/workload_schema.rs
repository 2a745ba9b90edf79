//! Writes the JSON Schema of workload files into a checkout: its top is the argument, or else the working
//! directory.

use std::path::PathBuf;
use std::{env, fs, io};

use load::spec::WorkloadFile;

fn main() -> io::Result<()> {
    let top = env::args_os().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    let schema = schemars::schema_for!(WorkloadFile);
    // The alternate form of a JSON value is the indented one.
    fs::write(top.join("schema/workload.schema.json"), format!("{:#}\n", schema.as_value()))
}
