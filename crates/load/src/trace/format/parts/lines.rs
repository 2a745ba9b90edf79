//! Lines of any length in bounded memory, and the source that parses them.

use std::io::{BufRead, BufReader, Read};

use crate::trace::format::raw::{LineContent, LineFormat, Raw, RawSource};
use crate::trace::input::BoxedInput;
use crate::trace::{Problems, TraceError};

/// Longer lines count as bad and are skipped; no format has such lines.
const LINE_BYTES_MAX: usize = 1 << 16;

/// I/Os of a text format.
pub struct LineSource {
    what: String,
    input: BufReader<BoxedInput>,
    format: Box<dyn LineFormat>,
    line: Vec<u8>,
    number: u64,
    problems: Problems,
}

impl LineSource {
    /// Reads lines of a format; `what` names the input in errors.
    pub fn new(input: BoxedInput, what: &str, format: Box<dyn LineFormat>) -> Self {
        Self {
            what: what.to_owned(),
            input: BufReader::with_capacity(1 << 18, input),
            format,
            line: Vec::new(),
            number: 0,
            problems: Problems::default(),
        }
    }

    /// Reads the next line into `self.line`; false at the end of the input.
    fn next_line(&mut self) -> Result<bool, TraceError> {
        self.line.clear();
        let limit = LINE_BYTES_MAX as u64 + 1;
        let mut limited = Read::take(&mut self.input, limit);
        let read = limited.read_until(b'\n', &mut self.line);
        if read.map_err(TraceError::read(&self.what))? == 0 {
            return Ok(false);
        }
        self.number += 1;
        if self.line.len() > LINE_BYTES_MAX && !self.line.ends_with(b"\n") {
            let too_long = || format!("longer than {LINE_BYTES_MAX} bytes");
            self.problems.bad(self.number, too_long, &self.line);
            self.input.skip_until(b'\n').map_err(TraceError::read(&self.what))?;
            self.line.clear();
        }
        Ok(true)
    }
}

/// A text without the byte order mark that some editors and spreadsheets put in front.
pub(crate) fn without_bom(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

impl RawSource for LineSource {
    fn next_raw(&mut self) -> Result<Option<Raw>, TraceError> {
        while self.next_line()? {
            let line = self.line.trim_ascii_end();
            let line = if self.number == 1 { without_bom(line) } else { line };
            if line.is_empty() {
                continue;
            }
            match self.format.parse(line) {
                Ok(LineContent::Io(raw)) => return Ok(Some(raw)),
                Ok(LineContent::Other) => self.problems.other_lines += 1,
                Ok(LineContent::OtherDevice) => self.problems.other_devices += 1,
                Err(fault) => self.problems.bad(self.number, || fault.to_string(), line),
            }
        }
        Ok(None)
    }

    fn problems(&self) -> Problems {
        self.problems.clone()
    }

    fn stream_names(&self) -> Vec<String> {
        self.format.stream_names()
    }

    fn lacks_completions(&self) -> bool {
        self.format.lacks_completions()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::format::{Format, FormatOptions};

    fn source(text: Vec<u8>) -> LineSource {
        let format = "alibaba".parse::<Format>().unwrap().lines(&FormatOptions::default()).unwrap();
        LineSource::new(Box::new(std::io::Cursor::new(text)), "memory", format)
    }

    #[test]
    fn a_line_without_end_is_bad_and_costs_no_memory() {
        let mut text = b"1,R,0,4096,5\n".to_vec();
        text.extend(std::iter::repeat_n(b'9', 3 << 20));
        text.extend(b"\n1,W,4096,512,6\nnonsense\n");
        let mut source = source(text);
        assert_eq!(source.next_raw().unwrap().unwrap().record.len, 4096);
        assert_eq!(source.next_raw().unwrap().unwrap().record.len, 512);
        assert_eq!(source.next_raw().unwrap(), None);
        let problems = source.problems();
        assert_eq!(problems.bad_lines, 2);
        assert_eq!(problems.first_bad_lines[0].at, 2);
        assert_eq!(problems.first_bad_lines[1].at, 4);
        assert!(source.line.capacity() < 4 * LINE_BYTES_MAX, "{}", source.line.capacity());
    }
}
