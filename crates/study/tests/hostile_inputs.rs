//! Sweep files and runs for a fit as nobody means them: refused or answered, without a panic and without the memory
//! that they ask for.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use base::{Ratio, Rng};
use result::schema::{Phase, Request, Run, RunStatus, Setting};
use rustix::process::{Resource, Rlimit, setrlimit};
use session::pool::Limits;
use study::fit::{Question, fit};
use study::sweep::Spec;

/// Enough for what is accepted below.
const ADDRESS_SPACE_BYTES: u64 = 3 << 30;
/// Changed sweep files that are read.
const CHANGED_FILES: u64 = 20_000;
/// Tasks of an accepted file that are made.
const TASKS_MAX: u64 = 2_000;

/// Sweep files that are right.
const SWEEPS: [&str; 4] = [
    "repeat = 2\nmetrics = ['waf_steady']\n[fixed]\ndrive = 'samsung-840-pro-256gb'\nscale = '1/256'\n\
     'set.duration' = '4s'\n[vary]\n'gc.policy' = ['greedy', 'fifo']\nspare = ['default', '25%']\n",
    "design = 'lhs'\npoints = 20\nseed = 7\n[fixed]\ndrive = 'ocz-vector-256gb'\n[vary]\n\
     'nand.program_ns' = { from = 1_000_000, to = 2_000_000 }\nspan = ['64MiB', '128MiB']\n",
    "design = 'random'\npoints = 9\nkeep_runs = true\n[fixed]\ndrive = 'crucial-m4-128gb'\n\
     test = 'qd-sweep'\n[vary]\na = { from = 0.5, to = 3e3, log = true }\n",
    "design = 'adaptive'\ngoal = 'waf_steady'\npoints = 30\nround = 5\n[fixed]\ndrive = 'x'\n[vary]\n\
     a = { from = 0.0, to = 1.0 }\nb = { from = -5, to = 5000 }\n",
];

fn limited() {
    let limit = Rlimit { current: Some(ADDRESS_SPACE_BYTES), maximum: Some(ADDRESS_SPACE_BYTES) };
    setrlimit(Resource::As, limit).expect("a limit may always be lowered");
}

/// A sweep with this axis and these lines.
fn sweep(lines: &str, axis: &str) -> String {
    format!("{lines}\n[fixed]\ndrive = 'x'\n[vary]\na = {axis}")
}

fn refusal(text: &str) -> String {
    let shown: String = text.chars().take(200).collect();
    Spec::parse(text).expect_err(&shown).to_string()
}

#[test]
fn a_sweep_of_impossible_size_is_refused_before_it_takes_memory() {
    limited();
    let thousand = format!("[{}]", vec!["1"; 1_000].join(","));
    let four_axes = format!("{thousand}\nb = {thousand}\nc = {thousand}\nd = {thousand}");
    let long_text = format!("['{}']", "x".repeat(1 << 20));
    let many_axes: String = (0..1_000).map(|axis| format!("\nc{axis} = [1]")).collect();
    for (text, word) in [
        (sweep("", &four_axes), "1000000000000 runs"),
        (sweep("", "{ from = 1, to = 2, steps = 4294967295 }"), "4294967295 runs"),
        (sweep("repeat = 4294967295", "[1, 2]"), "8589934590 runs"),
        (sweep("design = 'lhs'\npoints = 1000000000000", "[1]"), "1000000000000 runs"),
        (sweep("design = 'random'\npoints = 18446744073709551615", "[1]"), "runs"),
        (sweep("design = 'random'\npoints = 9223372036854775807\nrepeat = 9", "[1]"), "runs"),
        (sweep("design = 'random'\npoints = 1000000", &format!("[1]{many_axes}")), "of memory"),
        (sweep("design = 'random'\npoints = 1000000", &long_text), "of memory"),
        (
            sweep(
                "design = 'adaptive'\ngoal = 'waf_steady'\npoints = 1000000",
                "{ from = 0.0, to = 1.0 }",
            ),
            "10000",
        ),
    ] {
        let told = refusal(&text);
        assert!(told.contains(word) && told.len() < 2_000, "{word}: {told}");
    }
    // The largest that is accepted is made within the limit.
    let largest = sweep("design = 'lhs'\npoints = 1000000", "{ from = 0.0, to = 1.0 }");
    assert_eq!(Spec::parse(&largest).expect("a sweep").runs_count().expect("a count"), 1_000_000);
}

