//! The runs of a suite on its targets, planned before the first one starts: for `review` and
//! `library build`.

use std::collections::HashMap;
use std::path::Path;

use ::target::{Identity, TargetSpec};
use io::open::Inspected;
use result::schema::{Request, Run, RunStatus};
use result::store::{self, RunDir};
use run::suite::{QUICK_SPAN, Review, ReviewEntry};
use run::{Outcome, RunError, SpanRequest, Test};
use session::job::{Job, Origin, plan};
use session::pool::Limits;

use crate::args::{SuiteArgs, TestSetting};
use crate::cost::{self, Cost};
use crate::job::report::RunResult;
use crate::job::{self, Call};
use crate::prepare::Inspection;
use crate::quick::fitting;
use crate::request;

/// One run of a suite.
pub struct Part {
    /// Its request, planned on its target.
    pub job: Job,
    pub cost: Cost,
    /// Checksum of the model of a simulated drive, or `None` for a real target.
    model: Option<String>,
}

/// Does every part that is not complete; `None` for those that did not begin.
pub fn carry_out(
    parts: &[Part],
    completed: &EarlierRuns,
    origin: &Origin,
    limits: Limits,
    call: &Call<'_>,
) -> Vec<Option<RunResult>> {
    let reused = |part| completed.of(part).map(|dir| Ok(Outcome::of(dir)));
    let mut done: Vec<Option<RunResult>> = parts.iter().map(reused).collect();
    let open = parts.iter().enumerate().filter(|(index, _)| done[*index].is_none());
    let demand = |job: &Job| call.held.expect(&job.spec, job.demand);
    let open: Vec<_> = open.map(|(index, part)| (index, demand(&part.job), &part.job)).collect();
    job::fill(&mut done, &open, limits, call.interrupted, call.progress, |job| {
        job::one(call, job, origin)
    });
    done
}

/// All runs in the order of targets and suite, and the omissions with their reasons. `form` selects
/// the form of the suite for a target.
///
/// # Errors
/// [`RunError::Usage`] for a test or a parameter that the form does not have.
pub fn parts(
    args: &SuiteArgs,
    form: impl Fn(&TargetSpec) -> Review,
    inspection: &Inspection,
) -> anyhow::Result<(Vec<Part>, Vec<String>)> {
    let (mut parts, mut left_out) = (Vec::new(), Vec::new());
    for target in inspection.targets() {
        let spec = &target.spec;
        let review = form(spec);
        refuse_unknown(args, review)?;
        let has_zones = target.limits.zones.is_some();
        let wanted = |(test, _): &(Test, _)| {
            // A drive with zones has a test of its own, which is for no other.
            let is_for_it = test.definition().zoned == has_zones;
            if args.only.is_empty() { is_for_it } else { args.only.contains(test) }
        };
        for (test, entry) in entries(review).filter(wanted) {
            match part(args, target, review, (test, entry)) {
                Ok(part) => parts.push(part),
                Err(error) => left_out.push(without(spec, test.name(), &error.to_string())),
            }
        }
    }
    Ok((parts, left_out))
}

/// The runs of a review, in the order of the suite.
pub fn entries(review: Review) -> impl Iterator<Item = (Test, &'static ReviewEntry)> {
    let of_test = |test: Test| test.reviews().iter().map(move |entry| (test, entry));
    Test::ALL.into_iter().flat_map(of_test).filter(move |(_, entry)| entry.review == review)
}

/// An omitted test, as a sentence.
pub fn without(spec: &TargetSpec, test: &str, reason: &str) -> String {
    format!("{spec}: {test}: {reason}")
}

