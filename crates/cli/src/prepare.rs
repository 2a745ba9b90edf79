//! The requirements of a command for its targets; `session` inspects and holds them.

use ::target::TargetError;
use session::targets::restore_left_behind;

use crate::args::{CommonArgs, ExecutionArgs, RunArgs, SuiteArgs};
use crate::failure::Failure;
use crate::ui::out::talk;

pub use session::targets::{Inspection, Requirements, Targets, inspect, parse};

/// Requirements of a test.
pub fn of_test(args: &RunArgs) -> Requirements<'_> {
    let write = args.test.test.writes_in(args.read_only);
    let requirements = of_runs(&args.test.common, &args.execution);
    let parallel = args.parallel.parallel;
    Requirements { write, read_only: args.read_only, parallel, ..requirements }
}

/// Requirements of a review.
pub fn of_suite(suite: &SuiteArgs) -> Requirements<'_> {
    let requirements = of_runs(&suite.common, &suite.execution);
    Requirements { write: !suite.read_only, read_only: suite.read_only, ..requirements }
}

/// Requirements of a command with several runs that write.
pub fn of_runs<'a>(common: &'a CommonArgs, execution: &'a ExecutionArgs) -> Requirements<'a> {
    Requirements {
        write: true,
        read_only: false,
        erase: &execution.erase,
        erase_signatures: execution.erase_signatures,
        purge: common.purge,
        engine: execution.engine.engine,
        workers: execution.engine.workers(),
        facts: &execution.facts,
        library: Some(&common.library),
        parallel: false,
    }
}

/// The objections to the call now; the first one decides.
pub fn failures(inspection: &Inspection) -> Vec<Failure> {
    inspection.objections().map(Failure::from_io).collect()
}

/// Tells the links that targets measured at the same time share.
pub fn tell_links(inspection: &Inspection) {
    inspection.shared_links().iter().for_each(|link| talk!("{}", link_in_words(link)));
}

/// A shared link with the targets that share it.
pub fn link_in_words((link, targets): &(String, Vec<String>)) -> String {
    format!("shared: {link}, by {}", targets.join(" and "))
}

/// Opens and holds every target that exists, up to its engine; then restores the settings that a
/// killed run left changed, which would otherwise pass for the original ones.
///
/// # Errors
/// The first objection to any of them; nothing has changed then.
pub fn hold(inspection: Inspection) -> Result<Targets, TargetError> {
    let targets = inspection.hold()?;
    restore_settings();
    Ok(targets)
}

/// Restores the settings that an earlier run left changed; otherwise this run would treat them as
/// the original ones.
pub fn restore_settings() {
    for outcome in restore_left_behind() {
        match outcome {
            Ok(words) => talk!("restored: {words}"),
            Err(error) => talk!("warning: {}", Failure::from_error(&error.into()).message),
        }
    }
}
