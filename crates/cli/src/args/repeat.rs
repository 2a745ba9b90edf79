//! Arguments about several runs of one thing: their words, their number, and the figures expected.

use clap::Args as ClapArgs;
use result::expectation::Expectation;
use result::schema::About;

use crate::args::heading;

/// The words of the user about runs.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct AboutArgs {
    /// Name of the group of these runs, for `ssdlab compare label:NAME` and `ssdlab library list`
    #[arg(long, value_name = "NAME", value_parser = super::parse_word, help_heading = heading::WORDS)]
    pub label: Option<String>,
    /// Remark
    #[arg(long, value_name = "TEXT", help_heading = heading::WORDS)]
    pub note: Option<String>,
    /// Word to find the runs by; repeatable
    #[arg(long = "tag", value_name = "WORD", value_parser = super::parse_word, help_heading = heading::WORDS)]
    pub tags: Vec<String>,
}

impl AboutArgs {
    /// The words for a result.
    pub fn about(&self) -> About {
        let Self { label, note, tags } = self.clone();
        About { label, note, tags }
    }
}

/// The repetitions of a run, and the figures expected of it.
#[derive(Clone, Debug, ClapArgs)]
pub struct RepeatArgs {
    /// Number of runs of each target and span, each from a fresh state and with the next seed; their
    /// figures get mean, median and interval
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = super::whole::<u32, 1, 1000>, help_heading = heading::TEST)]
    pub repeat: u32,
    /// Every target once, then all of them again, so that a slow change of the machine affects all
    /// alike; otherwise all runs of a target in a row
    #[arg(long, requires = "repeat", help_heading = heading::TEST)]
    pub interleave: bool,
    /// Figure that every run must have, e.g. 'iops_steady_mean >= 20000'; otherwise the exit code is
    /// 1. Repeatable
    #[arg(long, value_name = "EXPECTATION", help_heading = heading::TEST)]
    pub expect: Vec<Expectation>,
}

impl Default for RepeatArgs {
    fn default() -> Self {
        Self { repeat: 1, interleave: false, expect: Vec::new() }
    }
}
