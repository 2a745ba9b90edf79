//! Run directories from the view of a user: written, read back, found, and broken.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::common::{add_phase, load_rows, phase, run_named, without_checksums};
use proptest::prelude::*;
use result::rows::PhaseRows;
use result::schema::{Run, RunStatus};
use result::store::{
    LATENCY_FILE, RUN_FILE, RunDir, RunWriter, SERIES_FILE, StoreError, list, preflight,
    resolve_run,
};

fn write_example(library: &Path, id: &str) -> (Run, PhaseRows) {
    let mut run = run_named(id);
    let mut writer = RunWriter::create(library, &run).unwrap();
    add_phase(&mut writer, &mut run, "fill", &load_rows(10, 10));
    let rows = load_rows(40, 20);
    add_phase(&mut writer, &mut run, "load", &rows);
    run.status = RunStatus::Complete;
    writer.finish(&run).unwrap();
    (run, rows)
}

fn file_names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn what_was_written_is_read() {
    let library = tempfile::tempdir().unwrap();
    let (run, rows) = write_example(library.path(), "r1");
    let dir = RunDir::open(&library.path().join("r1")).unwrap();
    assert_eq!(*dir.run(), run);
    let read = dir.phase_rows("load").unwrap();
    assert_eq!(read.seconds, rows.seconds);
    assert_eq!(read.latencies, rows.latencies);
    assert_eq!(dir.rows(0).unwrap().seconds.len(), 10);
    assert_eq!(file_names(dir.path()), [LATENCY_FILE, RUN_FILE, SERIES_FILE]);
}

#[test]
fn phases_of_one_name_stay_apart() {
    let library = tempfile::tempdir().unwrap();
    let mut run = run_named("rounds");
    let mut writer = RunWriter::create(library.path(), &run).unwrap();
    for seconds in [3, 5, 0, 7] {
        add_phase(&mut writer, &mut run, "round", &load_rows(seconds, 2));
    }
    let dir = RunDir::open(writer.path()).unwrap();
    let lengths: Vec<usize> = (0..4).map(|i| dir.rows(i).unwrap().seconds.len()).collect();
    assert_eq!(lengths, [3, 5, 0, 7]);
    let error = dir.phase_rows("load").unwrap_err().to_string();
    assert!(error.contains("`load`") && error.contains("round"), "{error}");
}

#[test]
fn a_phase_written_twice_counts_once() {
    let library = tempfile::tempdir().unwrap();
    let mut run = run_named("again");
    let mut writer = RunWriter::create(library.path(), &run).unwrap();
    add_phase(&mut writer, &mut run, "load", &load_rows(3, 2));
    writer.write_phase(&run, "load", &load_rows(9, 2)).unwrap();
    assert_eq!(RunDir::open(writer.path()).unwrap().rows(0).unwrap().seconds.len(), 9);
}

#[test]
fn an_older_run_is_never_overwritten() {
    let library = tempfile::tempdir().unwrap();
    write_example(library.path(), "same");
    let Err(error) = RunWriter::create(library.path(), &run_named("same")) else {
        panic!("overwrote a run");
    };
    assert!(matches!(error, StoreError::RunExists { .. }), "{error}");
    assert!(error.to_string().contains("--library"), "{error}");
}

#[test]
fn a_run_is_readable_from_its_first_moment() {
    let library = tempfile::tempdir().unwrap();
    let mut run = run_named("young");
    let writer = RunWriter::create(&library.path().join("new/library"), &run).unwrap();
    assert_eq!(RunDir::open(writer.path()).unwrap().run().status, RunStatus::Running);
    // A crash between the renames: rows are there, `run.json` does not list their phase yet.
    run.phases.push(phase("load", &PhaseRows::default()));
    let error = RunDir::open(writer.path()).unwrap().rows(0).unwrap_err().to_string();
    assert!(error.contains("phase `0` is not among the phases"), "{error}");
}

