//! The commands that get a row.

use std::fmt;
use std::str::FromStr;

use base::Ratio;

/// The most rows of one second that [`IosChoice::Slowest`] keeps.
const SLOWEST_MAX: u32 = 10_000;

/// The commands that get a row in `ios.parquet`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IosChoice {
    /// Every command.
    All,
    /// Each command with this probability, drawn from a stream of the seed that nothing else uses.
    Share(Ratio),
    /// This many of the commands that ended in one second: the slowest.
    Slowest(u32),
}

/// A text that chooses no commands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` chooses no commands; expected `all`, a share such as `1%`, or `slowest:100` for the \
     slowest 100 of each second (1 to {SLOWEST_MAX})"
)]
pub struct IosChoiceError {
    text: String,
}

impl FromStr for IosChoice {
    type Err = IosChoiceError;

    fn from_str(text: &str) -> Result<Self, IosChoiceError> {
        let error = || IosChoiceError { text: base::text::shortened(text) };
        if text == "all" {
            return Ok(Self::All);
        }
        if let Some(number) = text.strip_prefix("slowest:") {
            let number = number.parse().ok().filter(|number| (1..=SLOWEST_MAX).contains(number));
            return number.map(Self::Slowest).ok_or_else(error);
        }
        // A plain number may be meant as a number of commands.
        let is_share = text.contains(['%', '/', '.']);
        let share: Option<Ratio> = text.parse().ok().filter(|_| is_share);
        share.filter(|share| share.of(u64::MAX) > 0).map(Self::Share).ok_or_else(error)
    }
}

impl fmt::Display for IosChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Share(share) => share.fmt(f),
            Self::Slowest(number) => write!(f, "slowest:{number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_survives_its_text() {
        for text in ["all", "1%", "100%", "1/1000", "slowest:1", "slowest:10000"] {
            assert_eq!(text.parse::<IosChoice>().unwrap().to_string(), text);
        }
        assert_eq!("0.1%".parse::<IosChoice>().unwrap().to_string(), "1/1000");
    }

    #[test]
    fn a_text_that_chooses_nothing_is_refused_with_the_forms() {
        for text in ["", "none", "0%", "0/5", "101%", "5", "slowest", "slowest:0", "slowest:10001"]
        {
            let error = text.parse::<IosChoice>().unwrap_err().to_string();
            assert!(
                error.contains(&format!("`{text}`")) && error.contains("`slowest:100`"),
                "{error}"
            );
        }
    }
}
