//! A disk as one file in a directory: FUSE, the file system in user space.
//!
//! A loop device makes a block device of the file. The file has neither cache nor read-ahead in the kernel (direct
//! I/O), so that the drive sees what its user does. Punching a hole is a deallocation of the whole pages and zeroes in
//! the rest, as the kernel promises for it; fsync is a flush. Everything else that would change the file is refused.
//!
//! Requests come from the kernel one at a time. On the real clock each is sent as it comes, so that several are
//! outstanding; on the fast clock each is answered before the next one comes, so that the depth of the queue is 1.

use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, InitFlags, KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr,
    ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyLseek, ReplyOpen, ReplyWrite,
    Request as Call, Session, WriteFlags,
};
use rustix::fs::FallocateFlags;
use rustix::mount::{UnmountFlags, unmount};
use thiserror::Error;

use crate::request::{Action, Answer, Fault, Request};
use crate::shared::SharedDisk;

/// Name of the file.
pub const FILE_NAME: &str = "disk";

const FILE: INodeNo = INodeNo(2);
/// The kernel asks again after this time; nothing ever changes.
const VALID: Duration = Duration::from_secs(3600);
/// Most requests that the kernel keeps outstanding.
const OUTSTANDING_MAX: u16 = 256;

/// An error of a mount.
#[derive(Debug, Error)]
pub enum FuseError {
    /// The directory cannot take the file.
    #[error("{} {reason}; name an empty directory", directory.display())]
    Directory {
        directory: PathBuf,
        /// The words behind its name.
        reason: String,
    },
    /// The mount of a server that was killed.
    #[error(
        "{} is the mount of a server that has died; `fusermount3 -u DIRECTORY`, or `umount DIRECTORY` as root, \
         frees the directory",
        directory.display()
    )]
    Dead { directory: PathBuf },
    /// The system refuses the mount.
    #[error("a mount at {}: {source}", directory.display())]
    Mount {
        directory: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

/// A mounted disk.
#[derive(Debug)]
pub struct FuseMount {
    directory: PathBuf,
    /// Number of its file system, or `None` if nobody can tell.
    number: Option<u64>,
    session: BackgroundSession,
}

impl FuseMount {
    /// Mounts the file in an empty directory, and serves it from now on.
    ///
    /// # Errors
    /// [`FuseError`], and nothing is mounted.
    pub fn at(directory: &Path, shared: Arc<SharedDisk>) -> Result<Self, FuseError> {
        let refusal = |reason: String| FuseError::Directory { directory: directory.into(), reason };
        // The mounted directory itself is unmounted later, wherever a link leads then.
        let place = directory.canonicalize().map_err(|error| unusable(directory, &error))?;
        let entries = place.read_dir().map_err(|error| unusable(directory, &error))?;
        if entries.into_iter().next().is_some() {
            return Err(refusal("is not empty".to_owned()));
        }
        let directory = place.as_path();
        let fail = |source| FuseError::Mount { directory: directory.to_owned(), source };
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::FSName("ssdlab".to_owned()),
            MountOption::Subtype("ssdlab".to_owned()),
            MountOption::NoDev,
            MountOption::NoSuid,
            MountOption::NoExec,
        ];
        let session = Session::new(OneFile::new(shared), directory, &config).map_err(fail)?;
        let session = session.spawn().map_err(fail)?;
        let number = directory.metadata().ok().map(|found| found.dev());
        Ok(Self { directory: directory.to_owned(), number, session })
    }

    pub fn file(&self) -> PathBuf {
        self.directory.join(FILE_NAME)
    }

    /// Tries to unmount; false while somebody uses the file, or has mounted something over it.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn unmount(&self) -> io::Result<bool> {
        if self.directory.metadata().ok().map(|found| found.dev()) != self.number {
            return Ok(!self.is_mounted());
        }
        match unmount(&self.directory, UnmountFlags::empty()).map_err(io::Error::from) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::ResourceBusy => Ok(false),
            // It is unmounted already, or only the helper of FUSE may do it: the session finds out.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::PermissionDenied | ErrorKind::InvalidInput | ErrorKind::NotFound
                ) =>
            {
                Ok(true)
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the file system is mounted somewhere.
    fn is_mounted(&self) -> bool {
        let Some(number) = self.number else { return false };
        let number = format!("{}:{}", rustix::fs::major(number), rustix::fs::minor(number));
        let mounts = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
        let mounts = String::from_utf8_lossy(&mounts);
        mounts.lines().any(|line| line.split(' ').nth(2) == Some(&number))
    }

    /// Ends the service of an unmounted file.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn end(self) -> io::Result<()> {
        match self.session.umount_and_join() {
            // It is unmounted already; the session ends by itself.
            Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
            ended => ended,
        }
    }
}

