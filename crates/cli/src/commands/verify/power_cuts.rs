//! `ssdlab verify sim:NAME --power-cuts N`: N power cuts of a simulated drive, with a check of
//! every page after each recovery.

use std::sync::atomic::{AtomicBool, Ordering};

use ::target::{TargetError, TargetSpec};
use base::Rng;
use serde_json::json;
use sim::Config;
use sim_trial::{Broken, Cost, Found, Report, Trial};

use super::seed;
use super::{QUEUE_DEPTH, VerifyArgs};
use crate::args::Format;
use crate::failure::{EXIT_DONE, EXIT_INTERRUPTED, EXIT_VERDICT};
use crate::mapping::with_mapping;
use crate::stop;
use crate::ui::out::{data, talk};
use crate::ui::table;

/// Numbers of commands between two cuts; one of these.
const COMMANDS: [u64; 4] = [0, 10, 100, 400];
/// Number of progress lines.
const PROGRESS_LINES: u64 = 10;
/// Most memory for a trial.
const MEMORY_BYTES_MAX: u64 = 4 << 30;
/// The conditions of a trial.
struct Case<'a> {
    target: &'a str,
    seed: u64,
    queue_depth: u32,
    has_capacitors: bool,
    /// Assumed keys of the model with their values: neither the model nor the user set them.
    assumed: Vec<(String, String)>,
}

pub fn run(args: &VerifyArgs, spec: &TargetSpec, cuts: u64) -> anyhow::Result<u8> {
    let Some((name, settings)) = spec.model() else {
        return Err(TargetError::Usage(format!(
            "--power-cuts is for simulated drives (sim:NAME); cut the power of {spec} yourself while \
             `ssdlab verify` writes, then use --check"
        ))
        .into());
    };
    let (config, assumed) = with_mapping(name, settings)?;
    check_memory(spec, &config)?;
    let queue_depth = queue_depth(args, &config)?;
    let case = Case {
        target: &args.target,
        seed: seed(args),
        queue_depth,
        has_capacitors: config.power_loss_protected,
        assumed,
    };
    talk!("{}: seed {}, queue depth {queue_depth}, {cuts} cuts", case.target, case.seed);
    let mut rng = Rng::split(case.seed, "power cuts");
    let Some(mut trial) = Trial::new(config, queue_depth, rng.clone()) else {
        return Err(TargetError::Usage(format!("{spec} has no [mapping]")).into());
    };
    let interrupted = stop::button()?;
    trial.age();
    let report = live(trial, cuts, &mut rng, &interrupted);
    match args.format {
        Format::Json => data!("{}", document(&case, &report)),
        Format::Text => print(&case, &report),
    }
    Ok(exit_code(&report, cuts))
}

fn check_memory(spec: &TargetSpec, config: &Config) -> Result<(), TargetError> {
    let bytes = Trial::memory_bytes(config);
    if bytes <= MEMORY_BYTES_MAX {
        return Ok(());
    }
    let divisor = bytes.div_ceil(MEMORY_BYTES_MAX).next_power_of_two();
    Err(TargetError::Usage(format!(
        "to follow every page of {spec} takes {} of memory, and at most {} is used; make the drive smaller, \
         for instance to 1/{divisor} of what it is (scale=)",
        table::bytes(bytes),
        table::bytes(MEMORY_BYTES_MAX),
    )))
}

/// The requested depth; the default is limited to that of the drive.
fn queue_depth(args: &VerifyArgs, config: &Config) -> Result<u32, TargetError> {
    let (wanted, most) = (args.queue_depth, config.queue_depth);
    if (1..=most).contains(&wanted) || wanted == QUEUE_DEPTH {
        return Ok(wanted.min(most));
    }
    Err(TargetError::Usage(format!("--queue-depth {wanted}: this drive takes 1 to {most}")))
}

