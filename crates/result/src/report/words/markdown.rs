//! From Markdown to nodes.

use base::text::shortened;
use pulldown_cmark::{Event, HeadingLevel, OffsetIter, Options, Parser, Tag, TagEnd};

use super::{WordsError, WordsKind, WordsNode};

/// Parts within parts.
const DEPTH_MAX: usize = 24;

/// A block of the file.
pub(super) enum Block {
    /// A heading that names a chapter.
    Chapter(String),
    /// Anything else.
    Part(WordsNode),
}

/// The blocks of a text with their lines.
///
/// # Errors
/// For a link that is not allowed, and for parts that are nested too deeply.
pub(super) fn blocks(text: &str) -> Result<Vec<(usize, Block)>, WordsError> {
    let mut blocks = Vec::new();
    let mut events = Parser::new_ext(text, Options::empty()).into_offset_iter();
    let mut lines = Lines { text, at: 0, line: 1 };
    while let Some((event, range)) = events.next() {
        let line = lines.at(range.start);
        let placed = |fault| WordsError { line, fault };
        let is_chapter = matches!(
            &event,
            Event::Start(Tag::Heading { level: HeadingLevel::H1 | HeadingLevel::H2, .. })
        );
        let node = node(event, &mut events, 0).map_err(placed)?;
        blocks.push((
            line,
            if is_chapter { Block::Chapter(plain(&node)) } else { Block::Part(node) },
        ));
    }
    Ok(blocks)
}

/// Lines of rising places in a text.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl Lines<'_> {
    fn at(&mut self, place: usize) -> usize {
        let passed = self.text.get(self.at..place).unwrap_or_default();
        self.line += passed.matches('\n').count();
        self.at = place.max(self.at);
        self.line
    }
}

/// The node that an event begins, with everything up to its end.
fn node(event: Event<'_>, rest: &mut OffsetIter<'_>, depth: usize) -> Result<WordsNode, String> {
    let (tag, mut node) = match event {
        Event::Start(tag) => (tag.to_end(), of_tag(&tag)?),
        other => return Ok(leaf(other)),
    };
    if depth >= DEPTH_MAX {
        return Err(format!("more than {DEPTH_MAX} parts within each other"));
    }
    while let Some((event, _)) = rest.next() {
        if event == Event::End(tag) {
            break;
        }
        let part = self::node(event, rest, depth + 1)?;
        match node.content.last_mut() {
            // The parser splits a text where a mark might begin.
            Some(last) if last.kind == WordsKind::Text && part.kind == WordsKind::Text => {
                last.text.push_str(&part.text);
            }
            _ => node.content.push(part),
        }
    }
    Ok(if matches!(tag, TagEnd::Image) { text(plain(&node)) } else { node })
}

fn of_tag(tag: &Tag<'_>) -> Result<WordsNode, String> {
    let kind = match tag {
        Tag::Heading { .. } => WordsKind::Heading,
        Tag::List(None) => WordsKind::List,
        Tag::List(Some(_)) => WordsKind::NumberedList,
        Tag::Item => WordsKind::Item,
        Tag::BlockQuote(_) => WordsKind::Quote,
        Tag::CodeBlock(_) => WordsKind::CodeBlock,
        Tag::Emphasis => WordsKind::Emphasis,
        Tag::Strong => WordsKind::Strong,
        Tag::Link { dest_url, .. } => return link(dest_url),
        _ => WordsKind::Paragraph,
    };
    Ok(WordsNode { kind, ..WordsNode::default() })
}

fn link(address: &str) -> Result<WordsNode, String> {
    let is_allowed = ["https://", "http://", "#"].iter().any(|start| address.starts_with(start));
    if !is_allowed {
        return Err(format!(
            "a link to `{}`; expected an address with https:// or http://, or #SECTION of the page",
            shortened(address)
        ));
    }
    let link = Some(address.to_owned());
    Ok(WordsNode { kind: WordsKind::Link, link, ..WordsNode::default() })
}

fn leaf(event: Event<'_>) -> WordsNode {
    let of = |kind, text: &str| WordsNode { kind, text: text.to_owned(), ..WordsNode::default() };
    match event {
        Event::Code(code) => of(WordsKind::Code, &code),
        Event::HardBreak => of(WordsKind::Break, ""),
        Event::Rule => of(WordsKind::Rule, ""),
        Event::SoftBreak => of(WordsKind::Text, " "),
        Event::Text(words) | Event::Html(words) | Event::InlineHtml(words) => {
            text(words.to_string())
        }
        _ => of(WordsKind::Text, ""),
    }
}

fn text(text: String) -> WordsNode {
    WordsNode { kind: WordsKind::Text, text, ..WordsNode::default() }
}

/// The text of a node without its marks.
fn plain(node: &WordsNode) -> String {
    let parts = node.content.iter().map(plain).collect::<String>();
    format!("{}{parts}", node.text).trim().to_owned()
}
