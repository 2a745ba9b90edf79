//! `ssdlab sim fit`: a drive model from measured runs.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use ::target::TargetSpec;
use base::Ratio;
use clap::Args as ClapArgs;
use result::schema::Run;
use result::store::{RunDir, StoreError, resolve_run};
use session::pool::Limits;
use study::fit::{self, Estimate, Fit, Question, Residual};

use crate::args::heading;
use crate::args::{Format, JobsArg, PlaceArgs, whole};
use crate::failure::{EXIT_DONE, EXIT_VERDICT};
use crate::inputs::Inputs;
use crate::output_file::OutputFile;
use crate::stop;
use crate::ui::out::{data, talk};
use crate::ui::table;

const EXAMPLES: &str = "\
Examples:
  ssdlab sim fit desk-full desk-spare --base intel-ssd-730-480gb --name 'My drive' -o my-drive.toml
  ssdlab sim fit desk-full desk-spare --hold-out desk-trim --base my-drive.toml
  ssdlab sim fit latest --base intel-ssd-730-480gb --scale 1/64 --format json";

/// Arguments of `sim fit`; `docs/reference/fit.md` describes the method.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct FitArgs {
    /// Runs of one drive to explain: path, name, start of a name, or `latest`
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// Model that gives every value which the runs do not determine: a name of `ssdlab sim models`, or
    /// a model file
    #[arg(long, value_name = "MODEL")]
    pub base: String,
    /// Value of the base model that is right and stays, such as `dies_per_channel`; repeatable
    #[arg(long, value_name = "VALUE")]
    pub known: Vec<String>,
    /// Run of the same drive that is not used, but predicted; repeatable
    #[arg(long, value_name = "RUN")]
    pub hold_out: Vec<String>,
    /// Name of the fitted drive
    #[arg(long, value_name = "NAME", default_value = "Fitted drive")]
    pub name: String,
    /// Model file to write; without it only the answer is printed
    #[arg(long, short, value_name = "FILE", help_heading = heading::OUTPUT)]
    pub output: Option<PathBuf>,
    /// Simulated share of the drive
    #[arg(long, value_name = "SHARE", default_value = "1/256", help_heading = heading::TEST)]
    pub scale: Ratio,
    /// Relative error of a rate beyond which no model explains the runs
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    pub tolerance: Ratio,
    /// Seed of the simulations
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = whole::<u64, 0, { u64::MAX }>, help_heading = heading::TEST)]
    pub seed: u64,
    #[command(flatten)]
    pub jobs: JobsArg,
    /// No progress and no messages
    #[arg(long, help_heading = heading::OUTPUT)]
    pub quiet: bool,
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// Simulations between two lines of progress.
const EVERY: usize = 50;

pub fn run(args: &FitArgs) -> anyhow::Result<u8> {
    let (used, held_out) = (open(args, &args.runs)?, open(args, &args.hold_out)?);
    let inputs = inputs(args, used.iter().chain(&held_out))?;
    if let Some(path) = &args.output {
        OutputFile::check(path, "-o", &inputs)?;
    }
    let runs = |dirs: &[RunDir]| dirs.iter().map(|dir| dir.run().clone()).collect::<Vec<Run>>();
    let (runs, hold_out) = (runs(&used), runs(&held_out));
    let question = Question {
        runs: &runs,
        hold_out: &hold_out,
        base: &args.base,
        known: &args.known,
        scale: args.scale,
        tolerance: args.tolerance.as_f64(),
        seed: args.seed,
    };
    let (stop, count) = (stop::button()?, AtomicUsize::new(0));
    let ended = |more| {
        let before = count.fetch_add(more, Ordering::Relaxed);
        if !args.quiet && (before + more) / EVERY > before / EVERY {
            talk!("{} simulations", before + more);
        }
    };
    let fit = fit::fit(&question, Limits::new(args.jobs.jobs), &stop, &ended)?;
    let output = args.output.as_ref().filter(|_| fit.refusal.is_none());
    if let Some(path) = output {
        let mut file = OutputFile::create(path, "-o", &inputs)?;
        file.write_all(fit.to_toml(&args.name).as_bytes())?;
        file.put_in_place()?;
    }
    match args.place.format {
        Format::Json => data!("{}", document(&fit, output)?),
        Format::Text => print(&fit, output),
    }
    Ok(if fit.refusal.is_some() { EXIT_VERDICT } else { EXIT_DONE })
}

fn open(args: &FitArgs, names: &[String]) -> Result<Vec<RunDir>, StoreError> {
    names.iter().map(|name| RunDir::open(&resolve_run(&args.place.library, name)?)).collect()
}

/// The files that the model must not replace: the runs and the base model.
fn inputs<'a>(args: &FitArgs, dirs: impl Iterator<Item = &'a RunDir>) -> anyhow::Result<Inputs> {
    let inputs = Inputs::default().runs(dirs.map(RunDir::path));
    let is_file = args.base.ends_with(".toml");
    let spec = is_file.then(|| format!("sim:{}", args.base).parse::<TargetSpec>()).transpose()?;
    Ok(spec.iter().fold(inputs, Inputs::target))
}

fn document(fit: &Fit, output: Option<&PathBuf>) -> anyhow::Result<serde_json::Value> {
    let mut document = serde_json::to_value(fit)?;
    document["undetermined"] = fit.undetermined().collect();
    document["output"] = serde_json::to_value(output)?;
    document["error"] = serde_json::Value::Null;
    Ok(document)
}

fn print(fit: &Fit, output: Option<&PathBuf>) {
    data!("values ({} simulations of {} of the drive)", fit.simulations, fit.scale);
    let words = fit.choices.iter().map(|choice| {
        let source = if choice.determined { "" } else { "not determined: that of the base model" };
        vec![format!("  {}", choice.name), choice.value.clone(), source.to_owned()]
    });
    table::print(&fit.estimates.iter().map(row).chain(words).collect::<Vec<_>>());
    for (heading, held_out) in [("figures", false), ("held out", true)] {
        let figures: Vec<_> = fit.residuals.iter().filter(|it| it.held_out == held_out).collect();
        if !figures.is_empty() {
            data!("\n{heading}");
            table::print(&figures.into_iter().map(residual).collect::<Vec<_>>());
        }
    }
    if fit.base_explains {
        data!("\nthe base model {} explains the figures as it is", fit.base);
    }
    match (&fit.refusal, output) {
        (Some(refusal), _) => data!("\n{}", refusal.message),
        (None, Some(path)) => data!("\n{}", path.display()),
        (None, None) => {}
    }
}

fn row(estimate: &Estimate) -> Vec<String> {
    let interval = estimate.low.zip(estimate.high).map_or_else(
        || "not determined".to_owned(),
        |(low, high)| format!("95% interval {} to {}", number(low), number(high)),
    );
    vec![format!("  {}", estimate.name), number(estimate.value), interval]
}

fn residual(it: &Residual) -> Vec<String> {
    let model = it.model.map_or_else(|| "none".to_owned(), number);
    let error = format!("{:+.1}%", it.error() * 100.0);
    let beyond = format!("beyond {:.0}%", it.permitted * 100.0);
    let mark = if it.excess() > 1.0 && !it.held_out { beyond } else { String::new() };
    vec![format!("  {}", it.run), it.figure.clone(), number(it.measured), model, error, mark]
}

/// A share in percent, a ratio with two decimals, and times and rates without any.
fn number(value: f64) -> String {
    match value {
        ..1.0 => format!("{:.2}%", value * 100.0),
        ..100.0 => format!("{value:.2}"),
        _ => format!("{value:.0}"),
    }
}
