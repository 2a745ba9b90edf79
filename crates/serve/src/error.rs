//! Errors of the server and of its index.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use result::bench::SiteError;
use result::store::StoreError;

/// A failure to serve a library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The library does not exist.
    #[error("there is no library {}; `--library DIR` names another one", path.display())]
    NoLibrary { path: PathBuf },
    /// The address cannot be used.
    #[error("cannot listen on {address}: {source}; `--listen 127.0.0.1:0` takes a free port")]
    Listen {
        address: SocketAddr,
        /// The answer of the operating system.
        source: io::Error,
    },
    /// The token cannot be used.
    #[error("the token file {} {reason}", path.display())]
    Token {
        /// The file.
        path: PathBuf,
        /// The obstacle and the remedy.
        reason: String,
    },
    /// The server stopped working.
    #[error("the server failed: {0}")]
    Server(#[source] io::Error),
    /// The index failed.
    #[error("the index of the library failed: {0}; you may remove index.sqlite")]
    Index(#[from] rusqlite::Error),
    /// The library could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A site could not be written.
    #[error(transparent)]
    Site(#[from] SiteError),
    /// A value could not be written as JSON, or read from it.
    #[error("the index has no valid JSON: {0}; you may remove index.sqlite")]
    Json(#[from] serde_json::Error),
    /// A run disappeared between two looks at the library.
    #[error("the run {name} disappeared; try again")]
    RunGone { name: String },
}

impl ServeError {
    /// Whether something of somebody else would be lost.
    pub fn is_refused(&self) -> bool {
        matches!(self, Self::Site(error) if error.is_refused())
    }

    /// Whether the call is the mistake, not a file, a disk or the network.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::NoLibrary { .. } | Self::Token { .. } => true,
            Self::Store(error) => error.is_usage(),
            Self::Site(error) => error.is_usage(),
            _ => false,
        }
    }
}
