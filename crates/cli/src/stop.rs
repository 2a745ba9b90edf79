//! Ctrl-C and SIGTERM: whatever is under way ends well where it can, and otherwise at once, with the same exit code.

use std::io::Result;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::unregister;
use signal_hook::{SigId, flag};

use crate::failure::EXIT_INTERRUPTED;

/// What listens to both signals.
struct Listener {
    /// Set by a signal. One that finds it set ends the program.
    button: Arc<AtomicBool>,
    /// What ends the program.
    ends: Vec<SigId>,
}

static LISTENER: Mutex<Option<Listener>> = Mutex::new(None);

/// From now on the first signal ends the program.
///
/// # Errors
/// What the operating system says of the signals.
pub fn at_once() -> Result<()> {
    listen(|listener| listener.button.store(true, Ordering::Relaxed))
}

/// A flag that the first signal sets, for whoever can end well; the second one ends the program at once.
///
/// # Errors
/// As [`at_once`].
pub fn button() -> Result<Arc<AtomicBool>> {
    listen(|listener| {
        listener.button.store(false, Ordering::Relaxed);
        Arc::clone(&listener.button)
    })
}

/// A flag as that of [`button`], but no signal ends the program: something has to be put back first.
///
/// # Errors
/// As [`at_once`].
pub fn patient_button() -> Result<Arc<AtomicBool>> {
    listen(|listener| {
        listener.ends.drain(..).for_each(|end| {
            unregister(end);
        });
    })?;
    button()
}

fn listen<T>(what: impl FnOnce(&mut Listener) -> T) -> Result<T> {
    let mut listener = LISTENER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(listener) = listener.as_mut() {
        return Ok(what(listener));
    }
    let button = Arc::new(AtomicBool::new(true));
    let mut ends = Vec::new();
    for signal in [SIGINT, SIGTERM] {
        let code = EXIT_INTERRUPTED.into();
        ends.push(flag::register_conditional_shutdown(signal, code, Arc::clone(&button))?);
        flag::register(signal, Arc::clone(&button))?;
    }
    Ok(what(listener.insert(Listener { button, ends })))
}
