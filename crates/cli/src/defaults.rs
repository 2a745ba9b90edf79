//! Defaults of the user for four options, from environment variables and a configuration file.
//!
//! An option in the call comes before the environment, the environment before the file, the file before the built-in
//! default. Nothing here confirms, erases or purges: that is typed in each call.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ::target::{TargetError, TargetSpec};
use base::text::shortened;
use clap::builder::ValueParser;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, ValueEnum};
use device::host::small_file;
use io::EngineChoice;
use toml::{Table, Value};

use crate::args::{Format, LIBRARY};

/// Beginning of the names of all variables.
const PREFIX: &str = "SSDLAB_";
/// Variable with the path of the file; an empty one stands for no file.
const FILE_VARIABLE: &str = "SSDLAB_CONFIG";
/// The file below the folder of configurations.
const FILE_NAME: &str = "ssdlab/config.toml";
/// The source of a value that nobody set.
const BUILT_IN: &str = "built-in";
/// Consents and deeds that no file and no variable can give.
const TYPED_EACH_TIME: [&str; 4] = ["erase", "erase_signatures", "purge", "read_only"];
/// Commands whose simulated drives stand behind the default host.
const WITH_HOST: [&str; 5] = ["run", "plan", "review", "replay", "spare"];
/// Ids of the arguments with their targets.
const TARGETS: [&str; 2] = ["targets", "target"];

/// Names of three of the options.
const ENGINE: &str = "engine";
const HOST: &str = "host";
const FORMAT: &str = "format";

/// The default of one option.
#[derive(Clone, Debug)]
pub struct Default {
    /// Name of the option, and of its key in the file.
    pub name: &'static str,
    /// Name of the environment variable.
    pub variable: &'static str,
    /// The place of the value in a call.
    pub typed: &'static str,
    pub value: String,
    /// Kind of its origin, for scripts: built-in, file or environment.
    pub source: &'static str,
    /// Its origin: the path of the file, or the name of the variable.
    pub from: String,
    /// A value, for messages.
    example: &'static str,
    /// The reason against a value.
    check: fn(&str) -> Result<(), String>,
}

impl Default {
    fn is_built_in(&self) -> bool {
        self.source == BUILT_IN
    }

    fn set(&mut self, value: &str, source: &'static str, from: String) {
        (self.value, self.source, self.from) = (value.to_owned(), source, from);
    }
}

/// All defaults of a call.
#[derive(Clone, Debug)]
pub struct Defaults {
    /// One for each option.
    pub all: Vec<Default>,
    /// The place of the configuration file, or `None` if there is none.
    pub file: Option<PathBuf>,
    /// Whether the file is there.
    pub has_file: bool,
    /// Variables that begin as ours do and mean nothing here.
    pub unread: Vec<String>,
    /// The reason why the call does not take one of them.
    not_taken: Option<String>,
}

impl Defaults {
    /// The defaults of this call.
    ///
    /// # Errors
    /// [`TargetError::Usage`] for a file or variable that cannot be used, with its place, its value and the rule.
    pub fn load() -> Result<Self, TargetError> {
        let variables = std::env::vars_os();
        Self::of(
            &variables
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
                .collect(),
        )
    }

    /// The defaults without a user.
    pub fn built_in() -> Self {
        let one = |(name, variable, typed), (value, example), check| {
            let (value, source, from) = (str::to_owned(value), BUILT_IN, BUILT_IN.to_owned());
            Default { name, variable, typed, value, source, from, example, check }
        };
        let all = vec![
            one(
                ("library", "SSDLAB_LIBRARY", "--library DIR"),
                (LIBRARY, "/srv/ssdlab-runs"),
                |_| Ok(()),
            ),
            one((ENGINE, "SSDLAB_ENGINE", "--engine ENGINE"), ("auto", "auto"), |text| {
                text.parse::<EngineChoice>().map(drop).map_err(|error| error.to_string())
            }),
            // Of simulated drives; the built-in one is that of each drive model.
            one((HOST, "SSDLAB_HOST", "sim:NAME?host=HOST"), ("", "none"), |text| {
                io::engine::sim::check_host(text).map_err(|error| error.to_string())
            }),
            one((FORMAT, "SSDLAB_FORMAT", "--format FORMAT"), ("text", "text"), |text| {
                let format = Format::from_str(text, false);
                format.map(drop).map_err(|_| "expected text or json".to_owned())
            }),
        ];
        Self { all, file: None, has_file: false, unread: Vec::new(), not_taken: None }
    }

