//! The output streams: data goes to stdout, messages to stderr. Neither ends the program if the
//! reader has gone; the macros of the standard library do.
//!
//! Names of drives, labels, streams and paths come from files and devices, and a terminal executes
//! control characters. Characters that a terminal would not show as written appear as their
//! numbers, as in `\u001b`, which JSON also accepts within a string. If stdout has to contain one
//! JSON document, it contains no second one on any way out.

use std::borrow::Cow;
use std::fmt::Arguments;
use std::io::{self, ErrorKind, StdoutLock, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Columns of texts that every terminal shows whole.
pub const COLUMNS: usize = 80;

/// The reason why stdout takes no more data, from the first time on.
static DATA_ENDED: OnceLock<io::Error> = OnceLock::new();

/// Whether stdout has to contain one JSON document, and whether that has begun.
static IS_DOCUMENT: AtomicBool = AtomicBool::new(false);
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);

/// Writes a line of data to stdout.
macro_rules! data {
    ($($words:tt)*) => { $crate::ui::out::write_data(format_args!($($words)*)) };
}

/// Writes a line of messages to stderr.
macro_rules! talk {
    ($($words:tt)*) => { $crate::ui::out::write_talk(format_args!($($words)*)) };
}

pub(crate) use {data, talk};

/// From now on stdout contains one JSON document, or text.
pub fn set_document(is_document: bool) {
    // Memory for what is written is taken now, not when there is none left.
    let _ = io::stdout().flush();
    IS_DOCUMENT.store(is_document, Ordering::Relaxed);
}

/// Whether stdout has to contain one JSON document.
pub fn is_document() -> bool {
    IS_DOCUMENT.load(Ordering::Relaxed)
}

/// Whether a document may begin now; records that it has. Call it under the lock of stdout.
fn may_begin() -> bool {
    !is_document() || !HAS_BEGUN.swap(true, Ordering::Relaxed)
}

/// See [`data!`]. After the first error nothing more is written; [`data_lost`] returns that error
/// at the end.
pub fn write_data(line: Arguments) {
    write_visible(&visible(&line.to_string()));
}

/// Writes a line that a terminal shows as it should.
fn write_visible(line: &str) {
    let mut stdout = io::stdout().lock();
    if DATA_ENDED.get().is_some() || !may_begin() {
        return;
    }
    if let Err(error) = writeln!(stdout, "{line}").and_then(|()| stdout.flush()) {
        let _ = DATA_ENDED.set(error);
    }
}

/// Emphasis of a line of data on a terminal that shows it. `NO_COLOR` and `TERM=dumb` are obeyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emphasis {
    /// The name of a thing.
    Title,
    /// Words that are less important than the others.
    Aside,
    /// Something that needs attention.
    Attention,
}

/// Writes a line of data with an emphasis.
pub fn write_emphasised(emphasis: Emphasis, line: &str) {
    let style = console::Style::new().for_stdout();
    let style = match emphasis {
        Emphasis::Title => style.bold(),
        Emphasis::Aside => style.dim(),
        Emphasis::Attention => style.yellow(),
    };
    write_visible(&style.apply_to(visible(line)).to_string());
}

/// See [`talk!`]. Lost messages are no reason to end.
pub fn write_talk(line: Arguments) {
    let _ = writeln!(io::stderr(), "{}", visible(&line.to_string()));
}

/// The error behind missing data on stdout; `None` if its reader took the wanted part and left.
pub fn data_lost() -> Option<&'static io::Error> {
    DATA_ENDED.get().filter(|error| error.kind() != ErrorKind::BrokenPipe)
}

/// Prints the reason for the end of the program, beside its other work: on stderr, and in the one
/// document if that has not begun. Allocates nothing. A document in progress ends first; nothing is
/// written to stdout while the lock lives. The words must need no escape in JSON.
pub fn last_words(reason: &str, message: Arguments, exit_code: u8) -> StdoutLock<'static> {
    let _ = writeln!(io::stderr(), "error: {message}");
    let mut stdout = io::stdout().lock();
    if is_document() && may_begin() {
        let _ = writeln!(
            stdout,
            r#"{{"error":{{"exit_code":{exit_code},"message":"{message}","reason":"{reason}"}},"run_dirs":[]}}"#
        );
        let _ = stdout.flush();
    }
    stdout
}

/// The text in a safe form for a terminal: control characters except line feed and tab, and marks
/// of text direction, as their numbers.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_obeyed(c) {
            shown.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Whether a terminal does something else with the character than show it.
fn is_obeyed(c: char) -> bool {
    let turns =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || c.is_control() && c != '\n' && c != '\t'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        assert_eq!(visible("\u{1b}[2J\u{1b}]0;x\u{7}\r"), r"\u001b[2J\u001b]0;x\u0007\u000d");
        assert_eq!(visible("\u{9b}31m \u{202e}txt"), r"\u009b31m \u202etxt");
        let plain = "a name: Größe, 東芝\n\tand a second line";
        assert!(matches!(visible(plain), Cow::Borrowed(text) if text == plain));
    }

    /// The escapes of JSON omit some of these characters.
    #[test]
    fn a_document_stays_the_same_document() {
        let document = serde_json::json!({ "name": "\u{1b}[31m\u{9b}\u{7f}\u{202e}" });
        let text = visible(&document.to_string()).into_owned();
        assert!(!text.contains(is_obeyed), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), document);
    }
}
