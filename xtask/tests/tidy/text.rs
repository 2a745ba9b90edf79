//! Rust source as text: lines without comments, and words with their borders.

/// The lines of a file with their numbers, without comments.
///
/// A `//` within a string cuts the line short; the rules here lose nothing by that.
pub(crate) fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| {
        let code = line.split_once("//").map_or(line, |(code, _)| code);
        (index + 1, code)
    })
}

/// Whether `line` contains `word` without a letter, digit or `_` directly beside it.
pub(crate) fn has_word(line: &str, word: &str) -> bool {
    let beside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        !beside(before.chars().next_back()) && !beside(after.chars().next())
    })
}

#[test]
fn words_have_borders() {
    assert!(has_word("unsafe { x }", "unsafe"));
    assert!(has_word("(unsafe)", "unsafe"));
    assert!(!has_word("unsafe_code", "unsafe"));
    assert!(!has_word("myunsafe", "unsafe"));
}

#[test]
fn comments_are_no_code() {
    let lines: Vec<_> = code_lines("a // b\n/// c\nd").collect();
    assert_eq!(lines, [(1, "a "), (2, ""), (3, "d")]);
}
