//! `ssdlab list TEST`: the work of a test, its keys, metrics and targets.

use ::target::{Ages, Identity, Limits, TargetKind};
use result::metrics::Metric;
use run::session::{Outline, Request};
use run::suite::{Chapter, QUICK_SPAN, ReviewEntry};
use run::{RunError, Test};
use serde_json::{Value, json};

use crate::ui::out::data;
use crate::ui::table;

/// The drive for which the steps are told.
const EXAMPLE: &str = "samsung-840-pro-256gb";
/// The same for a test of drives with zones.
const ZONED_EXAMPLE: &str = "wd-ultrastar-dc-zn540-1000gb";
/// Settings without which a test has nothing to do, as an example.
const NEEDED: [(&str, &str, &str); 2] =
    [("replay", "trace", "synth:light-2011?scale=1/1000"), ("workload", "workload", "oltp")];
/// Kinds of targets with their words.
const KINDS: [(TargetKind, &str); 4] = [
    (TargetKind::Simulated, "simulated drives"),
    (TargetKind::Block, "block devices"),
    (TargetKind::File, "files"),
    (TargetKind::Null, "null:"),
];

/// A test in a list.
pub fn brief(test: Test) -> Value {
    let parameters = test
        .params()
        .iter()
        .map(|param| json!({ "name": param.name, "default": param.default, "help": param.help }));
    json!({
        "test": test.name(), "question": test.question(), "writes": test.writes(),
        "parameters": parameters.collect::<Vec<_>>(), "docs": docs(test),
    })
}

/// All about a test.
pub fn whole(test: Test) -> anyhow::Result<Value> {
    let Outline { phases, metrics } = outline(test, TargetKind::Simulated)?;
    let phases: Vec<_> =
        phases.iter().map(|(name, what)| json!({ "phase": name, "what": what })).collect();
    let targets = targets(test).into_iter().map(|(kind, _, obstacle)| {
        json!({ "kind": kind.name(), "works": obstacle.is_none(), "obstacle": obstacle })
    });
    let mut document = brief(test);
    document["phases"] = phases.into();
    document["quick"] = test.quick().map_or(Value::Null, |form| {
        let span_bytes = (!form.whole).then_some(QUICK_SPAN.0);
        json!({ "settings": form.settings, "span_bytes": span_bytes, "lost": form.lost })
    });
    document["metrics"] = metrics.iter().map(|metric| metric.name.as_str()).collect();
    document["targets"] = targets.collect();
    Ok(document)
}

pub fn print(test: Test) -> anyhow::Result<()> {
    let Outline { phases, metrics } = outline(test, TargetKind::Simulated)?;
    data!("{}: {}", test.name(), test.question());
    let losses = if test.writes() { "destroys the data on the target" } else { "only reads" };
    data!("  {losses}; read more in {}", docs(test));
    data!("Targets:");
    let rows = targets(test).into_iter().map(|(_, words, obstacle)| {
        vec![
            format!("  {words}"),
            obstacle.map_or_else(|| "yes".to_owned(), |why| format!("no: {why}")),
        ]
    });
    table::print(&rows.collect::<Vec<_>>());
    data!("Keys, with their defaults:");
    let rows = test.params().iter().map(|param| {
        vec![format!("  --set {}={}", param.name, param.default), param.help.to_owned()]
    });
    table::print(&rows.collect::<Vec<_>>());
    if let Some(ReviewEntry { settings, whole, lost, .. }) = test.quick() {
        let span =
            if *whole { "the whole target".to_owned() } else { format!("--span {QUICK_SPAN}") };
        data!("Quick form (--quick): {settings}, {span}");
        data!("  lost: {lost}");
    }
    data!(
        "Steps on a whole sim:{} (of another target: ssdlab plan {} TARGET):",
        example(test),
        test.name()
    );
    let rows = phases.into_iter().map(|(name, what)| vec![format!("  {name}"), what]);
    table::print(&rows.collect::<Vec<_>>());
    data!("Metrics (docs/reference/metrics.md):");
    let rows = metrics.iter().map(|metric| row(metric));
    table::print(&rows.collect::<Vec<_>>());
    Ok(())
}

fn row(metric: &Metric) -> Vec<String> {
    let Metric { name, label, unit, .. } = metric;
    vec![format!("  {name}"), unit.symbol().to_owned(), label.clone()]
}

/// The kinds of targets, each with the obstacle for this test if there is one.
fn targets(test: Test) -> Vec<(TargetKind, &'static str, Option<String>)> {
    let obstacle = |kind| outline(test, kind).err().map(|error| error.to_string());
    KINDS.iter().map(|(kind, words)| (*kind, *words, obstacle(*kind))).collect()
}

