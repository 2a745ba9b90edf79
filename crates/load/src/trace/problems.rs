//! Problems of a reader: counted, and the text of the first ones kept.

use serde::Serialize;

/// Bad lines whose text is kept.
const KEPT_MAX: usize = 20;

/// Characters kept of a bad line.
const TEXT_CHARS_MAX: usize = 120;

/// One unreadable line, or one unreadable place in a binary file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BadLine {
    /// Number of the line from 1; offset of the byte in a binary file.
    pub at: u64,
    /// The fault.
    pub reason: String,
    /// Its first characters.
    pub text: String,
}

/// Problems of one reader.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Problems {
    /// Unreadable lines (binary: places).
    pub bad_lines: u64,
    /// The first of them.
    pub first_bad_lines: Vec<BadLine>,
    /// Lines that carry no I/O by their format: headers, comments, other events, summaries.
    pub other_lines: u64,
    /// I/Os of other devices or streams than the selected one (or the first one).
    pub other_devices: u64,
    /// I/Os that stood behind later ones and were sorted by time, those of `late_ios` included.
    pub moved_ios: u64,
    /// I/Os out of order beyond the window, whose time became that of the preceding one.
    pub late_ios: u64,
    /// Times that the clock went back; what follows was put behind what came before.
    pub clock_restarts: u64,
    /// Times that the clock wrapped, a counter of 32 bits.
    pub clock_wraps: u64,
    /// I/Os whose content a format cannot express, omitted on writing.
    pub not_expressible: u64,
    /// A doubt about the times, in a sentence, or `None` if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_doubt: Option<String>,
    /// Facts that the file does not contain, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

impl Problems {
    /// Counts an unreadable line.
    pub fn bad(&mut self, at: u64, reason: impl FnOnce() -> String, text: &[u8]) {
        self.bad_lines += 1;
        if self.first_bad_lines.len() < KEPT_MAX {
            let text = String::from_utf8_lossy(&text[..text.len().min(4 * TEXT_CHARS_MAX)]);
            let text = text.chars().take(TEXT_CHARS_MAX).collect();
            self.first_bad_lines.push(BadLine { at, reason: reason(), text });
        }
    }

    /// Whether there was no problem.
    pub fn is_empty(&self) -> bool {
        self.sentences().is_empty()
    }

    /// One sentence for each kind of problem.
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        for bad in &self.first_bad_lines {
            sentences.push(format!("line {}: {}: `{}`", bad.at, bad.reason, bad.text));
        }
        let mut say = |count: u64, what: &str| {
            if count > 0 {
                sentences.push(format!("{count} {what}"));
            }
        };
        say(self.bad_lines, "lines could not be read");
        say(self.other_devices, "I/Os of other devices were left out");
        let sorted = self.moved_ios.saturating_sub(self.late_ios);
        say(sorted, "I/Os stood behind later ones and were sorted by time");
        say(self.late_ios, "I/Os stood too far out of order; their time was moved up");
        say(self.not_expressible, "I/Os cannot be expressed in this format and were left out");
        let times =
            |count: u64| if count == 1 { "once".to_owned() } else { format!("{count} times") };
        if self.clock_restarts > 0 {
            sentences.push(format!(
                "the clock of the trace went back {}: what follows was put behind what came before, as recordings one \
                 after the other; sort the file by time first if they ran at the same time",
                times(self.clock_restarts)
            ));
        }
        if self.clock_wraps > 0 {
            sentences.push(format!(
                "the clock of the trace, a counter of 32 bits, wrapped {}: its times go on from there",
                times(self.clock_wraps)
            ));
        }
        sentences.extend(self.time_doubt.clone());
        sentences.extend(self.remarks.iter().cloned());
        sentences
    }
}
