//! `ssdlab compare`: is B worse than A?

use std::path::{Path, PathBuf};

use base::Ratio;
use base::text::{close_to, hanging};
use clap::Args as ClapArgs;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use result::compare::{
    Across, Comparison, Condition, Figure, Group, LeftOut, NEGLIGIBLE, Outcome, Question,
    THRESHOLD, compare, left_out,
};
use result::metrics::{Unit, find};
use result::report::build;
use result::schema::Run;
use result::stats::words::percent;
use result::store::{self, RunDir, StoreError, resolve_run};
use run::RunError;

use crate::args::heading;
use crate::args::{Format, PlaceArgs, whole};
use crate::failure::{EXIT_DONE, EXIT_VERDICT};
use crate::inputs::Inputs;
use crate::page::words;
use crate::page::{load_page, write_page};
use crate::summary::{graphed_iops, last_letters};
use crate::ui::out::{COLUMNS, data};
use crate::ui::plot::{Bar, print_bars, print_scatter};
use crate::ui::table::{self, figure};

const EXAMPLES: &str = "\
Examples:
  ssdlab compare label:before label:after  # is it worse, beyond noise?
  ssdlab compare baseline-runs latest --threshold 5% --metric iops_steady_mean
  ssdlab compare label:1.0 label:1.1 --across firmware --page firmware.html
  ssdlab compare label:a label:b --format json";

/// Arguments of `compare`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct CompareArgs {
    /// Runs to compare with: `label:NAME`, a directory of runs, or runs by path, name, start of a
    /// name or `latest`, with commas between
    #[arg(value_name = "A")]
    pub a: String,
    /// Runs to judge: is B worse than A?
    #[arg(value_name = "B")]
    pub b: String,
    /// Smallest relative difference that counts, e.g. `5%`. Without it 3%, or 1% where repeated
    /// runs show that the difference is no noise
    #[arg(long, value_name = "SHARE", help_heading = heading::RUNS)]
    pub threshold: Option<Ratio>,
    /// The one condition in which A and B differ; anything else that differs is refused or named
    #[arg(
        long,
        value_name = "CONDITION",
        value_parser = PossibleValuesParser::new(Across::NAMES).try_map(|name| name.parse::<Across>())
    )]
    pub across: Option<Across>,
    /// Only this metric, e.g. `iops_steady_mean`; repeatable
    #[arg(long = "metric", value_name = "METRIC", help_heading = heading::RUNS)]
    pub metrics: Vec<String>,
    /// Seed of the intervals
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = whole::<u64, 0, { u64::MAX }>, help_heading = heading::TEST)]
    pub seed: u64,
    /// Also write one page with the runs of both sides, as `ssdlab report` does
    #[arg(long, value_name = "FILE", help_heading = heading::OUTPUT)]
    pub page: Option<PathBuf>,
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// Figures that are drawn as bars.
const BARS_SHOWN: usize = 5;
/// Conditions that are printed; the document contains all.
const CONDITIONS_SHOWN: usize = 12;
/// Runs without a comparison that are printed; the document contains all.
const LEFT_OUT_SHOWN: usize = 5;

