//! Fingerprints: published claims about drives as data.
//!
//! ```toml
//! heading = "SanDisk Extreme Pro"
//!
//! [[fingerprint]]
//! id = "extreme-pro-960-phases"
//! claim = "Begins near 10K IOPS, rises above 50K and holds to about 800 s."
//! source = "AT 8170"
//! role = "fitted"
//! drive = "sandisk-extreme-pro-960gb"
//! test = "consistency"
//! expect = ["start in 8000..13000", "high > 50000", "fall in 650..950"]
//! figures.start = { iops = "mean", seconds = "2..20" }
//! figures.high = { iops = "mean", seconds = "300..600" }
//! figures.fall = { fall_below_iops = 30000 }
//! ```
//!
//! A figure may name its own `drive`, `test`, `settings`, `spare`, `values` (of the model) and `scale`: the size of the
//! drive as a share of full size, for figures that a smaller drive has as well ([`Figure::keeps_at_scale`]).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use base::Ratio;
use run::Test;
use serde::Deserialize;

use crate::cell::{Cell, Pairs};
use crate::expectation::{Expectation, is_name};
use crate::figure::{Figure, FigureText};
use crate::role::Role;

/// The fingerprints of a file.
#[derive(Clone, Debug)]
pub struct Theme {
    /// Its heading on the page.
    pub heading: String,
    /// Its fingerprints, in order.
    pub fingerprints: Vec<Fingerprint>,
}

/// A published claim and its measurement.
#[derive(Clone, Debug)]
pub struct Fingerprint {
    /// Short name, unique among all.
    pub id: String,
    /// The claim as published, in one sentence.
    pub claim: String,
    /// The publication.
    pub source: String,
    /// Its figures by name.
    pub figures: BTreeMap<String, Measurement>,
    /// Comparisons of the figures that the claim amounts to.
    pub expectations: Vec<Expectation>,
    /// The part that the claim had in making the models.
    pub role: Role,
    /// The mechanism that the models lack, or `None` if the claim holds.
    pub missing: Option<String>,
}

/// A figure of a run.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// The run.
    pub cell: Cell,
    pub figure: Figure,
}

