//! `ssdlab report`: runs as one self-contained page.

use std::path::Path;

use result::report::{Page, Report, build};
use result::store::{RunDir, resolve_run};

use crate::args::{Format, ReportArgs};
use crate::failure::EXIT_DONE;
use crate::output_file::OutputFile;
use crate::ui::out::data;

pub fn run(args: &ReportArgs) -> anyhow::Result<u8> {
    let mut runs = Vec::new();
    for name in &args.runs {
        runs.push(RunDir::open(&resolve_run(&args.library, name)?)?);
    }
    let title = args.title.as_deref().unwrap_or_else(|| heading(&runs));
    let page = Page::load(args.web.as_deref())?;
    let path = write_page(&args.output, &page, &build(title, &runs)?)?;
    match args.format {
        Format::Json => data!("{}", serde_json::json!({ "report": path })),
        Format::Text => data!("{path}"),
    }
    Ok(EXIT_DONE)
}

/// Writes a report and says where it is.
pub fn write_page(path: &Path, page: &Page, report: &Report) -> anyhow::Result<String> {
    let mut file = OutputFile::create(path)?;
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
