//! `ssdlab run --resume`: the rest of an earlier call, by its recorded request. Confirmations must
//! be typed again.
//!
//! Every run of a call contains the requests for all of them, so that any one leads to those that
//! ended early or never began. `run::session` decides which parts of a run remain valid.

use std::path::{Path, PathBuf};
use std::slice;

use ::target::TargetSpec;
use result::schema::{BESIDE, Request, Run, RunStatus};
use result::store::{self, RunDir, resolve_run};
use run::RunError;
use session::job::{Job, Origin, plan};
use session::request::to_run;

use crate::args::{Format, JobsArg, ParallelArg};
use crate::job::report::Terms;
use crate::job::{Task, carry_out};
use crate::prepare::{self, Inspection, Requirements};
use crate::request::{self, command};
use crate::ui::out::talk;

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
    /// Real targets at the same time.
    pub parallel: ParallelArg,
}

pub fn run(args: &ResumeArgs) -> anyhow::Result<u8> {
    let dir = resolve_run(&args.library, &args.run)?;
    let named = RunDir::open(&dir)?;
    named.check()?;
    // A run without a parent is in the working directory.
    let library = dir.parent().filter(|parent| !parent.as_os_str().is_empty());
    let library = library.unwrap_or(Path::new(".")).to_owned();
    let recorded = recorded(&library, &named)?;
    let Some(first) = recorded.first() else {
        return Err(RunError::Usage(format!("{} holds no request", dir.display())).into());
    };
    let (open, complete): (Vec<_>, Vec<_>) = recorded.iter().partition(|task| task.is_open());
    if !args.quiet && open.is_empty() {
        talk!("every run of this call is complete; there is nothing to continue");
    }
    // An --erase for a completed target is still valid.
    let is_left = |word: &&String| is_named(&open, word) || !is_named(&complete, word);
    let erase: Vec<_> = args.erase.iter().filter(is_left).cloned().collect();
    let requirements = Requirements {
        erase: &erase,
        erase_signatures: args.erase_signatures,
        library: Some(&library),
        parallel: args.parallel.parallel || was_parallel(&recorded, &open),
        ..first.requirements
    };
    let inspection = prepare::inspect(specs(&open), requirements)?;
    tell_targets(&inspection, &dir);
    let tasks = recorded.iter().map(|task| task.task(&inspection));
    let tasks = tasks.collect::<Result<Vec<_>, RunError>>()?;
    let terms = Terms {
        library: &library,
        jobs: args.jobs.jobs,
        seed: first.request.seed,
        expected: &[],
        quiet: args.quiet,
        format: args.format,
    };
    carry_out(&terms, &tasks, &prepare::hold(inspection)?)
}

/// Whether the call measured real targets at the same time, and several of them are left.
fn was_parallel(recorded: &[RecordedRun], open: &[&RecordedRun]) -> bool {
    let earlier = recorded.iter().filter_map(|task| task.origin.earlier.as_ref());
    let mut environments = earlier.map(|dir| &dir.run().environment);
    let real = specs(open).into_iter().filter(|spec| !spec.kind().is_simulated());
    environments.any(|environment| environment.contains_key(BESIDE[0])) && real.count() > 1
}

/// A run of the continued call.
struct RecordedRun {
    request: Request,
    spec: TargetSpec,
    requirements: Requirements<'static>,
    origin: Origin,
}

impl RecordedRun {
    /// Reads a request back.
    ///
    /// # Errors
    /// [`RunError::Usage`] for a value that no call could have requested.
    fn new(request: Request, origin: Origin) -> Result<Self, RunError> {
        let (spec, requirements) = requirements(&request).map_err(|error| {
            let command = command(&request);
            RunError::Usage(format!(
                "the run says that `{command}` repeats it, which cannot be used: {error}"
            ))
        })?;
        Ok(Self { request, spec, requirements, origin })
    }

    fn is_open(&self) -> bool {
        let earlier = self.origin.earlier.as_ref();
        earlier.is_none_or(|dir| dir.run().status != RunStatus::Complete)
    }

