//! A choice of streams of one's own: which data of the host belongs together.

use std::fmt::Debug;

/// Pages of the host between two questions.
const BATCH_PAGES: usize = 4096;

/// The pages that the host wrote since the last question, in order: an entry of each list is one write of one page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writes {
    /// The logical pages.
    pub pages: Vec<u64>,
    /// Pages that the host wrote since the earlier write of the same page, this one included; 0 for the first write.
    pub intervals: Vec<u32>,
    /// The streams to which they went.
    pub streams: Vec<u8>,
    /// Number of streams: the placement handles of the drive.
    pub stream_count: u8,
}

/// A choice of streams; it is asked once for each 4,096 pages of the host.
pub trait StreamChoice: Debug + Send + Sync {
    /// The stream of the *next* write of each page of the list; of two entries of a page the later one counts. The pages
    /// of a command go to the stream of its first page. A page without an answer goes to stream 0.
    ///
    /// # Errors
    /// The reason against any choice, in words.
    fn assign(&mut self, writes: Writes) -> Result<Vec<u8>, String>;

    /// The same policy in the same state, for a copy of the drive: `Box::new(self.clone())`.
    fn copied(&self) -> Box<dyn StreamChoice>;
}

/// A choice of streams in a drive, with the history of its pages.
#[derive(Debug)]
pub(crate) struct OwnStreams {
    choice: Box<dyn StreamChoice>,
    batch: Writes,
    /// The stream of the next write of each page.
    streams: Vec<u8>,
    /// Pages that the host had written with the last write of each page, modulo 2^32; 0: none.
    written_at: Vec<u32>,
    written_pages: u32,
}

impl Clone for OwnStreams {
    fn clone(&self) -> Self {
        Self {
            choice: self.choice.copied(),
            batch: self.batch.clone(),
            streams: self.streams.clone(),
            written_at: self.written_at.clone(),
            written_pages: self.written_pages,
        }
    }
}

impl OwnStreams {
    pub(in crate::ftl) fn new(choice: Box<dyn StreamChoice>) -> Self {
        Self {
            choice,
            batch: Writes::default(),
            streams: Vec::new(),
            written_at: Vec::new(),
            written_pages: 0,
        }
    }

    pub(in crate::ftl) fn renewed(self) -> Self {
        Self::new(self.choice)
    }

    /// The stream for a command that writes so many pages from a first one on, of a drive with so many pages and
    /// streams.
    pub(crate) fn stream_of_write(
        &mut self,
        (first, count): (u64, u64),
        (logical_pages, stream_count): (u64, u32),
    ) -> Result<u8, String> {
        self.streams.resize(logical_pages as usize, 0);
        self.written_at.resize(logical_pages as usize, 0);
        let stream = self.streams[first as usize];
        for page in first..first + count {
            self.written_pages = self.written_pages.wrapping_add(1).max(1);
            let written_at =
                std::mem::replace(&mut self.written_at[page as usize], self.written_pages);
            let interval = self.written_pages.wrapping_sub(written_at);
            self.batch.pages.push(page);
            self.batch.intervals.push(if written_at == 0 { 0 } else { interval });
            self.batch.streams.push(stream);
        }
        if self.batch.pages.len() >= BATCH_PAGES {
            self.ask(stream_count as u8)?;
        }
        Ok(stream)
    }

    fn ask(&mut self, stream_count: u8) -> Result<(), String> {
        let pages = self.batch.pages.clone();
        let writes = Writes { stream_count, ..std::mem::take(&mut self.batch) };
        let streams = self.choice.assign(writes)?;
        if streams.len() != pages.len() {
            let (given, expected) = (streams.len(), pages.len());
            return Err(format!(
                "the policy gave {given} streams; expected {expected}, one a page"
            ));
        }
        if let Some(stream) = streams.iter().find(|&&stream| stream >= stream_count) {
            let last = stream_count - 1;
            return Err(format!("the policy chose stream {stream}; expected 0 to {last}"));
        }
        for (page, stream) in pages.into_iter().zip(streams) {
            self.streams[page as usize] = stream;
        }
        Ok(())
    }
}
