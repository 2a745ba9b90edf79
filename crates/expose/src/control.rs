//! Control of a disk while it serves: commands and answers, one JSON object in a line each.
//!
//! ```text
//! {"order":"cut"}  ->  {"ok":true,"requests_failed":0,...}
//! {"order":"fly"}  ->  {"ok":false,"error":"unknown variant `fly`, expected one of `status`, ..."}
//! ```
//!
//! A control command that cannot be carried out changes nothing and says what would be possible.

mod command;
mod socket;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};

pub use command::ControlCommand;
pub use socket::{ControlServer, LINE_BYTES_MAX, serve_lines};

use crate::disk::accounting::{Accounting, Counts, Totals};
use crate::disk::cut::PowerCut;
use crate::shared::SharedDisk;
use crate::snapshot::file::{self, Header, Replace, SavedState};
use crate::snapshot::{FileFault, Snapshot};

/// Most snapshots at a time.
const SNAPSHOTS_MAX: usize = 16;
/// Longest name of a mark or a snapshot, in bytes.
const NAME_BYTES_MAX: usize = 100;

/// Members of an answer, or the reason against a control command.
pub type ControlResult = Result<Map<String, Value>, String>;

/// Tells how many bytes of memory are free, or `None` if that is unknown.
pub type FreeMemory = fn() -> Option<u64>;

/// The control of a disk.
#[derive(Debug)]
pub struct Control {
    shared: Arc<SharedDisk>,
    description: String,
    snapshots: Mutex<BTreeMap<String, Snapshot>>,
    free_memory: FreeMemory,
}

impl Control {
    /// The control of a disk with these words for people.
    pub fn new(shared: Arc<SharedDisk>, description: String, free_memory: FreeMemory) -> Self {
        Self { shared, description, snapshots: Mutex::default(), free_memory }
    }

    /// Carries out a control command, all but [`ControlCommand::Watch`], which is a series of [`ControlCommand::Status`].
    ///
    /// # Errors
    /// A reason in words; then nothing has changed.
    pub fn obey(&self, command: ControlCommand) -> ControlResult {
        match command {
            ControlCommand::Status | ControlCommand::Watch { .. } => Ok(self.status()),
            ControlCommand::Cut { after_commands } => self.cut(after_commands),
            ControlCommand::Cuts => Ok(members(json!({ "cuts": self.cuts() }))),
            ControlCommand::MediaError { offset, bytes } => self.spoil(offset, bytes),
            ControlCommand::Heal => Ok(self.shared.with(|disk| {
                disk.faults.heal();
                Map::new()
            })),
            ControlCommand::ReadOnly { on } => Ok(self.shared.with(|disk| {
                disk.faults.is_read_only = on;
                Map::new()
            })),
            ControlCommand::Age { days } => self.age(days),
            ControlCommand::Wear { cycles } => self.change(
                |disk| disk.drive_mut().wear(cycles),
                "its blocks do not wear; a model with [nand.wear] or [nand.retry] has blocks that do",
            ),
            ControlCommand::Temperature { celsius } => self.temperature(celsius),
            ControlCommand::Cache { superblocks } => self.change(
                |disk| disk.drive_mut().limit_cache(superblocks),
                "it has no pSLC cache that borrows superblocks; a model with pslc.borrows = true has one",
            ),
            ControlCommand::Idle { seconds } => self.idle(seconds),
            ControlCommand::Mark { name } => self.mark(name),
            ControlCommand::Waf { since } => self.waf(since.as_deref()),
            ControlCommand::Reset => Ok(self.shared.with(|disk| {
                let totals = disk.totals();
                disk.accounting_mut().reset(totals);
                Map::new()
            })),
            ControlCommand::Snapshot { name } => self.snapshot(name),
            ControlCommand::Restore { name } => self.restore(&name),
            ControlCommand::Forget { name } => {
                let gone = self.snapshots().remove(&name).is_some();
                if gone { Ok(Map::new()) } else { Err(self.no_snapshot(&name)) }
            }
            ControlCommand::Snapshots => Ok(self.list_snapshots()),
            ControlCommand::Save { file } => self.save(&file),
            ControlCommand::Load { file } => self.load(&file),
        }
    }

