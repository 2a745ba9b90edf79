//! The seconds of the phase in progress, for readers who watch a run. The file is a notice, not a
//! result: it is not synced, nothing is computed from it, and it goes with its writer.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name of the file in a run directory. It is one of the temporary files that mean nothing once
/// their writer is gone.
pub const LIVE_FILE: &str = ".live.tmp";

/// Most bytes that a reader takes at once, and of one line.
const PIECE_BYTES: u64 = 1 << 20;

/// One second of the phase in progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LiveSecond {
    /// Name of the phase.
    pub phase: String,
    /// Index of the second within the phase.
    pub second: u32,
    /// Completed commands divided by the true interval.
    pub iops: f64,
    /// 99th percentile of the latency; null if too few commands ended.
    pub latency_ns_p99: Option<u64>,
}

/// The writer. A failure to write loses the notice, never the run.
#[derive(Debug)]
pub struct LiveLog {
    path: PathBuf,
    file: File,
}

impl LiveLog {
    /// Begins the file in a run directory.
    ///
    /// # Errors
    /// The answer of the operating system.
    pub fn create(run_dir: &Path) -> io::Result<Self> {
        let path = run_dir.join(LIVE_FILE);
        let _ = fs::remove_file(&path);
        Ok(Self { file: File::create_new(&path)?, path })
    }

    /// Adds a second: one JSON object in one line.
    ///
    /// # Errors
    /// The answer of the operating system.
    pub fn add(&mut self, second: &LiveSecond) -> io::Result<()> {
        let mut line = serde_json::to_vec(second)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }
}

impl Drop for LiveLog {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// A reader that follows the file.
#[derive(Debug)]
pub struct LiveTail {
    path: PathBuf,
    at: u64,
}

impl LiveTail {
    /// A reader at the beginning.
    pub fn new(run_dir: &Path) -> Self {
        Self { path: run_dir.join(LIVE_FILE), at: 0 }
    }

    /// The seconds that were added since the last call; none if there is no file. Lines that are no
    /// seconds are skipped.
    pub fn read(&mut self) -> Vec<LiveSecond> {
        let Ok(text) = self.read_piece() else { return Vec::new() };
        // The writer may be within a line; a piece without an end of line is no line at all.
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        self.at +=
            if whole == 0 && text.len() as u64 == PIECE_BYTES { PIECE_BYTES } else { whole as u64 };
        let lines = text[..whole].split(|byte| *byte == b'\n');
        lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }

    fn read_piece(&mut self) -> io::Result<Vec<u8>> {
        let is_file = fs::metadata(&self.path)?.is_file();
        let mut text = Vec::new();
        if is_file {
            let mut file = File::open(&self.path)?;
            if file.metadata()?.len() < self.at {
                self.at = 0;
            }
            file.seek(SeekFrom::Start(self.at))?;
            file.take(PIECE_BYTES).read_to_end(&mut text)?;
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(second: u32) -> LiveSecond {
        LiveSecond { phase: "load".to_owned(), second, iops: 1000.5, latency_ns_p99: None }
    }

    #[test]
    fn a_reader_gets_each_second_once() {
        let dir = tempfile::tempdir().unwrap();
        let mut tail = LiveTail::new(dir.path());
        assert!(tail.read().is_empty());
        let mut log = LiveLog::create(dir.path()).unwrap();
        log.add(&second(0)).unwrap();
        log.add(&second(1)).unwrap();
        assert_eq!(tail.read(), [second(0), second(1)]);
        assert!(tail.read().is_empty());
        log.file.write_all(b"{\"phase\":").unwrap();
        assert!(tail.read().is_empty());
        log.file.write_all(b"3}\n").unwrap();
        log.add(&second(2)).unwrap();
        assert_eq!(tail.read(), [second(2)]);
        drop(log);
        assert!(fs::read_dir(dir.path()).unwrap().next().is_none());
        assert!(tail.read().is_empty());
    }

    #[test]
    fn an_endless_line_is_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = LiveLog::create(dir.path()).unwrap();
        log.file.write_all(&vec![b'x'; PIECE_BYTES as usize + 10]).unwrap();
        log.file.write_all(b"\n").unwrap();
        log.add(&second(7)).unwrap();
        let mut tail = LiveTail::new(dir.path());
        assert!(tail.read().is_empty());
        assert_eq!(tail.read(), [second(7)]);
    }
}
