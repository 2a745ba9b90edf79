//! `ssdlab lab` hands its words to Python, and tells of a Python that cannot take them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::lab::{Answer, Lab};

/// A program in place of Python, whose import of packages ends with `import_code`.
fn python(lab: &Lab, import_code: u8) -> String {
    let path = lab.path("python");
    let text = format!(
        "#!/bin/sh\nif [ \"$1\" = -c ]; then echo \"ModuleNotFoundError: No module named 'ray'\" >&2; exit {import_code}; fi\n\
         for word in \"$@\"; do echo \"$word\"; done\n"
    );
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_string_lossy().into_owned()
}

#[test]
fn every_word_of_a_lab_reaches_the_python_package() {
    let lab = Lab::new();
    let python = python(&lab, 0);
    let words = ["lab", "start", "--python", &python, "--address", "HOST:6379"];
    let further = ["--drive", "a=file:/srv/a b", "--", "--num-cpus", "8"];
    let answer = Answer::of(&mut lab.command(&[&words[..], &further].concat()));
    answer.must_exit_with(0);
    let heard: Vec<_> = answer.stdout.lines().collect();
    let expected = [
        "-m",
        "ssdlab.lab",
        "start",
        "--address=HOST:6379",
        "--drive=a=file:/srv/a b",
        "--num-cpus",
        "8",
    ];
    assert_eq!(heard, expected);
}

#[test]
fn a_python_without_the_packages_is_named_with_a_way_out() {
    let lab = Lab::new();
    let poor = python(&lab, 1);
    for (python, reason) in
        [(poor.as_str(), "No module named 'ray'"), ("/nonexistent", "No such file")]
    {
        let answer = Answer::of(&mut lab.command(&["lab", "show", "--python", python]));
        answer.must_exit_with(2);
        for word in [python, reason, "pip install './py[ray]'"] {
            assert!(answer.stderr.contains(word), "{word} is not in {}", answer.stderr);
        }
    }
}
