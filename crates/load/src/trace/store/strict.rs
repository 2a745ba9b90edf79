//! A file whose end is an error. The Parquet reader takes what its page headers claim on trust: at the end of the file
//! it goes on asking for what a damaged header promised, up to billions of times. Nothing it asks for in a whole file
//! lies beyond the end, so asking is damage.

use std::io::{ErrorKind, Read};

use bytes::Bytes;
use parquet::errors::Result as ParquetResult;
use parquet::file::reader::{ChunkReader, Length};

/// A file that is read up to its end and not beyond.
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
