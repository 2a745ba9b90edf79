//! Arguments that several commands share, without any effect.

pub mod heading;
pub mod repeat;

use std::path::PathBuf;

use ::target::PurgeMethod;
use base::{Bytes, Ratio};
use clap::builder::UnknownArgumentValueParser;
use clap::{Arg, ArgAction, Args as ClapArgs, ValueEnum};
use device::meter::MeterSpec;
use io::EngineChoice;
use result::store::ios::{IosChoice, IosChoiceError};
use run::{Placement, SpanRequest, Test, WORKERS_MAX, Workers};

/// The library of a call that names none.
pub const LIBRARY: &str = "ssdlab-runs";

/// Output on stdout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people.
    #[default]
    Text,
    /// One JSON document.
    Json,
}

/// The test, its targets and its settings: shared by `run` and `plan`.
#[derive(Clone, Debug, ClapArgs)]
pub struct TestArgs {
    /// Test, e.g. `consistency` (see `ssdlab list`)
    #[arg(value_parser = parse_test)]
    pub test: Test,
    /// Targets: `sim:NAME[?key=value&...]`, `file:PATH?size=8GiB`, `/dev/...` (block devices; `/dev/ng0n1` is
    /// `/dev/nvme0n1` past the block layer), `null:`
    #[arg(required = true, value_name = "TARGET")]
    pub targets: Vec<String>,
    /// Share of raw NAND left to the drive, e.g. `25%`; several give several runs: `default,25%`
    #[arg(long, value_name = "SHARE", value_delimiter = ',', value_parser = parse_spare, conflicts_with = "span", help_heading = heading::TEST)]
    pub spare: Vec<SpanRequest>,
    /// Bytes to use from LBA 0, e.g. `64GiB`
    #[arg(long, value_name = "BYTES", help_heading = heading::TEST)]
    pub span: Option<Bytes>,
    /// Set a parameter of the test, e.g. `duration=60s`
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_setting, help_heading = heading::TEST)]
    pub settings: Vec<(String, String)>,
    /// Quick form of the test: shorter, and with less to tell; `ssdlab list TEST` has both. --set and --span come first
    #[arg(long, help_heading = heading::TEST)]
    pub quick: bool,
    /// Workload of the test `workload`: a file, or one of `ssdlab list workloads`
    #[arg(long, value_name = "FILE", help_heading = heading::TEST)]
    pub workload: Option<String>,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// Arguments of every command that plans runs.
#[derive(Clone, Debug, ClapArgs)]
pub struct CommonArgs {
    /// Method to purge real targets; default: the best one of each
    #[arg(long, value_name = "METHOD", value_parser = parse_purge, help_heading = heading::SAFETY)]
    pub purge: Option<PurgeMethod>,
    /// Meter of the drive's power: `hwmon:NAME` or `stream:PATH` (see docs/reference/power.md); simulated
    /// drives calculate it
    #[arg(long, value_name = "METER", value_parser = parse_meter, help_heading = heading::TEST)]
    pub meter: Option<MeterSpec>,
    /// Directory of run directories
    #[arg(long, value_name = "DIR", default_value = LIBRARY, help_heading = heading::OUTPUT)]
    pub library: PathBuf,
    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = whole::<u64, 0, { u64::MAX }>, help_heading = heading::TEST)]
    pub seed: u64,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    pub format: Format,
}

/// Arguments of every command that carries out runs, beside [`CommonArgs`].
#[derive(Clone, Debug, ClapArgs)]
pub struct ExecutionArgs {
    /// Confirm that everything on the device with this serial may be erased (existing files: their
    /// path; loop devices: the path of the file behind them). Once for each target
    #[arg(long, value_name = "SERIAL", help_heading = heading::SAFETY)]
    pub erase: Vec<String>,
    /// Also erase recognised data: file systems, partition tables, databases, archives, ...
    #[arg(long, requires = "erase", help_heading = heading::SAFETY)]
    pub erase_signatures: bool,
    #[command(flatten)]
    pub engine: EngineArgs,
    /// Published facts of a real drive for its result (see docs/reference/formats/drive-model.md); also read
    /// from DIR/facts/*.toml of the library
    #[arg(long, value_name = "FILE", help_heading = heading::WORDS)]
    pub facts: Vec<PathBuf>,
    /// Keep single commands, one row each, in ios.parquet of the run directory: `all`, a random share
    /// such as `1%`, or `slowest:100`, the slowest 100 of each second (see docs/reference/formats/ios.md)
    #[arg(long, value_name = "COMMANDS", value_parser = parse_ios)]
    pub ios: Option<IosChoice>,
    #[command(flatten)]
    pub about: repeat::AboutArgs,
    /// No progress and no messages
    #[arg(long, help_heading = heading::OUTPUT)]
    pub quiet: bool,
}

