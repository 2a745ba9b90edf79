//! Runs the steps of `cargo xtask test` and counts them. A failed step never stops the others, so
//! that one run shows every fault.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail};
use clap::Args;

use crate::steps::{Lane, STEPS, Step};
use xtask::log::Log;
use xtask::proc;
use xtask::workspace::{Cases, Workspace};

/// Selection of steps.
#[derive(Args)]
pub(crate) struct TestArgs {
    /// Run only this step and its prerequisites; may be repeated
    #[arg(long, value_name = "STEP")]
    only: Vec<String>,
    /// Print the steps and stop.
    #[arg(long)]
    list: bool,
    /// Try all random cases with fixed seeds, and fuzz for a minute each: nightly, and before a release.
    #[arg(long)]
    full: bool,
    /// Try a tenth of the random cases from this seed on, as in an earlier call; drawn at random by
    /// default
    #[arg(long, conflicts_with = "full")]
    seed: Option<u64>,
}

impl TestArgs {
    fn cases(&self) -> Cases {
        // The time is random enough, and there is no use for the same seeds twice.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let drawn = since.as_nanos() as u64 % 1_000_000_000_000;
        if self.full { Cases::All } else { Cases::Tenth(self.seed.unwrap_or(drawn)) }
    }
}

/// Outcome of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed(String),
    Skipped(String),
}

impl Outcome {
    const fn word(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed(_) => "FAILED",
            Self::Skipped(_) => "SKIPPED",
        }
    }
}

/// A step that has ended.
struct Done {
    outcome: Outcome,
    took: Duration,
    /// Processor time of its programs.
    used: Duration,
}

/// Runs the chosen steps; true if none failed.
pub(crate) fn run(workspace: Workspace, args: &TestArgs, ci: bool) -> Result<bool> {
    if args.list {
        for step in STEPS {
            println!("{:<12} {}", step.name, step.what);
        }
        return Ok(true);
    }
    let steps = choose(&args.only)?;
    let workspace = &workspace.with_cases(args.cases());
    if let Cases::Tenth(seed) = workspace.cases() {
        println!("random cases from seed {seed} on; again: cargo xtask test --seed {seed}");
    }
    let board = Board::default();
    let runner = Runner { workspace, ci, board: &board };
    let started = Instant::now();
    runner.run_lane(&steps, Lane::First);
    std::thread::scope(|scope| {
        scope.spawn(|| runner.run_lane(&steps, Lane::Program));
        scope.spawn(|| runner.run_lane(&steps, Lane::Side));
        runner.run_lane(&steps, Lane::Cargo);
    });
    runner.run_lane(&steps, Lane::Alone);
    Ok(summarise(&steps, &board.lock(), started.elapsed()))
}

/// The named steps and their prerequisites, in the order of the table.
fn choose(only: &[String]) -> Result<Vec<&'static Step>> {
    if only.is_empty() {
        return Ok(STEPS.iter().collect());
    }
    for name in only {
        if !STEPS.iter().any(|step| step.name == name) {
            bail!("there is no step {name:?}; `cargo xtask test --list` names them all");
        }
    }
    // From the end, because a step stands after those that it waits for.
    let mut wanted: Vec<&'static str> = Vec::new();
    for step in STEPS.iter().rev() {
        if wanted.contains(&step.name) || only.iter().any(|name| name == step.name) {
            wanted.push(step.name);
            wanted.extend(step.builds_on());
        }
    }
    Ok(STEPS.iter().filter(|step| wanted.contains(&step.name)).collect())
}

/// The state of the steps so far, for all lanes.
#[derive(Default)]
struct Board {
    done: Mutex<BTreeMap<&'static str, Done>>,
    news: Condvar,
}

impl Board {
    /// A panic in one lane must not hide the outcomes of the other.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, Done>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the prerequisites of `step`, one of the `chosen`; names the first one that had to pass and did not.
    fn wait_for(&self, step: &Step, chosen: &[&Step]) -> Result<(), &'static str> {
        let mut done = self.lock();
        for name in step.waits_for(chosen) {
            while !done.contains_key(name) {
                done = self.news.wait(done).unwrap_or_else(PoisonError::into_inner);
            }
        }
        let passed = |name: &&&str| done[*name].outcome == Outcome::Passed;
        step.after.iter().find(|name| !passed(name)).map_or(Ok(()), |name| Err(*name))
    }

    fn post(&self, name: &'static str, done: Done) {
        self.lock().insert(name, done);
        self.news.notify_all();
    }
}

struct Runner<'a> {
    workspace: &'a Workspace,
    ci: bool,
    board: &'a Board,
}

