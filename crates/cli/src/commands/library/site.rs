//! `ssdlab library site`: the Bench as plain files.

use std::path::PathBuf;

use base::Bytes;
use clap::Args as ClapArgs;
use result::bench::{SiteForm, site};
use serve::{Index, ServeError};

use super::serve::BenchArgs;
use crate::args::Format;
use crate::failure::EXIT_DONE;
use crate::page::load_page;
use crate::ui::out::{data, talk};
use crate::ui::wait::Wait;

const EXAMPLES: &str = "\
Examples:
  ssdlab library site public
  ssdlab library site public --small --title 'Our drives'
  ssdlab library site public --library peers --format json";

/// Arguments of `library site`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct SiteArgs {
    /// Directory to write: new, or any other; only files of an earlier site are replaced
    pub dir: PathBuf,
    /// Medians of several seconds, curves and figures only: a hundred drives in a few megabytes
    #[arg(long)]
    pub small: bool,
    #[command(flatten)]
    pub bench: BenchArgs,
}

pub fn run(args: &SiteArgs) -> anyhow::Result<u8> {
    let page = load_page(args.bench.web.as_deref())?.bench()?;
    let wait = Wait::new(&format!("reading the runs of {}", args.bench.library.display()));
    let mut index = Index::open(&args.bench.library)?;
    index.refresh()?;
    let library = index.library(&args.bench.title)?;
    drop(wait);
    let wait = Wait::new(&format!("writing {} runs", library.runs.len()));
    let form = if args.small { SiteForm::Small } else { SiteForm::Whole };
    let report = site(&args.dir, &page, &library, form, |name| {
        let gone = || ServeError::RunGone { name: name.to_owned() };
        index.packed(name)?.ok_or_else(gone)
    })?;
    drop(wait);
    for rejected in &library.rejected {
        talk!("warning: {} is not on the site: {}", rejected.name, rejected.reason);
    }
    let path = std::path::absolute(&args.dir)?.display().to_string();
    let (runs, size) = (library.runs.len(), Bytes(report.bytes));
    talk!("{runs} runs, {} files, {size}", report.files);
    tell_left(&report.left);
    match args.bench.format {
        Format::Json => data!(
            "{}",
            serde_json::json!({
                "site": path, "runs": runs, "bytes": report.bytes, "rejected": library.rejected,
                "removed": report.removed, "left": report.left,
            })
        ),
        Format::Text => data!("{path}"),
    }
    Ok(EXIT_DONE)
}

/// Names what stands beside the site and is none of it.
fn tell_left(left: &[String]) {
    const SHOWN: usize = 8;
    if left.is_empty() {
        return;
    }
    let more = left.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let shown = left[..left.len().min(SHOWN)].join(", ");
    talk!("left alone, as no files of the site: {shown}{more}");
}
