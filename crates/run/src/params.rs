//! Parameters of a test: declared with default and meaning, set by `--set name=value`.

use std::any::Any;
use std::fmt::Display;
use std::num::{IntErrorKind, ParseIntError};
use std::str::{FromStr, ParseBoolError};

use base::text::shortened;
use base::{Bytes, Nanos};
use strsim::levenshtein;

use crate::error::RunError;
use crate::recorder::LENGTH_MAX;

/// One parameter of a test.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Name, as in `--set name=value`.
    pub name: &'static str,
    /// Default, in the form of the user.
    pub default: &'static str,
    /// Its effect, with its unit.
    pub help: &'static str,
}

impl Param {
    /// A parameter.
    pub(crate) const fn new(name: &'static str, default: &'static str, help: &'static str) -> Self {
        Self { name, default, help }
    }
}

/// The parameters of one test with their values.
#[derive(Clone, Debug)]
pub struct Params {
    values: Vec<(&'static str, String)>,
    /// The parameters that the user set.
    set: Vec<&'static str>,
}

impl Params {
    /// Defaults, replaced by the settings of the user.
    ///
    /// # Errors
    /// [`RunError::Usage`] for an undeclared name, with the nearest one, and for a name that is set
    /// twice.
    pub fn new(declared: &[Param], settings: &[(String, String)]) -> Result<Self, RunError> {
        let mut set: Vec<&'static str> = Vec::new();
        let mut values: Vec<_> =
            declared.iter().map(|param| (param.name, param.default.to_owned())).collect();
        for (name, text) in settings {
            let Some((known, value)) = values.iter_mut().find(|(known, _)| known == name) else {
                return Err(unknown(declared, name, text));
            };
            if set.contains(known) {
                let (value, text) = (shortened(value), shortened(text));
                return Err(RunError::Usage(format!(
                    "`--set {name}={value}` and `--set {name}={text}`: expected one value of `{name}`; leave \
                     one of them away"
                )));
            }
            text.clone_into(value);
            set.push(*known);
        }
        Ok(Self { values, set })
    }

    /// Whether the user set a value, so that no other may replace it.
    pub fn is_set(&self, name: &str) -> bool {
        self.set.contains(&name)
    }

    /// Whether the test has this parameter.
    pub fn declares(&self, name: &str) -> bool {
        self.values.iter().any(|(known, _)| *known == name)
    }

    /// The value of a declared parameter.
    ///
    /// # Errors
    /// [`RunError::Usage`] if its text is no `T`.
    pub fn get<T: FromStr>(&self, name: &str) -> Result<T, RunError>
    where
        T::Err: Display + 'static,
    {
        let text = self.values.iter().find(|(known, _)| *known == name).map_or("", |(_, v)| v);
        text.parse().map_err(|error| unusable(name, text, &error))
    }

    /// The text of a declared parameter, as the user typed it.
    pub fn text(&self, name: &str) -> String {
        self.values.iter().find(|(known, _)| *known == name).map_or("", |(_, v)| v).to_owned()
    }

    /// A length of time from 1 s to 30 days: there is one sample per second.
    ///
    /// # Errors
    /// [`RunError::Usage`] for other text, or a time outside these limits.
    pub fn duration(&self, name: &str) -> Result<Nanos, RunError> {
        let duration: Nanos = self.get(name)?;
        if (Nanos::SECOND..=LENGTH_MAX).contains(&duration) {
            return Ok(duration);
        }
        Err(RunError::Usage(format!(
            "`--set {name}={duration}` must lie between 1s and 30d: there is one sample a second"
        )))
    }

    /// The length of a pause, up to 30 days.
    ///
    /// # Errors
    /// [`RunError::Usage`] for other text, or a longer time.
    pub fn pause(&self, name: &str) -> Result<Nanos, RunError> {
        let pause = self.get(name)?;
        self.pauses(name).map(|_| pause)
    }

