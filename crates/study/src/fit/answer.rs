//! The answer of a fit.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// A fitted model, or the closest one that does not explain the runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fit {
    /// The base model: a built-in name, or the path of a file.
    pub base: String,
    /// Simulated share of the drive.
    pub scale: String,
    /// The values that the runs could tell about.
    pub estimates: Vec<Estimate>,
    /// Values that are words.
    pub choices: Vec<Choice>,
    /// Figures of the runs beside those of the model, also of the runs that were held out.
    pub residuals: Vec<Residual>,
    /// The fitted values by their names in a drive model.
    pub settings: BTreeMap<String, String>,
    /// Whether the base model as it is explains the runs: no figure, latencies of the steady state aside, is beyond its
    /// permitted error. Then a fitted one says little more.
    pub base_explains: bool,
    /// Simulations that were made.
    pub simulations: usize,
    /// The runs that were used.
    pub runs: Vec<String>,
    /// The tests of these runs.
    pub tests: Vec<String>,
    /// The reason against the model, or `None` if it explains the runs.
    pub refusal: Option<Refusal>,
}

/// A value of the model.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Estimate {
    pub name: String,
    /// Its key in a model file.
    pub key: String,
    /// The estimate. Of a value that the runs do not determine it is that of the base model, unless the
    /// figures tell it together with others: then it is one that fits.
    pub value: f64,
    /// Lower end of the 95% interval, or `None` if the runs do not determine it.
    pub low: Option<f64>,
    /// Upper end, or `None` if the runs do not determine it.
    pub high: Option<f64>,
    /// Whether the runs determine it.
    pub determined: bool,
}

/// A value of the model that is a word.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Choice {
    pub name: String,
    /// Its key in a model file.
    pub key: String,
    /// The choice, or the word of the base model if the runs do not determine it.
    pub value: String,
    /// Whether the runs determine it.
    pub determined: bool,
}

/// A figure of a run beside that of the model.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Residual {
    pub run: String,
    pub figure: String,
    /// In the run.
    pub measured: f64,
    /// On the model, or `None` if the model has no such figure.
    pub model: Option<f64>,
    /// The relative error that is permitted.
    pub permitted: f64,
    /// Whether the fit did not use the run.
    pub held_out: bool,
}

/// A reason against a model.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Refusal {
    /// A stable word: `no-model` or `no-cleaning`.
    pub reason: String,
    /// The reason in a sentence.
    pub message: String,
}

impl Residual {
    /// Relative error of the model; 1 for a figure that it does not have.
    pub fn error(&self) -> f64 {
        self.model.map_or(1.0, |model| model / self.measured - 1.0)
    }

    /// The error over the permitted one, of their logarithms: twice a time is as far from it as half of it. Infinite
    /// for a figure that the model does not have.
    pub fn excess(&self) -> f64 {
        let of = |model: f64| (model / self.measured).ln().abs() / self.permitted.ln_1p();
        self.model.map_or(f64::INFINITY, of)
    }
}

impl Fit {
    /// The names of the values that the runs do not determine.
    pub fn undetermined(&self) -> impl Iterator<Item = &str> {
        let estimates = self.estimates.iter().map(|it| (&it.name, it.determined));
        let choices = self.choices.iter().map(|it| (&it.name, it.determined));
        estimates
            .chain(choices)
            .filter(|(_, determined)| !determined)
            .map(|(name, _)| name.as_str())
    }

    /// The fitted drive as a model file that extends the base model.
    pub fn to_toml(&self, name: &str) -> String {
        let (runs, tests, scale) = (self.runs.len(), self.tests.join(", "), &self.scale);
        let source = format!("fitted: {runs} runs ({tests}) on simulations of {scale}");
        let path = Path::new(&self.base);
        let is_file = path.extension().is_some_and(|end| end == "toml");
        let base = path.file_name().filter(|_| is_file).map(|name| name.to_string_lossy());
        let base = base.as_deref().unwrap_or(&self.base);
        let mut text = format!("name = {}\nextends = {}\n", quoted(name), quoted(base));
        let mut table = "";
        for (key, value) in &self.settings {
            let Some((section, key)) = key.split_once('.') else { continue };
            if section == "host" {
                let _ = writeln!(text, "# Measured behind a host with `host.{key}={value}`.");
                continue;
            }
            if section != table {
                table = section;
                let _ = write!(text, "\n[{table}]\n");
            }
            let is_number = value.parse::<u64>().is_ok();
            let value = if is_number { value.clone() } else { quoted(value) };
            let _ = writeln!(text, "{key} = {{ value = {value}, from = {} }}", quoted(&source));
        }
        text
    }
}

/// A text as a TOML string.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excess(model: Option<f64>) -> f64 {
        let (run, figure) = ("run".to_owned(), "latency_steady_ns_p99".to_owned());
        Residual { run, figure, measured: 1000.0, model, permitted: 1.0, held_out: false }.excess()
    }

    #[test]
    fn half_of_a_time_is_as_far_from_it_as_twice() {
        assert!((excess(Some(2000.0)) - 1.0).abs() < 1e-12);
        assert!((excess(Some(500.0)) - 1.0).abs() < 1e-12);
        assert!(excess(Some(1000.0)) < 1e-12);
        assert!(excess(None).is_infinite());
    }
}
