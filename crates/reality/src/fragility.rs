//! Does a claim hold only because of a value that nobody published? Each assumed number of a model is changed by 10%
//! in both directions.
//!
//! Changes are screened in short ([`screen`]), first all of one direction together. If effects up to twice theirs and a
//! margin might end the claim, each half of them is screened, down to single changes; these are then run at full size.
//! Docs/drives.md says of each claim how it was tried, and [`comparison`] how far screens are right.

use std::collections::BTreeMap;

pub mod answers;
pub mod change;
pub mod comparison;
mod full_size;
pub mod screen;

use self::answers::Answer;
use self::change::{Change, changes_of};
use self::comparison::{Comparison, Kind};
use self::screen::Screens;
use crate::cell::Cell;
use crate::claim::{Fingerprint, Measurement};
use crate::expectation::{Expectation, Values};
use crate::store::{Store, hash, in_parallel, run_key};
use crate::verdict::is_enough;

/// The means of an examination.
#[derive(Clone, Copy, Debug)]
pub struct Tools<'a> {
    /// The runs at full size.
    pub store: &'a Store,
    /// The short ones.
    pub screens: &'a Screens,
    /// Runs at the same time.
    pub jobs: usize,
    /// The most changes of a claim to run at full size; further ones stay open.
    pub full_size_max: usize,
}

/// The effects of changes on figures, by name: the effect in short with the kind of the figure.
type Effects = BTreeMap<String, (f64, Kind)>;

/// The key of the question which changes end a claim: it has another one if the claim or a value of a model changes.
/// `None` without a model of a drive.
#[must_use]
pub fn key(fingerprint: &Fingerprint) -> Option<String> {
    let Fingerprint { expectations, share, .. } = fingerprint;
    let keys = cells(fingerprint).iter().map(run_key).collect::<Option<Vec<_>>>()?;
    Some(hash([&format!("{expectations:?} {share}"), &keys.concat()]))
}

/// The changes that end a claim whose figures at full size are `known`, and the effects at full size beside those of
/// the screens. Of an `earlier` answer with open changes it runs these.
///
/// # Errors
/// If a run of the claim is refused, or the claim does not hold by this version of the program.
pub fn examine(
    fingerprint: &Fingerprint,
    known: &Values,
    earlier: Option<&Answer>,
    tools: &Tools<'_>,
) -> Result<(Answer, Vec<Comparison>), String> {
    let earlier = earlier.filter(|answer| !answer.open.is_empty());
    let answer = earlier.cloned().unwrap_or_else(|| screened(fingerprint, known, tools));
    full_size::decide(fingerprint, known, answer, tools)
}

/// The changes that might end a claim by their screens, all of them open, those with the strongest effects first.
fn screened(fingerprint: &Fingerprint, known: &Values, tools: &Tools<'_>) -> Answer {
    let groups = groups(fingerprint, tools.screens);
    let changes = groups.iter().map(Vec::len).sum();
    let found = in_parallel(&groups, tools.jobs, &|group| {
        suspects(fingerprint, known, group, tools.screens)
    });
    let mut suspects: Vec<_> = found.into_iter().flatten().collect();
    suspects.sort_by(|(one, first), (other, second)| {
        other.total_cmp(one).then_with(|| first.cmp(second))
    });
    let open = suspects.iter().map(|(_, change)| change.to_string()).collect();
    Answer { changes, full_size: 0, fragile: Vec::new(), open }
}

fn cells(fingerprint: &Fingerprint) -> Vec<Cell> {
    let mut cells: Vec<_> =
        fingerprint.measurements(None).map(|(_, measurement)| measurement.cell).collect();
    cells.sort();
    cells.dedup();
    cells
}

/// The changes that the models of a claim take: a group for each drive and direction.
fn groups(fingerprint: &Fingerprint, screens: &Screens) -> Vec<Vec<Change>> {
    let by_drive: BTreeMap<String, Cell> =
        cells(fingerprint).into_iter().map(|cell| (cell.drive.clone(), cell)).collect();
    let both = |(drive, cell): (&String, &Cell)| {
        let mut accepted = changes_of(drive);
        accepted.retain(|change| screens.is_accepted(cell, change));
        let (slower, faster) = accepted.into_iter().partition(Change::is_slower);
        [slower, faster]
    };
    by_drive.iter().flat_map(both).collect()
}

