//! `ssdlab import`: results of other programs as run directories.

use std::path::{Path, PathBuf};

use device::host::shell::quoted;
use result::import::{Call, ImportError, Sheet, cdm, fio, phoronix, write};
use result::store::dir::sweep;
use result::store::{RunDir, preflight};

use super::run::unix_ns;
use super::show::print_summary;
use crate::args::Format;
use crate::args::import::{ImportArgs, ImportCommand};
use crate::failure::EXIT_DONE;
use crate::ui::out::data;

/// Reads files as the results of one or more drives.
type Read = fn(&[PathBuf]) -> Result<Vec<Sheet>, ImportError>;

pub fn run(command: &ImportCommand) -> anyhow::Result<u8> {
    let (format, read): (_, Read) = match command {
        ImportCommand::Fio(_) => ("fio", |paths| Ok(vec![fio::read(paths)?])),
        ImportCommand::Phoronix(_) => ("phoronix", phoronix::read),
        ImportCommand::Cdm(_) => ("cdm", cdm::read),
    };
    let args = command.args();
    let sheets = read(&args.paths)?;
    preflight(&args.place.library, 0)?;
    sweep(&args.place.library);
    let call = call(format, args);
    let mut dirs = Vec::new();
    for sheet in sheets {
        dirs.push(write(&args.place.library, sheet, &call)?);
    }
    print(args, &dirs)?;
    Ok(EXIT_DONE)
}

fn call(format: &str, args: &ImportArgs) -> Call {
    let option = |name: &str, value: &Option<String>| {
        value.iter().flat_map(|value| [name.to_owned(), value.clone()]).collect::<Vec<_>>()
    };
    let words = [
        ["ssdlab", "import", format].map(str::to_owned).to_vec(),
        args.paths.iter().map(|path| path.display().to_string()).collect(),
        option("--drive", &args.drive),
        option("--firmware", &args.firmware),
        args.simulated.then(|| "--simulated".to_owned()).into_iter().collect(),
    ];
    Call {
        drive: args.drive.clone(),
        firmware: args.firmware.clone(),
        is_simulated: args.simulated,
        command: words.concat().iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
        tool_version: concat!("ssdlab ", env!("CARGO_PKG_VERSION")).to_owned(),
        now_unix_ns: unix_ns(),
    }
}

fn print(args: &ImportArgs, dirs: &[PathBuf]) -> anyhow::Result<()> {
    if args.place.format == Format::Json {
        let shown = |dir: &PathBuf| dir.display().to_string();
        let dirs: Vec<_> = dirs.iter().map(shown).collect();
        data!("{}", serde_json::json!({ "run_dirs": dirs }));
        return Ok(());
    }
    for dir in dirs {
        print_run(dir)?;
    }
    Ok(())
}

fn print_run(dir: &Path) -> anyhow::Result<()> {
    print_summary(RunDir::open(dir)?.run(), dir);
    data!("{}", dir.display());
    Ok(())
}
