//! The common interface of all kinds of targets before one is opened.

use target::IoError;

use super::described::Described;
use crate::options::OpenOptions;

/// A target before its opening. The default answers are those of a target inside this program:
/// nothing to refuse, nothing to erase.
pub(super) trait Unopened {
    /// The present target with the obstacles of its kind, without changing it.
    ///
    /// # Errors
    /// If there can be no such target.
    fn describe(&self) -> Result<Described, IoError>;

    /// Finds the errors of an opening for a run that writes, up to the engine, and changes nothing.
    ///
    /// # Errors
    /// The first of these errors.
    fn dry_run(&self, _options: &OpenOptions) -> Result<(), IoError> {
        Ok(())
    }

    /// Whether a word given with `--erase` names the target.
    fn is_named_by(&self, _word: &str) -> bool {
        false
    }
}
