//! Target strings: `sim:NAME[?key=value&...]`, `file:PATH[?size=8GiB&keep=true]`, a path to a block
//! device, `null:[?size=1TiB]`.
//!
//! Reading a string touches nothing: whether the path exists and may be used is for the engines
//! to find out. The settings of a simulated drive are passed on in order and as text, since only
//! the simulator knows the keys.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use base::text::shortened;
use base::{Bytes, TargetKind};
use strsim::levenshtein;

use crate::error::TargetError;

/// Size of `null:` if none is given: 1 TiB.
pub const NULL_SIZE_BYTES: u64 = 1 << 40;

const SCHEMES: [&str; 3] = ["sim", "file", "null"];
const EXPECTED: &str = "sim:NAME, file:PATH?size=8GiB, /dev/NAME or null:";

/// A target string, parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetSpec {
    /// A simulated drive.
    Sim {
        /// Name of the drive model, or the path of a model file.
        name: String,
        /// Changes to the model in the order given; the simulator validates them.
        settings: Vec<(String, String)>,
    },
    /// A regular file.
    File {
        /// As typed.
        path: PathBuf,
        /// Size to create it with; `None` uses an existing file as it is.
        size_bytes: Option<u64>,
        /// Whether a file created for the run stays afterwards.
        keep: bool,
    },
    /// A block device.
    Block {
        /// As typed; may be a symbolic link such as `/dev/disk/by-id/...`, or the generic character device of an
        /// NVMe namespace.
        path: PathBuf,
    },
    /// The null target.
    Null {
        /// Nominal size of its LBA space.
        size_bytes: u64,
    },
}

/// The thing behind a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backing<'a> {
    /// Nothing outside this program.
    Nothing,
    /// A regular file, existing or future.
    File(&'a Path),
    /// A block device.
    Device(&'a Path),
}

impl TargetSpec {
    /// The kind that the text names; nothing is opened.
    pub const fn kind(&self) -> TargetKind {
        match self {
            Self::Sim { .. } => TargetKind::Simulated,
            Self::File { .. } => TargetKind::File,
            Self::Block { .. } => TargetKind::Block,
            Self::Null { .. } => TargetKind::Null,
        }
    }

    /// The thing behind it.
    pub fn backing(&self) -> Backing<'_> {
        match self {
            Self::Sim { .. } | Self::Null { .. } => Backing::Nothing,
            Self::File { path, .. } => Backing::File(path),
            Self::Block { path } => Backing::Device(path),
        }
    }

    /// Whether a file that is created for the run stays afterwards.
    pub const fn keeps_new_file(&self) -> bool {
        matches!(self, Self::File { keep: true, .. })
    }

    /// The drive model of a simulated drive with the changes to it, or `None` if the target is none.
    pub fn model(&self) -> Option<(&str, &[(String, String)])> {
        match self {
            Self::Sim { name, settings } => Some((name, settings)),
            _ => None,
        }
    }

    /// The files and devices that a run reads or writes, each with its role in the run.
    pub fn inputs(&self) -> Vec<(&Path, &'static str)> {
        let (name, settings) = self.model().unwrap_or_default();
        let host = settings.iter().find(|(key, _)| key == "host");
        let target = match self.backing() {
            Backing::Nothing => None,
            Backing::File(path) | Backing::Device(path) => Some((path, "is the target")),
        };
        let model = toml_path(name).map(|path| (path, "is the drive model that is read"));
        let host = host.and_then(|(_, name)| toml_path(name));
        let host = host.map(|path| (path, "is the host profile that is read"));
        target.into_iter().chain(model).chain(host).collect()
    }
}

/// The file of a drive model or of a host profile, or `None` if `name` is that of a built-in one.
pub fn toml_path(name: &str) -> Option<&Path> {
    (name.contains('/') || name.ends_with(".toml")).then(|| Path::new(name))
}

