//! The expectations of a fingerprint: comparisons of its figures.
//!
//! ```text
//! start in 8000..12000           a band
//! end in 0.9..1.1 * start        a band around another figure
//! high > 50000                   a bound
//! toggle > 1.2 * sync            a ratio, or an order with the factor 1
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// The figures of a fingerprint by name; `None` for a figure that the run does not know.
pub type NamedValues = BTreeMap<String, Option<f64>>;

/// A comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    text: String,
    figure: String,
    rule: Rule,
    /// The figure that the numbers of the rule multiply, or `None` for absolute numbers.
    unit: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Rule {
    Above(f64),
    Below(f64),
    Within(f64, f64),
}

/// The text is no expectation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no expectation; write `A > B`, `A < 1.2 * B`, `A > 5000`, `A in 1..2` or `A in 1..2 * B`"
)]
pub struct Unreadable(String);

impl FromStr for Expectation {
    type Err = Unreadable;

    fn from_str(text: &str) -> Result<Self, Unreadable> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let parsed = match words[..] {
            [figure, relation, numbers] => match rule(relation, numbers) {
                Some(rule) => Some((figure, rule, None)),
                None => rule(relation, "1").map(|rule| (figure, rule, Some(numbers))),
            },
            [figure, relation, numbers, "*", unit] => {
                rule(relation, numbers).map(|rule| (figure, rule, Some(unit)))
            }
            _ => None,
        };
        let names = |(figure, _, unit): &(&str, Rule, Option<&str>)| {
            is_name(figure) && unit.is_none_or(is_name)
        };
        let (figure, rule, unit) =
            parsed.filter(names).ok_or_else(|| Unreadable(text.to_owned()))?;
        let unit = unit.map(str::to_owned);
        Ok(Self { text: words.join(" "), figure: figure.to_owned(), rule, unit })
    }
}

/// Whether a text can be the name of a figure.
pub fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.chars().all(|char| matches!(char, 'a'..='z' | '0'..='9' | '_'))
}

fn rule(relation: &str, numbers: &str) -> Option<Rule> {
    match relation {
        ">" => numbers.parse().ok().map(Rule::Above),
        "<" => numbers.parse().ok().map(Rule::Below),
        "in" => {
            let (low, high) = numbers.split_once("..")?;
            let (low, high) = (low.parse().ok()?, high.parse().ok()?);
            (low < high).then_some(Rule::Within(low, high))
        }
        _ => None,
    }
}

impl Expectation {
    /// The names of its figures.
    pub fn figures(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.figure.as_str()).chain(self.unit.as_deref())
    }

    /// Whether the figures are as expected. An unknown figure is not.
    pub fn holds(&self, values: &NamedValues) -> bool {
        let value = |name: &str| values.get(name).copied().flatten();
        let unit = self.unit.as_deref().map_or(Some(1.0), value);
        let Some((value, unit)) = value(&self.figure).zip(unit) else { return false };
        match self.rule {
            Rule::Above(bound) => value > bound * unit,
            Rule::Below(bound) => value < bound * unit,
            Rule::Within(low, high) => (low * unit..=high * unit).contains(&value),
        }
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_are_read_and_judged() {
        let values = [("a", Some(10.0)), ("b", Some(8.0)), ("none", None)];
        let values: NamedValues = values.map(|(name, value)| (name.to_owned(), value)).into();
        let cases = [
            ("a > b", true),
            ("b > a", false),
            ("a > 1.2 * b", true),
            ("a > 1.3 * b", false),
            ("a < 10.5", true),
            ("a < 9", false),
            ("a in 9..11", true),
            ("a in 11..12", false),
            ("a in 1.2..1.3 * b", true),
            ("b in 1.2..1.3 * a", false),
            ("none > 1", false),
            ("a > none", false),
        ];
        for (text, holds) in cases {
            let expectation: Expectation = text.parse().unwrap();
            assert_eq!(expectation.holds(&values), holds, "{text}");
            assert_eq!(expectation.to_string(), text);
        }
        let ratio: Expectation = "a > 2 * b".parse().unwrap();
        assert_eq!(ratio.figures().collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn other_texts_are_refused() {
        let wrong =
            ["", "a", "a >", "a = b", "a > 2 b", "a in 3..2", "A > b", "a > 2 * 3", "1 > a"];
        for text in wrong {
            assert!(text.parse::<Expectation>().is_err(), "{text}");
        }
    }
}
