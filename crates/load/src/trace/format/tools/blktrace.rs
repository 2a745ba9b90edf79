//! blktrace's binary stream, version 7 (48 bytes per record) and 8 (64 bytes), of either byte
//! order.
//!
//! There is one file per CPU, each in its own order of time; [`BlktraceSource`] merges them. The
//! layout is that of the kernel's `blktrace_api.h` (version 8: `struct blk_io_trace2`, 2025). The
//! reader skips bytes that are no record up to the next record, and counts such a place with its
//! offset in the file.

use std::path::{Path, PathBuf};

use base::OpKind;

use super::block_events::{Action, BlockEvent, BlockEvents, EventOp};
use crate::trace::format::about::{About, NamedSource, Reader, Signs};
use crate::trace::format::options::{Event, FormatOptions};
use crate::trace::format::parts::binary::BinaryInput;
use crate::trace::format::raw::{LineContent, Raw, RawSource};
use crate::trace::input::{BoxedInput, Input};
use crate::trace::{Flags, Problems, TraceError};

pub(super) static FORMAT: About = About {
    has_events: true,
    ..About::new("blktrace", Signs::Magic(is_blktrace), Reader::Raw(open))
};

fn open(input: Input, options: &FormatOptions) -> Result<NamedSource, TraceError> {
    let what = input.what.clone();
    let mut files = siblings(&input.path)?;
    if files.is_empty() {
        files.push((input.what, input.whole));
    }
    let what = format!("{what} ({} files)", files.len());
    let source = BlktraceSource::new(files, options.event.unwrap_or_default())?;
    Ok((Box::new(source), what))
}

/// The files of all CPUs if `path` is that of one: `sda.blktrace.0` includes `sda.blktrace.1` and
/// so on, packed or not.
fn siblings(path: &Path) -> Result<Vec<(String, BoxedInput)>, TraceError> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let unpacked = |name: &str| name.strip_suffix(".gz").unwrap_or(name).to_owned();
    let name = unpacked(&name);
    let Some((base, cpu)) = name.rsplit_once('.') else { return Ok(Vec::new()) };
    if !base.ends_with(".blktrace") || cpu.parse::<u32>().is_err() {
        return Ok(Vec::new());
    }
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = dir.read_dir().map_err(TraceError::read(&dir.display().to_string()))?;
    let of_trace = |path: &PathBuf| {
        let name = unpacked(&path.file_name().unwrap_or_default().to_string_lossy());
        let cpu = name.strip_prefix(base).and_then(|rest| rest.strip_prefix('.'));
        cpu.is_some_and(|cpu| cpu.parse::<u32>().is_ok())
    };
    let mut paths: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(of_trace).collect();
    paths.sort();
    let open = |path: PathBuf| {
        let input = Input::open(&path)?;
        Ok((input.what, input.whole))
    };
    paths.into_iter().map(open).collect()
}

/// The magic number, its low byte the version.
const MAGIC: u32 = 0x6561_7400;

const CATEGORY_READ: u64 = 1 << 0;
const CATEGORY_WRITE: u64 = 1 << 1;
const CATEGORY_FLUSH: u64 = 1 << 2;
const CATEGORY_SYNC: u64 = 1 << 3;
const CATEGORY_PC: u64 = 1 << 9;
const CATEGORY_NOTIFY: u64 = 1 << 10;
const CATEGORY_AHEAD: u64 = 1 << 11;
const CATEGORY_META: u64 = 1 << 12;
const CATEGORY_DISCARD: u64 = 1 << 13;
const CATEGORY_DRIVER: u64 = 1 << 14;
const CATEGORY_FUA: u64 = 1 << 15;

/// The low byte of the action; the bit above it marks a cgroup id in the payload.
const ACTION_MASK: u64 = 0xff;

/// Whether a file begins like those of blktrace.
fn is_blktrace(head: &[u8]) -> bool {
    head.first_chunk().is_some_and(|magic| Layout::of(*magic).is_some())
}

/// Version and byte order of a record.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Layout {
    big_endian: bool,
    version: u8,
}

