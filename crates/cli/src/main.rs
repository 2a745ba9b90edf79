//! The `ssdlab` program: arguments, dispatch, exit code. The only crate that prints.
//!
//! Stdout is data, stderr is messages; with `--format json`, stdout is exactly one JSON document on
//! every way out.
#![expect(unreachable_pub, reason = "a program has no users but itself")]

mod args;
mod commands;
mod cost;
mod defaults;
mod failure;
mod help;
mod inputs;
mod job;
#[cfg(test)]
#[allow(dead_code, unreachable_pub, reason = "shared with the tests of the engines")]
#[path = "../../io/tests/support/loops.rs"]
mod loops;
mod mapping;
mod output_file;
mod page;
mod parts;
mod prepare;
mod quick;
mod request;
mod stop;
mod summary;
mod ui;

use std::process::ExitCode;

use args::Format;
use clap::{Parser, Subcommand};
use commands::advise::AdviseCommand;
use commands::compare::CompareArgs;
use commands::completions::CompletionsArgs;
use commands::lab::LabCommand;
use commands::library::LibraryCommand;
use commands::library::export::ExportArgs;
use commands::library::import::ImportCommand;
use commands::library::list::{RunsArgs, RunsVerb};
use commands::library::push::PushArgs;
use commands::library::serve::ServeArgs;
use commands::library::site::SiteArgs;
use commands::list::ListArgs;
use commands::man::ManArgs;
use commands::plan::PlanArgs;
use commands::report::ReportArgs;
use commands::restore_settings::RestoreArgs;
use commands::review::ReviewArgs;
use commands::run::RunCommand;
use commands::selftest::SelftestArgs;
use commands::show::ShowArgs;
use commands::sim::check::DrivesCheckArgs;
use commands::sim::control::DriveOrder;
use commands::sim::expose::ExposeArgs;
use commands::sim::fit::FitArgs;
use commands::sim::save::SnapshotArgs;
use commands::sim::sweep::SweepArgs;
use commands::trace::TraceCommand;
use commands::verify::VerifyArgs;
use commands::workload::WorkloadCommand;
use defaults::Defaults;
use failure::Failure;
use ui::out::{self, talk};

/// The maps of simulated drives are accessed at random; huge pages make that 10 to 20% faster.
#[global_allocator]
static ALLOCATOR: io::huge_pages::HugePages = io::huge_pages::HugePages;

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

/// The verb.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List real devices, drive models, tests, the keys of a test, or the defaults
    List(ListArgs),
    /// Run a test on one or more targets, or continue runs that ended early
    Run(RunCommand),
    /// The whole suite on one or more targets, and one report
    Review(ReviewArgs),
    /// Work with directories of runs
    #[command(subcommand)]
    Library(LibraryCommand),
    /// Print the steps of a run and its refusals; changes nothing
    Plan(Box<PlanArgs>),
    /// Is B worse than A? Compare runs, figure by figure
    Compare(CompareArgs),
    /// Summarise runs in the terminal
    Show(ShowArgs),
    /// Write runs into one self-contained HTML page
    Report(ReportArgs),
    /// List the runs of a library, change their words, remove them
    Runs(RunsArgs),
    /// Write a run in the format of another program, or its graph
    Export(ExportArgs),
    /// Serve a library to web browsers: the Bench
    Serve(ServeArgs),
    /// Write the Bench of a library as plain files for any web host
    Site(SiteArgs),
    /// Send runs to a server of a library
    Push(PushArgs),
    /// Read results of other programs into run directories
    #[command(subcommand)]
    Import(ImportCommand),
    /// Restore the settings changed by killed runs and recordings: power settings of drives, the
    /// kernel's block tracer
    Restore(RestoreArgs),
    /// Measure the cost of the harness itself
    Selftest(SelftestArgs),
    /// Write blocks that identify themselves and read them back: does the drive keep its promises?
    Verify(VerifyArgs),
    /// Expose a simulated drive as a disk for any other program
    Expose(Box<ExposeArgs>),
    /// Give orders to an exposed drive: cut its power, break it, age it, look at its work
    Drive(DriveOrder),
    /// Save the state of an exposed drive in a file, and go back to it
    Snapshot(SnapshotArgs),
    /// Find settings for a drive
    #[command(subcommand)]
    Advise(AdviseCommand),
    /// Simulate many runs that differ in chosen values, and write one table
    Sweep(SweepArgs),
    /// Find the values of a drive model that explain runs of a drive
    Fit(FitArgs),
    /// The drives of this host in a lab of several hosts, a Ray cluster
    #[command(subcommand)]
    Lab(LabCommand),
    /// Work with drive model files
    #[command(subcommand)]
    Drives(DrivesCommand),
    /// Check, print and convert workload files
    #[command(subcommand)]
    Workload(WorkloadCommand),
    /// Read, analyse and convert traces of real work
    #[command(subcommand)]
    Trace(TraceCommand),
    /// Print the script that completes commands in a shell
    Completions(CompletionsArgs),
    /// Write manual pages, one for each command
    Man(ManArgs),
}

