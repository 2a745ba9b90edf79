//! Values for people: numbers with separators, and enough of a value to recognise it, but never all of a hostile one.

/// Longest value that a message repeats whole, in characters.
const VALUE_CHARS_MAX: usize = 80;
/// Number of names to suggest for a mistyped one.
const NEAR_MAX: usize = 5;
/// Longest line that a message repeats from another library.
const LINE_CHARS_MAX: usize = 400;

/// A value as a message repeats it: the beginning of a long one.
pub fn shortened(value: &str) -> String {
    match value.char_indices().nth(VALUE_CHARS_MAX) {
        None => value.to_owned(),
        Some((end, _)) => format!("{}…", &value[..end]),
    }
}

/// The message of a parser, which may repeat a whole file: long words lose their end, long lines their middle.
pub fn shortened_words(message: &str) -> String {
    let line = |line: &str| shortened_line(&line.split(' ').map(shortened).collect::<Vec<_>>());
    message.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// The names most like `asked`, the closest first: at most five that share at least half of its letter pairs. Of equals
/// the shortest goes first, then the last.
pub fn nearest<'a>(asked: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let asked = asked.to_ascii_lowercase();
    let pairs = asked.as_bytes().windows(2);
    let shared = |name: &str| {
        let is_shared = |pair: &&[u8]| name.as_bytes().windows(2).any(|other| other == *pair);
        pairs.clone().filter(is_shared).count()
    };
    let scored = names.into_iter().map(|name| (shared(name), usize::MAX - name.len(), name));
    let mut near: Vec<_> =
        scored.filter(|(shared, ..)| *shared > 0 && 2 * shared >= pairs.len()).collect();
    near.sort_unstable_by(|a, b| b.cmp(a));
    near.into_iter().map(|(.., name)| name).take(NEAR_MAX).collect()
}

/// The names that [`nearest`] finds, in the words `; close to it: a, b`; empty without any.
pub fn close_to<'a>(asked: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let near = nearest(asked, names);
    if near.is_empty() { String::new() } else { format!("; close to it: {}", near.join(", ")) }
}

/// Digits with thousands separators: `12,345`.
pub fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Three significant digits, with thousands separators from 1,000 on: `51,200`, `12.3`, `0.05`.
pub fn significant(value: f64) -> String {
    let magnitude = value.abs().max(1e-9).log10().floor() as i32;
    if magnitude >= 2 {
        let step = 10_f64.powi(magnitude - 2);
        return grouped(&format!("{:.0}", (value / step).round() * step));
    }
    let text = format!("{value:.*}", (2 - magnitude) as usize);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// An item of a Markdown list behind its mark (`- `), in lines of at most 100 columns if its words permit that.
pub fn list_item(mark: &str, text: &str) -> String {
    hanging(mark, text, 100) + "\n"
}

/// A text behind its mark, in lines of at most this many columns if its words permit that, each below the first word.
pub fn hanging(mark: &str, text: &str, columns: usize) -> String {
    let indent = " ".repeat(mark.len());
    let mut lines = mark.to_owned();
    let mut column = mark.len();
    for (index, word) in text.split_whitespace().enumerate() {
        let width = word.chars().count();
        if index > 0 && column + 1 + width > columns {
            lines.push('\n');
            lines.push_str(&indent);
            column = indent.len();
        } else if index > 0 {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += width;
    }
    lines
}

fn shortened_line(words: &[String]) -> String {
    let line = words.join(" ");
    let chars: Vec<char> = line.chars().collect();
    if chars.len() <= LINE_CHARS_MAX {
        return line;
    }
    let half = LINE_CHARS_MAX / 2;
    let (head, tail) = (&chars[..half], &chars[chars.len() - half..]);
    head.iter().chain(&[' ', '…', ' ']).chain(tail).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_the_name_that_was_meant() {
        let drives = ["samsung-840-pro-512gb", "samsung-840-evo-250gb", "intel-ssd-730-480gb"];
        assert_eq!(nearest("840pro", drives), ["samsung-840-pro-512gb"]);
        assert_eq!(nearest("Samsung-840-pr", drives)[0], "samsung-840-pro-512gb");
        assert_eq!(close_to("consistancy", ["trim", "consistency"]), "; close to it: consistency");
        assert_eq!(close_to("befor", ["after", "before"]), "; close to it: before");
        for none in ["", "x", "quartz"] {
            assert_eq!(close_to(none, drives), "", "{none}");
        }
    }

    #[test]
    fn a_value_of_80_characters_stays_and_a_longer_one_is_cut() {
        let (fits, long) = ("é".repeat(80), "é".repeat(81));
        assert_eq!(shortened(&fits), fits);
        assert_eq!(shortened(&long), format!("{fits}…"));
    }

    #[test]
    fn a_message_keeps_its_words_and_both_ends_of_a_line() {
        let message = format!("line 1\n  | x = {}\n  unknown `a`, expected b", "1".repeat(200_000));
        let cut = format!("line 1\n  | x = {}…\n  unknown `a`, expected b", "1".repeat(80));
        assert_eq!(shortened_words(&message), cut);
        let words = shortened_words(&format!("unknown `{}`, expected b", "a ".repeat(100_000)));
        assert!(words.starts_with("unknown `a a ") && words.ends_with(", expected b"), "{words}");
        assert_eq!(words.chars().count(), LINE_CHARS_MAX + 3);
    }

    #[test]
    fn figures_have_three_digits() {
        let cases = [
            (51_234.0, "51,200"),
            (999.6, "1,000"),
            (123.4, "123"),
            (12.34, "12.3"),
            (70.0, "70"),
            (0.012_34, "0.0123"),
            (0.05, "0.05"),
            (0.0, "0"),
            (1_234_567.0, "1,230,000"),
        ];
        for (value, text) in cases {
            assert_eq!(significant(value), text);
        }
    }

    #[test]
    fn an_item_wraps_within_its_indent() {
        let word = "x".repeat(60);
        let item = |text: &str| list_item("- ", text);
        assert_eq!(item(&format!("{word} a {word} b")), format!("- {word} a\n  {word} b\n"));
        let exact = format!("{} {}", "x".repeat(47), "y".repeat(50));
        assert_eq!(item(&exact), format!("- {exact}\n"));
        assert_eq!(item(&format!("{exact} z")), format!("- {exact}\n  z\n"));
        let text = list_item("  - ", &"word ".repeat(40));
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| line.chars().count() <= 100));
        assert!(lines[0].starts_with("  - word") && lines[1].starts_with("    word"));
    }
}
