//! `ssdlab report`: runs as one self-contained page.

use result::report::{build, render_html, write_report};
use result::store::{RunDir, resolve_run};

use crate::args::{Format, ReportArgs};
use crate::failure::EXIT_DONE;

pub fn run(args: &ReportArgs) -> anyhow::Result<u8> {
    let mut runs = Vec::new();
    for name in &args.runs {
        runs.push(RunDir::open(&resolve_run(&args.library, name)?)?);
    }
    let title = args.title.as_deref().unwrap_or_else(|| heading(&runs));
    let report = build(title, &runs)?;
    let html = render_html(&report, args.web.as_deref())?;
    write_report(&args.output, &html)?;
    let path = std::path::absolute(&args.output)?;
    match args.format {
        Format::Json => println!("{}", serde_json::json!({ "report": path })),
        Format::Text => println!("{}", path.display()),
    }
    Ok(EXIT_DONE)
}

fn heading(runs: &[RunDir]) -> &'static str {
    if runs.iter().all(|dir| dir.run().test == "consistency") {
        return "SSD performance consistency";
    }
    "SSD performance"
}