impl FromStr for TargetSpec {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        // Device paths first: by-path names contain colons and may contain anything else.
        if text.starts_with(['/', '.']) && text.contains('/') {
            return Ok(Self::Block { path: PathBuf::from(text) });
        }
        let Some((scheme, rest)) = text.split_once(':') else {
            return Err(TargetError::Usage(no_scheme(&shortened(text))));
        };
        match scheme {
            "sim" => parse_sim(&shortened(text), rest),
            "file" => parse_file(&shortened(text), rest),
            "null" => parse_null(&shortened(text), rest),
            _ => Err(TargetError::Usage(format!(
                "`{}:` in `{}` is not a kind of target; expected {EXPECTED}{}",
                shortened(scheme),
                shortened(text),
                did_you_mean(&shortened(scheme))
            ))),
        }
    }
}

impl fmt::Display for TargetSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sim { name, settings } => {
                write!(f, "sim:{name}")?;
                write_settings(f, settings.iter().map(|(key, value)| (key.as_str(), value.clone())))
            }
            Self::File { path, size_bytes, keep } => {
                write!(f, "file:{}", path.display())?;
                let size = size_bytes.map(|size| ("size", Bytes(size).to_string()));
                let keep = keep.then(|| ("keep", "true".to_owned()));
                let none = size.is_none() && keep.is_none();
                if none && path.to_string_lossy().contains('?') {
                    return f.write_str("?");
                }
                write_settings(f, size.into_iter().chain(keep))
            }
            Self::Block { path } => write!(f, "{}", path.display()),
            Self::Null { size_bytes: NULL_SIZE_BYTES } => f.write_str("null:"),
            Self::Null { size_bytes } => write!(f, "null:?size={}", Bytes(*size_bytes)),
        }
    }
}

fn write_settings<'a>(
    f: &mut fmt::Formatter<'_>,
    settings: impl Iterator<Item = (&'a str, String)>,
) -> fmt::Result {
    for (index, (key, value)) in settings.enumerate() {
        write!(f, "{}{key}={value}", if index == 0 { '?' } else { '&' })?;
    }
    Ok(())
}

fn no_scheme(text: &str) -> String {
    let hint = if text.is_empty() {
        String::new()
    } else if SCHEMES.contains(&text) {
        format!("; did you mean `{text}:`?")
    } else if looks_like_device(text) {
        format!("; did you mean `/dev/{text}`?")
    } else {
        format!("; did you mean `sim:{text}` or `file:{text}`?")
    };
    format!("`{text}` is not a target; expected {EXPECTED}{hint}")
}

fn looks_like_device(text: &str) -> bool {
    let kinds = ["nvme", "sd", "vd", "loop", "mmcblk", "zram", "dm-", "md", "ram"];
    kinds.iter().any(|kind| {
        text.strip_prefix(kind).is_some_and(|rest| rest.len() <= 8 && !rest.contains('.'))
    }) && text.len() > 2
}

fn did_you_mean(scheme: &str) -> String {
    let distance = |known: &str| match scheme.starts_with(known) {
        true => 0,
        false => levenshtein(known, scheme),
    };
    let nearest = SCHEMES.iter().min_by_key(|known| distance(known));
    nearest
        .filter(|known| distance(known) <= 2)
        .map_or(String::new(), |known| format!("; did you mean `{known}:`?"))
}

/// Splits `a=1&b=2` into pairs; `text` is the whole target string, for messages.
///
/// # Errors
/// [`TargetError::Usage`] for a part that is no pair, and for a key that occurs twice: either value may
/// be the mistake.
pub fn parse_settings(text: &str, query: &str) -> Result<Vec<(String, String)>, TargetError> {
    let settings = split_settings(text, query)?;
    for (index, (key, value)) in settings.iter().enumerate() {
        if let Some((_, earlier)) = settings[..index].iter().find(|(known, _)| known == key) {
            let [key, earlier, value] = [key, earlier, value].map(|text| shortened(text));
            return Err(TargetError::Usage(format!(
                "`{key}={earlier}` and `{key}={value}` in `{text}`: expected one value of `{key}`; leave one of \
                 them away"
            )));
        }
    }
    Ok(settings)
}

