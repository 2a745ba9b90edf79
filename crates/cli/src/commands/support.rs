//! `ssdlab support`: a bundle for whoever looks into a wrong figure, and nothing personal in it.
//!
//! Serial numbers, paths, names of files and names of the host stand as `serial-1`, `path-2` and so on, the same name
//! for the same thing within a bundle. A hash could be guessed: serial numbers are short and count upwards.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args as ClapArgs;
use device::host::environment::environment;
use result::report::Page;
use result::store::{RunDir, resolve_run};
use serde_json::{Value, json};

use crate::args::{LIBRARY, heading};
use crate::failure::EXIT_DONE;
use crate::ui::out::data;

const EXAMPLES: &str = "\
Examples:
  ssdlab support  # this program and this machine
  ssdlab support latest > bundle.json  # and the run with the wrong figure
  ssdlab support c3ee 20261124 --library peers";

/// Arguments of `support`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct SupportArgs {
    /// Runs: path, name, start or last letters of a name, or `latest`
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// Directory of run directories
    #[arg(long, value_name = "DIR", default_value = LIBRARY, help_heading = heading::OUTPUT)]
    pub library: PathBuf,
}

/// Prints the bundle.
pub fn run(args: &SupportArgs) -> anyhow::Result<u8> {
    let mut names = Names::of_machine();
    let mut runs = Vec::new();
    for name in &args.runs {
        let run = RunDir::open(&resolve_run(&args.library, name)?)?;
        let mut run = serde_json::to_value(run.run())?;
        names.learn(&run);
        for own in ["about", "command", "invocation"] {
            run.as_object_mut().and_then(|run| run.remove(own));
        }
        runs.push(run);
    }
    runs.iter_mut().for_each(|run| names.replace(run));
    let mut machine = serde_json::to_value(environment())?;
    names.replace(&mut machine);
    let bundle = json!({ "program": program(), "machine": machine, "runs": runs });
    data!("{}", serde_json::to_string_pretty(&bundle)?);
    Ok(EXIT_DONE)
}

/// Answers `ssdlab --version --verbose`; whether that was the call.
pub fn answer_version() -> bool {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let is_call = |one: &str, other: &str| words == [one, other];
    if !is_call("--version", "--verbose") && !is_call("--verbose", "--version") {
        return false;
    }
    let facts = program();
    data!("ssdlab {}", env!("SSDLAB_VERSION"));
    for (name, value) in
        facts.as_object().into_iter().flatten().filter(|(name, _)| *name != "version")
    {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        data!("{}: {value}", name.replace('_', " "));
    }
    true
}

/// The program: its versions, and what its figures and files depend on.
fn program() -> Value {
    json!({
        "version": env!("SSDLAB_VERSION"),
        "built_for": env!("SSDLAB_TARGET"),
        "c_library": if cfg!(target_feature = "crt-static") { "inside" } else { "of the machine" },
        "page": if Page::load(None).is_ok() { "inside" } else { "missing" },
        "run_directory": result::schema::SCHEMA_VERSION,
        "suite": ::run::suite::SUITE_VERSION,
        "simulator": sim::RESULTS_VERSION,
        "trace": load::trace::store::TRACE_VERSION,
    })
}

/// Folders whose files have the same names on every machine.
const PUBLIC: [&str; 3] = ["/dev/", "/proc/", "/sys/"];
/// Folders below them whose names come from serial numbers or from the user.
const PRIVATE: [&str; 2] = ["/dev/disk/", "/dev/mapper/"];
/// Endings of files of the user, which a request may name without a folder.
const ENDINGS: [&str; 8] = [".toml", ".fio", ".csv", ".parquet", ".json", ".jsonl", ".txt", ".zst"];

/// Substitutes for things that are nobody's business.
#[derive(Default)]
struct Names {
    known: BTreeMap<String, String>,
}

impl Names {
    fn of_machine() -> Self {
        let mut names = Self::default();
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        names.add("host", host.trim());
        for variable in ["USER", "LOGNAME", "SUDO_USER"] {
            names.add("user", &std::env::var(variable).unwrap_or_default());
        }
        names
    }

    fn add(&mut self, kind: &str, secret: &str) {
        // `root`, and a letter that half of the words contain, tell nothing.
        if secret.len() < 3 || secret == "root" || secret == "localhost" {
            return;
        }
        let number = 1 + self.known.values().filter(|name| name.starts_with(kind)).count();
        self.known.entry(secret.to_owned()).or_insert_with(|| format!("{kind}-{number}"));
    }

