//! Writes `schema/tests.json` into a checkout: its top is the argument, or else the working
//! directory.

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let top = env::args_os().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    fs::write(top.join("schema/tests.json"), run::suite::catalogue())
}
