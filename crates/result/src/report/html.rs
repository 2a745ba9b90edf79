//! The document inside the page.

use std::path::{Path, PathBuf};

use super::Report;
use crate::store::{StoreError, replace_file};

/// The page as it was built into this binary; empty where it was not.
const BUILT_IN_PAGE: &str = include_str!(concat!(env!("OUT_DIR"), "/report.html"));

const DATA_OPEN: &str = "<script type=\"application/json\" id=\"ssdlab-data\">";
const DATA_EMPTY: &str = "null";
const DATA_CLOSE: &str = "</script>";

/// A failure to make a report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A run could not be read, or the file not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The binary was built without the page.
    #[error(
        "the report page was not built into this ssdlab; all data is in the run directory, and \
         `cargo xtask web` followed by a rebuild adds the page"
    )]
    PageNotBuilt,
    /// The page given on the command line cannot be read.
    #[error("cannot read the report page {}: {source}", path.display())]
    PageUnreadable {
        /// The file.
        path: PathBuf,
        /// The answer of the operating system.
        source: std::io::Error,
    },
    /// The page has no place for the data.
    #[error(
        "{page} has no `{DATA_OPEN}{DATA_EMPTY}{DATA_CLOSE}` for the data to go to; \
         build the page again with `cargo xtask web`"
    )]
    PlaceholderMissing {
        /// Which page.
        page: String,
    },
    /// The document could not be written as JSON.
    #[error("cannot write the report as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// The page with the report's data in it, as one self-contained document. `web_override` takes the
/// page from a file instead of from this binary.
///
/// # Errors
/// Where there is no page, or it has no place for the data.
pub fn render_html(report: &Report, web_override: Option<&Path>) -> Result<String, ReportError> {
    let Some(path) = web_override else {
        return fill_page("the built-in page", BUILT_IN_PAGE, report);
    };
    let page = std::fs::read_to_string(path)
        .map_err(|source| ReportError::PageUnreadable { path: path.to_owned(), source })?;
    fill_page(&path.display().to_string(), &page, report)
}

/// Writes the page to `path`; an older file there is replaced only by the whole new one.
///
/// # Errors
/// What the file system says.
pub fn write_report(path: &Path, html: &str) -> Result<(), ReportError> {
    Ok(replace_file(path, html.as_bytes())?)
}

fn fill_page(name: &str, page: &str, report: &Report) -> Result<String, ReportError> {
    if page.is_empty() {
        return Err(ReportError::PageNotBuilt);
    }
    let placeholder = format!("{DATA_OPEN}{DATA_EMPTY}{DATA_CLOSE}");
    if !page.contains(&placeholder) {
        return Err(ReportError::PlaceholderMissing { page: name.to_owned() });
    }
    let data = format!("{DATA_OPEN}{}{DATA_CLOSE}", script_safe_json(report)?);
    Ok(page.replacen(&placeholder, &data, 1))
}

/// JSON without `<`, so that no text in it (a drive's name, a path) can end the script element or
/// open a comment.
fn script_safe_json(report: &Report) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string(report)?.replace('<', "\\u003c"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(title: &str) -> Report {
        Report {
            report_version: 1,
            tool_version: "ssdlab".to_owned(),
            title: title.to_owned(),
            runs: Vec::new(),
            differences: Vec::new(),
        }
    }

    const PAGE: &str =
        "<html><script type=\"application/json\" id=\"ssdlab-data\">null</script></html>";

    #[test]
    fn no_text_gets_out_of_the_data() {
        let title = "</script><script>alert('x')</script><!-- $1 null";
        let html = fill_page("page", PAGE, &report(title)).unwrap();
        assert_eq!(html.matches("</script>").count(), 1, "{html}");
        assert_eq!(html.matches('<').count(), 4, "{html}");
        let start = html.find(DATA_OPEN).unwrap() + DATA_OPEN.len();
        let end = html.find(DATA_CLOSE).unwrap();
        let read: Report = serde_json::from_str(&html[start..end]).unwrap();
        assert_eq!(read.title, title);
    }

    #[test]
    fn a_missing_page_or_place_is_said() {
        let error = fill_page("page", "", &report("x")).unwrap_err().to_string();
        assert!(error.contains("not built") && error.contains("cargo xtask web"), "{error}");
        let error = fill_page("my.html", "<html></html>", &report("x")).unwrap_err().to_string();
        assert!(error.contains("my.html has no `<script"), "{error}");
        let error = render_html(&report("x"), Some(Path::new("none.html"))).unwrap_err();
        assert!(error.to_string().contains("none.html"), "{error}");
    }

    #[test]
    fn a_report_is_written_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("report.html");
        for text in ["first", "second"] {
            write_report(&path, text).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(write_report(Path::new("/"), "x").is_err());
    }
}
