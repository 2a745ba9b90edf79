//! The document inside the page.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;

use super::Report;
use crate::store::StoreError;

/// The page embedded in this binary; empty if the build had none.
const BUILT_IN_PAGE: &str = include_str!(concat!(env!("OUT_DIR"), "/report.html"));

const DATA_OPEN: &str = "<script type=\"text/plain\" id=\"ssdlab-data\">";
const DATA_EMPTY: &str = "null";
const DATA_CLOSE: &str = "</script>";
/// The data of the Bench: none, because the page fetches it.
const DATA_FETCHED: &str = "library";
/// The data of the Bench with rows as a zlib stream: none, because the page fetches it.
const DATA_FETCHED_PACKED: &str = "packed-library";

const POLICY_OPEN: &str = "<meta http-equiv=\"Content-Security-Policy\" content=\"";
const POLICY_CLOSE: &str = "\"";
/// The part of the page's policy that forbids every request, and its replacement in the Bench.
const NO_REQUESTS: &str = "connect-src 'none'";
const OWN_REQUESTS: &str = "connect-src 'self'";

/// A failure to make a report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A run could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The binary contains no page.
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
    PlaceholderMissing { page: String },
    /// The page has no policy that the Bench could loosen.
    #[error(
        "the page has no content security policy with `{NO_REQUESTS}`; build it again with \
         `cargo xtask web`"
    )]
    PolicyMissing,
    /// The document could not be written as JSON.
    #[error("cannot write the report as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// The page that receives the document of a report.
#[derive(Debug)]
pub struct Page {
    text: Cow<'static, str>,
}

impl Page {
    /// The page of this binary, or one from a file.
    ///
    /// # Errors
    /// If there is no page, or it has no place for the data.
    pub fn load(from: Option<&Path>) -> Result<Self, ReportError> {
        let Some(path) = from else { return Self::built_in(BUILT_IN_PAGE) };
        let unreadable = |source| ReportError::PageUnreadable { path: path.to_owned(), source };
        let text =
            base::file::open_regular(path).and_then(std::io::read_to_string).map_err(unreadable)?;
        Self::checked(&path.display().to_string(), text.into())
    }

    fn built_in(text: &'static str) -> Result<Self, ReportError> {
        if text.is_empty() {
            return Err(ReportError::PageNotBuilt);
        }
        Self::checked("the built-in page", text.into())
    }

    fn checked(name: &str, text: Cow<'static, str>) -> Result<Self, ReportError> {
        if !text.contains(&placeholder()) {
            return Err(ReportError::PlaceholderMissing { page: name.to_owned() });
        }
        Ok(Self { text })
    }

    /// The page with the data of the report, as one self-contained document.
    ///
    /// # Errors
    /// If the report contains a value that JSON cannot represent.
    pub fn with(&self, report: &Report) -> Result<String, ReportError> {
        // In base64 no text (a drive's name, a path) can end the script element or open a comment.
        let data = format!("{DATA_OPEN}{}{DATA_CLOSE}", BASE64.encode(packed(report)?));
        Ok(self.text.replacen(&placeholder(), &data, 1))
    }
}

/// The page of the Bench: it fetches its data from the place that it came from, and from no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchPage {
    /// The document.
    pub html: String,
    /// Its content security policy, for a header.
    pub policy: String,
}

impl BenchPage {
    /// The document of a Bench whose rows are a zlib stream.
    pub(crate) fn of_packed_library(&self) -> String {
        let slot = |word: &str| format!("{DATA_OPEN}{word}{DATA_CLOSE}");
        self.html.replacen(&slot(DATA_FETCHED), &slot(DATA_FETCHED_PACKED), 1)
    }
}

