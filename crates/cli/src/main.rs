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

use args::Format;
use commands::Args;
use defaults::Defaults;
use failure::Failure;
use ui::out::{self, talk};

/// The maps of simulated drives are accessed at random; huge pages make that 10 to 20% faster.
#[global_allocator]
static ALLOCATOR: io::huge_pages::HugePages = io::huge_pages::HugePages;

fn main() -> ExitCode {
    io::huge_pages::on_exhausted(stop::out_of_memory);
    if commands::completions::answer(commands::whole) {
        return ExitCode::SUCCESS;
    }
    if commands::support::answer_version() {
        return ExitCode::from(failure::of_output().unwrap_or(failure::EXIT_DONE));
    }
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
    call.args.command.run(defaults)
}
