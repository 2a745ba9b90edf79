//! `ssdlab sim convert`: a drive or a load of MQSim as a file of ssdlab.

mod mqsim;
mod parameters;

use std::path::PathBuf;

use ::target::TargetError;
use anyhow::Context;
use base::Ratio;
use clap::Args as ClapArgs;
use load::spec::WorkloadFile;
use serde_json::json;
use sim::Model;

use crate::args::{Format, heading, whole};
use crate::failure::EXIT_DONE;
use crate::inputs::Inputs;
use crate::output_file::OutputFile;
use crate::ui::out::{data, talk};
use mqsim::Conversion;

const EXAMPLES: &str = "\
Examples:
  ssdlab sim convert ssdconfig.xml -o drive.toml
  ssdlab sim convert workload.xml --scenario 2 -o load.toml
  ssdlab sim convert ssdconfig.xml --format json";

/// Arguments of `sim convert`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct ConvertArgs {
    /// XML file of MQSim: the configuration of a drive, or the definition of its load
    pub file: PathBuf,
    /// Scenario of a load, from 1
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = whole::<u32, 1, { u32::MAX as u64 }>)]
    pub scenario: u32,
    /// File to write; without it, the file is printed
    #[arg(long, short, value_name = "FILE", help_heading = heading::OUTPUT)]
    pub output: Option<PathBuf>,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    pub format: Format,
}

pub fn run(args: &ConvertArgs) -> anyhow::Result<u8> {
    let name = args.file.display();
    let usage = |fault: String| TargetError::Usage(format!("{name}: {fault}"));
    let text = device::host::small_file::read(&args.file)
        .map_err(|error| usage(format!("it cannot be read: {error}")))?;
    let Conversion { toml, kind, left_out } =
        mqsim::convert(&text, args.scenario as usize).map_err(usage)?;
    check(&toml, kind)
        .map_err(|fault| usage(format!("ssdlab cannot have this {}: {fault}", kind.name())))?;
    if let Some(path) = &args.output {
        let inputs = Inputs::default().job_file(&args.file);
        let mut file = OutputFile::create(path, "-o", &inputs)?;
        file.write_all(toml.as_bytes())?;
        file.put_in_place().context("the conversion")?;
    }
    for parameter in &left_out {
        let mqsim::LeftOut { name, value, reason } = parameter;
        talk!("not converted: {name} = {value}: {reason}");
    }
    let output = args.output.as_ref().map(|path| path.display().to_string());
    match (args.format, output) {
        (Format::Text, None) => data!("{}", toml.trim_end()),
        (Format::Text, Some(path)) => data!("{path}"),
        (Format::Json, output) => data!(
            "{}",
            json!({ "kind": kind.name(), "output": output, "toml": toml, "left_out": left_out })
        ),
    }
    Ok(EXIT_DONE)
}

/// Reads the file that was made, as the commands that use it do.
fn check(toml: &str, kind: mqsim::Kind) -> Result<(), String> {
    match kind {
        mqsim::Kind::Drive => {
            let model = Model::load("drive", toml, &[]).map_err(|error| error.to_string())?;
            model.resolve(Ratio::ONE).map(|_| ()).map_err(|error| error.to_string())
        }
        mqsim::Kind::Load => {
            WorkloadFile::parse(toml).map(|_| ()).map_err(|error| error.to_string())
        }
    }
}
