//! The arguments as typed, without any effect.

pub mod advise;
pub mod resume;
pub mod trace;
pub mod verify;

use std::path::PathBuf;

use ::target::PurgeMethod;
use base::{Bytes, Ratio};
use clap::builder::UnknownArgumentValueParser;
use clap::{Arg, ArgAction, Args as ClapArgs, Parser, Subcommand, ValueEnum};
use device::meter::MeterSpec;
use io::EngineChoice;
use run::{Placement, SpanRequest, Test, WORKERS_MAX, Workers};

/// An SSD performance laboratory: how evenly does a drive keep working, and why?
#[derive(Debug, Parser)]
#[command(name = "ssdlab", version, arg_required_else_help = true)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List real devices, drive models and tests
    List(ListArgs),
    /// Run a test on one or more targets, or continue runs that ended early
    Run(resume::RunCommand),
    /// The whole suite on one or more targets, and one report
    Review(ReviewArgs),
    /// Print what a run would do and why it would be refused; nothing is touched
    Plan(Box<RunArgs>),
    /// Summarise runs in the terminal
    Show(ShowArgs),
    /// Write runs into one self-contained HTML page
    Report(ReportArgs),
    /// Put back what killed runs and recordings had switched: power settings of drives, the kernel's block tracer
    Restore(RestoreArgs),
    /// Measure the cost of the harness itself
    Selftest(SelftestArgs),
    /// Write blocks that tell what they are, read them back: does the drive keep its promises?
    Verify(verify::VerifyArgs),
    /// Find out how to set a drive up
    #[command(subcommand)]
    Advise(advise::AdviseCommand),
    /// Work with drive model files
    #[command(subcommand)]
    Drives(DrivesCommand),
    /// Read, count, convert traces of real work
    #[command(subcommand)]
    Trace(trace::TraceCommand),
}

/// What to do with drive models.
#[derive(Debug, Subcommand)]
pub enum DrivesCommand {
    /// Check a drive model file and say what it describes
    Check(DrivesCheckArgs),
}

/// Arguments of `drives check`.
#[derive(Debug, ClapArgs)]
pub struct DrivesCheckArgs {
    /// Drive model, a TOML file
    pub file: PathBuf,
    /// What stdout carries
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// What stdout carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON document.
    Json,
}

/// Arguments of `list`.
#[derive(Debug, ClapArgs)]
pub struct ListArgs {
    /// What stdout carries
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// What to run, where and how: shared by `run` and `plan`.
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
    #[arg(long, value_name = "SHARE", value_delimiter = ',', value_parser = parse_spare, conflicts_with = "span")]
    pub spare: Vec<SpanRequest>,
    /// Bytes to use from LBA 0, e.g. `64GiB`
    #[arg(long, value_name = "BYTES")]
    pub span: Option<Bytes>,
    /// Set a parameter of the test, e.g. `duration=60s`
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_setting)]
    pub settings: Vec<(String, String)>,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// What every command takes that plans runs.
#[derive(Clone, Debug, ClapArgs)]
pub struct CommonArgs {
    /// How to bring real targets to their fresh state; without, the best way each one offers
    #[arg(long, value_name = "METHOD", value_parser = parse_purge)]
    pub purge: Option<PurgeMethod>,
    /// What reads the drive's power: `hwmon:NAME` or `stream:PATH` (see docs/power.md); simulated drives tell it themselves
    #[arg(long, value_name = "METER", value_parser = parse_meter)]
    pub meter: Option<MeterSpec>,
    /// Directory of run directories
    #[arg(long, value_name = "DIR", default_value = "ssdlab-runs")]
    pub library: PathBuf,
    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = whole::<u64, 0, { u64::MAX }>)]
    pub seed: u64,
    /// What stdout carries
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// What every command takes that carries runs out, beside [`CommonArgs`].
#[derive(Clone, Debug, ClapArgs)]
pub struct DriveArgs {
    /// Confirm that everything on the device with this serial may be erased (existing files: their
    /// path; loop devices: that of the file behind). Once for each target
    #[arg(long, value_name = "SERIAL")]
    pub erase: Vec<String>,
    /// Also erase what is recognised on it: file systems, partition tables, databases, archives, ...
    #[arg(long, requires = "erase")]
    pub erase_signatures: bool,
    #[command(flatten)]
    pub engine: EngineArgs,
    /// No progress, no talk
    #[arg(long)]
    pub quiet: bool,
}

