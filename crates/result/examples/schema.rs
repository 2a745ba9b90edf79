//! Writes the JSON Schemas to a directory, `schema` unless another is given.

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let dir = PathBuf::from(env::args().nth(1).unwrap_or_else(|| "schema".to_owned()));
    fs::create_dir_all(&dir)?;
    for (name, text) in result::schema::json_schemas() {
        fs::write(dir.join(name), text)?;
    }
    Ok(())
}
