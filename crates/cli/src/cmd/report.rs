//! `ssdlab report`: runs as one self-contained page.

pub mod words;

use std::path::Path;

use base::Bytes;
use result::report::{Page, Report, ReportError, build};
use result::store::{RunDir, resolve_run};

use crate::args::{Format, ReportArgs};
use crate::failure::EXIT_DONE;
use crate::inputs::Inputs;
use crate::output_file::OutputFile;
use crate::ui::out::data;

use words::Words;

/// Largest page; that of this program is a hundredth of it.
const PAGE_BYTES_MAX: u64 = 64 << 20;

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
    let title = args.title.as_deref().unwrap_or_else(|| heading(&runs));
    let page = load_page(args.web.as_deref())?;
    let mut report = build(title, &runs)?;
    words::add_of_runs(&mut report, &runs)?;
    if let Some(words) = Words::read(args.words.as_deref())? {
        words.add_to(&mut report)?;
    }
    let path = write_page(&args.output, &inputs, &page, &report)?;
    match args.place.format {
        Format::Json => data!("{}", serde_json::json!({ "report": path })),
        Format::Text => data!("{path}"),
    }
    Ok(EXIT_DONE)
}

/// The page that receives a report. It is read whole, so that an endless file must not be one.
///
/// # Errors
/// If there is no page, or the file cannot be one.
pub fn load_page(from: Option<&Path>) -> Result<Page, ReportError> {
    let endless = |path: &&Path| {
        let found = std::fs::metadata(path);
        found.is_ok_and(|found| !found.is_file() || found.len() > PAGE_BYTES_MAX)
    };
    if let Some(path) = from.filter(endless) {
        let words = format!("expected a regular file of at most {}", Bytes(PAGE_BYTES_MAX));
        let source = std::io::Error::new(std::io::ErrorKind::InvalidInput, words);
        return Err(ReportError::PageUnreadable { path: path.to_owned(), source });
    }
    Page::load(from)
}

/// Writes a report and prints its path.
pub fn write_page(
    path: &Path,
    inputs: &Inputs,
    page: &Page,
    report: &Report,
) -> anyhow::Result<String> {
    let mut file = OutputFile::create(path, inputs)?;
    file.write_all(page.with(report)?.as_bytes())?;
    file.put_in_place()?;
    Ok(std::path::absolute(path)?.display().to_string())
}

fn heading(runs: &[RunDir]) -> &'static str {
    if runs.iter().all(|dir| dir.run().test == "consistency") {
        return "SSD performance consistency";
    }
    "SSD performance"
}
