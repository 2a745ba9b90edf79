//! A recipe in the emulated machine, for a file system that this kernel does not have: server, file system and program
//! run there, and the kernel's own client of NBD stands between them.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::accounting::{check_life, settled};
use super::disk::FRESH;
use super::file_system::FileSystem;
use super::work::{UNCHECKED, files_prepared, files_written};
use super::{Bench, Outcome, cut_row};
use crate::guest::{self, Machine};
use xtask::guest::records::Record;

/// The disk in the machine.
const DISK: &str = "/dev/nbd0";
/// The mounted file system in the machine.
const ROOT: &str = "/mnt";

/// fio on files, as in the recipes of this machine.
pub(super) fn files(bench: &Bench<'_>, drive: &str, file_system: FileSystem) -> Result<Outcome> {
    let disk = Path::new(DISK);
    let (make, check) = (file_system.make(disk), file_system.check(disk));
    let machine = Machine {
        programs: &["nbd-client", "fio", &make[0], &check[0]],
        modules: &["nbd", file_system.name()],
        ssdlab: &bench.program,
        memory_mib: 2600,
    };
    outcome(&machine.run(bench.workspace, &script(bench, drive, file_system))?)
}

/// The commands in the machine.
fn script(bench: &Bench<'_>, drive: &str, file_system: FileSystem) -> String {
    let (root, disk) = (Path::new(ROOT), Path::new(DISK));
    let name = file_system.name();
    let (make, check) = (file_system.make(disk).join(" "), file_system.check(disk).join(" "));
    let prepare = files_prepared(root).join(" ");
    let (work, cut_after) = (files_written(root, bench.size).join(" "), bench.cut_after());
    format!(
        "ssdlab sim expose '{drive}' --no-run --power-cuts --format json --nbd /tmp/nbd --control /tmp/control \\
    > /tmp/served 2> /tmp/said &
server=$!
order() {{ ssdlab sim control /tmp/control \"$@\" --format json; }}
must server await /tmp/nbd $server /tmp/said
must mark order mark {FRESH}
must attach nbd-client -unix /tmp/nbd {DISK} -name ''
must make {make}
must mount mount -t {name} {DISK} {ROOT}
must prepare {prepare}
sync
must idle order idle 1
must reset order reset
must work {work}
sync
must end order status
must settle order idle 1
must life order waf --since {FRESH}
must settled order status
must cut order cut --after-commands {cut_after}
run cut-work {work}
run cuts order cuts
run cut-unmount umount {ROOT}
run cut-mount mount -t {name} {DISK} {ROOT}
run cut-unmount-again umount {ROOT}
run cut-check {check}
"
    )
}

fn outcome(records: &BTreeMap<String, Record>) -> Result<Outcome> {
    let record = |name: &str| records.get(name).with_context(|| format!("no record of {name}"));
    guest::check(records, |name| !name.starts_with("cut"))?;
    let document = |name: &str| -> Result<Value> {
        let record = record(name)?;
        serde_json::from_str(&record.stdout).with_context(|| format!("{name}: {record:?}"))
    };
    let (mut file_system, is_noticed) = ("clean".to_owned(), record("cut-work")?.code != 0);
    for name in ["cut-unmount", "cut-mount", "cut-unmount-again", "cut-check"] {
        let record = record(name)?;
        if record.code != 0 {
            file_system = format!("{name}: {}{}", record.stdout, record.stderr);
        }
    }
    let power_cut = cut_row(is_noticed, &document("cuts")?, &file_system, UNCHECKED)?;
    check_life(&document("life")?)?;
    let account = settled(&document("end")?, document("settled")?);
    Ok(Outcome { account, power_cut })
}
