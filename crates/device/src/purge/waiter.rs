//! The waiter for a purge, which may take hours: it may ask for a stop, and must get a message on
//! the consequence for the drive.

use std::thread;
use std::time::Duration;

use target::TargetError;
use target::purge::Waiter;

/// Runs a command that nobody can stop; a waiter that asks for a stop gets `words`, once.
pub(super) fn told_why_not<T: Send>(
    waiter: &dyn Waiter,
    words: &str,
    command: impl FnOnce() -> Result<T, TargetError> + Send,
) -> Result<T, TargetError> {
    const LOOK_EVERY: Duration = Duration::from_millis(20);
    thread::scope(|scope| {
        let command = scope.spawn(command);
        let mut told = false;
        while !command.is_finished() {
            if waiter.wants_to_stop() && !told {
                waiter.hear(words);
                told = true;
            }
            thread::sleep(LOOK_EVERY);
        }
        command.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[cfg(test)]
pub(super) mod tests {
    use std::cell::{Cell, RefCell};
    use std::sync::mpsc::channel;

    use super::*;

    /// A waiter that stops at the given call, and keeps all messages.
    #[derive(Default)]
    pub(crate) struct Impatient {
        patience: Cell<u32>,
        pub(crate) heard: RefCell<Vec<String>>,
    }

    impl Impatient {
        pub(crate) fn after(patience: u32) -> Self {
            Self { patience: Cell::new(patience), ..Self::default() }
        }
    }

    impl Waiter for Impatient {
        fn wants_to_stop(&self) -> bool {
            let patience = self.patience.get();
            self.patience.set(patience.saturating_sub(1));
            patience == 0
        }

        fn hear(&self, words: &str) {
            self.heard.borrow_mut().push(words.to_owned());
        }
    }

    /// Ends the command when it hears that the command cannot be stopped.
    struct Ends(std::sync::mpsc::Sender<String>);

    impl Waiter for Ends {
        fn wants_to_stop(&self) -> bool {
            true
        }

        fn hear(&self, words: &str) {
            let _ = self.0.send(words.to_owned());
        }
    }

    #[test]
    fn who_waits_for_a_command_that_cannot_be_stopped_is_told_once_and_it_ends_well() {
        let (end, ended) = channel();
        let told = told_why_not(&Ends(end), "it goes on", move || {
            let first = ended.recv().expect("words");
            std::thread::sleep(Duration::from_millis(100));
            Ok((first, ended.try_recv().is_err()))
        });
        assert_eq!(told.expect("the command's own answer"), ("it goes on".to_owned(), true));
    }

    #[test]
    fn a_failure_of_the_command_comes_through() {
        let failed = || Err::<(), _>(TargetError::Unsupported("no".to_owned()));
        let waiter = Impatient::after(u32::MAX);
        let error = told_why_not(&waiter, "", failed).expect_err("the command's own failure");
        assert_eq!(error.to_string(), "no");
        assert!(waiter.heard.borrow().is_empty());
    }
}