impl Layout {
    fn of(magic: [u8; 4]) -> Option<Self> {
        let known = |value: u32| (value & !0xff == MAGIC).then_some((value & 0xff) as u8);
        let (little, big) = (u32::from_le_bytes(magic), u32::from_be_bytes(magic));
        let layout = match (known(little), known(big)) {
            (Some(version), _) => Self { big_endian: false, version },
            (None, Some(version)) => Self { big_endian: true, version },
            (None, None) => return None,
        };
        (layout.version == 7 || layout.version == 8).then_some(layout)
    }

    fn number(self, bytes: &[u8]) -> u64 {
        let add = |value, byte: &u8| value << 8 | u64::from(*byte);
        if self.big_endian { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) }
    }

    fn u32(self, bytes: &[u8]) -> u32 {
        u32::try_from(self.number(&bytes[..4])).unwrap_or(u32::MAX)
    }

    /// Reads a whole header: the event and the length of the payload that follows.
    fn event(self, h: &[u8]) -> (BlockEvent, u64) {
        let time_ns = self.number(&h[8..16]);
        let sector = self.number(&h[16..24]);
        let bytes = self.u32(&h[24..]);
        let (action, category, pid, device, payload) = if self.version == 7 {
            let action = self.number(&h[28..32]);
            (action & 0xffff, action >> 16, &h[32..], &h[36..], &h[46..48])
        } else {
            let action = self.number(&h[32..40]);
            (action & 0xffff, action >> 16, &h[28..], &h[40..], &h[50..52])
        };
        let event = BlockEvent {
            time_ns: time_ns.min(i64::MAX as u64),
            offset: sector.saturating_mul(512).min(i64::MAX as u64 - u64::from(u32::MAX)),
            bytes,
            action: action_of(action, category),
            asked: asked_of(category, bytes),
            flags: flags_of(category),
            pid: self.u32(pid),
            device: self.u32(device),
        };
        (event, self.number(payload))
    }
}

fn action_of(action: u64, category: u64) -> Action {
    if category & (CATEGORY_NOTIFY | CATEGORY_PC | CATEGORY_DRIVER) != 0 {
        return Action::Other;
    }
    match action & ACTION_MASK {
        1 => Action::Queue,
        7 => Action::Issue,
        8 => Action::Complete,
        _ => Action::Other,
    }
}

fn asked_of(category: u64, bytes: u32) -> EventOp {
    let has = |bit| category & bit != 0;
    // A discard carries the bit of a write as well.
    if has(CATEGORY_DISCARD) {
        EventOp::Op(OpKind::Deallocate)
    } else if has(CATEGORY_WRITE) && bytes > 0 {
        EventOp::Op(OpKind::Write)
    } else if has(CATEGORY_FLUSH) {
        EventOp::Op(OpKind::Flush)
    } else if has(CATEGORY_WRITE) {
        EventOp::Op(OpKind::Write)
    } else if has(CATEGORY_READ) && bytes > 0 {
        EventOp::Op(OpKind::Read)
    } else {
        EventOp::Nothing
    }
}

fn flags_of(category: u64) -> Flags {
    let has = |bit| category & bit != 0;
    Flags::NONE
        .with(Flags::PREFLUSH, has(CATEGORY_FLUSH))
        .with(Flags::SYNC, has(CATEGORY_SYNC))
        .with(Flags::META, has(CATEGORY_META))
        .with(Flags::READAHEAD, has(CATEGORY_AHEAD))
        .with(Flags::FUA, has(CATEGORY_FUA))
}

/// One file.
struct Cpu {
    input: BinaryInput,
    head: Option<BlockEvent>,
    problems: Problems,
}

