//! The engine to use, as the user asks for it.

use std::fmt;
use std::str::FromStr;

use target::TargetError;

/// Polling by the kernel in place of an interrupt or a system call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Polling {
    /// Whether a thread of the kernel looks for new commands (`IORING_SETUP_SQPOLL`): no system
    /// call to submit, for the price of another busy core.
    pub submissions: bool,
    /// Whether the driver is asked for completions (`IORING_SETUP_IOPOLL`) instead of interrupting;
    /// needs a device with queues for it.
    pub completions: bool,
}

/// The engine to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// `io_uring`; blocking calls if it is not allowed, or if it would do the same in another
    /// thread.
    #[default]
    Auto,
    /// `io_uring` in exactly this way, or none.
    Uring(Polling),
    /// `io_uring` with NVMe commands past the block layer, in exactly this way, or none.
    Passthrough(Polling),
    /// Blocking calls, on every kernel.
    Sync,
}

impl EngineChoice {
    /// Whether no other engine may take its place.
    pub(crate) fn is_exact(self) -> bool {
        matches!(self, Self::Uring(_) | Self::Passthrough(_))
    }

    /// The engine with commands past the block layer, or `None` if that is impossible.
    pub(crate) fn past_the_block_layer(self) -> Option<Self> {
        match self {
            Self::Auto => Some(Self::Passthrough(Polling::default())),
            Self::Uring(polling) | Self::Passthrough(polling) => Some(Self::Passthrough(polling)),
            Self::Sync => None,
        }
    }
}

impl FromStr for EngineChoice {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let unknown = || {
            TargetError::Usage(format!(
                "there is no engine `{text}`; expected auto, sync, or uring with any of passthrough, sqpoll \
                 and iopoll, as in uring,passthrough,iopoll"
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
        let mut passthrough = false;
        for word in words {
            match word {
                "passthrough" => passthrough = true,
                "sqpoll" => polling.submissions = true,
                "iopoll" => polling.completions = true,
                _ => return Err(unknown()),
            }
        }
        Ok(if passthrough { Self::Passthrough(polling) } else { Self::Uring(polling) })
    }
}

impl fmt::Display for EngineChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Sync => f.write_str("sync"),
            Self::Uring(polling) | Self::Passthrough(polling) => {
                f.write_str("uring")?;
                f.write_str(if matches!(self, Self::Passthrough(_)) {
                    ",passthrough"
                } else {
                    ""
                })?;
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
        for text in [
            "auto",
            "sync",
            "uring",
            "uring,sqpoll",
            "uring,iopoll",
            "uring,sqpoll,iopoll",
            "uring,passthrough",
            "uring,passthrough,sqpoll,iopoll",
        ] {
            assert_eq!(text.parse::<EngineChoice>().unwrap().to_string(), text);
        }
        for text in ["", "libaio", "uring,", "uring,fast", "sync,sqpoll", "sqpoll"] {
            let error = text.parse::<EngineChoice>().unwrap_err().to_string();
            assert!(error.contains("uring,passthrough,iopoll"), "{error}");
        }
    }

    #[test]
    fn a_passthrough_node_keeps_the_polling_asked_for() {
        let past = |text: &str| text.parse::<EngineChoice>().unwrap().past_the_block_layer();
        let words = |choice: Option<EngineChoice>| choice.map(|choice| choice.to_string());
        assert_eq!(words(past("auto")).as_deref(), Some("uring,passthrough"));
        assert_eq!(words(past("uring,iopoll")).as_deref(), Some("uring,passthrough,iopoll"));
        assert_eq!(past("sync"), None, "blocking calls cannot go past the block layer");
    }
}
