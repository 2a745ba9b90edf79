//! Data flows one way: drive model or device, target, workload, run, result, report.

use std::process::Command;

use serde_json::Value;

use super::source::root;

/// The permitted dependencies of a crate within the workspace, beside `base`; ARCHITECTURE.md has
/// the table.
fn allowed(package: &str) -> Option<&'static [&'static str]> {
    Some(match package {
        "ssdlab-base" | "ssdlab-nvme" | "ssdlab-sim" | "ssdlab-load" | "ssdlab-result"
        | "ssdlab-target" | "xtask" => &[],
        "ssdlab-bench" => &["ssdlab-nvme", "xtask"],
        "ssdlab-sim-trial" => &["ssdlab-sim"],
        "ssdlab-expose" => &["ssdlab-nvme", "ssdlab-sim"],
        "ssdlab-device" => &["ssdlab-nvme", "ssdlab-target"],
        "ssdlab-io" => &["ssdlab-sim", "ssdlab-target", "ssdlab-device"],
        "ssdlab-run" => &["ssdlab-target", "ssdlab-device", "ssdlab-load", "ssdlab-result"],
        "ssdlab-validation" => &["ssdlab-sim", "ssdlab-io", "ssdlab-run", "ssdlab-result"],
        "ssdlab-serve" => &["ssdlab-result"],
        "ssdlab-fuzz" => {
            &["ssdlab-load", "ssdlab-nvme", "ssdlab-result", "ssdlab-expose", "ssdlab-sim"]
        }
        "ssdlab-session" => &[
            "ssdlab-target",
            "ssdlab-device",
            "ssdlab-io",
            "ssdlab-load",
            "ssdlab-run",
            "ssdlab-result",
        ],
        "ssdlab-study" => &[
            "ssdlab-sim",
            "ssdlab-target",
            "ssdlab-device",
            "ssdlab-io",
            "ssdlab-load",
            "ssdlab-run",
            "ssdlab-result",
            "ssdlab-session",
        ],
        "ssdlab-py" => &[
            "ssdlab-sim",
            "ssdlab-expose",
            "ssdlab-target",
            "ssdlab-io",
            "ssdlab-load",
            "ssdlab-run",
            "ssdlab-result",
            "ssdlab-session",
            "ssdlab-study",
        ],
        "ssdlab-cli" => &[
            "ssdlab-session",
            "ssdlab-study",
            "ssdlab-sim",
            "ssdlab-sim-trial",
            "ssdlab-expose",
            "ssdlab-target",
            "ssdlab-device",
            "ssdlab-io",
            "ssdlab-load",
            "ssdlab-run",
            "ssdlab-result",
            "ssdlab-serve",
        ],
        _ => return None,
    })
}

/// Further dependencies of tests: a test of the suite drives simulated drives and files, and those
/// of the simulator use the trial.
fn allowed_in_tests(package: &str) -> &'static [&'static str] {
    match package {
        "ssdlab-bench" => &[
            "ssdlab-io",
            "ssdlab-load",
            "ssdlab-result",
            "ssdlab-run",
            "ssdlab-session",
            "ssdlab-sim",
            "ssdlab-target",
        ],
        "ssdlab-run" => &["ssdlab-io"],
        "ssdlab-sim" => &["ssdlab-sim-trial"],
        _ => &[],
    }
}

fn packages() -> Vec<Value> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--no-deps", "--format-version=1"]).current_dir(root());
    let output = cargo.output().expect("cargo runs");
    let mut metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata is JSON");
    let packages = metadata["packages"].take();
    serde_json::from_value(packages).expect("`packages` is an array")
}

/// The forbidden dependencies of a package. Those of tests count too, except for
/// [`allowed_in_tests`]: a test of `result` that needs a simulator would not build without one.
fn forbidden_edges(package: &Value) -> Vec<String> {
    let name = package["name"].as_str().expect("a name");
    let Some(allowed) = allowed(name) else {
        return vec![format!("{name} is new: give it a place in {}", file!())];
    };
    let dependencies = package["dependencies"].as_array().expect("an array");
    dependencies
        .iter()
        // A path is what tells a crate of the workspace from one of a registry.
        .filter(|dependency| dependency["path"].is_string())
        .filter_map(|dependency| Some((dependency["name"].as_str()?, &dependency["kind"])))
        .filter(|(dependency, kind)| {
            let in_tests = *kind == "dev" && allowed_in_tests(name).contains(dependency);
            !(*dependency == "ssdlab-base" || allowed.contains(dependency) || in_tests)
        })
        .map(|(dependency, _)| format!("{name} must not depend on {dependency}"))
        .collect()
}

#[test]
fn crates_depend_only_upstream() {
    let wrong: Vec<_> = packages().iter().flat_map(forbidden_edges).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_forbidden_edge_is_noticed() {
    let package: Value = serde_json::json!({
        "name": "ssdlab-result",
        "dependencies": [
            { "name": "serde", "path": null },
            { "name": "ssdlab-base", "path": "crates/base" },
            { "name": "ssdlab-sim", "path": "crates/sim" },
        ],
    });
    assert_eq!(forbidden_edges(&package), ["ssdlab-result must not depend on ssdlab-sim"]);
    let engine = |kind: &str| {
        let edge = serde_json::json!({ "name": "ssdlab-io", "path": "crates/io", "kind": kind });
        forbidden_edges(&serde_json::json!({ "name": "ssdlab-run", "dependencies": [edge] }))
    };
    assert!(engine("dev").is_empty() && engine("normal").len() == 1);
}