pub fn run(args: &CompareArgs) -> anyhow::Result<u8> {
    let (a, b) = (side(&args.place.library, &args.a)?, side(&args.place.library, &args.b)?);
    let question = Question {
        threshold: args.threshold.map(|share| share.as_f64()),
        metrics: args.metrics.clone(),
        seed: args.seed,
        across: args.across,
    };
    let runs = |side: &[RunDir]| side.iter().map(RunDir::run).cloned().collect::<Vec<Run>>();
    let (runs_a, runs_b) = (runs(&a), runs(&b));
    let (runs_a, runs_b): (Vec<&Run>, Vec<&Run>) =
        (runs_a.iter().collect(), runs_b.iter().collect());
    let compared =
        compare(&runs_a, &runs_b, &question).map_err(|error| RunError::Usage(error.to_string()))?;
    let others = left_out(&runs_a, &runs_b, &question);
    let both = || a.iter().chain(&b).cloned().collect::<Vec<RunDir>>();
    let page = args.page.as_ref().map(|path| write_runs(args, path, &both())).transpose()?;
    let is_regression = compared.iter().any(Comparison::is_regression);
    match args.place.format {
        Format::Json => data!(
            "{}",
            serde_json::json!({
                "regression": is_regression, "threshold": question.threshold,
                "across": args.across, "seed": args.seed, "comparisons": compared,
                "left_out": others, "page": page, "error": null,
            })
        ),
        Format::Text => {
            compared.iter().for_each(|comparison| print(args, comparison));
            print_left_out(&others);
            for (name, side) in [("A", &a), ("B", &b)] {
                print_graph(name, side, &compared)?;
            }
            data!("{}", verdict(&compared));
            if let Some(page) = page {
                data!("{page}");
            }
        }
    }
    Ok(if is_regression { EXIT_VERDICT } else { EXIT_DONE })
}

/// Writes one page with the runs of both sides, and returns its path.
fn write_runs(args: &CompareArgs, path: &Path, runs: &[RunDir]) -> anyhow::Result<String> {
    let inputs = Inputs::default().library(&args.place.library);
    let inputs = inputs.runs(runs.iter().map(RunDir::path));
    inputs.require_other(path, "--page")?;
    let mut report = build(&format!("{} against {}", args.a, args.b), runs)?;
    words::add_of_runs(&mut report, runs)?;
    write_page(path, "--page", &inputs, &load_page(None)?, &report)
}

/// The seconds of the first run of a side that is compared.
fn print_graph(name: &str, side: &[RunDir], compared: &[Comparison]) -> Result<(), StoreError> {
    let is_compared = |dir: &&RunDir| {
        let groups = compared.iter().flat_map(|comparison| [&comparison.a, &comparison.b]);
        groups.flat_map(|group| &group.run_ids).any(|run_id| *run_id == dir.run().run_id)
    };
    let iops = side.iter().find(is_compared).map(graphed_iops).transpose()?.unwrap_or_default();
    if !iops.is_empty() {
        data!("  {name}: every second of the load");
        print_scatter(&iops);
    }
    Ok(())
}

/// The runs of a side: those of a label, those of a directory, or single ones.
fn side(library: &Path, text: &str) -> anyhow::Result<Vec<RunDir>> {
    if let Some(label) = text.strip_prefix("label:") {
        let entries = store::list(library)?.into_iter().filter_map(|entry| entry.run.ok());
        let label_of = |dir: &RunDir| dir.run().about.label.clone();
        let (runs, others): (Vec<_>, Vec<_>) =
            entries.partition(|dir| label_of(dir).as_deref() == Some(label));
        if runs.is_empty() {
            let labels = others.iter().filter_map(label_of).collect();
            return Err(no_label(library, label, labels).into());
        }
        return Ok(runs);
    }
    let path = PathBuf::from(text);
    let is_of_library = path.is_relative() && library.join(&path).is_dir();
    if path.is_dir() && !path.join(store::RUN_FILE).is_file() && !is_of_library {
        return Ok(directory(&path)?);
    }
    let names = text.split(',').filter(|name| !name.is_empty());
    let dirs = names.map(|name| RunDir::open(&resolve_run(library, name)?));
    Ok(dirs.collect::<Result<_, StoreError>>()?)
}

fn no_label(library: &Path, label: &str, mut labels: Vec<String>) -> RunError {
    labels.sort_unstable();
    labels.dedup();
    let near = close_to(label, labels.iter().map(String::as_str));
    let library = library.display();
    RunError::Usage(format!(
        "no run in {library} has the label `{label}`{near}; `ssdlab library list` lists labels"
    ))
}

