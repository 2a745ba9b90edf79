//! Words of commands that are printed for a user to type.

use std::path::Path;

/// The word as a POSIX shell reads it back: in single quotes where it holds more than plain characters.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=%,+@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A path as [`quoted`].
pub fn quoted_path(path: &Path) -> String {
    quoted(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// A real shell is asked.
    #[test]
    fn a_shell_reads_back_the_word() {
        for word in ["", "plain-1.2", "two words", "it's", "$(reboot)", "a;b&c|d", "~", "\"\\\n*"] {
            let script = format!("printf %s {}", quoted(word));
            let answer = Command::new("sh").args(["-c", &script]).output().expect("a shell");
            assert_eq!(String::from_utf8_lossy(&answer.stdout), word, "{script}");
        }
        assert_eq!(quoted("size=8GiB"), "size=8GiB", "what needs no quotes has none");
    }
}
