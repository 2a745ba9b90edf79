//! The verb `mutants`: removes the checks on the way to the first write or removal one at a time, and fails
//! unless a test notices each.
//!
//! The checks are listed as data in `xtask/mutants/`: the text of a check, the text in its place, and the test that
//! must fail then. A copy of the checkout is changed, never the checkout itself; it has a target directory of its own,
//! so that only the crate of the check and what its test needs are built again.

mod checkout;
mod list;
mod trial;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};
use clap::Args;

use crate::log::Log;
use crate::workspace::Workspace;
use checkout::Checkout;
use list::{Mutant, TestName};
use trial::{Trial, Verdict};

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
    let trial = Trial::new(&checkout)?;
    let tests: BTreeSet<&TestName> = chosen.iter().map(|mutant| &mutant.test).collect();
    for (program, filters) in by_program(&tests) {
        log.line(&format!("{program} with every check: {} tests", filters.len()));
        trial.must_pass(program, &filters)?;
    }
    let mut verdicts = Vec::new();
    for (number, mutant) in (1..).zip(chosen) {
        let verdict = trial.remove(mutant, all)?;
        log.line(&format!("{number}/{}: {} {verdict}", chosen.len(), mutant.name));
        verdicts.push((*mutant, verdict));
    }
    Ok(summarise(log, &verdicts))
}

/// The filters of each test program.
fn by_program<'a>(tests: &BTreeSet<&'a TestName>) -> BTreeMap<&'a TestName, Vec<&'a str>> {
    let mut programs: Vec<(&TestName, Vec<&str>)> = Vec::new();
    for test in tests {
        match programs.iter_mut().find(|(program, _)| program.is_in_one_program_with(test)) {
            Some((_, filters)) => filters.push(&test.filter),
            None => programs.push((*test, vec![&test.filter])),
        }
    }
    programs.into_iter().collect()
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
