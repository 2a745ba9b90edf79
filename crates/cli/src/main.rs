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
mod renamed;
mod request;
mod stop;
mod summary;
mod ui;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use args::Format;
use commands::advise::AdviseCommand;
use commands::compare::CompareArgs;
use commands::completions::CompletionsArgs;
use commands::lab::LabCommand;
use commands::library::LibraryCommand;
use commands::list::ListArgs;
use commands::man::ManArgs;
use commands::plan::PlanArgs;
use commands::report::ReportArgs;
use commands::restore_settings::RestoreSettingsArgs;
use commands::review::ReviewArgs;
use commands::run::RunCommand;
use commands::selftest::SelftestArgs;
use commands::show::ShowArgs;
use commands::sim::SimCommand;
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
    /// Completion of commands in a shell
    Completions(CompletionsArgs),
    /// Manual pages
    Man(ManArgs),
}

fn main() -> ExitCode {
    io::huge_pages::on_exhausted(stop::out_of_memory);
    let loaded = Defaults::load();
    let built_in = Defaults::built_in();
    let defaults = loaded.as_ref().unwrap_or(&built_in);
    out::set_document(failure::wants_json(defaults.format()));
    if let Some(code) = failure::of_words().or_else(renamed::refuse) {
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
    let ready = listening.and(loaded.map_err(anyhow::Error::from));
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
        Command::Plan(args) => commands::plan::run(&args),
        Command::Run(RunCommand::New(args)) => commands::run::run(&args),
        Command::Run(RunCommand::Resume(args)) => commands::run::resume::run(&args),
        Command::Review(args) => commands::review::run(&args),
        Command::Verify(args) => commands::verify::run(&args),
        Command::Advise(AdviseCommand::Spare(args)) => commands::advise::run(&args),
        Command::Show(args) => commands::show::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Trace(command) => commands::trace::run(command),
        Command::Workload(command) => commands::workload::run(&command),
        Command::Library(command) => commands::library::run(&command),
        Command::Sim(command) => commands::sim::run(&command),
        Command::Lab(command) => commands::lab::run(&command),
        Command::RestoreSettings(args) => commands::restore_settings::run(&args),
        Command::Selftest(args) => commands::selftest::run(&args),
        Command::Completions(args) => commands::completions::run(&args, whole()),
        Command::Man(args) => commands::man::run(&args, whole()),
    }
}

/// The command line without the defaults of a user.
fn whole() -> clap::Command {
    help::command::<Args>(&Defaults::built_in())
}
