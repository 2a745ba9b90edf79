//! The `ssdlab` program: arguments, dispatch, exit code. The only crate that prints.
//!
//! Stdout is data, stderr is messages; with `--format json`, stdout is exactly one JSON document on
//! every way out.
#![expect(unreachable_pub, reason = "a program has no users but itself")]

mod args;
mod cmd;
mod defaults;
mod failure;
mod help;
mod inputs;
#[cfg(test)]
#[allow(dead_code, unreachable_pub, reason = "shared with the tests of the engines")]
#[path = "../../io/tests/support/loops.rs"]
mod loops;
mod output_file;
mod parts;
mod prepare;
mod quick;
mod request;
mod stop;
mod ui;

use std::process::ExitCode;

use args::advise::AdviseCommand;
use args::library::LibraryCommand;
use args::resume::RunCommand;
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
        Command::List(args) => cmd::about::list::run(&args, defaults),
        Command::Completions(args) => cmd::about::shell::completions(&args),
        Command::Man(args) => cmd::about::shell::man(&args),
        Command::Run(RunCommand::New(args)) => cmd::run::run(&args),
        Command::Run(RunCommand::Resume(args)) => cmd::run::resume::run(&args),
        Command::Review(args) => cmd::review::run(&args),
        Command::Library(LibraryCommand::Build(args)) => cmd::library::build::run(&args),
        Command::Plan(args) => cmd::plan::run(&args),
        Command::Compare(args) => cmd::library::compare::run(&args),
        Command::Show(args) => cmd::show::run(&args),
        Command::Report(args) => cmd::report::run(&args),
        Command::Runs(args) => cmd::library::runs::run(&args),
        Command::Export(args) => cmd::library::export::run(&args),
        Command::Serve(args) => cmd::bench::serve::run(&args),
        Command::Site(args) => cmd::bench::site::run(&args),
        Command::Push(args) => cmd::bench::push::run(&args),
        Command::Import(command) => cmd::import::run(&command),
        Command::Restore(args) => cmd::restore::run(&args),
        Command::Sweep(args) => cmd::run::sweep::run(&args),
        Command::Fit(args) => cmd::library::fit::run(&args),
        Command::Lab(command) => cmd::library::lab::run(&command),
        Command::Selftest(args) => cmd::selftest::run(&args),
        Command::Drives(DrivesCommand::Check(args)) => cmd::drives::check(&args),
        Command::Verify(args) => cmd::verify::run(&args),
        Command::Expose(args) => cmd::expose::run(&args),
        Command::Drive(args) => cmd::expose::drive::run(&args),
        Command::Snapshot(args) => cmd::expose::snapshot::run(&args),
        Command::Advise(AdviseCommand::Spare(args)) => cmd::advise::run(&args),
        Command::Workload(command) => cmd::workload::run(&command),
        Command::Trace(command) => cmd::trace::run(command),
    }
}
