//! `ssdlab review`: the whole suite on each target, one after the other, and one report.
//!
//! Every test begins with its own purge, so that their order changes no figure; it is the order of
//! a reader's questions. Tests that a target cannot do are omitted with the reason, and the rest
//! continues. With `--resume`, a run directory that the same command has completed replaces its
//! run.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use ::target::TargetSpec;
use ::target::{Identity, IoError};
use base::{Bytes, Nanos};
use device::meter::MeterSpec;
use io::open::Described;
use result::report::{Page, Report, build};
use result::schema::{self, Run, RunStatus, VerdictOutcome};
use result::store::{self, RunDir};
use run::suite::{Review, ReviewEntry, in_proportion};
use run::{RunError, SpanRequest, Test};

use crate::args::{CommonArgs, Format, ReviewArgs, RunArgs, TestSetting};
use crate::cmd::plan::{self, Cost};
use crate::cmd::report;
use crate::cmd::run::{Call, Job, Origin, exit_code, one_of};
use crate::failure::{EXIT_DONE, EXIT_VERDICT, Failure};
use crate::inputs::Inputs;
use crate::output_file::OutputFile;
use crate::prepare::{self, Looked, Prepared, Wish};
use crate::ui::out::{data, talk};
use crate::ui::progress::Progress;
use crate::ui::table::{bytes, seconds};
use crate::{request, stop};

/// Span of a quick review.
const QUICK_SPAN: Bytes = Bytes(4 << 30);

/// One run of a review.
struct Part {
    args: RunArgs,
    job: Job,
    cost: Cost,
    capacity_bytes: u64,
}

impl Part {
    fn request(&self) -> schema::Request {
        request::of(&self.args, &self.job.spec, self.job.span)
    }
}

