//! Arguments of `run`: a test and its targets, or `--resume` without either.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

use super::{Format, JobsArg, RunArgs};

/// Id and name of the option that separates the two forms.
const RESUME: &str = "resume";

/// Arguments that define a run; a continued run takes them from its request.
const SAID_AT_FIRST: [&str; 22] = [
    "test",
    "targets",
    "spare",
    "span",
    "purge",
    "meter",
    "ios",
    "settings",
    "quick",
    "workload",
    "seed",
    "read_only",
    "workers",
    "cpu",
    "engine",
    "facts",
    "label",
    "note",
    "tags",
    "repeat",
    "interleave",
    "expect",
];

/// The two forms of `run`.
#[derive(Debug)]
pub enum RunCommand {
    /// A test from its beginning.
    New(Box<RunArgs>),
    /// The rest of earlier runs.
    Resume(ResumeArgs),
}

/// Arguments of `run --resume`.
#[derive(Clone, Debug)]
pub struct ResumeArgs {
    /// A run of the call to continue: path, name, start of a name, or `latest`.
    pub run: String,
    /// The targets that may be erased; a confirmation of the first call no longer counts.
    pub erase: Vec<String>,
    /// Also erase recognised data: file systems, partition tables, databases, archives, ....
    pub erase_signatures: bool,
    /// Directory of run directories, to find the run by name.
    pub library: PathBuf,
    /// No progress and no messages.
    pub quiet: bool,
    /// Output on stdout.
    pub format: Format,
    /// Simulated drives at a time.
    pub jobs: JobsArg,
}

impl RunCommand {
    /// Output on stdout.
    pub fn format(&self) -> Format {
        match self {
            Self::New(args) => args.test.common.format,
            Self::Resume(args) => args.format,
        }
    }
}

impl Args for RunCommand {
    fn augment_args(command: Command) -> Command {
        let optional = |arg: Arg| arg.required(false).required_unless_present(RESUME);
        let resume = Arg::new(RESUME)
            .long(RESUME)
            .value_name("RUN")
            .num_args(0..=1)
            .default_missing_value("latest")
            .conflicts_with_all(SAID_AT_FIRST)
            .help(
                "Continue the runs of an earlier call that ended early or never began: path or name of \
                 one of them; without, the latest run of the library",
            );
        let command = RunArgs::augment_args(command).arg(resume);
        command.mut_arg("test", optional).mut_arg("targets", optional)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for RunCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let Some(run) = matches.get_one::<String>(RESUME) else {
            return RunArgs::from_arg_matches(matches).map(|args| Self::New(Box::new(args)));
        };
        Ok(Self::Resume(ResumeArgs {
            run: run.clone(),
            erase: matches.get_many("erase").into_iter().flatten().cloned().collect(),
            erase_signatures: matches.get_flag("erase_signatures"),
            library: matches.get_one("library").cloned().unwrap_or_default(),
            quiet: matches.get_flag("quiet"),
            format: matches.get_one("format").copied().unwrap_or_default(),
            jobs: JobsArg { jobs: matches.get_one("jobs").copied() },
        }))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