/// Every readable run of a directory.
fn directory(path: &Path) -> Result<Vec<RunDir>, RunError> {
    let entries = store::list(path).map_err(RunError::Store)?;
    let runs: Vec<_> = entries.into_iter().filter_map(|entry| entry.run.ok()).collect();
    if runs.is_empty() {
        return Err(RunError::Usage(format!("{} contains no runs", path.display())));
    }
    Ok(runs)
}

/// The column of intervals, which single runs do not have.
const INTERVAL: usize = 4;

fn print(args: &CompareArgs, comparison: &Comparison) {
    let Comparison { test, a, b, conditions, figures, .. } = comparison;
    data!("{test}: is B worse than A?");
    data!("{}", hanging("  A: ", &group(a), COLUMNS));
    data!("{}", hanging("  B: ", &group(b), COLUMNS));
    if !conditions.is_empty() {
        data!("  not the same on both sides:");
    }
    conditions.iter().take(CONDITIONS_SHOWN).for_each(print_condition);
    if conditions.len() > CONDITIONS_SHOWN {
        let more = conditions.len() - CONDITIONS_SHOWN;
        data!("    and {more} more; --format json has all");
    }
    let is_asked = |figure: &&Figure| match args.metrics.is_empty() {
        true => figure.same_fact_as.is_none(),
        false => true,
    };
    let judged = |figure: &&Figure| figure.reason.is_none();
    let all: Vec<&Figure> = figures.iter().filter(is_asked).collect();
    let is_shown = |figure: &&&Figure| !args.metrics.is_empty() || figure.outcome != Outcome::Same;
    let shown: Vec<&Figure> =
        all.iter().filter(|one| judged(one)).filter(is_shown).copied().collect();
    if !shown.is_empty() {
        let heading = ["  figure", "A", "B", "change", "interval of the change", ""];
        let mut rows = vec![heading.map(str::to_owned).to_vec()];
        rows.extend(shown.iter().map(|figure| row(figure)));
        if shown.iter().all(|figure| figure.interval.is_none()) {
            rows.iter_mut().for_each(|row| drop(row.remove(INTERVAL)));
        }
        table::print(&rows);
    }
    for figure in &shown {
        figure.marks.iter().for_each(|mark| data!("    {}, {mark}", figure.label));
    }
    let bars = shown.iter().filter(|figure| figure.outcome != Outcome::Same);
    bars.take(BARS_SHOWN).for_each(|figure| print_pair(figure));
    print_unjudged(comparison, &all);
    let same = all.iter().filter(|figure| figure.outcome == Outcome::Same).count();
    if same > 0 && args.metrics.is_empty() {
        let limit = match (args.threshold, is_repeated(comparison)) {
            (Some(share), true) => format!("noise and {share}"),
            (Some(share), false) => share.to_string(),
            (None, true) => format!("noise and {}", percent(NEGLIGIBLE)),
            (None, false) => percent(THRESHOLD),
        };
        data!("  {}: no difference beyond {limit}", figures_of(same));
    }
}

/// Whether there is noise to judge by.
fn is_repeated(comparison: &Comparison) -> bool {
    comparison.a.run_ids.len() > 1 && comparison.b.run_ids.len() > 1
}

fn figures_of(count: usize) -> String {
    if count == 1 { "1 figure".to_owned() } else { format!("{count} figures") }
}

/// The figures without a verdict, under their reason.
fn print_unjudged(comparison: &Comparison, figures: &[&Figure]) {
    let unjudged = figures.iter().filter_map(|figure| {
        let unit = find(&figure.metric).map_or(Unit::Ratio, |metric| metric.unit);
        let values = [&figure.a, &figure.b].map(|side| table::figure(side.mean, unit));
        let told = format!("{} ({} | {})", figure.label, values[0], values[1]);
        Some((figure.reason.as_ref()?, told))
    });
    let missing = comparison.missing.iter().map(|one| (&one.reason, one.label.clone()));
    let mut by_reason: Vec<(&String, Vec<String>)> = Vec::new();
    for (reason, told) in unjudged.chain(missing) {
        match by_reason.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, all)) => all.push(told),
            None => by_reason.push((reason, vec![told])),
        }
    }
    for (reason, all) in by_reason {
        data!("  not judged: {reason}");
        all.iter().for_each(|told| data!("    {told}"));
    }
}

