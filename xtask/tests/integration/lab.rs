//! The common needs of all tests here: a scratch directory, the binary, and its decoded answers.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::read::ZlibDecoder;
use serde_json::Value;
use tempfile::TempDir;

/// Variables with the defaults of a user.
const DEFAULTS: [&str; 4] = ["SSDLAB_LIBRARY", "SSDLAB_ENGINE", "SSDLAB_HOST", "SSDLAB_FORMAT"];

/// A scratch directory with a library in it, and the binary under test.
pub(crate) struct Lab {
    dir: TempDir,
}

impl Lab {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a scratch directory") }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn library(&self) -> PathBuf {
        self.path("runs")
    }

    /// `ssdlab ARGS...`, with the scratch directory as its working directory.
    pub(crate) fn command<S: AsRef<std::ffi::OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(binary());
        command.args(args).current_dir(self.dir.path());
        // The defaults of whoever runs the tests are none of them.
        for name in DEFAULTS {
            command.env_remove(name);
        }
        command.env("SSDLAB_CONFIG", "");
        command
    }

    /// `ssdlab run consistency ARGS... --library ... --format json`
    pub(crate) fn consistency(&self, args: &[&str]) -> Command {
        let mut command = self.command(&["run", "consistency"]);
        command.args(args).arg("--library").arg(self.library()).args(["--format", "json"]);
        command
    }

    /// The transcript of these commands for a person: as typed, the exit code, and every word on
    /// stdout and stderr. The scratch directory is called `LAB`, and the list of all tests `TESTS`.
    pub(crate) fn transcript<'a>(
        &self,
        commands: impl IntoIterator<Item = &'a [&'a str]>,
    ) -> String {
        let mut text = String::new();
        for args in commands {
            let Answer { code, stdout, stderr, .. } = Answer::of(&mut self.command(args));
            let code = code.expect("it was not killed");
            let document = serde_json::from_str::<Value>(&stdout);
            let stdout = document.map_or(stdout, |document| format!("{document:#}\n"));
            // A busy machine takes more than a moment for work that has a line of its own then.
            let is_wait = |line: &&str| line.starts_with("reading ") && line.ends_with(" ...\n");
            let stderr: String =
                stderr.split_inclusive('\n').filter(|line| !is_wait(line)).collect();
            text += &format!("$ ssdlab {}\n{stdout}{stderr}[exit code {code}]\n\n", args.join(" "));
        }
        text.replace(&*self.dir.path().to_string_lossy(), "LAB")
    }

    /// Runs a command that must succeed, and returns the run directories.
    pub(crate) fn run(&self, args: &[&str]) -> Vec<PathBuf> {
        let answer = Answer::of(&mut self.consistency(args));
        answer.must_exit_with(0);
        self.run_dirs(&answer.document())
    }

    /// The directories in a document, for any working directory.
    pub(crate) fn run_dirs(&self, document: &Value) -> Vec<PathBuf> {
        let dirs = document["run_dirs"].as_array().expect("`run_dirs` is an array");
        dirs.iter().map(|dir| self.dir.path().join(dir.as_str().expect("a path"))).collect()
    }
}

/// The binary under test.
pub(crate) fn binary() -> PathBuf {
    let path = std::env::var_os("SSDLAB_BIN").map(PathBuf::from);
    path.expect("set SSDLAB_BIN to the ssdlab binary, or use `cargo xtask test --only integration`")
}

/// The output of a command and its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    command: String,
}

impl Answer {
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.output().expect("the binary starts");
        Self::new(command, output)
    }

    pub(crate) fn new(command: &Command, output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
            command: format!("{command:?}"),
        }
    }

    pub(crate) fn must_exit_with(&self, code: i32) {
        assert_eq!(self.code, Some(code), "exit code of {}:\n{}", self.command, self.talk());
    }

    /// Stdout as exactly one JSON document: any text before or after it is an error.
    pub(crate) fn document(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("stdout is not one JSON document: {error}\n{self:#?}"))
    }

    /// The stable code of a refusal.
    pub(crate) fn reason(&self) -> String {
        let document = self.document();
        find_key(&document, "reason")
            .and_then(Value::as_str)
            .unwrap_or_else(|| panic!("no `reason` in the JSON of {self:#?}"))
            .to_owned()
    }

    /// All output for a person.
    pub(crate) fn talk(&self) -> String {
        format!("{}\n{}", self.stdout, self.stderr)
    }
}

/// The first value under `key`, however deep.
fn find_key<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    match value {
        Value::Object(map) => {
            map.get(key).or_else(|| map.values().find_map(|inner| find_key(inner, key)))
        }
        Value::Array(list) => list.iter().find_map(|inner| find_key(inner, key)),
        _ => None,
    }
}

/// The data of a page, as the JSON text that a browser reads.
pub(crate) fn page_data(page: &str) -> String {
    let (_, data) = page.split_once("id=\"ssdlab-data\">").expect("a place for the data");
    let (data, _) = data.split_once("</script>").expect("an end of the data");
    let stream = BASE64.decode(data).expect("base64");
    std::io::read_to_string(ZlibDecoder::new(&stream[..])).expect("a zlib stream of text")
}

/// A page as far as a report, a site and a server need it: the binary may have none built in.
pub(crate) const PAGE: &str = "<meta http-equiv=\"Content-Security-Policy\" content=\"connect-src 'none'\" />\
    <script type=\"text/plain\" id=\"ssdlab-data\">null</script>";

/// The run.json of a run directory.
pub(crate) fn read_run(dir: &Path) -> Value {
    let path = dir.join("run.json");
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    serde_json::from_str(&text).expect("run.json is JSON")
}

/// One phase of a run by its name.
pub(crate) fn phase<'a>(run: &'a Value, name: &str) -> &'a Value {
    let phases = run["phases"].as_array().expect("`phases` is an array");
    phases
        .iter()
        .find(|phase| phase["name"] == name)
        .unwrap_or_else(|| panic!("no phase {name} in {phases:#?}"))
}
