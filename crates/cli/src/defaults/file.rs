//! The configuration file: its place, its keys, and the reasons against a value.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use ::target::IoError;
use base::text::shortened;
use device::host::small_file;
use toml::{Table, Value};

use super::key::{KEYS, Key, is_typed_each_time, names};

/// Variable with the path of the file; an empty one stands for no file.
pub const VARIABLE: &str = "SSDLAB_CONFIG";
/// The file below the folder of configurations.
const NAME: &str = "ssdlab/config.toml";

/// The configuration file of a user.
#[derive(Debug, PartialEq, Eq)]
pub struct Place {
    /// Its path.
    pub path: PathBuf,
    /// Whether the user named it, so that it must be there.
    is_named: bool,
}

impl Place {
    /// The place by these environment variables, or `None` if there is none.
    pub fn of(variable: &impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        if let Some(named) = variable(VARIABLE) {
            return (!named.is_empty()).then(|| Self { path: named.into(), is_named: true });
        }
        // The base directory specification ignores relative paths.
        let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|p| p.is_absolute());
        let folder =
            absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?;
        Some(Self { path: folder.join(NAME), is_named: false })
    }

    /// The values in the file; none if it is not there and nobody named it.
    pub fn read(&self) -> Result<Option<Vec<(&'static Key, String)>>, IoError> {
        match small_file::read(&self.path) {
            Ok(text) => values(&self.path, &text).map(Some),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !self.is_named => {
                Ok(None)
            }
            Err(error) => Err(IoError::Usage(format!(
                "the configuration file {} cannot be read: {error}; {VARIABLE}= (empty) does without one",
                self.path.display()
            ))),
        }
    }
}

/// The values of the text of a file.
fn values(path: &Path, text: &str) -> Result<Vec<(&'static Key, String)>, IoError> {
    let path = path.display();
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        IoError::Usage(format!("{path} is not TOML: {}", error.message()))
    })?;
    let one = |(name, value): (String, Value)| {
        value_of(&name, &value).map_err(|reason| {
            let (name, value) = (shortened(&name), shortened(&value.to_string()));
            IoError::Usage(format!("{path}: `{name} = {value}`: {reason}"))
        })
    };
    table.into_iter().map(one).collect()
}

fn value_of(name: &str, value: &Value) -> Result<(&'static Key, String), String> {
    if is_typed_each_time(name) {
        return Err(format!(
            "this is typed in each call and never read from a file; a file may have {}",
            names()
        ));
    }
    let key = KEYS.iter().find(|key| key.name == name);
    let key = key.ok_or_else(|| format!("there is no such key; expected {}", names()))?;
    let text = value.as_str().filter(|text| !text.is_empty());
    let text = text.ok_or_else(|| format!("expected text, as in {name} = \"{}\"", example(key)))?;
    (key.check)(text)?;
    if key.is_path(text) && !Path::new(text).is_absolute() {
        return Err("expected an absolute path: commands are called in any directory".to_owned());
    }
    Ok((key, text.to_owned()))
}

fn example(key: &Key) -> &'static str {
    match key.built_in {
        "" => "none",
        "ssdlab-runs" => "/srv/ssdlab-runs",
        built_in => built_in,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        values(Path::new("/c.toml"), text).unwrap_err().to_string()
    }

    #[test]
    fn a_file_is_found_by_its_variable_then_by_the_folders_of_the_user() {
        let find = |pairs: &[(&str, &str)]| {
            let variable = |name: &str| {
                let pair = pairs.iter().find(|(known, _)| *known == name);
                pair.map(|(_, value)| OsString::from(value))
            };
            Place::of(&variable).map(|place| place.path)
        };
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
            assert!(error.starts_with("/c.toml") && error.contains(rule), "{text}: {error}");
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
        let found = values(Path::new("/c.toml"), text).unwrap();
        let mut found: Vec<_> = found.iter().map(|(k, v)| (k.name, v.as_str())).collect();
        found.sort_unstable();
        let expected =
            [("engine", "uring,sqpoll"), ("host", "nvme-2024"), ("library", "/srv/runs")];
        assert_eq!(found, expected);
    }
}
