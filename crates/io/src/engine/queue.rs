//! The face of an engine: a queue of commands on an open medium.

use base::{Completion, Nanos, Op};
use target::{Clock as _, TargetError};

use super::medium::Medium;

/// Carries commands to a medium and brings back their ends. The medium is the same in every call.
pub(crate) trait Queue {
    /// As [`target::Target::submit`].
    fn submit(&mut self, medium: &Medium, ops: &[Op]);

    /// As [`target::Target::reap`].
    fn reap(
        &mut self,
        medium: &Medium,
        min: usize,
        out: &mut Vec<Completion>,
    ) -> Result<(), TargetError>;

    /// As [`target::Target::reap_until`].
    fn reap_until(
        &mut self,
        medium: &Medium,
        t: Nanos,
        out: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        loop {
            self.reap(medium, 0, out)?;
            if !out.is_empty() || medium.clock.now() >= t {
                return Ok(());
            }
            std::hint::spin_loop();
        }
    }

    /// As [`target::Target::read_bytes`].
    fn read_bytes(&mut self, tag: u32, len_bytes: usize) -> Option<&[u8]>;
}
