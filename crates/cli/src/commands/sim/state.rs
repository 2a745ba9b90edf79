//! The state of an exposed drive in a file.

use std::path::Path;

use ::target::TargetError;
use device::guard;
use expose::shared::RequestToken;
use expose::snapshot::FileFault;
use expose::snapshot::file::{self, Replace, SavedState};
use expose::{Contents, Disk};
use sim::Config;

/// A disk in the saved state, or a fresh one if there is no such file; the file can then be written at the end.
pub(super) fn disk(
    path: Option<&Path>,
    config: Config,
    contents: Contents,
) -> Result<Disk<RequestToken>, TargetError> {
    let Some(path) = path else { return Ok(Disk::new(config, contents)) };
    let fail = |fault| slip(path, fault);
    Replace::State.check(path).map_err(fail)?;
    if path.symlink_metadata().is_err() {
        return Ok(Disk::new(config, contents));
    }
    require_replaceable(path)?;
    SavedState::read(path, &config).and_then(|saved| saved.into_disk(contents)).map_err(fail)
}

/// Saves the state at the end.
pub(super) fn save(
    disk: &mut Disk<RequestToken>,
    drive: &str,
    path: &Path,
) -> Result<(), TargetError> {
    require_replaceable(path)?;
    let saved = file::save(disk, drive, path, Replace::State);
    saved.map(drop).map_err(|fault| slip(path, fault))
}

/// Refuses a state file that somebody else uses.
fn require_replaceable(path: &Path) -> Result<(), TargetError> {
    let Ok(resolved) = path.canonicalize() else { return Ok(()) };
    guard::check_replaceable(path, &resolved)
}

pub(super) fn slip(path: &Path, fault: FileFault) -> TargetError {
    match fault {
        FileFault::Io(source) => {
            TargetError::Device { context: format!("the saved state {}", path.display()), source }
        }
        fault => TargetError::Usage(format!("{} {fault}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use expose::plan::Shape;

    use super::*;
    use crate::loops::{LoopDevice, attach, require_or_skip};

    #[test]
    fn a_state_in_use_is_neither_read_nor_replaced() {
        if !require_or_skip("a_state_in_use_is_neither_read_nor_replaced", &["losetup"]) {
            return;
        }
        let device = LoopDevice::new(1 << 20);
        let path = device.beside("state");
        let open = || {
            let settings = [("scale".to_owned(), "1/1024".to_owned())];
            let config = io::engine::sim::configure("samsung-840-pro-256gb", &settings).unwrap();
            let shape = Shape::of(&config);
            let contents = Contents::in_memory(shape, shape.capacity_bytes).unwrap();
            disk(Some(&path), config, contents)
        };
        let is_held =
            |error: TargetError| matches!(error, TargetError::Refused { code: "held", .. });
        save(&mut open().unwrap(), "drive", &path).unwrap();
        let mut opened = open().unwrap();
        let before = std::fs::read(&path).unwrap();
        let _node = attach(&path, &[]);
        assert!(open().is_err_and(is_held));
        assert!(save(&mut opened, "drive", &path).is_err_and(is_held));
        assert!(std::fs::read(&path).unwrap() == before);
    }
}
