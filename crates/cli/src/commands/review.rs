//! `ssdlab review`: the whole suite on each target, and one report.
//!
//! Every test begins with its own purge, so that their order changes no figure; the page has the
//! order of a reader's questions. Tests that a target cannot do are omitted with the reason, and the
//! rest continues. With `--resume`, a run directory that the same command has completed replaces its
//! run.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use ::target::{TargetError, TargetSpec};
use base::text::hanging;
use clap::Args as ClapArgs;
use result::report::{Page, Report, build};
use result::schema::{Run, VerdictOutcome};
use result::store::RunDir;
use run::RunError;
use run::suite::Review;
use session::job::Origin;
use session::pool::Limits;

use crate::args::heading;
use crate::args::{Format, ParallelArg, SuiteArgs};
use crate::failure::{EXIT_DONE, EXIT_VERDICT, Failure};
use crate::inputs::Inputs;
use crate::job::Call;
use crate::job::report::exit_code;
use crate::output_file::OutputFile;
use crate::page::context;
use crate::page::subject;
use crate::page::words::{self, Words};
use crate::parts::{EarlierRuns, Part, carry_out, parts, without};
use crate::prepare::{self, Requirements};
use crate::ui::out::{COLUMNS, data, talk};
use crate::ui::progress::Progress;
use crate::ui::table::{bytes, seconds};
use crate::{cost, page, stop};

const EXAMPLES: &str = "\
Examples:
  ssdlab review sim:samsung-840-pro-256gb -o review.html
  ssdlab review /dev/nvme1n1 --erase SERIAL --full --resume
  ssdlab review /dev/sdb --erase SERIAL --only trim,corners --set trim.torture=5m
  ssdlab review /dev/nvme0n1 --read-only";

/// Arguments of `review`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct ReviewArgs {
    /// Targets, as for `run`
    #[arg(required = true, value_name = "TARGET")]
    pub targets: Vec<String>,
    /// Minutes: short tests within 4 GiB (the default for real targets)
    #[arg(long, conflicts_with_all = ["full", "pts"], help_heading = heading::TEST)]
    pub quick: bool,
    /// Every test as published (the default for simulated drives)
    #[arg(long, conflicts_with = "pts", help_heading = heading::TEST)]
    pub full: bool,
    /// The tests of the SNIA PTS instead
    #[arg(long, help_heading = heading::TEST)]
    pub pts: bool,
    /// Reuse runs that the same request has completed in this library
    #[arg(long, help_heading = heading::TEST)]
    pub resume: bool,
    /// Page to write
    #[arg(long, short, value_name = "FILE", default_value = "review.html", help_heading = heading::OUTPUT)]
    pub output: PathBuf,
    /// Heading of the page
    #[arg(long, default_value = "SSD review", help_heading = heading::WORDS)]
    pub title: String,
    /// Page from this file instead of the built-in one
    #[arg(long, value_name = "FILE", help_heading = heading::OUTPUT)]
    pub web: Option<PathBuf>,
    /// The editor's words for the page, Markdown with a heading for each chapter (see docs/reference/page.md)
    #[arg(long, value_name = "FILE", help_heading = heading::WORDS)]
    pub words: Option<PathBuf>,
    /// Without drives of the reference library beside those of the review
    #[arg(long, help_heading = heading::OUTPUT)]
    pub alone: bool,
    /// Target on which the page opens; default: the best drive
    #[arg(long, value_name = "TARGET", help_heading = heading::OUTPUT)]
    pub subject: Option<TargetSpec>,
    #[command(flatten)]
    pub parallel: ParallelArg,
    #[command(flatten)]
    pub suite: SuiteArgs,
}

/// The first line of a quick review.
const QUICK: &str =
    "A quick review: minutes on a part of the drive. It ranks no steady state; --full measures it.";