    /// Carries out a change of the drive, or says why it cannot have it.
    fn change(
        &self,
        change: impl FnOnce(&mut crate::Disk<crate::shared::RequestToken>) -> bool,
        reason: &str,
    ) -> ControlResult {
        if self.shared.with(change) { Ok(Map::new()) } else { Err(self.refusal(reason)) }
    }

    fn refusal(&self, reason: &str) -> String {
        format!("{}: {reason}", self.description)
    }

    fn status(&self) -> Map<String, Value> {
        let lateness = self.shared.lateness();
        self.shared.with(|disk| {
            let (totals, zero) = (disk.totals(), *disk.accounting().zero());
            let mut status = members(json!({
                "drive": self.description,
                "clock": self.shared.pace().to_string(),
                "capacity_bytes": disk.shape().capacity_bytes,
                "data_bytes": disk.contents().pages() * disk.shape().page_bytes,
                "valid_pages": disk.drive().valid_pages(),
                "outstanding": disk.outstanding(),
                "can_lose_power": disk.is_cuttable(),
                "older_data_bytes": disk.volatile_bytes(),
                "unreadable_blocks": disk.faults.bad_blocks(),
                "read_only": disk.faults.is_read_only,
                "marks": disk.accounting().marks().keys().collect::<Vec<_>>(),
                "latency_ns": quantiles(disk.accounting().latencies()),
                "lateness_ns": quantiles(&lateness),
            }));
            status.extend(work(&totals, &zero));
            status
        })
    }

    fn cut(&self, after_commands: Option<u64>) -> ControlResult {
        const REASON: &str = "it keeps no account of the content of NAND; expose it with --power-cuts, or a model with [mapping]";
        match after_commands {
            Some(0) => {
                Err("`after_commands` is 0; expected at least 1, or no such member".to_owned())
            }
            Some(commands) => self.change(|disk| disk.order_cut(commands), REASON),
            None => {
                let cut = self.shared.with(crate::Disk::cut_power);
                cut.map(|cut| members(report(&cut))).ok_or_else(|| self.refusal(REASON))
            }
        }
    }

    fn cuts(&self) -> Vec<Value> {
        self.shared.with(crate::Disk::take_cuts).iter().map(report).collect()
    }

    fn spoil(&self, offset: u64, bytes: u64) -> ControlResult {
        self.shared.with(|disk| {
            let shape = *disk.shape();
            let end = offset.checked_add(bytes).filter(|&end| end <= shape.capacity_bytes);
            let Some(end) = end.filter(|_| bytes > 0) else {
                return Err(format!(
                    "{bytes} bytes from {offset} on do not lie within the {} bytes of the disk",
                    shape.capacity_bytes
                ));
            };
            if !disk.faults.spoil(&shape, &(offset..end)) {
                let most = crate::disk::faults::BAD_BLOCKS_MAX;
                return Err(format!("at most {most} blocks may be unreadable; heal some first"));
            }
            Ok(members(json!({ "unreadable_blocks": disk.faults.bad_blocks() })))
        })
    }

    fn age(&self, days: u32) -> ControlResult {
        const REASON: &str = "its data does not age; a model with [nand.retry] has data that does";
        let age = |disk: &mut crate::Disk<_>| {
            let can_age = disk.drive().config().options.nand_features.retry.is_some();
            if can_age {
                disk.drain();
                disk.drive_mut().age(days);
            }
            can_age
        };
        self.change(age, REASON)
    }

    fn temperature(&self, celsius: i32) -> ControlResult {
        const ZERO_MK: i64 = 273_150;
        if !(-100..=200).contains(&celsius) {
            return Err(format!(
                "{celsius} degrees are no temperature of an SSD; expected -100 to 200"
            ));
        }
        let ambient_mk = (ZERO_MK + i64::from(celsius) * 1000) as u64;
        self.change(
            |disk| disk.drive_mut().set_ambient(ambient_mk),
            "its model has no temperature; one with [thermal] has",
        )
    }

