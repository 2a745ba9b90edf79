//! Purging by writing every block once, the last resort.

use std::fs::File;
use std::os::unix::fs::FileExt;

use base::Data;
use target::{TargetError, Waiter};

use crate::buffer::BufferPool;

const PIECE_BYTES: u32 = 1 << 20;

/// Writes incompressible data over the whole target, in order, and flushes.
///
/// # Errors
/// [`TargetError::Device`] with the offset at which a write failed, [`TargetError::Interrupted`] with the
/// offset at which it was stopped.
pub(crate) fn overwrite(
    file: &File,
    capacity_bytes: u64,
    name: &str,
    waiter: &dyn Waiter,
) -> Result<(), TargetError> {
    let failed = |offset_bytes: u64| {
        move |source| TargetError::Device {
            context: format!("cannot overwrite {name} at offset {offset_bytes}"),
            source,
        }
    };
    let mut pool = BufferPool::new(1, PIECE_BYTES, 0, true)?;
    let mut offset_bytes = 0;
    while offset_bytes < capacity_bytes {
        if waiter.wants_to_stop() {
            return Err(TargetError::Interrupted(format!(
                "the overwrite of {name} was stopped: its first {offset_bytes} of {capacity_bytes} bytes hold \
                 random data, the others what they held before"
            )));
        }
        let len = u64::from(PIECE_BYTES).min(capacity_bytes - offset_bytes) as usize;
        let piece = pool.prepare_write(0, Data::Incompressible, offset_bytes, len);
        file.write_all_at(piece, offset_bytes).map_err(failed(offset_bytes))?;
        offset_bytes += len as u64;
    }
    file.sync_data().map_err(failed(capacity_bytes))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A waiter that stops at the given call.
    struct StopsAfter(Cell<u32>);

    impl Waiter for StopsAfter {
        fn wants_to_stop(&self) -> bool {
            let left = self.0.get();
            self.0.set(left.saturating_sub(1));
            left == 0
        }

        fn hear(&self, words: &str) {
            panic!("an overwrite can stop: {words}");
        }
    }

    #[test]
    fn an_overwrite_that_is_stopped_says_how_far_it_came_and_leaves_the_rest() {
        const MIB: usize = 1 << 20;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("it");
        std::fs::write(&path, vec![0; 4 * MIB]).unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        let stopped = overwrite(&file, 4 << 20, "it", &StopsAfter(Cell::new(2)));
        let Err(TargetError::Interrupted(words)) = stopped else { panic!("{stopped:?}") };
        assert!(words.contains("2097152 of 4194304 bytes"), "{words}");
        let after = std::fs::read(&path).unwrap();
        let written = |mib: usize| after[mib * MIB..(mib + 1) * MIB].iter().any(|&byte| byte != 0);
        assert_eq!([0, 1, 2, 3].map(written), [true, true, false, false]);
    }
}
