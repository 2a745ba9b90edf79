//! `ssdlab workload`: checks, prints and converts workload files. It touches no target.

use std::path::{Path, PathBuf};

use base::Bytes;
use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use load::jobs::{JobSpec, Jobs};
use load::spec::{SpecError, WorkloadFile, WorkloadSite, library};
use load::{Mix, Pacing, Workload, fio};
use run::RunError;

use crate::args::Format;
use crate::args::heading;
use crate::failure::EXIT_DONE;
use crate::inputs::Inputs;
use crate::output_file::OutputFile;
use crate::ui::out::{data, talk};
use crate::ui::table;

const EXAMPLES: &str = "\
Examples:
  ssdlab workload show oltp
  ssdlab workload check my.toml
  ssdlab workload import job.fio -o my.toml";

const OF_CHECK: &str = "\
Examples:
  ssdlab workload check my.toml
  ssdlab workload check oltp --span 480GB
  ssdlab workload check my.toml --format json";

const OF_SHOW: &str = "\
Examples:
  ssdlab workload show oltp
  ssdlab workload show lsm-compaction > my.toml
  ssdlab workload show my.toml --format json";

const OF_IMPORT: &str = "\
Examples:
  ssdlab workload import job.fio
  ssdlab workload import job.fio -o my.toml
  ssdlab workload import job.fio --format json";

const OF_EXPORT: &str = "\
Examples:
  ssdlab workload export oltp --as fio
  ssdlab workload export my.toml --as fio -o job.fio
  ssdlab workload export my.toml --as fio --format json";

/// The verbs for workload files.
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub enum WorkloadCommand {
    /// Check a workload file and list its jobs
    #[command(after_help = OF_CHECK)]
    Check(WorkloadCheckArgs),
    /// Print a workload file, or one that comes with ssdlab
    #[command(after_help = OF_SHOW)]
    Show(WorkloadShowArgs),
    /// Read a job file of fio as a workload file
    #[command(after_help = OF_IMPORT)]
    Import(WorkloadImportArgs),
    /// Write a workload file as a job file of fio
    #[command(after_help = OF_EXPORT)]
    Export(WorkloadExportArgs),
}

/// Arguments of `workload check`.
#[derive(Debug, ClapArgs)]
pub struct WorkloadCheckArgs {
    /// Workload file, or one of `ssdlab list workloads`
    #[arg(value_name = "WORKLOAD")]
    pub workload: String,
    /// Length of the tested span for which the jobs are checked
    #[arg(long, value_name = "BYTES", default_value = "256GiB", help_heading = heading::TEST)]
    pub span: Bytes,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    pub format: Format,
}

/// Arguments of `workload show`.
#[derive(Debug, ClapArgs)]
pub struct WorkloadShowArgs {
    /// Workload file, or one of `ssdlab list workloads`
    #[arg(value_name = "WORKLOAD")]
    pub workload: String,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    pub format: Format,
}

/// Arguments of `workload import`.
#[derive(Debug, ClapArgs)]
pub struct WorkloadImportArgs {
    /// Job file of fio
    #[arg(value_name = "JOB.fio")]
    pub file: PathBuf,
    /// Drive whose jobs are read, as `filename` names it, if the jobs are for several drives
    #[arg(long, value_name = "DRIVE")]
    pub filename: Option<String>,
    /// File to write; default: stdout
    #[arg(long, short, value_name = "FILE", help_heading = heading::OUTPUT)]
    pub output: Option<PathBuf>,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    pub format: Format,
}

/// Arguments of `workload export`.
#[derive(Debug, ClapArgs)]
pub struct WorkloadExportArgs {
    /// Workload file, or one of `ssdlab list workloads`
    #[arg(value_name = "WORKLOAD")]
    pub workload: String,
    /// Format of the other program
    #[arg(long = "as", value_enum, value_name = "FORMAT", help_heading = heading::OUTPUT)]
    pub to: JobFormat,
    /// File to write; default: stdout
    #[arg(long, short, value_name = "FILE", help_heading = heading::OUTPUT)]
    pub output: Option<PathBuf>,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    pub format: Format,
}

/// Formats of other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum JobFormat {
    /// Job file of fio
    Fio,
}

