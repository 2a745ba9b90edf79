//! Commands in LBA order among others: those that continue a stream of earlier ones.
//!
//! Phenomenon: firmware tells sequential commands from random ones by the end of the commands before them, for a few
//! streams at a time. Source: read-ahead of several streams, and rates that firmware grants to one kind of work only;
//! the rule of no drive is in print. Simplification: a command continues a stream if it begins exactly where one of
//! the latest ended; a stream is forgotten when so many others have had a command since as are followed. Tests:
//! `tests/mechanisms/read_ahead.rs`.

use std::ops::Range;

/// The last command of a stream.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Last {
    /// The begin of the next one.
    end_bytes: u64,
    /// Its number among all commands.
    number: u64,
}

/// The streams followed at a time.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Sequences {
    streams: Vec<Last>,
    commands: u64,
}

/// The stream of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continuation {
    /// It continues this one.
    Continues(usize),
    /// It begins a new one in the place of that.
    Begins(usize),
}

impl Sequences {
    /// No stream yet; so many are followed, one at least.
    pub fn new(streams: u32) -> Self {
        let none = Last { end_bytes: u64::MAX, number: 0 };
        Self { streams: vec![none; streams.max(1) as usize], commands: 0 }
    }

    /// The next command covers these bytes.
    pub fn follow(&mut self, bytes: &Range<u64>) -> Continuation {
        self.commands += 1;
        let last = Last { end_bytes: bytes.end, number: self.commands };
        let continued = self.streams.iter().position(|stream| stream.end_bytes == bytes.start);
        let oldest = || (0..).zip(&self.streams).min_by_key(|(_, stream)| stream.number);
        let index = continued.or_else(|| oldest().map(|(index, _)| index)).unwrap_or(0);
        self.streams[index] = last;
        if continued.is_some() {
            Continuation::Continues(index)
        } else {
            Continuation::Begins(index)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Continuation::{Begins, Continues};

    #[test]
    fn as_many_streams_are_followed_as_there_is_room_for() {
        let mut two = Sequences::new(2);
        let mut follow = |begin: u64| two.follow(&(begin..begin + 10));
        assert_eq!(
            [0, 100, 10, 110].map(&mut follow),
            [Begins(0), Begins(1), Continues(0), Continues(1)]
        );
        // A third takes the place of the one that had no command for longest.
        assert_eq!([500, 120, 20].map(&mut follow), [Begins(0), Continues(1), Begins(0)]);
        assert_eq!([510, 30].map(follow), [Begins(1), Continues(0)]);
    }
}