/// Arguments of `run` and `plan`.
#[derive(Clone, Debug, ClapArgs)]
pub struct RunArgs {
    #[command(flatten)]
    pub test: TestArgs,
    #[command(flatten)]
    pub execution: ExecutionArgs,
    /// Write nothing: do only the steps that read, on the data that the target holds. A test without such a step is
    /// refused
    #[arg(long, conflicts_with = "erase", help_heading = heading::SAFETY)]
    pub read_only: bool,
    #[command(flatten)]
    pub jobs: JobsArg,
    #[command(flatten)]
    pub parallel: ParallelArg,
    #[command(flatten)]
    pub repeat: repeat::RepeatArgs,
}

/// The choice between real targets one after the other and all at the same time.
#[derive(Clone, Copy, Debug, Default, ClapArgs)]
pub struct ParallelArg {
    /// Measure real targets at the same time, each on processors of its own as far as there are enough. The results tell
    /// what ran beside each, and the links that they share (see docs/reference/command-line.md)
    #[arg(long, conflicts_with = "meter", help_heading = heading::ENGINE)]
    pub parallel: bool,
}

/// The number of simulated drives at a time.
#[derive(Clone, Copy, Debug, Default, ClapArgs)]
pub struct JobsArg {
    /// Simulated drives at a time, within the available memory; default: one for each processor. It
    /// changes no result, and is not about real targets
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u32, 1, 4096>, help_heading = heading::ENGINE)]
    pub jobs: Option<u32>,
}

/// Engine and threads for real targets.
#[derive(Clone, Debug, ClapArgs)]
#[command(args = former())]
pub struct EngineArgs {
    /// Threads that drive a real target or `null:`; each has a share of the queue depth. For drives
    /// that one core cannot saturate
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = whole::<u32, 1, { WORKERS_MAX as u64 }>, help_heading = heading::ENGINE)]
    pub workers: u32,
    /// Processors of these threads: near (a single thread with one command at a time on the
    /// processor of the drive's interrupts, if there is one), pinned (one processor each), free
    /// (chosen by the system)
    #[arg(long, value_name = "PLACE", default_value = "near", value_parser = parse_cpu, help_heading = heading::ENGINE)]
    pub cpu: Placement,
    /// Engine: auto, sync (blocking calls), uring; and uring with any of passthrough (NVMe commands
    /// past the block layer), sqpoll (the kernel polls for commands) and iopoll (for completions),
    /// as in uring,passthrough,iopoll
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = parse_engine, help_heading = heading::ENGINE)]
    pub engine: EngineChoice,
}

/// The former flags for `--cpu`, refused with their replacement.
fn former() -> [Arg; 2] {
    [("pin", "--cpu pinned"), ("float", "--cpu free")].map(|(name, instead)| {
        let refuse = UnknownArgumentValueParser::suggest_arg(instead);
        Arg::new(name).long(name).hide(true).action(ArgAction::SetTrue).value_parser(refuse)
    })
}

impl EngineArgs {
    /// The requested threads.
    pub fn workers(&self) -> Workers {
        Workers { count: self.workers, placement: self.cpu }
    }
}

/// A setting for one of several tests: the test, the parameter, its value.
#[derive(Clone, Debug)]
pub struct TestSetting(pub Test, pub String, pub String);