    fn of(variables: &BTreeMap<String, OsString>) -> Result<Self, TargetError> {
        let mut this = Self { file: file(variables), ..Self::built_in() };
        let table = this.file.as_deref().map(|path| read(path, variables)).transpose()?.flatten();
        this.has_file = table.is_some();
        let place = this.file.iter().map(|path| path.display().to_string()).collect::<String>();
        for (name, value) in table.into_iter().flatten() {
            this.set_by_file(&place, &name, &value).map_err(|reason| {
                let (name, value) = (shortened(&name), shortened(&value.to_string()));
                TargetError::Usage(format!("{place}: `{name} = {value}`: {reason}"))
            })?;
        }
        for (name, value) in variables.iter().filter(|(name, _)| name.starts_with(PREFIX)) {
            this.set_by_variable(name, value)
                .map_err(|reason| TargetError::Usage(format!("{name}{reason}")))?;
        }
        Ok(this)
    }

    /// Takes a value as it stands in the file at `place`, or gives the reason against it.
    fn set_by_file(&mut self, place: &str, name: &str, value: &Value) -> Result<(), String> {
        let names = self.all.iter().map(|one| one.name).collect::<Vec<_>>().join(", ");
        if is_typed_each_time(name) {
            return Err(format!(
                "this is typed in each call and never read from a file; a file may have {names}"
            ));
        }
        let one = self.all.iter_mut().find(|one| one.name == name);
        let one = one.ok_or_else(|| format!("there is no such key; expected {names}"))?;
        let text = value.as_str().filter(|text| !text.is_empty());
        let text =
            text.ok_or_else(|| format!("expected text, as in {name} = \"{}\"", one.example))?;
        (one.check)(text)?;
        let is_path =
            name == "library" || name == HOST && ::target::spec::toml_path(text).is_some();
        if is_path && !Path::new(text).is_absolute() {
            return Err(
                "expected an absolute path: commands are called in any directory".to_owned()
            );
        }
        one.set(text, "file", place.to_owned());
        Ok(())
    }

    /// Takes the value of a variable, or gives the reason against it, to be read behind its name.
    fn set_by_variable(&mut self, name: &str, value: &OsStr) -> Result<(), String> {
        let Some(one) = self.all.iter_mut().find(|one| one.variable == name) else {
            if is_typed_each_time(name.trim_start_matches(PREFIX)) {
                return Err(": this is typed in each call, never in the environment".to_owned());
            }
            self.unread.extend((name != FILE_VARIABLE).then(|| name.to_owned()));
            return Ok(());
        };
        let text = value.to_str().ok_or(" is not UTF-8")?;
        if text.is_empty() {
            return Ok(());
        }
        (one.check)(text)
            .map_err(|reason| format!("={} cannot be used: {reason}", shortened(text)))?;
        one.set(text, "environment", name.to_owned());
        Ok(())
    }

    fn get(&self, name: &str) -> Option<&Default> {
        self.all.iter().find(|one| one.name == name)
    }

    /// Output on stdout without `--format`.
    pub fn format(&self) -> Format {
        let format = self.get(FORMAT).and_then(|one| Format::from_str(&one.value, false).ok());
        format.unwrap_or_default()
    }

    /// Puts the defaults into a command and those below it.
    pub fn apply(&self, command: Command) -> Command {
        let command = self.all.iter().fold(command, put);
        let host = self.get(HOST).map_or("", |one| &one.value);
        let command = match WITH_HOST.contains(&command.get_name()) && !host.is_empty() {
            true => behind(host, command),
            false => command,
        };
        command.mut_subcommands(|below| self.apply(below))
    }

    /// The defaults without the engine, where a target of the call has none; `None` if all fit.
    pub fn fitting(&self, matches: &ArgMatches) -> Option<Self> {
        let leaf = leaf(matches);
        let engine = self.get(ENGINE).filter(|one| !one.is_built_in())?;
        let other = specs(leaf).find(|spec| !spec.kind().has_engine())?;
        is_default(leaf, ENGINE).then_some(())?;
        let Default { value, from, .. } = engine;
        let sentence = format!("default not taken: engine {value}, from {from}: {other} has none");
        let mut fewer = Self { not_taken: Some(sentence), ..self.clone() };
        let plain = Self::built_in().all.into_iter().filter(|one| one.name == ENGINE);
        fewer.all.retain(|one| one.name != ENGINE);
        fewer.all.extend(plain);
        Some(fewer)
    }

