//! The only file system of the emulated machine: busybox, programs, kernel modules, scripts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

/// The first process of the machine, which ends with the script `guest.sh`.
const INIT: &str = include_str!("init.sh");

/// A kernel with its modules, as unpacked from a Debian package.
pub struct Kernel {
    dir: PathBuf,
    version: String,
}

impl Kernel {
    /// The kernel in a directory with `boot/` and `lib/modules/`.
    pub fn find(dir: PathBuf) -> Result<Self> {
        let boot = dir.join("boot");
        let entries = fs::read_dir(&boot).with_context(|| format!("{}", boot.display()))?;
        let mut versions: Vec<_> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter_map(|name| Some(name.strip_prefix("vmlinuz-")?.to_owned()))
            .collect();
        versions.sort();
        let version = versions.pop();
        let version = version.with_context(|| format!("{} has no vmlinuz", boot.display()))?;
        Ok(Self { dir, version })
    }

    /// The file that the machine boots.
    pub fn image(&self) -> PathBuf {
        self.dir.join(format!("boot/vmlinuz-{}", self.version))
    }

    /// The files of a module and of its dependencies, the latter first.
    fn module_files(&self, module: &str) -> Result<Vec<PathBuf>> {
        let mut command = Command::new(program("modprobe")?);
        command.arg("--dirname").arg(&self.dir);
        command.args(["--set-version", &self.version, "--show-depends", module]);
        let output = command.output().with_context(|| format!("{command:?}"))?;
        ensure!(output.status.success(), "{command:?}: {output:?}");
        let listed = String::from_utf8(output.stdout)?;
        // Behind the file may stand options of this machine's own configuration.
        let file =
            |line: &str| Some(line.strip_prefix("insmod ")?.split_whitespace().next()?.into());
        Ok(listed.lines().filter_map(file).collect())
    }
}

/// The content of the machine beside its first process.
pub struct Content<'a> {
    /// Programs of the host, which come with their libraries.
    pub programs: &'a [&'a str],
    /// The program under test.
    pub ssdlab: &'a Path,
    /// Kernel modules, in a valid order of loading.
    pub modules: &'a [&'a str],
    /// Texts with their names; there is a `guest.sh` among them.
    pub scripts: &'a [(&'a str, &'a str)],
}

/// Packs everything into `archive`; `work` is a scratch directory.
pub fn pack(kernel: &Kernel, content: &Content<'_>, work: &Path, archive: &Path) -> Result<()> {
    let root = work.join("root");
    for dir in ["bin", "dev", "proc", "sys", "tmp", "modules"] {
        fs::create_dir_all(root.join(dir))?;
    }
    for name in content.programs {
        add_program(&root, name, &program(name)?)?;
    }
    add_program(&root, "ssdlab", content.ssdlab)?;
    // The machine reads all of it before it starts.
    let stripped = Command::new("strip").arg(root.join("bin/ssdlab")).status()?;
    ensure!(stripped.success(), "strip ended with {stripped}");
    add_modules(kernel, content.modules, &root)?;
    for (name, text) in [("init", INIT)].iter().chain(content.scripts) {
        fs::write(root.join(name), text)?;
    }
    let packed = fs::File::create(archive)?;
    let mut cpio = Command::new("sh");
    cpio.args(["-ec", "chmod +x init; find . | cpio --create --format=newc --quiet"]);
    let status = cpio.current_dir(&root).stdout(packed).status()?;
    ensure!(status.success(), "cpio ended with {status}");
    Ok(())
}

fn add_modules(kernel: &Kernel, modules: &[&str], root: &Path) -> Result<()> {
    let mut order: Vec<String> = Vec::new();
    for module in modules {
        for file in kernel.module_files(module)? {
            let name = file.file_name().context("a module is a file")?.to_string_lossy();
            if order.iter().any(|known| known.split(' ').next() == Some(&*name)) {
                continue;
            }
            copy(&file, &root.join("modules").join(&*name))?;
            // One queue whose completions can be polled, beside those that interrupt.
            let setting = if name.starts_with("nvme.") { " poll_queues=1" } else { "" };
            order.push(format!("{name}{setting}"));
        }
    }
    ensure!(!order.is_empty(), "modprobe named no modules for {}", kernel.version);
    fs::write(root.join("modules/order"), order.join("\n") + "\n")?;
    Ok(())
}

/// Copies a program into `bin`, and its libraries to their places.
fn add_program(root: &Path, name: &str, path: &Path) -> Result<()> {
    copy(path, &root.join("bin").join(name))?;
    // Of a static program ldd says no more than that it is one, and fails.
    let output = Command::new("ldd").arg(path).stderr(Stdio::null()).output()?;
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    for library in listed.split_whitespace().filter(|word| word.starts_with('/')) {
        let at = root.join(library.trim_start_matches('/'));
        fs::create_dir_all(at.parent().context("a library lies in a folder")?)?;
        copy(Path::new(library), &at)?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).map(drop).with_context(|| format!("cannot copy {}", from.display()))
}

/// Path of a program of the host, also in Debian's directories for the administrator.
pub fn program(name: &str) -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    match places.map(|dir| dir.join(name)).find(|candidate| candidate.is_file()) {
        Some(found) => Ok(found),
        None => bail!("{name} is not installed"),
    }
}
