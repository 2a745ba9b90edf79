//! `ssdlab library push`: runs to a server.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use result::store::resolve_run;
use serve::{Token, push};

use crate::args::heading;
use crate::args::{Format, PlaceArgs};
use crate::failure::EXIT_DONE;
use crate::ui::out::{data, is_document, talk};

const EXAMPLES: &str = "\
Examples:
  ssdlab library push http://lab:8080 latest --token-file token
  ssdlab library push http://lab:8080 20261124-1025 20261124-1131 --token-file token
  ssdlab library push http://lab:8080 latest --token-file token --format json";

/// Arguments of `library push`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct PushArgs {
    /// Address of the server, as `ssdlab library serve` prints it
    pub url: String,
    /// Runs: path, name, start of a name, or `latest`
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// File with the token of the server
    #[arg(long, value_name = "FILE", help_heading = heading::SAFETY)]
    pub token_file: PathBuf,
    #[command(flatten)]
    pub place: PlaceArgs,
}

pub fn run(args: &PushArgs) -> anyhow::Result<u8> {
    let token = Token::read(&args.token_file)?;
    let paths = args.runs.iter().map(|run| resolve_run(&args.place.library, run));
    let paths = paths.collect::<Result<Vec<_>, _>>()?;
    let mut pushed = Vec::new();
    for path in &paths {
        let name = push(&args.url, &token, path)?;
        if is_document() {
            talk!("{name}");
        } else {
            data!("{name}");
        }
        pushed.push(name);
    }
    if args.place.format == Format::Json {
        data!("{}", serde_json::json!({ "pushed": pushed }));
    }
    Ok(EXIT_DONE)
}