/// The refusal of a directory that cannot be read.
fn unusable(directory: &Path, error: &io::Error) -> FuseError {
    let directory = directory.to_owned();
    // A server that was killed leaves its mount, which nobody answers.
    if error.raw_os_error() == Some(rustix::io::Errno::NOTCONN.raw_os_error()) {
        return FuseError::Dead { directory };
    }
    FuseError::Directory { directory, reason: format!("has no entries: {error}") }
}

/// The file system.
#[derive(Debug)]
struct OneFile {
    shared: Arc<SharedDisk>,
    capacity_bytes: u64,
    page_bytes: u32,
    since: SystemTime,
}

impl OneFile {
    fn new(shared: Arc<SharedDisk>) -> Self {
        let shape = shared.with(|disk| *disk.shape());
        let (capacity_bytes, page_bytes) = (shape.capacity_bytes, shape.page_bytes as u32);
        Self { shared, capacity_bytes, page_bytes, since: SystemTime::now() }
    }

    fn attributes(&self, inode: INodeNo) -> FileAttr {
        let is_file = inode == FILE;
        let data_bytes =
            || self.shared.with(|disk| disk.contents().pages() * disk.shape().page_bytes);
        FileAttr {
            ino: inode,
            size: if is_file { self.capacity_bytes } else { 0 },
            blocks: if is_file { data_bytes() / 512 } else { 0 },
            atime: self.since,
            mtime: self.since,
            ctime: self.since,
            crtime: self.since,
            kind: if is_file { FileType::RegularFile } else { FileType::Directory },
            perm: if is_file { 0o600 } else { 0o700 },
            nlink: 1,
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
            rdev: 0,
            blksize: self.page_bytes,
            flags: 0,
        }
    }

    fn send(
        &self,
        action: Action,
        offset: u64,
        bytes: u64,
        data: &[u8],
        reply: impl FnOnce(Result<Answer, Errno>) + Send + 'static,
    ) {
        let request = Request { data: data.to_vec(), ..Request::new(action, offset, bytes) };
        let reply = |result: Result<Answer, Fault>| reply(result.map_err(errno));
        self.shared.send(request, Box::new(reply));
    }

    /// The next data or hole, or `None` behind the end.
    fn seek(&self, offset: u64, hole: bool) -> Option<u64> {
        let mut at = offset;
        let end = self.capacity_bytes;
        while at < end {
            let extents = self.shared.with(|disk| disk.extents(at..end, 64));
            for extent in extents {
                if extent.is_hole == hole {
                    return Some(at);
                }
                at += extent.bytes;
            }
        }
        (hole && offset < end).then_some(end)
    }
}

fn errno(fault: Fault) -> Errno {
    match fault {
        Fault::Io | Fault::Source | Fault::Deleted | Fault::Zone(_) => Errno::EIO,
        Fault::Invalid | Fault::TooLong => Errno::EINVAL,
        Fault::ReadOnly => Errno::EROFS,
        Fault::NoSpace => Errno::ENOSPC,
        Fault::Unsupported => Errno::EOPNOTSUPP,
    }
}

fn end(reply: ReplyEmpty) -> impl FnOnce(Result<Answer, Errno>) + Send + 'static {
    move |result| match result {
        Ok(_) => reply.ok(),
        Err(errno) => reply.error(errno),
    }
}