#[test]
fn a_run_whose_writer_is_gone_is_interrupted_and_says_after_which_phase() {
    let library = tempfile::tempdir().unwrap();
    let mut run = run_named("dead");
    let mut writer = RunWriter::create(library.path(), &run).unwrap();
    add_phase(&mut writer, &mut run, "fill", &load_rows(3, 2));
    let path = writer.path().to_owned();
    let living = RunDir::open(&path).unwrap();
    assert_eq!((living.run().status, living.run().warnings.len()), (RunStatus::Running, 0));
    drop(writer);
    let dead = RunDir::open(&path).unwrap();
    assert_eq!(dead.run().status, RunStatus::Interrupted);
    assert!(dead.run().warnings[0].contains("`fill`"), "{:?}", dead.run().warnings);
    assert_eq!(dead.phase_rows("fill").unwrap().seconds.len(), 3);
}

#[test]
fn the_same_rows_give_the_same_bytes() {
    let library = tempfile::tempdir().unwrap();
    for id in ["a", "b"] {
        write_example(library.path(), id);
    }
    for file in [SERIES_FILE, LATENCY_FILE] {
        let bytes = |id: &str| fs::read(library.path().join(id).join(file)).unwrap();
        assert!(bytes("a") == bytes("b"), "{file} differs");
    }
}

#[test]
fn values_beyond_the_column_are_refused_by_name() {
    let library = tempfile::tempdir().unwrap();
    let mut run = run_named("huge");
    let mut writer = RunWriter::create(library.path(), &run).unwrap();
    let mut rows = load_rows(2, 1);
    rows.seconds[1].errors = u64::MAX;
    run.phases.push(phase("load", &rows));
    let error = writer.write_phase(&run, "load", &rows).unwrap_err().to_string();
    assert!(error.contains("`errors`") && error.contains("18446744073709551615"), "{error}");
}

#[test]
fn rescue_saves_all_phases_elsewhere() {
    let library = tempfile::tempdir().unwrap();
    let refuge = tempfile::tempdir().unwrap();
    let mut run = run_named("lost");
    let mut writer = RunWriter::create(library.path(), &run).unwrap();
    add_phase(&mut writer, &mut run, "fill", &load_rows(4, 2));
    fs::remove_dir_all(writer.path()).unwrap();
    let rows = load_rows(6, 2);
    run.phases.push(phase("load", &rows));
    let error = writer.write_phase(&run, "load", &rows).unwrap_err().to_string();
    assert!(error.contains("cannot create") && error.contains("No such file"), "{error}");
    for count in [1, 2] {
        let path = writer.rescue(refuge.path(), &run).unwrap();
        let private = path.parent().unwrap();
        assert_eq!(private.parent(), Some(refuge.path()));
        assert_eq!(fs::metadata(private).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(refuge.path().read_dir().unwrap().count(), count);
        let dir = RunDir::open(&path).unwrap();
        assert_eq!(dir.rows(0).unwrap().seconds.len(), 4);
        assert_eq!(dir.rows(1).unwrap().seconds, rows.seconds);
    }
}

/// A directory that an attacker may have prepared in the directory for temporary files.
#[test]
fn a_rescue_and_a_replacement_follow_no_link() {
    let (library, refuge) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let victim = tempfile::tempdir().unwrap();
    let precious = victim.path().join("precious");
    fs::write(&precious, "precious").unwrap();
    symlink(victim.path(), refuge.path().join("ssdlab-rescued")).unwrap();
    let run = run_named("r");
    let writer = RunWriter::create(library.path(), &run).unwrap();
    writer.rescue(refuge.path(), &run).unwrap();
    symlink(&precious, writer.path().join(".run.json.tmp")).unwrap();
    writer.write(&run).unwrap();
    assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
    assert_eq!(victim.path().read_dir().unwrap().count(), 1);
    assert!(!writer.path().join(RUN_FILE).is_symlink());
}

#[test]
fn a_newer_version_is_refused_and_unknown_fields_are_not() {
    let library = tempfile::tempdir().unwrap();
    write_example(library.path(), "r");
    let path = library.path().join("r").join(RUN_FILE);
    let text = without_checksums(&fs::read_to_string(&path).unwrap());
    fs::write(&path, text.replacen('{', "{\"added_later\": [1],", 1)).unwrap();
    assert!(RunDir::open(&path).is_ok());
    fs::write(&path, "{\"schema_version\": 99, \"all_else\": \"is new\"}").unwrap();
    let error = RunDir::open(&path).unwrap_err().to_string();
    assert!(error.contains("99") && error.contains("newer ssdlab"), "{error}");
}

#[test]
fn files_that_contradict_each_other_are_told() {
    let library = tempfile::tempdir().unwrap();
    let mut run = run_named("odd");
    let mut writer = RunWriter::create(library.path(), &run).unwrap();
    let mut rows = load_rows(5, 2);
    rows.seconds.remove(2);
    rows.latencies[0].count += 1;
    run.phases.push(phase("purge", &PhaseRows::default()));
    add_phase(&mut writer, &mut run, "load", &rows);
    let found = RunDir::open(writer.path()).unwrap().contradictions().unwrap();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("`load`") && found[0].contains("second 2"), "{found:?}");
    assert!(found[1].contains(LATENCY_FILE), "{found:?}");
    let error = RunDir::open(writer.path()).unwrap().check().unwrap_err().to_string();
    assert!(error.contains("contradicts itself") && error.contains("second 2"), "{error}");
}

