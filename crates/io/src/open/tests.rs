use std::fs;

use device::host::shell::quoted_path;
use target::{PurgeMethod, ZoneLimits, ZoneOrder};

use super::*;

fn inspected(target: &str) -> Result<Inspected, TargetError> {
    let options = OpenOptions { write: true, ..OpenOptions::default() };
    inspect(&target.parse().unwrap(), &options)
}

fn reasons(inspected: &Inspected) -> Vec<&'static str> {
    let reason = |obstacle: &TargetError| match obstacle {
        TargetError::Refused { code, .. } => *code,
        TargetError::Unsupported(_) => "unsupported",
        TargetError::Device { .. } => "device",
        other => panic!("{other:?}"),
    };
    inspected.obstacles.iter().map(reason).collect()
}

/// A run cuts or extends an existing file to the named size.
#[test]
fn a_file_is_planned_with_the_size_that_a_run_gives_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, vec![1; (4 << 20) + 100]).unwrap();
    for (query, expected) in [("?size=2MiB", 2 << 20), ("?size=8MiB", 8 << 20), ("", 4 << 20)] {
        let inspected = inspected(&format!("file:{}{query}", path.display())).unwrap();
        assert_eq!(inspected.identity.capacity_bytes, expected, "{query}");
        assert_eq!(inspected.needs, Some(format!("--erase {}", quoted_path(&path))));
        assert_eq!(reasons(&inspected), ["existing-file"]);
    }
    assert_eq!(fs::metadata(&path).unwrap().len(), (4 << 20) + 100);
}

/// The first message is that a file may not be overwritten; the way to erase it comes after that.
#[test]
fn why_a_target_is_not_to_be_touched_comes_before_how_it_could_be_erased() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, vec![1; 8192]).unwrap();
    let spec = format!("file:{}?size=64MiB", path.display()).parse().unwrap();
    let (write, purge) = (true, Some(PurgeMethod::NvmeFormat));
    let options = OpenOptions { write, purge, ..OpenOptions::default() };
    let found = inspect(&spec, &options).unwrap();
    assert_eq!(reasons(&found), ["existing-file", "unsupported"]);
    let erase = vec![path.display().to_string()];
    let found = inspect(&spec, &OpenOptions { erase, ..options }).unwrap();
    assert_eq!(reasons(&found), ["unsupported"]);
    assert!(found.purge_method(Some(PurgeMethod::NvmeFormat)).is_err());
    assert_eq!(found.purge_method(None).unwrap(), Some(PurgeMethod::Deallocate));
    assert_eq!(fs::read(&path).unwrap(), vec![1; 8192]);
}

#[test]
fn what_a_run_refuses_is_not_planned() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().display();
    for (target, expected) in [
        ("file:/dev/sdzz?size=1MiB".to_owned(), "outside /dev, /proc and /sys"),
        ("file:/proc/x?size=1MiB".to_owned(), "outside /dev, /proc and /sys"),
        (format!("file:{dir}/nodir/y?size=1MiB"), "its directory"),
        (format!("file:{dir}/new"), "?size=8GiB"),
        (format!("file:{dir}"), "is a directory"),
        ("file:/dev/null?size=1MiB".to_owned(), "is not a regular file"),
    ] {
        match inspected(&target).map(|inspected| inspected.identity) {
            Err(TargetError::Usage(message)) => assert!(message.contains(expected), "{message}"),
            other => panic!("{target}: {other:?}"),
        }
    }
    let huge = inspected(&format!("file:{dir}/new?size=1048576TiB")).unwrap();
    assert_eq!(reasons(&huge), ["device"]);
    assert!(huge.obstacles[0].to_string().contains("smaller ?size="), "{huge:?}");
    assert_eq!(fs::read_dir(dir.to_string()).unwrap().count(), 0);
}

/// A span of zones ends with the data of its last whole zone; an order to a later zone never reaches the device, which
/// would otherwise answer that a file has no zones.
#[test]
fn no_order_reaches_a_zone_beyond_the_span() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let spec = format!("file:{}?size=64MiB", path.display()).parse().unwrap();
    let options = OpenOptions { write: true, ..OpenOptions::default() };
    let mut medium = file::hold(&spec, &path, Some(64 << 20), false, &options).unwrap();
    let (size_bytes, capacity_bytes) = (16 << 20, 12 << 20);
    medium.limits.zones = Some(ZoneLimits { zones: 4, size_bytes, capacity_bytes, open_max: 4 });
    medium.confine(2 * capacity_bytes + 4096);
    assert_eq!(medium.granted_bytes, 2 * size_bytes);
    medium.confine(3 * capacity_bytes);
    assert_eq!(medium.granted_bytes, 2 * size_bytes, "the fence moves inwards only");
    for order in [ZoneOrder::Reset, ZoneOrder::Finish] {
        let errno = |zone| match medium.manage_zone(zone, order).unwrap_err() {
            TargetError::Device { source, .. } => source.raw_os_error().unwrap(),
            other => panic!("{other:?}"),
        };
        let (fenced, asked) = (rustix::io::Errno::INVAL, rustix::io::Errno::NOTTY);
        assert_eq!(
            [0, 1, 2, 3].map(errno),
            [asked, asked, fenced, fenced].map(|it| it.raw_os_error())
        );
    }
    medium.writable = false;
    let refused = medium.manage_zone(0, ZoneOrder::Reset).unwrap_err();
    assert!(matches!(refused, TargetError::Refused { code: "read-only", .. }), "{refused:?}");
}
