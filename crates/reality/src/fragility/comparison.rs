//! Screens beside full size, `drives/screens.csv`: the effects of changes on figures in short and in full, a line for
//! each figure of a changed run at full size. They show whether the room that a screen leaves for the effect at full
//! size suffices.

use std::collections::{BTreeMap, BTreeSet};

use crate::figure::Figure;

/// The file.
pub const FILE: &str = "drives/screens.csv";

const HEAD: &str = "claim,figure,kind,change,screened,full_size,version";

/// The factor of safety on an effect at small scale.
const SAFETY: f64 = 2.0;

/// The error of a rate with an effect beyond that, as a share of it.
const MARGIN: f64 = 0.01;

/// The same for each figure that a small drive does not keep, with an effect or without.
const MARGIN_OF_DISTORTED: f64 = 0.25;

/// The effects on evenness to reckon with, whatever a screen shows: a quarter to four times.
const ROOM_OF_EVENNESS: (f64, f64) = (-0.75, 3.0);

/// A kind of figure, by what a small drive makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A rate, share or power, which a small drive nearly keeps.
    Rate,
    /// Latency, times and means of a part of a run, which it does not.
    Distorted,
    /// Evenness, which depends on the place of steps of a mechanism among the seconds: a small drive tells little.
    Evenness,
}

impl Kind {
    /// The kind of a figure.
    #[must_use]
    pub fn of(figure: &Figure) -> Self {
        match figure.keeps_at_scale() {
            true => Self::Rate,
            false if figure.is_evenness() => Self::Evenness,
            false => Self::Distorted,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Distorted => "distorted",
            Self::Evenness => "evenness",
        }
    }

    /// The least and the largest effect at full size to reckon with, as shares of the figure, if a screen shows
    /// `screened`. A rate that is the same to the last digit does not depend on the change.
    #[must_use]
    pub fn room(self, screened: f64) -> (f64, f64) {
        let twice = SAFETY * screened;
        let around = |margin: f64| (twice.min(0.0) - margin, twice.max(0.0) + margin);
        match self {
            Self::Rate if screened == 0.0 => (0.0, 0.0),
            Self::Rate => around(MARGIN),
            Self::Distorted => around(MARGIN_OF_DISTORTED),
            Self::Evenness => (twice.min(ROOM_OF_EVENNESS.0), twice.max(ROOM_OF_EVENNESS.1)),
        }
    }
}

/// The effects of a change on a figure of a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The short name of the claim.
    pub claim: String,
    /// The name of the figure.
    pub figure: String,
    /// Its kind.
    pub kind: Kind,
    /// The change, such as `gc.free_low=11 of NAME`.
    pub change: String,
    /// The effect in short, as a share of the figure.
    pub screened: f64,
    /// The effect at full size.
    pub full_size: f64,
}

impl Comparison {
    /// The share of the room of its screen that the effect at full size takes: above 1 it is outside.
    #[must_use]
    pub fn share_of_room(&self) -> f64 {
        let (low, high) = self.kind.room(self.screened);
        match self.full_size {
            0.0 => 0.0,
            below if below < 0.0 => below / low,
            above => above / high,
        }
    }
}

/// Comparisons by claim, figure and change, each with the version of the simulator.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparisons {
    lines: BTreeMap<[String; 3], (Comparison, String)>,
}

/// The comparisons of a kind in numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The figures of changed runs.
    pub figures: usize,
    /// The number of them whose effect at full size is within the room of the screen.
    pub contained: usize,
    /// The largest share of the room that an effect takes.
    pub worst: f64,
}

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{FILE}: `{0}` has not the seven columns {HEAD}")]
pub struct Unreadable(String);

impl Comparisons {
    /// Reads the text of the file.
    ///
    /// # Errors
    /// [`Unreadable`] with the line.
    pub fn read(text: &str) -> Result<Self, Unreadable> {
        let mut all = Self::default();
        for line in text.lines().filter(|line| *line != HEAD && !line.is_empty()) {
            let (comparison, version) = parse(line).ok_or_else(|| Unreadable(line.to_owned()))?;
            all.keep(comparison, &version);
        }
        Ok(all)
    }

    /// Keeps a comparison in the place of an earlier one.
    pub fn keep(&mut self, comparison: Comparison, version: &str) {
        let Comparison { claim, figure, change, .. } = &comparison;
        let place = [claim.clone(), figure.clone(), change.clone()];
        self.lines.insert(place, (comparison, version.to_owned()));
    }

    /// Leaves out those of other claims.
    pub fn retain(&mut self, is_claim: impl Fn(&str) -> bool) {
        self.lines.retain(|[claim, ..], _| is_claim(claim));
    }