    /// The defaults of the user that this call takes or leaves, each as a sentence; the output format speaks for
    /// itself, and a quiet call tells nothing.
    pub fn taken(&self, matches: &ArgMatches) -> Vec<String> {
        let leaf = leaf(matches);
        if leaf.try_get_one::<bool>("quiet").is_ok_and(|quiet| quiet == Some(&true)) {
            return Vec::new();
        }
        // A continued run repeats the engine of its request.
        let continues = leaf.try_get_one::<String>("resume").is_ok_and(|run| run.is_some());
        let is_behind = |spec: TargetSpec, host: &str| {
            let settings = spec.model().map(|(_, settings)| settings).unwrap_or_default();
            settings.iter().any(|(key, value)| key == HOST && value == host)
        };
        let is_taken = |one: &&Default| match one.name {
            _ if one.is_built_in() => false,
            FORMAT => false,
            HOST => specs(leaf).any(|spec| is_behind(spec, &one.value)),
            name => !(name == ENGINE && continues) && is_default(leaf, name),
        };
        let sentence = |Default { name, value, from, .. }: &Default| {
            format!("default: {name} {value}, from {from}")
        };
        let taken = self.all.iter().filter(is_taken).map(sentence);
        taken.chain(self.not_taken.iter().cloned()).collect()
    }
}

/// The place of the file by these environment variables, or `None` if there is none.
fn file(variables: &BTreeMap<String, OsString>) -> Option<PathBuf> {
    if let Some(named) = variables.get(FILE_VARIABLE) {
        return (!named.is_empty()).then(|| named.into());
    }
    // The base directory specification ignores relative paths.
    let absolute = |name| variables.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?;
    Some(folder.join(FILE_NAME))
}

/// The content of the file, or `None` if it is not there and nobody named it.
fn read(path: &Path, variables: &BTreeMap<String, OsString>) -> Result<Option<Table>, TargetError> {
    let at = path.display();
    let text = match small_file::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound && !variables.contains_key(FILE_VARIABLE) => {
            return Ok(None);
        }
        read => read.map_err(|error| {
            TargetError::Usage(format!(
                "the configuration file {at} cannot be read: {error}; {FILE_VARIABLE}= (empty) does without one"
            ))
        })?,
    };
    let table = text.parse().map_err(|error: toml::de::Error| {
        TargetError::Usage(format!("{at} is not TOML: {}", error.message()))
    });
    table.map(Some)
}

/// Whether the name is that of a consent or of a deed that is typed in each call.
fn is_typed_each_time(name: &str) -> bool {
    TYPED_EACH_TIME.contains(&name.replace('-', "_").to_lowercase().as_str())
}

/// The arguments of the command at the end of the path.
pub fn leaf(matches: &ArgMatches) -> &ArgMatches {
    matches.subcommand().map_or(matches, |(_, below)| leaf(below))
}

/// The targets of a call, as far as they can be read.
fn specs(matches: &ArgMatches) -> impl Iterator<Item = TargetSpec> {
    let texts = TARGETS.into_iter().filter_map(|id| matches.try_get_many::<String>(id).ok()?);
    texts.flatten().filter_map(|text| text.parse().ok())
}

/// Sets the default of the option of this name, if the command has it.
fn put(command: Command, Default { name, variable, value, .. }: &Default) -> Command {
    let name = *name;
    let is_it = |arg: &&clap::Arg| arg.get_long() == Some(name) && arg.get_id() == name;
    let Some(help) = command.get_arguments().find(is_it).map(|arg| arg.get_help().cloned()) else {
        return command;
    };
    let help = format!("{} [env: {variable}]", help.unwrap_or_default());
    command.mut_arg(name, |arg| arg.default_value(value.clone()).help(help))
}

/// Puts simulated targets of the command behind this host.
fn behind(host: &str, command: Command) -> Command {
    let host = host.to_owned();
    let parser = ValueParser::from(move |text: &str| {
        Ok::<_, std::convert::Infallible>(with_host(text, &host))
    });
    let id = TARGETS.into_iter().find(|id| command.get_arguments().any(|arg| arg.get_id() == *id));
    match id {
        Some(id) => command.mut_arg(id, |arg| arg.value_parser(parser)),
        None => command,
    }
}

/// The target string with this host, unless it has one, or is of another kind.
fn with_host(text: &str, host: &str) -> String {
    let spec: Option<TargetSpec> = text.parse().ok();
    match spec.as_ref().and_then(TargetSpec::model) {
        Some((_, settings)) if settings.iter().all(|(key, _)| key != HOST) => {
            let sign = if text.contains('?') { '&' } else { '?' };
            format!("{text}{sign}host={host}")
        }
        _ => text.to_owned(),
    }
}