impl Page {
    /// The page as the Bench.
    ///
    /// # Errors
    /// If the page has no content security policy that forbids all requests.
    pub fn bench(&self) -> Result<BenchPage, ReportError> {
        let policy = self.policy().filter(|policy| policy.contains(NO_REQUESTS));
        let forbidding = policy.ok_or(ReportError::PolicyMissing)?;
        let policy = forbidding.replacen(NO_REQUESTS, OWN_REQUESTS, 1);
        let data = format!("{DATA_OPEN}{DATA_FETCHED}{DATA_CLOSE}");
        let page = self.text.replacen(&placeholder(), &data, 1);
        Ok(BenchPage { html: page.replacen(forbidding, &policy, 1), policy })
    }

    /// The content security policy in the page, or `None` if it has none.
    fn policy(&self) -> Option<&str> {
        let start = self.text.find(POLICY_OPEN)? + POLICY_OPEN.len();
        let length = self.text[start..].find(POLICY_CLOSE)?;
        Some(&self.text[start..start + length])
    }
}

/// The place of the data in a page.
fn placeholder() -> String {
    format!("{DATA_OPEN}{DATA_EMPTY}{DATA_CLOSE}")
}

/// JSON as a zlib stream: an eighth of its size.
pub(crate) fn packed(value: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    let mut stream = ZlibEncoder::new(Vec::new(), Compression::best());
    serde_json::to_writer(&mut stream, value)?;
    stream.finish().map_err(serde_json::Error::io)
}

#[cfg(test)]
mod tests {
    use flate2::read::ZlibDecoder;

    use super::*;

    fn report(title: &str) -> Report {
        Report {
            report_version: 1,
            tool_version: "ssdlab".to_owned(),
            title: title.to_owned(),
            runs: Vec::new(),
            differences: Vec::new(),
            left_out: Vec::new(),
            words: Vec::new(),
            context: None,
            subject: None,
        }
    }

    const PAGE: &str = "<html><script type=\"text/plain\" id=\"ssdlab-data\">null</script></html>";

    #[test]
    fn no_text_gets_out_of_the_data() {
        let title = "</script><script>alert('x')</script><!-- $1 null";
        let html = Page::built_in(PAGE).unwrap().with(&report(title)).unwrap();
        assert_eq!(html.matches("</script>").count(), 1, "{html}");
        assert_eq!(html.matches('<').count(), 4, "{html}");
        let start = html.find(DATA_OPEN).unwrap() + DATA_OPEN.len();
        let end = html.find(DATA_CLOSE).unwrap();
        let stream = BASE64.decode(&html[start..end]).unwrap();
        let read: Report = serde_json::from_reader(ZlibDecoder::new(&stream[..])).unwrap();
        assert_eq!(read.title, title);
    }

    #[test]
    fn the_bench_may_ask_its_own_server_only() {
        let policy = "default-src 'none'; connect-src 'none'";
        let page = format!("{POLICY_OPEN}{policy}{POLICY_CLOSE} />{PAGE}");
        let page = Page::checked("page", page.into()).unwrap().bench().unwrap();
        assert_eq!(page.policy, "default-src 'none'; connect-src 'self'");
        assert!(page.html.contains(&page.policy) && !page.html.contains(policy), "{}", page.html);
        assert!(page.html.contains("id=\"ssdlab-data\">library</script>"), "{}", page.html);
        assert!(matches!(Page::built_in(PAGE).unwrap().bench(), Err(ReportError::PolicyMissing)));
    }

    #[test]
    fn a_missing_page_or_place_is_said() {
        let error = Page::built_in("").unwrap_err().to_string();
        assert!(error.contains("not built") && error.contains("cargo xtask web"), "{error}");
        let error = Page::load(Some(Path::new("none.html"))).unwrap_err();
        assert!(error.to_string().contains("none.html"), "{error}");
        let dir = tempfile::tempdir().unwrap();
        let other = dir.path().join("my.html");
        for text in ["", "<html></html>"] {
            std::fs::write(&other, text).unwrap();
            let error = Page::load(Some(&other)).unwrap_err().to_string();
            assert!(error.contains("my.html has no `<script"), "{error}");
        }
    }
}