/// A trial that ends early at the first broken promise, or when the user stops it.
fn live(mut trial: Trial, cuts: u64, rng: &mut Rng, interrupted: &AtomicBool) -> Report {
    while trial.report().cuts < cuts
        && trial.report().is_kept()
        && !interrupted.load(Ordering::Relaxed)
    {
        trial = trial.live(COMMANDS[rng.below(COMMANDS.len() as u64) as usize]);
        let done = trial.report().cuts;
        if done < cuts && done.is_multiple_of(cuts.div_ceil(PROGRESS_LINES)) {
            talk!("{done} of {cuts} cuts");
        }
    }
    trial.report().clone()
}

fn exit_code(report: &Report, cuts: u64) -> u8 {
    if !report.is_kept() {
        EXIT_VERDICT
    } else if report.cuts < cuts {
        EXIT_INTERRUPTED
    } else {
        EXIT_DONE
    }
}

fn document(case: &Case<'_>, report: &Report) -> serde_json::Value {
    let broken: Vec<_> = report
        .broken
        .iter()
        .map(|(cut, broken)| {
            json!({
                "cut": cut, "page": broken.page, "finding": broken.finding.name(),
                "promised_version": broken.promised, "holds": holds(broken.found),
            })
        })
        .collect();
    json!({
        "target": case.target, "seed": case.seed, "queue_depth": case.queue_depth,
        "has_capacitors": case.has_capacitors, "has_assumed_mapping": !case.assumed.is_empty(),
        "cuts": report.cuts,
        "acknowledged": {
            "writes": report.writes, "forced_writes": report.forced_writes,
            "flushes": report.flushes, "deallocations": report.deallocations,
            "reads": report.reads,
        },
        "gc_moved_pages": report.gc_moved_pages, "metadata_pages": report.metadata_pages,
        "at_the_cuts": {
            "commands_under_way": report.under_way,
            "programs_torn": report.torn_programs, "erases_torn": report.torn_erases,
            "held_up_ns": cost(report.held_up_ns),
        },
        "writes_not_durable": report.writes_not_durable, "writes_torn": report.writes_torn,
        "recovery": {
            "duration_ns": cost(report.recovery_ns), "units_read": cost(report.units_read),
            "pages_found": cost(report.pages_found), "gave_up_copies": report.gave_up_copies,
        },
        "broken_pages": report.broken_pages, "broken": broken, "faults": report.faults,
    })
}

fn cost(cost: Cost) -> serde_json::Value {
    json!({ "sum": cost.sum, "max": cost.max })
}

/// The content of a page, in words.
fn holds(found: Found) -> String {
    match found {
        Found::Nothing => "nothing".to_owned(),
        Found::Version(version) => format!("version {version}"),
        Found::Other(page) => format!("data of page {page}"),
        Found::Unreadable => "what cannot be read".to_owned(),
    }
}

fn print(case: &Case<'_>, report: &Report) {
    let count = |value: u64| table::count(value as f64);
    data!("{}: {} losses of power (seed {})", case.target, count(report.cuts), case.seed);
    if !case.assumed.is_empty() {
        let keys: Vec<_> =
            case.assumed.iter().map(|(key, value)| format!("{key}={value}")).collect();
        data!("  the model has no [mapping]; assumed: {}", keys.join("&"));
    }
    data!(
        "  acknowledged: {} writes ({} with forced unit access), {} flushes, {} deallocations, {} reads",
        count(report.writes),
        count(report.forced_writes),
        count(report.flushes),
        count(report.deallocations),
        count(report.reads)
    );
    data!("  moved by garbage collection: {} pages", count(report.gc_moved_pages));
    data!(
        "  cut short: {} commands, {} programs, {} erases",
        count(report.under_way),
        count(report.torn_programs),
        count(report.torn_erases)
    );
    data!(
        "  writes acknowledged but not durable, as allowed: {}",
        count(report.writes_not_durable)
    );
    data!("  writes torn, as allowed: {}", count(report.writes_torn));
    print_costs(case, report);
    print_verdict(report);
}

