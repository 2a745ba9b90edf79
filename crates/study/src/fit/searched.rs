//! Searches from several starts, and with several numbers of dies.

use run::RunError;

use super::bench::Bench;
use super::choices::{about_as_well, with_dies};
use super::measured::Measurements;
use super::search::{Best, Problem};
use super::values::{Point, READS};

/// Most searches after the first one from the same start.
const RESTARTS: usize = 3;
/// Share of the sum of squares that a search must leave at most to be repeated.
const PAYS: f64 = 0.8;
/// A sum of squares that explains the figures, for each of them: chance alone leaves 1.
const GOOD: f64 = 2.0;
/// Most numbers of dies to try with all figures.
const OTHER_DIES: usize = 6;

/// The ends of searches with one pacing, the best one first, one for each number of dies.
pub(super) struct Searched {
    /// Figures to explain.
    figures: usize,
    bests: Vec<Best>,
}

impl Searched {
    /// No search of so many figures yet.
    pub(super) fn new(figures: usize) -> Self {
        Self { figures, bests: Vec::new() }
    }

    /// The best end.
    pub(super) fn best(&self) -> &Best {
        &self.bests[0]
    }

    /// A sum of squares that explains the figures.
    pub(super) fn good(&self) -> f64 {
        GOOD * self.figures as f64
    }

    /// Takes the end of another search.
    pub(super) fn add(&mut self, found: Best) {
        self.bests.push(found);
        self.bests.sort_by(|a, b| a.misfit.total_cmp(&b.misfit));
        let mut seen = Vec::new();
        self.bests.retain(|it| {
            let fresh = !seen.contains(&it.point.dies);
            seen.push(it.point.dies);
            fresh
        });
    }

    /// Searches from a start.
    fn from(
        &mut self,
        bench: &mut Bench<'_>,
        runs: &[&Measurements],
        start: &Point,
    ) -> Result<(), RunError> {
        let found = persistent(bench, runs, start, self.good())?;
        self.add(found);
        Ok(())
    }

    /// Searches from points that explain the reads with several numbers of dies: from the second on with the values of
    /// writes of the best one.
    pub(super) fn all(
        &mut self,
        bench: &mut Bench<'_>,
        runs: &[&Measurements],
        starts: &[Point],
    ) -> Result<(), RunError> {
        for start in starts {
            let found = self.bests.first();
            let start = found.map_or(start.clone(), |it| with_reads(&it.point, start));
            self.from(bench, runs, &start)?;
        }
        Ok(())
    }

    /// Searches from other points while the best one misses figures: from the base model, and with the numbers of
    /// dies beside it.
    pub(super) fn elsewhere(
        &mut self,
        bench: &mut Bench<'_>,
        runs: &[&Measurements],
        has_dies: bool,
    ) -> Result<(), RunError> {
        if self.best().misfit > self.good() {
            let start = with_dies(&bench.base.point(), self.best().point.dies);
            self.from(bench, runs, &start)?;
        }
        let mut tried = Vec::new();
        while has_dies && self.best().misfit > self.good() && tried.len() < OTHER_DIES {
            let middle = self.best().point.clone();
            tried.extend(self.bests.iter().map(|it| it.point.dies));
            let beside = [middle.dies.saturating_sub(1), middle.dies + 1];
            let Some(dies) = beside.into_iter().find(|it| *it > 0 && !tried.contains(it)) else {
                break;
            };
            self.from(bench, runs, &with_dies(&middle, dies))?;
        }
        Ok(())
    }

    /// A point as the best one, with each other number of dies that explains the figures about as well.
    pub(super) fn about_as_good(&self, best: &Point) -> Vec<Point> {
        let dies = self.dies().into_iter().map(|it| it.dies).filter(|it| *it != best.dies);
        dies.map(|it| with_dies(best, it)).collect()
    }

    /// The best point with each number of dies that explains the figures about as well as the best one.
    pub(super) fn dies(&self) -> Vec<Point> {
        let most = about_as_well(self.best().misfit, self.figures);
        let best = self.bests.iter().filter(|it| it.misfit < most);
        let mut points: Vec<Point> = best.map(|it| it.point.clone()).collect();
        if self.best().misfit > self.good() {
            // A neighbour may explain the figures that this point misses: nothing tells the dies.
            let middle = points[0].clone();
            let beside = [middle.dies.saturating_sub(1).max(1), middle.dies + 1];
            points.extend(beside.map(|dies| with_dies(&middle, dies)));
        }
        points
    }
}

/// A point with the dies and the values of reads of another one.
fn with_reads(point: &Point, reads: &Point) -> Point {
    let mut both = with_dies(point, reads.dies);
    for place in READS {
        both.logs[place] = reads.logs[place];
    }
    both
}

/// A search that begins again at its end, while that pays: a value without an effect at the start of a
/// search stays there, and has one elsewhere.
pub(super) fn persistent(
    bench: &mut Bench<'_>,
    runs: &[&Measurements],
    start: &Point,
    good: f64,
) -> Result<Best, RunError> {
    let dies = start.dies;
    let mut best = Problem::new(bench, runs, dies).solved(start)?;
    for _ in 0..RESTARTS {
        if best.misfit < good {
            break;
        }
        let again = Problem::new(bench, runs, dies).solved(&best.point)?;
        let pays = again.misfit < best.misfit * PAYS;
        if again.misfit < best.misfit {
            best = again;
        }
        if !pays {
            break;
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::super::values::VALUES;
    use super::*;

    fn searched(figures: usize, ends: &[(u32, f64)]) -> Searched {
        let mut searched = Searched::new(figures);
        for (dies, misfit) in ends {
            let logs = vec![0.0; VALUES.len()];
            searched.add(Best { point: Point { logs, dies: *dies }, misfit: *misfit });
        }
        searched
    }

    fn dies(figures: usize, ends: &[(u32, f64)]) -> Vec<u32> {
        searched(figures, ends).dies().into_iter().map(|it| it.dies).collect()
    }

    #[test]
    fn dies_are_those_that_explain_the_figures_about_as_well() {
        assert_eq!(dies(10, &[(4, 30.0), (5, 10.0), (6, 18.0)]), [5, 6]);
        assert_eq!(dies(10, &[(4, 30.0), (5, 10.0), (6, 20.0)]), [5]);
        // The best end with each number counts.
        assert_eq!(dies(10, &[(6, 40.0), (5, 10.0), (6, 12.0)]), [5, 6]);
        assert_eq!(dies(10, &[(6, 12.0), (5, 10.0), (6, 40.0)]), [5, 6]);
    }

    #[test]
    fn figures_that_no_number_of_dies_explains_tell_none() {
        assert!(dies(10, &[(4, 900.0), (5, 100.0)]).len() > 1);
        assert!(dies(10, &[(1, 100.0)]).contains(&2));
    }
}