fn split_settings(text: &str, query: &str) -> Result<Vec<(String, String)>, TargetError> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| match pair.split_once('=') {
            Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
            _ => Err(TargetError::Usage(format!(
                "`{}` in `{text}` is not a setting; expected key=value after `?` and `&`",
                shortened(pair)
            ))),
        })
        .collect()
}

fn parse_sim(text: &str, rest: &str) -> Result<TargetSpec, TargetError> {
    let (name, query) = rest.split_once('?').unwrap_or((rest, ""));
    if name.is_empty() {
        return Err(TargetError::Usage(format!(
            "`{text}` names no drive model; expected sim:NAME (see `ssdlab sim models`)"
        )));
    }
    Ok(TargetSpec::Sim { name: name.to_owned(), settings: parse_settings(text, query)? })
}

fn parse_file(text: &str, rest: &str) -> Result<TargetSpec, TargetError> {
    // The last `?`, so that a path may contain one (with an empty query behind it if need be).
    let (path, query) = rest.rsplit_once('?').unwrap_or((rest, ""));
    if path.is_empty() {
        return Err(TargetError::Usage(format!(
            "`{text}` names no file; expected file:PATH?size=8GiB"
        )));
    }
    let mut size_bytes = None;
    let mut keep = false;
    for (key, value) in parse_settings(text, query)? {
        match key.as_str() {
            "size" => size_bytes = Some(parse_size(text, &value)?),
            "keep" => keep = parse_flag(text, &key, &value)?,
            _ => {
                return Err(unknown_key(
                    text,
                    &key,
                    "file:",
                    "size (such as 8GiB) and keep (true or false)",
                ));
            }
        }
    }
    Ok(TargetSpec::File { path: Path::new(path).to_path_buf(), size_bytes, keep })
}

fn parse_null(text: &str, rest: &str) -> Result<TargetSpec, TargetError> {
    let query = match rest.strip_prefix('?') {
        Some(query) => query,
        None if rest.is_empty() => "",
        None => {
            return Err(TargetError::Usage(format!(
                "`{}` in `{text}` means nothing; expected null: or null:?size=1TiB",
                shortened(rest)
            )));
        }
    };
    let mut size_bytes = NULL_SIZE_BYTES;
    for (key, value) in parse_settings(text, query)? {
        match key.as_str() {
            "size" => size_bytes = parse_size(text, &value)?,
            _ => return Err(unknown_key(text, &key, "null:", "size (such as 1TiB)")),
        }
    }
    Ok(TargetSpec::Null { size_bytes })
}

fn unknown_key(text: &str, key: &str, scheme: &str, known: &str) -> TargetError {
    let key = shortened(key);
    TargetError::Usage(format!("`{key}` in `{text}` is not a setting of {scheme}; known: {known}"))
}

fn parse_size(text: &str, value: &str) -> Result<u64, TargetError> {
    let shown = shortened(value);
    let expected = "a multiple of 4096 up to 8191PiB, such as ?size=8GiB";
    let size: Bytes = value.parse().map_err(|error| {
        TargetError::Usage(format!("size={shown} in `{text}`: {error}; expected {expected}"))
    })?;
    if size.0 == 0 || !size.0.is_multiple_of(4096) || i64::try_from(size.0).is_err() {
        return Err(TargetError::Usage(format!(
            "size={shown} in `{text}` is {} bytes; expected {expected}",
            size.0
        )));
    }
    Ok(size.0)
}