    /// Several of them, separated by commas.
    ///
    /// # Errors
    /// As [`Params::pause`] and [`Params::list`].
    pub fn pauses(&self, name: &str) -> Result<Vec<Nanos>, RunError> {
        let pauses: Vec<Nanos> = self.list(name)?;
        match pauses.iter().find(|pause| **pause > LENGTH_MAX) {
            None => Ok(pauses),
            Some(_) => Err(RunError::Usage(format!(
                "`--set {name}={}` must be at most 30d: there is one sample a second",
                shortened(&self.text(name))
            ))),
        }
    }

    /// The size of a command, 512 B to 32 MiB.
    ///
    /// # Errors
    /// [`RunError::Usage`] for other text, or a size outside these limits.
    pub fn block_bytes(&self, name: &str) -> Result<u32, RunError> {
        let Bytes(bytes) = self.get(name)?;
        let valid = u32::try_from(bytes).ok().filter(|bytes| (512..=32 << 20).contains(bytes));
        valid.ok_or_else(|| {
            RunError::Usage(format!("`--set {name}={bytes}` must lie between 512 and 32MiB"))
        })
    }

    /// A number of outstanding commands, at least 1.
    ///
    /// # Errors
    /// [`RunError::Usage`] for other text.
    pub fn queue_depth(&self, name: &str) -> Result<u32, RunError> {
        match self.get(name)? {
            0 => Err(RunError::Usage(format!(
                "`--set {name}=0`: the queue depth is 0, but it must \
                be at least 1"
            ))),
            queue_depth => Ok(queue_depth),
        }
    }

    /// A number of repetitions, at least 1: otherwise there would be no measurement.
    ///
    /// # Errors
    /// [`RunError::Usage`] for text that is no number above 0.
    pub fn count(&self, name: &str) -> Result<u32, RunError> {
        match self.get(name)? {
            0 => Err(RunError::Usage(format!(
                "`--set {name}=0` would measure nothing; expected at least 1"
            ))),
            count => Ok(count),
        }
    }

    /// A list of values separated by commas, without gaps and without equal values: figures are
    /// named after the value, so that the second would replace the first.
    ///
    /// # Errors
    /// [`RunError::Usage`] if one of them is no `T`, or occurs twice.
    pub fn list<T: FromStr + PartialEq>(&self, name: &str) -> Result<Vec<T>, RunError>
    where
        T::Err: Display + 'static,
    {
        let text: String = self.get(name)?;
        let parse = |part: &str| part.trim().parse().map_err(|error| unusable(name, &text, &error));
        let values: Vec<T> = text.split(',').map(parse).collect::<Result<_, _>>()?;
        let repeated = |(index, _): &(usize, &str)| values[..*index].contains(&values[*index]);
        match text.split(',').enumerate().find(repeated) {
            Some((_, part)) => Err(RunError::Usage(format!(
                "`--set {name}={}` has the value {} twice; expected each one once",
                shortened(&text),
                shortened(part.trim())
            ))),
            None => Ok(values),
        }
    }

    /// A list of some of these words.
    ///
    /// # Errors
    /// [`RunError::Usage`] for another word, and as [`Params::list`].
    pub fn words(&self, name: &str, known: &[&str]) -> Result<Vec<String>, RunError> {
        let words: Vec<String> = self.list(name)?;
        match words.iter().find(|word| !known.contains(&word.as_str())) {
            None => Ok(words),
            Some(word) => Err(RunError::Usage(format!(
                "`--set {name}={}` has `{word}`; expected some of {}",
                self.text(name),
                known.join(", ")
            ))),
        }
    }

    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.values.iter().map(|(name, value)| (*name, value.as_str()))
    }
}

/// The standard library's messages for numbers contain neither the expectation nor an example.
fn unusable<E: Display + 'static>(name: &str, text: &str, error: &E) -> RunError {
    let words = error.to_string();
    let error: &dyn Any = error;
    let reason = match error.downcast_ref::<ParseIntError>().map(ParseIntError::kind) {
        Some(IntErrorKind::PosOverflow) => "the number is too large".to_owned(),
        Some(_) => "expected a whole number such as 7".to_owned(),
        None if error.is::<ParseBoolError>() => "expected true or false".to_owned(),
        None => words,
    };
    RunError::Usage(format!("`--set {name}={}` cannot be used: {reason}", shortened(text)))
}

