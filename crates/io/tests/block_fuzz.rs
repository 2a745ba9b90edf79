//! A thousand careless users on a machine whose devices are mounted, swap, held, read-only, full of
//! data or free: does a byte change that nobody released? Needs root and loop devices.

mod support;

use std::any::Any;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, symlink};
use std::path::PathBuf;

use base::{OpKind, Rng};
use io::{OpenOptions, open_block};
use target::Target;
use target::TargetError;

use support::loops::{LoopDevice, Undo, attach, must, require_or_skip};
use support::{op, writing};

const SIZE_BYTES: u64 = 1 << 20;
const SWAP_PAGE_BYTES: u64 = 4096;
const USERS: u32 = 1000;

/// A device, its obstacle, and its content.
struct Exhibit {
    // First, because fields are dropped in order and a mount must go before its device.
    _undo: Vec<Box<dyn Any>>,
    device: LoopDevice,
    /// Whether `--erase` with the path of its image opens it.
    may_open: bool,
    /// Bytes at the end that the kernel may write.
    kernels_bytes: u64,
    content: Vec<u8>,
    link: PathBuf,
}

impl Exhibit {
    fn new(device: LoopDevice, may_open: bool, undo: Vec<Box<dyn Any>>) -> Self {
        let link = device.beside("link");
        symlink(&device.node, &link).unwrap();
        let content = fs::read(&device.image).unwrap();
        Self { device, may_open, kernels_bytes: 0, content, link, _undo: undo }
    }

    /// Fails if a byte beyond the first `granted_bytes` changed.
    fn must_be_untouched_from(&mut self, granted_bytes: u64, user: u32) {
        let now = fs::read(&self.device.image).unwrap();
        let own = granted_bytes as usize..(SIZE_BYTES - self.kernels_bytes) as usize;
        let node = self.device.node();
        assert!(
            now[own.clone()] == self.content[own.clone()],
            "user {user} changed {node} in {own:?}"
        );
        self.content = now;
    }
}

/// The kernel writes swap space when memory runs short: one page stays out of the comparison.
///
/// Fields of the header, version 1, on a little-endian machine: `nr_badpages` at byte 1,032 and
/// `badpages` from 1,536 (swapon(8), linux/swap.h).
fn declare_all_but_the_last_page_bad(swap: &LoopDevice) {
    let image = File::options().write(true).open(&swap.image).unwrap();
    let bad: Vec<u32> =
        (1..(SIZE_BYTES - SWAP_PAGE_BYTES) / SWAP_PAGE_BYTES).map(|page| page as u32).collect();
    image.write_all_at(&(bad.len() as u32).to_le_bytes(), 1032).unwrap();
    let list: Vec<u8> = bad.iter().flat_map(|page| page.to_le_bytes()).collect();
    image.write_all_at(&list, 1536).unwrap();
    must("blockdev", &["--flushbufs", swap.node()]);
}

fn with_ext4() -> LoopDevice {
    let device = LoopDevice::new(SIZE_BYTES);
    must("mkfs.ext4", &["-q", device.node()]);
    device
}

fn exhibits() -> Vec<Exhibit> {
    let mounted = with_ext4();
    let at = mounted.beside("here");
    fs::create_dir(&at).unwrap();
    // Read-only, or the file system itself would write.
    must("mount", &["-o", "ro", mounted.node(), at.to_str().unwrap()]);
    let mounted_undo = Undo::new("umount", at.to_str().unwrap());
    let swap = LoopDevice::new(SIZE_BYTES);
    must("mkswap", &[swap.node()]);
    declare_all_but_the_last_page_bad(&swap);
    must("swapon", &[swap.node()]);
    let swap_undo = Undo::new("swapoff", swap.node());
    let held = LoopDevice::new(SIZE_BYTES);
    let top = attach(&held.node, &[]);
    vec![
        Exhibit::new(mounted, false, vec![Box::new(mounted_undo)]),
        Exhibit {
            kernels_bytes: SWAP_PAGE_BYTES,
            ..Exhibit::new(swap, false, vec![Box::new(swap_undo)])
        },
        Exhibit::new(held, false, vec![Box::new(top)]),
        Exhibit::new(LoopDevice::with(SIZE_BYTES, &["--read-only"]), false, vec![]),
        Exhibit::new(with_ext4(), true, vec![]),
        Exhibit::new(LoopDevice::new(SIZE_BYTES), true, vec![]),
        Exhibit::new(LoopDevice::new(SIZE_BYTES), true, vec![]),
    ]
}

/// The value given with `--erase`: nothing, the right image, the node, another image, or nonsense.
fn erase_words(rng: &mut Rng, exhibits: &[Exhibit], own: usize) -> Vec<String> {
    let other = rng.below(exhibits.len() as u64) as usize;
    match rng.below(6) {
        0 => vec![],
        1 => vec!["S3RIAL".to_owned(), exhibits[own].device.node().to_owned()],
        2 => vec![exhibits[other].device.word().to_owned()],
        3 => [own, other].map(|index| exhibits[index].device.word().to_owned()).to_vec(),
        _ => vec![exhibits[own].device.word().to_owned()],
    }
}

/// Commands without any discipline: anywhere on the device and behind it, of any length.
fn misbehave(rng: &mut Rng, target: &mut impl Target) {
    for tag in 0..8 {
        let kind = [OpKind::Write, OpKind::Deallocate, OpKind::Write][rng.below(3) as usize];
        let offset = rng.below(2 * SIZE_BYTES / 512) * 512 + rng.below(2) * rng.below(600);
        let len = (1 + rng.below(64)) as u32 * 512;
        let mut ended = Vec::new();
        target.submit(&[op(kind, tag, offset, len)]);
        while ended.is_empty() {
            target.reap(1, &mut ended).unwrap();
        }
    }
    let _ = target.deallocate(rng.below(2 * SIZE_BYTES), rng.below(SIZE_BYTES));
}

#[test]
fn no_byte_changes_that_was_not_given_away() {
    let tools = ["losetup", "mkfs.ext4", "mkswap", "swapon"];
    if !require_or_skip("no_byte_changes_that_was_not_given_away", &tools) {
        return;
    }
    let mut rng = Rng::new(7);
    let mut exhibits = exhibits();
    let mut opened = 0;
    for user in 0..USERS {
        let chosen = rng.below(exhibits.len() as u64) as usize;
        let erase = erase_words(&mut rng, &exhibits, chosen);
        let erase_signatures = rng.chance(1, 3);
        let right = erase.iter().any(|word| word == exhibits[chosen].device.word());
        let options = OpenOptions { erase, erase_signatures, ..writing(8) };
        let exhibit = &exhibits[chosen];
        let path = if rng.chance(1, 2) { &exhibit.device.node } else { &exhibit.link };
        let may_open = exhibit.may_open && right;
        let granted_bytes = match open_block(path, &options) {
            Ok(mut target) => {
                assert!(may_open, "user {user} was let in with {options:?}");
                opened += 1;
                let granted_bytes = rng.below(SIZE_BYTES / 512) * 512;
                target.confine(granted_bytes);
                misbehave(&mut rng, &mut target);
                granted_bytes
            }
            Err(TargetError::Refused { .. }) => 0,
            Err(other) => panic!("user {user}: {other:?}"),
        };
        if granted_bytes > 0 || user % 25 == 0 {
            for (index, exhibit) in exhibits.iter_mut().enumerate() {
                exhibit
                    .must_be_untouched_from(if index == chosen { granted_bytes } else { 0 }, user);
            }
        }
    }
    assert!(opened > 100, "only {opened} were let in");
}
