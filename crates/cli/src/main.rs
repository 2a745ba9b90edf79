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

use args::advise::AdviseCommand;
use args::library::LibraryCommand;
use args::resume::RunCommand;
use args::runs::RunsVerb;
use args::{Args, Command, DrivesCommand, Format};
use defaults::Defaults;
use failure::Failure;
use ui::out::{self, talk};

/// The maps of simulated drives are accessed at random; huge pages make that 10 to 20% faster.
#[global_allocator]
static ALLOCATOR: io::huge_pages::HugePages = io::huge_pages::HugePages;

fn main() -> ExitCode {
    io::huge_pages::on_exhausted(stop::out_of_memory);
    let loaded = Defaults::load();
    let built_in = Defaults::built_in();
    let defaults = loaded.as_ref().unwrap_or(&built_in);
    out::set_document(failure::wants_json(defaults.format()));
    if let Some(code) = failure::of_words() {
        return ExitCode::from(code);
    }
    let (args, taken) = match help::parse(defaults) {
        Ok(parsed) => parsed,
        Err(error) => return failure::usage_exit(&error),
    };
    out::set_document(args.format() == Format::Json);
    let listening =
        stop::survive_file_limit().and_then(|()| stop::at_once()).map_err(anyhow::Error::from);
    // Help is there with wrong defaults, too; nothing else is.
    let ready = listening.and(loaded);
    let code =
        ready.and_then(|defaults| dispatch(args, &defaults, &taken)).unwrap_or_else(|error| {
            let failure = Failure::from_error(&error);
            failure.print();
            failure.exit_code
        });
    ExitCode::from(failure::of_output().unwrap_or(code))
}

fn dispatch(args: Args, defaults: &Defaults, taken: &[String]) -> anyhow::Result<u8> {
    taken.iter().for_each(|sentence| talk!("{sentence}"));
    match args.command {
        Command::List(args) => commands::list::run(&args, defaults),
        Command::Completions(args) => commands::completions::run(&args),
        Command::Man(args) => commands::man::run(&args),
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