/// A fault of a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {message}")]
pub struct ClaimError {
    file: String,
    message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ThemeText {
    heading: String,
    fingerprint: Vec<FingerprintText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FingerprintText {
    id: String,
    claim: String,
    source: String,
    expect: Vec<String>,
    figures: BTreeMap<String, toml::Table>,
    role: Role,
    missing: Option<String>,
    #[serde(flatten)]
    run: RunText,
}

/// The run of a figure; what a figure lacks is that of its fingerprint.
#[derive(Clone, Default, Deserialize)]
struct RunText {
    drive: Option<String>,
    test: Option<String>,
    settings: Option<toml::Table>,
    spare: Option<String>,
    values: Option<toml::Table>,
    scale: Option<String>,
}

/// The keys of a [`RunText`].
const RUN_KEYS: [&str; 6] = ["drive", "test", "settings", "spare", "values", "scale"];

impl Theme {
    /// Reads all files of a directory, in the order of their names.
    ///
    /// # Errors
    /// [`ClaimError`] for a file that cannot be read or has a fault, and for an id in two places.
    pub fn read_all(dir: &Path) -> Result<Vec<Self>, ClaimError> {
        let fail = |file: &Path, message: String| {
            let file = file.display().to_string();
            ClaimError { file, message }
        };
        let entries = fs::read_dir(dir).map_err(|error| fail(dir, error.to_string()))?;
        let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        files.sort();
        let (mut themes, mut ids) = (Vec::new(), BTreeSet::new());
        for file in files {
            let text = fs::read_to_string(&file).map_err(|error| fail(&file, error.to_string()))?;
            let theme = Self::read(&file.display().to_string(), &text)?;
            let twice = theme.fingerprints.iter().find(|one| !ids.insert(one.id.clone()));
            if let Some(Fingerprint { id, .. }) = twice {
                return Err(fail(&file, format!("`{id}`: another fingerprint has this id")));
            }
            themes.push(theme);
        }
        Ok(themes)
    }

    /// Reads the text of a file; its name is for messages.
    ///
    /// # Errors
    /// [`ClaimError`] with the fingerprint, the figure and the rule.
    pub fn read(file: &str, text: &str) -> Result<Self, ClaimError> {
        let fail = |message: String| ClaimError { file: file.to_owned(), message };
        let text: ThemeText = toml::from_str(text).map_err(|error| fail(error.to_string()))?;
        let read = |text: FingerprintText| {
            let id = text.id.clone();
            Fingerprint::read(text).map_err(|message| fail(format!("`{id}`: {message}")))
        };
        let fingerprints = text.fingerprint.into_iter().map(read).collect::<Result<_, _>>()?;
        Ok(Self { heading: text.heading, fingerprints })
    }
}

impl Fingerprint {
    fn read(text: FingerprintText) -> Result<Self, String> {
        let measured = |(name, figure): (String, toml::Table)| {
            let measurement = Measurement::read(figure, &text.run);
            let message = |message| format!("figure `{name}`: {message}");
            measurement.map_err(message).map(|measurement| (name, measurement))
        };
        let figures: BTreeMap<String, Measurement> =
            text.figures.into_iter().map(measured).collect::<Result<_, _>>()?;
        let parse = |text: &String| text.parse().map_err(|error| format!("{error}"));
        let expectations: Vec<Expectation> =
            text.expect.iter().map(parse).collect::<Result<_, _>>()?;
        check_names(&figures, &expectations)?;
        Ok(Self {
            role: text.role,
            id: text.id,
            claim: text.claim,
            source: text.source,
            figures,
            expectations,
            missing: text.missing,
        })
    }
}

/// Makes sure that expectations name figures, and that each figure is in use.
fn check_names(
    figures: &BTreeMap<String, Measurement>,
    expectations: &[Expectation],
) -> Result<(), String> {
    let used: Vec<&str> = expectations.iter().flat_map(Expectation::figures).collect();
    if let Some(name) = used.iter().find(|name| !figures.contains_key(**name)) {
        return Err(format!("an expectation names `{name}`, which is no figure"));
    }
    match figures.keys().find(|name| !used.contains(&name.as_str()) || !is_name(name)) {
        Some(name) => Err(format!("no expectation can name the figure `{name}`")),
        None if expectations.is_empty() => Err("it expects nothing".to_owned()),
        None => Ok(()),
    }
}

impl Measurement {
    fn read(mut table: toml::Table, general: &RunText) -> Result<Self, String> {
        let own = RUN_KEYS.iter().filter_map(|key| table.remove_entry(*key)).collect();
        let own: RunText = toml::Value::Table(own).try_into().map_err(message)?;
        let figure: FigureText = toml::Value::Table(table).try_into().map_err(message)?;
        let of = |own: Option<String>, general: &Option<String>| own.or_else(|| general.clone());
        let drive = of(own.drive, &general.drive).ok_or("it names no `drive`")?;
        let test = of(own.test, &general.test).ok_or("it names no `test`")?;
        test.parse::<Test>().map_err(|_| format!("there is no test `{test}`"))?;
        let settings = own.settings.or_else(|| general.settings.clone());
        let values = own.values.or_else(|| general.values.clone());
        let spare = of(own.spare, &general.spare).filter(|spare| spare != "default");
        let scale = of(own.scale, &general.scale);
        let ratio = |text: &String| text.parse::<Ratio>().map_err(|error| error.to_string());
        scale.as_ref().map(ratio).transpose()?;
        let figure: Figure = figure.try_into()?;
        if scale.is_some() && !figure.keeps_at_scale() {
            return Err("a smaller drive has another value: no `scale`".to_owned());
        }
        let (settings, values) = (pairs(settings), pairs(values));
        let cell = Cell { drive, values, test, settings, spare, scale };
        Ok(Self { cell, figure })
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the form of map_err")]
fn message(error: toml::de::Error) -> String {
    error.message().to_owned()
}

fn pairs(table: Option<toml::Table>) -> Pairs {
    let text = |value: toml::Value| match value {
        toml::Value::String(text) => text,
        other => other.to_string(),
    };
    table.into_iter().flatten().map(|(key, value)| (key, text(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: &str = "
        heading = 'H'
        [[fingerprint]]
        id = 'one'
        claim = 'A is higher.'
        source = 'AT 1'
        role = 'predicted'
        drive = 'a'
        test = 'consistency'
        settings = { queue_depth = 8 }
        expect = ['high > low']
        figures.high = { metric = 'iops_steady_mean', spare = '25%' }
        figures.low = { metric = 'iops_steady_mean', drive = 'b', settings = {}, scale = '1/2' }
    ";

    #[test]
    fn a_figure_takes_what_it_lacks_from_its_fingerprint() {
        let theme = Theme::read("f.toml", SOUND).unwrap();
        let fingerprint = &theme.fingerprints[0];
        let cells: Vec<_> = fingerprint
            .figures
            .iter()
            .map(|(name, measurement)| (name.as_str(), measurement.cell.clone()))
            .collect();
        let [("high", high), ("low", low)] = &cells[..] else { panic!("{cells:?}") };
        assert_eq!((high.drive.as_str(), high.spare.as_deref()), ("a", Some("25%")));
        assert_eq!(high.settings, [("queue_depth".to_owned(), "8".to_owned())]);
        assert_eq!((low.drive.as_str(), &low.spare, low.settings.len()), ("b", &None, 0));
        assert_eq!((high.scale.as_deref(), low.scale.as_deref()), (None, Some("1/2")));
    }

    #[test]
    fn faults_name_file_fingerprint_and_figure() {
        let faults = [
            ("high > low", "high > other", "names `other`"),
            ("high > low", "high > 5", "no expectation can name the figure `low`"),
            ("high > low", "high >> low", "`one`: `high >> low` is no expectation"),
            (
                "iops_steady_mean",
                "iops_mood",
                "figure `high`: the catalogue has no metric `iops_mood`",
            ),
            (
                "iops_steady_mean', spare = '25%'",
                "iops_steady_cv', scale = '1/8'",
                "figure `high`: a smaller drive has another value",
            ),
            ("'consistency'", "'mood'", "there is no test `mood`"),
            ("drive = 'a'", "", "figure `high`: it names no `drive`"),
            ("spare = '25%'", "spare_area = '25%'", "unknown field `spare_area`"),
            ("source = 'AT 1'", "", "missing field `source`"),
            ("'predicted'", "'likely'", "unknown variant `likely`"),
        ];
        for (from, to, fault) in faults {
            let error = Theme::read("f.toml", &SOUND.replace(from, to)).unwrap_err().to_string();
            assert!(error.starts_with("f.toml: ") && error.contains(fault), "{error}");
        }
    }
}
