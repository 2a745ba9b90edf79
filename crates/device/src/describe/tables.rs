//! The kernel's tables of mounts, swap spaces and locks. Pure: text in, entries out.

use std::path::PathBuf;

use super::thing::FileId;
use crate::host::sysfs::DeviceNumber;

/// One mounted file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Number of the device; anonymous for btrfs and others that span devices.
    pub(crate) number: DeviceNumber,
    /// The mount point.
    pub(crate) at: String,
    /// Kind of file system.
    pub file_system: String,
    /// The source of the mount: a path for file systems on a device.
    pub source: PathBuf,
    /// The directory of the file system that is visible at the mount point.
    pub(crate) root: String,
    /// The layers of an overlay; empty for other file systems.
    pub(crate) layers: Vec<PathBuf>,
}

/// The entries of `mountinfo` (proc(5)). Lines that cannot be read are omitted; a caller that needs
/// all of them compares the numbers.
pub(crate) fn parse_mountinfo(text: &str) -> Vec<Mount> {
    text.lines().filter_map(parse_mount).collect()
}

fn parse_mount(line: &str) -> Option<Mount> {
    // 36 35 98:0 /root /mounted/at options [optional fields] - type source superoptions
    let (first, second) = line.split_once(" - ")?;
    let mut first = first.split(' ');
    let number = DeviceNumber::parse(first.nth(2)?)?;
    let root = unescape(first.next()?);
    let at = unescape(first.next()?);
    let mut second = second.split(' ');
    let file_system = second.next()?.to_owned();
    let source = PathBuf::from(unescape(second.next()?));
    let options = second.next().unwrap_or_default();
    let layers = if file_system == "overlay" { layers(options) } else { Vec::new() };
    Some(Mount { number, at, file_system, source, root, layers })
}

/// The directories of `lowerdir=A:B,upperdir=C`.
fn layers(options: &str) -> Vec<PathBuf> {
    let lists = options.split(',').filter_map(|option| {
        let (name, list) = option.split_once('=')?;
        // `lowerdir+` and `datadir+` name one each.
        let is_layer = ["lowerdir", "upperdir", "datadir"].contains(&name.trim_end_matches('+'));
        is_layer.then_some(list)
    });
    let dirs = lists.flat_map(|list| list.split(':')).filter(|dir| !dir.is_empty());
    dirs.map(|dir| PathBuf::from(unescape(dir))).collect()
}

/// The paths in `/proc/swaps`.
pub(crate) fn parse_swaps(text: &str) -> Vec<PathBuf> {
    text.lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next())
        .map(|path| PathBuf::from(unescape(path)))
        .collect()
}

/// The files that a program has locked, as a whole or in part, or holds a lease on (proc_locks(5)):
/// file system and inode. Locks of whole files (flock) that the process `own` has taken are
/// omitted, because ssdlab takes those itself.
pub(crate) fn parse_locks(text: &str, own: &str) -> Vec<FileId> {
    text.lines().filter_map(|line| parse_lock(line, own)).collect()
}

fn parse_lock(line: &str, own: &str) -> Option<FileId> {
    // 1: POSIX ADVISORY WRITE 1234 fe:00:131 0 EOF
    let mut words = line.split_whitespace().skip(1);
    let kind = words.next().filter(|&kind| kind != "->")?;
    let process = words.nth(2)?;
    let mut numbers = words.next()?.split(':');
    let mut hexadecimal = || u32::from_str_radix(numbers.next()?, 16).ok();
    let on = DeviceNumber { major: hexadecimal()?, minor: hexadecimal()? };
    let inode = numbers.next()?.parse().ok()?;
    let is_own = kind == "FLOCK" && process == own;
    (!is_own).then_some(FileId { on, inode })
}

/// Undoes the kernel's `\040` for a space and the like.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        let octal = tail.get(..3).filter(|digits| byte == b'\\' && digits.iter().all(is_octal));
        let value =
            octal.and_then(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 8).ok());
        bytes.push(value.unwrap_or(byte));
        rest = if value.is_some() { &tail[3..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn is_octal(byte: &u8) -> bool {
    (b'0'..=b'7').contains(byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_read_with_and_without_optional_fields() {
        let text = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n\
                    36 35 98:0 /mnt1 /with\\040space rw,noatime master:1 shared:2 - ext3 /dev/my\\134root rw\n\
                    40 27 0:44 / /data rw - btrfs /dev/sdb1 rw\n\
                    not a line of the table\n";
        let mounts = parse_mountinfo(text);
        let seen: Vec<_> = mounts
            .iter()
            .map(|m| (m.number.to_string(), &*m.at, &*m.file_system, m.source.to_str().unwrap()))
            .collect();
        assert_eq!(
            seen,
            [
                ("254:0".to_owned(), "/", "ext4", "/dev/vda"),
                ("98:0".to_owned(), "/with space", "ext3", "/dev/my\\root"),
                ("0:44".to_owned(), "/data", "btrfs", "/dev/sdb1"),
            ]
        );
    }

    #[test]
    fn swaps_are_read_without_the_heading() {
        let text = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n\
                    /dev/sda2                               partition\t8388604\t\t0\t\t-2\n\
                    /swap\\040file                          file\t1024\t0\t-3\n";
        assert_eq!(parse_swaps(text), [PathBuf::from("/dev/sda2"), PathBuf::from("/swap file")]);
        assert!(parse_swaps("").is_empty());
    }

    #[test]
    fn layers_of_an_overlay_are_read() {
        let text = "40 27 0:44 /sub /merged rw shared:9 - overlay overlay \
                    rw,lowerdir=/l1:/l\\0402,upperdir=/u,workdir=/w,xino=off\n";
        let mounts = parse_mountinfo(text);
        assert_eq!(mounts[0].layers, ["/l1", "/l 2", "/u"].map(PathBuf::from));
        assert_eq!(mounts[0].root, "/sub");
    }

    #[test]
    fn locks_of_others_are_read_and_whole_ones_of_our_own_are_not() {
        let text = "1: POSIX  ADVISORY  WRITE 3568 fe:00:2531452 0 EOF\n\
                    2: OFDLCK ADVISORY  READ  -1 00:1f:12 100 201\n\
                    2: -> POSIX  ADVISORY  WRITE 99 fe:00:7 0 EOF\n\
                    3: FLOCK  ADVISORY  WRITE 3517 fe:00:2531448 0 EOF\n\
                    4: LEASE  ACTIVE    READ  3517 fe:00:8 0 EOF\n\
                    5: FLOCK  ADVISORY  READ  3518 fe:00:9 0 EOF\n\
                    6: POSIX  ADVISORY  READ  3517 fe:00:10 0 EOF\n";
        let file = |major, minor, inode| FileId { on: DeviceNumber { major, minor }, inode };
        let on_disk = |inode| file(254, 0, inode);
        let found = parse_locks(text, "3517");
        let expected = [on_disk(2_531_452), file(0, 31, 12), on_disk(8), on_disk(9), on_disk(10)];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_broken_escape_is_left_as_it_is() {
        assert_eq!(unescape("a\\"), "a\\");
        assert_eq!(unescape("a\\9b\\777"), "a\\9b\\777");
    }

    proptest::proptest! {
        #[test]
        fn no_table_panics(text in "([0-9:/\\\\ -]|[a-z]){0,60}") {
            let _ = parse_mountinfo(&text);
            let _ = parse_swaps(&format!("heading\n{text}"));
            let _ = parse_locks(&format!("1: POSIX {text}"), "7");
        }
    }
}
