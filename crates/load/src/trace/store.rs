//! ssdlab's own trace file: columns in Parquet, row group by row group. `docs/reference/formats/trace.md`
//! describes every byte of the layout.

mod reader;
mod strict;
#[cfg(test)]
mod tests;
mod writer;

pub use reader::TraceReader;
pub use writer::TraceWriter;

use super::{Flags, Record};
use base::OpKind;

/// Version of the layout; readers refuse a later one. Version 1 had no volumes with their own
/// addresses.
pub const TRACE_VERSION: u32 = 2;

/// Records in one row group: the memory of a writer and a reader (10 MiB).
const GROUP_ROWS: usize = 1 << 18;

/// Key of the description in the metadata of the file.
const INFO_KEY: &str = "ssdlab.trace";

/// Marks the first bytes of every Parquet file.
pub(super) const MAGIC: &[u8; 4] = b"PAR1";

/// One column: its name, whether it has 64 bits, and its conversion from and to a record.
struct Column {
    name: &'static str,
    wide: bool,
    get: fn(&Record) -> i64,
    set: fn(&mut Record, i64) -> bool,
}

/// Sets a field to a value that fits.
fn put<T: TryFrom<i64>>(field: &mut T, value: i64) -> bool {
    T::try_from(value).is_ok_and(|value| {
        *field = value;
        true
    })
}

const fn column(
    name: &'static str,
    wide: bool,
    get: fn(&Record) -> i64,
    set: fn(&mut Record, i64) -> bool,
) -> Column {
    Column { name, wide, get, set }
}

/// The columns in the order of the file.
///
/// Times and offsets stop at 2^63 - 1 (the importer enforces this), because Parquet's integers have
/// a sign.
const COLUMNS: [Column; 8] = [
    column("issue_ns", true, |r| r.issue_ns.cast_signed(), |r, v| put(&mut r.issue_ns, v)),
    column(
        "op",
        false,
        |r| r.op.index() as i64,
        |r, v| {
            let op = usize::try_from(v).ok().and_then(|index| OpKind::ALL.get(index));
            op.is_some_and(|&op| {
                r.op = op;
                true
            })
        },
    ),
    column("offset", true, |r| r.offset.cast_signed(), |r, v| put(&mut r.offset, v)),
    column("len", true, |r| i64::from(r.len), |r, v| put(&mut r.len, v)),
    column("queue_depth", false, |r| i64::from(r.queue_depth), |r, v| put(&mut r.queue_depth, v)),
    column("stream", true, |r| i64::from(r.stream), |r, v| put(&mut r.stream, v)),
    column(
        "flags",
        false,
        |r| i64::from(r.flags.0),
        |r, v| put(&mut r.flags.0, v) && Flags::ALL.contains(r.flags),
    ),
    column(
        "physical_percent",
        false,
        |r| i64::from(r.physical_percent),
        |r, v| put(&mut r.physical_percent, v) && r.physical_percent <= 100,
    ),
];

/// The description in the metadata of the file.
#[derive(serde::Serialize, serde::Deserialize)]
struct Header {
    version: u32,
    #[serde(flatten)]
    info: super::TraceInfo,
}
