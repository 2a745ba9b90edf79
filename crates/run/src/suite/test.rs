//! The tests by name.

use std::fmt;
use std::str::FromStr;

use base::text::{close_to, shortened};

use super::catalog::DEFINITIONS;
use super::catalog::steady_state::consistency;
use super::catalog::storage_bench::replay;
use super::definition::{Definition, Review, ReviewEntry};
use super::open_loop::RATE;
use crate::error::RunError;
use crate::params::{Param, Params};

/// A test of the suite.
#[derive(Clone, Copy)]
pub struct Test(&'static Definition);

impl Test {
    /// Every test, in the order of the suite.
    pub const ALL: [Self; DEFINITIONS.len()] = in_order(&DEFINITIONS);
    /// Random writes on a full drive, which the search for spare area repeats.
    pub const CONSISTENCY: Self = Self(&consistency::DEFINITION);
    /// The commands of any trace.
    pub const REPLAY: Self = Self(&replay::DEFINITION);

    /// The definition of the test.
    pub const fn definition(self) -> &'static Definition {
        self.0
    }

    /// The word on the command line and in results.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// The question it answers.
    pub const fn question(self) -> &'static str {
        self.0.question
    }

    /// Whether it destroys the data on the target.
    pub const fn writes(self) -> bool {
        self.0.writes
    }

    /// Whether it does something without a write.
    pub const fn reads_alone(self) -> bool {
        self.0.reads_alone || !self.0.writes
    }

    /// Whether a run of it writes that was asked for with or without `--read-only`. A test that has no part that only
    /// reads does, so that it is refused.
    pub const fn writes_in(self, read_only: bool) -> bool {
        self.0.writes && !(read_only && self.0.reads_alone)
    }

    /// Its parameters with defaults.
    pub const fn params(self) -> &'static [Param] {
        self.0.params
    }

    /// Its runs in the reviews.
    pub const fn reviews(self) -> &'static [ReviewEntry] {
        self.0.reviews
    }

    /// Its quick form, or `None` if it has none.
    pub fn quick(self) -> Option<&'static ReviewEntry> {
        let is_quick = |entry: &&ReviewEntry| matches!(entry.review, Review::Quick | Review::Alone);
        self.reviews().iter().find(is_quick)
    }

    /// The parameters of the test with the settings of the user over them.
    ///
    /// # Errors
    /// [`RunError::Usage`] for a name that is not declared; for a rate with the reason why there is none.
    pub fn params_with(self, settings: &[(String, String)]) -> Result<Params, RunError> {
        let rate = settings.iter().find(|(name, _)| name == RATE.name);
        if let (Some((_, text)), Some(why)) = (rate, self.0.closed_loop) {
            return Err(RunError::Usage(format!(
                "`--set rate={text}` is not for `{}`: {why}; {} take a rate",
                self.name(),
                with_a_rate()
            )));
        }
        Params::new(self.params(), settings)
    }
}

impl PartialEq for Test {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Test {}

impl fmt::Debug for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Test {
    type Err = RunError;

    fn from_str(text: &str) -> Result<Self, RunError> {
        let found = Self::ALL.into_iter().find(|test| test.name() == text);
        found.ok_or_else(|| {
            let near = close_to(text, Self::ALL.map(Self::name));
            RunError::Usage(format!(
                "there is no test `{}`{near}; `ssdlab list tests` names them",
                shortened(text)
            ))
        })
    }
}

/// The tests by chapter and place.
const fn in_order<const N: usize>(definitions: &[&'static Definition; N]) -> [Test; N] {
    let mut tests = [Test(definitions[0]); N];
    let mut taken = 0;
    while taken < N {
        tests[taken] = Test(definitions[taken]);
        let mut at = taken;
        while at > 0 && rank(tests[at]) < rank(tests[at - 1]) {
            tests.swap(at, at - 1);
            at -= 1;
        }
        taken += 1;
    }
    tests
}

/// Sort key of a test: smaller for an earlier one.
const fn rank(Test(definition): Test) -> u16 {
    u16::from_be_bytes([definition.chapter as u8, definition.place])
}

/// The names of the tests that accept a rate, in words.
fn with_a_rate() -> String {
    let open = Test::ALL.into_iter().filter(|test| test.0.closed_loop.is_none());
    let names: Vec<_> = open.map(Test::name).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => "no tests".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::suite::{Chapter, Headline};

    fn with_rate(test: Test) -> Result<Params, RunError> {
        test.params_with(&[("rate".to_owned(), "1000".to_owned())])
    }

    #[test]
    fn a_test_takes_a_rate_or_says_why_not() {
        for test in Test::ALL {
            let declares = test.params().iter().any(|param| param.name == RATE.name);
            assert_eq!(test.0.closed_loop.is_none(), declares, "{test:?}");
            match with_rate(test) {
                Ok(params) => assert!(declares && params.is_set("rate")),
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.contains(test.name()) && text.contains("take a rate"), "{text}");
                }
            }
        }
    }

    #[test]
    fn the_headlines_of_a_test_are_its_own_figures() {
        for test in Test::ALL {
            for Headline { metric, .. } in test.definition().headlines {
                let of = metric.split_once('.').map_or(test.name(), |(of, _)| of);
                assert_eq!(of, test.name(), "{metric}");
                assert!(result::metrics::find(metric).is_some(), "{metric}");
            }
        }
    }

    #[test]
    fn the_columns_of_a_group_have_heads_of_their_own_and_every_column_a_title() {
        let columns = Test::ALL.iter().flat_map(|test| test.definition().headlines);
        let columns: Vec<_> = columns.filter_map(|headline| headline.column).collect();
        let heads: BTreeSet<_> = columns.iter().map(|one| (one.group, one.short)).collect();
        let titles: BTreeSet<_> = columns.iter().map(|one| one.title).collect();
        assert_eq!((heads.len(), titles.len()), (columns.len(), columns.len()));
    }

    #[test]
    fn every_test_has_a_name_and_a_place_of_its_own() {
        for (index, test) in Test::ALL.into_iter().enumerate() {
            assert_eq!(test.name().parse::<Test>().unwrap(), test);
            let before = &Test::ALL[..index];
            assert!(before.iter().all(|other| rank(*other) < rank(test)), "{test:?}");
        }
        assert_eq!(Test::ALL[0], Test::CONSISTENCY);
        assert_eq!(Test::ALL.last().unwrap().definition().chapter, Chapter::Pts);
    }

    #[test]
    fn the_settings_of_every_review_are_parameters_of_the_test() {
        for test in Test::ALL {
            for entry in test.reviews() {
                let settings = entry.settings.split_whitespace();
                let settings = settings.map(|text| text.split_once('=').expect("key=value"));
                let settings: Vec<_> =
                    settings.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
                test.params_with(&settings).unwrap();
            }
        }
    }
}
