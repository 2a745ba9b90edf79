//! `--subject`: the drive on which a page opens.

use std::collections::BTreeMap;

use ::target::TargetError;
use result::report::{Report, RunView};

/// Opens a page on the drive that `words` mean: its target string, its name or a part of that, or the
/// id of one of its runs. Without words the page chooses the best drive.
///
/// # Errors
/// If the words mean no drive of the page, or several.
pub fn open_on(report: &mut Report, words: Option<&str>) -> Result<(), TargetError> {
    let Some(words) = words else { return Ok(()) };
    let part = words.to_lowercase();
    let is_exact = |run: &RunView| words == run.run_id || run.is_of_drive(words);
    let is_part = |run: &RunView| run.target.name.to_lowercase().contains(&part);
    let exact = drives(&report.runs, is_exact);
    let meant = if exact.is_empty() { drives(&report.runs, is_part) } else { exact };
    let names =
        |drives: BTreeMap<&str, &RunView>| drives.into_keys().collect::<Vec<_>>().join(", ");
    let Some((_, run)) = meant.first_key_value() else {
        let all = names(drives(&report.runs, |_| true));
        return Err(refusal(words, &format!("is no drive of this page; expected one of: {all}")));
    };
    if meant.len() > 1 {
        return Err(refusal(
            words,
            &format!("means several drives of this page: {}", names(meant)),
        ));
    }
    report.subject = Some(run.run_id.clone());
    Ok(())
}

/// A run of each drive that is meant, by the name of the drive.
fn drives(runs: &[RunView], is_meant: impl Fn(&RunView) -> bool) -> BTreeMap<&str, &RunView> {
    let meant = runs.iter().filter(|run| is_meant(run));
    meant.map(|run| (run.target.name.as_str(), run)).collect()
}

fn refusal(words: &str, reason: &str) -> TargetError {
    TargetError::Usage(format!("--subject: `{words}` {reason}"))
}
