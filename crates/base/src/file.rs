//! Files that a user named, opened without a wait.
//!
//! The open of a pipe waits for its writer, for ever if there is none, and that of a device may have
//! an effect. So a thing is looked at first, and the open does not wait in any case.

use std::fs::{File, FileType, Metadata, metadata};
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};

/// Time that a pipe has for its first byte.
const PATIENCE: Duration = Duration::from_secs(10);

/// Opens a regular file for reading, also one behind a link.
///
/// # Errors
/// If it cannot be opened, or is anything but a regular file.
pub fn open_regular(path: &Path) -> Result<File> {
    require_regular(&metadata(path)?)?;
    let file = open_at_once(path)?;
    // Something else may have got its name meanwhile.
    require_regular(&file.metadata()?)?;
    Ok(file)
}

/// Makes sure that a thing is a regular file.
///
/// # Errors
/// One that tells what it is instead.
pub fn require_regular(found: &Metadata) -> Result<()> {
    if found.is_file() {
        return Ok(());
    }
    let words = format!("it is {}; expected a regular file", kind(found.file_type()));
    Err(Error::new(ErrorKind::InvalidInput, words))
}

/// Opens a file for reading that may also be a pipe, such as `<(COMMAND)` of a shell, or a device.
///
/// # Errors
/// If it cannot be opened, is a directory, or is a pipe and nothing comes from it in time.
pub fn open_input(path: &Path) -> Result<File> {
    let found = metadata(path)?;
    if found.is_file() || found.is_dir() {
        return open_regular(path);
    }
    let file = open_at_once(path)?;
    if file.metadata()?.file_type().is_fifo() {
        await_first_byte(&file)?;
    }
    fcntl_setfl(&file, OFlags::empty())?;
    Ok(file)
}

fn open_at_once(path: &Path) -> Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    File::options().read(true).custom_flags(flags.bits() as i32).open(path)
}

fn await_first_byte(pipe: &File) -> Result<()> {
    let timeout = Timespec { tv_sec: PATIENCE.as_secs() as i64, tv_nsec: 0 };
    if poll(&mut [PollFd::new(pipe, PollFlags::IN)], Some(&timeout))? > 0 {
        return Ok(());
    }
    let words = format!("it is a pipe, and nothing came from it within {} s", PATIENCE.as_secs());
    Err(Error::new(ErrorKind::TimedOut, words))
}

fn kind(kind: FileType) -> &'static str {
    match kind {
        kind if kind.is_dir() => "a directory",
        kind if kind.is_fifo() => "a pipe",
        kind if kind.is_socket() => "a socket",
        kind if kind.is_block_device() => "a block device",
        kind if kind.is_char_device() => "a character device",
        _ => "something else",
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixListener;
    use std::path::PathBuf;

    use rustix::fs::{CWD, FileType as Kind, Mode, mknodat};

    use super::*;

    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("ssdlab-file-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).expect("a folder");
        path
    }

    fn pipe(path: &Path) {
        mknodat(CWD, path, Kind::Fifo, Mode::from_raw_mode(0o600), 0).expect("a pipe");
    }

    /// A regression shows as a test that does not end.
    #[test]
    fn what_is_no_file_is_told_and_never_waited_for() {
        let dir = folder("kinds");
        pipe(&dir.join("pipe"));
        let _socket = UnixListener::bind(dir.join("socket")).expect("a socket");
        std::fs::write(dir.join("file"), "text").expect("a file");
        std::os::unix::fs::symlink("file", dir.join("link")).expect("a link");
        for (path, words) in [
            (dir.join("pipe"), "a pipe"),
            (dir.join("socket"), "a socket"),
            (dir.clone(), "a directory"),
            ("/dev/null".into(), "a character device"),
        ] {
            let error = open_regular(&path).expect_err("no file").to_string();
            assert!(error.contains(words) && error.contains("regular file"), "{error}");
        }
        assert!(open_input(&dir).expect_err("no input").to_string().contains("a directory"));
        for name in ["file", "link"] {
            let mut text = String::new();
            open_regular(&dir.join(name)).expect("a file").read_to_string(&mut text).expect("text");
            assert_eq!(text, "text");
        }
        std::fs::remove_dir_all(dir).expect("removed");
    }

    #[test]
    fn a_pipe_with_a_writer_is_an_input() {
        let dir = folder("pipe");
        let path = dir.join("pipe");
        pipe(&path);
        let writer = std::thread::spawn({
            let path = path.clone();
            move || File::options().write(true).open(path).unwrap().write_all(b"late").unwrap()
        });
        let mut text = String::new();
        open_input(&path).expect("a pipe").read_to_string(&mut text).expect("text");
        assert_eq!(text, "late");
        writer.join().expect("it wrote");
        std::fs::remove_dir_all(dir).expect("removed");
    }
}