fn unknown(declared: &[Param], name: &str, text: &str) -> RunError {
    let (name, text) = (&shortened(name), shortened(text));
    let names: Vec<_> = declared.iter().map(|param| param.name).collect();
    let nearest = names.iter().min_by_key(|known| levenshtein(known, name));
    let hint = nearest.filter(|known| levenshtein(known, name) <= 3).map_or_else(
        || format!("known are {}", names.join(", ")),
        |known| format!("did you mean `--set {known}={text}`? Known are {}", names.join(", ")),
    );
    RunError::Usage(format!("`--set {name}={text}`: there is no parameter `{name}`; {hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Nanos;

    const DECLARED: [Param; 2] = [
        Param { name: "duration", default: "2000s", help: "length" },
        Param { name: "fill", default: "true", help: "fill first" },
    ];

    fn set(name: &str, value: &str) -> Result<Params, RunError> {
        Params::new(&DECLARED, &[(name.to_owned(), value.to_owned())])
    }

    #[test]
    fn a_slip_gets_the_nearest_name() {
        let error = set("durations", "60").unwrap_err().to_string();
        assert!(error.contains("did you mean `--set duration=60`"), "{error}");
        let error = set("colour", "red").unwrap_err().to_string();
        assert!(error.contains("known are duration, fill"), "{error}");
    }

    #[test]
    fn a_setting_given_twice_is_refused_with_both_values() {
        let settings = ["5s", "6s"].map(|value| ("duration".to_owned(), value.to_owned()));
        let error = Params::new(&DECLARED, &settings).unwrap_err().to_string();
        assert!(error.contains("`--set duration=5s` and `--set duration=6s`"), "{error}");
    }

    #[test]
    fn a_list_has_each_value_once() {
        let declared = [Param { name: "sizes", default: "4KiB,8KiB", help: "sizes" }];
        let list = |value: &str| {
            let settings = [("sizes".to_owned(), value.to_owned())];
            Params::new(&declared, &settings).unwrap().list::<Bytes>("sizes")
        };
        assert_eq!(list("8KiB, 4KiB").unwrap(), [Bytes(8192), Bytes(4096)]);
        for (text, twice) in [("1,1", "1 twice"), ("4KiB,8KiB,4096B", "4096B twice")] {
            let error = list(text).unwrap_err().to_string();
            assert!(error.contains(&format!("`--set sizes={text}`")), "{error}");
            assert!(error.contains(twice), "{error}");
        }
    }

    #[test]
    fn numbers_flags_and_pauses_say_what_was_expected() {
        let slip = |text: &str| {
            let params = set("duration", text).unwrap();
            let error = |result: Result<(), RunError>| result.unwrap_err().to_string();
            [
                error(params.get::<u32>("duration").map(|_| ())),
                error(params.get::<bool>("duration").map(|_| ())),
                error(params.pause("duration").map(|_| ())),
            ]
        };
        let [number, flag, pause] = slip("-3");
        assert!(number.ends_with("expected a whole number such as 7"), "{number}");
        assert!(
            flag.ends_with("`--set duration=-3` cannot be used: expected true or false"),
            "{flag}"
        );
        assert!(pause.contains("such as `60s`"), "{pause}");
        assert!(slip("99999999999")[0].ends_with("too large"));
        assert!(slip("31d")[2].contains("at most 30d"));
        assert_eq!(set("duration", "0s").unwrap().pause("duration").unwrap(), Nanos(0));
    }

    #[test]
    fn a_bad_value_names_itself_and_what_was_expected() {
        let error = set("duration", "60").unwrap().get::<Nanos>("duration").unwrap_err();
        assert!(error.to_string().contains("`--set duration=60`"), "{error}");
        assert!(error.to_string().contains("such as `60s`"), "{error}");
        assert_eq!(
            set("fill", "false").unwrap().get::<Nanos>("duration").unwrap().0,
            2_000_000_000_000
        );
    }
}