/// Arguments of `run` and `plan`.
#[derive(Clone, Debug, ClapArgs)]
pub struct RunArgs {
    #[command(flatten)]
    pub test: TestArgs,
    #[command(flatten)]
    pub drive: DriveArgs,
    /// Promise that nothing is written: a test that writes is refused
    #[arg(long, conflicts_with = "erase")]
    pub read_only: bool,
}

impl RunArgs {
    /// A test with settings, as part of a larger undertaking that says where.
    pub fn part(
        test: Test,
        settings: Vec<(String, String)>,
        common: CommonArgs,
        drive: DriveArgs,
    ) -> Self {
        let (targets, spare, span) = (Vec::new(), Vec::new(), None);
        let test = TestArgs { test, targets, spare, span, settings, common };
        Self { test, drive, read_only: false }
    }
}

/// How commands reach a real target.
#[derive(Clone, Debug, ClapArgs)]
#[command(args = former())]
pub struct EngineArgs {
    /// Threads that drive a real target or `null:`; each has a share of the queue depth. For drives that
    /// one core cannot saturate
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = whole::<u32, 1, { WORKERS_MAX as u64 }>)]
    pub workers: u32,
    /// Processors of these threads: near (a single thread, while it issues one command at a time, where the
    /// interrupts of the drive arrive, if all of them arrive on one), pinned (each on one of its own), free (as the
    /// system chooses)
    #[arg(long, value_name = "PLACE", default_value = "near", value_parser = parse_cpu)]
    pub cpu: Placement,
    /// How commands reach a drive: auto, sync (blocking calls), uring; and uring with any of passthrough (NVMe
    /// commands past the block layer), sqpoll (the kernel polls for commands) and iopoll (for completions), as
    /// in uring,passthrough,iopoll
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = parse_engine)]
    pub engine: EngineChoice,
}

/// The former flags for `--cpu`, refused with the word that replaces them.
fn former() -> [Arg; 2] {
    [("pin", "--cpu pinned"), ("float", "--cpu free")].map(|(name, instead)| {
        let refuse = UnknownArgumentValueParser::suggest_arg(instead);
        Arg::new(name).long(name).hide(true).action(ArgAction::SetTrue).value_parser(refuse)
    })
}

impl EngineArgs {
    /// The threads asked for.
    pub fn workers(&self) -> Workers {
        Workers { count: self.workers, placement: self.cpu }
    }
}

/// A setting for one of several tests: the test, the parameter, its value.
#[derive(Clone, Debug)]
pub struct TestSetting(pub Test, pub String, pub String);

/// Arguments of `review`.
#[derive(Debug, ClapArgs)]
pub struct ReviewArgs {
    /// Targets, as for `run`
    #[arg(required = true, value_name = "TARGET")]
    pub targets: Vec<String>,
    /// Minutes: short tests within 4 GiB (the default for real targets)
    #[arg(long, conflicts_with_all = ["full", "pts"])]
    pub quick: bool,
    /// Every test as published (the default for simulated drives)
    #[arg(long, conflicts_with = "pts")]
    pub full: bool,
    /// The tests of the SNIA PTS instead
    #[arg(long)]
    pub pts: bool,
    /// Only these of its tests, e.g. `trim,corners`
    #[arg(long, value_name = "TEST", value_delimiter = ',', value_parser = parse_test)]
    pub only: Vec<Test>,
    /// Set a parameter of one of its tests, e.g. `trim.torture=5m`
    #[arg(long = "set", value_name = "TEST.KEY=VALUE", value_parser = parse_test_setting)]
    pub settings: Vec<TestSetting>,
    /// Take runs that the same request has completed in this library instead of running them again
    #[arg(long)]
    pub resume: bool,
    /// Page to write
    #[arg(long, short, value_name = "FILE", default_value = "review.html")]
    pub output: PathBuf,
    /// Heading of the page
    #[arg(long, default_value = "SSD review")]
    pub title: String,
    /// Take the page from this file instead of the one built in
    #[arg(long, value_name = "FILE")]
    pub web: Option<PathBuf>,
    #[command(flatten)]
    pub common: CommonArgs,
    #[command(flatten)]
    pub drive: DriveArgs,
}

