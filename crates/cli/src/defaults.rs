//! Defaults of the user for a few options, from environment variables and a configuration file.
//!
//! An option in the call comes before the environment, the environment before the file, the file before the built-in
//! default. Nothing here confirms, erases or purges: that is typed in each call.

mod file;
mod key;

use std::ffi::OsString;
use std::path::PathBuf;

use ::target::{IoError, TargetSpec};
use base::text::shortened;
use clap::builder::ValueParser;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, ValueEnum};

use crate::args::Format;
use file::Place;
use key::{ENGINE, FORMAT, HOST, KEYS, Key, is_typed_each_time};

/// Beginning of the names of all variables.
const PREFIX: &str = "SSDLAB_";
/// Commands whose simulated drives stand behind the default host.
const WITH_HOST: [&str; 5] = ["run", "plan", "review", "replay", "spare"];
/// Ids of the arguments with their targets.
const TARGETS: [&str; 2] = ["targets", "target"];

/// The origin of a default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// ssdlab itself.
    BuiltIn,
    /// The configuration file.
    File(PathBuf),
    /// An environment variable.
    Variable(&'static str),
}

impl Source {
    /// Its kind, for scripts.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::File(_) => "file",
            Self::Variable(_) => "environment",
        }
    }

    /// It by its name.
    pub fn words(&self) -> String {
        match self {
            Self::BuiltIn => "built-in".to_owned(),
            Self::File(path) => path.display().to_string(),
            Self::Variable(name) => (*name).to_owned(),
        }
    }
}

/// The default of one option.
#[derive(Clone, Debug)]
pub struct Default {
    /// The option.
    pub key: &'static Key,
    /// Its value.
    pub value: String,
    /// Its origin.
    pub source: Source,
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
    /// The reasons why the call does not take some of them.
    not_taken: Vec<String>,
}

impl Defaults {
    /// The defaults of this call.
    ///
    /// # Errors
    /// A file or variable that cannot be used, with its place, its value and the rule.
    pub fn load() -> Result<Self, IoError> {
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let ours: Vec<_> = names.filter(|name| name.starts_with(PREFIX)).collect();
        Self::of(&|name| std::env::var_os(name), &ours)
    }

    /// The defaults without a user.
    pub fn built_in() -> Self {
        let one = |key: &'static Key| Default {
            key,
            value: key.built_in.to_owned(),
            source: Source::BuiltIn,
        };
        let all = KEYS.iter().map(one).collect();
        Self { all, file: None, has_file: false, unread: Vec::new(), not_taken: Vec::new() }
    }

    fn of(variable: &impl Fn(&str) -> Option<OsString>, ours: &[String]) -> Result<Self, IoError> {
        let place = Place::of(variable);
        let of_file = place.as_ref().map(Place::read).transpose()?.flatten();
        let mut this = Self::built_in();
        this.has_file = of_file.is_some();
        this.file = place.map(|place| place.path);
        for (key, value) in of_file.into_iter().flatten() {
            let path = this.file.clone().unwrap_or_default();
            this.set(Default { key, value, source: Source::File(path) });
        }
        for name in ours {
            match KEYS.iter().find(|key| key.variable == name) {
                Some(key) => {
                    let value = variable_of(key, variable(name).unwrap_or_default())?;
                    let source = Source::Variable(key.variable);
                    value.into_iter().for_each(|value| {
                        this.set(Default { key, value, source: source.clone() });
                    });
                }
                None => {
                    let is_consent = is_typed_each_time(name.trim_start_matches(PREFIX));
                    if is_consent {
                        return Err(IoError::Usage(format!(
                            "{name}: this is typed in each call, never in the environment"
                        )));
                    }
                    this.unread.push(name.clone());
                }
            }
        }
        this.unread.retain(|name| name != file::VARIABLE);
        Ok(this)
    }

    fn set(&mut self, value: Default) {
        let same = self.all.iter_mut().find(|other| other.key.name == value.key.name);
        if let Some(same) = same {
            *same = value;
        }
    }

    fn get(&self, key: &Key) -> &str {
        let found = self.all.iter().find(|default| default.key.name == key.name);
        found.map_or(key.built_in, |default| &default.value)
    }

    /// Output on stdout without `--format`.
    pub fn format(&self) -> Format {
        Format::from_str(self.get(&FORMAT), false).unwrap_or_default()
    }

    /// Puts the defaults into a command and those below it.
    pub fn apply(&self, command: Command) -> Command {
        let command = self.all.iter().fold(command, put);
        let command = match self.get(&HOST) {
            "" => command,
            host if WITH_HOST.contains(&command.get_name()) => behind(host, command),
            _ => command,
        };
        command.mut_subcommands(|below| self.apply(below))
    }

    /// The defaults without the engine, where a target of the call has none; `None` if all fit.
    pub fn fitting(&self, matches: &ArgMatches) -> Option<Self> {
        let leaf = leaf(matches);
        let is_engine = |one: &&Default| one.key.name == ENGINE.name;
        let engine = self.all.iter().find(is_engine).filter(|one| one.source != Source::BuiltIn)?;
        let mut specs = specs(leaf);
        let other = specs.find(|spec| !spec.kind().has_engine())?;
        is_default(leaf, ENGINE.name).then_some(())?;
        let (value, source) = (&engine.value, engine.source.words());
        let sentence =
            format!("default not taken: engine {value}, from {source}: {other} has none");
        let mut fewer = self.clone();
        fewer.set(Default {
            key: engine.key,
            value: ENGINE.built_in.to_owned(),
            source: Source::BuiltIn,
        });
        fewer.not_taken.push(sentence);
        Some(fewer)
    }

    /// The defaults of the user that this call takes or leaves, each as a sentence; the output format speaks for
    /// itself, and a quiet call tells nothing.
    pub fn taken(&self, matches: &ArgMatches) -> Vec<String> {
        let leaf = leaf(matches);
        if leaf.try_get_one::<bool>("quiet").is_ok_and(|quiet| quiet == Some(&true)) {
            return Vec::new();
        }
        let of_user = self.all.iter().filter(|default| default.source != Source::BuiltIn);
        let of_user = of_user.filter(|default| default.key.name != FORMAT.name);
        // A continued run repeats the engine of its request.
        let continues = leaf.try_get_one::<String>("resume").is_ok_and(|run| run.is_some());
        let taken = of_user.filter(|default| match default.key.name {
            name if name == HOST.name => is_behind(leaf, &default.value),
            name if name == ENGINE.name && continues => false,
            name => is_default(leaf, name),
        });
        let sentence = |default: &Default| {
            let Default { key, value, source } = default;
            format!("default: {} {value}, from {}", key.name, source.words())
        };
        taken.map(sentence).chain(self.not_taken.iter().cloned()).collect()
    }
}

