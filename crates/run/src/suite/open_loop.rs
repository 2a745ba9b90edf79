//! A rate instead of a queue that is kept full: which tests can be run so, and why the others cannot.
//!
//! An open loop answers what a demand feels: how late is what was due? Tests that ask how much a drive does at
//! most, or at which depth, have no answer to that; a rate would only hide theirs.

use load::Pacing;

use super::Test;
use crate::error::RunError;
use crate::params::{Param, Params};

/// Commands a second, in tests that take a rate.
pub const RATE: Param = Param {
    name: "rate",
    default: "max",
    help: "commands a second: max (a new one for each that ends), 1000, or poisson:1000",
};

impl Test {
    /// The parameters of the test with the settings of the user over them.
    ///
    /// # Errors
    /// [`RunError::Usage`] for a name that is not declared; for a rate with the reason why there is none.
    pub fn params_with(self, settings: &[(String, String)]) -> Result<Params, RunError> {
        let rate = settings.iter().find(|(name, _)| name == RATE.name);
        if let (Some((_, text)), Some(why)) = (rate, self.why_no_rate()) {
            return Err(RunError::Usage(format!(
                "`--set rate={text}` is not for `{}`: {why}; consistency, latency and mixed take a rate",
                self.name()
            )));
        }
        Params::new(self.params(), settings)
    }

    /// Why the test is a closed loop; `None` where it takes a rate.
    const fn why_no_rate(self) -> Option<&'static str> {
        match self {
            Self::Consistency | Self::Latency | Self::Mixed => None,
            Self::Trim
            | Self::Corners
            | Self::Incompressible
            | Self::Sweep
            | Self::Linear
            | Self::FullWrite
            | Self::Pslc => Some("its figures are the most that a drive does with its queue full"),
            Self::QdSweep => Some("the number of commands outstanding is what it varies"),
            Self::Power => {
                Some("its figures are those of a drive that rests or works as fast as it can")
            }
            Self::Heavy | Self::Light | Self::Destroyer | Self::Replay => {
                Some("the trace has times of its own, which `--set form=open` keeps")
            }
            Self::PtsIops
            | Self::PtsThroughput
            | Self::PtsLatency
            | Self::PtsWriteSaturation
            | Self::PtsHostIdle
            | Self::PtsCrossStimulus
            | Self::PtsComposite
            | Self::PtsDemand => Some("the SNIA PTS says how many commands are outstanding"),
        }
    }
}

/// The pace of a run, as its sentences have it: `QD 1`, or `1000 a second`.
pub(crate) fn pace_in_words(pacing: Pacing, queue_depth: u32) -> String {
    match pacing {
        Pacing::ClosedLoop => format!("QD {queue_depth}"),
        Pacing::Fixed { rate_iops } => format!("{rate_iops} a second"),
        Pacing::Poisson { rate_iops } => format!("{rate_iops} a second at random"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_rate(test: Test) -> Result<Params, RunError> {
        test.params_with(&[("rate".to_owned(), "1000".to_owned())])
    }

    #[test]
    fn a_test_takes_a_rate_or_says_why_not() {
        for test in Test::ALL {
            let declares = test.params().iter().any(|param| param.name == RATE.name);
            assert_eq!(test.why_no_rate().is_none(), declares, "{}", test.name());
            match with_rate(test) {
                Ok(params) => assert!(declares && params.is_set("rate")),
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.contains(test.name()) && text.contains("take a rate"), "{text}");
                }
            }
        }
    }
}