/// Arguments of every command that carries out the suite.
#[derive(Clone, Debug, ClapArgs)]
pub struct SuiteArgs {
    /// Write nothing: do only the steps that read, on the data that the targets hold
    #[arg(long, conflicts_with = "erase", help_heading = heading::SAFETY)]
    pub read_only: bool,
    /// Only these of its tests, e.g. `trim,corners`
    #[arg(long, value_name = "TEST", value_delimiter = ',', value_parser = parse_test, help_heading = heading::TEST)]
    pub only: Vec<Test>,
    /// Set a parameter of one of its tests, e.g. `trim.torture=5m`
    #[arg(long = "set", value_name = "TEST.KEY=VALUE", value_parser = parse_test_setting, help_heading = heading::TEST)]
    pub settings: Vec<TestSetting>,
    #[command(flatten)]
    pub common: CommonArgs,
    #[command(flatten)]
    pub execution: ExecutionArgs,
    #[command(flatten)]
    pub jobs: JobsArg,
}

/// The library that a command reads or changes, and the form of its output.
#[derive(Clone, Debug, ClapArgs)]
pub struct PlaceArgs {
    /// Directory of run directories
    #[arg(long, value_name = "DIR", default_value = LIBRARY, help_heading = heading::OUTPUT)]
    pub library: PathBuf,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    pub format: Format,
}

impl TestArgs {
    /// The parameters that the user set, by `--set` or by an option of their own.
    pub fn settings(&self) -> Vec<(String, String)> {
        let workload = self.workload.iter().map(|file| ("workload".to_owned(), file.clone()));
        self.settings.iter().cloned().chain(workload).collect()
    }

    /// The requested spans; the default one if there are none.
    pub fn spans(&self) -> Vec<SpanRequest> {
        match (self.span, self.spare.as_slice()) {
            (Some(bytes), _) => vec![SpanRequest::Bytes(bytes)],
            (None, []) => vec![SpanRequest::Default],
            (None, spares) => spares.to_vec(),
        }
    }
}

/// A word that a list and `label:NAME` can contain.
pub fn parse_word(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_alphanumeric() || "._+-".contains(c);
    if !text.is_empty() && text.len() <= 64 && text.chars().all(is_plain) {
        return Ok(text.to_owned());
    }
    Err("expected 1 to 64 letters, digits and any of . _ + - without spaces".to_owned())
}

pub fn parse_test(text: &str) -> Result<Test, String> {
    text.parse().map_err(|error: run::RunError| error.to_string())
}

fn parse_engine(text: &str) -> Result<EngineChoice, String> {
    text.parse().map_err(|error: ::target::TargetError| error.to_string())
}

fn parse_cpu(text: &str) -> Result<Placement, String> {
    text.parse().map_err(|error: run::RunError| error.to_string())
}

pub fn parse_ios(text: &str) -> Result<IosChoice, String> {
    text.parse().map_err(|error: IosChoiceError| error.to_string())
}

fn parse_purge(text: &str) -> Result<PurgeMethod, String> {
    text.parse().map_err(|error: ::target::TargetError| error.to_string())
}

fn parse_meter(text: &str) -> Result<MeterSpec, String> {
    text.parse().map_err(|error: ::target::TargetError| error.to_string())
}

fn parse_spare(text: &str) -> Result<SpanRequest, String> {
    if text == "default" {
        return Ok(SpanRequest::Default);
    }
    let share: Ratio = text.parse().map_err(|error| {
        format!("{error}; the share of raw NAND left to the drive, or `default`")
    })?;
    Ok(SpanRequest::Spare(share))
}

/// A whole number within limits.
pub fn whole<T: TryFrom<u64>, const MIN: u64, const MAX: u64>(text: &str) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| (MIN..=MAX).contains(number));
    let number = number.and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| {
        let example = MAX.min(7);
        format!("expected a whole number from {MIN} to {MAX}, such as {example}")
    })
}

pub fn parse_setting(text: &str) -> Result<(String, String), String> {
    let (key, value) = text
        .split_once('=')
        .ok_or_else(|| format!("`{text}` has no `=`; expected KEY=VALUE such as duration=60s"))?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

fn parse_test_setting(text: &str) -> Result<TestSetting, String> {
    let (key, value) = parse_setting(text)?;
    let (test, key) = key.split_once('.').ok_or_else(|| {
        format!("`{text}` names no test; expected TEST.KEY=VALUE such as trim.torture=5m")
    })?;
    Ok(TestSetting(parse_test(test)?, key.to_owned(), value))
}