    /// The task of the run; an error if the earlier run cannot be continued.
    fn task(&self, inspection: &Inspection) -> Result<Task, RunError> {
        let Self { request, spec, origin, .. } = self;
        if let Some(earlier) = origin.earlier.clone().filter(|_| !self.is_open()) {
            return Ok(Task::Complete(Box::new(earlier)));
        }
        let target = inspection.target(spec)?;
        let plan = plan(request, target)?;
        let continued =
            run::Request { resume: origin.earlier.clone(), ..to_run(request, PathBuf::new())? };
        run::session::check_continuation(&continued, &plan, &target.identity)?;
        let job = Job::new(request.clone(), &plan, target);
        Ok(Task::Open(Box::new(job), Box::new(origin.clone())))
    }
}

/// The target of a request, and its requirements without confirmations.
fn requirements(request: &Request) -> anyhow::Result<(TargetSpec, Requirements<'static>)> {
    let run::Request { test, workers, .. } = to_run(request, PathBuf::new())?;
    let requirements = Requirements {
        write: test.writes_in(request.read_only),
        read_only: request.read_only,
        purge: request.purge.as_deref().map(str::parse).transpose()?,
        engine: request.engine.parse()?,
        workers,
        ..Requirements::READ
    };
    Ok((request.target.parse()?, requirements))
}

/// Every run of the call that contains `named`, with its last attempt.
fn recorded(library: &Path, named: &RunDir) -> Result<Vec<RecordedRun>, RunError> {
    let Run { request: Some(own), invocation, left_out, .. } = named.run() else {
        return Err(no_request(named.run()));
    };
    let requests = invocation.as_ref().map_or(slice::from_ref(own), |call| &call.requests);
    let one = |request: &Request| {
        let earlier = newest(library, named.run(), request)
            .or_else(|| (own == request).then(|| named.clone()));
        let (left_out, about) = (left_out.clone(), named.run().about.clone());
        let invocation = invocation.clone();
        let origin = Origin { invocation, earlier, left_out, about, ..Origin::default() };
        RecordedRun::new(request.clone(), origin)
    };
    requests.iter().map(one).collect()
}

/// Another version of ssdlab, which may have other defaults, continues no run anyway.
fn no_request(run: &Run) -> RunError {
    RunError::Usage(format!(
        "{} cannot be continued: it is by {}, which stored no request; run it anew: {}",
        run.run_id, run.tool_version, run.command
    ))
}

/// The targets of these runs, each once.
fn specs(tasks: &[&RecordedRun]) -> Vec<TargetSpec> {
    let mut specs: Vec<TargetSpec> = Vec::new();
    for task in tasks {
        if !specs.contains(&task.spec) {
            specs.push(task.spec.clone());
        }
    }
    specs
}

fn is_named(tasks: &[&RecordedRun], word: &str) -> bool {
    tasks.iter().any(|task| io::open::is_named_by(&task.spec, word))
}

/// Nobody typed these targets in this call, so they are printed even with `--quiet`.
fn tell_targets(inspection: &Inspection, dir: &Path) {
    for target in inspection.targets() {
        if !target.spec.kind().is_simulated() {
            let (run_json, name) = (dir.join("run.json"), target.name());
            talk!("{} names the target: {name}", run_json.display());
        }
    }
}