#[test]
fn numbers_that_are_none_make_no_axis() {
    for (axis, word) in [
        ("{ from = nan, to = 1.0, steps = 3 }", "expected numbers"),
        ("{ from = 0.0, to = inf, steps = 3 }", "expected numbers"),
        ("{ from = -inf, to = 0.0, steps = 3 }", "expected numbers"),
        ("{ from = -1.7e308, to = 1.7e308, steps = 3 }", "difference"),
        ("{ from = 1.0, to = 1.0, steps = 3 }", "from < to"),
        ("{ from = 1.0, to = 2.0, steps = nan }", ""),
        ("{ from = 1.0, to = 2.0, steps = -1 }", ""),
        ("{ from = 1.0, to = 2.0, steps = 1 }", "steps = 2"),
        ("{ from = -1.0, to = 2.0, steps = 3, log = true }", "above 0"),
        ("{ from = 1e400, to = 2.0, steps = 3 }", ""),
        ("{ from = 9223372036854775808, to = 2, steps = 3 }", ""),
        ("[1, [2]]", "array"),
        ("[1979-05-27]", "datetime"),
        ("{}", ""),
        ("3", ""),
    ] {
        let told = refusal(&sweep("", axis));
        assert!(told.contains(word) && told.len() < 2_000, "{axis}: {told}");
    }
    // All whole numbers that there are: more combinations than fit into 64 bits.
    let widest = "{ from = -9223372036854775808, to = 9223372036854775807 }";
    let spec = Spec::parse(&sweep("design = 'adaptive'\ngoal = 'waf_steady'\npoints = 9", widest));
    assert_eq!(spec.expect("a sweep").tasks().expect("tasks").len(), 9);
}

/// A file with some of its tokens exchanged, repeated or left out, also by those of another.
fn changed(rng: &mut Rng) -> String {
    const STRANGE: [&str; 12] = [
        "nan",
        "-inf",
        "1e308",
        "-1",
        "0",
        "18446744073709551615",
        "''",
        "[]",
        "{}",
        "\u{0}",
        "true",
        "&?#",
    ];
    let words = |text: &str| text.split_inclusive([' ', '\n', ',']).map(str::to_owned).collect();
    let one = |rng: &mut Rng| SWEEPS[rng.below(SWEEPS.len() as u64) as usize];
    let (mut own, other): (Vec<String>, Vec<String>) = (words(one(rng)), words(one(rng)));
    for _ in 0..=rng.below(4) {
        let at = rng.below(own.len() as u64) as usize;
        match rng.below(5) {
            0 => own[at] = other[rng.below(other.len() as u64) as usize].clone(),
            1 => own[at] = format!("{} ", STRANGE[rng.below(STRANGE.len() as u64) as usize]),
            2 => own.insert(at, other[rng.below(other.len() as u64) as usize].clone()),
            3 if own.len() > 1 => drop(own.remove(at)),
            _ => own[at] = own[at].repeat(1 + rng.below(3) as usize),
        }
    }
    own.concat()
}

#[test]
fn changed_sweep_files_are_refused_or_make_tasks() {
    for text in SWEEPS {
        Spec::parse(text).and_then(|spec| spec.tasks()).expect("a sweep");
    }
    let (mut rng, mut accepted) = (Rng::new(41), 0);
    for _ in 0..CHANGED_FILES {
        let Ok(spec) = Spec::parse(&changed(&mut rng)) else { continue };
        if spec.runs_count().expect("it was counted before") <= TASKS_MAX {
            let _ = spec.tasks();
        }
        accepted += 1;
    }
    assert!(accepted > 100, "{accepted} of {CHANGED_FILES} are sweeps");
}

const BASE: &str = "samsung-840-pro-256gb";

/// A run of the base model that a fit accepts.
fn run() -> Run {
    let template = include_str!("../../result/tests/compat/v2/run.json");
    let mut run: Run = serde_json::from_str(template).expect("a run");
    run.status = RunStatus::Complete;
    run.target.spec = format!("sim:{BASE}?scale=1/256");
    run.target.capacity_bytes = 1_000_235_008;
    run.span.span_bytes = run.target.capacity_bytes;
    run.marks.clear();
    run.request = Some(request("consistency", &[("duration", "120s"), ("steady_from", "80s")]));
    run
}

fn request(test: &str, settings: &[(&str, &str)]) -> Request {
    let setting = |(name, value): &(&str, &str)| Setting {
        name: (*name).to_owned(),
        value: (*value).to_owned(),
    };
    let document = serde_json::json!({
        "test": test, "target": "sim:x", "settings": [], "seed": 1, "workers": 1, "cpu": "near",
        "engine": "auto",
    });
    let request: Request = serde_json::from_value(document).expect("a request");
    Request { settings: settings.iter().map(setting).collect(), ..request }
}

