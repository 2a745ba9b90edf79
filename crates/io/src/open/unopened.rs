//! The face that the kinds of targets have in common before one is opened.

use target::IoError;

use super::described::Described;
use crate::options::OpenOptions;

/// A target that is still to be opened. The answers given here are those of one that exists nowhere
/// outside of this program: nothing to refuse, nothing to erase.
pub(super) trait Unopened {
    /// The target as it is now, and the obstacles that lie in what it is, without touching it.
    ///
    /// # Errors
    /// If there can be no such target.
    fn describe(&self) -> Result<Described, IoError>;

    /// Looks for the errors that opening it would meet before the engine, for a run that writes,
    /// and changes nothing.
    ///
    /// # Errors
    /// The first of these errors.
    fn rehearse(&self, _options: &OpenOptions) -> Result<(), IoError> {
        Ok(())
    }

    /// Whether a word given with `--erase` names the target.
    fn is_named_by(&self, _word: &str) -> bool {
        false
    }
}