fn print_costs(case: &Case<'_>, report: &Report) {
    let mean = |cost: Cost| cost.sum / report.cuts.max(1);
    let seconds = |ns| table::latency(ns as f64);
    data!(
        "  a recovery: {} (at most {}), {} units read (at most {})",
        seconds(mean(report.recovery_ns)),
        seconds(report.recovery_ns.max),
        table::count(mean(report.units_read) as f64),
        table::count(report.units_read.max as f64)
    );
    if case.has_capacitors {
        data!("  the capacitors had to last {} at most", seconds(report.held_up_ns.max));
    }
}

fn print_verdict(report: &Report) {
    for (cut, Broken { page, finding, promised, found }) in &report.broken {
        let promised =
            promised.map_or("nothing".to_owned(), |version| format!("version {version}"));
        let (finding, holds) = (finding.name(), holds(*found));
        data!("  cut {cut}, page {page}: {finding}: promised {promised}, holds {holds}");
    }
    report.faults.iter().for_each(|fault| data!("  cut {}: {fault}", report.cuts));
    if report.is_kept() {
        data!("The drive kept every promise.");
    } else {
        data!("The drive broke its promise for {} pages.", report.broken_pages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim::power_loss::{MapUnit, NandContents};
    use sim_trial::damage;

    const CASE: Case<'_> = Case {
        target: "sim:test",
        seed: 1,
        queue_depth: 8,
        has_capacitors: false,
        assumed: Vec::new(),
    };

    /// A small drive with some use.
    fn aged() -> Trial {
        let scale = [("scale".to_owned(), "1/512".to_owned())];
        let (config, _) = with_mapping("sandisk-extreme-ii-480gb", &scale).expect("a drive");
        let mut trial = Trial::new(config, 8, Rng::new(1)).expect("it writes its map down");
        trial.age();
        trial
    }

    /// Cuts and damaged recoveries until a promise is broken.
    fn damaged(damage: fn(&mut NandContents)) -> Report {
        let mut trial = aged();
        while trial.report().cuts < 20 && trial.report().is_kept() {
            trial.work(100);
            let (mut off, host) = trial.power_off();
            damage(off.nand_mut());
            trial = host.power_on(off);
        }
        trial.report().clone()
    }

    #[test]
    fn a_recovery_that_does_not_search_breaks_promises_and_is_told() {
        let report = damaged(damage::trust_anchors);
        assert_eq!(exit_code(&report, 20), EXIT_VERDICT);
        let document = document(&CASE, &report);
        let broken = document["broken"].as_array().expect("a list");
        assert!(!broken.is_empty(), "{document:#}");
        for page in broken {
            assert_eq!(page["cut"], report.cuts, "the trial ends with the first broken promise");
            assert!(["lost", "stale"].contains(&page["finding"].as_str().unwrap()), "{page}");
        }
    }

    #[test]
    fn a_recovery_without_a_checkpoint_breaks_promises() {
        let lose_checkpoints = |nand: &mut NandContents| {
            damage::lose_map(nand, |unit| matches!(unit, MapUnit::Segment { .. }));
        };
        assert_eq!(exit_code(&damaged(lose_checkpoints), 20), EXIT_VERDICT);
    }

    #[test]
    fn what_the_user_says_of_the_map_is_not_assumed() {
        let setting = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let settings = [setting("scale", "1/512"), setting("mapping.entry_bytes", "16")];
        let (config, assumed) = with_mapping("sandisk-extreme-ii-480gb", &settings).expect("valid");
        assert_eq!(config.options.mapping.map(|mapping| mapping.unit_entries), Some(32_768 / 16));
        let keys: Vec<_> = assumed.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["mapping.map_entry_bytes", "mapping.journal_superblocks"]);
    }

    #[test]
    fn a_sound_recovery_keeps_them_and_an_early_end_is_none() {
        let interrupted = AtomicBool::new(false);
        let report = live(aged(), 60, &mut Rng::new(2), &interrupted);
        assert!(report.writes_not_durable > 0 && report.gc_moved_pages > 0, "{report:?}");
        assert_eq!(exit_code(&report, 60), EXIT_DONE);
        assert_eq!(exit_code(&report, 61), EXIT_INTERRUPTED);
    }
}
