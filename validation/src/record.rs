//! The record of simulated figures, `drives/simulated.csv`: what the runs of earlier versions gave.
//!
//! Full size takes hours, and runs are not in the repository. A line holds a figure of a claim, the version of the
//! simulator that gave it (the object of `crates/sim/src` in git: `git log --find-object=VERSION -t`), and the key of its
//! run. Where there is no run, a claim is judged by its lines, and the page says from which version they are and whether
//! the model has other values now.

use std::collections::BTreeMap;

use crate::cell::Cell;
use crate::store::run_key;

pub const FILE: &str = "drives/simulated.csv";

const HEAD: &str = "claim,figure,value,run,version";

/// The figures of earlier versions, by claim and name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FigureRecord {
    lines: BTreeMap<(String, String), Line>,
}

/// A figure.
#[derive(Clone, Debug, PartialEq)]
struct Line {
    /// The figure, or `None` if the run does not know it.
    value: Option<f64>,
    /// The key of the run.
    run: String,
    /// The version of the simulator.
    version: String,
}

/// A figure of an earlier version.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedFigure {
    /// The figure, or `None` if the run did not know it.
    pub value: Option<f64>,
    /// The version, and whether model or command are others now.
    pub origin: FigureOrigin,
}

/// The origin of a figure without a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FigureOrigin {
    /// The version of the simulator.
    pub version: String,
    /// Whether model or command have other values now.
    pub is_of_another_model: bool,
}

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{FILE}: `{0}` has not the five columns {HEAD}")]
pub struct Unreadable(String);

impl FigureRecord {
    /// Reads the text of the file.
    ///
    /// # Errors
    /// [`Unreadable`] with the line.
    pub fn read(text: &str) -> Result<Self, Unreadable> {
        let lines = text.lines().filter(|line| *line != HEAD && !line.is_empty());
        let read = |line: &str| parse(line).ok_or_else(|| Unreadable(line.to_owned()));
        Ok(Self { lines: lines.map(read).collect::<Result<_, _>>()? })
    }

    /// The figure of a claim whose run is this cell's, or `None` if no version simulated it.
    pub fn recall(&self, claim: &str, figure: &str, cell: &Cell) -> Option<RecordedFigure> {
        let line = self.lines.get(&(claim.to_owned(), figure.to_owned()))?;
        let is_of_another_model = run_key(cell).is_none_or(|run| run != line.run);
        let origin = FigureOrigin { version: line.version.clone(), is_of_another_model };
        Some(RecordedFigure { value: line.value, origin })
    }

    /// Notes the figure that a run of this version gives. A line that says the same keeps its version.
    pub fn note(
        &mut self,
        claim: &str,
        figure: &str,
        cell: &Cell,
        value: Option<f64>,
        version: &str,
    ) {
        let Some(run) = run_key(cell) else { return };
        let place = (claim.to_owned(), figure.to_owned());
        let known = self.lines.get(&place);
        if known.is_none_or(|line| line.run != run || line.value != value) {
            self.lines.insert(place, Line { value, run, version: version.to_owned() });
        }
    }

    /// Leaves out the figures that no claim has.
    pub fn retain(&mut self, is_in_use: impl Fn(&str, &str) -> bool) {
        self.lines.retain(|(claim, figure), _| is_in_use(claim, figure));
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let line = |((claim, figure), line): (&(String, String), &Line)| {
            let value = line.value.map(|value| value.to_string()).unwrap_or_default();
            format!("{claim},{figure},{value},{},{}\n", line.run, line.version)
        };
        format!("{HEAD}\n") + &self.lines.iter().map(line).collect::<String>()
    }
}

fn parse(text: &str) -> Option<((String, String), Line)> {
    let columns: Vec<&str> = text.split(',').collect();
    let [claim, figure, value, run, version] = columns[..] else { return None };
    let value = if value.is_empty() { None } else { Some(value.parse().ok()?) };
    let line = Line { value, run: run.to_owned(), version: version.to_owned() };
    Some(((claim.to_owned(), figure.to_owned()), line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(drive: &str) -> Cell {
        Cell {
            drive: drive.to_owned(),
            values: Vec::new(),
            test: "linear".to_owned(),
            settings: Vec::new(),
            spare: None,
            scale: None,
        }
    }

    #[test]
    fn a_figure_says_its_version_and_whether_its_model_is_another_now() {
        let m4 = cell("crucial-m4-128gb");
        let mut record = FigureRecord::default();
        record.note("claim", "rate", &m4, Some(175.25), "one");
        record.note("claim", "none", &m4, None, "one");
        record.note("claim", "rate", &m4, Some(175.25), "two");
        let read = FigureRecord::read(&record.text()).unwrap();
        assert_eq!(read, record);
        let of = |figure: &str, cell: &Cell| read.recall("claim", figure, cell).unwrap();
        assert_eq!(of("rate", &m4).value, Some(175.25));
        assert_eq!(of("none", &m4).value, None);
        assert_eq!(of("rate", &m4).origin.version, "one", "it says the same");
        assert!(!of("rate", &m4).origin.is_of_another_model);
        assert!(of("rate", &m4.with_value("gc.free_low", "4")).origin.is_of_another_model);
        assert!(of("rate", &cell("nobody")).origin.is_of_another_model);
        assert_eq!(read.recall("claim", "other", &m4), None);
        record.note("claim", "rate", &m4, Some(174.0), "two");
        record.retain(|_, figure| figure == "rate");
        assert_eq!(record.text().lines().count(), 2);
        assert!(record.text().ends_with(",two\n"));
    }

    #[test]
    fn lines_without_five_columns_or_a_number_are_refused() {
        for line in ["a,b,1,x", "a,b,c,x,y", "a,b,1,x,y,z"] {
            assert!(FigureRecord::read(line).unwrap_err().to_string().contains(line));
        }
    }
}
