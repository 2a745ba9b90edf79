//! Does the test `workload` do the jobs of a file, and give figures of each and of their sum?

use std::path::Path;

use run::{Outcome, RunError};
use target::TargetError;
use target::scripted::{Reply, ScriptedTarget};

use crate::common::{metric, request, run_quietly, simulated, test};

const TWO_JOBS: &str = r#"
duration = "4s"

[job.noisy]
op = "write"
block = "64KiB"
pattern = "sequential"
span = "50%"
queue_depth = 4

[job.quiet]
op = "read"
block = "4KiB"
pattern = "uniform"
offset = "50%"
rate = "500"
"#;

fn written(dir: &Path, text: &str) -> String {
    let path = dir.join("workload.toml");
    std::fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

fn outcome(text: &str, settings: &[(&str, &str)]) -> Result<Outcome, RunError> {
    let dir = tempfile::tempdir().unwrap();
    let file = written(dir.path(), text);
    let mut target = ScriptedTarget::new(64 << 20, Reply::after_ns(1_000_000));
    let settings = [&[("workload", file.as_str())], settings].concat();
    run_quietly(&mut target, &request(dir.path(), test("workload"), &settings))
}

#[test]
fn each_job_has_figures_beside_the_sum() {
    let outcome = outcome(TWO_JOBS, &[]).unwrap();
    assert_eq!(metric(&outcome, "workload.quiet.iops"), 500.0);
    // Four commands of 1 ms at a time; those that end with the phase are late.
    assert_eq!(metric(&outcome, "workload.noisy.iops"), 3_999.0);
    assert_eq!(metric(&outcome, "workload.all.iops"), 4_499.0);
    let mb_per_s = metric(&outcome, "workload.noisy.mb_per_s");
    assert!((mb_per_s - 3_999.0 * 0.065_536).abs() < 1e-6, "{mb_per_s}");
    let p99 = metric(&outcome, "workload.quiet.latency_ns_p99");
    assert!((p99 / 1e6 - 1.0).abs() < 0.01, "{p99}");
    let names: Vec<_> = outcome.run.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["purge", "fill", "load"]);
    let rows = |table: usize| {
        let rows = outcome.run.tables[table].rows.iter();
        rows.map(|row| (row.label.as_str(), row.values.clone())).collect::<Vec<_>>()
    };
    assert_eq!(rows(0).iter().map(|(job, _)| *job).collect::<Vec<_>>(), ["noisy", "quiet", "all"]);
    let counts: Vec<_> = rows(1).iter().map(|(_, values)| (values[0], values[1])).collect();
    let [noisy, quiet, all] = counts[..] else { panic!("{counts:?}") };
    assert_eq!((quiet, noisy.0), ((Some(2_000.0), Some(0.0)), Some(0.0)));
    assert_eq!(all, (quiet.0, noisy.1));
    let finding = &outcome.run.findings[0].text;
    assert!(finding.contains("at 4499 IOPS"), "{finding}");
}

#[test]
fn the_result_holds_the_file_and_the_settings_that_replaced_its_values() {
    let outcome = outcome(TWO_JOBS, &[("duration", "2s"), ("fill", "false"), ("purge", "false")]);
    let run = outcome.unwrap().run;
    assert_eq!(run.config["file"], TWO_JOBS);
    assert_eq!((&run.config["duration_s"], run.phases.len()), (&2.0.into(), 1));
    assert_eq!(run.phases[0].duration_ns, 2_000_000_000);
    let conditions = &run.tables[0].conditions;
    assert!(conditions["QD"].contains("at most") && conditions.contains_key("workload"));
}

#[test]
fn a_job_that_is_late_is_named() {
    let text = TWO_JOBS.replace("rate = \"500\"", "rate = \"5k\"\nqueue_depth = 1");
    let warnings = outcome(&text, &[]).unwrap().run.warnings.join("\n");
    assert!(
        warnings
            .contains("phase `load`, job `quiet`: the target did not keep up with a rate of 5000"),
        "{warnings}"
    );
}

#[test]
fn a_built_in_workload_runs_on_a_simulated_drive() {
    let library = tempfile::tempdir().unwrap();
    let mut drive = simulated("samsung-840-pro-256gb", &[("scale", "1/256")]);
    for name in ["oltp", "vm-mix"] {
        let settings = [("workload", name), ("duration", "2s")];
        let request = request(library.path(), test("workload"), &settings);
        let outcome = run_quietly(&mut drive, &request).unwrap();
        assert!(metric(&outcome, "workload.all.iops") > 1_000.0, "{name}");
        let latencies = outcome.run.metrics.iter().filter(|(name, _)| name.ends_with("ns_mean"));
        assert!(latencies.clone().count() >= 3, "{name}");
        assert!(latencies.clone().all(|(_, value)| value.is_some()), "{name}");
    }
}

#[test]
fn a_workload_that_cannot_be_is_refused_before_anything_is_written() {
    for (old, new, expected) in [
        ("span = \"50%\"", "span = \"101%\"", "`job.noisy.span = 101%`: the tested span has"),
        ("64KiB", "100", "`job.noisy.block = 100`: expected 512 bytes"),
        ("queue_depth = 4", "queue_depth = 4000", "queue depth 4000 is more than the 1024"),
        ("rate = \"500\"", "rate = \"fast\"", "`job.quiet.rate = fast`"),
        ("op = \"read\"", "op = \"reads\"", "unknown variant `reads`"),
    ] {
        let error = outcome(&TWO_JOBS.replace(old, new), &[]).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}, not {expected}");
    }
    let error = outcome(TWO_JOBS, &[("duration", "soon")]).unwrap_err().to_string();
    assert!(error.contains("--set duration=soon"), "{error}");
    let library = tempfile::tempdir().unwrap();
    let mut target = ScriptedTarget::new(64 << 20, Reply::after_ns(1_000));
    for (workload, expected) in
        [("", "name the workload: --workload FILE"), ("nowhere.toml", "cannot be read")]
    {
        let request = request(library.path(), test("workload"), &[("workload", workload)]);
        let error = run_quietly(&mut target, &request).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("oltp"), "{error}");
    }
    assert!(target.events().is_empty());
}