/// The changes of a group that might end the claim by their screens, each with its strongest effect.
fn suspects(
    fingerprint: &Fingerprint,
    known: &Values,
    group: &[Change],
    screens: &Screens,
) -> Vec<(f64, Change)> {
    let Some(first) = group.first() else { return Vec::new() };
    if group.len() > 1 && may_end(fingerprint, known, &no_effects(fingerprint, &first.drive)) {
        // The margins alone suffice: no group is cleared.
        let of = |one: &[Change]| suspects(fingerprint, known, one, screens);
        return group.chunks(1).flat_map(of).collect();
    }
    let effects = effects(fingerprint, group, screens);
    if effects.as_ref().is_some_and(|effects| !may_end(fingerprint, known, effects)) {
        return Vec::new();
    }
    let strongest = effects.map_or(f64::INFINITY, |effects| {
        effects.values().map(|(effect, _)| effect.abs()).fold(0.0, f64::max)
    });
    if group.len() == 1 {
        return vec![(strongest, first.clone())];
    }
    let (left, right) = group.split_at(group.len() / 2);
    let of = |half| suspects(fingerprint, known, half, screens);
    [of(left), of(right)].concat()
}

/// The effects of changes of a drive on its figures, or `None` if the screen cannot tell.
fn effects(fingerprint: &Fingerprint, changes: &[Change], screens: &Screens) -> Option<Effects> {
    let mut effects = Effects::new();
    for (name, Measurement { cell, figure }) in fingerprint.measurements(None) {
        if changes.iter().all(|change| change.drive == cell.drive) {
            let effect = screens.effect(&cell, &figure, changes)?;
            effects.insert(name.clone(), (effect, Kind::of(&figure)));
        }
    }
    Some(effects)
}

/// The effects of a change without any.
fn no_effects(fingerprint: &Fingerprint, drive: &str) -> Effects {
    let of_drive = fingerprint.measurements(None).filter(|(_, one)| one.cell.drive == drive);
    of_drive.map(|(name, one)| (name.clone(), (0.0, Kind::of(&one.figure)))).collect()
}

/// Whether effects within the room of the screens could end a claim.
fn may_end(fingerprint: &Fingerprint, known: &Values, effects: &Effects) -> bool {
    let safe = fingerprint.expectations.iter().filter(|one| safe(one, known, effects));
    !is_enough(fingerprint, safe.count())
}

