//! A run directory on its way to a server.

use std::path::Path;
use std::time::Duration;

use result::schema::RunStatus;
use result::store::{RunDir, StoreError};
use ureq::unversioned::multipart::{Form, Part};

use crate::Token;
use crate::upload::FILES;

/// Time for the connection, and for the whole of an upload.
const CONNECT: Duration = Duration::from_secs(20);
const PATIENCE: Duration = Duration::from_mins(15);
/// Most bytes of an answer.
const ANSWER_BYTES_MAX: u64 = 64 << 10;

/// A failure to send a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PushError {
    /// The address is no URL of a server.
    #[error("`{url}` is no address of a Bench; expected one such as http://127.0.0.1:8080")]
    Url {
        /// The address.
        url: String,
    },
    /// The token would be readable on its way.
    #[error(
        "`{url}` is not encrypted, and anyone on the way could read the token; use https, or a \
         tunnel to localhost"
    )]
    NotEncrypted {
        /// The address.
        url: String,
    },
    /// The run is not a sound one.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run has not ended.
    #[error("the run {name} is in progress; push it when it has ended")]
    Running { name: String },
    /// A file of the run could not be read.
    #[error("cannot read {file}: {source}")]
    File {
        /// Its name.
        file: &'static str,
        /// The answer of the operating system.
        source: std::io::Error,
    },
    /// The server did not take the run.
    #[error("{url} refused the run ({status}): {reason}")]
    Refused {
        /// The address.
        url: String,
        /// Status of HTTP.
        status: u16,
        /// The words of the server.
        reason: String,
    },
    /// The connection failed.
    #[error("cannot reach {url}: {reason}")]
    Connection {
        /// The address.
        url: String,
        /// The obstacle.
        reason: String,
    },
}

impl PushError {
    /// Whether the call is the mistake, not a file, a disk or the network.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Url { .. } | Self::NotEncrypted { .. } | Self::Running { .. } => true,
            Self::Store(error) => error.is_usage(),
            _ => false,
        }
    }
}

/// Sends a run directory to the server at `url`, and returns its name there.
///
/// # Errors
/// If the run is not sound or has not ended, the address is no URL or not encrypted, or the server
/// cannot be reached or refuses.
pub fn push(url: &str, token: &Token, run_dir: &Path) -> Result<String, PushError> {
    let address = address(url)?;
    let dir = RunDir::open(run_dir)?;
    if dir.run().status == RunStatus::Running {
        return Err(PushError::Running { name: dir.run().run_id.clone() });
    }
    dir.check()?;
    let form = form(&dir)?;
    let unreachable = |error: ureq::Error| PushError::Connection {
        url: url.to_owned(),
        reason: error.to_string(),
    };
    let request = agent().post(&address).header("Authorization", token.header());
    // A server that refuses answers, and closes, before it has the files: ask before they are sent.
    let request = request.header("Expect", "100-continue");
    let mut response = request.send(form).map_err(unreachable)?;
    let status = response.status().as_u16();
    let body = response.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_string();
    let body = body.unwrap_or_default();
    let answer: serde_json::Value = serde_json::from_str(&body).unwrap_or_default();
    match (status, answer["run"].as_str()) {
        (201, Some(name)) => Ok(name.to_owned()),
        _ => {
            let words = answer["error"].as_str().unwrap_or("it is no Bench of ssdlab");
            let reason = base::text::shortened(words);
            Err(PushError::Refused { url: url.to_owned(), status, reason })
        }
    }
}

/// The address for uploads. A token goes in the open to this machine alone.
fn address(url: &str) -> Result<String, PushError> {
    let whole = format!("{}/runs", url.trim_end_matches('/'));
    let parsed = whole.parse::<ureq::http::Uri>().ok();
    let parts = parsed.as_ref().and_then(|uri| Some((uri.scheme_str()?, uri.host()?)));
    let is_here = |host: &str| {
        let host = host.trim_matches(['[', ']']);
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
    };
    match parts {
        Some(("https", _)) => Ok(whole),
        Some(("http", host)) if is_here(host) => Ok(whole),
        Some(("http", _)) => Err(PushError::NotEncrypted { url: url.to_owned() }),
        _ => Err(PushError::Url { url: url.to_owned() }),
    }
}

fn form(dir: &RunDir) -> Result<Form<'static>, PushError> {
    let mut form = Form::new();
    for file in FILES {
        let content = std::fs::read(dir.path().join(file));
        let content = content.map_err(|source| PushError::File { file, source })?;
        form = form.part(file, Part::owned_reader(std::io::Cursor::new(content)).file_name(file));
    }
    Ok(form)
}

fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .timeout_connect(Some(CONNECT))
        .timeout_global(Some(PATIENCE));
    config.build().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_over_no_open_line() {
        assert_eq!(address("http://127.0.0.1:80/").unwrap(), "http://127.0.0.1:80/runs");
        assert_eq!(address("http://[::1]:80").unwrap(), "http://[::1]:80/runs");
        assert_eq!(address("https://lab.example/bench").unwrap(), "https://lab.example/bench/runs");
        assert!(matches!(address("http://lab.example"), Err(PushError::NotEncrypted { .. })));
        for url in ["", "lab.example", "ftp://lab.example", "http://", "/runs"] {
            assert!(matches!(address(url), Err(PushError::Url { .. })), "{url}");
        }
    }
}