/// Whether the option of this name has its default.
fn is_default(matches: &ArgMatches, id: &str) -> bool {
    let has = matches.ids().any(|known| known == id);
    has && matches.value_source(id) == Some(ValueSource::DefaultValue)
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, FromArgMatches};

    use super::*;
    use crate::commands::run::RunCommand;
    use crate::commands::{Args, Command as Verb};

    fn map(variables: &[(&str, &str)]) -> BTreeMap<String, OsString> {
        variables.iter().map(|(name, value)| ((*name).to_owned(), value.into())).collect()
    }

    fn of(variables: &[(&str, &str)]) -> Result<Defaults, TargetError> {
        Defaults::of(&map(variables))
    }

    fn parsed(defaults: &Defaults, words: &str) -> (Args, Vec<String>) {
        let command = defaults.apply(Args::command());
        let matches = command.try_get_matches_from(words.split(' ')).unwrap();
        (Args::from_arg_matches(&matches).unwrap(), defaults.taken(&matches))
    }

    fn run(defaults: &Defaults, words: &str) -> (crate::args::RunArgs, Vec<String>) {
        let (args, taken) = parsed(defaults, words);
        let Verb::Run(RunCommand::New(args)) = args.command else { panic!("{words}") };
        (*args, taken)
    }

    #[test]
    fn an_option_comes_before_the_environment_and_that_before_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        let path = path.to_str().unwrap();
        let text = "library = '/of/file'\nengine = 'sync'\nhost = 'nvme-2024'\nformat = 'json'";
        std::fs::write(path, text).unwrap();
        let file = ("SSDLAB_CONFIG", path);
        let both = of(&[file, ("SSDLAB_ENGINE", "uring")]).unwrap();
        let (args, taken) =
            run(&both, "ssdlab run consistency sim:ideal null: sim:ideal?host=none");
        assert_eq!(args.execution.engine.engine.to_string(), "uring");
        assert_eq!(args.test.common.library.to_str(), Some("/of/file"));
        assert_eq!(args.test.common.format, Format::Json);
        let targets = ["sim:ideal?host=nvme-2024", "null:", "sim:ideal?host=none"];
        assert_eq!(args.test.targets, targets);
        let of_file = |key: &str, value: &str| format!("default: {key} {value}, from {path}");
        for sentence in [
            of_file("library", "/of/file"),
            of_file("host", "nvme-2024"),
            "default: engine uring, from SSDLAB_ENGINE".to_owned(),
        ] {
            assert!(taken.contains(&sentence), "{taken:?}");
        }
        let typed = "ssdlab run consistency sim:ideal?scale=1/64 --engine auto --library here --format text";
        let (args, taken) = run(&both, typed);
        assert_eq!(args.execution.engine.engine, io::EngineChoice::default());
        assert_eq!(args.test.common.library.to_str(), Some("here"));
        assert_eq!(args.test.common.format, Format::Text);
        assert_eq!(args.test.targets, ["sim:ideal?scale=1/64&host=nvme-2024"]);
        assert_eq!(taken, [of_file("host", "nvme-2024")]);
    }

    #[test]
    fn an_engine_is_for_targets_that_have_one() {
        let set = of(&[("SSDLAB_ENGINE", "sync")]).unwrap();
        let matches = |words: &str| {
            let command = set.apply(Args::command());
            command.try_get_matches_from(words.split(' ')).unwrap()
        };
        for words in ["run latency sim:ideal", "review /dev/sda null:", "plan latency sim:ideal"] {
            let matches = matches(&format!("ssdlab {words}"));
            let fitting = set.fitting(&matches).unwrap();
            let taken = fitting.taken(&matches);
            assert!(taken[0].starts_with("default not taken: engine sync"), "{taken:?}");
            assert_eq!(fitting.get(ENGINE).unwrap().value, "auto");
        }
        for words in ["run latency /dev/sda", "run latency sim:ideal --engine sync", "library list"]
        {
            assert!(set.fitting(&matches(&format!("ssdlab {words}"))).is_none(), "{words}");
        }
    }

    #[test]
    fn a_default_conflicts_with_no_option() {
        let set = of(&[("SSDLAB_LIBRARY", "/runs"), ("SSDLAB_ENGINE", "sync")]).unwrap();
        parsed(&set, "ssdlab run --resume");
        parsed(&set, "ssdlab sim expose sim:ideal --nbd s --no-run");
    }

    #[test]
    fn a_variable_that_cannot_be_used_is_named_with_value_and_rule() {
        let refused = |name, value| of(&[(name, value)]).unwrap_err().to_string();
        let error = refused("SSDLAB_FORMAT", "yaml");
        assert_eq!(error, "SSDLAB_FORMAT=yaml cannot be used: expected text or json");
        assert!(
            refused("SSDLAB_ENGINE", "turbo").starts_with("SSDLAB_ENGINE=turbo cannot be used")
        );
        assert!(refused("SSDLAB_CONFIG", "/nowhere.toml").contains("SSDLAB_CONFIG= (empty)"));
        for name in ["SSDLAB_ERASE", "SSDLAB_ERASE_SIGNATURES", "SSDLAB_PURGE"] {
            assert!(refused(name, "S1").contains("typed in each call"), "{name}");
        }
        let other = of(&[("SSDLAB_LIBARY", "/runs"), ("SSDLAB_ENGINE", "")]).unwrap();
        assert_eq!(other.unread, ["SSDLAB_LIBARY"]);
        assert!(other.all.iter().all(Default::is_built_in));
    }

    #[test]
    fn a_host_is_for_simulated_drives_that_name_none() {
        for (text, expected) in [
            ("sim:x", "sim:x?host=none"),
            ("sim:x?scale=1/64", "sim:x?scale=1/64&host=none"),
            ("sim:x?host=nvme-2024", "sim:x?host=nvme-2024"),
            ("file:/x?size=1MiB", "file:/x?size=1MiB"),
            ("/dev/sda", "/dev/sda"),
            ("nonsense", "nonsense"),
        ] {
            assert_eq!(with_host(text, "none"), expected);
        }
    }

    /// The defaults with a configuration file of this text.
    fn config(text: &str) -> Result<Defaults, TargetError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("c.toml");
        std::fs::write(&path, text).unwrap();
        of(&[(FILE_VARIABLE, path.to_str().unwrap())])
    }

    fn refused(text: &str) -> String {
        config(text).unwrap_err().to_string()
    }

    #[test]
    fn a_file_is_found_by_its_variable_then_by_the_folders_of_the_user() {
        let find = |pairs: &[(&str, &str)]| file(&map(pairs));
        let home = ("HOME", "/home/ann");
        assert_eq!(find(&[home]), Some("/home/ann/.config/ssdlab/config.toml".into()));
        assert_eq!(find(&[home, ("XDG_CONFIG_HOME", "/x")]), Some("/x/ssdlab/config.toml".into()));
        let relative = find(&[home, ("XDG_CONFIG_HOME", "x")]);
        assert_eq!(relative, Some("/home/ann/.config/ssdlab/config.toml".into()));
        assert_eq!(find(&[home, ("SSDLAB_CONFIG", "here.toml")]), Some("here.toml".into()));
        assert_eq!(find(&[home, ("SSDLAB_CONFIG", "")]), None);
        assert_eq!(find(&[]), None);
    }

    #[test]
    fn a_value_that_cannot_be_used_is_named_with_file_key_and_rule() {
        for (text, rule) in [
            ("libary = '/runs'", "expected library, engine, host, format"),
            ("engine = 'turbo'", "turbo"),
            ("engine = 7", "expected text, as in engine = \"auto\""),
            ("library = ''", "expected text, as in library = \"/srv/ssdlab-runs\""),
            ("library = 'runs'", "absolute path"),
            ("host = './mine.toml'", "mine.toml"),
            ("host = 'sata-1999'", "nvme-2024"),
            ("format = 'yaml'", "expected text or json"),
            ("[engine]\nname = 'sync'", "expected text"),
            ("no toml", "is not TOML"),
        ] {
            let error = refused(text);
            assert!(error.contains("/c.toml") && error.contains(rule), "{text}: {error}");
        }
    }

    #[test]
    fn a_consent_or_a_deed_is_never_read() {
        for name in ["erase", "erase-signatures", "erase_signatures", "Erase", "purge", "read-only"]
        {
            let error = refused(&format!("{name} = 'S123'"));
            assert!(error.contains("typed in each call"), "{name}: {error}");
        }
    }

    #[test]
    fn values_are_read_as_they_stand() {
        let text = "library = '/srv/runs'\nengine = 'uring,sqpoll'\nhost = 'nvme-2024'\n";
        let defaults = config(text).unwrap();
        let of_user = defaults.all.iter().filter(|one| !one.is_built_in());
        let mut found: Vec<_> = of_user.map(|one| (one.name, one.value.as_str())).collect();
        found.sort_unstable();
        let expected =
            [("engine", "uring,sqpoll"), ("host", "nvme-2024"), ("library", "/srv/runs")];
        assert_eq!(found, expected);
    }
}
