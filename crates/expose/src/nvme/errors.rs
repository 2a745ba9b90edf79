//! The error log of a subsystem.

use std::collections::VecDeque;

use nvme::log::ErrorEntry;
use nvme::status::CommandStatus;

/// Entries that are kept.
pub const ERRORS_MAX: usize = 64;

/// The last errors of commands, and the numbers of all.
#[derive(Debug, Default)]
pub struct ErrorLog {
    entries: VecDeque<ErrorEntry>,
    count: u64,
    media_count: u64,
}

impl ErrorLog {
    /// Adds an error, and gives it its number.
    pub fn add(&mut self, entry: ErrorEntry) {
        self.count += 1;
        self.media_count += u64::from(matches!(
            entry.status,
            CommandStatus::READ_ERROR | CommandStatus::WRITE_FAULT
        ));
        self.entries.truncate(ERRORS_MAX - 1);
        self.entries.push_front(ErrorEntry { number: self.count, ..entry });
    }

    /// Number of errors.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Number of errors of the media.
    pub fn media_count(&self) -> u64 {
        self.media_count
    }

    /// The log page, the last error first.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.entries.iter().flat_map(ErrorEntry::encode).collect();
        bytes.resize(ERRORS_MAX * nvme::log::ERROR_BYTES, 0);
        bytes
    }
}
