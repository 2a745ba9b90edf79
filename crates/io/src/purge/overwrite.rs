//! Purging by writing every block once, the last resort.

use std::fs::File;
use std::os::unix::fs::FileExt;

use base::Data;

use crate::buffer::BufferPool;
use crate::error::IoError;

const PIECE_BYTES: u32 = 1 << 20;

/// Writes incompressible data over the whole target, in order, and flushes.
///
/// # Errors
/// [`IoError::Device`] with the offset where a write failed.
pub(crate) fn overwrite(file: &File, capacity_bytes: u64, name: &str) -> Result<(), IoError> {
    let failed = |offset_bytes: u64| {
        move |source| IoError::Device {
            context: format!("cannot overwrite {name} at offset {offset_bytes}"),
            source,
        }
    };
    let mut pool = BufferPool::new(1, PIECE_BYTES, 0, true)?;
    let mut offset_bytes = 0;
    while offset_bytes < capacity_bytes {
        let len = u64::from(PIECE_BYTES).min(capacity_bytes - offset_bytes) as usize;
        let piece = pool.prepare_write(0, Data::Incompressible, offset_bytes, len);
        file.write_all_at(piece, offset_bytes).map_err(failed(offset_bytes))?;
        offset_bytes += len as u64;
    }
    file.sync_data().map_err(failed(capacity_bytes))
}
