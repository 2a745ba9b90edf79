//! The file systems of the recipes: how each is made and checked.

use std::path::Path;
use std::process::Command;

use xtask::proc;

/// A file system that Linux has, at least in the emulated machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileSystem {
    Ext4,
    Xfs,
    Btrfs,
    F2fs,
}

impl FileSystem {
    pub(super) const ALL: [Self; 4] = [Self::Ext4, Self::Xfs, Self::Btrfs, Self::F2fs];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
            Self::F2fs => "f2fs",
        }
    }

    /// Whether this kernel has it, if need be as a module.
    pub(super) fn is_here(self) -> bool {
        let known = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
        let mut modprobe = Command::new("modprobe");
        proc::succeeds(modprobe.args(["--quiet", self.name()]))
            || known.lines().any(|line| line.trim() == self.name())
    }

    /// The words that make it on a device.
    pub(super) fn make(self, device: &Path) -> Vec<String> {
        let quiet = if self == Self::Btrfs { "--quiet" } else { "-q" };
        let mkfs = format!("mkfs.{}", self.name());
        vec![mkfs, quiet.to_owned(), device.display().to_string()]
    }

    /// The words of the check, which changes nothing.
    pub(super) fn check(self, device: &Path) -> Vec<String> {
        let words: &[&str] = match self {
            Self::Ext4 => &["e2fsck", "-f", "-n"],
            Self::Xfs => &["xfs_repair", "-n"],
            Self::Btrfs => &["btrfs", "check", "--readonly"],
            Self::F2fs => &["fsck.f2fs", "--dry-run"],
        };
        let device = device.display().to_string();
        words.iter().map(|&word| word.to_owned()).chain([device]).collect()
    }
}

/// A command of these words.
pub(super) fn command(words: &[String]) -> Command {
    let mut words = words.iter();
    let mut command = Command::new(words.next().map_or("", String::as_str));
    command.args(words);
    command
}
