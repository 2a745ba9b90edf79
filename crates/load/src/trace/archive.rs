//! The files of a tar archive (POSIX.1-1988 `ustar`, GNU), read as one file, one behind the other.
//!
//! Without this, the header of each member would stand in the line of its first I/O.

use std::io::{BufReader, Error, ErrorKind, Read, copy, sink};

/// Headers and contents fill whole blocks.
const BLOCK_BYTES: usize = 512;

/// The contents of the regular files of an archive. A text that another one follows ends its last line.
pub(super) struct TarMembers {
    archive: BufReader<Box<dyn Read>>,
    /// Bytes of the present member that are still to come.
    left: u64,
    /// Bytes behind them up to the next header.
    padding: u64,
    /// Whether the content so far is a text whose last line is open.
    is_open_text: bool,
    /// Whether the present member has no byte of 0.
    is_text: bool,
    ended: bool,
}

impl TarMembers {
    /// Whether a file that begins with `head` is an archive.
    pub(super) fn are_in(head: &[u8]) -> bool {
        head.first_chunk().is_some_and(is_header)
    }

    /// The members of `archive`.
    pub(super) fn new(archive: Box<dyn Read>) -> Self {
        let archive = BufReader::new(archive);
        Self { archive, left: 0, padding: 0, is_open_text: false, is_text: true, ended: false }
    }

    fn skip(&mut self, bytes: u64) -> std::io::Result<()> {
        let skipped = copy(&mut (&mut self.archive).take(bytes), &mut sink())?;
        if skipped == bytes { Ok(()) } else { Err(cut_off()) }
    }

    /// Goes on to the next regular file; ends at an empty block.
    fn next_member(&mut self) -> std::io::Result<()> {
        self.skip(self.padding)?;
        self.padding = 0;
        let mut header = [0; BLOCK_BYTES];
        self.archive.read_exact(&mut header).map_err(|_| cut_off())?;
        if header == [0; BLOCK_BYTES] {
            self.ended = true;
            return Ok(());
        }
        if !is_header(&header) {
            return Err(Error::new(ErrorKind::InvalidData, "the tar archive is damaged"));
        }
        let size = number(&header[124..136]);
        let padding = size.next_multiple_of(BLOCK_BYTES as u64) - size;
        match header[156] {
            b'0' | 0 => (self.left, self.padding, self.is_text) = (size, padding, true),
            _ => self.skip(size + padding)?,
        }
        Ok(())
    }
}

fn cut_off() -> Error {
    Error::new(ErrorKind::UnexpectedEof, "the tar archive is cut off")
}

/// Whether a block has the magic and the sum of a header.
fn is_header(block: &[u8; BLOCK_BYTES]) -> bool {
    let sum: u64 = block.iter().map(|&byte| u64::from(byte)).sum();
    let own = &block[148..156];
    let own_sum: u64 = own.iter().map(|&byte| u64::from(byte)).sum();
    // The sum counts its own field as blanks.
    block[257..].starts_with(b"ustar") && number(own) == sum - own_sum + 8 * u64::from(b' ')
}

/// A number: octal digits, or after a first bit of 1 the bytes of a large one (GNU). At most 2^62.
fn number(field: &[u8]) -> u64 {
    let digits = if field[0] & 0x80 == 0 {
        let octal = field.iter().filter(|byte| byte.is_ascii_digit());
        octal.fold(0_u64, |value, byte| value.saturating_mul(8) + u64::from(byte & 7))
    } else {
        field[1..].iter().fold(0_u64, |value, &byte| value.saturating_mul(256) | u64::from(byte))
    };
    digits.min(1 << 62)
}

impl Read for TarMembers {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while self.left == 0 && !self.ended {
            self.next_member()?;
        }
        if self.ended {
            return Ok(0);
        }
        if std::mem::take(&mut self.is_open_text) {
            buffer[0] = b'\n';
            return Ok(1);
        }
        let read = (&mut self.archive).take(self.left).read(buffer)?;
        if read == 0 {
            return Err(cut_off());
        }
        self.left -= read as u64;
        self.is_text &= !buffer[..read].contains(&0);
        self.is_open_text = self.left == 0 && self.is_text && buffer[read - 1] != b'\n';
        Ok(read)
    }
}
