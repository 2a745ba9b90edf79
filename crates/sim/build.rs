//! Lists the drive models in `drives/`, so that a new file there is a built-in model.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let drives = Path::new(&root).join("drives");
    println!("cargo::rerun-if-changed={}", drives.display());
    println!("cargo::rerun-if-changed=build.rs");
    let paths: io::Result<Vec<PathBuf>> =
        fs::read_dir(&drives)?.map(|entry| Ok(entry?.path())).collect();
    let mut paths = paths?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let mut list = "&[\n".to_owned();
    for path in &paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let path = path.to_string_lossy();
        writeln!(list, "({name:?}, include_str!({path:?})),").map_err(io::Error::other)?;
    }
    list += "]\n";
    fs::write(Path::new(&env::var("OUT_DIR").unwrap_or_default()).join("drives.rs"), list)
}
