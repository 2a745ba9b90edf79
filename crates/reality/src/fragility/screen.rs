//! Screens: the runs of claims in short, on small drives, for the effect of a changed value. A changed run at full
//! size takes up to minutes, and there are thousands.
//!
//! A screen tells by which share changes alter a figure. It does not tell the figure itself: a small drive is no small
//! copy of a large one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::change::Change;
use crate::cell::Cell;
use crate::claim::Fingerprint;
use crate::figure::Figure;

/// The screen of a test: the denominator of its scale, and settings over those of its runs.
struct Short {
    test: &'static str,
    denominator: u64,
    settings: &'static str,
}

/// Runs of a second or two. The times of `consistency` shrink with the drive.
const SCREENS: [Short; 10] = [
    Short { test: "consistency", denominator: 128, settings: "" },
    Short { test: "corners", denominator: 64, settings: "time=1s sequential_time=1s" },
    Short { test: "destroyer", denominator: 64, settings: "part=1/640" },
    Short { test: "heavy", denominator: 64, settings: "part=1/640" },
    Short { test: "incompressible", denominator: 64, settings: "time=1s" },
    Short { test: "linear", denominator: 64, settings: "" },
    Short { test: "power", denominator: 64, settings: "settle=1s rest=1s time=1s" },
    Short { test: "pslc", denominator: 8, settings: "write_bytes=2GiB burst_bytes=512MiB" },
    Short { test: "sweep", denominator: 64, settings: "sweep_span=64MiB" },
    Short { test: "trim", denominator: 64, settings: "torture=20s" },
];

/// The denominator of the scale for drives so large that their runs are at a scale of their own.
const DENOMINATOR_OF_LARGE: u64 = 1_024;

/// The figures that claims take from a short run, or `None` if it is refused.
type Outcome = Option<Arc<Vec<(Figure, Option<f64>)>>>;

/// The screens of some claims, each done once.
#[derive(Debug)]
pub struct Screens {
    /// The figures that claims take from the runs of a cell.
    figures: BTreeMap<Cell, Vec<Figure>>,
    done: Mutex<BTreeMap<Cell, Outcome>>,
}

impl Screens {
    /// The screens of these claims.
    #[must_use]
    pub fn new(fingerprints: &[&Fingerprint]) -> Self {
        let mut figures = BTreeMap::<Cell, Vec<Figure>>::new();
        for (_, measured) in fingerprints.iter().flat_map(|one| one.measurements(None)) {
            let known = figures.entry(measured.cell).or_default();
            if !known.contains(&measured.figure) {
                known.push(measured.figure);
            }
        }
        Self { figures, done: Mutex::default() }
    }

    /// The number of short runs so far.
    #[must_use]
    pub fn count(&self) -> usize {
        lock(&self.done).len()
    }

    /// The share by which changes together alter a figure of a run in short, or `None` if a short run does not have it.
    #[must_use]
    pub fn effect(&self, cell: &Cell, figure: &Figure, changes: &[Change]) -> Option<f64> {
        let of = |run: Outcome| run?.iter().find(|(known, _)| known == figure)?.1;
        let own = of(self.run(cell, &[]))?;
        let other = of(self.run(cell, changes))?;
        if own.to_bits() == other.to_bits() {
            return Some(0.0);
        }
        (own != 0.0).then(|| other / own - 1.0)
    }

    /// Whether the model takes a change.
    #[must_use]
    pub fn is_accepted(&self, cell: &Cell, change: &Change) -> bool {
        let changed = |cell: Cell| cell.with_value(&change.key, &change.value.to_string());
        short(cell).map(changed).is_some_and(|cell| cell.open().is_ok())
    }

    /// A short run with changes.
    fn run(&self, cell: &Cell, changes: &[Change]) -> Outcome {
        let changed = changes.iter().fold(short(cell)?, |cell, change| {
            cell.with_value(&change.key, &change.value.to_string())
        });
        if let Some(done) = lock(&self.done).get(&changed) {
            return done.clone();
        }
        let figures = self.figures.get(cell).map_or(&[][..], Vec::as_slice);
        let outcome = screened(&changed, figures);
        lock(&self.done).insert(changed, outcome.clone());
        outcome
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The run in short, or `None` if its test has no screen.
fn short(cell: &Cell) -> Option<Cell> {
    let Short { denominator, settings, .. } =
        SCREENS.iter().find(|screen| screen.test == cell.test)?;
    let denominator = if cell.scale.is_some() { DENOMINATOR_OF_LARGE } else { *denominator };
    Some(cell.shortened(format!("1/{denominator}"), settings))
}

fn screened(cell: &Cell, figures: &[Figure]) -> Outcome {
    let library = tempfile::tempdir().ok()?;
    let run = cell.run(library.path()).ok()?;
    let value = |figure: &Figure| Some((figure.clone(), figure.of(&run, cell.time_scale()).ok()?));
    Some(Arc::new(figures.iter().filter_map(value).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Theme;

    fn change(key: &str, value: i64) -> Change {
        let drive = "kingston-dc500m-480gb".to_owned();
        Change { drive, key: key.to_owned(), value, is_raised: true }
    }

    #[test]
    fn effects_are_those_of_all_changes_of_a_run_that_is_done_once() {
        let text = "heading = 'h'\n[[fingerprint]]\nid = 'x'\nclaim = 'c'\nsource = 's'\n\
                    drive = 'kingston-dc500m-480gb'\ntest = 'linear'\nexpect = ['rate > 1']\n\
                    figures.rate = { mb_per_s = 'mean', phase = 'write' }\n";
        let mut fingerprint = Theme::read("x", text).unwrap().fingerprints.remove(0);
        let rate = fingerprint.figures.get_mut("rate").unwrap();
        rate.cell.scale = Some("1/1024".to_owned());
        let (cell, figure) = (rate.cell.clone(), rate.figure.clone());
        let screens = Screens::new(&[&fingerprint]);
        let link = change("interface.link_write_bytes_per_s", 260_000_000);
        let unused = change("gc.candidates", 11);
        let effect = |changes: &[Change]| screens.effect(&cell, &figure, changes);
        assert_eq!(effect(std::slice::from_ref(&unused)), Some(0.0));
        let half = effect(&[unused.clone(), link.clone()]).unwrap();
        assert!(half < -0.1, "{half}");
        assert_eq!(effect(&[unused.clone(), link]), Some(half));
        assert_eq!(screens.count(), 3);
        assert!(screens.is_accepted(&cell, &unused));
        assert!(!screens.is_accepted(&cell, &change("nand.planes", 0)));
        let other = Figure::Metric("linear.read.mb_per_s".to_owned());
        assert_eq!(screens.effect(&cell, &other, &[unused]), None, "no claim takes this figure");
    }
}
