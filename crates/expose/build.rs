//! Tells the crate which simulator it is built with: a hash of its source.
//!
//! A saved state is that of one simulator. Another one may have other fields, or another meaning of the same.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The crates whose types a saved state consists of.
const SOURCES: [&str; 3] = ["../base/src", "../sim/src", "src/disk"];

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut hasher = DefaultHasher::new();
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
        for file in files(&here.join(source))? {
            fs::read(file)?.hash(&mut hasher);
        }
    }
    println!("cargo::rustc-env=SSDLAB_SIMULATOR={:016x}", hasher.finish());
    Ok(())
}

/// All files below a folder, in the order of their paths.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<io::Result<_>>()?;
    entries.sort_by_key(fs::DirEntry::path);
    let mut found = Vec::new();
    for entry in entries {
        if entry.file_type()?.is_dir() {
            found.extend(files(&entry.path())?);
        } else {
            found.push(entry.path());
        }
    }
    Ok(found)
}
