//! The page of reports and of the Bench, and the file of a report.

pub mod context;
pub mod subject;
pub mod words;

use std::path::Path;

use base::Bytes;
use result::report::{Page, Report, ReportError};

use crate::inputs::Inputs;
use crate::output_file::OutputFile;

/// Largest page; that of this program is a hundredth of it.
const PAGE_BYTES_MAX: u64 = 64 << 20;

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

/// Writes a report to the path that `flag` gave, and returns the path.
pub fn write_page(
    path: &Path,
    flag: &'static str,
    inputs: &Inputs,
    page: &Page,
    report: &Report,
) -> anyhow::Result<String> {
    let mut file = OutputFile::create(path, flag, inputs)?;
    file.write_all(page.with(report)?.as_bytes())?;
    file.put_in_place()?;
    Ok(std::path::absolute(path)?.display().to_string())
}
