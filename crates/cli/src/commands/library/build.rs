//! `ssdlab library build`: the suite for every drive model, into one library.
//!
//! It continues where it stopped: a complete run of the same request by this version on the same
//! model is not repeated. One drive comes after the other, so that a library in progress contains
//! whole drives.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use ::target::TargetSpec;
use base::{Bytes, Ratio};
use clap::Args as ClapArgs;
use io::EngineChoice;
use io::open::Inspected;
use result::reference::Reference;
use result::store::RunDir;
use run::suite::Review;
use run::{RunError, TOOL_VERSION, Test, Workers};
use session::job::Origin;
use session::pool::Limits;

use crate::args::repeat::AboutArgs;
use crate::args::{
    CommonArgs, EngineArgs, ExecutionArgs, Format, JobsArg, SuiteArgs, parse_test, whole,
};
use crate::args::{LIBRARY, heading};
use crate::failure::{EXIT_DONE, Failure};
use crate::inputs::Inputs;
use crate::job::Call;
use crate::job::report::exit_code;
use crate::output_file::OutputFile;
use crate::page::context;
use crate::parts::{EarlierRuns, Part, carry_out, parts, without};
use crate::prepare::{self, Inspection};
use crate::stop;
use crate::ui::out::{data, talk};
use crate::ui::progress::Progress;
use crate::ui::table::seconds;

/// The flag for the file with all runs.
const COMPACT: &str = "--compact";

const EXAMPLES: &str = "\
Examples:
  ssdlab library build --plan  # the number of runs, and what is left out
  ssdlab library build --drives 'samsung-*' --tests consistency,trim
  ssdlab library build --quick --scale 1/64 --library peers";

fn parse_pattern(text: &str) -> Result<glob::Pattern, String> {
    text.parse().map_err(|error: glob::PatternError| {
        format!("{error}; expected a pattern of names such as 'samsung-*'")
    })
}

