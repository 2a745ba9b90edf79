//! Does each check of an upload refuse by itself?

use std::fs;
use std::io::{Cursor, ErrorKind};
use std::path::Path;

use crate::common::{Running, TOKEN, add_run, agent, names};
use ureq::unversioned::multipart::{Form, Part};

const FILES: [&str; 3] = ["run.json", "series.parquet", "latency.parquet"];

/// The ends of a connection whose server has refused before it read everything.
const CLOSED: [ErrorKind; 2] = [ErrorKind::BrokenPipe, ErrorKind::ConnectionReset];

/// The status of an upload of the files of a run under these names.
fn uploaded(
    server: &Running,
    authorization: Option<&str>,
    run: &Path,
    names: &[(&'static str, &str)],
) -> Option<u16> {
    let mut form = Form::new();
    for (name, file) in names {
        let content = fs::read(run.join(file)).unwrap();
        form = form.part(name, Part::owned_reader(Cursor::new(content)).file_name(name));
    }
    let request = agent().post(format!("{}/runs", server.url));
    let request = match authorization {
        Some(words) => request.header("Authorization", words),
        None => request,
    };
    match request.send(form) {
        Ok(answer) => Some(answer.status().as_u16()),
        Err(ureq::Error::Io(error)) if CLOSED.contains(&error.kind()) => None,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn only_the_three_files_of_a_run_with_the_secret_are_taken() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let run = add_run(here.path(), "run-1");
    let server = Running::start(there.path(), Some(TOKEN));
    let bearer = format!("Bearer {TOKEN}");
    let own = FILES.map(|name| (name, name));
    for (authorization, status) in [
        (None, 401),
        (Some("Bearer "), 401),
        (Some(TOKEN), 401),
        (Some("Basic MDEyMzQ1Njc4OWFiY2RlZlhZWg=="), 401),
    ] {
        let answer = uploaded(&server, authorization, &run, &own);
        assert!(answer.is_none_or(|it| it == status), "{authorization:?}: {answer:?}");
        assert!(crate::common::names(there.path()).is_empty(), "{authorization:?}");
    }
    let [run_json, series, latency] = own;
    for names in [
        &[("../run.json", "run.json"), series, latency][..],
        &[("x/run.json", "run.json"), series, latency],
        &[run_json, series, latency, run_json],
        &[run_json, series],
    ] {
        let answer = uploaded(&server, Some(&bearer), &run, names);
        assert!(answer.is_none_or(|it| it == 400), "{names:?}: {answer:?}");
        assert!(crate::common::names(there.path()).is_empty(), "{names:?}");
    }
    assert_eq!(uploaded(&server, Some(&bearer), &run, &own), Some(201));
    assert_eq!(uploaded(&server, Some(&bearer), &run, &own), Some(409));
    assert_eq!(names(there.path()), ["run-1"]);
}
