//! The commands: one file for each, with its arguments, its help, and its action, which returns the exit code.

pub mod advise;
pub mod compare;
pub mod completions;
pub mod lab;
pub mod library;
pub mod list;
pub mod man;
pub mod plan;
pub mod report;
pub mod restore_settings;
pub mod review;
pub mod run;
pub mod selftest;
pub mod show;
pub mod sim;
pub mod support;
pub mod trace;
pub mod verify;
pub mod workload;

use clap::{Parser, Subcommand};

use self::advise::AdviseCommand;
use self::compare::CompareArgs;
use self::completions::CompletionsArgs;
use self::lab::LabCommand;
use self::library::LibraryCommand;
use self::list::ListArgs;
use self::man::ManArgs;
use self::plan::PlanArgs;
use self::report::ReportArgs;
use self::restore_settings::RestoreSettingsArgs;
use self::review::ReviewArgs;
use self::run::RunCommand;
use self::selftest::SelftestArgs;
use self::show::ShowArgs;
use self::sim::SimCommand;
use self::support::SupportArgs;
use self::trace::TraceCommand;
use self::verify::VerifyArgs;
use self::workload::WorkloadCommand;
use crate::defaults::Defaults;
use crate::help;

const EXAMPLES: &str = "\
Examples:
  ssdlab list devices  # drives of this machine, and reasons against a test
  ssdlab plan consistency /dev/nvme1n1  # every step, its losses and costs; changes nothing
  ssdlab run consistency /dev/nvme1n1 --erase SERIAL
  ssdlab review sim:samsung-840-pro-256gb  # the whole suite and its page";

/// An SSD performance laboratory: how evenly does a drive keep working, and why?
#[derive(Debug, Parser)]
#[command(name = "ssdlab", version = env!("SSDLAB_VERSION"), arg_required_else_help = true, after_help = EXAMPLES)]
pub struct Args {
    /// The verbs.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands, in the order of their help.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Devices, tests, workloads and defaults
    List(ListArgs),
    /// Steps, cost and refusals; changes nothing
    Plan(Box<PlanArgs>),
    /// One test on one or more targets
    Run(RunCommand),
    /// The whole suite, and one report
    Review(ReviewArgs),
    /// Does a drive keep what it acknowledged?
    Verify(VerifyArgs),
    /// Find settings for a drive
    #[command(subcommand)]
    Advise(AdviseCommand),
    /// Summary of runs in the terminal
    Show(ShowArgs),
    /// Is B worse than A, beyond noise?
    Compare(CompareArgs),
    /// One self-contained HTML page of runs
    Report(ReportArgs),
    /// Record, read, convert and replay traces
    #[command(subcommand)]
    Trace(TraceCommand),
    /// Check, show and convert workload files
    #[command(subcommand)]
    Workload(WorkloadCommand),
    /// Keep runs, import, export and serve them
    #[command(subcommand)]
    Library(LibraryCommand),
    /// Models, disks, sweeps and fits
    #[command(subcommand)]
    Sim(SimCommand),
    /// The drives of several hosts, with Ray
    #[command(subcommand)]
    Lab(LabCommand),
    /// Undo what killed runs left changed
    RestoreSettings(RestoreSettingsArgs),
    /// Cost of the harness itself
    Selftest(SelftestArgs),
    /// Facts for a report of a fault
    Support(SupportArgs),
    /// Completion of commands in a shell
    Completions(CompletionsArgs),
    /// Manual pages
    Man(ManArgs),
}

impl Command {
    /// Carries the command out and returns the exit code.
    ///
    /// # Errors
    /// The failure that is printed; its exit code follows from its kind.
    pub fn run(self, defaults: &Defaults) -> anyhow::Result<u8> {
        match self {
            Command::List(args) => list::run(&args, defaults),
            Command::Plan(args) => plan::run(&args),
            Command::Run(RunCommand::New(args)) => run::run(&args),
            Command::Run(RunCommand::Resume(args)) => run::resume::run(&args),
            Command::Review(args) => review::run(&args),
            Command::Verify(args) => verify::run(&args),
            Command::Advise(AdviseCommand::Spare(args)) => advise::run(&args),
            Command::Show(args) => show::run(&args),
            Command::Compare(args) => compare::run(&args),
            Command::Report(args) => report::run(&args),
            Command::Trace(command) => trace::run(command),
            Command::Workload(command) => workload::run(&command),
            Command::Library(command) => library::run(&command),
            Command::Sim(command) => sim::run(&command),
            Command::Lab(command) => lab::run(&command),
            Command::RestoreSettings(args) => restore_settings::run(&args),
            Command::Selftest(args) => selftest::run(&args),
            Command::Support(args) => support::run(&args),
            Command::Completions(args) => completions::run(&args),
            Command::Man(args) => man::run(&args, whole()),
        }
    }
}

/// The command line without the defaults of a user.
pub fn whole() -> clap::Command {
    help::command::<Args>(&Defaults::built_in())
}
