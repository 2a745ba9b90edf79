//! Files of others within limits: an import never reads an endless file or a folder without end.

use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use base::file::open_regular;

use super::ImportError;

/// Files that one import may read.
const FILES_MAX: usize = 20_000;
/// Folders within folders.
const DEPTH_MAX: usize = 12;

/// The regular files that `paths` lead to: files as they are, folders with everything below them,
/// in the order of their names. Links below a folder are not followed.
///
/// # Errors
/// For a path that cannot be read, is neither file nor folder, or holds too much.
pub(super) fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, ImportError> {
    let mut found = Vec::new();
    for path in paths {
        let metadata = fs::metadata(path).map_err(ImportError::unreadable(path))?;
        if metadata.is_dir() {
            add_folder(path, 0, &mut found)?;
        } else if metadata.is_file() {
            found.push(path.clone());
        } else {
            return Err(ImportError::damaged(path, "expected a regular file or a folder"));
        }
    }
    Ok(found)
}

fn add_folder(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), ImportError> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut entries = entries.map_err(ImportError::unreadable(folder))?;
    entries.sort_unstable_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type().map_err(ImportError::unreadable(&entry.path()))?;
        if kind.is_dir() && depth < DEPTH_MAX {
            add_folder(&entry.path(), depth + 1, found)?;
        } else if kind.is_dir() {
            let reason = format!("more than {DEPTH_MAX} folders within each other");
            return Err(ImportError::damaged(folder, reason));
        } else if kind.is_file() {
            found.push(entry.path());
        }
        if found.len() > FILES_MAX {
            let reason = format!("more than {FILES_MAX} files; import a part of it");
            return Err(ImportError::damaged(folder, reason));
        }
    }
    Ok(())
}

/// A file of at most `max_bytes`, to be read line by line.
///
/// # Errors
/// If it cannot be read, is no regular file or is larger.
pub(super) fn open(
    path: &Path,
    what: &'static str,
    max_bytes: u64,
) -> Result<BufReader<std::io::Take<File>>, ImportError> {
    let file = open_regular(path).map_err(ImportError::unreadable(path))?;
    let metadata = file.metadata().map_err(ImportError::unreadable(path))?;
    let bytes = metadata.len();
    if bytes > max_bytes {
        return Err(ImportError::TooLarge { path: path.to_owned(), what, bytes, max_bytes });
    }
    // A file that grows while it is read ends here too.
    Ok(BufReader::new(file.take(max_bytes)))
}

/// The text of a file of at most `max_bytes`.
///
/// # Errors
/// As for [`open`], and if it is not UTF-8.
pub(super) fn text(path: &Path, what: &'static str, max_bytes: u64) -> Result<String, ImportError> {
    let mut bytes = Vec::new();
    open(path, what, max_bytes)?.read_to_end(&mut bytes).map_err(ImportError::unreadable(path))?;
    let no_text = |_| ImportError::damaged(path, format!("expected a {what}, and it is no text"));
    String::from_utf8(bytes).map_err(no_text)
}
