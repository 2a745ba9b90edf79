//! `ssdlab run`: one run, or several, for each target and each span.

pub mod resume;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use result::schema::Invocation;
use resume::ResumeArgs;
use run::RunError;
use session::job::{Job, Origin, plan, unix_ns};

use crate::args::heading;
use crate::args::{JobsArg, ParallelArg, RunArgs};
use crate::job::report::Terms;
use crate::job::{Task, carry_out};
use crate::prepare::{self, Inspection};
use crate::{quick, request};

const EXAMPLES: &str = "\
Examples:
  ssdlab run consistency /dev/nvme1n1 --erase SERIAL --spare default,25%
  ssdlab run trim 'sim:sandisk-extreme-ii-480gb?scale=1/64' --set torture=5m
  ssdlab run load-latency /dev/nvme1n1 --erase SERIAL --quick
  ssdlab run consistency /dev/nvme1n1 /dev/nvme2n1 --erase SERIAL --erase SERIAL --parallel
  ssdlab run workload 'file:disk?size=8GiB' --workload oltp --expect 'latency_ns_p99 <= 5ms'
  ssdlab run --resume  # the rest of the latest call";

/// Id and name of the option that separates the two forms.
const RESUME: &str = "resume";

/// Arguments of each call; a continued run takes all others from its request.
const OF_EACH_CALL: [&str; 7] =
    ["erase", "erase_signatures", "library", "quiet", "format", "jobs", "parallel"];

/// The two forms of `run`.
#[derive(Debug)]
pub enum RunCommand {
    /// A test from its beginning.
    New(Box<RunArgs>),
    /// The rest of earlier runs.
    Resume(ResumeArgs),
}

impl Args for RunCommand {
    fn augment_args(command: Command) -> Command {
        let command = RunArgs::augment_args(command);
        let ids = command.get_arguments().map(Arg::get_id);
        let of_request: Vec<_> =
            ids.filter(|id| !OF_EACH_CALL.contains(&id.as_str())).cloned().collect();
        let optional = |arg: Arg| arg.required(false).required_unless_present(RESUME);
        let resume = Arg::new(RESUME)
            .long(RESUME)
            .help_heading(heading::TEST)
            .value_name("RUN")
            .num_args(0..=1)
            .default_missing_value("latest")
            .conflicts_with_all(of_request)
            .help(
                "Continue the runs of an earlier call that ended early or never began: path or name of \
                 one of them; without, the latest run of the library",
            );
        let command = command.arg(resume).after_help(EXAMPLES);
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
            parallel: ParallelArg { parallel: matches.get_flag("parallel") },
        }))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

pub fn run(args: &RunArgs) -> anyhow::Result<u8> {
    let inspection = prepare::inspect(prepare::parse(&args.test.targets)?, prepare::of_test(args))?;
    let args = &quick::filled(args, &inspection)?;
    let planned = jobs(args, &inspection)?;
    let jobs = repeated(args, &planned);
    let requests: Vec<_> = jobs.iter().map(|job| job.request.clone()).collect();
    let id = format!("{:x}-{:x}", unix_ns(), std::process::id());
    let commands = requests.iter().map(request::command).collect();
    let invocation = Some(Invocation { id, commands, requests });
    let about = args.execution.about.about();
    let origin = Origin { invocation, about, ..Origin::default() };
    let open = |job| Task::Open(Box::new(job), Box::new(origin.clone()));
    let tasks: Vec<_> = jobs.into_iter().map(open).collect();
    if !args.execution.quiet {
        prepare::tell_links(&inspection);
    }
    carry_out(&terms(args), &tasks, &prepare::hold(inspection)?)
}

fn terms(args: &RunArgs) -> Terms<'_> {
    Terms {
        library: &args.test.common.library,
        jobs: args.jobs.jobs,
        seed: args.test.common.seed,
        expected: &args.repeat.expect,
        quiet: args.execution.quiet,
        format: args.test.common.format,
    }
}

/// Every target with every span, planned before the first one starts.
fn jobs(args: &RunArgs, inspection: &Inspection) -> Result<Vec<Job>, RunError> {
    let mut jobs = Vec::new();
    for target in inspection.targets() {
        for span in args.test.spans() {
            let request = request::of(args, &target.spec, span);
            let plan = plan(&request, target)?;
            jobs.push(Job::new(request, &plan, target));
        }
    }
    Ok(jobs)
}

/// Every repetition of these jobs in its turn, each with a seed of its own.
fn repeated(args: &RunArgs, jobs: &[Job]) -> Vec<Job> {
    let one = |job: &Job, number: u32| {
        let mut job = job.clone();
        job.request.seed = job.request.seed.wrapping_add(number.into());
        job
    };
    let numbers = 0..args.repeat.repeat;
    if args.repeat.interleave {
        return numbers.flat_map(|number| jobs.iter().map(move |job| one(job, number))).collect();
    }
    jobs.iter().flat_map(|job| numbers.clone().map(move |number| one(job, number))).collect()
}
