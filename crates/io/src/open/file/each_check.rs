//! Does each check of a file target refuse by itself, also what changes between two looks?

use std::cell::RefCell;

use target::Target as _;

use super::*;
use crate::open::open_file;

#[allow(dead_code, unreachable_pub, reason = "shared with the tests of the engines")]
#[path = "../../../tests/support/loops.rs"]
mod loops;

use loops::{Undo, attach, is_in_namespace, must, require_or_skip};

const MIB: u64 = 1 << 20;

/// The work of a test between two looks, with the look that it follows.
type Change = (&'static str, Box<dyn FnOnce()>);

thread_local! {
    static CHANGE: RefCell<Option<Change>> = const { RefCell::new(None) };
}

/// Does the work of a test after a look.
pub(super) fn meanwhile(look: &str) {
    let change = CHANGE.with_borrow_mut(|change| change.take_if(|(after, _)| *after == look));
    if let Some((_, work)) = change {
        work();
    }
}

fn code<T>(result: Result<T, TargetError>) -> &'static str {
    match result {
        Err(TargetError::Refused { code, .. }) => code,
        Err(error) => panic!("expected a refusal, got {error}"),
        Ok(_) => panic!("expected a refusal"),
    }
}

fn erasing(path: &Path) -> OpenOptions {
    let erase = vec![path.to_str().unwrap().to_owned()];
    OpenOptions { write: true, erase, queue_depth: 1, ..OpenOptions::default() }
}

#[test]
fn a_file_replaced_between_two_looks_is_not_lent() {
    for look in ["is unused", "is given away"] {
        let dir = tempfile::tempdir().unwrap();
        let [path, other] = ["file", "other"].map(|name| dir.path().join(name));
        fs::write(&path, vec![1; 8192]).unwrap();
        fs::write(&other, vec![2; 8192]).unwrap();
        let options = erasing(&path);
        drop(lend(&path, None, &options, true).unwrap());
        let (from, to) = (other.clone(), path.clone());
        let work = Box::new(move || fs::rename(from, to).unwrap());
        CHANGE.set(Some((look, work)));
        assert_eq!(code(lend(&path, None, &options, true)), "identity-changed", "after it {look}");
        assert!(CHANGE.take().is_none() && !other.exists(), "nothing happened");
        assert_eq!(fs::read(&path).unwrap(), vec![2; 8192]);
    }
}

#[test]
fn a_use_that_begins_between_two_looks_is_found() {
    if !require_or_skip("a_use_that_begins_between_two_looks_is_found", &["losetup"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap().join("file");
    fs::write(&path, vec![0; 8192]).unwrap();
    let options = erasing(&path);
    let attached = std::rc::Rc::new(RefCell::new(None));
    let (keep, image) = (std::rc::Rc::clone(&attached), path.clone());
    let work = move || {
        keep.replace(Some(attach(&image, &[])));
    };
    CHANGE.set(Some(("is given away", Box::new(work))));
    assert_eq!(code(lend(&path, None, &options, true)), "held");
    drop(attached.take());
    drop(lend(&path, None, &options, true).unwrap());
}

#[test]
fn a_new_file_is_none_that_came_meanwhile() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, "somebody else's").unwrap();
    let created = create(&path, path.clone(), Some(MIB)).map(drop);
    assert!(matches!(created, Err(TargetError::Device { .. })), "{created:?}");
    assert_eq!(fs::read(&path).unwrap(), b"somebody else's");
}

#[test]
fn no_file_is_created_where_a_table_is_covered() {
    let name = "no_file_is_created_where_a_table_is_covered";
    if !require_or_skip(name, &["losetup", "unshare", "mount"]) || !is_in_namespace(name) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    must("mount", &["--bind", "/dev/null", "/proc/locks"]);
    let _uncover = Undo::new("umount", "/proc/locks");
    let created = create(&path, path.clone(), Some(MIB)).map(drop);
    assert!(matches!(created, Err(TargetError::Unsupported(_))), "{created:?}");
    assert!(!path.exists());
}

#[test]
fn a_file_in_a_run_is_locked_for_every_other() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let new = OpenOptions { erase: Vec::new(), ..erasing(&path) };
    let created = open_file(&path, Some(MIB), true, &new).unwrap();
    assert_eq!(code(open_file(&path, None, false, &erasing(&path))), "busy");
    assert_eq!(code(open_file(&path, None, false, &OpenOptions::default())), "busy");
    created.confirm_identity().unwrap();
    drop(created);
    let read = open_file(&path, None, false, &OpenOptions::default()).unwrap();
    assert_eq!(code(open_file(&path, None, false, &erasing(&path))), "busy");
    drop(open_file(&path, None, false, &OpenOptions::default()).unwrap());
    drop(read);
    let lent = open_file(&path, None, false, &erasing(&path)).unwrap();
    assert_eq!(code(open_file(&path, None, false, &erasing(&path))), "busy");
    drop(lent);
}

#[test]
fn no_run_reads_or_keeps_more_or_less_than_there_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, vec![0; 8192]).unwrap();
    let read = |size| open_file(&path, size, false, &OpenOptions::default());
    drop(read(Some(8192)).unwrap());
    assert!(read(Some(12288)).unwrap_err().to_string().contains("this run only reads"));
    fs::write(&path, "short").unwrap();
    let lent = open_file(&path, None, false, &erasing(&path));
    assert!(lent.unwrap_err().to_string().contains("0 bytes is no size"));
    assert_eq!(fs::read(&path).unwrap(), b"short");
}

/// The same file under its old name, but as a link: what stands there could be exchanged for another.
#[test]
fn a_link_in_the_place_of_the_file_is_not_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let [path, moved] = ["file", "moved"].map(|name| dir.path().join(name));
    fs::write(&path, vec![0; 8192]).unwrap();
    let lent = open_file(&path, None, false, &erasing(&path)).unwrap();
    lent.confirm_identity().unwrap();
    fs::rename(&path, &moved).unwrap();
    std::os::unix::fs::symlink(&moved, &path).unwrap();
    assert_eq!(code(lent.confirm_identity()), "identity-changed");
}

/// The kernel knows a swap file that no table here names, by its refusal to change its blocks.
#[test]
fn the_kernels_own_answer_reveals_a_swap_file() {
    let name = "the_kernels_own_answer_reveals_a_swap_file";
    if !require_or_skip(name, &["mkswap", "swapon"]) {
        return;
    }
    // Not in memory, where no swap file can be.
    let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let path = dir.path().canonicalize().unwrap().join("swap");
    fs::write(&path, vec![0; 4 * MIB as usize]).unwrap();
    must("chmod", &["600", path.to_str().unwrap()]);
    must("mkswap", &[path.to_str().unwrap()]);
    must("swapon", &[path.to_str().unwrap()]);
    let _off = Undo::new("swapoff", path.to_str().unwrap());
    let file = File::options().write(true).open(&path).unwrap();
    assert_eq!(code(can_reserve(&file, &path, 4 * MIB)), "swap");
}