fn part(
    args: &SuiteArgs,
    inspected: &Inspected,
    review: Review,
    (test, entry): (Test, &ReviewEntry),
) -> anyhow::Result<Part> {
    let capacity_bytes = inspected.identity.capacity_bytes;
    let name = test.name();
    anyhow::ensure!(
        inspected.counts_nand_writes || !entry.needs_counters,
        "nothing counts what the drive programs into its NAND; `ssdlab run {name}` implies it from the rate"
    );
    let is_short = review == Review::Quick && capacity_bytes > QUICK_SPAN.0;
    let whole = if is_short { SpanRequest::Bytes(QUICK_SPAN) } else { SpanRequest::Default };
    let spare = |share: &str| share.parse().map(SpanRequest::Spare);
    let span = entry.spare.map_or(Ok(whole), spare)?;
    let settings = fitting(entry.settings, &inspected.identity);
    let request = request(args, test, &settings, inspected, span);
    let request = Request { quick: review == Review::Quick, ..request };
    let planned = plan(&request, inspected)?;
    let purge = cost::purge_of(inspected, &planned, args.common.purge);
    Ok(Part {
        job: Job::new(request, &planned, inspected),
        cost: cost::total_cost(&planned, cost::overwritten_bytes(inspected, purge)),
        model: inspected.identity.details.get(Identity::CHECKSUM).cloned(),
    })
}