    fn idle(&self, seconds: u64) -> ControlResult {
        const SECONDS_MAX: u64 = 30 * 86_400;
        if self.shared.pace() != crate::Pace::Fast {
            return Err("time passes by itself on the real clock; wait".to_owned());
        }
        if seconds > SECONDS_MAX {
            return Err(format!("{seconds} seconds are too long; expected at most {SECONDS_MAX}"));
        }
        self.shared.with(|disk| {
            let until = disk.drive().now().0 + seconds * base::Nanos::SECOND.0;
            disk.advance(base::Nanos(until));
        });
        Ok(Map::new())
    }

    fn mark(&self, name: String) -> ControlResult {
        check_name(&name)?;
        let is_kept = self.shared.with(|disk| {
            let totals = disk.totals();
            disk.accounting_mut().mark(name, totals)
        });
        let most = Accounting::MARKS_MAX;
        if is_kept { Ok(Map::new()) } else { Err(format!("there are {most} marks, and no more")) }
    }

    fn waf(&self, since: Option<&str>) -> ControlResult {
        self.shared.with(|disk| {
            let accounting = disk.accounting();
            let Some(name) = since else { return Ok(work(&disk.totals(), accounting.zero())) };
            let mark = accounting.marks().get(name);
            let known = || accounting.marks().keys().cloned().collect::<Vec<_>>();
            mark.map(|mark| work(&disk.totals(), mark))
                .ok_or_else(|| unknown("mark", name, &known()))
        })
    }

    fn snapshots(&self) -> MutexGuard<'_, BTreeMap<String, Snapshot>> {
        self.snapshots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn snapshot(&self, name: String) -> ControlResult {
        check_name(&name)?;
        let mut snapshots = self.snapshots();
        if snapshots.contains_key(&name) {
            return Err(format!("there is a snapshot `{name}`; forget it, or give another name"));
        }
        if snapshots.len() == SNAPSHOTS_MAX {
            return Err(format!("there are {SNAPSHOTS_MAX} snapshots; forget one"));
        }
        let needed_bytes = self.shared.with(|disk| {
            let page_bytes = disk.shape().page_bytes;
            disk.contents().pages() * page_bytes + disk.drive().memory_bytes()
        });
        let free_bytes = (self.free_memory)();
        if let Some(free_bytes) = free_bytes.filter(|&free_bytes| free_bytes < needed_bytes) {
            return Err(format!(
                "a snapshot takes about {needed_bytes} bytes of memory, and {free_bytes} are free; forget another one, \
                 or expose a smaller drive"
            ));
        }
        let snapshot =
            self.shared.pause(crate::Disk::snapshot).map_err(|error| error.to_string())?;
        let answer = members(json!({ "data_bytes": snapshot.data_bytes() }));
        snapshots.insert(name, snapshot);
        Ok(answer)
    }

    fn restore(&self, name: &str) -> ControlResult {
        let snapshots = self.snapshots();
        let Some(snapshot) = snapshots.get(name) else {
            drop(snapshots);
            return Err(self.no_snapshot(name));
        };
        let restored = self.shared.replace(|disk| disk.restore(snapshot));
        restored.map(|()| Map::new()).map_err(|error| format!("the contents: {error}"))
    }

    /// Requests wait meanwhile, and so does the drive.
    fn save(&self, path: &Path) -> ControlResult {
        let path = absolute(path)?;
        let save = |disk: &mut _| file::save(disk, &self.description, path, Replace::Nothing);
        self.shared.pause(save).map(|header| summary(&header)).map_err(|fault| words(path, &fault))
    }

    fn load(&self, path: &Path) -> ControlResult {
        let path = absolute(path)?;
        let config = self.shared.with(|disk| disk.drive().config().clone());
        let loaded = SavedState::read(path, &config).and_then(|saved| {
            let summary = summary(saved.header());
            self.shared.replace(|disk| saved.restore(disk)).map(|()| summary)
        });
        loaded.map_err(|fault| words(path, &fault))
    }

