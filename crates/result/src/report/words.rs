//! The editor's words: a Markdown file with a section for each chapter of the page.
//!
//! A heading of the first or second level names a chapter: a test by its name or its heading, or
//! `Verdict` for the top of the page, where the text before any heading stands, too. Figures are
//! quoted as `{{METRIC}}` or `{{DRIVE METRIC}}`; the page fills them in. The content becomes a tree
//! of known nodes: raw HTML is text, pictures are their descriptions, and links lead to `http`,
//! `https` or within the page, so that nothing in the file runs or loads.

mod markdown;
mod quote;

use base::text::shortened;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Report, RunView};

/// Chapter at the top of the page.
pub const TOP: &str = "verdict";
/// Largest file; a long review has 50 KB.
pub const WORDS_BYTES_MAX: u64 = 1 << 20;

/// A chapter that words can stand in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chapter {
    /// Name of the test.
    pub test: String,
    /// Heading on the page.
    pub heading: String,
}

/// The words of one chapter.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
pub struct WordsSection {
    /// Name of the test, or `verdict` for the top of the page.
    pub chapter: String,
    /// Paragraphs, lists and so on.
    pub content: Vec<WordsNode>,
}

/// A part of a text with its parts.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema, PartialEq)]
pub struct WordsNode {
    /// Kind of the part.
    pub kind: WordsKind,
    /// Text of a part without parts; empty in others.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Address of a link; missing in other parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The quoted figure; missing in other parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<QuotedFigure>,
    /// The parts, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<WordsNode>,
}

/// Kind of a part of a text.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum WordsKind {
    #[default]
    Paragraph,
    /// A heading within a chapter.
    Heading,
    /// A list with marks.
    List,
    /// A list with numbers.
    NumberedList,
    /// An item of a list.
    Item,
    /// A quotation.
    Quote,
    /// Lines of code.
    CodeBlock,
    /// A line between paragraphs.
    Rule,
    /// Plain text.
    Text,
    /// Text with stress.
    Emphasis,
    /// Text with more stress.
    Strong,
    /// Code within a line.
    Code,
    Link,
    /// A figure of a run.
    Figure,
    /// The end of a line.
    Break,
}

/// A figure that a text quotes; its value is that of the run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub struct QuotedFigure {
    /// Name of the run directory.
    pub run_id: String,
    /// Name of the metric.
    pub metric: String,
}

/// A fault in the words, with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct WordsError {
    /// Line in the file, from 1.
    pub line: usize,
    /// The fault, and what was expected.
    pub fault: String,
}

/// Adds the words of a file to a report. Text before any heading belongs to the chapter `lead`, and
/// figures come from the runs whose names are `of_runs`.
///
/// # Errors
/// For a heading that is no chapter of the page, a figure that no run has, or one that several
/// have; a link to anywhere else than `http`, `https` and the page; and text that is nested too
/// deeply.
pub fn add(
    report: &mut Report,
    text: &str,
    chapters: &[Chapter],
    lead: &str,
    of_runs: &[&str],
) -> Result<(), WordsError> {
    let all = report.runs.iter();
    let runs: Vec<_> = all.filter(|run| of_runs.contains(&run.run_id.as_str())).collect();
    let sections = Reader { chapters, runs: &runs }.read(text, lead)?;
    report.words.extend(sections.into_iter().filter(|section| !section.content.is_empty()));
    Ok(())
}

/// The surroundings of a text.
struct Reader<'a> {
    chapters: &'a [Chapter],
    runs: &'a [&'a RunView],
}

impl Reader<'_> {
    fn read(&self, text: &str, lead: &str) -> Result<Vec<WordsSection>, WordsError> {
        let section =
            |chapter: &str| WordsSection { chapter: chapter.to_owned(), content: Vec::new() };
        let mut sections = vec![section(lead)];
        for (line, block) in markdown::blocks(text)? {
            match block {
                markdown::Block::Chapter(heading) => {
                    let chapter = self.chapter(&heading);
                    sections.push(section(&chapter.map_err(|fault| WordsError { line, fault })?));
                }
                markdown::Block::Part(node) => {
                    let Some(last) = sections.last_mut() else { continue };
                    let filled = quote::fill(node, self.runs, &last.chapter);
                    last.content.push(filled.map_err(|fault| WordsError { line, fault })?);
                }
            }
        }
        Ok(sections)
    }

    /// The test whose chapter a heading names.
    fn chapter(&self, heading: &str) -> Result<String, String> {
        let is_same = |name: &str| name.eq_ignore_ascii_case(heading);
        if is_same(TOP) {
            return Ok(TOP.to_owned());
        }
        let named = self.chapters.iter().find(|one| is_same(&one.test) || is_same(&one.heading));
        let is_here = |test: &str| self.runs.iter().any(|run| run.test == test);
        match named {
            Some(chapter) if is_here(&chapter.test) => Ok(chapter.test.clone()),
            Some(chapter) => Err(format!("the page has no run of {} for its words", chapter.test)),
            None => {
                let here = self.chapters.iter().filter(|chapter| is_here(&chapter.test));
                let names: Vec<_> = here.map(|chapter| chapter.test.as_str()).collect();
                Err(format!(
                    "no chapter `{}`; expected {TOP} or {}",
                    shortened(heading),
                    names.join(", ")
                ))
            }
        }
    }
}
