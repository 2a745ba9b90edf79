//! `ssdlab library serve`: the Bench over HTTP, until Ctrl-C.

use std::net::SocketAddr;
use std::path::PathBuf;

use ::target::TargetError;
use clap::Args as ClapArgs;
use serve::{Config, IndexChanges, Token, UPLOAD_BYTES_MAX};

use crate::args::Format;
use crate::args::heading;
use crate::failure::EXIT_DONE;
use crate::page::load_page;
use crate::stop;
use crate::ui::out::{data, talk};

const EXAMPLES: &str = "\
Examples:
  ssdlab library serve  # http://127.0.0.1:8080
  ssdlab library serve --library peers --listen 127.0.0.1:0
  ssdlab library serve --listen 0.0.0.0:8080 --public --token-file token";

/// The library and its page.
#[derive(Debug, ClapArgs)]
pub struct BenchArgs {
    /// Directory of run directories
    #[arg(long, value_name = "DIR", default_value = "ssdlab-runs", help_heading = heading::OUTPUT)]
    pub library: PathBuf,
    /// Heading of the Bench
    #[arg(long, default_value = "SSD Bench", help_heading = heading::WORDS)]
    pub title: String,
    /// Page from this file instead of the built-in one
    #[arg(long, value_name = "FILE", help_heading = heading::OUTPUT)]
    pub web: Option<PathBuf>,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    pub format: Format,
}

/// Arguments of `library serve`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct ServeArgs {
    /// Address and port; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
    /// Permit an address that other machines can reach; everybody there can read the library
    #[arg(long, help_heading = heading::SAFETY)]
    pub public: bool,
    /// Take uploads with the token in this file: one line of 16 to 512 characters that only you can
    /// read. Without it nobody can upload
    #[arg(long, value_name = "FILE", help_heading = heading::SAFETY)]
    pub token_file: Option<PathBuf>,
    /// Take no uploads
    #[arg(long, conflicts_with = "token_file", help_heading = heading::SAFETY)]
    pub read_only: bool,
    #[command(flatten)]
    pub bench: BenchArgs,
}

pub fn run(args: &ServeArgs) -> anyhow::Result<u8> {
    check_address(args)?;
    let token = args.token_file.as_deref().map(Token::read).transpose()?;
    let takes_uploads = token.is_some();
    let config = Config {
        library: args.bench.library.clone(),
        listen: args.listen,
        token,
        upload_bytes_max: UPLOAD_BYTES_MAX,
        title: args.bench.title.clone(),
        page: load_page(args.bench.web.as_deref())?.bench()?,
    };
    let stop = stop::button()?;
    serve::serve(config, &stop, |address, refreshed| {
        tell(args, address, refreshed, takes_uploads);
    })?;
    talk!("stopped");
    Ok(EXIT_DONE)
}

/// Other machines reach the server only if the user said so.
fn check_address(args: &ServeArgs) -> Result<(), TargetError> {
    if args.listen.ip().is_loopback() {
        return Ok(());
    }
    let address = args.listen;
    if !args.public {
        return Err(TargetError::Usage(format!(
            "{address} can be reached by other machines, which can then read the library; \
             `--public` permits it, and 127.0.0.1 is this machine only"
        )));
    }
    if args.token_file.is_none() && !args.read_only {
        return Err(TargetError::Usage(format!(
            "on {address} say who may upload: `--token-file FILE` for those with the token, or \
             `--read-only` for nobody"
        )));
    }
    Ok(())
}

fn tell(args: &ServeArgs, address: SocketAddr, refreshed: IndexChanges, takes_uploads: bool) {
    let library = args.bench.library.display();
    let uploads = if takes_uploads { "uploads with the token" } else { "no uploads" };
    talk!("library {library}: {} new or changed runs read; {uploads}", refreshed.read);
    talk!("Ctrl-C stops the server");
    let url = format!("http://{address}");
    match args.bench.format {
        Format::Json => data!("{}", serde_json::json!({ "url": url })),
        Format::Text => data!("{url}"),
    }
}
