//! Ctrl-C, SIGTERM and SIGHUP: work in progress ends regularly if it can, and otherwise at once,
//! with the same exit code. Also the ends of programs that reach a limit of the operating system.
//!
//! A thread receives the signals, so that the end of a program can be reported in its one JSON
//! document.

use std::fs;
use std::io::Result;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;

use crate::failure::{EXIT_INTERRUPTED, EXIT_UNSUPPORTED};
use crate::ui::out;

/// The listener for the signals.
struct Listener {
    /// Set by a signal; a signal that finds it set ends the program.
    button: Arc<AtomicBool>,
    /// Whether no signal ends the program.
    is_patient: AtomicBool,
    /// An incomplete file, removed before the program ends.
    half_written: Mutex<Option<PathBuf>>,
}

static LISTENER: OnceLock<Listener> = OnceLock::new();

/// From now on the first signal ends the program.
///
/// # Errors
/// The operating system's error about the signals.
pub fn at_once() -> Result<()> {
    listener().map(|listener| listener.button.store(true, Ordering::Relaxed))
}

/// A flag that the first signal sets, for work that can end regularly; the second one ends the
/// program at once.
///
/// # Errors
/// As [`at_once`].
pub fn button() -> Result<Arc<AtomicBool>> {
    let listener = listener()?;
    listener.button.store(false, Ordering::Relaxed);
    Ok(Arc::clone(&listener.button))
}

/// A flag like that of [`button`], but no signal ends the program: it must restore settings first.
///
/// # Errors
/// As [`at_once`].
pub fn patient_button() -> Result<Arc<AtomicBool>> {
    listener()?.is_patient.store(true, Ordering::Relaxed);
    button()
}

/// From now on, an end by a signal removes this file; `None` for a complete one.
///
/// # Errors
/// As [`at_once`].
pub fn remove_at_end(half_written: Option<&Path>) -> Result<()> {
    *listener()?.half_written() = half_written.map(Path::to_owned);
    Ok(())
}

/// From now on, the size limit of a file (`ulimit -f`) is an error of the write, like a full disk,
/// and not the end of the program.
///
/// # Errors
/// As [`at_once`].
pub fn survive_file_limit() -> Result<()> {
    flag::register(SIGXFSZ, Arc::default()).map(drop)
}

/// The end for lack of memory: completed phases are in the run directory, as after a kill.
pub fn out_of_memory(bytes: usize) -> ! {
    static IS_ENDING: AtomicBool = AtomicBool::new(false);
    if !IS_ENDING.swap(true, Ordering::Relaxed) {
        let _stdout = out::last_words(
            "memory",
            format_args!(
                "out of memory: {bytes} bytes more cannot be had; what a run measured in phases that have ended is \
                 kept. Raise the limit (ulimit -v, or that of the control group), or simulate a part of the drive \
                 with the key scale=1/64 in the target"
            ),
            EXIT_UNSUPPORTED,
        );
        signal_hook::low_level::exit(EXIT_UNSUPPORTED.into());
    }
    // Asked for while the end is told, here or on another thread: nothing can be told any more.
    signal_hook::low_level::exit(EXIT_UNSUPPORTED.into())
}

/// The end for lack of a thread: there is no memory for its stack, or no process more is allowed.
fn no_thread(error: &std::io::Error) -> ! {
    let _stdout = out::last_words(
        "memory",
        format_args!(
            "no thread can be started: {error}; raise the limit of memory (ulimit -v) or that of processes (ulimit -u)"
        ),
        EXIT_UNSUPPORTED,
    );
    signal_hook::low_level::exit(EXIT_UNSUPPORTED.into())
}

impl Listener {
    fn start() -> Result<Self> {
        let mut listened = vec![SIGINT, SIGTERM];
        // `nohup` says that a terminal which is closed does not matter.
        listened.extend((!is_ignored(SIGHUP)).then_some(SIGHUP));
        let is_ending = Arc::new(AtomicBool::new(false));
        for &signal in &listened {
            // If the end itself hangs, one signal more ends the program.
            let code = EXIT_INTERRUPTED.into();
            flag::register_conditional_shutdown(signal, code, Arc::clone(&is_ending))?;
        }
        let mut signals = Signals::new(listened)?;
        let thread = std::thread::Builder::new().name("signals".to_owned());
        let started = thread.spawn(move || {
            for _ in signals.forever() {
                LISTENER.get().inspect(|listener| listener.signalled(&is_ending));
            }
        });
        started.unwrap_or_else(|error| no_thread(&error));
        let (button, is_patient) = (Arc::new(AtomicBool::new(true)), AtomicBool::new(false));
        Ok(Self { button, is_patient, half_written: Mutex::new(None) })
    }

    fn signalled(&self, is_ending: &AtomicBool) {
        let is_again = self.button.swap(true, Ordering::Relaxed);
        if !is_again || self.is_patient.load(Ordering::Relaxed) {
            return;
        }
        is_ending.store(true, Ordering::Relaxed);
        let message = match self.half_written().as_ref().map(fs::remove_file) {
            Some(_) => "interrupted; nothing was written",
            None => "interrupted",
        };
        let _stdout = out::last_words("interrupted", format_args!("{message}"), EXIT_INTERRUPTED);
        std::process::exit(EXIT_INTERRUPTED.into());
    }

    fn half_written(&self) -> MutexGuard<'_, Option<PathBuf>> {
        self.half_written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn listener() -> Result<&'static Listener> {
    static STARTING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(listener) = LISTENER.get() {
        return Ok(listener);
    }
    let started = Listener::start()?;
    Ok(LISTENER.get_or_init(|| started))
}

/// Whether this program was started with the signal ignored.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
