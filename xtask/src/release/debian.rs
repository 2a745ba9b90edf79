//! The package for Debian and its relatives. It depends on nothing: the C library is in the program.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::{LOG, Release, Tree, below, file_name};
use crate::dist::Distribution;
use xtask::proc;

const COPYRIGHT: &str = "\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: ssdlab

Files: *
Copyright: the ssdlab contributors
License: MIT or Apache-2.0
 The texts of both stand in this folder, and in THIRD-PARTY-LICENSES.txt.gz those
 of the libraries in the program.
";

/// Builds the package in `dir`.
pub(super) fn package(
    release: &Release,
    distribution: &Distribution,
    papers: &[PathBuf],
    dir: &Path,
) -> Result<PathBuf> {
    let architecture = architecture(release.processor())?;
    let tree = Tree::new(dir.join("deb"))?;
    tree.add(&distribution.program, "usr/bin/ssdlab", 0o755)?;
    let man = below(&distribution.man)?;
    packed(&tree, release, &man, "usr/share/man/man1")?;
    for (name, place) in [
        ("ssdlab", "bash-completion/completions"),
        ("_ssdlab", "zsh/vendor-completions"),
        ("ssdlab.fish", "fish/vendor_completions.d"),
    ] {
        tree.add(
            &distribution.completions.join(name),
            &format!("usr/share/{place}/{name}"),
            0o644,
        )?;
    }
    packed(&tree, release, papers, "usr/share/doc/ssdlab")?;
    tree.write("usr/share/doc/ssdlab/copyright", COPYRIGHT.as_bytes(), 0o644)?;
    let kib = distribution.program.metadata()?.len().div_ceil(1024);
    let control = control(&release.version, architecture, kib);
    tree.write("DEBIAN/control", control.as_bytes(), 0o644)?;
    let path = dir.join(format!("ssdlab_{}_{architecture}.deb", release.version));
    let mut build = release.command("dpkg-deb");
    let level = if release.is_trial { "-z0" } else { "-z9" };
    build.args(["--root-owner-group", "-Zxz", level, "--build"]).arg(&tree.root).arg(&path);
    proc::stream(LOG, &mut build)?;
    tree.remove()?;
    Ok(path)
}

/// Adds files to a folder, as gzip without name and time.
fn packed(tree: &Tree, release: &Release, files: &[PathBuf], to: &str) -> Result<()> {
    let mut gzip = release.command("gzip");
    gzip.args(["-9", "--no-name"]);
    for file in files {
        let path = format!("{to}/{}", file_name(file));
        tree.add(file, &path, 0o644)?;
        gzip.arg(tree.root.join(path));
    }
    proc::capture(&mut gzip).map(drop)
}

fn control(version: &str, architecture: &str, kib: u64) -> String {
    format!(
        "Package: ssdlab
Version: {version}
Architecture: {architecture}
Maintainer: the ssdlab contributors <ssdlab@localhost>
Installed-Size: {kib}
Section: utils
Priority: optional
Description: SSD performance laboratory
 Tests block devices, files and simulated drives second by second with the same
 methods and the same result format, compares them on one page, and shows for
 simulated drives why a curve falls.
"
    )
}

/// Debian's name of a processor.
fn architecture(processor: &str) -> Result<&'static str> {
    Ok(match processor {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "riscv64gc" => "riscv64",
        other => bail!("no name of Debian's is known for the processor {other}"),
    })
}