impl Runner<'_> {
    fn run_lane(&self, steps: &[&'static Step], lane: Lane) {
        for step in steps.iter().filter(|step| step.lane == lane) {
            let blocked = self.board.wait_for(step, steps).err();
            let started = Instant::now();
            let outcome = match blocked {
                Some(name) => Outcome::Skipped(format!("because {name} did not pass")),
                None => self.run_step(step),
            };
            announce(step, &outcome, started.elapsed());
            let used = proc::take_processor_time();
            self.board.post(step.name, Done { outcome, took: started.elapsed(), used });
        }
    }

    fn run_step(&self, step: &Step) -> Outcome {
        if let Some(missing) = step.needs.iter().find_map(|need| need.missing()) {
            return self.cannot_run(missing);
        }
        let log = Log::stdout(step.name);
        log.line(&format!("==> {}", step.what));
        match (step.run)(self.workspace, log) {
            Ok(()) => Outcome::Passed,
            Err(error) => Outcome::Failed(format!("{error:#}")),
        }
    }

    /// On a developer's machine the summary reports a missing part. Where the outcome decides
    /// whether code lands, a skipped check counts as failed.
    const fn cannot_run(&self, missing: String) -> Outcome {
        if self.ci { Outcome::Failed(missing) } else { Outcome::Skipped(missing) }
    }
}

fn announce(step: &Step, outcome: &Outcome, took: Duration) {
    let line = format!("<== {} after {:.1} s{}", outcome.word(), took.as_secs_f64(), why(outcome));
    Log::stdout(step.name).line(&line);
}

fn why(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Passed => String::new(),
        Outcome::Failed(why) | Outcome::Skipped(why) => format!(": {why}"),
    }
}

/// Prints one line per step, the slowest first, and the count, which is the last line of the output.
fn summarise(steps: &[&Step], done: &BTreeMap<&str, Done>, took: Duration) -> bool {
    let used: Duration = done.values().map(|done| done.used).sum();
    let (took, used) = (took.as_secs_f64(), used.as_secs_f64());
    println!("\nsummary, {took:.0} s in all, {used:.0} s of processor time");
    let mut slowest_first = steps.to_vec();
    slowest_first.sort_by_key(|step| std::cmp::Reverse(done[step.name].took));
    for step in slowest_first {
        let Done { outcome, took, used } = &done[step.name];
        let (took, used) = (took.as_secs_f64(), used.as_secs_f64());
        let (word, name) = (outcome.word(), step.name);
        println!("  {word:<8} {took:>7.1} s {used:>7.1} s cpu  {name:<12}{}", why(outcome));
        if let Outcome::Failed(_) = outcome {
            println!("           repeat it: cargo xtask test --only {}", step.name);
        }
    }
    let count = |word| done.values().filter(|done| done.outcome.word() == word).count();
    let failed = count("FAILED");
    println!("{} passed, {failed} failed, {} skipped", count("passed"), count("SKIPPED"));
    failed == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::STEP;

    fn names(only: &[&str]) -> Vec<&'static str> {
        let only: Vec<_> = only.iter().map(ToString::to_string).collect();
        choose(&only).unwrap().iter().map(|step| step.name).collect()
    }

    #[test]
    fn a_chosen_step_brings_what_it_builds_on() {
        assert_eq!(names(&["web-e2e"]), ["web-deps", "web-build", "web-e2e"]);
        assert_eq!(names(&["fmt"]), ["fmt"]);
        assert_eq!(names(&[]).len(), STEPS.len());
    }

    #[test]
    fn an_unknown_step_is_an_error_that_names_the_fix() {
        let error = choose(&["no-such-step".into()]).err().unwrap().to_string();
        assert!(error.contains("no-such-step") && error.contains("--list"), "{error}");
    }

    #[test]
    fn a_step_waits_for_the_other_lane_and_learns_of_its_failure() {
        let board = Board::default();
        let both = Step { after: &["a", "b"], ..STEP };
        let later = Step { after: &["a"], not_before: Some("b"), ..STEP };
        std::thread::scope(|scope| {
            let needs_both = scope.spawn(|| board.wait_for(&both, &[]));
            let comes_later = scope.spawn(|| board.wait_for(&later, &[]));
            let (took, used) = (Duration::ZERO, Duration::ZERO);
            board.post("a", Done { outcome: Outcome::Passed, took, used });
            board.post("b", Done { outcome: Outcome::Failed("why".into()), took, used });
            assert_eq!(needs_both.join().unwrap(), Err("b"));
            assert_eq!(comes_later.join().unwrap(), Ok(()));
        });
    }

    #[test]
    fn a_step_stands_behind_another_only_if_both_were_chosen() {
        let other = Step { name: "other", ..STEP };
        let behind = Step { behind: Some("other"), after: &["built"], ..STEP };
        let awaited = |chosen: &[&Step]| behind.waits_for(chosen).collect::<Vec<_>>();
        assert_eq!(awaited(&[&behind]), ["built"]);
        assert_eq!(awaited(&[&other, &behind]), ["built", "other"]);
        assert!(!names(&["qemu"]).contains(&"clippy"));
    }
}
