//! `ssdlab compare`: is B worse than A?

use std::path::{Path, PathBuf};

use result::compare::{Comparison, Condition, Figure, Group, Outcome, Question, compare};
use result::metrics::{Unit, find};
use result::schema::Run;
use result::store::{self, RunDir, StoreError, resolve_run};
use run::RunError;

use super::super::show::graphed_iops;
use crate::args::Format;
use crate::args::compare::CompareArgs;
use crate::failure::{EXIT_DONE, EXIT_VERDICT};
use crate::ui::out::data;
use crate::ui::plot::{Bar, print_bars, print_scatter};
use crate::ui::table::{self, figure};

/// Figures that are drawn as bars.
const BARS_SHOWN: usize = 5;
/// Conditions that are printed; the document contains all.
const CONDITIONS_SHOWN: usize = 12;

pub fn run(args: &CompareArgs) -> anyhow::Result<u8> {
    let (a, b) = (side(&args.place.library, &args.a)?, side(&args.place.library, &args.b)?);
    let question = Question {
        threshold: args.threshold.map(|share| share.as_f64()),
        metrics: args.metrics.clone(),
        seed: args.seed,
    };
    let graphs = [("A", &a), ("B", &b)].map(|(name, side)| (name, side.first().map(graphed_iops)));
    let runs = |side: &[RunDir]| side.iter().map(RunDir::run).cloned().collect::<Vec<Run>>();
    let (a, b) = (runs(&a), runs(&b));
    let (a, b): (Vec<&Run>, Vec<&Run>) = (a.iter().collect(), b.iter().collect());
    let compared =
        compare(&a, &b, &question).map_err(|error| RunError::Usage(error.to_string()))?;
    let is_regression = compared.iter().any(Comparison::is_regression);
    match args.place.format {
        Format::Json => data!(
            "{}",
            serde_json::json!({
                "regression": is_regression, "threshold": question.threshold, "seed": args.seed,
                "comparisons": compared, "error": null,
            })
        ),
        Format::Text => {
            compared.iter().for_each(|comparison| print(args, comparison));
            for (name, graph) in graphs {
                print_graph(name, &graph.transpose()?.unwrap_or_default());
            }
            data!("{}", verdict(args, &compared));
        }
    }
    Ok(if is_regression { EXIT_VERDICT } else { EXIT_DONE })
}

/// The seconds of the first run of a side.
fn print_graph(side: &str, iops: &[f64]) {
    if !iops.is_empty() {
        data!("  {side}: every second of the load");
        print_scatter(iops);
    }
}

/// The runs of a side: those of a label, those of a directory, or single ones.
fn side(library: &Path, text: &str) -> anyhow::Result<Vec<RunDir>> {
    if let Some(label) = text.strip_prefix("label:") {
        let entries = store::list(library)?.into_iter().filter_map(|entry| entry.run.ok());
        let has_label = |dir: &RunDir| dir.run().about.label.as_deref() == Some(label);
        let runs: Vec<_> = entries.filter(has_label).collect();
        if runs.is_empty() {
            return Err(RunError::Usage(format!(
                "no run in {} has the label `{label}`; `ssdlab runs` lists labels",
                library.display()
            ))
            .into());
        }
        return Ok(runs);
    }
    let path = PathBuf::from(text);
    if path.is_dir() && !path.join(store::RUN_FILE).is_file() && !library.join(text).is_dir() {
        return Ok(directory(&path)?);
    }
    let names = text.split(',').filter(|name| !name.is_empty());
    let dirs = names.map(|name| RunDir::open(&resolve_run(library, name)?));
    Ok(dirs.collect::<Result<_, StoreError>>()?)
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

fn print(args: &CompareArgs, comparison: &Comparison) {
    let Comparison { test, variant, a, b, conditions, figures } = comparison;
    data!("{test}, {variant}");
    data!("  A: {}", group(a));
    data!("  B: {}", group(b));
    if !conditions.is_empty() {
        data!("  not the same on both sides:");
    }
    conditions.iter().take(CONDITIONS_SHOWN).for_each(print_condition);
    if conditions.len() > CONDITIONS_SHOWN {
        let more = conditions.len() - CONDITIONS_SHOWN;
        data!("    and {more} more; --format json has all");
    }
    let is_shown = |figure: &&Figure| !args.metrics.is_empty() || figure.outcome != Outcome::Same;
    let shown: Vec<_> = figures.iter().filter(is_shown).collect();
    if !shown.is_empty() {
        let heading = ["  figure", "A", "B", "change", "interval of the change", ""];
        let rows = shown.iter().map(|figure| row(figure));
        table::print(
            &[heading.map(str::to_owned).to_vec()].into_iter().chain(rows).collect::<Vec<_>>(),
        );
    }
    for figure in &shown {
        figure.marks.iter().for_each(|mark| data!("    {}, {mark}", figure.metric));
    }
    shown
        .iter()
        .filter(|figure| figure.outcome != Outcome::Same)
        .take(BARS_SHOWN)
        .for_each(print_pair);
    let same = figures.len() - shown.len();
    if same > 0 {
        let noise = args.threshold.map_or_else(String::new, |share| format!(" and {share}"));
        data!("  {same} of {} figures: no difference beyond noise{noise}", figures.len());
    }
}

/// Both means of a figure as bars.
fn print_pair(compared: &&Figure) {
    let unit = find(&compared.metric).map_or(Unit::Ratio, |metric| metric.unit);
    let bar =
        |name: &str, value: f64| Bar { name: name.to_owned(), value, words: figure(value, unit) };
    data!("  {}", compared.metric);
    print_bars(&[bar("A", compared.a.mean), bar("B", compared.b.mean)]);
}

fn group(group: &Group) -> String {
    let simulated = if group.simulated { " (simulated)" } else { "" };
    let runs = match group.run_ids.as_slice() {
        [one] => one.clone(),
        several => format!("{} runs", several.len()),
    };
    format!("{}{simulated}, {runs}", group.drives.join(", "))
}

fn print_condition(condition: &Condition) {
    let told =
        |values: &[String]| if values.is_empty() { "-".to_owned() } else { values.join(", ") };
    data!("    {}: {} | {}", condition.name, told(&condition.a), told(&condition.b));
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
        Outcome::Different => "different",
        Outcome::Unknown => "not judged",
    };
    vec![
        format!("  {}", compared.metric),
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

/// The answer in a sentence.
fn verdict(args: &CompareArgs, compared: &[Comparison]) -> String {
    let count = |outcome| {
        let figures = compared.iter().flat_map(|comparison| &comparison.figures);
        figures.filter(|figure| figure.outcome == outcome).count()
    };
    let (worse, better, unknown) =
        (count(Outcome::Worse), count(Outcome::Better), count(Outcome::Unknown));
    let words = match (worse, better) {
        (0, 0) if unknown > 0 => "B is not judged".to_owned(),
        (0, 0) => "B does not differ from A beyond noise".to_owned(),
        (0, better) => format!("B is not worse, and better in {better} figures"),
        (worse, 0) => format!("B is worse in {worse} figures"),
        (worse, better) => format!("B is worse in {worse} figures, and better in {better}"),
    };
    if !compared.iter().all(Comparison::is_of_one_suite) {
        return format!(
            "{words}; runs of several versions of the suite are not judged: measure A and B with one \
             version of ssdlab"
        );
    }
    if unknown > 0 && args.threshold.is_none() {
        return format!(
            "{words}; the noise of {unknown} figures is unknown: repeat the runs with --repeat, or give a \
             --threshold such as 5%"
        );
    }
    words
}
