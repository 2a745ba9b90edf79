//! Panics that mean damaged input, in code that was not made for such input.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// The result of `work`, or `None` if it panicked, which prints nothing. All that `work` changes must
/// be dropped in that case.
pub fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_QUIET.get() {
                before(panic);
            }
        }));
    });
    let was_quiet = IS_QUIET.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    IS_QUIET.set(was_quiet);
    done.ok()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn a_caught_panic_is_told_to_nobody_and_any_other_is() {
        static TOLD: AtomicU32 = AtomicU32::new(0);
        set_hook(Box::new(|_| {
            TOLD.fetch_add(1, Ordering::Relaxed);
        }));
        let count = || TOLD.load(Ordering::Relaxed);
        assert_eq!(caught(|| 7), Some(7));
        assert_eq!(caught(|| -> u32 { panic!("damaged") }), None);
        assert_eq!(caught(|| caught(|| -> u32 { panic!("within") })), Some(None));
        assert_eq!(count(), 0);
        let loud = std::thread::spawn(|| panic!("a mistake")).join();
        assert!(loud.is_err() && catch_unwind(|| panic!("another")).is_err());
        assert_eq!(count(), 2);
    }
}
