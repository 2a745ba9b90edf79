//! The only file system of the emulated machine: busybox, the programs, the kernel modules, the script.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Programs of the host for the machine, with their libraries.
const PROGRAMS: [&str; 7] =
    ["busybox", "nvme", "sg_sat_identify", "smartctl", "dmsetup", "nbd-client", "fio"];

/// Drivers of the drives, in a valid order of loading.
const MODULES: [&str; 12] = [
    "nvme",
    "ahci",
    "sd_mod",
    "dm-delay",
    "dm-flakey",
    "null_blk",
    "zram",
    "ext4",
    "nbd",
    "i2c-dev",
    "i2c-stub",
    "ltc4151",
];

/// A kernel with its modules, as unpacked from a Debian package.
pub(crate) struct Kernel {
    dir: PathBuf,
    version: String,
}

impl Kernel {
    /// The kernel in the directory that `SSDLAB_KERNEL` names.
    pub(crate) fn find() -> Self {
        let dir = std::env::var_os("SSDLAB_KERNEL").map(PathBuf::from);
        let dir = dir.expect("set SSDLAB_KERNEL, or use `cargo xtask test --only qemu`");
        let entries = fs::read_dir(dir.join("boot")).expect("the kernel's directory has boot/");
        let mut versions: Vec<_> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter_map(|name| Some(name.strip_prefix("vmlinuz-")?.to_owned()))
            .collect();
        versions.sort();
        let version = versions.pop().expect("boot/ has a vmlinuz");
        Self { dir, version }
    }

    pub(crate) fn image(&self) -> PathBuf {
        self.dir.join(format!("boot/vmlinuz-{}", self.version))
    }

    /// The files of a module and of its dependencies, the latter first.
    fn module_files(&self, module: &str) -> Vec<PathBuf> {
        let listed =
            text(Command::new(program("modprobe")).arg("--dirname").arg(&self.dir).args([
                "--set-version",
                &self.version,
                "--show-depends",
                module,
            ]));
        // Behind the file may stand options of this machine's own configuration.
        let file =
            |line: &str| Some(line.strip_prefix("insmod ")?.split_whitespace().next()?.into());
        listed.lines().filter_map(file).collect()
    }
}

/// Packs everything into `archive`; `work` is a scratch directory.
pub(crate) fn pack(kernel: &Kernel, ssdlab: &Path, work: &Path, archive: &Path) {
    let root = work.join("root");
    for dir in ["bin", "dev", "proc", "sys", "tmp", "modules"] {
        fs::create_dir_all(root.join(dir)).expect("a directory");
    }
    for name in PROGRAMS {
        add_program(&root, &program(name));
    }
    add_program(&root, ssdlab);
    add_modules(kernel, &root);
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/qemu");
    copy(&here.join("guest.sh"), &root.join("init"));
    copy(&here.join("scenarios.sh"), &root.join("scenarios.sh"));
    let packed = fs::File::create(archive).expect("the archive");
    let status = Command::new("sh")
        .args(["-ec", "chmod +x init; find . | cpio --create --format=newc --quiet"])
        .current_dir(&root)
        .stdout(packed)
        .status();
    assert!(status.is_ok_and(|status| status.success()), "cpio failed");
}

fn add_modules(kernel: &Kernel, root: &Path) {
    let mut order: Vec<String> = Vec::new();
    for file in MODULES.iter().flat_map(|module| kernel.module_files(module)) {
        let name = file.file_name().expect("a file").to_string_lossy().into_owned();
        if !order.iter().any(|known| known.split(' ').next() == Some(name.as_str())) {
            copy(&file, &root.join("modules").join(&name));
            // One queue whose completions can be polled, beside those that interrupt.
            let setting = if name.starts_with("nvme.") { " poll_queues=1" } else { "" };
            order.push(name + setting);
        }
    }
    assert!(!order.is_empty(), "modprobe named no modules for {}", kernel.version);
    fs::write(root.join("modules/order"), order.join("\n") + "\n").expect("the order");
}

/// Copies a program into `bin`, and its libraries to their places.
fn add_program(root: &Path, path: &Path) {
    copy(path, &root.join("bin").join(path.file_name().expect("a name")));
    // Of a static program ldd says no more than that it is one, and fails.
    let output = Command::new("ldd").arg(path).stderr(Stdio::null()).output().expect("ldd");
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    for library in listed.split_whitespace().filter(|word| word.starts_with('/')) {
        let at = root.join(library.trim_start_matches('/'));
        fs::create_dir_all(at.parent().expect("inside the root")).expect("a directory");
        copy(Path::new(library), &at);
    }
}

fn copy(from: &Path, to: &Path) {
    fs::copy(from, to).unwrap_or_else(|error| panic!("cannot copy {}: {error}", from.display()));
}

/// Path of a program of the host, also in Debian's directories for the administrator.
pub(crate) fn program(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    let found = places.map(|dir| dir.join(name)).find(|candidate| candidate.is_file());
    found.unwrap_or_else(|| panic!("{name} is not installed"))
}

fn text(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}