/// Whether an expectation holds with all effects within the room of the screens.
fn safe(expectation: &Expectation, known: &Values, effects: &Effects) -> bool {
    let end = |of_room: fn((f64, f64)) -> f64| {
        let moved = |(name, value): (&String, &Option<f64>)| {
            let room = effects.get(name).map(|(effect, kind)| kind.room(*effect));
            let share = room.map_or(0.0, of_room);
            (name.clone(), value.map(|value| value + share * value.abs()))
        };
        known.iter().map(moved).collect::<Values>()
    };
    expectation.holds_between(&end(|(low, _)| low), &end(|(_, high)| high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Theme;
    use crate::verdict::{Verdict, judge};

    /// A claim about a linear pass over a drive of 1/1024.
    fn fingerprint(expect: &str) -> Fingerprint {
        let text = format!(
            "heading = 'h'\n[[fingerprint]]\nid = 'x'\nclaim = 'c'\nsource = 's'\n\
             drive = 'corsair-neutron-240gb'\ntest = 'linear'\nexpect = ['{expect}']\n\
             figures.rate = {{ mb_per_s = 'mean', phase = 'read' }}\n"
        );
        let mut fingerprint = Theme::read("x", &text).unwrap().fingerprints.remove(0);
        let scale = Some("1/1024".to_owned());
        fingerprint.figures.values_mut().for_each(|one| one.cell.scale.clone_from(&scale));
        fingerprint
    }

    #[test]
    fn a_claim_without_room_is_fragile_and_one_with_room_needs_no_run_at_full_size() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().to_owned());
        let wide = fingerprint("rate > 1");
        let cells: Vec<_> = wide.measurements(None).map(|(_, one)| one.cell).collect();
        let known = judge(&wide, None, &store.run_all(&cells, 1, &|_, _| ()));
        assert_eq!(known.verdict, Verdict::Holds);
        let rate = known.values["rate"].unwrap();
        let narrow = fingerprint(&format!("rate in {}..{}", rate * 0.995, rate * 1.005));
        let screens = Screens::new(&[&wide, &narrow]);
        let examine = |fingerprint, full_size_max| {
            let tools = Tools { store: &store, screens: &screens, jobs: 1, full_size_max };
            examine(fingerprint, &known.values, None, &tools).unwrap().0
        };
        let room = examine(&wide, usize::MAX);
        assert!(room.changes > 0 && room.full_size == 0 && room.fragile.is_empty(), "{room:?}");
        let none = examine(&narrow, usize::MAX);
        assert!(none.full_size > 0 && !none.fragile.is_empty(), "{none:?}");
        assert!(none.full_size <= none.changes && none.open.is_empty(), "{none:?}");
        let open = examine(&narrow, 0);
        assert_eq!((open.full_size, open.open.len()), (0, none.full_size), "{open:?}");
        assert!(key(&wide).is_some() && key(&wide) != key(&narrow));
    }

    #[test]
    fn changes_that_were_open_are_decided_by_runs_at_full_size() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().to_owned());
        let wide = fingerprint("rate > 1");
        let cells: Vec<_> = wide.measurements(None).map(|(_, one)| one.cell).collect();
        let known = judge(&wide, None, &store.run_all(&cells, 1, &|_, _| ())).values;
        let rate = known["rate"].unwrap();
        let narrow = fingerprint(&format!("rate in {}..{}", rate * 0.97, rate * 1.03));
        let screens = Screens::new(&[&narrow]);
        let tools = Tools { store: &store, screens: &screens, jobs: 1, full_size_max: 1 };
        let of =
            |key: &str| changes_of("corsair-neutron-240gb").into_iter().find(|one| one.key == key);
        let link = of("interface.link_bytes_per_s").unwrap().to_string();
        let unused = of("gc.candidates").unwrap().to_string();
        let open = vec![link.clone(), unused.clone(), "gone=1 of corsair-neutron-240gb".to_owned()];
        let earlier = Answer { changes: 30, full_size: 0, fragile: Vec::new(), open };
        let examine = |earlier: &Answer, full_size_max| {
            let tools = Tools { full_size_max, ..tools };
            examine(&narrow, &known, Some(earlier), &tools).unwrap()
        };
        let (one, compared) = examine(&earlier, 1);
        assert_eq!((one.full_size, &one.fragile, one.open.len()), (1, &vec![link.clone()], 2));
        let [compared] = &compared[..] else { panic!("{compared:?}") };
        assert!(compared.change == link && compared.full_size < -0.05, "{compared:?}");
        assert!(compared.share_of_room() < 1.0, "{compared:?}");
        let (all, _) = examine(&one, 9);
        assert_eq!((all.full_size, all.fragile, all.open), (2, vec![link], Vec::new()));
        let broken = fingerprint("rate in 5..6");
        let refused = super::examine(&broken, &known, Some(&earlier), &tools).unwrap_err();
        assert!(refused.contains("does not hold by this version"), "{refused}");
    }

    #[test]
    fn an_effect_between_none_and_twice_the_screened_one_may_end_a_claim() {
        let may_end = |expect, effect, kind| {
            let known = Values::from([("rate".to_owned(), Some(100.0))]);
            let effects = BTreeMap::from([("rate".to_owned(), (effect, kind))]);
            may_end(&fingerprint(expect), &known, &effects)
        };
        let band = |effect| may_end("rate in 90..110", effect, Kind::Rate);
        assert!(!band(0.0) && !band(0.04) && !band(-0.04));
        assert!(band(0.046) && band(-0.046));
        assert!(may_end("rate in 90..110", 0.0, Kind::Distorted));
        let edge = |effect| may_end("rate > 99.5", effect, Kind::Rate);
        assert!(edge(0.2), "the margin reaches below the figure without an effect");
        assert!(!edge(0.0));
    }
}