/// Arguments of `library build`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct BuildArgs {
    /// Only drive models whose names match, e.g. `'samsung-*'`; once for each pattern
    #[arg(long, value_name = "GLOB", value_parser = parse_pattern, help_heading = heading::TEST)]
    pub drives: Vec<glob::Pattern>,
    /// Only these tests, e.g. `consistency,trim`
    #[arg(long, value_name = "TEST", value_delimiter = ',', value_parser = parse_test, help_heading = heading::TEST)]
    pub tests: Vec<Test>,
    /// Minutes for each drive instead of every test as published
    #[arg(long, help_heading = heading::TEST)]
    pub quick: bool,
    /// Size of the simulated drives as a share of their models, e.g. `1/64`: less memory; figures
    /// that depend on the size are marked
    #[arg(long, value_name = "SHARE", default_value = "1", help_heading = heading::TEST)]
    pub scale: Ratio,
    /// Directory of run directories
    #[arg(long, value_name = "DIR", default_value = LIBRARY, help_heading = heading::OUTPUT)]
    pub library: PathBuf,
    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = whole::<u64, 0, { u64::MAX }>, help_heading = heading::TEST)]
    pub seed: u64,
    /// File for all runs in compact form: the figures and the curve of the load. Other drives that it has stay in it
    #[arg(long, value_name = "FILE", conflicts_with = "plan", help_heading = heading::OUTPUT)]
    pub compact: Option<PathBuf>,
    /// Only print the number of runs; simulates nothing
    #[arg(long, help_heading = heading::OUTPUT)]
    pub plan: bool,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    pub format: Format,
    /// No progress and no messages
    #[arg(long, help_heading = heading::OUTPUT)]
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
            read_only: false,
            only: self.tests.clone(),
            settings: Vec::new(),
            common: CommonArgs { purge: None, meter: None, library, seed, format },
            execution: ExecutionArgs {
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

/// The runs of a library, planned.
struct Build {
    parts: Vec<Part>,
    left_out: Vec<String>,
    completed: EarlierRuns,
}

pub fn run(args: &BuildArgs) -> anyhow::Result<u8> {
    let suite = args.suite();
    let inspection =
        prepare::inspect(drives(args)?, prepare::of_runs(&suite.common, &suite.execution))?;
    let too_large = too_large(&inspection);
    let inspection = inspection.only(|spec| !too_large.iter().any(|(large, _)| large == spec));
    let form = if args.quick { Review::Quick } else { Review::Full };
    let (mut parts, mut left_out) = parts(&suite, |_| form, &inspection)?;
    left_out.extend(too_large.into_iter().map(|(_, reason)| reason));
    in_batches(&mut parts, &inspection);
    let completed = EarlierRuns::read(&args.library, |run| run.tool_version == TOOL_VERSION);
    let build = Build { parts, left_out, completed };
    announce(args, &build);
    if args.plan {
        print(args, &build, &[], &[]);
        return Ok(EXIT_DONE);
    }
    let inputs = Inputs::default().library(&args.library);
    // Before hours of simulation.
    let earlier = match &args.compact {
        Some(path) => {
            OutputFile::check(path, COMPACT, &inputs)?;
            earlier(path)?
        }
        None => None,
    };
    let held = prepare::hold(inspection)?;
    let interrupted = stop::button()?;
    let progress = Progress::new(args.quiet);
    let limits = Limits::new(args.jobs.jobs);
    let call = Call {
        library: &args.library,
        held: &held,
        interrupted: &interrupted,
        progress: &progress,
    };
    let about = args.about.about();
    let origin = Origin { left_out: build.left_out.clone(), about, ..Origin::default() };
    let carried = carry_out(&build.parts, &build.completed, &origin, limits, &call);
    progress.finish();
    let (mut dirs, mut failures) = (Vec::new(), Vec::new());
    for (part, done) in build.parts.iter().zip(carried) {
        match done {
            None => {}
            Some(Ok(outcome)) => {
                let failure = outcome.failure.map(anyhow::Error::from);
                failures.extend(failure.map(|error| Failure::from_error(&error)));
                dirs.push(outcome.dir);
            }
            Some(Err(error)) => {
                let failure = Failure::from_error(&error);
                let what = without(&part.job.spec, &part.job.request.test, &failure.message);
                failures.push(Failure { message: what, ..failure });
            }
        }
    }
    if let Some(path) = &args.compact {
        write_compact(path, &inputs, &dirs, earlier)?;
    }
    print(args, &build, &dirs, &failures);
    Ok(exit_code(&failures, interrupted.load(Ordering::Relaxed)))
}

/// The reference library that a file has, or `None` if there is no file yet.
fn earlier(path: &Path) -> anyhow::Result<Option<Reference>> {
    if !path.exists() {
        return Ok(None);
    }
    let fault = |error: &dyn std::error::Error| {
        let path = path.display();
        RunError::Usage(format!(
            "{path} is no reference library; {COMPACT} names a new file or one: {error}"
        ))
    };
    let stream = std::fs::read(path).map_err(|error| fault(&error))?;
    Ok(Some(Reference::read(&stream).map_err(|error| fault(&error))?))
}

/// Writes the complete runs of models at full size into a reference library; the other drives of the file stay.
fn write_compact(
    path: &Path,
    inputs: &Inputs,
    dirs: &[PathBuf],
    earlier: Option<Reference>,
) -> anyhow::Result<()> {
    let runs = dirs.iter().map(|dir| RunDir::open(dir)).collect::<Result<Vec<_>, _>>()?;
    let mut reference = Reference::of(sim::RESULTS_VERSION, &runs, context::fingerprint)?;
    if let Some(earlier) = earlier {
        reference = reference.over(earlier);
    }
    let stream = reference.packed()?;
    let mut file = OutputFile::create(path, COMPACT, inputs)?;
    file.write_all(&stream)?;
    file.put_in_place()?;
    let (drives, size) = (reference.models.len(), Bytes(stream.len() as u64));
    talk!("{}: {} runs of {drives} drives, {size}", path.display(), reference.runs.len());
    Ok(())
}

/// The simulated drives of the selected models.
fn drives(args: &BuildArgs) -> anyhow::Result<Vec<TargetSpec>> {
    let names = sim::model::BUILT_IN.iter().map(|(name, _)| *name);
    let is_wanted = |name: &&str| {
        args.drives.is_empty() || args.drives.iter().any(|pattern| pattern.matches(name))
    };
    let scale = if args.scale.complement().is_zero() {
        String::new()
    } else {
        format!("?scale={}", args.scale)
    };
    let texts: Vec<_> = names.filter(is_wanted).map(|name| format!("sim:{name}{scale}")).collect();
    if texts.is_empty() {
        let patterns: Vec<_> = args.drives.iter().map(glob::Pattern::as_str).collect();
        return Err(RunError::Usage(format!(
            "no drive model matches `--drives {}`; `ssdlab sim models` shows all names",
            patterns.join(" ")
        ))
        .into());
    }
    Ok(prepare::parse(&texts)?)
}

/// The drives that cannot be simulated here, each with the reason.
fn too_large(inspection: &Inspection) -> Vec<(TargetSpec, String)> {
    let obstacle = |target: &Inspected| {
        let first = target.obstacles.first()?;
        Some((target.spec.clone(), format!("{}: {first}", target.spec)))
    };
    inspection.targets().iter().filter_map(obstacle).collect()
}

/// One drive after the other.
fn in_batches(parts: &mut [Part], inspection: &Inspection) {
    for part in parts {
        let mut targets = inspection.targets().iter();
        let place = targets.position(|target| target.spec == part.job.spec);
        part.job.demand.batch = place.unwrap_or_default();
    }
}

fn announce(args: &BuildArgs, build: &Build) {
    if args.quiet {
        return;
    }
    build.left_out.iter().for_each(|reason| talk!("left out: {reason}"));
    let (runs, complete) = (build.parts.len(), build.complete());
    let open = build.parts.iter().filter(|part| build.completed.of(part).is_none());
    let demands: Vec<_> = open.map(|part| part.job.demand).collect();
    talk!(
        "{runs} runs of {} drives in {}: {complete} are complete, {} are to do, about {} to wait here",
        build.drives(),
        args.library.display(),
        demands.len(),
        seconds(Limits::new(args.jobs.jobs).time(&demands))
    );
}

impl Build {
    fn complete(&self) -> usize {
        self.parts.iter().filter(|part| self.completed.of(part).is_some()).count()
    }

    fn drives(&self) -> usize {
        let mut specs: Vec<_> = self.parts.iter().map(|part| &part.job.spec).collect();
        specs.dedup();
        specs.len()
    }
}

fn print(args: &BuildArgs, build: &Build, dirs: &[PathBuf], failures: &[Failure]) {
    failures.iter().for_each(|failure| talk!("error: {}", failure.message));
    let (runs, reused, drives) = (build.parts.len(), build.complete(), build.drives());
    match args.format {
        Format::Json => data!(
            "{}",
            serde_json::json!({
                "library": args.library, "drives": drives, "runs": runs, "runs_reused": reused,
                "run_dirs": dirs, "left_out": build.left_out,
                "error": failures.first(), "errors": failures,
            })
        ),
        Format::Text if args.plan => data!("{} runs of {drives} drives", runs - reused),
        Format::Text => {
            data!("{} of {runs} runs of {drives} drives, {reused} of them from before", dirs.len());
            data!("{}", args.library.display());
        }
    }
}