    fn no_snapshot(&self, name: &str) -> String {
        let known: Vec<_> = self.snapshots().keys().cloned().collect();
        unknown("snapshot", name, &known)
    }

    fn list_snapshots(&self) -> Map<String, Value> {
        let snapshots = self.snapshots();
        let of = |(name, snapshot): (&String, &Snapshot)| json!({ "name": name, "data_bytes": snapshot.data_bytes() });
        members(json!({ "snapshots": snapshots.iter().map(of).collect::<Vec<_>>() }))
    }
}

/// A path that means the same for every program.
fn absolute(path: &Path) -> Result<&Path, String> {
    let reason = || format!("`{}` is no absolute path", path.display());
    Some(path).filter(|path| path.is_absolute()).ok_or_else(reason)
}

fn words(path: &Path, fault: &FileFault) -> String {
    let colon = if matches!(fault, FileFault::Io(_)) { ":" } else { "" };
    format!("{}{colon} {fault}", path.display())
}

/// The account of a state file, without its hashes.
fn summary(header: &Header) -> Map<String, Value> {
    members(json!({
        "drive": header.drive,
        "capacity_bytes": header.capacity_bytes,
        "simulated_ns": header.simulated_ns,
        "data_bytes": header.data_bytes,
    }))
}

fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        return Err(format!("a name has {} bytes; expected 1 to {NAME_BYTES_MAX}", name.len()));
    }
    Ok(())
}

fn unknown(what: &str, name: &str, known: &[String]) -> String {
    let name: String = name.chars().take(NAME_BYTES_MAX).collect();
    match known {
        [] => format!("there is no {what} `{name}`, and no other"),
        known => format!("there is no {what} `{name}`; there are {}", known.join(", ")),
    }
}

fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// The work between two moments.
fn work(totals: &Totals, since: &Totals) -> Map<String, Value> {
    let row = totals.telemetry.since(&since.telemetry);
    let telemetry: Map<String, Value> = base::TelemetryRow::COLUMNS
        .iter()
        .map(|column| (column.name.to_owned(), (column.get)(&row).into()))
        .collect();
    let Counts { ios, bytes, errors } = totals.counts;
    let by_kind = |now: [u64; 4], then: [u64; 4]| -> Map<String, Value> {
        let kinds = base::OpKind::ALL.iter().map(|kind| {
            let index = kind.index();
            (kind.name().to_owned(), (now[index] - then[index]).into())
        });
        kinds.collect()
    };
    members(json!({
        "simulated_ns": totals.now.0.saturating_sub(since.now.0),
        "requests": by_kind(ios, since.counts.ios),
        "bytes": by_kind(bytes, since.counts.bytes),
        "errors": errors - since.counts.errors,
        "waf": totals.waf_since(since),
        "telemetry": telemetry,
    }))
}

fn quantiles(histogram: &base::Histogram) -> Value {
    let of = |numerator, denominator| {
        base::Ratio::new(numerator, denominator).and_then(|share| histogram.quantile(share))
    };
    json!({
        "count": histogram.count(),
        "p50": of(1, 2),
        "p99": of(99, 100),
        "max": histogram.max(),
    })
}

/// A loss of power in an answer.
fn report(cut: &PowerCut) -> Value {
    let broken: Vec<_> = cut
        .broken
        .iter()
        .map(|broken| json!({ "page": broken.page, "finding": broken.finding }))
        .collect();
    json!({
        "ready_simulated_ns": cut.ready.0,
        "recovery_ns": cut.cycle.recovery.duration_ns,
        "units_read": cut.cycle.recovery.units_read,
        "held_up_ns": cut.cycle.held_up_ns,
        "torn_programs": cut.cycle.torn_programs,
        "torn_erases": cut.cycle.torn_erases,
        "requests_failed": cut.requests_failed,
        "pages_taken_back": cut.pages_taken_back,
        "pages_ahead": cut.pages_ahead,
        "broken_pages": cut.broken_pages,
        "broken": broken,
    })
}
