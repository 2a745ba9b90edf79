//! A file whose end is an error. The Parquet reader trusts the claims of its page headers: at the
//! end of the file it continues to request the data of a damaged header, up to billions of times.
//! Its requests in an intact file never lie beyond the end, so such a request is damage. A single
//! piece (an index, a column of a row group) that would fill the memory is damage, too: a huge file
//! could contain one.

use std::io::{ErrorKind, Read};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};

/// Larger pieces than this count as damage; an honest index has a few KiB for each row group.
pub(super) const PIECE_BYTES_MAX: u32 = 256 << 20;

/// A file that is read up to its end and not beyond, in pieces that fit into memory.
pub(super) struct Strict<T>(pub(super) T);

impl<T: Length> Length for Strict<T> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<T: ChunkReader> ChunkReader for Strict<T> {
    type T = Strict<T::T>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        self.0.get_read(start).map(Strict)
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        if length > PIECE_BYTES_MAX as usize {
            let reason = format!("a piece of {length} bytes, expected at most {PIECE_BYTES_MAX}");
            return Err(ParquetError::General(reason));
        }
        self.0.get_bytes(start, length)
    }
}

impl<T: Read> Read for Strict<T> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.0.read(buffer)?;
        if read == 0 && !buffer.is_empty() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        Ok(read)
    }
}
