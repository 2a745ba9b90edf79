//! Opening of files, packed or not.

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use base::file::open_input;

use super::TraceError;
use super::archive::TarMembers;
use super::packing::Packing;

/// Bytes from the start of a file by which its format is found out.
pub const HEAD_BYTES: usize = 1 << 16;

/// The bytes of a file, or of the standard input.
pub type BoxedInput = Box<dyn Read>;

/// An open file, its first bytes, and its packing.
pub(crate) struct Input {
    /// Its path; `-` is the standard input.
    pub(crate) path: PathBuf,
    /// Its name in errors.
    pub(crate) what: String,
    /// The first bytes, [`HEAD_BYTES`] or all of a shorter file.
    pub(crate) head: Vec<u8>,
    /// All bytes, the first ones included.
    pub(crate) whole: BoxedInput,
    /// Whether it is unpacked while it is read.
    pub(crate) packed: bool,
}

impl Input {
    /// Opens a file; `-` is the standard input.
    pub(crate) fn open(path: &Path) -> Result<Self, TraceError> {
        let is_stdin = path == Path::new("-");
        let what = if is_stdin { "standard input".to_owned() } else { path.display().to_string() };
        let bytes: BoxedInput = if is_stdin {
            Box::new(std::io::stdin())
        } else {
            Box::new(open_input(path).map_err(TraceError::read(&what))?)
        };
        let (mut head, mut whole) = read_ahead(bytes, &what)?;
        let packing = Packing::of(&head);
        if let Some(packing) = packing {
            (head, whole) = read_ahead(packing.unpack(whole), &what)?;
        }
        let is_archive = TarMembers::are_in(&head);
        if is_archive {
            (head, whole) = read_ahead(Box::new(TarMembers::new(whole)), &what)?;
        }
        let packed = packing.is_some() || is_archive;
        Ok(Self { path: path.to_owned(), what, head, whole, packed })
    }
}

/// The first bytes, and all bytes.
fn read_ahead(mut bytes: BoxedInput, what: &str) -> Result<(Vec<u8>, BoxedInput), TraceError> {
    let mut head = Vec::new();
    let read = (&mut bytes).take(HEAD_BYTES as u64).read_to_end(&mut head);
    read.map_err(TraceError::read(what))?;
    let whole = Box::new(Cursor::new(head.clone()).chain(bytes));
    Ok((head, whole))
}
