//! Arguments of `expose`.

use std::path::PathBuf;

use base::Bytes;
use clap::Args as ClapArgs;
use expose::Address;

use super::{Format, whole};

/// Arguments of `expose`.
#[derive(Debug, ClapArgs)]
pub struct ExposeArgs {
    /// Simulated drive: `sim:NAME[?key=value&...]`
    #[arg(value_name = "TARGET")]
    pub target: String,
    /// Serve NBD at a Unix socket of this path, or at a port
    #[arg(long, value_name = "SOCKET|HOST:PORT")]
    pub nbd: Address,
    /// Also serve other machines. NBD has neither password nor encryption here: use a tunnel
    /// (ssh -L, stunnel) where the network is not your own
    #[arg(long)]
    pub listen_anywhere: bool,
    /// Keep the data in this sparse file, an image of the disk; default: in memory
    #[arg(long, value_name = "FILE")]
    pub contents: Option<PathBuf>,
    /// Most data to keep: writes beyond it fail for lack of space. Default: the capacity of the drive
    #[arg(long, value_name = "BYTES")]
    pub contents_max: Option<Bytes>,
    /// Most connections at a time
    #[arg(long, value_name = "N", default_value_t = 16, allow_negative_numbers = true, value_parser = whole::<u32, 1, 1024>)]
    pub connections: u32,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}