/// The last run by this request in the call that contains `named`.
fn newest(library: &Path, named: &Run, request: &Request) -> Option<RunDir> {
    let call = named.invocation.as_ref()?;
    let entries = store::list(library).ok()?;
    let of_call = entries.into_iter().filter_map(|entry| entry.run.ok()).filter(|dir| {
        let run = dir.run();
        request::is_of(run, request)
            && run.invocation.as_ref().is_some_and(|other| other.id == call.id)
    });
    of_call.max_by_key(|dir| dir.run().started_unix_ns)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::commands::run::RunCommand;
    use crate::commands::{Args, Command};
    use crate::request::{is_of, of};

    /// The request of the first run of a call.
    fn asked(words: &[String]) -> Request {
        let Command::Run(RunCommand::New(args)) = Args::try_parse_from(words).unwrap().command
        else {
            panic!("{words:?}");
        };
        of(&args, &prepare::parse(&args.test.targets).unwrap()[0], args.test.spans()[0])
    }

    fn words(text: &[&str]) -> Vec<String> {
        text.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_request_survives_the_result_the_call_that_continues_it_and_the_command() {
        for text in [
            "ssdlab run consistency null: --seed 1",
            "ssdlab run consistency sim:ideal?scale=1/64 --spare 25% --set duration=60s --set steady_from=9s \
             --purge deallocate --meter hwmon:ina219/in0 --seed 18446744073709551615",
            "ssdlab run corners /dev/nvme0n1 --span 4GiB --seed 7 --workers 4 --cpu pinned --engine uring,sqpoll \
             --ios slowest:100",
            "ssdlab run latency /dev/sda --spare 1/3 --seed 0 --cpu free --engine sync",
        ] {
            let request = asked(&words(&text.split_whitespace().collect::<Vec<_>>()));
            let json = serde_json::to_string(&request).unwrap();
            let stored: Request = serde_json::from_str(&json).unwrap();
            let recorded = RecordedRun::new(stored, Origin::default()).unwrap();
            assert_eq!(recorded.request, request, "{text}");
            let typed = shlex::split(&command(&request)).unwrap();
            assert_eq!(asked(&typed), request, "{text}");
            let plain = command(&request).replace('\'', "");
            assert_eq!(plain, text.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }

    #[test]
    fn a_command_is_quoted_for_a_shell() {
        let trace = "trace=a trace of 'Jürgen' \"§1\" $(reboot) \\ 雪.csv";
        let target = "file:/tmp/it's a disk?size=16MiB";
        let typed = ["ssdlab", "run", "replay", target, "--set", trace, "--seed", "1"];
        let request = asked(&words(&typed));
        assert_eq!(shlex::split(&command(&request)).unwrap(), typed);
    }

    #[test]
    fn a_stored_request_that_nobody_could_have_made_is_refused() {
        let request = asked(&words(&["ssdlab", "run", "consistency", "null:"]));
        let wrong = [
            Request { test: "consistancy".to_owned(), ..request.clone() },
            Request { target: "nowhere".to_owned(), ..request.clone() },
            Request { spare: Some("120%".to_owned()), ..request.clone() },
            Request { purge: Some("magic".to_owned()), ..request.clone() },
            Request { meter: Some("magic".to_owned()), ..request.clone() },
            Request { workers: 0, ..request.clone() },
            Request { workers: u32::MAX, ..request.clone() },
            Request { cpu: "magic".to_owned(), ..request.clone() },
            Request { engine: "magic".to_owned(), ..request.clone() },
            Request { ios: Some("magic".to_owned()), ..request.clone() },
        ];
        for wrong in wrong {
            let refused = RecordedRun::new(wrong, Origin::default()).err();
            assert!(
                matches!(&refused, Some(RunError::Usage(text)) if text.contains("cannot be used")),
                "{refused:?}"
            );
        }
    }

    #[test]
    fn a_run_of_an_older_version_is_known_by_its_command() {
        let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../result/tests/compat/v2/run.json");
        let text = std::fs::read_to_string(example).unwrap();
        let run: Run = serde_json::from_str(&text).unwrap();
        let request = asked(&words(&["ssdlab", "run", "consistency", "null:"]));
        assert_eq!(run.request, None);
        assert!(!is_of(&run, &request));
        let same = Run { command: command(&request), ..run };
        assert!(is_of(&same, &request));
        let other = Request { seed: 2, ..request.clone() };
        assert!(!is_of(&Run { request: Some(other), ..same }, &request), "the request decides");
    }

    #[test]
    fn a_run_that_only_reads_is_continued_without_the_right_to_write() {
        for (test, read_only, write) in
            [("corners", true, false), ("corners", false, true), ("trim", true, true)]
        {
            let plain = session::request::plain(test, "file:/tmp/data?size=1MiB");
            let (_, requirements) = requirements(&Request { read_only, ..plain }).unwrap();
            assert_eq!((requirements.write, requirements.read_only), (write, read_only), "{test}");
        }
    }
}