/// The error of a fit before or at its first simulation, which is stopped.
fn answer(runs: &[Run]) -> String {
    let question = Question {
        runs,
        hold_out: &[],
        base: BASE,
        known: &[],
        scale: Ratio::new(1, 256).expect("a ratio"),
        tolerance: 0.05,
        seed: 1,
    };
    let stopped = AtomicBool::new(true);
    fit(&question, Limits::new(Some(1)), &stopped, &|_| ()).expect_err("a stop").to_string()
}

#[test]
fn hostile_figures_and_sizes_end_in_a_message() {
    assert!(answer(&[run()]).contains("was stopped"), "a sound run: {}", answer(&[run()]));
    let names: Vec<String> = run().metrics.keys().cloned().collect();
    let values = [0.0, -1.0, 1e308, -1e308, 5e-324, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    for value in values {
        let all = names.iter().map(|name| (name.clone(), Some(value)));
        answer(&[Run { metrics: all.collect(), ..run() }]);
    }
    for (name, value) in names.iter().zip(values.into_iter().cycle()) {
        let mut hostile = run();
        hostile.metrics.insert(name.clone(), Some(value));
        answer(&[hostile]);
    }
    for size in [0, 1, 4096, u64::MAX / 2, u64::MAX] {
        let mut hostile = run();
        hostile.target.capacity_bytes = size;
        answer(&[hostile.clone()]);
        hostile.span.span_bytes = u64::MAX;
        answer(&[hostile]);
        let mut hostile = run();
        hostile.span.span_bytes = size;
        answer(&[hostile]);
    }
    let none = Run { metrics: BTreeMap::new(), ..run() };
    answer(&[none]);
    assert!(answer(&[Run { request: None, ..run() }]).contains("has no request"));
    let cut = Run { status: RunStatus::Interrupted, ..run() };
    assert!(answer(&[cut]).contains("is not complete"));
    answer(&[]);
    // The same run many times.
    answer(&vec![run(); 50]);
}

#[test]
fn hostile_settings_of_a_run_end_in_a_message() {
    for (name, value) in [
        ("duration", "18446744073709551615ns"),
        ("duration", "0s"),
        ("duration", "-1s"),
        ("duration", "NaN"),
        ("duration", ""),
        ("steady_from", "18446744073s"),
        ("queue_depth", "4294967296"),
        ("queue_depth", "0"),
        ("block_bytes", "0"),
        ("write_bytes", "18446744073709551615"),
        ("no_such", "1"),
        ("", ""),
    ] {
        for test in ["consistency", "pslc", "qd-sweep"] {
            let request = Some(request(test, &[(name, value), (name, value)]));
            answer(&[Run { request, test: test.to_owned(), ..run() }]);
        }
    }
    answer(&[Run { test: "no-such-test".to_owned(), ..run() }]);
}

#[test]
fn hostile_figures_of_another_program_end_in_a_message() {
    let imported = |metrics: Vec<(String, f64)>, size: &str, duration_ns: u64| {
        let phase = |name: &str| Phase { name: name.to_owned(), duration_ns, ..Phase::default() };
        let step = |(name, _): &(String, f64)| Some(phase(name.split('.').nth(1)?));
        let phases = metrics.iter().filter_map(step).zip(1..);
        let phases = phases.map(|(step, start_ns)| Phase { start_ns, ..step });
        let phases = phases.chain([phase("load")]).collect();
        let metrics = metrics.into_iter().map(|(name, value)| (name, Some(value)));
        let mut run = Run { test: "imported".to_owned(), metrics: metrics.collect(), ..run() };
        run.config.insert("size".to_owned(), size.into());
        run.phases = phases;
        run
    };
    let reads = |depth: &str, value: f64| {
        ["iops", "latency_ns_p50"]
            .map(|end| (format!("imported.randread_4KiB_qd{depth}.{end}"), value))
    };
    for depth in ["0", "1", "4294967295", "4294967296", "-1", "", "1_jobs2", "9_jobs4294967295"] {
        for value in [0.0, 1.0, 1e308, f64::NAN, f64::INFINITY] {
            answer(&[imported(reads(depth, value).to_vec(), "256g", 1)]);
        }
    }
    for size in ["0", "1", "18446744073709551615", "999999999999999999999t", "256g", "nan", ""] {
        for duration_ns in [0, 1, u64::MAX] {
            let writes = vec![
                ("iops_steady_mean".to_owned(), 20_000.0),
                ("imported.randwrite_4KiB_qd32.iops".to_owned(), 20_000.0),
            ];
            answer(&[imported(writes, size, duration_ns)]);
        }
    }
    // A hundred thousand depths.
    let many = (1..=100_000).flat_map(|depth| reads(&depth.to_string(), 1_000.0)).collect();
    answer(&[imported(many, "256g", 1)]);
}
