//! The licences of everything in the program, each text once.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::components::Component;

/// Parts of the program that no package manager lists.
const OTHERS: &str = "\
This program also contains:

  Rust standard library   MIT OR Apache-2.0
  SQLite (in rusqlite)    public domain
  DejaVu Sans (letters)   its licence stands below
  GNU C Library           LGPL-2.1-or-later; its text stands below. The sources of ssdlab
                          and of the library are public: `cargo xtask release` links the
                          program with any version of the library.
";

/// The licence of the C library, a file of Debian.
const LGPL: &str = "/usr/share/common-licenses/LGPL-2.1";
const FONT: &str = include_str!("../../../crates/result/assets/LICENSE-DEJAVU");

/// The page: a list of the packages, then the texts with the packages of each.
pub(super) fn page(components: &[Component]) -> Result<String> {
    let mut page = format!("{OTHERS}\nPackages:\n\n");
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for component in components {
        let name = format!("{} {}", component.name, component.version);
        let own = texts_in(&component.dir)?;
        let note = if own.is_empty() { " (no text in the package)" } else { "" };
        writeln!(page, "  {name:<40} {}{note}", component.licence)?;
        for text in own {
            texts.entry(text).or_default().push(name.clone());
        }
    }
    let library = fs::read_to_string(LGPL).with_context(|| format!("cannot read {LGPL}"))?;
    texts.entry(library).or_default().push("GNU C Library".to_owned());
    texts.entry(FONT.to_owned()).or_default().push("DejaVu Sans".to_owned());
    let line = "=".repeat(80);
    for (text, users) in texts {
        write!(page, "\n{line}\n{}\n{line}\n\n{}\n", users.join(", "), text.trim_matches('\n'))?;
    }
    Ok(page)
}

/// The texts of licences and notices beside a manifest.
fn texts_in(dir: &Path) -> Result<Vec<String>> {
    const NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE", "COPYRIGHT"];
    let files = super::below(dir)?.into_iter().filter(|path| {
        let name = super::file_name(path).to_uppercase();
        path.is_file() && NAMES.iter().any(|begin| name.starts_with(begin))
    });
    files.map(|path| Ok(String::from_utf8_lossy(&fs::read(path)?).replace('\r', ""))).collect()
}
