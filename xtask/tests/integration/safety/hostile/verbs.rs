//! The verbs of ssdlab, their frequencies in these tests, and their flags.

use super::random::Random;

pub(super) type Words = &'static [&'static str];

/// A verb of ssdlab.
pub(super) struct Verb {
    /// Its frequency.
    weight: usize,
    pub(super) words: Words,
    pub(super) flags: &'static [Words],
    /// Most targets of a call, each perhaps with a confirmation.
    pub(super) targets_max: usize,
    /// Whether it may write to them.
    pub(super) writes: bool,
}

/// Flag of the second consent.
pub(super) const SIGNATURES: &str = "--erase-signatures";
/// Flag that continues a run.
pub(super) const RESUME: &str = "--resume";

const RUN_FLAGS: &[Words] = &[
    &[SIGNATURES],
    &["--quiet"],
    &["--read-only"],
    &["--purge", "deallocate"],
    &["--purge", "overwrite"],
    &["--purge", "nvme-format"],
    &["--purge", "ata-security-erase"],
    &["--engine", "sync"],
    &["--engine", "uring,passthrough"],
    &["--span", "1MiB"],
    &["--workers", "2"],
    &["--cpu", "pinned"],
    &["--format", "json"],
    &["--set", "purge=false"],
    &["--set", "fill=false"],
];

const REVIEW_FLAGS: &[Words] = &[
    &[SIGNATURES],
    &["--purge", "overwrite"],
    &["--purge", "nvme-format"],
    &["--engine", "sync"],
    &["--format", "json"],
];

const VERIFY_FLAGS: &[Words] =
    &[&[SIGNATURES], &["--span", "1MiB"], &["--block", "64KiB"], &["--format", "json"]];

const RESUME_FLAGS: &[Words] = &[&[SIGNATURES], &["--quiet"], &["--format", "json"]];

const VERBS: &[Verb] = &[
    Verb::run(30, &["run", "consistency", "--set", "duration=1s", "--set", "steady_from=0s"]),
    Verb::run(5, &["run", "latency", "--set", "time=1s"]),
    Verb::run(5, &["run", "mixed", "--set", "time=1s"]),
    Verb::run(5, &["run", "trim", "--set", "torture=1s", "--set", "idle=0s"]),
    Verb::run(5, &["run", "linear"]),
    Verb::run(8, &["run", "replay", "--set", "trace=two.trace"]),
    Verb::over(6, &["review", "--quick", "--only", "linear"], REVIEW_FLAGS),
    Verb::one(4, &["advise", "spare", "--floor", "10", "--measure", "1s"], REVIEW_FLAGS),
    Verb::one(14, &["verify", "--writes", "16"], VERIFY_FLAGS),
    Verb { writes: false, ..Verb::one(4, &["verify", "--check"], VERIFY_FLAGS) },
    Verb { writes: false, ..Verb::over(6, &["plan", "consistency"], &[]) },
    Verb { targets_max: 0, ..Verb::over(8, &["run", RESUME], RESUME_FLAGS) },
    Verb { targets_max: 0, writes: false, ..Verb::over(4, &["report", "latest"], &[]) },
    // One of the lines of `writers`.
    Verb { targets_max: 0, writes: false, ..Verb::over(104, &[], &[]) },
];

impl Verb {
    /// A test by its name and parameters.
    const fn run(weight: usize, words: Words) -> Self {
        Self::over(weight, words, RUN_FLAGS)
    }

    const fn over(weight: usize, words: Words, flags: &'static [Words]) -> Self {
        Self { weight, words, flags, targets_max: 3, writes: true }
    }

    /// With one target.
    const fn one(weight: usize, words: Words, flags: &'static [Words]) -> Self {
        Self { targets_max: 1, ..Self::over(weight, words, flags) }
    }

    pub(super) fn draw(random: &mut Random) -> &'static Self {
        let mut left = random.below(VERBS.iter().map(|verb| verb.weight).sum());
        let is_drawn = |verb: &&Self| {
            let is_drawn = left < verb.weight;
            left = left.saturating_sub(verb.weight);
            is_drawn
        };
        VERBS.iter().find(is_drawn).expect("the weights sum up")
    }
}