/// The outline of a test on an able target of this kind.
fn outline(test: Test, kind: TargetKind) -> Result<Outline, RunError> {
    let needed = NEEDED.iter().filter(|(name, ..)| *name == test.name());
    let settings = needed.map(|(_, key, value)| ((*key).to_owned(), (*value).to_owned()));
    let meter = (kind == TargetKind::Block).then(|| "stream:/dev/null".parse()).transpose()?;
    let request =
        Request { settings: settings.collect(), meter, ..Request::new(test, "library".into()) };
    let example = example(test);
    let target = format!("sim:{example}");
    let (identity, limits) = io::engine::sim::describe(&target, example, &[])?;
    let (identity, limits) = able(kind, identity, limits);
    Outline::of(&request, &identity, &limits)
}

/// The simulated drive for the steps of a test.
fn example(test: Test) -> &'static str {
    if test.definition().zoned { ZONED_EXAMPLE } else { EXAMPLE }
}

/// The example as a target of this kind, with everything that such a target may be able to do.
fn able(kind: TargetKind, identity: Identity, limits: Limits) -> (Identity, Limits) {
    let is_simulated = kind.is_simulated();
    let everything = Ages { by_days: true, by_cycles: true, by_reads: true };
    let ages = if is_simulated { everything } else { Ages::default() };
    let name = KINDS.iter().find(|(known, _)| *known == kind).map_or("", |(_, words)| words);
    let limits = Limits {
        deallocate: kind != TargetKind::Null,
        rest: matches!(kind, TargetKind::Simulated | TargetKind::Block),
        energy: is_simulated,
        ages,
        queue_depth_max: limits.queue_depth_max.max(1024),
        placement_handles: if is_simulated || kind == TargetKind::Block { 8 } else { 1 },
        zones: limits.zones.filter(|_| is_simulated || kind == TargetKind::Block),
        ..limits
    };
    (Identity { kind, name: name.to_owned(), ..identity }, limits)
}

/// The page on a test.
fn docs(test: Test) -> &'static str {
    match (test.definition().chapter, test.name()) {
        (_, "waf" | "streams" | "placement") => "docs/reference/suite.md#write-amplification",
        (_, "sustained" | "fill-level" | "mixed-sizes" | "idle" | "thermal") => {
            "docs/reference/suite.md#sustained-writes-fill-levels-mixed-sizes"
        }
        (_, "load-latency" | "matrix" | "neighbours") => {
            "docs/reference/suite.md#latency-at-a-rate"
        }
        (_, "trim") => "docs/reference/suite.md#verdicts-and-exit-codes",
        (_, "zones") => "docs/reference/suite.md#zones",
        (_, "retention") => "docs/reference/suite.md#old-data",
        (_, "workload") => "docs/reference/workloads.md",
        (Chapter::Energy, _) => "docs/reference/power.md",
        (Chapter::StorageBench, _) => "docs/reference/traces.md",
        (Chapter::Pts, _) => "docs/reference/suite.md#pts",
        _ => "docs/reference/suite.md",
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_test_is_told_whole_and_works_on_simulated_drives() {
        for test in Test::ALL {
            let document = whole(test).unwrap_or_else(|error| panic!("{test:?}: {error}"));
            for list in ["parameters", "phases", "metrics", "targets"] {
                assert!(!document[list].as_array().unwrap().is_empty(), "{test:?}: no {list}");
            }
            assert_eq!(document["targets"][0]["works"], true, "{test:?}: {document}");
        }
    }

    #[test]
    fn what_a_target_cannot_do_is_told_with_the_reason() {
        let of = |name: &str, kind| {
            let test = name.parse().unwrap();
            targets(test).into_iter().find(|(known, ..)| *known == kind).unwrap().2
        };
        assert_eq!(of("retention", TargetKind::Simulated), None);
        assert!(of("retention", TargetKind::Block).is_some());
        assert_eq!(of("trim", TargetKind::Block), None);
        assert!(of("trim", TargetKind::Null).unwrap().contains("deallocate"));
        assert_eq!(of("power", TargetKind::Block), None);
        assert!(of("power", TargetKind::File).is_some());
    }

    #[test]
    fn the_page_of_every_test_is_there_with_its_heading() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for test in Test::ALL {
            let (page, heading) = docs(test).split_once('#').unwrap_or((docs(test), ""));
            let text = std::fs::read_to_string(root.join(page)).unwrap();
            let anchor = |line: &str| {
                let words = line.trim_start_matches('#').trim().to_lowercase().replace(',', "");
                words.replace(' ', "-")
            };
            let mut headings = text.lines().filter(|line| line.starts_with('#')).map(anchor);
            assert!(heading.is_empty() || headings.any(|known| known == heading), "{test:?}");
        }
    }
}
