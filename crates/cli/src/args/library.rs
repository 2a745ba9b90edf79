//! Arguments of `library`.

use std::path::PathBuf;

use base::Ratio;
use clap::{Args as ClapArgs, Subcommand};
use io::EngineChoice;
use run::{Test, Workers};

use super::repeat::AboutArgs;
use super::{CommonArgs, DriveArgs, EngineArgs, Format, JobsArg, SuiteArgs};

/// The verbs for libraries.
#[derive(Debug, Subcommand)]
pub enum LibraryCommand {
    /// Simulate the suite for every drive model, so that a drive is seen among its peers
    Build(BuildArgs),
}

impl LibraryCommand {
    /// Output on stdout.
    pub fn format(&self) -> Format {
        let Self::Build(args) = self;
        args.format
    }
}

fn parse_pattern(text: &str) -> Result<glob::Pattern, String> {
    text.parse().map_err(|error: glob::PatternError| {
        format!("{error}; expected a pattern of names such as 'samsung-*'")
    })
}

/// Arguments of `library build`.
#[derive(Debug, ClapArgs)]
pub struct BuildArgs {
    /// Only drive models whose names match, e.g. `'samsung-*'`; once for each pattern
    #[arg(long, value_name = "GLOB", value_parser = parse_pattern)]
    pub drives: Vec<glob::Pattern>,
    /// Only these tests, e.g. `consistency,trim`
    #[arg(long, value_name = "TEST", value_delimiter = ',', value_parser = super::parse_test)]
    pub tests: Vec<Test>,
    /// Minutes for each drive instead of every test as published
    #[arg(long)]
    pub quick: bool,
    /// Size of the simulated drives as a share of their models, e.g. `1/64`: less memory; figures
    /// that depend on the size are marked
    #[arg(long, value_name = "SHARE", default_value = "1")]
    pub scale: Ratio,
    /// Directory of run directories
    #[arg(long, value_name = "DIR", default_value = "ssdlab-runs")]
    pub library: PathBuf,
    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = super::whole::<u64, 0, { u64::MAX }>)]
    pub seed: u64,
    /// Only print the number of runs; simulates nothing
    #[arg(long)]
    pub plan: bool,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// No progress and no messages
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub about: AboutArgs,
    #[command(flatten)]
    pub jobs: JobsArg,
}

impl BuildArgs {
    /// The suite of each drive.
    pub fn suite(&self) -> SuiteArgs {
        let Workers { count: workers, placement: cpu } = Workers::default();
        let (library, seed, format) = (self.library.clone(), self.seed, self.format);
        SuiteArgs {
            only: self.tests.clone(),
            settings: Vec::new(),
            common: CommonArgs { purge: None, meter: None, library, seed, format },
            drive: DriveArgs {
                erase: Vec::new(),
                erase_signatures: false,
                engine: EngineArgs { workers, cpu, engine: EngineChoice::default() },
                facts: Vec::new(),
                ios: None,
                about: self.about.clone(),
                quiet: self.quiet,
            },
            jobs: self.jobs,
        }
    }
}