impl Filesystem for OneFile {
    fn init(&mut self, _call: &Call, config: &mut KernelConfig) -> io::Result<()> {
        // Kernels without it wait for each part of a long read.
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        let _ = config.set_max_background(OUTSTANDING_MAX);
        Ok(())
    }

    fn lookup(&self, _call: &Call, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if parent == INodeNo::ROOT && name == FILE_NAME {
            reply.entry(&VALID, &self.attributes(FILE), Generation(0));
        } else {
            reply.error(Errno::ENOENT);
        }
    }

    fn getattr(&self, _call: &Call, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&Duration::from_secs(1), &self.attributes(inode));
    }

    fn open(&self, _call: &Call, _inode: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        let flags = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
        reply.opened(FileHandle(0), flags);
    }

    fn readdir(
        &self,
        _call: &Call,
        _inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let entries = [
            (INodeNo::ROOT, FileType::Directory, "."),
            (INodeNo::ROOT, FileType::Directory, ".."),
            (FILE, FileType::RegularFile, FILE_NAME),
        ];
        for (next, (inode, kind, name)) in (1..).zip(entries).skip(offset as usize) {
            if reply.add(inode, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn read(
        &self,
        _call: &Call,
        _inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let bytes = self.capacity_bytes.saturating_sub(offset).min(size.into());
        if bytes == 0 {
            return reply.data(&[]);
        }
        self.send(Action::Read, offset, bytes, &[], |result| match result {
            Ok(Answer::Data { bytes, .. }) => reply.data(&bytes),
            Ok(_) => reply.error(Errno::EIO),
            Err(errno) => reply.error(errno),
        });
    }

    fn write(
        &self,
        _call: &Call,
        _inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let room_bytes = self.capacity_bytes.saturating_sub(offset);
        if room_bytes == 0 {
            return reply.error(Errno::ENOSPC);
        }
        let data = &data[..data.len().min(room_bytes as usize)];
        let bytes = data.len() as u32;
        self.send(Action::Write, offset, bytes.into(), data, move |result| match result {
            Ok(_) => reply.written(bytes),
            Err(errno) => reply.error(errno),
        });
    }

    fn flush(
        &self,
        _call: &Call,
        _inode: INodeNo,
        _handle: FileHandle,
        _owner: LockOwner,
        reply: ReplyEmpty,
    ) {
        // A program closes the file: no promise goes with that.
        reply.ok();
    }

    fn fsync(
        &self,
        _call: &Call,
        _inode: INodeNo,
        _handle: FileHandle,
        _only_data: bool,
        reply: ReplyEmpty,
    ) {
        self.send(Action::Flush, 0, 0, &[], end(reply));
    }

    fn fallocate(
        &self,
        _call: &Call,
        _inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let mode = FallocateFlags::from_bits_retain(mode as u32);
        let bytes = self.capacity_bytes.saturating_sub(offset).min(length);
        let keeps_pages = if mode == FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE {
            false
        } else if mode.difference(FallocateFlags::KEEP_SIZE) == FallocateFlags::ZERO_RANGE {
            true
        } else {
            return reply.error(Errno::EOPNOTSUPP);
        };
        if bytes == 0 {
            return reply.ok();
        }
        self.send(Action::Zero { keeps_pages }, offset, bytes, &[], end(reply));
    }

    fn lseek(
        &self,
        _call: &Call,
        _inode: INodeNo,
        _handle: FileHandle,
        offset: i64,
        whence: i32,
        reply: ReplyLseek,
    ) {
        // SEEK_DATA and SEEK_HOLE of Linux; the kernel does the others itself.
        let hole = match whence {
            3 => false,
            4 => true,
            _ => return reply.error(Errno::EINVAL),
        };
        match u64::try_from(offset).ok().and_then(|offset| self.seek(offset, hole)) {
            Some(found) => reply.offset(found as i64),
            None => reply.error(Errno::ENXIO),
        }
    }
}