pub fn run(args: &ReviewArgs) -> anyhow::Result<u8> {
    let suite = &args.suite;
    let parallel = args.parallel.parallel;
    let requirements = Requirements { parallel, ..prepare::of_suite(suite) };
    let inspection = prepare::inspect(prepare::parse(&args.targets)?, requirements)?;
    inspection.targets().iter().try_for_each(|target| refuse_null(&target.spec))?;
    refuse_other_subject(args, inspection.targets().iter().map(|target| &target.spec))?;
    let (parts, mut left_out) = parts(suite, |spec| form(args, spec), &inspection)?;
    refuse_empty(&parts, &left_out)?;
    let inputs = inputs(args)?;
    // Before hours are spent on what it shows.
    let page = Form {
        page: page::load_page(args.web.as_deref())?,
        words: Words::read(args.words.as_deref())?,
    };
    OutputFile::check(&args.output, "-o", &inputs)?;
    let completed = if args.resume {
        EarlierRuns::read(&suite.common.library, |_| true)
    } else {
        EarlierRuns::default()
    };
    let is_open = |spec: &TargetSpec| {
        parts.iter().any(|part| &part.job.spec == spec && completed.of(part).is_none())
    };
    let inspection = inspection.only(is_open);
    if !suite.execution.quiet {
        prepare::tell_links(&inspection);
    }
    let held = prepare::hold(inspection)?;
    announce(args, &parts, &left_out);
    let interrupted = stop::button()?;
    let progress = Progress::new(suite.execution.quiet);
    let limits = Limits::new(suite.jobs.jobs);
    let call = Call {
        library: &suite.common.library,
        held: &held,
        interrupted: &interrupted,
        progress: &progress,
    };
    let about = suite.execution.about.about();
    let origin = Origin { left_out: left_out.clone(), about, ..Origin::default() };
    let mut runs: Vec<(PathBuf, Run)> = Vec::new();
    let mut failures = Vec::new();
    let carried = carry_out(&parts, &completed, &origin, limits, &call);
    for (part, carried) in parts.iter().zip(carried) {
        match carried {
            None => {}
            Some(Ok(outcome)) => {
                let failure = outcome.failure.map(anyhow::Error::from);
                failures.extend(failure.map(|error| Failure::from_error(&error)));
                runs.push((outcome.dir, outcome.run));
            }
            Some(Err(error)) => {
                let failure = Failure::from_error(&error);
                left_out.push(without(&part.job.spec, &part.job.request.test, &failure.message));
                failures.push(failure);
            }
        }
    }
    progress.finish();
    let report = write_page(args, &inputs, &page, (&runs, &left_out), &mut failures);
    print(args, &runs, &left_out, &failures, report.as_deref());
    let says_no = |run: &Run| {
        run.verdict.as_ref().is_some_and(|verdict| verdict.outcome == VerdictOutcome::Fail)
    };
    let code = exit_code(&failures, interrupted.load(Ordering::Relaxed));
    let verdict_failed = code == EXIT_DONE && runs.iter().any(|(_, run)| says_no(run));
    Ok(if verdict_failed { EXIT_VERDICT } else { code })
}

/// The form for a target: the short one for real drives, unless the user chose.
fn form(args: &ReviewArgs, spec: &TargetSpec) -> Review {
    let is_quick = args.quick || !args.full && !spec.kind().is_simulated();
    match (args.pts, is_quick) {
        (true, _) => Review::Pts,
        (false, true) => Review::Quick,
        (false, false) => Review::Full,
    }
}

/// Refuses the null target: its data tells nothing about any drive.
fn refuse_null(spec: &TargetSpec) -> Result<(), RunError> {
    if !spec.kind().is_harness_only() {
        return Ok(());
    }
    Err(RunError::Usage(format!(
        "`{spec}` is no drive to review: it does nothing, at once; `ssdlab selftest` measures what the harness itself \
         costs, and `ssdlab run TEST {spec}` does a single test"
    )))
}

/// Refuses a subject that the page will not have, before hours are spent on the others.
fn refuse_other_subject<'a>(
    args: &ReviewArgs,
    mut targets: impl Iterator<Item = &'a TargetSpec>,
) -> Result<(), RunError> {
    match &args.subject {
        Some(subject) if !targets.any(|target| target == subject) => Err(RunError::Usage(format!(
            "--subject: `{subject}` is no target of this review; expected one of: {}",
            args.targets.join(", ")
        ))),
        _ => Ok(()),
    }
}

/// Refuses a review without a run: its page would have no figure.
fn refuse_empty(parts: &[Part], left_out: &[String]) -> Result<(), RunError> {
    if !parts.is_empty() {
        return Ok(());
    }
    let reasons = left_out.join("; ");
    Err(RunError::Usage(format!(
        "nothing is left of this review; every test of it was left out: {reasons}"
    )))
}

/// The inputs that the page must not replace.
fn inputs(args: &ReviewArgs) -> Result<Inputs, TargetError> {
    let inputs = Inputs::default().library(&args.suite.common.library).page(args.web.as_deref());
    let inputs = inputs.facts(&args.suite.execution.facts).words(args.words.as_deref());
    let add = |inputs: Inputs, text: &String| Ok(inputs.target(&text.parse()?));
    args.targets.iter().try_fold(inputs, add)
}

