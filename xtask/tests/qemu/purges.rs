//! Does each purge use the best method of the drive, and affect nothing beyond it?

use serde_json::Value;

use crate::machine::Record;

/// The obstacle to a method, in a list of `method` and `obstacle`, or `None` if there is none.
fn obstacle<'a>(options: &'a Value, method: &str) -> Option<&'a str> {
    let options = options.as_array().expect("a list of methods");
    let option = options.iter().find(|option| option["method"] == method);
    option.unwrap_or_else(|| panic!("no {method} in {options:?}"))["obstacle"].as_str()
}

fn phase(run: &Value, name: &str) -> Value {
    let phases = run["phases"].as_array().expect("phases");
    phases.iter().find(|phase| phase["name"] == name).expect("the phase").clone()
}

#[test]
fn the_plan_says_how_and_why_not_otherwise() {
    let nvme = Record::of("plan-nvme").document()["plans"][0].clone();
    assert_eq!(nvme["purge_method"], "nvme-format");
    let options = &nvme["purge_options"];
    assert!(obstacle(options, "nvme-format-crypto").expect("closed").contains("not support"));
    assert!(obstacle(options, "nvme-sanitize-block").is_some());
    let sata = Record::of("plan-sata").document()["plans"][0].clone();
    assert_eq!(sata["purge_method"], "deallocate");
    let reason = obstacle(&sata["purge_options"], "ata-security-erase").expect("closed");
    assert!(reason.contains("no security feature set"), "the drive itself was asked: {reason}");
}

#[test]
fn a_method_that_the_drive_does_not_have_is_refused() {
    for name in ["plan-sata-security", "sata-security"] {
        Record::of(name).must_exit_with(5);
        assert!(Record::of(name).stderr.contains("deallocate"), "{:#?}", Record::of(name));
    }
}

#[test]
fn an_nvme_drive_is_formatted_and_measured() {
    Record::of("nvme").must_exit_with(0);
    let run = Record::of("nvme.json").document();
    assert_eq!(run["status"], "complete");
    assert_eq!(run["purge"]["method"], "nvme-format");
    assert_eq!(run["target"]["serial"], "NVME-ONE");
    assert_eq!(phase(&run, "fill")["bytes"], 64 << 20);
    assert!(phase(&run, "load")["ios"].as_u64().is_some_and(|ios| ios > 100), "{run:#}");
    assert!(run["target"]["engine"].as_str().expect("an engine").contains("io_uring"), "{run:#}");
}

#[test]
fn a_sata_drive_is_deallocated_and_measured() {
    Record::of("sata").must_exit_with(0);
    let run = Record::of("sata.json").document();
    assert_eq!(run["status"], "complete");
    assert_eq!(run["purge"]["method"], "deallocate");
    let details = &run["target"]["details"];
    assert_eq!(details["write_cache"], "write back");
    assert!(details["sata_link"].as_str().expect("a speed").ends_with("Gbps"), "{details:#}");
    assert!(phase(&run, "load")["ios"].as_u64().is_some_and(|ios| ios > 100), "{run:#}");
}

/// The emulated drive decides on the effect of TRIM; this test checks its arrival.
#[test]
fn a_trim_pass_runs_on_a_sata_drive() {
    let trim = Record::of("trim");
    assert!(matches!(trim.code, 0 | 1), "a verdict, good or bad: {trim:#?}");
    let run = Record::of("trim.json").document();
    assert_eq!(run["status"], "complete", "{run:#}");
    let trims = run["phases"].as_array().expect("phases").iter();
    let trims = trims.filter(|phase| phase["what"].to_string().contains("(TRIM)"));
    let complete: Vec<_> = trims.map(|phase| phase["complete"] == true).collect();
    assert!(complete.len() >= 4 && complete.iter().all(|complete| *complete), "{run:#}");
}

#[test]
fn a_format_leaves_the_other_namespace_alone() {
    let sum = |name| Record::of(name).stdout.split_whitespace().next().map(str::to_owned);
    assert_eq!(sum("second-before").map(|sum| sum.len()), Some(64));
    assert_eq!(sum("second-before"), sum("second-after"));
}
