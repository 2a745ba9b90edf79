//! The verbs that show ssdlab: a demonstration, a published library, and pictures for the documentation.

pub(crate) mod demo;
pub(crate) mod screens;
pub(crate) mod site;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use clap::Args;

use xtask::log::Log;
use xtask::proc;
use xtask::web;
use xtask::workspace::Workspace;

/// The program of a verb, and whether it simulates.
#[derive(Args)]
pub(crate) struct ProgramArgs {
    /// Program to use instead of a release build
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Simulate nothing: take the runs that the library has
    #[arg(long)]
    as_it_is: bool,
}

/// A library of simulated runs and the program that makes it.
#[derive(Clone)]
struct Library<'a> {
    workspace: &'a Workspace,
    log: Log,
    program: PathBuf,
    path: &'a Path,
}

impl<'a> Library<'a> {
    /// Builds page and program, and then the runs that the library lacks, with these options of
    /// `ssdlab library build`.
    fn build(
        workspace: &'a Workspace,
        log: Log,
        args: &ProgramArgs,
        path: &'a Path,
        options: &[&str],
    ) -> Result<Self> {
        web::bundle_if_stale(workspace)?;
        let program = match &args.program {
            Some(program) => std::path::absolute(program)?,
            None => {
                proc::stream(log, &mut workspace.build_release()?)?;
                workspace.released_ssdlab()
            }
        };
        let library = Self { workspace, log, program, path };
        if !args.as_it_is {
            let mut build = library.ssdlab(&["library", "build", "--quiet"]);
            proc::stream(log, build.args(options))?;
        }
        Ok(library)
    }

    /// A call of the program for this library, at the top of the checkout.
    fn ssdlab(&self, verb: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(verb).arg("--library").arg(self.path).current_dir(self.workspace.root());
        command
    }

    /// Writes the library as a site; returns the document that the program prints.
    fn site(&self, title: &str, options: &[&str], to: &Path) -> Result<String> {
        let mut site = self.ssdlab(&["library", "site", "--format", "json", "--title", title]);
        site.args(options).arg("--web").arg(self.workspace.path("web/dist/index.html")).arg(to);
        proc::capture(&mut site)
    }
}
