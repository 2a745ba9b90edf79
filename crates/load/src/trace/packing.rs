//! Packed files, unpacked during reading in constant memory: gzip (RFC 1952), zstd (RFC 8878), xz.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read, copy, sink};

use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Most memory for the window of a file, which states its size itself: that of `xz -9`, twice.
const WINDOW_BYTES_MAX: u32 = 128 << 20;

/// The packing of a file. Several packed parts one behind the other are one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Gzip,
    Zstd,
    Xz,
}

impl Packing {
    /// The packing of a file with this start, or `None` if it is not packed.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        let magic: [(&[u8], Self); 4] = [
            (&[0x1f, 0x8b], Self::Gzip),
            (&[0x28, 0xb5, 0x2f, 0xfd], Self::Zstd),
            // A frame that zstd skips; pzstd begins files with one.
            (&[0x50, 0x2a, 0x4d, 0x18], Self::Zstd),
            (b"\xfd7zXZ\0", Self::Xz),
        ];
        magic.into_iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, packing)| packing)
    }

    /// The content of `packed`; errors name the packing.
    pub(super) fn unpack(self, packed: Box<dyn Read>) -> Box<dyn Read> {
        let (name, content): (_, Box<dyn Read>) = match self {
            Self::Gzip => ("gzip", Box::new(MultiGzDecoder::new(packed))),
            Self::Zstd => ("zstd", Box::new(ZstdFrames::new(packed))),
            Self::Xz => {
                let window_kib = WINDOW_BYTES_MAX >> 10;
                ("xz", Box::new(XzReader::new_mem_limit(BufReader::new(packed), true, window_kib)))
            }
        };
        Box::new(Content { name, content })
    }
}

/// Unpacked content.
struct Content {
    name: &'static str,
    content: Box<dyn Read>,
}

impl Read for Content {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.content.read(buffer).map_err(|error| match error.kind() {
            ErrorKind::OutOfMemory => {
                Error::new(error.kind(), format!("its {} data needs too much memory", self.name))
            }
            kind => {
                Error::new(kind, format!("its {} data is damaged or cut off: {error}", self.name))
            }
        })
    }
}

/// The frames of a zstd file.
struct ZstdFrames {
    packed: BufReader<Box<dyn Read>>,
    decoder: FrameDecoder,
}

impl ZstdFrames {
    fn new(packed: Box<dyn Read>) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(WINDOW_BYTES_MAX.into());
        Self { packed: BufReader::new(packed), decoder }
    }

    /// Begins the next frame, or skips one without content.
    fn next_frame(&mut self) -> std::io::Result<()> {
        match self.decoder.reset(&mut self.packed) {
            Ok(()) => Ok(()),
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                let length = u64::from(length);
                let skipped = copy(&mut (&mut self.packed).take(length), &mut sink())?;
                if skipped == length { Ok(()) } else { Err(ErrorKind::UnexpectedEof.into()) }
            }
            Err(error @ FrameDecoderError::WindowSizeTooBig { .. }) => {
                Err(Error::new(ErrorKind::OutOfMemory, error))
            }
            Err(error) => Err(Error::other(error)),
        }
    }

    /// Whether the content of the last frame has the sum that the file states.
    fn has_its_sum(&self) -> bool {
        let told = self.decoder.get_checksum_from_data();
        told.is_none() || told == self.decoder.get_calculated_checksum()
    }
}

impl Read for ZstdFrames {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.decoder.can_collect() == 0 {
            if !self.decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.packed, one).map_err(Error::other)?;
            } else if !self.has_its_sum() {
                return Err(Error::new(ErrorKind::InvalidData, "its sum differs"));
            } else if self.packed.fill_buf()?.is_empty() {
                return Ok(0);
            } else {
                self.next_frame()?;
            }
        }
        self.decoder.read(buffer)
    }
}
