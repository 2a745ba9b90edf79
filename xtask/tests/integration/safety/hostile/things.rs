//! One thing of the world: a file with all of its names, in some use.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::world::{Undo, UndoAll};
use crate::loop_device::tool;

pub(super) const SIZE_BYTES: u64 = 8 << 20;
const PAGE_BYTES: u64 = 4096;

/// One of the names of a thing.
pub(super) struct Name {
    /// Target string: `file:` with any path, or a node.
    pub(super) target: String,
    /// Word that confirms it.
    pub(super) word: String,
}

impl Name {
    pub(super) fn file(path: &str) -> Self {
        Self { target: format!("file:{path}"), word: path.to_owned() }
    }

    pub(super) fn path(&self) -> &str {
        self.target.strip_prefix("file:").unwrap_or(&self.target)
    }
}

/// Bytes that need protection.
pub(super) struct Thing {
    /// Their file.
    pub(super) file: PathBuf,
    pub(super) names: Vec<Name>,
    /// Loop devices that show them.
    pub(super) nodes: Vec<PathBuf>,
    /// Whether they are in use, so that no call may write to them.
    pub(super) used: bool,
    /// Whether they are a file system or a database, which needs a second consent.
    pub(super) signed: bool,
    /// Whether an earlier call, which may be continued, released them.
    pub(super) was_given_before: bool,
    /// Bytes at the end that the kernel may write.
    kernels_bytes: u64,
    content: Vec<u8>,
    /// Ends the use, the last one first.
    undo: UndoAll,
}

impl Thing {
    /// A file of zeros, with a hard link and a symbolic link beside it.
    pub(super) fn new(dir: &Path, name: &str) -> Self {
        let file = dir.join(name);
        fs::write(&file, vec![0; SIZE_BYTES as usize]).expect("a file");
        let [hard, soft] = ["hard", "soft"].map(|kind| dir.join(format!("{name}-{kind}")));
        fs::hard_link(&file, &hard).expect("a hard link");
        symlink(&file, &soft).expect("a symbolic link");
        let by_root = PathBuf::from(format!("/proc/self/root{}", hard.display()));
        let paths = [&file, &hard, &soft, &by_root];
        let names = paths.map(|path| Name::file(&path.to_string_lossy())).into();
        Self {
            file,
            names,
            nodes: Vec::new(),
            used: false,
            signed: false,
            was_given_before: false,
            kernels_bytes: 0,
            content: Vec::new(),
            undo: UndoAll::default(),
        }
    }

    pub(super) fn used(self) -> Self {
        Self { used: true, ..self }
    }

    /// Puts a file system on it.
    pub(super) fn with_ext4(self) -> Self {
        tool("mkfs.ext4", &["-q", "-F", &self.file.to_string_lossy()]);
        Self { signed: true, ..self }
    }

    /// Locked as a whole by this process.
    pub(super) fn locked(self) -> Self {
        let file = File::open(&self.file).expect("the file");
        file.lock().expect("a lock");
        self.until(Undo::Lock(file)).used()
    }

    pub(super) fn with_database(self) -> Self {
        let file = File::options().write(true).open(&self.file).expect("the file");
        file.write_all_at(b"SQLite format 3\0", 0).expect("the first bytes");
        Self { signed: true, ..self }
    }

    /// Binds the file to one more name.
    pub(super) fn bound(mut self) -> Self {
        let at = self.file.with_extension("bound");
        fs::write(&at, "").expect("a place");
        let at = at.to_string_lossy().into_owned();
        tool("mount", &["--bind", &self.file.to_string_lossy(), &at]);
        self.names.push(Name::file(&at));
        self.undo.0.push(Undo::new("umount", &at));
        self
    }

    /// Attaches a loop device to `below`: the file, another of its names or one of its nodes.
    pub(super) fn attach(mut self, below: &Path, arguments: &[&str]) -> Self {
        let below = below.to_string_lossy();
        let node = tool("losetup", &[arguments, &["--find", "--show", &below]].concat());
        let node = node.trim().to_owned();
        self.undo.0.push(Undo::new("losetup", &format!("-d{node}")));
        self.names.push(Name { target: node.clone(), word: below.into_owned() });
        self.nodes.push(node.into());
        self
    }

    /// With a loop device on the file.
    pub(super) fn attached(self) -> Self {
        let file = self.file.clone();
        self.attach(&file, &[])
    }

    /// With one more loop device, on its hard link.
    pub(super) fn attached_again(self) -> Self {
        let hard = self.hard_link();
        self.attach(&hard, &[])
    }

