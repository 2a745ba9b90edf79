//! The frame of a state file: a magic number, and sections with a length and a checksum each.
//!
//! ```text
//! "SSDLSTAT"  format: u32  then for each section:  name: 4 bytes  length: u64  bytes  CRC-32: u32
//! ```
//!
//! All numbers are little endian. The checksum covers name, length and bytes. No length is believed before the file is
//! known to have so many bytes, and no byte before its checksum was right.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};

use super::FileFault;

const MAGIC: &[u8; 8] = b"SSDLSTAT";
/// The arrangement of the file that this program writes and reads.
const FORMAT: u32 = 2;
const MAGIC_BYTES: u64 = 12;
const NAME_BYTES: u64 = 4;
const LENGTH_BYTES: u64 = 8;
const CRC_BYTES: u64 = 4;
/// Bytes that are read at once.
const PIECE_BYTES: usize = 256 << 10;

/// Name of a section.
pub(super) type Name = [u8; NAME_BYTES as usize];

/// Writes a file, section by section.
pub(super) struct Writer {
    out: BufWriter<File>,
    position: u64,
}

impl Writer {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let mut out = BufWriter::with_capacity(PIECE_BYTES, file);
        out.write_all(MAGIC)?;
        out.write_all(&FORMAT.to_le_bytes())?;
        Ok(Self { out, position: MAGIC_BYTES })
    }

    /// Writes a section with the bytes that `fill` writes.
    pub(super) fn section<R>(
        &mut self,
        name: Name,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<R>,
    ) -> io::Result<R> {
        let start = self.position;
        self.out.write_all(&name)?;
        self.out.write_all(&[0; LENGTH_BYTES as usize])?;
        let mut body =
            SectionWriter { out: &mut self.out, bytes: 0, crc: crc32fast::Hasher::new() };
        let filled = fill(&mut body)?;
        let SectionWriter { bytes, crc, .. } = body;
        // The length is known only now.
        self.out.seek(SeekFrom::Start(start + NAME_BYTES))?;
        self.out.write_all(&bytes.to_le_bytes())?;
        self.out.seek(SeekFrom::Start(start + NAME_BYTES + LENGTH_BYTES + bytes))?;
        self.out.write_all(&sealed(crc, name, bytes).to_le_bytes())?;
        self.position = start + NAME_BYTES + LENGTH_BYTES + bytes + CRC_BYTES;
        Ok(filled)
    }

    /// The complete file.
    pub(super) fn end(self) -> io::Result<File> {
        self.out.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

/// The checksum of a section from that of its bytes.
fn sealed(mut crc: crc32fast::Hasher, name: Name, bytes: u64) -> u32 {
    crc.update(&name);
    crc.update(&bytes.to_le_bytes());
    crc.finalize()
}

struct SectionWriter<'a, W> {
    out: &'a mut W,
    bytes: u64,
    crc: crc32fast::Hasher,
}

impl<W: Write> Write for SectionWriter<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.crc.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A section whose bytes have the right checksum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    /// Place of its first byte in the file.
    pub(super) start: u64,
    /// Number of its bytes.
    pub(super) bytes: u64,
}

impl Section {
    /// A reader of its bytes.
    pub(super) fn open(self, file: &File) -> io::Result<impl Read + use<>> {
        let mut file = file.try_clone()?;
        file.seek(SeekFrom::Start(self.start))?;
        Ok(BufReader::with_capacity(PIECE_BYTES, file.take(self.bytes)))
    }
}

/// The sections of a file, which must be these and no others.
///
/// # Errors
/// [`FileFault`], and no more memory was used than for a piece of the file.
pub(super) fn sections<const N: usize>(
    file: &File,
    names: [Name; N],
) -> Result<[Section; N], FileFault> {
    let file_bytes = file.metadata()?.len();
    let mut input = BufReader::with_capacity(PIECE_BYTES, file);
    input.seek(SeekFrom::Start(0))?;
    if file_bytes < MAGIC_BYTES || take::<8>(&mut input)? != *MAGIC {
        return Err(FileFault::NoState);
    }
    let format = u32::from_le_bytes(take(&mut input)?);
    if format != FORMAT {
        return Err(FileFault::Format { found: format, known: FORMAT });
    }
    let mut position = MAGIC_BYTES;
    let mut found = [Section { start: 0, bytes: 0 }; N];
    for (section, name) in found.iter_mut().zip(names) {
        *section = next_section(&mut input, name, file_bytes.saturating_sub(position))?;
        section.start += position;
        position = section.start + section.bytes + CRC_BYTES;
    }
    if position == file_bytes { Ok(found) } else { Err(FileFault::Damaged("its end")) }
}

/// The next section, with its place behind the present one.
fn next_section(input: &mut impl Read, name: Name, left_bytes: u64) -> Result<Section, FileFault> {
    const FRAME_BYTES: u64 = NAME_BYTES + LENGTH_BYTES + CRC_BYTES;
    let Some(room_bytes) = left_bytes.checked_sub(FRAME_BYTES) else {
        return Err(FileFault::Truncated);
    };
    if take(input)? != name {
        return Err(FileFault::Damaged("the name of a section"));
    }
    let bytes = u64::from_le_bytes(take(input)?);
    if bytes > room_bytes {
        return Err(FileFault::Truncated);
    }
    let crc = crc_of(input, bytes)?;
    if u32::from_le_bytes(take(input)?) != sealed(crc, name, bytes) {
        return Err(FileFault::Damaged("the checksum of a section"));
    }
    Ok(Section { start: NAME_BYTES + LENGTH_BYTES, bytes })
}

fn crc_of(input: &mut impl Read, mut bytes: u64) -> io::Result<crc32fast::Hasher> {
    let mut crc = crc32fast::Hasher::new();
    let mut piece = vec![0; PIECE_BYTES];
    while bytes > 0 {
        let part = &mut piece[..bytes.min(PIECE_BYTES as u64) as usize];
        input.read_exact(part)?;
        crc.update(part);
        bytes -= part.len() as u64;
    }
    Ok(crc)
}

fn take<const N: usize>(input: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes).map(|()| bytes)
}
