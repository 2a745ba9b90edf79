//! Arguments of `serve`, `site` and `push`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::{Format, PlaceArgs};

/// The library and its page.
#[derive(Debug, ClapArgs)]
pub struct BenchArgs {
    /// Directory of run directories
    #[arg(long, value_name = "DIR", default_value = "ssdlab-runs")]
    pub library: PathBuf,
    /// Heading of the Bench
    #[arg(long, default_value = "SSD Bench")]
    pub title: String,
    /// Page from this file instead of the built-in one
    #[arg(long, value_name = "FILE")]
    pub web: Option<PathBuf>,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `serve`.
#[derive(Debug, ClapArgs)]
pub struct ServeArgs {
    /// Address and port; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
    /// Permit an address that other machines can reach; everybody there can read the library
    #[arg(long)]
    pub public: bool,
    /// Take uploads with the token in this file: one line of 16 to 512 characters that only you can
    /// read. Without it nobody can upload
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Take no uploads
    #[arg(long, conflicts_with = "token_file")]
    pub read_only: bool,
    #[command(flatten)]
    pub bench: BenchArgs,
}

/// Arguments of `site`.
#[derive(Debug, ClapArgs)]
pub struct SiteArgs {
    /// Directory to write: new, or any other; only files of an earlier site are replaced
    pub dir: PathBuf,
    /// Medians of several seconds, curves and figures only: a hundred drives in a few megabytes
    #[arg(long)]
    pub small: bool,
    #[command(flatten)]
    pub bench: BenchArgs,
}

/// Arguments of `push`.
#[derive(Debug, ClapArgs)]
pub struct PushArgs {
    /// Address of the server, as `ssdlab serve` prints it
    pub url: String,
    /// Runs: path, name, start of a name, or `latest`
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// File with the token of the server
    #[arg(long, value_name = "FILE")]
    pub token_file: PathBuf,
    #[command(flatten)]
    pub place: PlaceArgs,
}