#[test]
fn missing_files_are_named() {
    let library = tempfile::tempdir().unwrap();
    write_example(library.path(), "r");
    let dir = RunDir::open(&library.path().join("r")).unwrap();
    fs::remove_file(dir.path().join(LATENCY_FILE)).unwrap();
    let error = dir.rows(0).unwrap_err().to_string();
    assert!(error.contains(LATENCY_FILE), "{error}");
    let error = RunDir::open(library.path()).unwrap_err().to_string();
    assert!(error.contains("not a run directory"), "{error}");
}

#[test]
fn runs_are_found_by_name_prefix_path_and_age() {
    let library = tempfile::tempdir().unwrap();
    let ids =
        ["20261121-031500-trim-acme-default-0001", "20261121-031501-consistency-acme-25-0002"];
    for id in ids {
        write_example(library.path(), id);
    }
    fs::create_dir(library.path().join("notes")).unwrap();
    let path = |id: &str| library.path().join(id);
    let find = |name: &str| resolve_run(library.path(), name);
    assert_eq!(find("latest").unwrap(), path(ids[1]));
    assert_eq!(find(ids[0]).unwrap(), path(ids[0]));
    assert_eq!(find("20261121-031500").unwrap(), path(ids[0]));
    assert_eq!(find("0002").unwrap(), path(ids[1]));
    assert_eq!(find(path(ids[0]).to_str().unwrap()).unwrap(), path(ids[0]));
    let error = find("202611").unwrap_err().to_string();
    assert!(error.contains("fits 2 runs") && error.contains(ids[1]), "{error}");
    let error = find("consistancy").unwrap_err().to_string();
    assert!(error.contains(ids[1]), "{error}");
    let error = find("./nowhere").unwrap_err().to_string();
    assert!(error.contains("./nowhere is not a run"), "{error}");
    assert!(find("").unwrap_err().to_string().contains("fits 2 runs"));
    let error = resolve_run(&path("none"), "latest").unwrap_err().to_string();
    assert!(error.contains("no run `latest` in") && error.contains("--library DIR"), "{error}");
}

#[test]
fn of_two_runs_in_one_second_the_later_is_latest() {
    let library = tempfile::tempdir().unwrap();
    for (id, started) in [("20261121-031500-trim-a", 5), ("20261121-031500-aaa", 9)] {
        let mut run = run_named(id);
        run.started_unix_ns = started;
        RunWriter::create(library.path(), &run).unwrap();
    }
    let latest = resolve_run(library.path(), "latest").unwrap();
    assert!(latest.ends_with("20261121-031500-aaa"), "{latest:?}");
}

#[test]
fn a_broken_run_does_not_hide_the_others() {
    let library = tempfile::tempdir().unwrap();
    write_example(library.path(), "a");
    write_example(library.path(), "b");
    fs::write(library.path().join("a").join(RUN_FILE), "{ \"schema_ver").unwrap();
    let entries = list(library.path()).unwrap();
    assert_eq!(entries.len(), 2);
    let error = entries[0].run.as_ref().unwrap_err().to_string();
    assert!(error.contains("run.json") && error.contains("line 1"), "{error}");
    assert_eq!(entries[1].run.as_ref().unwrap().run().run_id, "b");
}

