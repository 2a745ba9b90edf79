//! `ssdlab import`: results of other programs as run directories.

use std::path::{Path, PathBuf};

use device::host::shell::quoted;
use result::import::{Call, cdm, fio, name_drives, phoronix, write};
use result::store::dir::sweep;
use result::store::{RunDir, preflight};

use crate::args::Format;
use crate::args::import::{ImportArgs, ImportCommand};
use crate::failure::EXIT_DONE;
use crate::job::unix_ns;
use crate::summary::print_summary;
use crate::ui::out::data;

pub fn run(command: &ImportCommand) -> anyhow::Result<u8> {
    let args = command.args();
    let (format, hosts, mut sheets): (_, &[String], _) = match command {
        ImportCommand::Fio(own) => ("fio", own.host.as_slice(), fio::read(&args.paths, &own.host)?),
        ImportCommand::Phoronix(_) => ("phoronix", &[], phoronix::read(&args.paths)?),
        ImportCommand::Cdm(_) => ("cdm", &[], cdm::read(&args.paths)?),
    };
    name_drives(&mut sheets, &args.drive)?;
    if let Some(sheet) = sheets.iter().find(|sheet| sheet.drive.is_none()) {
        // Before the first run directory, so that all are written or none.
        return Err(sheet.without_name().into());
    }
    preflight(&args.place.library, 0)?;
    sweep(&args.place.library);
    let call = call(format, args, hosts);
    let mut dirs = Vec::new();
    for sheet in sheets {
        dirs.push(write(&args.place.library, sheet, &call)?);
    }
    print(args, &dirs)?;
    Ok(EXIT_DONE)
}

fn call(format: &str, args: &ImportArgs, hosts: &[String]) -> Call {
    let option = |name: &str, value: &[String]| {
        value.iter().flat_map(|value| [name.to_owned(), value.clone()]).collect::<Vec<_>>()
    };
    let words = [
        ["ssdlab", "import", format].map(str::to_owned).to_vec(),
        args.paths.iter().map(|path| path.display().to_string()).collect(),
        option("--drive", &args.drive),
        option("--host", hosts),
        option("--firmware", args.firmware.as_slice()),
        args.simulated.then(|| "--simulated".to_owned()).into_iter().collect(),
    ];
    Call {
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
