//! Placement handles of NVMe namespaces, which only writes past the block layer can name.

use std::fs::File;
use std::sync::Arc;

use device::DeviceReport;
use device::describe::Protocol;
use device::nvme::generic;
use device::nvme::placement::PlacementHandles;

/// The handles that writes to a target can name.
#[derive(Clone, Debug, Default)]
pub(super) struct Placement {
    /// The placement identifiers of its handles; empty if there are none.
    pub(super) identifiers: Arc<[u16]>,
    /// Words on them, or `None` if the target is no NVMe drive.
    pub(super) words: Option<String>,
}

impl Placement {
    /// The handles of a device, which is `open` for reading if it can be; `is_generic` says that commands will go past the
    /// block layer.
    pub(super) fn of(open: Option<&File>, device: &DeviceReport, is_generic: bool) -> Self {
        let Some(file) = open.filter(|_| device.protocol == Protocol::Nvme) else {
            return Self::default();
        };
        match PlacementHandles::find(file, device) {
            Ok(found) if is_generic => {
                Self { words: Some(found.words()), identifiers: found.identifiers.into() }
            }
            Ok(found) => {
                let path = generic::path(device).map(|path| path.display().to_string());
                let path = path.unwrap_or_default();
                let words = format!("{}, which only writes through {path} name", found.words());
                Self { words: Some(words), ..Self::default() }
            }
            Err(why) => Self { words: Some(format!("none: {why}")), ..Self::default() },
        }
    }

    /// Number of handles; 1 if there are none to name.
    pub(super) fn handles(&self) -> u32 {
        self.identifiers.len().max(1) as u32
    }
}
