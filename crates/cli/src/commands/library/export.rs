//! `ssdlab library export`: a run in the format of another program.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args as ClapArgs, ValueEnum};
use result::export::{csv, fio, markdown, png, svg};
use result::store::dir::Dir;
use result::store::{RunDir, SERIES_FILE, resolve_run};
use run::RunError;

use crate::args::{LIBRARY, heading};
use crate::failure::EXIT_DONE;
use crate::inputs::Inputs;
use crate::output_file::OutputFile;
use crate::ui::out::data;

const EXAMPLES: &str = "\
Examples:
  ssdlab library export latest --as csv -o seconds.csv
  ssdlab library export latest --as fio-json --split -o for-fio-plot
  ssdlab library export latest --as svg > graph.svg";

/// The form of the export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// JSON of fio 3: a job for each phase with commands
    FioJson,
    /// A row for each second of each phase
    Csv,
    /// The same rows as Parquet
    Parquet,
    /// Figures, tables and sentences
    Markdown,
    /// Graph of the seconds of the load, or of a pass over the address space
    Svg,
    /// The same graph as pixels
    Png,
}

/// Arguments of `library export`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct ExportArgs {
    /// Run: path, name, start of a name, or `latest`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// Format
    #[arg(long = "as", value_enum, value_name = "FORMAT", help_heading = heading::OUTPUT)]
    pub format: ExportFormat,
    /// File to write; default: stdout
    #[arg(long, short, value_name = "FILE", required_if_eq_any = [("format", "parquet"), ("format", "png"), ("split", "true")], help_heading = heading::OUTPUT)]
    pub output: Option<PathBuf>,
    /// Only with fio-json: FILE is a new directory with a file for each phase, as bench-fio writes and fio-plot
    /// reads them
    #[arg(long, help_heading = heading::OUTPUT)]
    pub split: bool,
    /// Directory of run directories
    #[arg(long, value_name = "DIR", default_value = LIBRARY, help_heading = heading::OUTPUT)]
    pub library: PathBuf,
}

pub fn run(args: &ExportArgs) -> anyhow::Result<u8> {
    let dir = RunDir::open(&resolve_run(&args.library, &args.run)?)?;
    dir.check()?;
    if args.split {
        let written = split(args, &dir)?;
        data!("{}", std::path::absolute(written)?.display());
        return Ok(EXIT_DONE);
    }
    let content = content(args.format, &dir)?;
    let Some(output) = &args.output else {
        data!("{}", String::from_utf8_lossy(&content).trim_end());
        return Ok(EXIT_DONE);
    };
    let inputs = Inputs::default().library(&args.library).runs([dir.path()].into_iter());
    let mut file = OutputFile::create(output, "-o", &inputs)?;
    file.write_all(&content)?;
    file.put_in_place()?;
    data!("{}", std::path::absolute(output)?.display());
    Ok(EXIT_DONE)
}

fn content(format: ExportFormat, dir: &RunDir) -> anyhow::Result<Vec<u8>> {
    Ok(match format {
        ExportFormat::FioJson => serde_json::to_vec_pretty(&fio(dir)?)?,
        ExportFormat::Csv => csv(dir)?,
        ExportFormat::Parquet => {
            let path = dir.path().join(SERIES_FILE);
            fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?
        }
        ExportFormat::Markdown => markdown(dir.run()).into_bytes(),
        ExportFormat::Svg => svg(dir)?.into_bytes(),
        ExportFormat::Png => png(dir)?,
    })
}

/// Writes each phase into its own file of a new directory, which appears as a whole.
fn split(args: &ExportArgs, dir: &RunDir) -> anyhow::Result<PathBuf> {
    let Some(output) = args.output.as_deref().filter(|_| args.format == ExportFormat::FioJson)
    else {
        let words = "--split divides the jobs of fio: use it with --as fio-json and -o DIR";
        return Err(RunError::Usage(words.to_owned()).into());
    };
    if output.exists() {
        let words = format!("{} exists; give -o the name of a new directory", output.display());
        return Err(RunError::Usage(words).into());
    }
    let parent = output.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let cannot = || format!("cannot write {}", output.display());
    let staged = tempfile::tempdir_in(parent).with_context(cannot)?;
    for (number, (name, document)) in fio(dir)?.split().enumerate() {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        let name: String = name.chars().map(plain).collect();
        let path = staged.path().join(format!("{number:02}-{name}.json"));
        fs::write(path, serde_json::to_vec_pretty(&document)?).with_context(cannot)?;
    }
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let place = Dir::open(parent).with_context(cannot)?;
    let put = place.rename_new(&name(staged.path()), &place, &name(output));
    put.and_then(|()| place.sync()).with_context(cannot)?;
    // Its content has another name now.
    let _ = staged.keep();
    Ok(output.to_owned())
}
