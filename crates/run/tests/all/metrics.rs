//! The figures and charts of every test: the catalogue of metrics holds each figure and no other, and a curve
//! is of a table.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use result::metrics::{catalogue, find};
use result::schema::Run;
use result::store::RunDir;
use run::session::{Plan, Request, outline, plan};
use run::suite::{Chart, Figures, Procedure, Step};
use run::{RunError, Test};
use target::{Identity, Limits, Target, TargetKind, ZoneLimits};

use crate::common::simulated;

/// Zones of the drive, for the test that needs them.
const ZONES: ZoneLimits =
    ZoneLimits { zones: 900, size_bytes: 1 << 20, capacity_bytes: 1 << 20, open_max: 14 };

/// Settings for all steps of a test, and a short trace.
fn settings(test: Test) -> &'static str {
    match test.name() {
        "trim" => "data=both idle=10m",
        "heavy" | "heavy-full" | "light" | "light-full" | "destroyer" | "destroyer-full" => {
            "part=1/5000"
        }
        "replay" => "trace=synth:light-2011?scale=1/5000",
        "workload" => "workload=oltp",
        _ => "",
    }
}

fn plan_of(test: Test, identity: &Identity, limits: &Limits) -> Result<Plan, RunError> {
    let own = crate::common::settings(settings(test)).into_iter();
    let settings = own.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    let request = Request { settings, ..Request::new(test, "library".into()) };
    let zones = test.definition().zoned.then_some(ZONES);
    let limits = Limits { zones, placement_handles: 8, ..*limits };
    plan(&request, identity, &limits)
}

/// The figures of a test after each of its phases has run once.
fn figures_of(test: Test, identity: &Identity, limits: &Limits, example: &Run) -> Figures {
    let plan = plan_of(test, identity, limits).expect("a plan");
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
                Chart::Felt { table } => (table, &["s", "times"][..]),
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

/// The parameters of every test, and what it makes of their defaults on a simulated drive and on a real one.
fn configurations() -> String {
    let drive = simulated("samsung-840-evo-250gb-2013-firmware", &[("scale", "1/256")]);
    let (simulated, limits) = (drive.identity(), drive.limits());
    let real = Identity {
        kind: TargetKind::Block,
        log_bytes: None,
        details: BTreeMap::new(),
        ..simulated.clone()
    };
    let mut text = String::new();
    for test in Test::ALL {
        let params = test.params().iter().map(|param| format!("{}={}", param.name, param.default));
        writeln!(text, "{test:?}: {}", params.collect::<Vec<_>>().join(" ")).unwrap();
        for identity in [&simulated, &real] {
            let Procedure { config, conditions, notes, steps, .. } =
                plan_of(test, identity, &limits).expect("a plan").procedure;
            let words: Vec<_> =
                steps.iter().flat_map(Step::phases).map(|phase| &phase.what).collect();
            let words = words.iter().map(|words| words.len()).sum::<usize>();
            let line = serde_json::json!([config, conditions, notes, words]);
            writeln!(text, "  {line}").unwrap();
        }
    }
    text
}

#[test]
fn keys_and_configuration_of_every_test_are_those_of_the_file() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/configurations.txt");
    let text = configurations();
    if std::env::var_os("SSDLAB_WRITE_CONFIGURATIONS").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap();
    for (line, before) in text.lines().zip(committed.lines()) {
        assert_eq!(line, before);
    }
    assert_eq!(text.lines().count(), committed.lines().count());
}
