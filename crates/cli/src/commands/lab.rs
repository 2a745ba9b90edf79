//! `ssdlab lab`: the drives of this host as resources of a Ray cluster. The Python package does it, since Ray is a
//! program of Python.

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::{Args as ClapArgs, Subcommand};
use run::RunError;

const EXAMPLES: &str = "\
Examples:
  ssdlab lab show
  ssdlab lab start --head
  ssdlab lab start --address HOST:6379";

const OF_SHOW: &str = "\
Examples:
  ssdlab lab show
  ssdlab lab show --python .venv/bin/python
  ssdlab lab show --drive bench=file:/srv/bench";

const OF_START: &str = "\
Examples:
  ssdlab lab start --head
  ssdlab lab start --address HOST:6379
  ssdlab lab start --address HOST:6379 --drive bench=file:/srv/bench -- --num-cpus 8";

/// The verbs of a lab of several hosts; `docs/guide/python.md` describes it.
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub enum LabCommand {
    /// Print the free drives of this host and the command that registers them; changes nothing
    #[command(after_help = OF_SHOW)]
    Show(LabArgs),
    /// Join a Ray cluster with the drives of this host
    #[command(after_help = OF_START)]
    Start(LabArgs),
}

/// Arguments of `lab show` and `lab start`.
#[derive(Debug, ClapArgs)]
pub struct LabArgs {
    /// Python with the packages ssdlab and ray
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    pub python: PathBuf,
    /// Begin a cluster
    #[arg(long, conflicts_with = "address")]
    pub head: bool,
    /// Head of the cluster to join
    #[arg(long, value_name = "HOST:PORT")]
    pub address: Option<String>,
    /// Further target, such as bench=file:/srv/bench; repeatable
    #[arg(long = "drive", value_name = "NAME=TARGET")]
    pub further: Vec<String>,
    /// Arguments of `ray start`, after `--`
    #[arg(last = true, value_name = "ARGUMENT")]
    pub ray: Vec<String>,
}

pub fn run(command: &LabCommand) -> anyhow::Result<u8> {
    let (verb, args) = match command {
        LabCommand::Show(args) => ("show", args),
        LabCommand::Start(args) => ("start", args),
    };
    require_package(args)?;
    let mut python = Command::new(&args.python);
    python.args(["-m", MODULE, verb]).args(words(args));
    Err(usage(args, &python.exec().to_string()))
}

const MODULE: &str = "ssdlab.lab";

/// Ends with the name of a package that is missing.
const FIND: &str = "\
import sys; from importlib.util import find_spec
for name in ('ssdlab', 'ray'):
    if find_spec(name) is None: sys.exit(f'No module named {name!r}')";

/// The arguments in the words of the Python package.
fn words(args: &LabArgs) -> Vec<String> {
    let head = args.head.then(|| "--head".to_owned());
    let address = args.address.iter().map(|address| format!("--address={address}"));
    let drives = args.further.iter().map(|drive| format!("--drive={drive}"));
    head.into_iter().chain(address).chain(drives).chain(args.ray.iter().cloned()).collect()
}

/// Looks for the packages without loading them, which takes seconds. Python's words on a missing one do not tell how
/// to get it.
fn require_package(args: &LabArgs) -> anyhow::Result<()> {
    let mut find = Command::new(&args.python);
    find.args(["-c", FIND]).stdin(Stdio::null());
    let output = find.output().map_err(|error| usage(args, &error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(usage(args, stderr.lines().last().unwrap_or("it cannot find ssdlab and ray")))
}

fn usage(args: &LabArgs, reason: &str) -> anyhow::Error {
    let python = args.python.display();
    let words = format!(
        "`--python {python}`: {reason}; a lab needs Python with the packages ssdlab and ray, `pip install './py[ray]'`"
    );
    RunError::Usage(words).into()
}
