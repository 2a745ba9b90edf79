//! `ssdlab library import`: results of other programs as run directories.

use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Subcommand};
use device::host::shell::quoted;
use result::import::{Call, cdm, fio, name_drives, phoronix, write_all};
use result::store::dir::sweep;
use result::store::{RunDir, preflight};

use crate::args::heading;
use crate::args::{Format, PlaceArgs};
use crate::failure::EXIT_DONE;
use crate::summary::print_summary;
use crate::ui::out::data;
use crate::ui::wait::Wait;
use session::job::unix_ns;

const EXAMPLES: &str = "\
Examples:
  ssdlab library import fio results.json
  ssdlab library import phoronix composite.xml
  ssdlab library import cdm cdm.txt --drive 'WD SN850X 2 TB'";

const OF_FIO: &str = "\
Examples:
  ssdlab library import fio results.json --drive 'WD SN850X 2 TB' --firmware 620281WD
  ssdlab library import fio bench-fio-output/  # JSON and logs of one drive
  ssdlab library import fio sim.json --simulated";

const OF_PHORONIX: &str = "\
Examples:
  ssdlab library import phoronix composite.xml
  ssdlab library import phoronix result.json --library peers
  ssdlab library import phoronix test-results/ --format json";

const OF_CDM: &str = "\
Examples:
  ssdlab library import cdm cdm.txt --drive 'WD SN850X 2 TB'
  ssdlab library import cdm cdm.txt --firmware 620281WD --library peers
  ssdlab library import cdm first.txt second.txt --format json";

/// The program whose results are read.
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub enum ImportCommand {
    /// JSON and JSON+ of fio 3, its bandwidth, IOPS, latency and histogram logs, and folders of
    /// them such as those of bench-fio: one run for each drive of each host
    #[command(after_help = OF_FIO)]
    Fio(FioArgs),
    /// Result files of the Phoronix Test Suite, composite.xml or JSON: one run for each system
    #[command(after_help = OF_PHORONIX)]
    Phoronix(ImportArgs),
    /// Text of CrystalDiskMark 3 to 9 and of KDiskMark: one drive, one run
    #[command(after_help = OF_CDM)]
    Cdm(ImportArgs),
}

/// The files of fio and what they do not tell.
#[derive(Debug, ClapArgs)]
pub struct FioArgs {
    #[command(flatten)]
    pub import: ImportArgs,
    /// Read the jobs of this host only, of a run with clients; repeatable
    // The id `host` is that of the default host of simulated drives.
    #[arg(id = "client_host", long = "host", value_name = "HOST")]
    pub host: Vec<String>,
}

/// The files and what they do not tell.
#[derive(Debug, ClapArgs)]
pub struct ImportArgs {
    /// Files, or folders with everything below them
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Name of the drive, or of one of several by its name in the files; default: the name there;
    /// repeatable
    #[arg(long, value_name = "NAME[=FILENAME]", help_heading = heading::RUNS)]
    pub drive: Vec<String>,
    /// Firmware of the drive
    #[arg(long, value_name = "REVISION", help_heading = heading::WORDS)]
    pub firmware: Option<String>,
    /// Say that the drive was a simulated one
    #[arg(long)]
    pub simulated: bool,
    #[command(flatten)]
    pub place: PlaceArgs,
}

impl ImportCommand {
    /// The files and what they do not tell.
    pub fn args(&self) -> &ImportArgs {
        match self {
            Self::Fio(args) => &args.import,
            Self::Phoronix(args) | Self::Cdm(args) => args,
        }
    }
}

pub fn run(command: &ImportCommand) -> anyhow::Result<u8> {
    let args = command.args();
    let wait = Wait::new("reading and writing runs");
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
    let dirs = write_all(&args.place.library, sheets, &call)?;
    drop(wait);
    print(args, &dirs)?;
    Ok(EXIT_DONE)
}

fn call(format: &str, args: &ImportArgs, hosts: &[String]) -> Call {
    let option = |name: &str, value: &[String]| {
        value.iter().flat_map(|value| [name.to_owned(), value.clone()]).collect::<Vec<_>>()
    };
    let words = [
        ["ssdlab", "library", "import", format].map(str::to_owned).to_vec(),
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
