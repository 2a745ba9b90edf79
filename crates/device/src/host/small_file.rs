//! Files that are read whole, because people write them: an endless one must not fill the memory.

use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

use base::Bytes;
use base::file::open_input;

/// The most that is read: a hundred times the size of the largest real one.
pub const LIMIT: Bytes = Bytes(16 << 20);

/// The text of a file.
///
/// # Errors
/// If it cannot be read, is no UTF-8, or is longer than [`LIMIT`].
pub fn read(path: &Path) -> Result<String> {
    let mut text = Vec::new();
    open_input(path)?.take(LIMIT.0 + 1).read_to_end(&mut text)?;
    if text.len() as u64 > LIMIT.0 {
        let words = format!("it is longer than {LIMIT}, the most that such a file may have");
        return Err(Error::new(ErrorKind::FileTooLarge, words));
    }
    String::from_utf8(text).map_err(|_| Error::new(ErrorKind::InvalidData, "it is no text (UTF-8)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_file_is_no_text() {
        let error = read(Path::new("/dev/zero")).unwrap_err().to_string();
        assert!(error.contains("longer than 16MiB"), "{error}");
    }

    #[test]
    fn the_longest_file_is_read_and_a_byte_more_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("model.toml");
        for (len, expected) in [(LIMIT.0, true), (LIMIT.0 + 1, false)] {
            std::fs::write(&path, vec![b' '; len as usize]).unwrap();
            assert_eq!(read(&path).is_ok(), expected, "{len}");
        }
        std::fs::write(&path, b"\xff").unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("UTF-8"));
    }
}
