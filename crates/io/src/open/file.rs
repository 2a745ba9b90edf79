//! Regular files as targets: find or create, reserve the space, go direct.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::Bytes;
use device::describe::kernel::Tables;
use device::guard::file as somebodys;
use device::guard::file::FileClaim;
use device::host::clock::MonotonicClock;
use device::host::interrupts;
use device::host::patience::patiently;
use device::host::shell::quoted_path;
use device::host::sysfs::{DeviceNumber, System};
use rustix::fs::{AtFlags, CWD, FlockOperation, OFlags};
use rustix::io::Errno;
use target::{Identity, Limits, TargetError, TargetSpec};

use super::direct::{Access, go_direct};
use super::inspected::{Inspected, bare_identity, confirmation, engine_limits};
use crate::engine::medium::{Medium, MediumKind};
use crate::options::OpenOptions;
use crate::ownership::{FileHold, Ownership};
use crate::space::{Fit, SIZE_STEP_BYTES, allocate, can_reserve, punch_hole, unreserved};

#[cfg(test)]
mod each_check;

/// Place of an existing or future file target, with all symbolic links resolved.
enum Place {
    Existing(PathBuf),
    New(PathBuf),
}

/// An opened file before anything is known about its blocks.
struct OpenFile {
    file: File,
    path: PathBuf,
    hold: FileHold,
    capacity_bytes: u64,
    warnings: Vec<String>,
}

/// The file as it would be opened now for a run that writes; it is opened for reading at most.
pub(super) fn inspect(
    spec: &TargetSpec,
    path: &Path,
    size_bytes: Option<u64>,
) -> Result<Inspected, TargetError> {
    let (found, capacity_bytes, needs) = match locate(path)? {
        Place::New(wanted) => (wanted, needed_size(path, size_bytes)?, None),
        Place::Existing(found) => {
            let size_bytes = size_bytes.unwrap_or(whole_steps(examined(&found)?.len()));
            let file = open_existing(&found, false).ok();
            let marks = file.and_then(|file| somebodys::signatures(&file).ok());
            let has_contents = marks.is_some_and(|marks| !marks.is_empty());
            (found, size_bytes, Some(confirmation(&quoted_path(path), has_contents)))
        }
    };
    check_size(&found, capacity_bytes)?;
    let mut identity = bare_identity(spec, capacity_bytes);
    identity.serial = Some(found.display().to_string());
    Ok(Inspected {
        purge_options: device::purge::file_options(true),
        is_new: needs.is_none(),
        needs,
        ..Inspected::harmless(spec, identity, engine_limits())
    })
}

/// Every check of [`hold`]; the file is opened for reading only, and none is created.
pub(super) fn dry_run(
    spec: &TargetSpec,
    path: &Path,
    size_bytes: Option<u64>,
    options: &OpenOptions,
) -> Result<(), TargetError> {
    if !options.write {
        return hold(spec, path, size_bytes, false, options).map(drop);
    }
    match locate(path)? {
        Place::New(wanted) => {
            let size_bytes = needed_size(path, size_bytes)?;
            check_size(&wanted, size_bytes)?;
            check_space(&wanted, size_bytes, 0)?;
            somebodys::require_tables()?;
            let directory = wanted.parent().unwrap_or(Path::new("/"));
            require_right(directory, || format!("cannot create {}", wanted.display()))
        }
        Place::Existing(found) => {
            lend(&found, size_bytes, options, false)?;
            require_right(&found, || format!("cannot open {}", found.display()))
        }
    }
}

/// Opens or creates the file, up to the engine.
pub(super) fn hold(
    spec: &TargetSpec,
    path: &Path,
    size_bytes: Option<u64>,
    keep: bool,
    options: &OpenOptions,
) -> Result<Medium, TargetError> {
    options.check(&path.display().to_string())?;
    let mut opened = match (locate(path)?, options.write) {
        (Place::Existing(found), true) => overwrite(found, size_bytes, options)?,
        (Place::Existing(found), false) => read_only(found, size_bytes)?,
        (Place::New(wanted), true) => create(path, wanted, size_bytes)?,
        (Place::New(wanted), false) => return Err(nothing_to_read(&wanted)),
    };
    if keep {
        opened.hold.keep();
    }
    medium(opened, spec, path, options)
}

/// Whether a word given with `--erase` names the file that `path` leads to, or would create.
pub(super) fn is_named_by(path: &Path, word: &str) -> bool {
    let place = |path: &Path| fs::canonicalize(path).ok().or_else(|| resolve_new(path).ok());
    let word = Path::new(word);
    match (inode(path), inode(word)) {
        (Some(target), Some(named)) => target == named,
        (None, None) => place(path).is_some_and(|target| place(word) == Some(target)),
        _ => false,
    }
}