/// A job that ends within its warm-up has no figures, and says so.
#[test]
fn a_warm_up_that_outlasts_its_job_leaves_no_figures() {
    let text = "[job.w]\nop=\"write\"\nblock=\"4KiB\"\npattern=\"uniform\"\nqueue_depth=32\n\
                bytes=\"5%\"\nwarm_up=\"600s\"\n";
    let outcome = outcome(text, &[]).unwrap();
    let told = outcome.run.warnings.join("\n");
    assert!(told.contains("job `w`: it ended within its warm-up of 600s"), "{told}");
    for (name, value) in &outcome.run.metrics {
        assert_eq!(*value, None, "{name}");
    }
    assert!(outcome.run.findings.is_empty(), "{:?}", outcome.run.findings);
}

#[test]
fn a_job_that_ends_long_before_its_time_is_marked() {
    // 64 MiB of 128 KiB at 1 ms each and depth 8: 64 ms of the 60 s.
    let text = "[job.a]\nop=\"write\"\nblock=\"128KiB\"\npattern=\"sequential\"\nqueue_depth=8\n\
                bytes=\"64MiB\"\nduration=\"60s\"\n";
    let of = |text: &str| outcome(text, &[]).unwrap().run;
    let run = of(text);
    let told = run.warnings.join("\n");
    assert!(
        told.contains("job `a`: it ended after") && told.contains("of the 60s that it was given")
    );
    for name in ["workload.a.iops", "workload.all.iops", "workload.a.latency_ns_mean"] {
        assert!(run.marks.iter().any(|mark| mark.metric == name), "{name}: {:?}", run.marks);
    }
    let run = of(&text.replace("60s", "100ms"));
    assert!(!run.warnings.join("\n").contains("it ended after"), "{:?}", run.warnings);
    assert!(!run.marks.iter().any(|mark| mark.metric == "workload.a.iops"), "{:?}", run.marks);
}

#[test]
fn a_placement_without_handles_is_refused_before_anything_is_written() {
    let text = TWO_JOBS.replace("queue_depth = 4", "queue_depth = 4\nplacement = 1");
    let dir = tempfile::tempdir().unwrap();
    let file = written(dir.path(), &text);
    let mut target = ScriptedTarget::new(64 << 20, Reply::after_ns(1_000));
    let request = request(dir.path(), test("workload"), &[("workload", file.as_str())]);
    let error = run_quietly(&mut target, &request).unwrap_err();
    assert!(matches!(error, RunError::Target(TargetError::Unsupported(_))), "{error:?}");
    assert!(error.to_string().contains("job `noisy` has placement = 1"), "{error}");
    assert!(target.events().is_empty());
}

#[test]
fn a_burst_that_the_queue_cannot_take_is_told_with_its_second() {
    // From second 2 on, 100 commands at once every second, one at a time for 10 ms each.
    let text = "[job.b]\nop=\"read\"\nblock=\"4KiB\"\npattern=\"uniform\"\nqueue_depth=1\n\
                delay=\"2s\"\nrate=\"bursts(1000000, on=100us, off=4s)\"\nduration=\"3s\"\n";
    let dir = tempfile::tempdir().unwrap();
    let file = written(dir.path(), text);
    let mut target = ScriptedTarget::new(64 << 20, Reply::after_ns(10_000_000));
    let settings = [("workload", file.as_str()), ("fill", "false")];
    let run =
        run_quietly(&mut target, &request(dir.path(), test("workload"), &settings)).unwrap().run;
    let told = run.warnings.join("\n");
    assert!(
        told.contains("job `b`: the target could not keep up from second 2: 99 of 100"),
        "{told}"
    );
}

#[test]
fn a_workload_tells_the_work_inside_a_simulated_drive() {
    let library = tempfile::tempdir().unwrap();
    let mut drive = simulated("samsung-840-pro-256gb", &[("scale", "1/256")]);
    let settings = [("workload", "oltp"), ("duration", "2s")];
    let request = request(library.path(), test("workload"), &settings);
    let outcome = run_quietly(&mut drive, &request).unwrap();
    assert!(metric(&outcome, "workload.all.waf") > 0.5);
    for name in ["gc_moved_pages", "erased_superblocks"] {
        assert!(outcome.run.metrics[&format!("workload.all.{name}")].is_some(), "{name}");
    }
}

/// The drive goes on while a job pauses: the others find their ends at once.
#[test]
fn a_pause_of_one_job_does_not_delay_another_on_a_simulated_drive() {
    let library = tempfile::tempdir().unwrap();
    let mut drive = simulated("samsung-840-pro-256gb", &[("scale", "1/256")]);
    let job = "op = 'read'\nblock = '4KiB'\npattern = 'uniform'\nqueue_depth = 1\n";
    let text = format!(
        "[job.quick]\n{job}think = '10ms'\nthink_after = 4\nbytes = '1600KiB'\n\
         [job.slow]\n{job}think = '200ms'\n"
    );
    let file = written(library.path(), &text);
    let request = request(library.path(), test("workload"), &[("workload", file.as_str())]);
    let outcome = run_quietly(&mut drive, &request).unwrap();
    // 100 times four reads of about 0.1 ms and 10 ms of pause.
    let iops = metric(&outcome, "workload.quick.iops");
    assert!((350.0..400.0).contains(&iops), "{iops}");
}
