//! The figures and charts of every test: the catalogue of metrics holds each figure and no other, and a curve
//! is of a table.
#![allow(missing_docs, reason = "a test")]

mod common;

use std::collections::BTreeSet;
use std::path::Path;

use result::metrics::{catalogue, find};
use result::schema::Run;
use result::store::RunDir;
use run::Test;
use run::session::{Request, outline, plan};
use run::suite::{Chart, Figures};
use target::{Identity, Limits, Target};

use common::simulated;

/// Settings for all steps of a test, and a short trace.
fn settings(test: Test) -> &'static str {
    match test.name() {
        "trim" => "data=both idle=10m",
        "heavy" | "light" | "destroyer" => "part=1/5000",
        "replay" => "trace=synth:light-2011?scale=1/5000",
        "workload" => "workload=oltp",
        _ => "",
    }
}

/// The figures of a test after each of its phases has run once.
fn figures_of(test: Test, identity: &Identity, limits: &Limits, example: &Run) -> Figures {
    let own = common::settings(settings(test)).into_iter();
    let settings = own.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    let request = Request { settings, ..Request::new(test, "library".into()) };
    let plan = plan(&request, identity, limits).expect("a plan");
    outline::figures(&plan, &Run { test: test.name().to_owned(), ..example.clone() })
}

/// Calls `look` with the figures of every test on a simulated drive.
fn of_every_test(mut look: impl FnMut(Test, Figures)) {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../result/tests/compat/v2");
    let example = RunDir::open(&example).expect("the example run");
    let target = simulated("samsung-840-evo-250gb-2013-firmware", &[("scale", "1/256")]);
    let (identity, limits) = (target.identity(), target.limits());
    let figures = |test| figures_of(test, &identity, &limits, example.run());
    Test::ALL.into_iter().for_each(|test| look(test, figures(test)));
}

#[test]
fn the_catalogue_holds_every_figure_of_every_test_and_no_other() {
    let mut named = BTreeSet::new();
    of_every_test(|test, figures| {
        assert!(!figures.metrics.is_empty(), "{test:?} names no figure");
        for name in figures.metrics.into_keys() {
            let row = find(&name);
            let row = row.unwrap_or_else(|| panic!("{test:?}: no row for {name}"));
            named.insert(row.name.as_str());
        }
    });
    let unnamed: Vec<_> =
        catalogue().iter().filter(|metric| !named.contains(metric.name.as_str())).collect();
    assert!(unnamed.is_empty(), "no test names these: {unnamed:#?}");
}

#[test]
fn every_curve_is_of_a_table_that_the_test_has() {
    of_every_test(|test, figures| {
        for chart in test.definition().charts {
            let (name, units) = match chart {
                Chart::Curves { table, units, .. } => (table, *units),
                Chart::HeatMap { table } => (table, &[][..]),
                Chart::Seconds | Chart::PowerBars => continue,
            };
            let table = figures.tables.iter().find(|table| table.name == *name);
            let table = table.unwrap_or_else(|| panic!("{test:?} has no table {name}"));
            for unit in units {
                let has_unit = table.columns.iter().any(|column| column.unit == *unit);
                assert!(has_unit, "{test:?}: no column of {name} is in {unit}");
            }
        }
    });
}
