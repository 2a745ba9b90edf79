//! Developer verbs: one typed program that sets up, checks, measures and shows ssdlab, called as
//! `cargo xtask VERB`. HACKING.md lists the verbs.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer tool talks")]

mod dist;
mod fuzz;
mod measure;
mod mutants;
mod release;
mod schema;
mod show;
mod steps;
mod suite;
mod test_list;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use xtask::web;
use xtask::workspace::{Workspace, ci_from_environment};

/// Developer verbs of ssdlab.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Set up this machine and run every check; the last line counts the steps.
    Test(suite::TestArgs),
    /// The same as `test`, and a step that cannot run here fails instead of being skipped.
    Ci(suite::TestArgs),
    /// Format Rust, the page and Markdown.
    Format,
    /// Build the web page into web/dist/index.html.
    Web,
    /// Generate the JSON Schema and the TypeScript types from the Rust types.
    Schema,
    /// Build dist/ssdlab: one file, with the C library and the page inside.
    Dist,
    /// Build what a user downloads into dist/: program, archive, Debian package, wheel, note, licences, parts and sums.
    Release,
    /// Print the technical note, docs/evidence/note.md, as PDF into dist/, and draw its pictures; needs chromium.
    Note,
    /// Run the consistency test on three simulated drives and a file, and write the report.
    Demo,
    /// Simulate the suite for every drive model, and write it as a small static site.
    Site(show::site::SiteArgs),
    /// Take the pictures of page and Bench in docs/pictures, in a browser.
    Screens(show::screens::ScreensArgs),
    /// Try every reader of traces, runs and NBD with hostile input, each for a minute.
    Fuzz(fuzz::FuzzArgs),
    /// Remove the checks before a write or a removal one at a time: a test must notice each.
    Mutants(mutants::MutantsArgs),
    /// Run what was published about drives on their models, and write docs/evidence/drives.md; `--help` for more.
    Fingerprints(measure::Args),
    /// Repeat measurements of real drives on their models, and write docs/evidence/validation.md.
    Validate(measure::Args),
    /// Measure ssdlab itself; JSON on stdout; `--help` for more.
    Bench(measure::Args),
}

fn main() -> ExitCode {
    match run(Args::parse().verb) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a verb; false means that it ran and the answer is "not good".
fn run(verb: Verb) -> Result<bool> {
    let workspace = Workspace::find()?;
    match verb {
        Verb::Test(args) => suite::run(workspace, &args, ci_from_environment()),
        Verb::Ci(args) => suite::run(workspace, &args, true),
        Verb::Format => steps::format(&workspace).map(|()| true),
        Verb::Web => web::bundle(&workspace).map(|()| true),
        Verb::Schema => schema::generate(&workspace).map(|()| true),
        Verb::Dist => dist::run(&workspace).map(|()| true),
        Verb::Release => release::run(&workspace).map(|()| true),
        Verb::Note => release::note(&workspace).map(|()| true),
        Verb::Demo => show::demo::run(&workspace).map(|()| true),
        Verb::Site(args) => show::site::run(&workspace, &args).map(|()| true),
        Verb::Screens(args) => show::screens::run(&workspace, &args).map(|()| true),
        Verb::Fuzz(args) => fuzz::run(&workspace, &args).map(|()| true),
        Verb::Mutants(args) => mutants::run(&workspace, &args),
        Verb::Fingerprints(args) => measure::truth(&workspace, "fingerprints", &args),
        Verb::Validate(args) => measure::truth(&workspace, "validate", &args),
        Verb::Bench(args) => measure::speed(&workspace, &args),
    }
}
