//! `ssdlab report`: runs as one self-contained page.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use result::report::build;
use result::store::{RunDir, resolve_run};

use crate::args::heading;
use crate::args::{Format, PlaceArgs};
use crate::failure::EXIT_DONE;
use crate::inputs::Inputs;
use crate::page::context;
use crate::page::subject;
use crate::page::words::{self, Words};
use crate::page::{load_page, write_page};
use crate::ui::out::data;
use crate::ui::wait::Wait;

const EXAMPLES: &str = "\
Examples:
  ssdlab report latest
  ssdlab report ssdlab-runs/* -o all.html --title 'Bay 3'
  ssdlab report latest --words words.md";

/// Arguments of `report`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct ReportArgs {
    /// Runs: path, name, start of a name, or `latest`
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// File to write
    #[arg(long, short, value_name = "FILE", default_value = "report.html", help_heading = heading::OUTPUT)]
    pub output: PathBuf,
    /// Heading of the page; default: the common properties of its runs
    #[arg(long, help_heading = heading::WORDS)]
    pub title: Option<String>,
    /// Page from this file instead of the built-in one
    #[arg(long, value_name = "FILE", help_heading = heading::OUTPUT)]
    pub web: Option<PathBuf>,
    /// The editor's words for the page, Markdown with a heading for each chapter (see docs/reference/page.md)
    #[arg(long, value_name = "FILE", help_heading = heading::WORDS)]
    pub words: Option<PathBuf>,
    /// Without drives of the reference library beside those of the runs
    #[arg(long, help_heading = heading::OUTPUT)]
    pub alone: bool,
    /// Drive on which the page opens: its name or a part of it, its target or a run; default: the best
    #[arg(long, value_name = "DRIVE", help_heading = heading::OUTPUT)]
    pub subject: Option<String>,
    #[command(flatten)]
    pub place: PlaceArgs,
}

pub fn run(args: &ReportArgs) -> anyhow::Result<u8> {
    let mut runs = Vec::new();
    for name in &args.runs {
        runs.push(RunDir::open(&resolve_run(&args.place.library, name)?)?);
    }
    let runs_read = runs.iter().map(RunDir::path);
    let inputs =
        Inputs::default().library(&args.place.library).runs(runs_read).page(args.web.as_deref());
    let inputs = inputs.words(args.words.as_deref());
    inputs.require_other(&args.output, "-o")?;
    let wait = Wait::new(&format!("reading runs ({})", runs.len()));
    let title = args.title.as_deref().unwrap_or_else(|| heading(&runs));
    let page = load_page(args.web.as_deref())?;
    let mut report = build(title, &runs)?;
    if !args.alone {
        context::add(&mut report)?;
    }
    subject::open_on(&mut report, args.subject.as_deref())?;
    words::add_of_runs(&mut report, &runs)?;
    if let Some(words) = Words::read(args.words.as_deref())? {
        words.add_to(&mut report)?;
    }
    drop(wait);
    let path = write_page(&args.output, "-o", &inputs, &page, &report)?;
    match args.place.format {
        Format::Json => data!("{}", serde_json::json!({ "report": path })),
        Format::Text => data!("{path}"),
    }
    Ok(EXIT_DONE)
}

fn heading(runs: &[RunDir]) -> &'static str {
    if runs.iter().all(|dir| dir.run().test == "consistency") {
        return "SSD performance consistency";
    }
    "SSD performance"
}
