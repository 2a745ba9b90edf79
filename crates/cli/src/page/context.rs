//! The drives of the reference library that stand beside those of a report.

use std::collections::BTreeSet;

use anyhow::Context as _;
use base::facts;
use result::metrics::{self, Better};
use result::reference::Reference;
use result::report::{Context, Report, RunView};
use run::Test;

/// The reference library of this program, from `ssdlab library build --compact`.
const BUILT_IN: &[u8] = include_bytes!("../../../../drives/reference.zz");

/// Drives that readers of reviews know, and one of today for each link: they come first.
const KNOWN: [&str; 5] = [
    "sim:sandisk-extreme-ii-480gb",
    "sim:samsung-840-pro-256gb",
    "sim:intel-ssd-730-480gb",
    "sim:samsung-860-pro-512gb",
    "sim:micron-7450-max-800gb",
];
/// Neighbours of each drive of the report in the order of its first headline.
const NEAREST: usize = 2;
/// Drives beside those of the report.
const CONTEXT_MAX: usize = 12;
/// Drives of a report with those beside them: more bars are a wall.
const DRIVES_MAX: usize = 20;

/// Adds drives of the reference library to a report: known ones, the nearest to each drive of the report, and the
/// leaders of its class.
///
/// # Errors
/// If this program was built with a damaged library.
pub fn add(report: &mut Report) -> anyhow::Result<()> {
    let library =
        Reference::read(BUILT_IN).context("cannot read the built-in reference library")?;
    let chosen = chosen(&library.runs, &report.runs);
    let tests: BTreeSet<_> = report.runs.iter().map(|run| run.test.as_str()).collect();
    let place = |run: &RunView| chosen.iter().position(|spec| *spec == run.target.spec);
    let is_wanted = |run: &&RunView| tests.contains(run.test.as_str()) && place(run).is_some();
    let mut runs: Vec<_> = library.runs.iter().filter(is_wanted).cloned().collect();
    runs.sort_by_key(place);
    report.context = (!runs.is_empty()).then(|| Context { stale: stale(&library, &chosen), runs });
    Ok(())
}

/// The drives among these whose figures are of an earlier model or simulator.
fn stale(library: &Reference, specs: &[&str]) -> Vec<String> {
    let is_old = library.simulator_version != sim::RESULTS_VERSION;
    let is_stale =
        |spec: &&&str| is_old || library.models.get(**spec).copied() != fingerprint(spec);
    specs.iter().filter(is_stale).map(|&spec| spec.to_owned()).collect()
}

/// The fingerprint of the model of a drive at full size, or `None` for any other target.
pub fn fingerprint(spec: &str) -> Option<u64> {
    sim::model::fingerprint(spec.strip_prefix("sim:")?)
}

/// The target strings of the drives beside those of a report, by importance.
fn chosen<'a>(library: &'a [RunView], reported: &[RunView]) -> Vec<&'a str> {
    let own: BTreeSet<_> = reported.iter().map(|run| run.target.name.as_str()).collect();
    let room = CONTEXT_MAX.min(DRIVES_MAX.saturating_sub(own.len()));
    let specs = library.iter().map(|run| run.target.spec.as_str());
    let known = KNOWN.iter().flat_map(|known| specs.clone().find(|spec| spec == known));
    let rankings: Vec<_> = headlines()
        .filter(|(test, _)| reported.iter().any(|run| run.test == *test))
        .map(|(test, metric)| (test, metric, ranking(library, test, metric)))
        .collect();
    let near = rankings.iter().find_map(|(test, metric, ranking)| {
        let near = reported.iter().filter(|run| run.test == *test);
        let near: Vec<_> = near.flat_map(|run| nearest(ranking, run, metric)).collect();
        (!near.is_empty()).then_some(near)
    });
    let is_of_class = |run: &&RunView| reported.iter().any(|own| is_nvme(own) == is_nvme(run));
    let leaders = rankings.iter().flat_map(|(.., ranking)| {
        ranking.iter().map(|(run, _)| *run).find(is_of_class).map(|run| run.target.spec.as_str())
    });
    let is_other = |spec: &&str| {
        !library.iter().any(|run| run.target.spec == **spec && own.contains(&*run.target.name))
    };
    let mut chosen = Vec::new();
    for spec in known.chain(near.into_iter().flatten()).chain(leaders).filter(is_other) {
        if chosen.len() < room && !chosen.contains(&spec) {
            chosen.push(spec);
        }
    }
    chosen
}

/// The first figures of the tests, in the order of the suite.
fn headlines() -> impl Iterator<Item = (&'static str, &'static str)> {
    let of =
        |test: Test| test.definition().headlines.iter().map(move |one| (test.name(), one.metric));
    Test::ALL.into_iter().flat_map(of)
}

