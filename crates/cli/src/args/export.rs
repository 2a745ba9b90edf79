//! Arguments of `export`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

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

/// Arguments of `export`.
#[derive(Debug, ClapArgs)]
pub struct ExportArgs {
    /// Run: path, name, start of a name, or `latest`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// Format
    #[arg(long = "as", value_enum, value_name = "FORMAT")]
    pub format: ExportFormat,
    /// File to write; default: stdout
    #[arg(long, short, value_name = "FILE", required_if_eq_any = [("format", "parquet"), ("format", "png"), ("split", "true")])]
    pub output: Option<PathBuf>,
    /// Only with fio-json: FILE is a new directory with a file for each phase, as bench-fio writes and fio-plot
    /// reads them
    #[arg(long)]
    pub split: bool,
    /// Directory of run directories
    #[arg(long, value_name = "DIR", default_value = "ssdlab-runs")]
    pub library: PathBuf,
}