    /// The text of the file.
    #[must_use]
    pub fn text(&self) -> String {
        let line = |(comparison, version): &(Comparison, String)| {
            let Comparison { claim, figure, kind, change, screened, full_size } = comparison;
            let kind = kind.word();
            format!("{claim},{figure},{kind},{change},{screened},{full_size},{version}\n")
        };
        format!("{HEAD}\n") + &self.lines.values().map(line).collect::<String>()
    }

    /// The number of changes that were run at full size for the sake of a claim.
    #[must_use]
    pub fn changes(&self) -> usize {
        let changes: BTreeSet<_> =
            self.lines.keys().map(|[claim, _, change]| (claim, change)).collect();
        changes.len()
    }

    /// The comparisons of a kind in numbers, or `None` if there is none.
    #[must_use]
    pub fn summary(&self, kind: Kind) -> Option<Summary> {
        let of_kind = self.lines.values().filter(|(one, _)| one.kind == kind);
        let shares: Vec<f64> = of_kind.map(|(one, _)| one.share_of_room()).collect();
        let worst = shares.iter().copied().reduce(f64::max)?;
        let contained = shares.iter().filter(|share| **share <= 1.0).count();
        Some(Summary { figures: shares.len(), contained, worst })
    }

    /// The comparisons with an effect at full size outside the room of the screen.
    pub fn outside(&self) -> impl Iterator<Item = &Comparison> {
        self.lines.values().map(|(one, _)| one).filter(|one| one.share_of_room() > 1.0)
    }
}

fn parse(text: &str) -> Option<(Comparison, String)> {
    let columns: Vec<&str> = text.split(',').collect();
    let [claim, figure, kind, change, screened, full_size, version] = columns[..] else {
        return None;
    };
    let kinds = [Kind::Rate, Kind::Distorted, Kind::Evenness];
    let kind = kinds.into_iter().find(|one| one.word() == kind)?;
    let comparison = Comparison {
        claim: claim.to_owned(),
        figure: figure.to_owned(),
        kind,
        change: change.to_owned(),
        screened: screened.parse().ok()?,
        full_size: full_size.parse().ok()?,
    };
    Some((comparison, version.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(kind: Kind, change: &str, screened: f64, full_size: f64) -> Comparison {
        let (claim, figure) = ("one".to_owned(), "rate".to_owned());
        Comparison { claim, figure, kind, change: change.to_owned(), screened, full_size }
    }

    #[test]
    fn the_room_reaches_from_no_effect_to_twice_the_screened_one() {
        let share = |kind, screened, full_size| {
            comparison(kind, "a=1 of x", screened, full_size).share_of_room()
        };
        let is_near = |share: f64, want: f64| assert!((share - want).abs() < 1e-9, "{share}");
        is_near(share(Kind::Rate, -0.1, -0.21), 1.0);
        is_near(share(Kind::Rate, 0.1, 0.105), 0.5);
        is_near(share(Kind::Rate, 0.1, -0.02), 2.0);
        is_near(share(Kind::Rate, 0.0, 0.0), 0.0);
        assert!(share(Kind::Rate, 0.0, 1e-9) > 1.0, "it does depend on the change");
        is_near(share(Kind::Distorted, 0.0, -0.125), 0.5);
        is_near(share(Kind::Distorted, 0.5, 2.5), 2.0);
        is_near(share(Kind::Evenness, -0.1, 1.5), 0.5);
        is_near(share(Kind::Evenness, 0.1, -0.75), 1.0);
        is_near(share(Kind::Evenness, 2.0, 2.0), 0.5);
    }

    #[test]
    fn comparisons_are_read_as_they_were_written_and_counted_by_kind() {
        let mut all = Comparisons::default();
        all.keep(comparison(Kind::Rate, "a=1 of x", -0.1, -0.21), "v");
        all.keep(comparison(Kind::Rate, "a=3 of x", 0.1, 0.42), "v");
        let known = Comparisons::read(&all.text()).unwrap();
        assert_eq!(known, all);
        let summary = known.summary(Kind::Rate).unwrap();
        assert_eq!((summary.figures, summary.contained, known.changes()), (2, 1, 2));
        assert!((summary.worst - 2.0).abs() < 1e-9, "{summary:?}");
        assert_eq!(known.summary(Kind::Distorted), None);
        let outside: Vec<_> = known.outside().map(|one| one.change.as_str()).collect();
        assert_eq!(outside, ["a=3 of x"]);
        all.keep(comparison(Kind::Rate, "a=3 of x", 0.1, 0.1), "v");
        assert_eq!(all.outside().count(), 0, "done again");
        all.retain(|claim| claim != "one");
        assert_eq!(all.text(), format!("{HEAD}\n"));
    }

    #[test]
    fn other_lines_are_refused() {
        for line in ["a,b,rate,c,1,1", "a,b,mood,c,1,1,v", "a,b,rate,c,x,1,v"] {
            assert!(Comparisons::read(line).unwrap_err().to_string().contains(line));
        }
    }
}