impl Cpu {
    /// Finds the next magic number; `None` at the end. One gap is one problem, of any length.
    fn magic(&mut self) -> Result<Option<(Layout, [u8; 4])>, TraceError> {
        let mut magic = [0; 4];
        let start = self.input.at();
        let read = self.input.read(&mut magic)?;
        if read < 4 {
            if read > 0 {
                self.problems.bad(start, || format!("{read} bytes at the end"), &magic[..read]);
            }
            return Ok(None);
        }
        let first = magic;
        let mut gap = 0_u64;
        loop {
            if let Some(layout) = Layout::of(magic) {
                if gap > 0 {
                    let reason = || format!("{gap} bytes that are no record");
                    self.problems.bad(start, reason, &first);
                }
                return Ok(Some((layout, magic)));
            }
            let buffer = self.input.ahead()?;
            if buffer.is_empty() {
                let reason = || format!("{} bytes that are no record", gap + 4);
                self.problems.bad(start, reason, &first);
                return Ok(None);
            }
            let found = buffer.iter().position(|&byte| {
                magic = [magic[1], magic[2], magic[3], byte];
                Layout::of(magic).is_some()
            });
            let step = found.map_or(buffer.len(), |last| last + 1);
            self.input.consume(step);
            gap += step as u64;
        }
    }

    fn advance(&mut self) -> Result<(), TraceError> {
        self.head = None;
        let Some((layout, magic)) = self.magic()? else { return Ok(()) };
        let start = self.input.at() - 4;
        let mut header = [0; 64];
        header[..4].copy_from_slice(&magic);
        let length = if layout.version == 7 { 48 } else { 64 };
        let read = self.input.read(&mut header[4..length])?;
        if read < length - 4 {
            self.problems.bad(start, || "the file ends within a record".to_owned(), &magic);
            return Ok(());
        }
        let (event, payload) = layout.event(&header[..length]);
        self.skip(payload, start)?;
        self.head = Some(event);
        Ok(())
    }

    fn skip(&mut self, mut bytes: u64, start: u64) -> Result<(), TraceError> {
        while bytes > 0 {
            let buffer = self.input.ahead()?;
            if buffer.is_empty() {
                self.problems.bad(start, || "the file ends within a payload".to_owned(), b"");
                return Ok(());
            }
            let step = buffer.len().min(usize::try_from(bytes).unwrap_or(usize::MAX));
            self.input.consume(step);
            bytes -= step as u64;
        }
        Ok(())
    }
}

/// I/Os of one or more blktrace files, merged by time.
pub struct BlktraceSource {
    cpus: Vec<Cpu>,
    events: BlockEvents,
    other_lines: u64,
    other_devices: u64,
}

impl BlktraceSource {
    /// Reads these files (name and content), one per CPU.
    ///
    /// # Errors
    /// If the first record of a file cannot be read.
    pub fn new(files: Vec<(String, BoxedInput)>, event: Event) -> Result<Self, TraceError> {
        let mut cpus = Vec::new();
        for (what, input) in files {
            let input = BinaryInput::new(what, input);
            let mut cpu = Cpu { input, head: None, problems: Problems::default() };
            cpu.advance()?;
            cpus.push(cpu);
        }
        Ok(Self { cpus, events: BlockEvents::new(event), other_lines: 0, other_devices: 0 })
    }

    /// The earliest event of all files.
    fn next_event(&mut self) -> Result<Option<BlockEvent>, TraceError> {
        let heads = self.cpus.iter_mut().filter(|cpu| cpu.head.is_some());
        let earliest = heads.min_by_key(|cpu| cpu.head.map(|head| head.time_ns));
        let Some(cpu) = earliest else { return Ok(None) };
        let event = cpu.head;
        cpu.advance()?;
        Ok(event)
    }
}

impl RawSource for BlktraceSource {
    fn next_raw(&mut self) -> Result<Option<Raw>, TraceError> {
        while let Some(event) = self.next_event()? {
            match self.events.take(&event) {
                LineContent::Io(raw) => return Ok(Some(raw)),
                LineContent::Other => self.other_lines += 1,
                LineContent::OtherDevice => self.other_devices += 1,
            }
        }
        Ok(None)
    }

    fn lacks_completions(&self) -> bool {
        self.events.lacks_completions()
    }

    fn problems(&self) -> Problems {
        let mut all = Problems {
            other_lines: self.other_lines,
            other_devices: self.other_devices,
            ..Problems::default()
        };
        for cpu in &self.cpus {
            all.bad_lines += cpu.problems.bad_lines;
            all.first_bad_lines.extend(cpu.problems.first_bad_lines.iter().cloned());
        }
        all
    }
}