/// Device and inode of the file at the end of the path.
fn inode(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

fn examined(path: &Path) -> Result<fs::Metadata, TargetError> {
    fs::metadata(path)
        .map_err(|source| device_error(format!("cannot examine {}", path.display()), source))
}

/// Refuses a path that this program may not write to.
fn require_right(path: &Path, what: impl Fn() -> String) -> Result<(), TargetError> {
    let right = rustix::fs::accessat(CWD, path, rustix::fs::Access::WRITE_OK, AtFlags::EACCESS);
    right.map_err(|errno| device_error(what(), errno.into()))
}

/// Resolves the path and refuses one that can never be a file target.
fn locate(path: &Path) -> Result<Place, TargetError> {
    let place = match fs::canonicalize(path) {
        Ok(found) => Place::Existing(found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Place::New(resolve_new(path)?),
        Err(source) => return Err(device_error(format!("cannot use {}", path.display()), source)),
    };
    if let Place::Existing(found) = &place {
        require_regular(found)?;
        somebodys::require_same(path, found)?;
    }
    let (Place::Existing(resolved) | Place::New(resolved)) = &place;
    // A mistyped device name must not become a large file in the memory behind /dev.
    if ["/dev", "/proc", "/sys"].iter().any(|root| resolved.starts_with(root)) {
        return Err(TargetError::Usage(format!(
            "file:{} is at {}; expected a path outside /dev, /proc and /sys (for a block device \
             leave `file:` away)",
            path.display(),
            resolved.display()
        )));
    }
    Ok(place)
}

fn resolve_new(path: &Path) -> Result<PathBuf, TargetError> {
    if path.is_symlink() {
        return Err(TargetError::Usage(format!(
            "{} is a symbolic link to nothing; expected a file or a new name",
            path.display()
        )));
    }
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or_else(|| {
        TargetError::Usage(format!(
            "{} names no file; expected file:PATH?size=8GiB",
            path.display()
        ))
    })?;
    match fs::canonicalize(parent) {
        Ok(resolved) => {
            somebodys::require_same(parent, &resolved)?;
            Ok(resolved.join(name))
        }
        Err(error) => Err(TargetError::Usage(format!(
            "cannot create {}: its directory {} is not usable ({error}); expected an existing one",
            path.display(),
            parent.display()
        ))),
    }
}

fn require_regular(path: &Path) -> Result<(), TargetError> {
    let kind = fs::symlink_metadata(path)
        .map_err(|source| device_error(format!("cannot examine {}", path.display()), source))?
        .file_type();
    if kind.is_file() {
        return Ok(());
    }
    let path = path.display();
    Err(TargetError::Usage(if kind.is_block_device() {
        format!("{path} is a block device: use {path} itself, without `file:`")
    } else if kind.is_dir() {
        format!(
            "{path} is a directory; expected a regular file, such as file:{path}/NAME?size=8GiB"
        )
    } else {
        format!("{path} is not a regular file; expected one, or a new name")
    }))
}

fn nothing_to_read(path: &Path) -> TargetError {
    TargetError::Usage(format!(
        "{} does not exist and this run only reads; expected an existing file",
        path.display()
    ))
}

/// The necessary size of a new file.
fn needed_size(path: &Path, size_bytes: Option<u64>) -> Result<u64, TargetError> {
    size_bytes.ok_or_else(|| {
        let path = path.display();
        TargetError::Usage(format!(
            "{path} does not exist and its size is not given; expected file:{path}?size=8GiB"
        ))
    })
}

/// As much of a file as a target can have.
const fn whole_steps(len_bytes: u64) -> u64 {
    len_bytes - len_bytes % SIZE_STEP_BYTES
}

fn create(typed: &Path, path: PathBuf, size_bytes: Option<u64>) -> Result<OpenFile, TargetError> {
    let size_bytes = needed_size(typed, size_bytes)?;
    check_size(&path, size_bytes)?;
    check_space(&path, size_bytes, 0)?;
    somebodys::require_tables()?;
    let file = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(OFlags::NOFOLLOW.bits() as i32)
        .open(&path)
        .map_err(|source| device_error(format!("cannot create {}", path.display()), source))?;
    // From here on every return removes the file.
    let mut hold = FileHold::new(path.clone(), &metadata(&file, &path)?, true);
    hold.claim(FileClaim::take(&file, &path)?);
    let warnings = allocate(&file, &path, size_bytes)?;
    Ok(OpenFile { file, path, hold, capacity_bytes: size_bytes, warnings })
}

/// Opens an existing file that the user named with `--erase`, and locks it.
fn lend(
    path: &Path,
    size_bytes: Option<u64>,
    options: &OpenOptions,
    write: bool,
) -> Result<(File, FileClaim, u64), TargetError> {
    let looked_at = open_existing(path, false)?;
    let unused = metadata(&looked_at, path)?;
    somebodys::require_unused(path, &unused)?;
    #[cfg(test)]
    each_check::meanwhile("is unused");
    let given_away = require_erase(path, &options.erase)?;
    somebodys::require_no_contents(&looked_at, path, options.erase_signatures)?;
    #[cfg(test)]
    each_check::meanwhile("is given away");
    let file = open_existing(path, write)?;
    let found = metadata(&file, path)?;
    if [&found, &unused].iter().any(|it| (it.dev(), it.ino()) != given_away) {
        return Err(TargetError::Refused {
            code: "identity-changed",
            message: format!(
                "{} was replaced while it was opened; stop whatever does that and run again",
                path.display()
            ),
        });
    }
    let claim = FileClaim::take(&file, path)?;
    let capacity_bytes = size_bytes.unwrap_or(whole_steps(found.len()));
    check_size(path, capacity_bytes)?;
    check_space(path, capacity_bytes, found.blocks().saturating_mul(512))?;
    Ok((file, claim, capacity_bytes))
}

fn overwrite(
    path: PathBuf,
    size_bytes: Option<u64>,
    options: &OpenOptions,
) -> Result<OpenFile, TargetError> {
    let (file, claim, capacity_bytes) = lend(&path, size_bytes, options, true)?;
    let found = metadata(&file, &path)?;
    let warnings =
        if can_reserve(&file, &path, found.len())? { Vec::new() } else { vec![unreserved(&path)] };
    let mut hold = FileHold::new(path.clone(), &found, false);
    // A check that may still refuse the run must find the file unchanged.
    hold.claim(claim);
    hold.fit_later(Fit { capacity_bytes, resize: size_bytes.is_some() });
    Ok(OpenFile { file, path, hold, capacity_bytes, warnings })
}

fn read_only(path: PathBuf, size_bytes: Option<u64>) -> Result<OpenFile, TargetError> {
    let file = open_existing(&path, false)?;
    let found = metadata(&file, &path)?;
    lock(&file, &path)?;
    let capacity_bytes = size_bytes.unwrap_or(whole_steps(found.len()));
    check_size(&path, capacity_bytes)?;
    if capacity_bytes > found.len() {
        return Err(TargetError::Usage(format!(
            "?size= asks for {}, but {} has only {} and this run only reads; leave ?size= away",
            Bytes(capacity_bytes).rounded(),
            path.display(),
            Bytes(found.len()).rounded()
        )));
    }
    let hold = FileHold::new(path.clone(), &found, false);
    Ok(OpenFile { file, path, hold, capacity_bytes, warnings: Vec::new() })
}

/// An existing file is overwritten only if the user named it, by any path. Returns device and inode
/// of the named file.
fn require_erase(path: &Path, erase: &[String]) -> Result<(u64, u64), TargetError> {
    if erase.is_empty() {
        return Err(TargetError::Refused {
            code: "existing-file",
            message: format!(
                "{} exists and this run would overwrite it; give --erase {} if its content may be \
                 lost, or choose a new name",
                path.display(),
                quoted_path(path)
            ),
        });
    }
    let found = examined(path)?;
    let found = (found.dev(), found.ino());
    if erase.iter().any(|word| inode(Path::new(word)) == Some(found)) {
        return Ok(found);
    }
    Err(TargetError::Refused {
        code: "wrong-serial",
        message: format!(
            "--erase {} is not the file that would be overwritten; expected --erase {}",
            erase.join(", "),
            quoted_path(path)
        ),
    })
}

fn open_existing(path: &Path, write: bool) -> Result<File, TargetError> {
    File::options()
        .read(true)
        .write(write)
        .custom_flags(OFlags::NOFOLLOW.bits() as i32)
        .open(path)
        .map_err(|source| device_error(format!("cannot open {}", path.display()), source))
}

fn metadata(file: &File, path: &Path) -> Result<fs::Metadata, TargetError> {
    file.metadata()
        .map_err(|source| device_error(format!("cannot examine {}", path.display()), source))
}

/// Keeps other runs from writing to a file that this one reads.
fn lock(file: &File, path: &Path) -> Result<(), TargetError> {
    let shared = FlockOperation::NonBlockingLockShared;
    let locked = patiently(|| rustix::fs::flock(file, shared).map_err(io::Error::from));
    match locked.map_err(|error| Errno::from_io_error(&error)) {
        Err(Some(Errno::WOULDBLOCK)) => Err(TargetError::Refused {
            code: "busy",
            message: format!(
                "{} is locked by another process, perhaps another run; wait for it or choose \
                 another file",
                path.display()
            ),
        }),
        // File systems without locks (some network mounts) are used without one.
        _ => Ok(()),
    }
}

fn check_size(path: &Path, size_bytes: u64) -> Result<(), TargetError> {
    if size_bytes > 0 && size_bytes.is_multiple_of(SIZE_STEP_BYTES) {
        return Ok(());
    }
    Err(TargetError::Usage(format!(
        "{size_bytes} bytes is no size for {}; expected a multiple of {SIZE_STEP_BYTES} above zero, \
         such as ?size=8GiB",
        path.display()
    )))
}

/// Checked before creating or growing, so that the user gets a message and not an incomplete file.
/// The file has `held_bytes` already.
fn check_space(path: &Path, size_bytes: u64, held_bytes: u64) -> Result<(), TargetError> {
    let directory = path.parent().unwrap_or(Path::new("/"));
    let Ok(space) = rustix::fs::statvfs(directory) else { return Ok(()) };
    let free_bytes = space.f_bavail.saturating_mul(space.f_frsize);
    if size_bytes.saturating_sub(held_bytes) <= free_bytes {
        return Ok(());
    }
    Err(device_error(
        format!(
            "{} needs {} but {} has only {} free; use a smaller ?size=",
            path.display(),
            Bytes(size_bytes).rounded(),
            directory.display(),
            Bytes(free_bytes).rounded()
        ),
        Errno::NOSPC.into(),
    ))
}

fn medium(
    mut opened: OpenFile,
    spec: &TargetSpec,
    typed: &Path,
    options: &OpenOptions,
) -> Result<Medium, TargetError> {
    let access = go_direct(&opened.file);
    let (engine, logical_block_bytes) = match &access {
        Access::Direct { block_bytes } => ("O_DIRECT".to_owned(), *block_bytes),
        Access::Buffered { reason } => {
            opened.warnings.push(format!(
                "{} is used through the page cache ({reason}): the figures are those of memory, \
                 not of a drive",
                opened.path.display()
            ));
            (format!("buffered ({reason})"), 512)
        }
    };
    let limits = Limits {
        logical_block_bytes,
        physical_block_bytes: logical_block_bytes.max(4096),
        transfer_bytes_max: options.transfer_bytes_max,
        queue_depth_max: options.queue_depth,
        deallocate: options.write && can_punch(&opened)?,
        ..Limits::BARE
    };
    let system = System::live();
    let on = opened.file.metadata().ok().map(|found| DeviceNumber::from_raw(found.dev()));
    let identity = Identity {
        name: typed.display().to_string(),
        serial: Some(opened.path.display().to_string()),
        engine,
        details: on.map_or_else(BTreeMap::new, |on| details(&system, on)),
        ..bare_identity(spec, opened.capacity_bytes)
    };
    Ok(Medium {
        file: opened.file,
        kind: MediumKind::File,
        is_generic: false,
        capacity_bytes: opened.capacity_bytes,
        granted_bytes: opened.capacity_bytes,
        limits,
        placements: Arc::default(),
        writable: options.write,
        purge: options.purge,
        identity,
        warnings: opened.warnings,
        clock: MonotonicClock::start(),
        rest: None,
        interrupt_processor: on.and_then(|on| interrupts::processor(&system, on)),
        ownership: Arc::new(Ownership::File(opened.hold)),
        first_words: Arc::default(),
    })
}

/// The file system and the device it is `on`: the figures depend on them as much as on the drive.
fn details(system: &System, on: DeviceNumber) -> BTreeMap<String, String> {
    let Some(mount) = Tables::read(system).mount_of(on).cloned() else { return BTreeMap::new() };
    let place = mount.source.display().to_string();
    let mut details =
        BTreeMap::from([("file_system".to_owned(), mount.file_system), ("on".to_owned(), place)]);
    // Unknown where there is no device, as on tmpfs.
    let Some(disk) = system.by_number(on).map(|on| on.disk()) else { return details };
    for (label, attribute) in [("write_cache", "queue/write_cache"), ("io_poll", "queue/io_poll")] {
        details.extend(disk.text(attribute).map(|value| (label.to_owned(), value)));
    }
    details
}

/// Tried beyond the end of the file, where nothing is lost: the run may still be refused.
fn can_punch(opened: &OpenFile) -> Result<bool, TargetError> {
    let len_bytes = metadata(&opened.file, &opened.path)?.len();
    let beyond = len_bytes.max(opened.capacity_bytes).checked_next_multiple_of(SIZE_STEP_BYTES);
    Ok(beyond.is_some_and(|end| punch_hole(&opened.file, end, SIZE_STEP_BYTES).is_ok()))
}

fn device_error(context: String, source: io::Error) -> TargetError {
    TargetError::Device { context, source }
}