fn print_left_out(others: &[LeftOut]) {
    for LeftOut { side, run_id, reason } in others.iter().take(LEFT_OUT_SHOWN) {
        data!("not compared, {side}: {run_id} {reason}");
    }
    if others.len() > LEFT_OUT_SHOWN {
        let more = others.len() - LEFT_OUT_SHOWN;
        data!("not compared: {more} more runs; --format json has all");
    }
}

/// Both means of a figure as bars.
fn print_pair(compared: &Figure) {
    let unit = find(&compared.metric).map_or(Unit::Ratio, |metric| metric.unit);
    let bar =
        |name: &str, value: f64| Bar { name: name.to_owned(), value, words: figure(value, unit) };
    data!("  {}", compared.label);
    print_bars(&[bar("A", compared.a.mean), bar("B", compared.b.mean)]);
}

fn group(group: &Group) -> String {
    let simulated = if group.simulated { " (simulated)" } else { "" };
    let runs = match group.run_ids.as_slice() {
        [one] => format!("run {}", last_letters(one)),
        several => format!("{} runs", several.len()),
    };
    format!("{}{simulated}, {}, {runs}", group.drives.join(", "), group.spans.join(", "))
}

fn print_condition(condition: &Condition) {
    let Condition { label, a, b, .. } = condition;
    data!("    {label}: {} | {}", condition.words(a), condition.words(b));
}

fn row(compared: &Figure) -> Vec<String> {
    let unit = find(&compared.metric).map_or(Unit::Ratio, |metric| metric.unit);
    let mean = compared.a.mean;
    let share = |difference: f64| match mean {
        0.0 => format!("{}{}", sign(difference), figure(difference.abs(), unit)),
        _ => format!("{:+.1}%", difference / mean.abs() * 100.0),
    };
    let interval = compared.interval.map_or_else(String::new, |interval| {
        format!("{} to {}", share(interval.low), share(interval.high))
    });
    let word = match compared.outcome {
        Outcome::Worse => "WORSE",
        Outcome::Better => "better",
        Outcome::Same => "same",
        Outcome::Different => "differs",
        Outcome::Unknown => "not judged",
    };
    vec![
        format!("  {}", compared.label),
        figure(mean, unit),
        figure(compared.b.mean, unit),
        share(compared.difference),
        interval,
        word.to_owned(),
    ]
}

fn sign(value: f64) -> &'static str {
    if value < 0.0 { "-" } else { "+" }
}

/// The answer in a sentence, which counts facts.
fn verdict(compared: &[Comparison]) -> String {
    let count = |outcome| {
        let facts = compared.iter().flat_map(Comparison::facts);
        facts.filter(|figure| figure.outcome == outcome).count()
    };
    let (worse, better, same) =
        (count(Outcome::Worse), count(Outcome::Better), count(Outcome::Same));
    let (different, unknown) = (count(Outcome::Different), count(Outcome::Unknown));
    if !compared.iter().all(Comparison::is_of_one_suite) {
        return "B is not judged: runs of several versions of the suite; measure A and B with one \
                version of ssdlab"
            .to_owned();
    }
    let words = match (worse, better) {
        (0, 0) if same + different == 0 => {
            return "B is not judged: there is a reason against each figure".to_owned();
        }
        (0, 0) if different > 0 => {
            format!("B is not worse, and different in {}", figures_of(different))
        }
        (0, 0) => format!("B does not differ from A in {}", figures_of(same)),
        (0, better) => format!("B is not worse, and better in {}", figures_of(better)),
        (worse, 0) => format!("B is worse in {}", figures_of(worse)),
        (worse, better) => format!("B is worse in {}, and better in {better}", figures_of(worse)),
    };
    if unknown > 0 { format!("{words}; {} not judged", figures_of(unknown)) } else { words }
}
