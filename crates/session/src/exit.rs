//! From an error to an exit code and a word for scripts: one table for every front end.

use load::trace::TraceError;
use result::store::StoreError;
use run::RunError;
use target::TargetError;

/// Success, or a failed verdict: the commands choose between 0 and 1.
pub const EXIT_DONE: u8 = 0;
/// A test that decides has decided no.
pub const EXIT_VERDICT: u8 = 1;
/// The call is wrong.
pub const EXIT_USAGE: u8 = 2;
/// The call could destroy something that it did not confirm.
pub const EXIT_REFUSED: u8 = 3;
/// The device, the file system or the operating system failed.
pub const EXIT_IO: u8 = 4;
/// This machine or target cannot do it.
pub const EXIT_UNSUPPORTED: u8 = 5;
/// A fault of the program itself; `EX_SOFTWARE` of `sysexits.h`.
pub const EXIT_INTERNAL: u8 = 70;
/// Stopped by the user.
pub const EXIT_INTERRUPTED: u8 = 130;

/// Every exit code with its meaning, for help and documentation.
pub const TABLE: [(u8, &str); 8] = [
    (EXIT_DONE, "done"),
    (EXIT_VERDICT, "a test decided no, an expectation failed, or a comparison found a regression"),
    (EXIT_USAGE, "the call is wrong; nothing was done"),
    (EXIT_REFUSED, "refused, because data could be lost; nothing was changed"),
    (EXIT_IO, "the device, a file or the operating system failed"),
    (EXIT_UNSUPPORTED, "this machine or target cannot do it"),
    (EXIT_INTERNAL, "ssdlab itself failed; please report the message"),
    (EXIT_INTERRUPTED, "interrupted; what was measured is kept"),
];

/// The word and the exit code of an error of a run.
pub fn of_run(error: &RunError) -> (&'static str, u8) {
    match error {
        RunError::Usage(_) | RunError::Workload(_) => ("usage", EXIT_USAGE),
        RunError::Target(error) => of_target(error),
        RunError::Trace(error) => of_trace(error),
        RunError::Store(error) => of_store(error),
        RunError::Journal(_) => ("journal", EXIT_IO),
        RunError::Rescued { .. } | RunError::NotRescued { .. } => ("result", EXIT_IO),
    }
}

/// The word and the exit code of an error of a target.
pub fn of_target(error: &TargetError) -> (&'static str, u8) {
    match error {
        TargetError::Usage(_) => ("usage", EXIT_USAGE),
        TargetError::Refused { code, .. } => (code, EXIT_REFUSED),
        TargetError::Device { .. } => ("device", EXIT_IO),
        TargetError::Interrupted(_) => ("interrupted", EXIT_INTERRUPTED),
        TargetError::Unsupported(_) => ("unsupported", EXIT_UNSUPPORTED),
    }
}

/// The word and the exit code of an error of a trace.
pub fn of_trace(error: &TraceError) -> (&'static str, u8) {
    match error {
        TraceError::Usage(_) => ("usage", EXIT_USAGE),
        TraceError::Io { .. } => ("io", EXIT_IO),
        TraceError::Damaged { .. } => ("trace", EXIT_IO),
    }
}

/// The word and the exit code of an error of a library.
pub fn of_store(error: &StoreError) -> (&'static str, u8) {
    match error {
        error if error.is_refused() => ("other-files", EXIT_REFUSED),
        error if error.is_usage() => ("usage", EXIT_USAGE),
        _ => ("result", EXIT_IO),
    }
}