/// The arguments of the command at the end of the path.
pub fn leaf(matches: &ArgMatches) -> &ArgMatches {
    let mut leaf = matches;
    while let Some((_, below)) = leaf.subcommand() {
        leaf = below;
    }
    leaf
}

/// The targets of a call, as far as they can be read.
fn specs(matches: &ArgMatches) -> impl Iterator<Item = TargetSpec> {
    let texts = TARGETS.into_iter().filter_map(|id| matches.try_get_many::<String>(id).ok()?);
    texts.flatten().filter_map(|text| text.parse().ok())
}

/// The value of a variable; `None` for an empty one, which stands for none.
fn variable_of(key: &Key, value: OsString) -> Result<Option<String>, IoError> {
    let name = key.variable;
    let text = value.into_string().map_err(|_| IoError::Usage(format!("{name} is not UTF-8")))?;
    if text.is_empty() {
        return Ok(None);
    }
    let unusable =
        |reason| IoError::Usage(format!("{name}={} cannot be used: {reason}", shortened(&text)));
    (key.check)(&text).map_err(unusable)?;
    Ok(Some(text))
}

/// Sets the default of the option of this name, if the command has it.
fn put(command: Command, default: &Default) -> Command {
    let Default { key, value, .. } = default;
    let is_it = |arg: &&clap::Arg| arg.get_long() == Some(key.name) && arg.get_id() == key.name;
    let Some(help) = command.get_arguments().find(is_it).map(|arg| arg.get_help().cloned()) else {
        return command;
    };
    let help = format!("{} [env: {}]", help.unwrap_or_default(), key.variable);
    command.mut_arg(key.name, |arg| arg.default_value(value.clone()).help(help))
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
        Some((_, settings)) if settings.iter().all(|(key, _)| key != HOST.name) => {
            let sign = if text.contains('?') { '&' } else { '?' };
            format!("{text}{sign}host={host}")
        }
        _ => text.to_owned(),
    }
}

/// Whether one of the targets is behind this host.
fn is_behind(matches: &ArgMatches, host: &str) -> bool {
    specs(matches).any(|spec| {
        let settings = spec.model().map(|(_, settings)| settings).unwrap_or_default();
        settings.iter().any(|(key, value)| key == HOST.name && value == host)
    })
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
    use crate::{Args, Command as Verb};

    fn of(variables: &[(&str, &str)]) -> Result<Defaults, IoError> {
        let variable = |name: &str| {
            let pair = variables.iter().find(|(known, _)| *known == name);
            pair.map(|(_, value)| OsString::from(value))
        };
        let ours = variables.iter().map(|(name, _)| (*name).to_owned());
        let ours: Vec<_> = ours.filter(|name| name.starts_with(PREFIX)).collect();
        Defaults::of(&variable, &ours)
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
        assert_eq!(args.drive.engine.engine.to_string(), "uring");
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
        assert_eq!(args.drive.engine.engine, io::EngineChoice::default());
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
            assert_eq!(fitting.get(&ENGINE), "auto");
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
        assert!(other.all.iter().all(|default| default.source == Source::BuiltIn));
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
}