/// Refuses a test that this form does not contain, or a parameter that its test does not have,
/// instead of ignoring it.
fn refuse_unknown(args: &SuiteArgs, review: Review) -> anyhow::Result<()> {
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

/// The settings of the user for this test.
fn own_settings(args: &SuiteArgs, test: Test) -> Vec<(String, String)> {
    let own = args.settings.iter().filter(|setting| setting.0 == test);
    own.map(|setting| (setting.1.clone(), setting.2.clone())).collect()
}

/// The request of a suite for a test.
fn request(
    args: &SuiteArgs,
    test: Test,
    settings: &str,
    target: &Inspected,
    span: SpanRequest,
) -> Request {
    let own = own_settings(args, test);
    // Values of the user replace those of the review.
    let is_free = |(name, _): &(&str, &str)| own.iter().all(|(taken, _)| taken != name);
    let settings = settings.split_whitespace().filter_map(|text| text.split_once('='));
    let settings = settings.filter(is_free).map(|(k, v)| (k.to_owned(), v.to_owned()));
    let with = (test, settings.chain(own.iter().cloned()).collect());
    let request = request::of_test(with, &target.spec, span, &args.common, &args.execution);
    let meter = request.meter.clone().filter(|_| !target.spec.kind().is_simulated());
    Request { meter, read_only: args.read_only, ..request }
}

/// The complete runs of a library.
#[derive(Default)]
pub struct EarlierRuns {
    /// The runs by their commands, the latest one first.
    runs: HashMap<String, Vec<RunDir>>,
}

impl EarlierRuns {
    /// Reads the complete runs of a library that `counts` accepts; none if it cannot be read.
    pub fn read(library: &Path, counts: impl Fn(&Run) -> bool) -> Self {
        let entries = store::list(library).unwrap_or_default();
        let dirs = entries.into_iter().rev().filter_map(|entry| entry.run.ok());
        let mut runs: HashMap<_, Vec<_>> = HashMap::new();
        for dir in dirs {
            let run = dir.run();
            if run.status == RunStatus::Complete && counts(run) {
                runs.entry(run.command.clone()).or_default().push(dir);
            }
        }
        Self { runs }
    }

    /// The latest run that the request of a part has completed on the same model, or `None` if there
    /// is none.
    pub fn of(&self, part: &Part) -> Option<&RunDir> {
        let request = &part.job.request;
        // A run of an older ssdlab does not tell the checksum of its model.
        let same_model = |run: &Run| {
            let model = run.target.details.get(Identity::CHECKSUM);
            model.is_none() || model == part.model.as_ref()
        };
        let same = |dir: &&RunDir| request::is_of(dir.run(), request) && same_model(dir.run());
        self.runs.get(&request::command(request))?.iter().find(same)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::commands::{Args, Command};
    use crate::prepare;

    fn suite(words: &[&str]) -> SuiteArgs {
        let words = ["ssdlab", "review", "null:"].iter().chain(words);
        let Command::Review(args) = Args::try_parse_from(words).unwrap().command else { panic!() };
        args.suite
    }

    /// A review that leaves a test out because of its own settings would do so on every drive.
    #[test]
    fn every_setting_of_a_review_fits_a_simulated_drive_of_any_size() {
        let targets = ["sim:sandisk-extreme-ii-480gb", "sim:samsung-840-evo-250gb?scale=1/64"];
        for review in [Review::Full, Review::Quick, Review::Pts] {
            let args = suite(&[]);
            let specs = prepare::parse(&targets.map(str::to_owned)).unwrap();
            let requirements = prepare::of_runs(&args.common, &args.execution);
            let inspection = prepare::inspect(specs, requirements).unwrap();
            let (parts, left_out) = parts(&args, |_| review, &inspection).unwrap();
            assert_eq!(left_out, Vec::<String>::new());
            let of_any_drive = entries(review).filter(|(test, _)| !test.definition().zoned);
            assert_eq!(parts.len(), 2 * of_any_drive.count());
        }
    }

    /// The part of a drive that `waf` selects by itself exists for every model, and has room for its span.
    #[test]
    fn every_model_has_the_part_that_stands_for_it() {
        let mut scales = std::collections::BTreeSet::new();
        for (name, _) in sim::model::BUILT_IN {
            let (identity, limits) = io::engine::sim::describe("sim:", name, &[]).unwrap();
            if limits.zones.is_some() {
                continue;
            }
            let request = run::Request::new("waf".parse().unwrap(), "library".into());
            let plan = run::session::plan(&request, &identity, &limits).unwrap();
            let scale = plan.phases().find_map(|phase| match phase.action {
                run::suite::Action::PurgeToScale(scale) => Some(scale.to_string()),
                _ => None,
            });
            let Some(scale) = scale else { continue };
            let keys = [("scale".to_owned(), scale.clone())];
            let (part, _) = io::engine::sim::describe("sim:", name, &keys).unwrap();
            let workloads = plan.phases().flat_map(|phase| phase.action.workloads());
            let longest = workloads.map(|workload| workload.span_bytes).max().unwrap();
            assert!(longest <= part.capacity_bytes, "{name}: {longest}, {}", part.capacity_bytes);
            scales.insert(scale);
        }
        assert!(scales.len() > 3, "drives of several sizes: {scales:?}");
    }

    /// The last of them ends alone, so the longest must not be the last.
    #[test]
    fn the_runs_of_a_review_that_take_a_processor_longest_begin_first() {
        let args = suite(&[]);
        let specs = prepare::parse(&["sim:sandisk-extreme-ii-480gb".to_owned()]).unwrap();
        let requirements = prepare::of_runs(&args.common, &args.execution);
        let inspection = prepare::inspect(specs, requirements).unwrap();
        let (mut parts, _) = parts(&args, |_| Review::Full, &inspection).unwrap();
        parts.sort_by_key(|part| std::cmp::Reverse(part.job.demand.length));
        let names: Vec<_> = parts.iter().map(|part| part.job.request.test.as_str()).collect();
        assert_eq!(
            names[..4],
            ["destroyer-full", "destroyer", "load-latency", "trim"],
            "{names:?}"
        );
    }

    #[test]
    fn what_the_user_sets_takes_the_place_of_what_the_review_would() {
        let args = suite(&["--set", "trim.torture=5m"]);
        let target = "sim:samsung-840-pro-256gb".parse().unwrap();
        let target = io::open::inspect(&target, &io::OpenOptions::default()).unwrap();
        let trim = "trim".parse().unwrap();
        let run = request(&args, trim, "torture=30s idle=0s", &target, SpanRequest::Default);
        let settings = run.settings.iter().map(|one| format!("{}={}", one.name, one.value));
        assert_eq!(settings.collect::<Vec<_>>(), ["idle=0s", "torture=5m"]);
        refuse_unknown(&args, Review::Quick).unwrap();
        let left_out = suite(&["--only", "latency", "--set", "trim.torture=5m"]);
        let error = refuse_unknown(&left_out, Review::Quick).unwrap_err().to_string();
        assert!(error.contains("`--set trim.torture=5m`") && error.contains("--only"), "{error}");
        let twice = suite(&["--set", "trim.torture=5m", "--set", "trim.torture=6m"]);
        let error = refuse_unknown(&twice, Review::Quick).unwrap_err().to_string();
        assert!(error.contains("`--set torture=5m` and `--set torture=6m`"), "{error}");
    }
}