/// Prints the runs on stderr before the first change: the tests of each target, with the number of their runs.
fn announce(args: &ReviewArgs, parts: &[Part], left_out: &[String]) {
    if args.suite.execution.quiet {
        return;
    }
    for own in parts.chunk_by(|a, b| a.job.spec == b.job.spec) {
        let spec = &own[0].job.spec;
        let clock = if spec.kind().is_simulated() { " of virtual time" } else { "" };
        let cost = cost::sum(own.iter().map(|part| part.cost));
        let (time, written) = (seconds(cost.time.unwrap_or_default()), bytes(cost.written_bytes));
        talk!("{spec}: {} runs, about {time}{clock}, about {written} written", own.len());
        let tests = own.chunk_by(|a, b| a.job.request.test == b.job.request.test).map(|runs| {
            let times = if runs.len() > 1 { format!(" ({})", runs.len()) } else { String::new() };
            format!("{}{times}", runs[0].job.request.test)
        });
        talk!("{}", hanging("    ", &tests.collect::<Vec<_>>().join(", "), COLUMNS));
    }
    let (simulated, real): (Vec<&Part>, Vec<&Part>) =
        parts.iter().partition(|part| part.job.demand.is_simulated);
    let time = |parts: &[&Part]| {
        seconds(cost::sum(parts.iter().map(|part| part.cost)).time.unwrap_or_default())
    };
    let mut times = Vec::new();
    if !real.is_empty() {
        times.push(format!("about {} on real targets", time(&real)));
    }
    if !simulated.is_empty() {
        let demands: Vec<_> = simulated.iter().map(|part| part.job.demand).collect();
        let wait = seconds(Limits::new(args.suite.jobs.jobs).time(&demands));
        times.push(format!("about {} of virtual time ({wait} to wait here)", time(&simulated)));
    }
    let times = times.join(" and ");
    let written = bytes(cost::sum(parts.iter().map(|part| part.cost)).written_bytes);
    talk!("{} runs, {times}, about {written} written", parts.len());
    left_out.iter().for_each(|reason| talk!("left out: {reason}"));
}

/// The page without its figures, and the editor's words for it.
struct Form {
    page: Page,
    words: Option<Words>,
}

/// Writes the page; if that fails, the runs remain.
fn write_page(
    args: &ReviewArgs,
    inputs: &Inputs,
    form: &Form,
    (runs, left_out): (&[(PathBuf, Run)], &[String]),
    failures: &mut Vec<Failure>,
) -> Option<String> {
    let make = |failures: &mut Vec<Failure>| -> anyhow::Result<String> {
        let dirs = runs.iter().map(|(dir, _)| RunDir::open(dir)).collect::<Result<Vec<_>, _>>()?;
        // The runs know what was left out before they began, not what failed to begin since.
        let mut document = Report { left_out: left_out.to_owned(), ..build(&args.title, &dirs)? };
        if !args.alone {
            context::add(&mut document)?;
        }
        let subject = args.subject.as_ref().map(ToString::to_string);
        subject::open_on(&mut document, subject.as_deref())?;
        // A page without words is better than none.
        let of_file = form.words.iter().map(|words| words.add_to(&mut document));
        let missing: Vec<_> = of_file.filter_map(Result::err).collect();
        let of_runs = words::add_of_runs(&mut document, &dirs).err();
        failures.extend(missing.iter().chain(&of_runs).map(Failure::from_io));
        page::write_page(&args.output, "-o", inputs, &form.page, &document)
    };
    if runs.is_empty() {
        return None;
    }
    make(failures).map_err(|error| failures.push(Failure::from_error(&error))).ok()
}

fn print(
    args: &ReviewArgs,
    runs: &[(PathBuf, Run)],
    left_out: &[String],
    failures: &[Failure],
    report: Option<&str>,
) {
    failures.iter().for_each(|failure| talk!("error: {}", failure.message));
    if args.suite.common.format == Format::Json {
        let dirs: Vec<_> = runs.iter().map(|(dir, _)| dir).collect();
        let verdicts: Vec<_> = runs.iter().filter_map(|(_, run)| run.verdict.as_ref()).collect();
        let document = serde_json::json!({
            "run_dirs": dirs, "report": report, "verdicts": verdicts, "left_out": left_out,
            "error": failures.first(), "errors": failures,
        });
        data!("{document}");
        return;
    }
    if runs.iter().any(|(_, run)| run.request.as_ref().is_some_and(|request| request.quick)) {
        data!("{QUICK}");
    }
    for (dir, run) in runs {
        data!("{}: {}, {}", run.target.name, run.test, run.span.variant);
        let verdict = run.verdict.iter().map(|verdict| &verdict.text);
        let findings = run.findings.iter().map(|finding| &finding.text);
        verdict.chain(findings).for_each(|text| data!("  - {text}"));
        data!("  {}", dir.display());
    }
    left_out.iter().for_each(|reason| data!("left out: {reason}"));
    report.iter().for_each(|path| data!("{path}"));
}
