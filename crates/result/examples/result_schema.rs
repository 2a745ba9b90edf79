//! Writes the generated files into a checkout: its top is the argument, or else the working
//! directory.

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let top = env::args_os().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    for (file, text) in result::generated::files() {
        let path = top.join(file);
        fs::create_dir_all(path.parent().unwrap_or(&top))?;
        fs::write(path, text)?;
    }
    Ok(())
}