pub fn run(args: &ReviewArgs) -> anyhow::Result<u8> {
    let wish = Wish::of_runs(&args.common, &args.drive);
    let looked = prepare::look(prepare::parse(&args.targets)?, wish)?;
    let (parts, mut left_out) = parts(args, &looked)?;
    refuse_empty(&parts, &left_out)?;
    let inputs = inputs(args)?;
    // Before hours are spent on what it shows.
    let page = report::load_page(args.web.as_deref())?;
    OutputFile::check(&args.output, &inputs)?;
    let is_open = |spec: &TargetSpec| {
        parts.iter().any(|part| &part.job.spec == spec && completed(args, part).is_none())
    };
    let prepared = looked.only(is_open).hold()?;
    announce(args, &parts, &left_out);
    let interrupted = stop::button()?;
    let progress = Progress::new(args.drive.quiet);
    let mut runs: Vec<(PathBuf, Run)> = Vec::new();
    let mut failures = Vec::new();
    for part in &parts {
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
        match carry_out(args, part, &left_out, &prepared, &interrupted, &progress) {
            Ok((dir, run, failure)) => {
                failures.extend(failure.map(|error| Failure::from_error(&error)));
                runs.push((dir, run));
            }
            Err(error) => {
                let failure = Failure::from_error(&error);
                left_out.push(without(&part.job.spec, part.args.test.test, &failure.message));
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

/// All runs, planned for each target, and the omissions with their reasons.
fn parts(args: &ReviewArgs, looked: &Looked) -> anyhow::Result<(Vec<Part>, Vec<String>)> {
    let (mut parts, mut left_out) = (Vec::new(), Vec::new());
    for target in looked.targets() {
        let prepare::Candidate { spec, described } = target;
        refuse_null(spec)?;
        let quick = args.quick || !args.full && !spec.kind().is_simulated();
        let review = match (args.pts, quick) {
            (true, _) => Review::Pts,
            (false, true) => Review::Quick,
            (false, false) => Review::Full,
        };
        let small = described.identity.capacity_bytes <= QUICK_SPAN.0;
        let whole = if quick && !args.pts && !small {
            SpanRequest::Bytes(QUICK_SPAN)
        } else {
            SpanRequest::Default
        };
        refuse_unknown(args, review)?;
        let wanted = |(test, _): &(Test, _)| args.only.is_empty() || args.only.contains(test);
        for (test, entry) in entries(review).filter(wanted) {
            let spare = |share: &str| share.parse().map(SpanRequest::Spare);
            let span = entry.spare.map_or(Ok(whole), spare)?;
            let meter = args.common.meter.clone().filter(|_| !spec.kind().is_simulated());
            let settings = fitting(entry.settings, &described.identity);
            let run_args = run_args(args, test, &settings, meter);
            let request = plan::request(&run_args.test, span);
            match run::session::plan(&request, &described.identity, &described.limits) {
                Ok(planned) => {
                    let job = Job::new(spec.clone(), span, &planned);
                    let overwritten = overwritten_bytes(args, described, &planned);
                    let cost = plan::total_cost(&planned, overwritten);
                    let capacity_bytes = described.identity.capacity_bytes;
                    parts.push(Part { args: run_args, job, cost, capacity_bytes });
                }
                Err(error) => left_out.push(without(spec, test, &error.to_string())),
            }
        }
    }
    Ok((parts, left_out))
}

/// The runs of a review, in the order of the suite.
fn entries(review: Review) -> impl Iterator<Item = (Test, &'static ReviewEntry)> {
    let of_test = |test: Test| test.reviews().iter().map(move |entry| (test, entry));
    Test::ALL.into_iter().flat_map(of_test).filter(move |(_, entry)| entry.review == review)
}

/// An omitted test, as a sentence.
fn without(spec: &TargetSpec, test: Test, reason: &str) -> String {
    format!("{spec}: {}: {reason}", test.name())
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
fn inputs(args: &ReviewArgs) -> Result<Inputs, IoError> {
    let inputs = Inputs::default().library(&args.common.library).page(args.web.as_deref());
    let inputs = inputs.facts(&args.drive.facts);
    let add = |inputs: Inputs, text: &String| Ok(inputs.target(&text.parse()?));
    args.targets.iter().try_fold(inputs, add)
}

/// Refuses a test that this form does not contain, or a parameter that its test does not have,
/// instead of ignoring it.
fn refuse_unknown(args: &ReviewArgs, review: Review) -> anyhow::Result<()> {
    let asked = args.only.iter().copied().chain(args.settings.iter().map(|setting| setting.0));
    for test in asked {
        if !entries(review).any(|(known, _)| known == test) {
            let mut names: Vec<_> = entries(review).map(|(known, _)| known.name()).collect();
            names.dedup();
            let (name, names) = (test.name(), names.join(", "));
            return Err(RunError::Usage(format!(
                "this form of the review has no test `{name}`; it has {names}"
            ))
            .into());
        }
    }
    for setting in &args.settings {
        let TestSetting(test, key, value) = setting;
        if !args.only.is_empty() && !args.only.contains(test) {
            let name = test.name();
            return Err(RunError::Usage(format!(
                "`--set {name}.{key}={value}` is for a test that --only leaves out; add {name} to --only, or leave the \
                 setting away"
            ))
            .into());
        }
        setting.0.params_with(&own_settings(args, setting.0))?;
    }
    Ok(())
}

/// The bytes that the purges of a plan write, by the requested or the best method.
fn overwritten_bytes(args: &ReviewArgs, described: &Described, plan: &run::session::Plan) -> u64 {
    plan::overwritten_bytes(described, plan::purge_of(described, plan, args.common.purge))
}

/// The settings with sizes in proportion to a simulated drive, and without sizes that the target has
/// no room for: a default adapts to a small target, a setting is refused.
fn fitting(settings: &str, identity: &Identity) -> String {
    let fitted = |setting: &str| {
        let (name, value) = setting.split_once('=')?;
        let Ok(size) = value.parse::<Bytes>() else { return Some(setting.to_owned()) };
        let size = in_proportion(size, identity);
        (size.0 <= identity.capacity_bytes).then(|| format!("{name}={size}"))
    };
    settings.split_whitespace().filter_map(fitted).collect::<Vec<_>>().join(" ")
}

/// The settings of the user for this test.
fn own_settings(args: &ReviewArgs, test: Test) -> Vec<(String, String)> {
    let own = args.settings.iter().filter(|setting| setting.0 == test);
    own.map(|setting| (setting.1.clone(), setting.2.clone())).collect()
}

fn run_args(args: &ReviewArgs, test: Test, settings: &str, meter: Option<MeterSpec>) -> RunArgs {
    let setting = |text: &str| text.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned()));
    let own = own_settings(args, test);
    // Values of the user replace those of the review.
    let is_free = |(name, _): &(String, String)| own.iter().all(|(taken, _)| taken != name);
    let settings = settings.split_whitespace().filter_map(setting).filter(is_free);
    let settings = settings.chain(own.iter().cloned()).collect();
    RunArgs::part(test, settings, CommonArgs { meter, ..args.common.clone() }, args.drive.clone())
}

/// Prints the runs on stderr before the first change.
fn announce(args: &ReviewArgs, parts: &[Part], left_out: &[String]) {
    if args.drive.quiet {
        return;
    }
    for (index, part) in parts.iter().enumerate() {
        let clock = if part.job.spec.kind().is_simulated() { " of virtual time" } else { "" };
        let words = request::command(&part.request());
        let time = seconds(part.cost.time.unwrap_or_default());
        let written = part.cost.volume(part.capacity_bytes);
        talk!("{:2}. {words}\n    about {time}{clock}, writes {written}", index + 1);
    }
    let written = parts.iter().map(|part| part.cost.written_bytes).fold(0, u64::saturating_add);
    let time = |simulated| {
        let of_kind = parts.iter().filter(|part| part.job.spec.kind().is_simulated() == simulated);
        let sum = of_kind.filter_map(|part| part.cost.time).map(|time| time.0);
        seconds(Nanos(sum.fold(0, u64::saturating_add)))
    };
    talk!(
        "{} runs, about {} on real targets and {} of virtual time, about {} written",
        parts.len(),
        time(false),
        time(true),
        bytes(written)
    );
    left_out.iter().for_each(|reason| talk!("left out: {reason}"));
}

type Carried = (PathBuf, Run, Option<anyhow::Error>);

/// Does one run, or reuses the run that the same request has completed before.
fn carry_out(
    args: &ReviewArgs,
    part: &Part,
    left_out: &[String],
    prepared: &Prepared,
    interrupted: &AtomicBool,
    progress: &Progress,
) -> anyhow::Result<Carried> {
    if let Some(dir) = completed(args, part) {
        return Ok((dir.path().to_owned(), dir.run().clone(), None));
    }
    let call = Call { args: &part.args, prepared, interrupted, progress };
    let origin = Origin { left_out: left_out.to_owned(), ..Origin::of(part.request()) };
    let outcome = one_of(&call, &part.job, &origin)?;
    Ok((outcome.dir, outcome.run, outcome.failure.map(anyhow::Error::from)))
}

/// The run that the same request has completed before, if `--resume` asks for it.
fn completed(args: &ReviewArgs, part: &Part) -> Option<RunDir> {
    if !args.resume {
        return None;
    }
    let request = part.request();
    let entries = store::list(&args.common.library).ok()?;
    let runs = entries.into_iter().rev().filter_map(|entry| entry.run.ok());
    runs.into_iter().find(|dir| {
        let run = dir.run();
        run.status == RunStatus::Complete && request::is_of(run, &request)
    })
}

/// Writes the page; if that fails, the runs remain.
fn write_page(
    args: &ReviewArgs,
    inputs: &Inputs,
    page: &Page,
    (runs, left_out): (&[(PathBuf, Run)], &[String]),
    failures: &mut Vec<Failure>,
) -> Option<String> {
    let make = || -> anyhow::Result<String> {
        let dirs = runs.iter().map(|(dir, _)| RunDir::open(dir)).collect::<Result<Vec<_>, _>>()?;
        // The runs know what was left out before they began, not what failed to begin since.
        let document = Report { left_out: left_out.to_owned(), ..build(&args.title, &dirs)? };
        report::write_page(&args.output, inputs, page, &document)
    };
    if runs.is_empty() {
        return None;
    }
    make().map_err(|error| failures.push(Failure::from_error(&error))).ok()
}

fn print(
    args: &ReviewArgs,
    runs: &[(PathBuf, Run)],
    left_out: &[String],
    failures: &[Failure],
    report: Option<&str>,
) {
    failures.iter().for_each(|failure| talk!("error: {}", failure.message));
    if args.common.format == Format::Json {
        let dirs: Vec<_> = runs.iter().map(|(dir, _)| dir).collect();
        let verdicts: Vec<_> = runs.iter().filter_map(|(_, run)| run.verdict.as_ref()).collect();
        let document = serde_json::json!({
            "run_dirs": dirs, "report": report, "verdicts": verdicts, "left_out": left_out,
            "error": failures.first(), "errors": failures,
        });
        data!("{document}");
        return;
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

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Args, Command};

    fn review(words: &[&str]) -> ReviewArgs {
        let words = ["ssdlab", "review", "null:"].iter().chain(words);
        let Command::Review(args) = Args::try_parse_from(words).unwrap().command else { panic!() };
        args
    }

    #[test]
    fn what_the_user_sets_takes_the_place_of_what_the_review_would() {
        let args = review(&["--set", "trim.torture=5m"]);
        let run = run_args(&args, "trim".parse().unwrap(), "torture=30s idle=0s", None);
        let settings = run.test.settings.iter().map(|(name, value)| format!("{name}={value}"));
        assert_eq!(settings.collect::<Vec<_>>(), ["idle=0s", "torture=5m"]);
        refuse_unknown(&args, Review::Quick).unwrap();
        let left_out = review(&["--only", "latency", "--set", "trim.torture=5m"]);
        let error = refuse_unknown(&left_out, Review::Quick).unwrap_err().to_string();
        assert!(error.contains("`--set trim.torture=5m`") && error.contains("--only"), "{error}");
        let twice = review(&["--set", "trim.torture=5m", "--set", "trim.torture=6m"]);
        let error = refuse_unknown(&twice, Review::Quick).unwrap_err().to_string();
        assert!(error.contains("`--set torture=5m` and `--set torture=6m`"), "{error}");
    }
}
