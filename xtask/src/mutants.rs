//! The verb `mutants`: removes the checks on the way to the first write or removal one at a time, and fails
//! unless a test notices each.
//!
//! The checks are listed as data in `xtask/mutants/`: the text of a check, the text in its place, and the test that
//! must fail then. A copy of the checkout is changed, never the checkout itself. It is built once with all removals, each
//! behind a switch.

mod checkout;
mod list;
mod switches;
mod trial;

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use clap::Args;

use checkout::Checkout;
use list::Mutant;
use trial::{Trial, Verdict};
use xtask::log::Log;
use xtask::workspace::Workspace;

/// Arguments of the verb `mutants`.
#[derive(Args)]
pub(crate) struct MutantsArgs {
    /// Remove only the checks whose names begin like this; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Print the checks with their tests and stop
    #[arg(long)]
    list: bool,
}

impl MutantsArgs {
    fn wants(&self, mutant: &Mutant) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| mutant.name.starts_with(name.as_str()))
    }
}

/// The verb `mutants`; false if a check may go unnoticed.
pub(crate) fn run(workspace: &Workspace, args: &MutantsArgs) -> Result<bool> {
    let all = list::read(workspace.root())?;
    let chosen: Vec<&Mutant> = all.iter().filter(|mutant| args.wants(mutant)).collect();
    if chosen.is_empty() {
        bail!("no check is named {:?}; `cargo xtask mutants --list` names them all", args.only);
    }
    if args.list {
        for mutant in chosen {
            println!("{:<44} {}", mutant.name, mutant.test);
        }
        return Ok(true);
    }
    remove_each(workspace, Log::stdout("mutants"), &all, &chosen)
}

/// The step `mutants`: every check of the list.
pub(crate) fn check(workspace: &Workspace, log: Log) -> Result<()> {
    let all = list::read(workspace.root())?;
    if !remove_each(workspace, log, &all, &all.iter().collect::<Vec<_>>())? {
        bail!("a check may go unnoticed");
    }
    Ok(())
}

/// Removes the chosen checks one after the other; true if every removal was noticed.
fn remove_each(
    workspace: &Workspace,
    log: Log,
    all: &[Mutant],
    chosen: &[&Mutant],
) -> Result<bool> {
    list::check(workspace.root(), all)?;
    let checkout = Checkout::copy(workspace)?;
    // All, so that those that cover another are among them, and that a call with a part builds no other programs.
    checkout.switch(&all.iter().collect::<Vec<_>>())?;
    let trial = Trial::build(&checkout, &chosen.iter().map(|mutant| &mutant.test).collect())?;
    let mut verdicts = Vec::new();
    let programs: BTreeSet<_> = chosen.iter().map(|mutant| mutant.test.program()).collect();
    for program in programs {
        let of_program = chosen.iter().copied().filter(|it| it.test.program() == program);
        let of_program: Vec<&Mutant> = of_program.collect();
        let filters: BTreeSet<_> = of_program.iter().map(|it| it.test.filter.as_str()).collect();
        log.line(&format!("{} {} with every check: {} tests", program.0, program.1, filters.len()));
        let failing = trial.failing(&of_program[0].test, &filters)?;
        for mutant in of_program {
            let verdict = if failing.contains(mutant.test.filter.as_str()) {
                Verdict::Fails
            } else {
                trial.without(mutant)?
            };
            verdicts.push((mutant, verdict));
            let count = verdicts.len();
            log.line(&format!("{count}/{}: {} {}", chosen.len(), mutant.name, verdict.word()));
        }
    }
    Ok(summarise(log, &verdicts))
}

fn summarise(log: Log, verdicts: &[(&Mutant, Verdict)]) -> bool {
    for (mutant, verdict) in verdicts {
        let cover = mutant.covered_by.as_ref();
        let with = cover.map_or_else(String::new, |cover| format!(" (with {cover})"));
        log.line(&format!("{:<9} {:<44} {}{with}", verdict.word(), mutant.name, mutant.test));
    }
    let missed = verdicts.iter().filter(|(_, verdict)| !verdict.is_noticed());
    let missed: Vec<_> = missed.map(|(mutant, _)| mutant.name.as_str()).collect();
    log.line(&format!("{} removed, {} missed", verdicts.len(), missed.len()));
    if !missed.is_empty() {
        log.line(&format!("missed: {}", missed.join(" ")));
    }
    missed.is_empty()
}
