//! The verb `site`: the suite for every drive model as a small Bench of plain files, to be published.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;

use super::{Library, ProgramArgs};
use xtask::log::Log;
use xtask::workspace::Workspace;

/// Most bytes of the site.
const BYTES_MAX: u64 = 3_000_000;
const TITLE: &str = "Every drive model of ssdlab, simulated";
const LOG: Log = Log::stderr("site");

/// Arguments of the verb.
#[derive(Args)]
pub(crate) struct SiteArgs {
    /// Directory of the site: new, empty, or an earlier site
    #[arg(long, value_name = "DIR", default_value = "site/public")]
    to: PathBuf,
    /// Library of the runs; runs that it has are not repeated
    #[arg(long, value_name = "DIR", default_value = "site/library")]
    library: PathBuf,
    #[command(flatten)]
    program: ProgramArgs,
    /// Options of `ssdlab library build`, after `--`: `-- --quick --scale 1/64 --drives 'samsung-*'`
    #[arg(last = true, value_name = "OPTION")]
    options: Vec<String>,
}

/// Simulates missing runs, writes the site and prints its path.
pub(crate) fn run(workspace: &Workspace, args: &SiteArgs) -> Result<()> {
    let options: Vec<&str> = args.options.iter().map(String::as_str).collect();
    let library = Library::build(workspace, LOG, &args.program, &args.library, &options)?;
    told(&library.site(TITLE, &["--small"], &args.to)?, &args.to)
}

/// Prints the path and tells the size; a site above the limit is an error.
fn told(document: &str, to: &Path) -> Result<()> {
    let document: serde_json::Value =
        serde_json::from_str(document).context("`ssdlab library site` did not print JSON")?;
    let number = |name: &str| document[name].as_u64().with_context(|| format!("no `{name}`"));
    let (runs, bytes) = (number("runs")?, number("bytes")?);
    LOG.line(&format!("{runs} runs, {bytes} bytes, {}% of the limit", bytes * 100 / BYTES_MAX));
    if bytes > BYTES_MAX {
        bail!("{} has {bytes} bytes, more than {BYTES_MAX}", to.display());
    }
    println!("{}", document["site"].as_str().context("no `site`")?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_above_the_limit_is_an_error() {
        let document = |bytes: u64| format!(r#"{{"site": "/s", "runs": 3, "bytes": {bytes}}}"#);
        told(&document(BYTES_MAX), Path::new("s")).unwrap();
        let error = told(&document(BYTES_MAX + 1), Path::new("s")).unwrap_err().to_string();
        assert!(error.contains("3000001 bytes"), "{error}");
        assert!(told("{}", Path::new("s")).is_err());
    }
}