/// Arguments of `show`.
#[derive(Debug, ClapArgs)]
pub struct ShowArgs {
    /// Runs: path, name, start of a name, or `latest`
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// Directory of run directories
    #[arg(long, value_name = "DIR", default_value = "ssdlab-runs")]
    pub library: PathBuf,
    /// What stdout carries
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `report`.
#[derive(Debug, ClapArgs)]
pub struct ReportArgs {
    /// Runs: path, name, start of a name, or `latest`
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// File to write
    #[arg(long, short, value_name = "FILE", default_value = "report.html")]
    pub output: PathBuf,
    /// Heading of the page; without, what its runs have in common
    #[arg(long)]
    pub title: Option<String>,
    /// Take the page from this file instead of the one built in
    #[arg(long, value_name = "FILE")]
    pub web: Option<PathBuf>,
    /// Directory of run directories
    #[arg(long, value_name = "DIR", default_value = "ssdlab-runs")]
    pub library: PathBuf,
    /// What stdout carries
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `restore`.
#[derive(Debug, ClapArgs)]
pub struct RestoreArgs {
    /// What stdout carries
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `selftest`.
#[derive(Debug, ClapArgs)]
pub struct SelftestArgs {
    /// Seconds for each measurement
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = whole::<u32, 1, 60>)]
    pub seconds: u32,
    /// What stdout carries
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

impl Args {
    /// What stdout carries.
    pub fn format(&self) -> Format {
        match &self.command {
            Command::List(args) => args.format,
            Command::Run(command) => command.format(),
            Command::Review(args) => args.common.format,
            Command::Plan(args) => args.test.common.format,
            Command::Show(args) => args.format,
            Command::Report(args) => args.format,
            Command::Restore(args) => args.format,
            Command::Verify(args) => args.format,
            Command::Advise(advise::AdviseCommand::Spare(args)) => args.common.format,
            Command::Selftest(args) => args.format,
            Command::Drives(DrivesCommand::Check(args)) => args.format,
            Command::Trace(command) => command.format(),
        }
    }
}

impl TestArgs {
    /// The spans asked for; the default one where none was.
    pub fn spans(&self) -> Vec<SpanRequest> {
        match (self.span, self.spare.as_slice()) {
            (Some(bytes), _) => vec![SpanRequest::Bytes(bytes)],
            (None, []) => vec![SpanRequest::Default],
            (None, spares) => spares.to_vec(),
        }
    }
}

fn parse_test(text: &str) -> Result<Test, String> {
    text.parse().map_err(|error: run::RunError| error.to_string())
}

fn parse_engine(text: &str) -> Result<EngineChoice, String> {
    text.parse().map_err(|error: ::target::IoError| error.to_string())
}

fn parse_cpu(text: &str) -> Result<Placement, String> {
    text.parse().map_err(|error: run::RunError| error.to_string())
}

fn parse_purge(text: &str) -> Result<PurgeMethod, String> {
    text.parse().map_err(|error: ::target::IoError| error.to_string())
}

fn parse_meter(text: &str) -> Result<MeterSpec, String> {
    text.parse().map_err(|error: ::target::IoError| error.to_string())
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
fn whole<T: TryFrom<u64>, const MIN: u64, const MAX: u64>(text: &str) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| (MIN..=MAX).contains(number));
    let number = number.and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| {
        let example = MAX.min(7);
        format!("expected a whole number from {MIN} to {MAX}, such as {example}")
    })
}

fn parse_setting(text: &str) -> Result<(String, String), String> {
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