/// The drives as sold in the order of a figure, the best first; none for a figure without an order.
fn ranking<'a>(library: &'a [RunView], test: &str, metric: &str) -> Vec<(&'a RunView, f64)> {
    let Some(better) = metrics::find(metric).and_then(|metric| metric.better) else {
        return Vec::new();
    };
    let of_test = library.iter().filter(|run| run.test == test && run.span.variant == "default");
    let mut drives: Vec<_> = of_test.filter_map(|run| Some((run, figure(run, metric)?))).collect();
    drives.sort_by(|(_, a), (_, b)| match better {
        Better::Higher => b.total_cmp(a),
        Better::Lower => a.total_cmp(b),
    });
    drives
}

/// The figure of a run, or `None` without one that may stand in a rank.
fn figure(run: &RunView, metric: &str) -> Option<f64> {
    let barred = run.marks.iter().any(|mark| mark.metric == metric && mark.kind.disqualifies());
    run.metrics.get(metric).copied().flatten().filter(|_| !barred)
}

/// The drives whose figures are nearest to that of a run, of its class.
fn nearest<'a>(ranking: &[(&'a RunView, f64)], run: &RunView, metric: &str) -> Vec<&'a str> {
    let Some(value) = figure(run, metric).filter(|value| *value > 0.0) else { return Vec::new() };
    let mut near: Vec<_> = ranking
        .iter()
        .filter(|(other, _)| is_nvme(other) == is_nvme(run) && other.target.name != run.target.name)
        .map(|(other, figure)| (other.target.spec.as_str(), (figure / value).ln().abs()))
        .collect();
    near.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    near.iter().take(NEAREST).map(|(spec, _)| *spec).collect()
}

/// Whether a drive is linked by NVMe; SATA is all else.
fn is_nvme(run: &RunView) -> bool {
    let link = run.target.facts.interface.as_ref().map_or("", |link| &link.value);
    facts::is_nvme(link) || facts::is_nvme(&run.target.spec)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES_MAX: usize = 3_000_000;

    fn library() -> Reference {
        Reference::read(BUILT_IN).expect("a library")
    }

    #[test]
    fn the_library_is_small_and_has_the_known_drives() {
        assert!(BUILT_IN.len() <= BYTES_MAX, "{} bytes", BUILT_IN.len());
        let library = library();
        for known in KNOWN {
            assert!(library.models.contains_key(known), "{known}");
        }
        for run in &library.runs {
            assert!(library.models.contains_key(&run.target.spec) && !run.quick, "{}", run.run_id);
            assert!(fingerprint(&run.target.spec).is_some(), "{} is a model", run.target.spec);
        }
    }

    #[test]
    fn a_drive_stands_beside_known_ones_its_neighbours_and_the_leaders_and_not_beside_itself() {
        let library = library();
        let of = |spec: &str| {
            let own = library.runs.iter().filter(|run| run.target.spec == spec);
            own.cloned().collect::<Vec<_>>()
        };
        let own = of("sim:samsung-840-pro-256gb");
        let chosen = chosen(&library.runs, &own);
        assert!(chosen.len() <= CONTEXT_MAX && !chosen.contains(&"sim:samsung-840-pro-256gb"));
        assert!(chosen.contains(&KNOWN[0]), "{chosen:?}");
        let (test, metric) = ("consistency", "iops_steady_mean");
        let ranking = ranking(&library.runs, test, metric);
        let best = ranking.iter().find(|(run, _)| !is_nvme(run)).expect("a drive");
        assert!(chosen.contains(&best.0.target.spec.as_str()), "{chosen:?}");
        let run = own.iter().find(|run| run.test == test).expect("a run");
        for near in nearest(&ranking, run, metric) {
            assert!(chosen.contains(&near), "{near} of {chosen:?}");
        }
        let many: Vec<_> = library.runs.iter().filter(|run| run.test == test).cloned().collect();
        assert!(super::chosen(&library.runs, &many).is_empty(), "a page of every drive");
    }

    #[test]
    fn an_earlier_model_or_simulator_is_stale() {
        let library = library();
        let mut old = library.clone();
        let spec = KNOWN[0];
        assert_eq!(stale(&library, &[spec]), Vec::<String>::new());
        old.models.insert(spec.to_owned(), 7);
        assert_eq!(stale(&old, &[spec, KNOWN[1]]), [spec]);
        let older = Reference { simulator_version: 0, ..library };
        assert_eq!(stale(&older, &KNOWN), KNOWN);
    }
}
