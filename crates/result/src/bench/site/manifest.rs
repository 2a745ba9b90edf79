//! The manifest of a site: its files as they were written.

use std::collections::BTreeMap;
use std::io::ErrorKind;

use rustix::fs::FileType;
use serde::{Deserialize, Serialize};

use super::super::{LIBRARY_FILE, PACKED_LIBRARY_FILE, PACKED_SUFFIX, RUNS_FOLDER};
use super::outcome::{SITE_MARKER, SiteError};
use crate::run_id::is_run_id;
use crate::store::dir::Dir;

/// Name of the page of a site.
pub(super) const PAGE_FILE: &str = "index.html";
/// Largest manifest: that of a million runs has less.
const BYTES_MAX: u64 = 256 << 20;

/// The content of a file, as far as it identifies one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Content {
    pub(super) bytes: u64,
    pub(super) crc32: u32,
}

impl Content {
    /// That of a file which is too large to be one of a site.
    pub(super) const TOO_LARGE: Self = Self { bytes: u64::MAX, crc32: 0 };

    pub(super) fn of(content: &[u8]) -> Self {
        Self { bytes: content.len() as u64, crc32: crc32fast::hash(content) }
    }
}

/// The files of a site by name. While a site is being replaced, a name has its new content or the one
/// of `before`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) written_by: String,
    /// Missing in sites of earlier versions: then no file is known to be one of the site.
    #[serde(default)]
    pub(super) files: BTreeMap<String, Content>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) before: BTreeMap<String, Content>,
}

impl Manifest {
    /// The manifest in a directory, or an empty one.
    pub(super) fn read(dir: &Dir) -> Result<Self, SiteError> {
        let path = dir.path().join(SITE_MARKER);
        let unusable =
            |reason: String| SiteError::Manifest { path: path.clone(), reason: reason.clone() };
        let kind = dir.kind(SITE_MARKER).map_err(|error| unusable(error.to_string()))?;
        if kind == Some(FileType::Symlink) {
            return Err(unusable("it is a link".to_owned()));
        }
        let text = match dir.read(SITE_MARKER, BYTES_MAX) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            text => text.map_err(|error| unusable(error.to_string()))?,
        };
        let mut manifest: Self =
            serde_json::from_slice(&text).map_err(|error| unusable(error.to_string()))?;
        // No other name has ever been one of a site: such a file belongs to somebody else.
        manifest.files.retain(|name, _| is_name_of_site(name));
        manifest.before.retain(|name, _| is_name_of_site(name));
        Ok(manifest)
    }

    /// Whether a file of this name and content is one of the site.
    pub(super) fn lists(&self, name: &str, content: Content) -> bool {
        [&self.files, &self.before].iter().any(|files| files.get(name) == Some(&content))
    }

    /// Whether a file of this content is one of the site under any name.
    pub(super) fn lists_content(&self, content: Content) -> bool {
        self.files.values().chain(self.before.values()).any(|listed| *listed == content)
    }

    /// All names.
    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.files.keys().chain(self.before.keys().filter(|name| !self.files.contains_key(*name)))
    }
}

fn is_name_of_site(name: &str) -> bool {
    let run = name.strip_prefix(RUNS_FOLDER).and_then(|name| name.strip_prefix('/'));
    let run = run.and_then(|name| name.strip_suffix(PACKED_SUFFIX));
    run.is_some_and(is_run_id) || [PAGE_FILE, LIBRARY_FILE, PACKED_LIBRARY_FILE].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_a_site_can_be_listed() {
        for name in ["index.html", "library.json", "library.zz", "runs/run-1.zz"] {
            assert!(is_name_of_site(name), "{name}");
        }
        for name in [
            "",
            ".",
            "..",
            "CNAME",
            "runs",
            "runs/",
            "runs/..",
            "runs/.zz",
            "runs/a/b.zz",
            "runs/../x.zz",
            "../index.html",
            "/etc/passwd",
            ".git/config",
            "runs//run-1.zz",
            "runs/a.txt",
        ] {
            assert!(!is_name_of_site(name), "{name}");
        }
    }
}
