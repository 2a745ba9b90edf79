//! Which engine to use, as the user asks for it.

use std::fmt;
use std::str::FromStr;

use crate::error::IoError;

/// Where the kernel polls instead of waiting for an interrupt or a system call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Polling {
    /// A thread of the kernel looks for new commands (`IORING_SETUP_SQPOLL`): no system call to submit,
    /// for the price of another busy core.
    pub submissions: bool,
    /// The driver is asked for completions (`IORING_SETUP_IOPOLL`) instead of interrupting; needs a device
    /// with queues for it.
    pub completions: bool,
}

/// Which engine to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// `io_uring`, or blocking calls where it is not allowed.
    #[default]
    Auto,
    /// `io_uring` in just this way, or none.
    Uring(Polling),
    /// Blocking calls, whatever the kernel can do.
    Sync,
}

impl FromStr for EngineChoice {
    type Err = IoError;

    fn from_str(text: &str) -> Result<Self, IoError> {
        let unknown = || {
            IoError::Usage(format!(
                "there is no engine `{text}`; expected auto, sync, uring, uring,sqpoll, uring,iopoll or \
                 uring,sqpoll,iopoll"
            ))
        };
        let mut words = text.split(',');
        match (words.next(), text) {
            (_, "auto") => return Ok(Self::Auto),
            (_, "sync") => return Ok(Self::Sync),
            (Some("uring"), _) => {}
            _ => return Err(unknown()),
        }
        let mut polling = Polling::default();
        for word in words {
            match word {
                "sqpoll" => polling.submissions = true,
                "iopoll" => polling.completions = true,
                _ => return Err(unknown()),
            }
        }
        Ok(Self::Uring(polling))
    }
}

impl fmt::Display for EngineChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Sync => f.write_str("sync"),
            Self::Uring(polling) => {
                f.write_str("uring")?;
                f.write_str(if polling.submissions { ",sqpoll" } else { "" })?;
                f.write_str(if polling.completions { ",iopoll" } else { "" })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_read_as_it_is_written() {
        for text in ["auto", "sync", "uring", "uring,sqpoll", "uring,iopoll", "uring,sqpoll,iopoll"]
        {
            assert_eq!(text.parse::<EngineChoice>().unwrap().to_string(), text);
        }
        for text in ["", "libaio", "uring,", "uring,fast", "sync,sqpoll", "sqpoll"] {
            let error = text.parse::<EngineChoice>().unwrap_err().to_string();
            assert!(error.contains("uring,sqpoll"), "{error}");
        }
    }
}
