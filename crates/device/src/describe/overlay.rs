//! Overlays show the files of their layers under identities of their own.
//!
//! A file that was copied up keeps the inode number of the lower layer for readers of the overlay,
//! and has another one in the upper layer. Hence paths, and not numbers, tell which files are one.

use std::fs;
use std::path::{Path, PathBuf};

use super::tables::Mount;

/// One mounted overlay.
#[derive(Clone, Debug)]
pub(crate) struct Overlay {
    /// The mount point.
    at: PathBuf,
    /// The directories behind it.
    layers: Vec<PathBuf>,
}

impl Overlay {
    /// The overlay of a mount in the tree of `root`, or `None` if it is another file system. The
    /// layers are paths of the process that mounted it, perhaps of another tree.
    pub(crate) fn new(mount: &Mount, root: &Path) -> Option<Self> {
        let below = |root: &Path, path: &Path| root.join(path.strip_prefix("/").unwrap_or(path));
        let seen = Path::new(&mount.root);
        let of_layer = |layer: &PathBuf| [below(root, layer), layer.clone()];
        let layers = mount.layers.iter().filter(|layer| layer.is_absolute()).flat_map(of_layer);
        let mut layers: Vec<_> =
            layers.filter_map(|layer| fs::canonicalize(below(&layer, seen)).ok()).collect();
        layers.dedup();
        let at = below(root, Path::new(&mount.at));
        (!layers.is_empty()).then(|| Self { at: fs::canonicalize(&at).unwrap_or(at), layers })
    }

    /// The other paths of the file at `path`, which has no links, if it lies in the overlay or in a
    /// layer; they may lead nowhere.
    pub(crate) fn other_paths(&self, path: &Path) -> Vec<PathBuf> {
        let dirs = self.layers.iter().chain([&self.at]);
        let inside = dirs.clone().filter_map(|dir| Some((dir, path.strip_prefix(dir).ok()?)));
        // A layer may lie in another directory of the overlay: the longest one is meant.
        let Some((own, rest)) = inside.max_by_key(|(dir, _)| dir.as_os_str().len()) else {
            return Vec::new();
        };
        dirs.filter(|&dir| dir != own).map(|dir| dir.join(rest)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_in_a_layer_is_one_in_the_overlay_and_back() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        for name in ["lower/sub", "upper/sub", "merged"] {
            fs::create_dir_all(dir.join(name)).unwrap();
        }
        let mount = |root: &str| {
            let line = format!(
                "40 27 0:44 {root} {0}/merged rw - overlay overlay rw,lowerdir={0}/lower,upperdir={0}/upper",
                dir.display()
            );
            super::super::tables::parse_mountinfo(&line).remove(0)
        };
        let overlay = Overlay::new(&mount("/"), Path::new("/")).unwrap();
        let others = |path: &str| overlay.other_paths(&dir.join(path));
        let at = |names: [&str; 2]| names.map(|name| dir.join(name));
        assert_eq!(others("merged/a"), at(["lower/a", "upper/a"]));
        assert_eq!(others("upper/a"), at(["lower/a", "merged/a"]));
        assert!(others("elsewhere/a").is_empty());
        let part = Overlay::new(&mount("/sub"), Path::new("/")).unwrap();
        let found = part.other_paths(&dir.join("merged/a"));
        assert_eq!(found, at(["lower/sub/a", "upper/sub/a"]), "a part of an overlay is bound");
    }
}