/// The most commands outstanding of the drive for which `check` checks.
const QUEUE_DEPTH_MAX: u32 = 1_024;
/// Its logical blocks, the smallest that there are.
const LOGICAL_BLOCK_BYTES: u32 = 512;

pub fn run(command: &WorkloadCommand) -> anyhow::Result<u8> {
    match command {
        WorkloadCommand::Check(args) => check(args),
        WorkloadCommand::Show(args) => show(args),
        WorkloadCommand::Import(args) => import(args),
        WorkloadCommand::Export(args) => export(args),
    }
}

/// The workloads that come with ssdlab: name and what each stands for.
pub fn built_in() -> Vec<(&'static str, String)> {
    let about = |text| WorkloadFile::parse(text).ok().and_then(|file| file.about);
    library::BUILT_IN.map(|(name, text)| (name, about(text).unwrap_or_default())).into()
}

fn check(args: &WorkloadCheckArgs) -> anyhow::Result<u8> {
    let file = parsed(&args.workload, &text(&args.workload)?)?;
    let place = WorkloadSite {
        span_bytes: args.span.0,
        queue_depth_max: QUEUE_DEPTH_MAX,
        logical_block_bytes: LOGICAL_BLOCK_BYTES,
    };
    let jobs = file.jobs(&place).map_err(|error| unusable(&args.workload, &error))?;
    match args.format {
        Format::Json => data!("{}", document(&args.workload, &jobs)),
        Format::Text => {
            data!("{} is valid for a span of {}", args.workload, args.span);
            let header = ["  job", "commands", "pattern", "span", "pace", "begins", "ends"];
            let rows = jobs.jobs.iter().map(|job| row(job, &jobs));
            let header = header.map(str::to_owned).to_vec();
            table::print(&std::iter::once(header).chain(rows).collect::<Vec<_>>());
        }
    }
    Ok(EXIT_DONE)
}

fn show(args: &WorkloadShowArgs) -> anyhow::Result<u8> {
    let text = text(&args.workload)?;
    let file = parsed(&args.workload, &text)?;
    match args.format {
        Format::Text => data!("{}", text.trim_end()),
        Format::Json => data!("{}", serde_json::json!({ "workload": args.workload, "file": file })),
    }
    Ok(EXIT_DONE)
}

fn import(args: &WorkloadImportArgs) -> anyhow::Result<u8> {
    let name = args.file.display();
    let text = device::host::small_file::read(&args.file)
        .map_err(|error| RunError::Usage(format!("job file `{name}` cannot be read: {error}")))?;
    let usage = |error: String| RunError::Usage(format!("job file `{name}`: {error}"));
    let context = fio::Context {
        variables: &|name: &str| std::env::var(name).ok(),
        drive: args.filename.as_deref(),
    };
    let imported = fio::import(&text, &context).map_err(|error| usage(error.to_string()))?;
    let toml = imported.file.to_toml().map_err(|error| usage(error.to_string()))?;
    for remark in &imported.not_carried {
        talk!("not carried over: {remark}");
    }
    let inputs = Inputs::default().job_file(&args.file);
    let output = Output { path: args.output.as_deref(), inputs: &inputs, format: args.format };
    output.put("workload", &toml, &imported.not_carried)
}

fn export(args: &WorkloadExportArgs) -> anyhow::Result<u8> {
    let file = parsed(&args.workload, &text(&args.workload)?)?;
    let (text, remarks) = fio::export(&file);
    for remark in &remarks {
        talk!("not carried over: {remark}");
    }
    let inputs = Inputs::default().job_file(Path::new(&args.workload));
    let output = Output { path: args.output.as_deref(), inputs: &inputs, format: args.format };
    output.put("job_file", &text, &remarks)
}

/// The place for the text of a conversion.
struct Output<'a> {
    path: Option<&'a Path>,
    inputs: &'a Inputs,
    format: Format,
}

