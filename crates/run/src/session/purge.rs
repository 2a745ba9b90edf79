//! The purge of a run, with its record.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

use base::Ratio;
use target::{PurgeMethod, Target, TargetError, Waiter};

use super::{Control, Session};
use crate::event::Event;

impl Session {
    /// Purges with the best or the requested method, and records the available ones.
    pub(super) fn purge<T: Target>(
        &mut self,
        target: &mut T,
        control: &mut Control<'_>,
    ) -> Result<PurgeMethod, TargetError> {
        let considered = target.purge_options();
        let stop_button = StopButton {
            interrupted: control.interrupted,
            observer: RefCell::new(&mut *control.observer),
        };
        let purged = target.purge(&stop_button);
        self.run.purge = Some(purge_record(&considered, purged.as_ref().ok()));
        self.warn_if_overwritten();
        purged
    }

    /// Purges a simulated drive at a part of its size.
    pub(super) fn purge_to_scale<T: Target>(
        &mut self,
        target: &mut T,
        scale: Ratio,
    ) -> Result<(), TargetError> {
        let method = target.purge_to_scale(scale)?;
        self.run.purge = Some(purge_record(&[], Some(&method)));
        Ok(())
    }

    /// The warning that an overwritten drive is not in its fresh state.
    pub(super) fn warn_if_overwritten(&mut self) {
        let method = self.run.purge.as_ref().and_then(|purge| purge.method.as_deref());
        if method == Some(PurgeMethod::Overwrite.name()) {
            let warning =
                "the drive was only overwritten, not purged: it does not start in its fresh state";
            if !self.warnings.iter().any(|known| known == warning) {
                self.warn(warning.to_owned());
            }
        }
    }
}

/// Lets the user stop a purge, and reports the reason if it cannot be stopped.
struct StopButton<'a> {
    interrupted: &'a AtomicBool,
    observer: RefCell<&'a mut dyn FnMut(&Event)>,
}

impl Waiter for StopButton<'_> {
    fn wants_to_stop(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    fn hear(&self, words: &str) {
        (self.observer.borrow_mut())(&Event::Warning(words.to_owned()));
    }
}

fn purge_record(
    considered: &[target::PurgeOption],
    method: Option<&PurgeMethod>,
) -> result::schema::Purge {
    let considered = considered.iter().map(|option| result::schema::PurgeOption {
        method: option.method.name().to_owned(),
        obstacle: option.obstacle.clone(),
    });
    result::schema::Purge {
        method: method.map(|method| method.name().to_owned()),
        considered: considered.collect(),
    }
}