/// The verbs for drive models.
#[derive(Debug, Subcommand)]
#[command(after_help = commands::sim::check::EXAMPLES)]
pub enum DrivesCommand {
    /// Check a drive model file and print its description
    Check(DrivesCheckArgs),
}

fn main() -> ExitCode {
    io::huge_pages::on_exhausted(stop::out_of_memory);
    let loaded = Defaults::load();
    let built_in = Defaults::built_in();
    let defaults = loaded.as_ref().unwrap_or(&built_in);
    out::set_document(failure::wants_json(defaults.format()));
    if let Some(code) = failure::of_words() {
        return ExitCode::from(code);
    }
    let call: help::Call<Args> = match help::parse(defaults) {
        Ok(call) => call,
        Err(error) => return failure::usage_exit(&error),
    };
    out::set_document(call.format == Format::Json);
    let listening =
        stop::survive_file_limit().and_then(|()| stop::at_once()).map_err(anyhow::Error::from);
    // Help is there with wrong defaults, too; nothing else is.
    let ready = listening.and(loaded);
    let code = ready.and_then(|defaults| dispatch(call, &defaults)).unwrap_or_else(|error| {
        let failure = Failure::from_error(&error);
        failure.print();
        failure.exit_code
    });
    ExitCode::from(failure::of_output().unwrap_or(code))
}

fn dispatch(call: help::Call<Args>, defaults: &Defaults) -> anyhow::Result<u8> {
    call.defaults.iter().for_each(|sentence| talk!("{sentence}"));
    match call.args.command {
        Command::List(args) => commands::list::run(&args, defaults),
        Command::Completions(args) => {
            commands::completions::run(&args, help::command::<Args>(&Defaults::built_in()))
        }
        Command::Man(args) => {
            commands::man::run(&args, help::command::<Args>(&Defaults::built_in()))
        }
        Command::Run(RunCommand::New(args)) => commands::run::run(&args),
        Command::Run(RunCommand::Resume(args)) => commands::run::resume::run(&args),
        Command::Review(args) => commands::review::run(&args),
        Command::Library(LibraryCommand::Build(args)) => commands::library::build::run(&args),
        Command::Plan(args) => commands::plan::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Show(args) => commands::show::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Runs(args) => match args.verb {
            None => commands::library::list::run(&args.list),
            Some(RunsVerb::Rm(args)) => commands::library::rm::run(&args),
            Some(RunsVerb::Note(args)) => commands::library::note::run(&args),
        },
        Command::Export(args) => commands::library::export::run(&args),
        Command::Serve(args) => commands::library::serve::run(&args),
        Command::Site(args) => commands::library::site::run(&args),
        Command::Push(args) => commands::library::push::run(&args),
        Command::Import(command) => commands::library::import::run(&command),
        Command::Restore(args) => commands::restore_settings::run(&args),
        Command::Sweep(args) => commands::sim::sweep::run(&args),
        Command::Fit(args) => commands::sim::fit::run(&args),
        Command::Lab(command) => commands::lab::run(&command),
        Command::Selftest(args) => commands::selftest::run(&args),
        Command::Drives(DrivesCommand::Check(args)) => commands::sim::check::run(&args),
        Command::Verify(args) => commands::verify::run(&args),
        Command::Expose(args) => commands::sim::expose::run(&args),
        Command::Drive(args) => commands::sim::control::run(&args),
        Command::Snapshot(args) => commands::sim::save::run(&args),
        Command::Advise(AdviseCommand::Spare(args)) => commands::advise::run(&args),
        Command::Workload(command) => commands::workload::run(&command),
        Command::Trace(command) => commands::trace::run(command),
    }
}