    /// Takes what a run says of its target.
    fn learn(&mut self, run: &Value) {
        let target = &run["target"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        self.add("run", &text(&run["run_id"]));
        self.add("run", &text(&run["resumed"]["run_id"]));
        if target["kind"] == "file" {
            self.add("path", &text(&target["serial"]));
            self.add("path", &text(&target["name"]));
        } else {
            self.add("serial", &text(&target["serial"]));
        }
        let spec = text(&target["spec"]);
        let file = spec.strip_prefix("file:").and_then(|rest| rest.split('?').next());
        self.add("path", file.unwrap_or_default());
        for (key, value) in target["details"].as_object().into_iter().flatten() {
            if ["serial", "wwn", "wwid", "eui", "nguid", "uuid"].iter().any(|it| key.contains(it)) {
                self.add("serial", &text(value));
            }
        }
        for own in [&run["request"], &run["config"], &run["origin"]] {
            self.learn_files(own);
        }
    }

    /// Takes the words that name files of the user.
    fn learn_files(&mut self, value: &Value) {
        match value {
            Value::String(text) => {
                let words = text.split(|c: char| c.is_whitespace() || "=?&,'\"()".contains(c));
                for word in words {
                    let word = word.split_once(':').map_or(word, |(_, rest)| rest);
                    let is_ratio = word.chars().all(|c| c.is_ascii_digit() || c == '/');
                    let is_file = ENDINGS.iter().any(|ending| word.ends_with(ending));
                    if is_file || (word.contains('/') && !is_ratio && !is_public(word)) {
                        self.add("path", word);
                    }
                }
            }
            Value::Array(values) => values.iter().for_each(|value| self.learn_files(value)),
            Value::Object(values) => values.values().for_each(|value| self.learn_files(value)),
            _ => (),
        }
    }

    /// Replaces every known name and every path in the texts of a document.
    fn replace(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.plain(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.replace(value)),
            Value::Object(values) => values.values_mut().for_each(|value| self.replace(value)),
            _ => (),
        }
    }

    fn plain(&mut self, text: &str) -> String {
        paths(text)
            .into_iter()
            .filter(|path| !is_public(path))
            .for_each(|path| self.add("path", path));
        let mut known: Vec<_> = self.known.iter().collect();
        known.sort_by_key(|(secret, _)| std::cmp::Reverse(secret.len()));
        let replaced =
            |text: String, (secret, name): (&String, &String)| replace_word(&text, secret, name);
        known.into_iter().fold(text.to_owned(), replaced)
    }
}

fn is_public(path: &str) -> bool {
    let begins = |folders: &[&str]| folders.iter().any(|folder| path.starts_with(folder));
    begins(&PUBLIC) && !begins(&PRIVATE)
}

/// The absolute paths in a text.
fn paths(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| c.is_whitespace() || "=?&,;:'\"`()".contains(c));
    let path = |word: &&str| word.len() > 1 && word.starts_with('/');
    words.filter(path).map(|word| word.trim_end_matches('.')).collect()
}

/// Replaces `secret` where no letter or digit stands directly beside it.
fn replace_word(text: &str, secret: &str, name: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(secret) {
        let (before, after) = (&rest[..at], &rest[at + secret.len()..]);
        let beside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let is_word = !beside(before.chars().next_back()) && !beside(after.chars().next());
        out += before;
        out += if is_word { name } else { secret };
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_thing_has_the_same_name() {
        let mut names = Names::default();
        names.add("serial", "S1DHNSAD");
        names.add("serial", "S1DHNSAE");
        let text = "S1DHNSAD beside S1DHNSAE, then S1DHNSAD; XS1DHNSAD is another word";
        let plain = "serial-1 beside serial-2, then serial-1; XS1DHNSAD is another word";
        assert_eq!(names.plain(text), plain);
    }

    #[test]
    fn paths_go_and_what_every_machine_has_stays() {
        let mut names = Names::default();
        for (text, plain) in [
            ("opened '/home/ada/work.csv'.", "opened 'path-1'."),
            ("stream:/home/ada/work.csv", "stream:path-1"),
            ("/dev/nvme0n1 at 500 MB/s, 1/64", "/dev/nvme0n1 at 500 MB/s, 1/64"),
            ("/dev/disk/by-id/ata-Samsung_840_S1DH", "path-2"),
            ("/dev/mapper/ada-home", "path-3"),
        ] {
            assert_eq!(names.plain(text), plain);
        }
    }

    #[test]
    fn files_of_a_request_go() {
        let mut names = Names::default();
        let mut request = json!({
            "target": "sim:own/my.toml?scale=1/64&gc.policy=greedy",
            "settings": [{ "name": "workload", "value": "customers.toml" }],
            "meter": "stream:power.txt",
            "spare": "25%",
        });
        names.learn_files(&request);
        names.replace(&mut request);
        assert_eq!(request["meter"], "stream:path-1");
        assert_eq!(request["settings"][0]["value"], "path-2");
        assert_eq!(request["target"], "sim:path-3?scale=1/64&gc.policy=greedy");
        assert_eq!(request["spare"], "25%");
    }
}
