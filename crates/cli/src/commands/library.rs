//! `ssdlab library`: the runs of a library, and what is made of them.

pub mod build;
pub mod export;
pub mod import;
pub mod list;
pub mod note;
pub mod push;
pub mod rm;
pub mod serve;
pub mod site;

use clap::Subcommand;

use build::BuildArgs;
use export::ExportArgs;
use import::ImportCommand;
use list::ListArgs;
use note::NoteArgs;
use push::PushArgs;
use rm::RmArgs;
use serve::ServeArgs;
use site::SiteArgs;

const EXAMPLES: &str = "\
Examples:
  ssdlab library list --drive 840
  ssdlab library import fio results.json
  ssdlab library build --quick --scale 1/64 --library peers
  ssdlab library serve";

/// The commands for libraries.
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub enum LibraryCommand {
    /// List the runs of a library
    List(ListArgs),
    /// Change label, remark and tags of a run
    Note(NoteArgs),
    /// Remove runs
    Rm(RmArgs),
    /// Simulate the suite for every drive model, so that a drive is seen among its peers
    Build(BuildArgs),
    /// Read results of other programs into run directories
    #[command(subcommand)]
    Import(ImportCommand),
    /// Write a run in the format of another program, or its graph
    Export(ExportArgs),
    /// Serve a library to web browsers: the Bench
    Serve(ServeArgs),
    /// Write the Bench of a library as plain files for any web host
    Site(SiteArgs),
    /// Send runs to a server of a library
    Push(PushArgs),
}

pub fn run(command: &LibraryCommand) -> anyhow::Result<u8> {
    match command {
        LibraryCommand::List(args) => list::run(args),
        LibraryCommand::Note(args) => note::run(args),
        LibraryCommand::Rm(args) => rm::run(args),
        LibraryCommand::Build(args) => build::run(args),
        LibraryCommand::Import(command) => import::run(command),
        LibraryCommand::Export(args) => export::run(args),
        LibraryCommand::Serve(args) => serve::run(args),
        LibraryCommand::Site(args) => site::run(args),
        LibraryCommand::Push(args) => push::run(args),
    }
}