impl Output<'_> {
    fn put(&self, key: &str, text: &str, not_carried: &[String]) -> anyhow::Result<u8> {
        if let Some(path) = self.path {
            let mut file = OutputFile::create(path, "-o", self.inputs)?;
            file.write_all(text.as_bytes())?;
            file.put_in_place()?;
        }
        match (self.format, self.path) {
            (Format::Json, path) => data!(
                "{}",
                serde_json::json!({ key: text, "not_carried_over": not_carried, "file": path })
            ),
            (Format::Text, Some(path)) => data!("{}", path.display()),
            (Format::Text, None) => data!("{}", text.trim_end()),
        }
        Ok(EXIT_DONE)
    }
}

/// The text of a file, or of a workload that comes with ssdlab.
fn text(workload: &str) -> Result<String, RunError> {
    run::suite::workload_text(workload)
}

fn parsed(name: &str, text: &str) -> Result<WorkloadFile, RunError> {
    WorkloadFile::parse(text).map_err(|error| unusable(name, &error))
}

fn unusable(name: &str, error: &SpecError) -> RunError {
    RunError::Usage(format!("workload `{name}`: {error}"))
}

fn document(name: &str, jobs: &Jobs) -> serde_json::Value {
    let job = |job: &JobSpec| {
        let workload = &job.workload;
        serde_json::json!({
            "job": job.name, "pattern": workload.order.to_string(),
            "span_offset_bytes": workload.span_offset_bytes, "span_bytes": workload.span_bytes,
            "block_bytes_max": workload.block_bytes, "queue_depth": workload.queue_depth,
            "rate": workload.pacing.to_string(), "bytes": workload.total_bytes(),
            "duration_ns": job.duration.map(|time| time.0), "writes": workload.mix.writes(),
            "after": job.after.iter().map(|at| &jobs.jobs[*at].name).collect::<Vec<_>>(),
        })
    };
    serde_json::json!({
        "workload": name, "valid": true, "duration_ns": jobs.duration.map(|time| time.0),
        "queue_depth": jobs.queue_depth(), "jobs": jobs.jobs.iter().map(job).collect::<Vec<_>>(),
    })
}

fn row(job: &JobSpec, jobs: &Jobs) -> Vec<String> {
    let workload = &job.workload;
    let after: Vec<_> = job.after.iter().map(|at| jobs.jobs[*at].name.as_str()).collect();
    let delay = if job.delay.0 > 0 { format!("{} ", job.delay) } else { String::new() };
    let begins = match after.as_slice() {
        [] if job.delay.0 == 0 => "at once".to_owned(),
        [] => format!("{delay}after the start"),
        names => format!("{delay}after {}", names.join(", ")),
    };
    let ends = job.duration.or(jobs.duration).map(|time| format!("after {time}"));
    let bytes = workload.total_bytes().map(|bytes| format!("after {}", Bytes(bytes).rounded()));
    let ends: Vec<_> = ends.into_iter().chain(bytes).collect();
    let ends = if ends.is_empty() { "with the others".to_owned() } else { ends.join(" or ") };
    let span = format!(
        "{} from {} on",
        Bytes(workload.span_bytes).rounded(),
        Bytes(workload.span_offset_bytes).rounded()
    );
    let commands = format!("{} {}", sizes(workload), kinds(workload.mix));
    let pattern = workload.order.to_string();
    vec![format!("  {}", job.name), commands, pattern, span, pace(workload), begins, ends]
}

fn sizes(workload: &Workload) -> String {
    let longest = Bytes(workload.block_bytes.into());
    let shortest = workload
        .sizes
        .as_ref()
        .and_then(|sizes| sizes.weighted().iter().map(|(bytes, _)| *bytes).min());
    shortest
        .map_or_else(|| longest.to_string(), |bytes| format!("{}-{longest}", Bytes(bytes.into())))
}

fn kinds(mix: Mix) -> String {
    match mix {
        Mix::One(kind) => kind.name().to_owned(),
        Mix::ReadPercent(percent) => format!("read {percent}%"),
        Mix::Shares(shares) => format!(
            "trim {}%, flush {}%, read:write {}:{}",
            shares.deallocate_percent, shares.flush_percent, shares.reads, shares.writes
        ),
    }
}

fn pace(workload: &Workload) -> String {
    match workload.pacing {
        Pacing::ClosedLoop => format!("QD {}", workload.queue_depth),
        pacing => format!("{pacing} a second"),
    }
}
