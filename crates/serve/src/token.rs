//! The secret of those who may upload.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use base::file::open_regular;
use subtle::ConstantTimeEq;

use crate::ServeError;

/// Fewest characters: shorter ones can be guessed.
const CHARS_MIN: usize = 16;
const CHARS_MAX: usize = 512;
/// Bits of the mode that let others read a file.
const OTHERS: u32 = 0o077;

/// A bearer token. `Debug` does not show it.
#[derive(Clone)]
pub struct Token(String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}

impl Token {
    /// Reads the token from a file that only its owner can read: one line of 16 to 512 visible
    /// characters.
    ///
    /// # Errors
    /// If the file cannot be read, others can read it, or it has no such line.
    pub fn read(path: &Path) -> Result<Self, ServeError> {
        let wrong =
            |reason: &str| ServeError::Token { path: path.to_owned(), reason: reason.to_owned() };
        let unreadable = |error| wrong(&format!("cannot be read: {error}"));
        let found = fs::metadata(path).map_err(unreadable)?;
        if !found.is_file() {
            return Err(wrong("is no regular file"));
        }
        if found.mode() & OTHERS != 0 {
            return Err(wrong("can be read by others; `chmod 600` closes it"));
        }
        if found.len() > CHARS_MAX as u64 + 2 {
            return Err(wrong(&expected()));
        }
        let text = open_regular(path).and_then(std::io::read_to_string).map_err(unreadable)?;
        Self::parse(text.trim_end()).ok_or_else(|| wrong(&expected()))
    }

    /// A token of this text, or `None` if it is too short, too long or has blanks.
    pub fn parse(text: &str) -> Option<Self> {
        let is_whole = (CHARS_MIN..=CHARS_MAX).contains(&text.len());
        (is_whole && text.bytes().all(|byte| byte.is_ascii_graphic()))
            .then(|| Self(text.to_owned()))
    }

    /// Whether `text` is the token; the time of the answer does not tell where they differ.
    pub fn is(&self, text: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(text).into()
    }

    /// The value of the header that carries the token.
    pub(crate) fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }
}

fn expected() -> String {
    format!("has no token; expected one line of {CHARS_MIN} to {CHARS_MAX} visible characters")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_token_is_compared_whole() {
        let token = Token::parse("0123456789abcdef").unwrap();
        assert!(token.is(b"0123456789abcdef"));
        for other in ["", "0123456789abcde", "0123456789abcdef0", "0123456789abcdeF"] {
            assert!(!token.is(other.as_bytes()), "{other}");
        }
        assert_eq!(format!("{token:?}"), "Token(..)");
    }

    #[test]
    fn short_open_and_missing_files_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        let reason = |path: &Path| Token::read(path).unwrap_err().to_string();
        assert!(reason(&path).contains("cannot be read"));
        for (text, mode, words) in [
            ("0123456789abcdef\n", 0o644, "by others"),
            ("short\n", 0o600, "16 to 512"),
            ("0123456789 abcdef\n", 0o600, "16 to 512"),
        ] {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert!(reason(&path).contains(words), "{}", reason(&path));
        }
        fs::write(&path, "0123456789abcdef\n").unwrap();
        assert!(Token::read(&path).unwrap().is(b"0123456789abcdef"));
    }
}
