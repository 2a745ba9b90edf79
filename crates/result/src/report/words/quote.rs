//! Quoted figures: `{{METRIC}}` and `{{DRIVE METRIC}}` in a text.
//!
//! DRIVE is the name of a drive, its target string or a run id; behind a name or target string the
//! spare area may stand, as in `{{sim:NAME 25% iops_steady_mean}}`.

use base::text::shortened;

use super::{QuotedFigure, WordsKind, WordsNode};
use crate::metrics::find;
use crate::report::RunView;

const OPEN: &str = "{{";
const CLOSE: &str = "}}";
/// The spare area that a text means if it names none.
const DEFAULT: &str = "default";
/// Runs that a message names.
const NAMED_MAX: usize = 6;

/// The node with its quoted figures as nodes of their own.
///
/// # Errors
/// For a quote without an end, and for a figure that not exactly one run has.
pub(super) fn fill(node: WordsNode, runs: &[&RunView], chapter: &str) -> Result<WordsNode, String> {
    if node.kind == WordsKind::CodeBlock {
        return Ok(node);
    }
    let mut content = Vec::new();
    for part in node.content {
        if part.kind == WordsKind::Text {
            content.extend(parts(&part.text, runs, chapter)?);
        } else {
            content.push(fill(part, runs, chapter)?);
        }
    }
    Ok(WordsNode { content, ..node })
}

fn parts(text: &str, runs: &[&RunView], chapter: &str) -> Result<Vec<WordsNode>, String> {
    let plain = |text: &str| WordsNode {
        kind: WordsKind::Text,
        text: text.to_owned(),
        ..WordsNode::default()
    };
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some((before, quote)) = rest.split_once(OPEN) {
        let (quote, after) = quote
            .split_once(CLOSE)
            .ok_or_else(|| format!("no `{CLOSE}` behind `{OPEN}{}`", shortened(quote)))?;
        let figure = Some(figure(quote.trim(), runs, chapter)?);
        parts.extend([
            plain(before),
            WordsNode { kind: WordsKind::Figure, figure, ..WordsNode::default() },
        ]);
        rest = after;
    }
    parts.push(plain(rest));
    parts.retain(|part| part.kind != WordsKind::Text || !part.text.is_empty());
    Ok(parts)
}

/// The figure of the one run that a quote means.
fn figure(quote: &str, runs: &[&RunView], chapter: &str) -> Result<QuotedFigure, String> {
    let (drive, metric) = match quote.rsplit_once(char::is_whitespace) {
        Some((drive, metric)) => (Some(drive.trim()), metric),
        None => (None, quote),
    };
    let named: Vec<_> =
        runs.iter().copied().filter(|run| drive.is_none_or(|drive| is_meant(run, drive))).collect();
    if let (Some(drive), true) = (drive, named.is_empty()) {
        return Err(format!(
            "`{OPEN}{}{CLOSE}`: no run of `{}`; expected the name of a drive, its target string or a run id: {}",
            shortened(quote),
            shortened(drive),
            names(runs, None)
        ));
    }
    let having: Vec<_> =
        named.iter().copied().filter(|run| run.metrics.contains_key(metric)).collect();
    let known: Vec<_> = having
        .iter()
        .copied()
        .filter(|run| run.metrics.get(metric).is_some_and(Option::is_some))
        .collect();
    if known.is_empty() {
        return Err(format!("`{OPEN}{}{CLOSE}`: {}", shortened(quote), missing(metric, &having)));
    }
    let run = one_of(&known, chapter).ok_or_else(|| {
        let quote = shortened(quote);
        let choices = names(&known, Some(metric));
        format!("`{OPEN}{quote}{CLOSE}`: {} runs have it; name one: {choices}", known.len())
    })?;
    Ok(QuotedFigure { run_id: run.run_id.clone(), metric: metric.to_owned() })
}

/// Whether words before a metric mean this run.
fn is_meant(run: &RunView, words: &str) -> bool {
    let without_variant = words.strip_suffix(run.span.variant.as_str()).map(str::trim_end);
    words == run.run_id
        || run.is_of_drive(words)
        || without_variant.is_some_and(|words| run.is_of_drive(words))
}

/// The only run, or the only one of the chapter, or of those the only one without extra spare area.
fn one_of<'a>(runs: &[&'a RunView], chapter: &str) -> Option<&'a RunView> {
    let of_chapter: Vec<_> = runs.iter().copied().filter(|run| run.test == chapter).collect();
    let near = if of_chapter.is_empty() { runs.to_vec() } else { of_chapter };
    let usual: Vec<_> = near.iter().copied().filter(|run| run.span.variant == DEFAULT).collect();
    match (near.as_slice(), usual.as_slice()) {
        ([only], _) | (_, [only]) => Some(*only),
        _ => None,
    }
}

fn missing(metric: &str, having: &[&RunView]) -> String {
    if let Some(run) = having.first() {
        let marks = run.marks.iter().filter(|mark| mark.metric == metric);
        let marks: Vec<_> = marks.map(|mark| mark.text.as_str()).collect();
        let why = if marks.is_empty() { String::new() } else { format!(": {}", marks.join("; ")) };
        return format!("{} has no value for it{why}", run.run_id);
    }
    if find(metric).is_some() {
        return "no run on the page has this figure".to_owned();
    }
    format!("no figure is called `{}`; docs/reference/metrics.md lists them", shortened(metric))
}

/// Runs as a quote would name them.
fn names(runs: &[&RunView], metric: Option<&str>) -> String {
    let name = |run: &&RunView| {
        let drive = if run.target.spec.is_empty() { &run.target.name } else { &run.target.spec };
        match metric {
            Some(metric) => format!("{OPEN}{drive} {} {metric}{CLOSE}", run.span.variant),
            None => drive.clone(),
        }
    };
    let mut names: Vec<_> = runs.iter().map(name).collect();
    names.sort();
    names.dedup();
    let more = names.len().saturating_sub(NAMED_MAX);
    names.truncate(NAMED_MAX);
    let more = (more > 0).then(|| format!("and {more} more"));
    names.into_iter().chain(more).collect::<Vec<_>>().join(", ")
}