fn parse_flag(text: &str, key: &str, value: &str) -> Result<bool, TargetError> {
    value.parse().map_err(|_| {
        TargetError::Usage(format!(
            "{key}={} in `{text}` is neither true nor false",
            shortened(value)
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> TargetSpec {
        text.parse().unwrap()
    }

    fn error(text: &str) -> String {
        text.parse::<TargetSpec>().unwrap_err().to_string()
    }

    #[test]
    fn every_kind_reads_and_prints() {
        for text in [
            "sim:samsung-840-pro-256gb",
            "sim:ideal?scale=1/64&seed=3&gc.policy=greedy",
            "file:/tmp/x?size=8GiB",
            "file:x.img?size=1MiB&keep=true",
            "file:/tmp/x",
            "file:/tmp/what?",
            "/dev/nvme0n1",
            "/dev/disk/by-path/pci-0000:00:1f.2-ata-1",
            "./node",
            "null:",
            "null:?size=8GiB",
        ] {
            let want = if text.ends_with("what?") { "file:/tmp/what" } else { text };
            assert_eq!(parse(text).to_string(), want);
            assert_eq!(parse(&parse(text).to_string()), parse(text));
        }
    }

    #[test]
    fn the_inputs_of_a_target_are_named_with_their_part() {
        for (text, want) in [
            ("file:/tmp/x?size=8GiB", &[("/tmp/x", "is the target")][..]),
            ("/dev/sda", &[("/dev/sda", "is the target")]),
            ("null:", &[]),
            ("sim:ideal?host=none", &[]),
            (
                "sim:./a.toml?scale=1/64&host=c.toml",
                &[
                    ("./a.toml", "is the drive model that is read"),
                    ("c.toml", "is the host profile that is read"),
                ],
            ),
        ] {
            let want: Vec<_> = want.iter().map(|(path, what)| (Path::new(*path), *what)).collect();
            assert_eq!(parse(text).inputs(), want, "{text}");
        }
    }

    #[test]
    fn a_question_mark_in_a_path_survives() {
        let spec = TargetSpec::File { path: "/tmp/a?b".into(), size_bytes: None, keep: false };
        assert_eq!(parse(&spec.to_string()), spec);
    }

    #[test]
    fn settings_of_a_simulated_drive_keep_their_order() {
        let TargetSpec::Sim { settings, .. } = parse("sim:a?z=1&b=2=3&a=4") else { panic!() };
        let text: Vec<_> = settings.iter().map(|(k, v)| format!("{k}:{v}")).collect();
        assert_eq!(text, ["z:1", "b:2=3", "a:4"]);
    }

    #[test]
    fn errors_say_what_would_help() {
        for (text, want) in [
            ("", "expected sim:NAME"),
            ("nvme0n1", "did you mean `/dev/nvme0n1`?"),
            ("null", "did you mean `null:`?"),
            ("drive.img", "`file:drive.img`"),
            ("fil:/tmp/x", "did you mean `file:`?"),
            ("simulator:x", "did you mean `sim:`?"),
            ("sim:", "names no drive model"),
            ("sim:x?scale", "`scale` in `sim:x?scale` is not a setting"),
            ("file:?size=1GiB", "names no file"),
            ("file:/tmp/x?sice=1GiB", "known: size (such as 8GiB) and keep"),
            ("file:/tmp/x?size=0", "multiple of 4096"),
            ("file:/tmp/x?size=5000", "multiple of 4096"),
            ("file:/tmp/x?size=big", "`big` is not a size"),
            ("file:/tmp/x?size=8EiB", "size=8EiB in `file:/tmp/x?size=8EiB`"),
            ("file:/tmp/x?size=8EiB", "up to 8191PiB"),
            ("file:/tmp/x?size=1GiB&keep=maybe", "neither true nor false"),
            ("sim:x?scale=1/64&seed=2&scale=1/32", "`scale=1/64` and `scale=1/32`"),
            ("file:/tmp/x?size=1MiB&size=2MiB", "`size=1MiB` and `size=2MiB`"),
            ("null:?size=1MiB&size=2MiB", "expected one value of `size`"),
            ("null:x", "means nothing"),
            ("null:?speed=1", "known: size"),
        ] {
            assert!(error(text).contains(want), "{text}: {}", error(text));
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "(sim|file|null)?:?[^ ]{0,30}") {
            if let Ok(spec) = text.parse::<TargetSpec>() {
                let again: TargetSpec = spec.to_string().parse().unwrap();
                proptest::prop_assert_eq!(again, spec);
            }
        }
    }
}
