//! A pace of one's own: how much valid data moves for what the host writes.

use std::fmt::Debug;

use super::Level;

/// A pace. The limits of the model stay: at `gc.free_low` the host waits.
pub trait Pace: Debug + Send + Sync {
    /// Valid pages to move in return for `host_pages` written, at most those of a superblock; asked once for each unit
    /// of the host. What is owed and finds no victim that gives room is cancelled.
    ///
    /// # Errors
    /// The reason against any answer, in words.
    fn owed_pages(&mut self, level: Level, host_pages: u32) -> Result<u64, String>;

    /// The same policy in the same state, for a copy of the drive: `Box::new(self.clone())`.
    fn copied(&self) -> Box<dyn Pace>;
}

/// The answer of a pace, if it can be followed.
pub(crate) fn owed_pages(
    pace: &mut dyn Pace,
    level: Level,
    host_pages: u32,
) -> Result<u64, String> {
    let owed_pages = pace.owed_pages(level, host_pages)?;
    let most = u64::from(level.superblock_pages);
    if owed_pages > most {
        return Err(format!(
            "the policy wants {owed_pages} pages moved for {host_pages} written; expected 0 to {most}"
        ));
    }
    Ok(owed_pages)
}
