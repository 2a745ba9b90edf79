//! The Bench: a library of runs for web browsers, and uploads to it.
//!
//! The page reads static resources only ([`result::bench`]). [`Index`] keeps them in step with the
//! run directories, [`serve`] offers them over HTTP, and [`push`] sends a run to such a server.

mod bench;
mod connections;
mod error;
mod guard;
mod index;
mod live;
mod push;
mod resources;
mod server;
mod state;
mod token;
mod upload;

pub use error::ServeError;
pub use index::{INDEX_FILE, Index, IndexChanges};
pub use push::{PushError, push};
pub use server::serve;
pub use state::{Config, PlannedPhase};
pub use token::Token;
pub use upload::UPLOAD_BYTES_MAX;