    /// With one more loop device, on its last one.
    pub(super) fn stacked(self) -> Self {
        let below = self.node();
        self.attach(&below, &[])
    }

    fn hard_link(&self) -> PathBuf {
        PathBuf::from(format!("{}-hard", self.file.display()))
    }

    fn node(&self) -> PathBuf {
        self.nodes.last().expect("a loop device").clone()
    }

    /// Mounts its first node read-only; otherwise the file system itself would write.
    pub(super) fn mounted(mut self) -> Self {
        let node = self.nodes[0].display().to_string();
        let at = self.mount_point();
        tool("mount", &["-o", "ro", &node, &at]);
        self.undo.0.push(Undo::new("umount", &at));
        self.used()
    }

    /// Its mount point, mounted or not.
    pub(super) fn mount_point(&self) -> String {
        let at = self.file.with_extension("mounted");
        fs::create_dir_all(&at).expect("a mount point");
        at.to_string_lossy().into_owned()
    }

    /// Gives its node a partition that only the kernel knows, with a mounted file system.
    pub(super) fn mounted_partition(mut self) -> Self {
        let disk = self.node().display().to_string();
        tool("addpart", &[&disk, "1", "2048", "8192"]);
        let (partition, at) = (format!("{disk}p1"), self.mount_point());
        tool("mkfs.ext4", &["-q", &partition]);
        tool("mount", &["-o", "ro", &partition, &at]);
        self.undo.0.push(Undo::new("umount", &at));
        self.nodes.push(partition.clone().into());
        let word = format!("{}-part1", self.file.display());
        self.names.push(Name { target: partition, word });
        self.used()
    }

    /// Makes the file swap space, of which the kernel writes all but the header.
    pub(super) fn swap_file(self) -> Self {
        let file = self.file.clone();
        fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("its mode");
        self.swapping(&file, &[])
    }

    /// Makes its node swap space. The header declares as many of its pages bad as it can list, so
    /// that the kernel avoids them.
    pub(super) fn swap_device(self) -> Self {
        const LISTED_MAX: u32 = 600;
        let node = self.node();
        self.swapping(&node, &(1..=LISTED_MAX).collect::<Vec<_>>())
    }

    /// Fields of the header as in linux/swap.h: `nr_badpages` at byte 1,032, `badpages` from 1,536.
    fn swapping(mut self, at: &Path, bad_pages: &[u32]) -> Self {
        let name = at.to_string_lossy().into_owned();
        tool("mkswap", &[&name]);
        let list: Vec<u8> = bad_pages.iter().flat_map(|page| page.to_le_bytes()).collect();
        let header = File::options().write(true).open(at).expect("the header");
        let count = (bad_pages.len() as u32).to_le_bytes();
        header.write_all_at(&count, 1032).expect("their number");
        header.write_all_at(&list, 1536).expect("their list");
        header.sync_all().expect("on the disk");
        tool("swapon", &[&name]);
        self.undo.0.push(Undo::new("swapoff", &name));
        self.kernels_bytes = SIZE_BYTES - (bad_pages.len() as u64 + 1) * PAGE_BYTES;
        self.used()
    }

    pub(super) fn until(mut self, undo: Undo) -> Self {
        self.undo.0.push(undo);
        self
    }

    /// Whether a word for `--erase` names it.
    pub(super) fn is_named_by(&self, word: &str) -> bool {
        let id = |path: &Path| fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
        let word = Path::new(word.trim());
        self.names.iter().any(|name| Path::new(&name.word) == word)
            || id(word).is_some_and(|found| Some(found) == id(&self.file))
    }

    /// Its content. A loop device over another one writes to the page cache of the other, and the
    /// data reach the file later.
    fn read(&self) -> Vec<u8> {
        for node in self.nodes.iter().rev() {
            File::open(node).and_then(|node| node.sync_all()).expect("a node");
        }
        fs::read(&self.file).expect("the file")
    }

    /// Records its content.
    pub(super) fn remember(&mut self) {
        self.content = self.read();
    }

    /// The first changed byte, or `None` if there is none.
    pub(super) fn changed_at(&self) -> Option<u64> {
        let now = self.read();
        let kept = self.content.len().saturating_sub(self.kernels_bytes as usize);
        if now.len() == self.content.len() && now[..kept] == self.content[..kept] {
            return None;
        }
        let same = now.iter().zip(&self.content).take_while(|(now, was)| now == was);
        Some(same.count() as u64)
    }
}