#[test]
fn preflight_leaves_nothing_behind() {
    let parent = tempfile::tempdir().unwrap();
    preflight(&parent.path().join("runs/of/today"), 2_000).unwrap();
    preflight(parent.path(), 2_000).unwrap();
    assert!(file_names(parent.path()).is_empty());
}

#[test]
fn preflight_says_what_is_in_the_way() {
    let parent = tempfile::tempdir().unwrap();
    let file = parent.path().join("file");
    fs::write(&file, "x").unwrap();
    for library in [file.clone(), file.join("below")] {
        let error = preflight(&library, 1).unwrap_err().to_string();
        assert!(error.contains("--library") && error.contains("not a directory"), "{error}");
    }
    let error = preflight(parent.path(), u64::MAX).unwrap_err().to_string();
    assert!(
        error.contains("--library") && error.contains(" free and the results may need "),
        "{error}"
    );
    let error = preflight(Path::new("/proc/ssdlab"), 1).unwrap_err().to_string();
    assert!(error.contains("cannot write to"), "{error}");
}

/// Reads all data that a reader can request; the answer does not matter, a panic does.
fn read_all(dir: &Path) -> Result<(), StoreError> {
    let run = RunDir::open(dir)?;
    for index in 0..run.run().phases.len() {
        run.rows(index)?;
    }
    Ok(())
}

#[test]
fn cut_files_give_errors() {
    let library = tempfile::tempdir().unwrap();
    write_example(library.path(), "r");
    let dir = library.path().join("r");
    for file in [RUN_FILE, SERIES_FILE, LATENCY_FILE] {
        let whole = fs::read(dir.join(file)).unwrap();
        for length in (0..whole.len() - 2).step_by((whole.len() / 300).max(1)) {
            fs::write(dir.join(file), &whole[..length]).unwrap();
            let error = read_all(&dir).expect_err("a cut file was read").to_string();
            assert!(error.contains(file), "{error}");
        }
        fs::write(dir.join(file), whole).unwrap();
    }
    read_all(&dir).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..Default::default() })]

    #[test]
    fn damaged_files_never_panic(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..400),
        single: bool,
    ) {
        let library = tempfile::tempdir().unwrap();
        write_example(library.path(), "r");
        let dir = library.path().join("r");
        for file in [RUN_FILE, SERIES_FILE, LATENCY_FILE] {
            let whole = fs::read(dir.join(file)).unwrap();
            let mut broken = whole.clone();
            for (at, byte) in &damage {
                if single {
                    broken.clone_from(&whole);
                }
                let at = at.index(broken.len());
                broken[at] = *byte;
                if single {
                    fs::write(dir.join(file), &broken).unwrap();
                    let _ = read_all(&dir);
                }
            }
            fs::write(dir.join(file), &broken).unwrap();
            let _ = read_all(&dir);
            fs::write(dir.join(file), whole).unwrap();
        }
    }
}

#[test]
fn facts_are_kept_and_unknown_ones_of_a_later_build_are_left_out() {
    let text = r#"{"dram": {"value": "512 MB", "from": "rated: test"}, "colour": {"value": "red"},
        "rated": {"idle_mw": {"value": 70, "from": "rated: test"}, "hum_db": {"value": 1}}}"#;
    let mut run = serde_json::to_value(run_named("facts")).unwrap();
    assert!(run["target"].get("facts").is_none(), "no facts, no member");
    run["target"]["facts"] = serde_json::from_str(text).unwrap();
    let run: Run = serde_json::from_value(run).unwrap();
    let known: Vec<_> = run.target.facts.known().map(|fact| (fact.key, fact.text())).collect();
    assert_eq!(known, [("dram", "512 MB".to_owned()), ("rated.idle_mw", "70 mW".to_owned())]);
    let again = serde_json::to_value(&run).unwrap();
    assert_eq!(again["target"]["facts"]["rated"]["idle_mw"]["value"], 70);
}
