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
/// in the order of their names. The second list has what is neither file nor folder below a folder:
/// links are not followed.
///
/// # Errors
/// For a path that cannot be read, is neither file nor folder, or holds too much.
pub(super) fn files(paths: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<PathBuf>), ImportError> {
    let (mut found, mut others) = (Vec::new(), Vec::new());
    for path in paths {
        let metadata = fs::metadata(path).map_err(ImportError::unreadable(path))?;
        if metadata.is_dir() {
            add_folder(path, 0, &mut found, &mut others)?;
        } else if metadata.is_file() {
            found.push(path.clone());
        } else {
            return Err(ImportError::damaged(path, "expected a regular file or a folder"));
        }
    }
    Ok((found, others))
}

fn add_folder(
    folder: &Path,
    depth: usize,
    found: &mut Vec<PathBuf>,
    others: &mut Vec<PathBuf>,
) -> Result<(), ImportError> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut entries = entries.map_err(ImportError::unreadable(folder))?;
    entries.sort_unstable_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type().map_err(ImportError::unreadable(&entry.path()))?;
        if kind.is_dir() && depth < DEPTH_MAX {
            add_folder(&entry.path(), depth + 1, found, others)?;
        } else if kind.is_dir() {
            let reason = format!("more than {DEPTH_MAX} folders within each other");
            return Err(ImportError::damaged(folder, reason));
        } else if kind.is_file() {
            found.push(entry.path());
        } else {
            others.push(entry.path());
        }
        if found.len() + others.len() > FILES_MAX {
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

/// The text of a file of at most `max_bytes`: UTF-8, or UTF-16 with the mark of its byte order, as
/// the shells of Windows write it. The mark is not in the text.
///
/// # Errors
/// As for [`open`], and if it is neither.
pub(super) fn text(path: &Path, what: &'static str, max_bytes: u64) -> Result<String, ImportError> {
    let mut bytes = Vec::new();
    open(path, what, max_bytes)?.read_to_end(&mut bytes).map_err(ImportError::unreadable(path))?;
    let no_text = || ImportError::damaged(path, format!("expected a {what}, and it is no text"));
    let wide = |bytes: &[u8], of: fn([u8; 2]) -> u16| {
        let units = bytes.chunks_exact(2).map(|pair| of([pair[0], pair[1]]));
        char::decode_utf16(units).collect::<Result<String, _>>().ok()
    };
    match bytes.as_slice() {
        [0xFF, 0xFE, rest @ ..] => wide(rest, u16::from_le_bytes).ok_or_else(no_text),
        [0xFE, 0xFF, rest @ ..] => wide(rest, u16::from_be_bytes).ok_or_else(no_text),
        _ => {
            let text = String::from_utf8(bytes).map_err(|_| no_text())?;
            Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
        }
    }
}
