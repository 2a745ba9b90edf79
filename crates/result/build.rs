//! Embeds the page of `cargo xtask web` into the binary. Without that page it embeds an empty file,
//! which the report treats as "not built".

use std::path::Path;
use std::{env, fs};

fn main() -> std::io::Result<()> {
    let root = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let (web, dist) = (Path::new(&root).join("../../web"), Path::new(&root).join("page"));
    let page = dist.join("index.html");
    // A path that does not exist would run this script, and compile the crate, on every build. So
    // while there is no page, its nearest existing directory is watched for it to appear.
    let watched = [&page, &dist, &web].into_iter().find(|path| path.exists());
    for path in watched.into_iter().chain((page.exists()).then_some(&dist)) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    println!("cargo::rerun-if-changed=build.rs");
    let target = Path::new(&env::var("OUT_DIR").unwrap_or_default()).join("report.html");
    if page.exists() { fs::copy(&page, target).map(|_| ()) } else { fs::write(target, "") }
}
