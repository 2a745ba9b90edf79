//! A drive that loses its power again and again under a busy host, and a check of its promises.
//!
//! The host writes, flushes, deallocates and reads at random. An [`Oracle`] knows the permitted
//! states of each LBA page after a cut. Everything follows from the drive, the generator and the
//! calls. `crates/sim/tests/power_loss.rs` tests the trial, and shows that it detects broken
//! recoveries.

use std::ops::Range;

use base::{Completion, Data, Nanos, Op, OpKind, Rng};
use sim::ftl::NO_PAGE;
use sim::host::DeallocateSupport;
use sim::power_loss::{Contents, JournalRecord, PoweredOff, Recovery, Spare};
use sim::{Config, Device, PAGE_BYTES};

use super::oracle::{Broken, Found, Oracle};

/// Most pages of a write, except for writes that fill the drive.
const WRITE_PAGES_MAX: u64 = 6;
/// Pages of a write that fills the drive, and number of such writes before each flush.
const FILL_PAGES: u64 = 32;
const FILL_FLUSH: u32 = 256;
/// A cut comes at a random moment within one of these times after the last command was sent: during
/// a command, a program or an erase, or later.
const CUT_WITHIN_NS: [u64; 4] = [1_000, 100_000, 2_000_000, 20_000_000];

/// Frequencies of the commands out of 100; the rest are plain writes.
#[derive(Clone, Copy, Debug)]
struct Mix {
    deallocations: u64,
    flushes: u64,
    forced: u64,
    reads: u64,
}

impl Mix {
    fn drawn(rng: &mut Rng) -> Self {
        Self {
            deallocations: [0, 3, 20][rng.below(3) as usize],
            flushes: [1, 10][rng.below(2) as usize],
            forced: [0, 10][rng.below(2) as usize],
            reads: [0, 10, 60][rng.below(3) as usize],
        }
    }
}

/// Figures of all recoveries: the sum and the largest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Sum over all recoveries.
    pub sum: u64,
    /// The largest of a recovery.
    pub max: u64,
}

impl Cost {
    fn add(&mut self, figure: u64) {
        self.sum += figure;
        self.max = self.max.max(figure);
    }
}

/// The events of a trial.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Losses of power.
    pub cuts: u64,
    /// Acknowledged writes, with those of forced unit access.
    pub writes: u64,
    /// Of these, writes with forced unit access.
    pub forced_writes: u64,
    /// Flushes acknowledged.
    pub flushes: u64,
    /// Deallocations acknowledged.
    pub deallocations: u64,
    /// Answered reads; they keep dies from their programs and suspend them.
    pub reads: u64,
    /// Outstanding commands at the cuts.
    pub under_way: u64,
    /// Acknowledged writes that lost a page; this is permitted.
    pub writes_not_durable: u64,
    /// Writes of which only some pages survived; this is permitted.
    pub writes_torn: u64,
    /// Programs that were cut short.
    pub torn_programs: u64,
    /// Erases of a block that were cut short.
    pub torn_erases: u64,
    /// Pages moved by garbage collection.
    pub gc_moved_pages: u64,
    /// Pages of journal and checkpoints.
    pub metadata_pages: u64,
    /// Pages folded out of a pSLC cache.
    pub folded_pages: u64,
    /// Pages saved by compression.
    pub saved_pages: u64,
    /// Time from power on until ready.
    pub recovery_ns: Cost,
    /// Units read by recoveries.
    pub units_read: Cost,
    /// Pages that recoveries found outside the journal.
    pub pages_found: Cost,
    /// Recoveries that gave up copies to make room.
    pub gave_up_copies: u64,
    /// Time that the capacitors had to last.
    pub held_up_ns: Cost,
    /// The first pages that broke a promise, each with the number of the cut, counted from 1.
    pub broken: Vec<(u64, Broken)>,
    /// Number of all broken pages.
    pub broken_pages: u64,
    /// Faults of the drive itself: a standstill, or a map that contradicts itself.
    pub faults: Vec<String>,
}

impl Report {
    /// Whether the drive broke no promise and had no fault.
    pub fn is_kept(&self) -> bool {
        self.broken_pages == 0 && self.faults.is_empty()
    }

    fn note_recovery(&mut self, recovery: &Recovery) {
        self.recovery_ns.add(recovery.duration_ns);
        self.units_read.add(recovery.units_read);
        self.pages_found.add(recovery.pages_found);
        self.gave_up_copies += u64::from(recovery.gave_up_copies);
    }
}

/// An outstanding command.
#[derive(Clone, Copy, Debug)]
struct Sent {
    op: Op,
    /// For a flush: the mark up to which it makes commands certain.
    mark: u64,
}

/// The host, which survives the loss of power.
#[derive(Debug)]
pub struct Host {
    rng: Rng,
    mix: Mix,
    page_bytes: u32,
    oracle: Oracle,
    sent: Vec<Option<Sent>>,
    report: Report,
}

/// A drive with power, and its host.
#[derive(Debug)]
pub struct Trial {
    device: Device<Contents>,
    host: Host,
}

impl Trial {
    /// A fresh drive and a host that keeps up to `queue_depth` commands outstanding, or `None` if the model
    /// has no `[mapping]`.
    pub fn new(config: Config, queue_depth: u32, rng: Rng) -> Option<Self> {
        let mut rng = rng;
        let pages = config.geometry.logical_pages;
        let depth = queue_depth.clamp(1, config.queue_depth) as usize;
        let mix = Mix::drawn(&mut rng);
        let oracle = Oracle::new(pages);
        let page_bytes = config.geometry.page_bytes;
        let (sent, report) = (vec![None; depth], Report::default());
        let host = Host { rng, mix, page_bytes, oracle, sent, report };
        Some(Self { device: Device::with_contents(config)?, host })
    }

    /// Approximate peak memory of a trial of such a drive, in bytes: the content of NAND with a
    /// full journal, the maps of the drive, the oracle, and the state of a recovery.
    pub fn memory_bytes(config: &Config) -> u64 {
        // The map that the host sees and the recovered one, checkpoints in both areas, the change known of each page
        // while the map is rebuilt; and the maps of the drive before and after the loss of power.
        const MAPS_BYTES: u64 = 2 * size_of::<u64>() as u64;
        const CHECKPOINT_BYTES: u64 = 2 * size_of::<u64>() as u64;
        const CHANGE_BYTES: u64 = size_of::<(u64, u64)>() as u64;
        let geometry = &config.geometry;
        let drive_bytes = 2 * u64::from(geometry.page_number_bytes);
        let rebuilt_bytes = CHECKPOINT_BYTES + CHANGE_BYTES + Oracle::PAGE_BYTES;
        let logical_bytes = drive_bytes + MAPS_BYTES + rebuilt_bytes;
        let physical_bytes = drive_bytes + size_of::<Spare>() as u64;
        let journal_entries = config.options.mapping.map_or(0, |shape| {
            let units = shape.journal_superblocks * geometry.superblock_units;
            u64::from(units) * u64::from(shape.unit_entries)
        });
        geometry.logical_pages * logical_bytes
            + geometry.physical_pages() * physical_bytes
            + journal_entries * size_of::<JournalRecord>() as u64
    }

    /// The drive.
    pub fn device(&self) -> &Device<Contents> {
        &self.device
    }

    /// The events so far.
    pub fn report(&self) -> &Report {
        &self.host.report
    }

    /// Writes every LBA page once, then as much again as the drive has spare space, so that it
    /// collects garbage from now on.
    pub fn age(&mut self) {
        while self.host.sent.iter().any(Option::is_some) && self.wait() > 0 {}
        let geometry = self.device.config().geometry;
        let pages = geometry.logical_pages;
        let mut first = 0;
        let mut writes = 0;
        while first < pages && self.report().faults.is_empty() {
            let length = FILL_PAGES.min(pages - first);
            self.alone(self.host.op(OpKind::Write, first, length, 0));
            (first, writes) = (first + length, writes + 1);
            if writes % FILL_FLUSH == 0 || first == pages {
                self.alone(self.host.op(OpKind::Flush, 0, 0, 0));
            }
        }
        let physical = geometry.physical_pages() / u64::from(geometry.page_granules);
        let mean_pages = WRITE_PAGES_MAX.div_ceil(2);
        self.work(physical.saturating_sub(pages) / mean_pages);
    }

    /// Sends a single command and waits for its end.
    fn alone(&mut self, op: Op) {
        self.host.send(&mut self.device, op);
        self.wait();
    }

    /// Sends random commands until this number has ended; a standstill ends it earlier.
    pub fn work(&mut self, commands: u64) {
        let mut ended = 0;
        while ended < commands {
            self.host.fill_queue(&mut self.device);
            let more = self.wait();
            if more == 0 {
                return;
            }
            ended += more;
        }
    }

    /// Waits until a command ends; returns the number of ended commands.
    fn wait(&mut self) -> u64 {
        let mut out = Vec::new();
        self.device.reap(1, &mut out);
        if out.is_empty() {
            self.host.report.faults.push("the drive came to a standstill".to_owned());
        }
        out.iter().for_each(|end| self.host.acknowledge(&self.device, end));
        out.len() as u64
    }

    /// Cuts the power at any moment of the drive's work.
    pub fn power_off(mut self) -> (PoweredOff, Host) {
        self.host.fill_queue(&mut self.device);
        let within_ns = CUT_WITHIN_NS[self.host.rng.below(CUT_WITHIN_NS.len() as u64) as usize];
        let later = Nanos(self.device.now().0 + self.host.rng.below(within_ns));
        let mut out = Vec::new();
        self.device.run_until(later);
        self.device.reap(0, &mut out);
        out.iter().for_each(|end| self.host.acknowledge(&self.device, end));
        self.host.note_life(&self.device);
        let off = self.device.power_cut();
        let report = &mut self.host.report;
        report.cuts += 1;
        report.torn_programs += off.torn_programs();
        report.torn_erases += off.torn_erases();
        report.held_up_ns.add(off.held_up_ns());
        (off, self.host)
    }

    /// One cycle: random commands, a cut, a recovery, a check of every page.
    #[must_use]
    pub fn live(mut self, commands: u64) -> Self {
        self.work(commands);
        let (off, host) = self.power_off();
        host.power_on(off)
    }
}

impl Host {
    /// Restores the power and checks every page.
    pub fn power_on(mut self, off: PoweredOff) -> Trial {
        let (device, recovery) = off.power_on();
        self.report.note_recovery(&recovery);
        self.note_check(&device);
        let judgement = self.oracle.judge(|page| read(&device, page));
        let cut = self.report.cuts;
        self.report.writes_not_durable += judgement.writes_not_durable;
        self.report.writes_torn += judgement.writes_torn;
        self.report.broken_pages += judgement.broken_pages;
        self.report.broken.extend(judgement.broken.into_iter().map(|broken| (cut, broken)));
        self.report.under_way += self.sent.iter().flatten().count() as u64;
        self.sent.fill(None);
        self.mix = Mix::drawn(&mut self.rng);
        Trial { device, host: self }
    }

    /// Records the work of the drive since it last got power.
    fn note_life(&mut self, device: &Device<Contents>) {
        let totals = device.telemetry();
        self.report.gc_moved_pages += totals.gc_moved_pages;
        self.report.metadata_pages += totals.metadata_pages;
        self.report.folded_pages += totals.folded_pages;
        self.report.saved_pages += totals.saved_pages;
        self.note_check(device);
    }

    fn note_check(&mut self, device: &Device<Contents>) {
        self.report.faults.extend(device.check().err());
    }

    /// A command for pages without another outstanding command.
    fn next_op(&mut self, tag: u32) -> Op {
        let kind = self.rng.below(100);
        let Mix { deallocations, flushes, forced, reads } = self.mix;
        if kind < flushes {
            return self.op(OpKind::Flush, 0, 0, tag);
        }
        let pages = self.oracle.pages();
        let length = 1 + self.rng.below(WRITE_PAGES_MAX.min(pages));
        let first = self.rng.below(pages - length + 1);
        if self.oracle.is_busy(first..first + length) {
            return self.op(OpKind::Flush, 0, 0, tag);
        }
        if kind < flushes + deallocations {
            return self.op(OpKind::Deallocate, first, length, tag);
        }
        if kind >= 100 - reads {
            let read = self.op(OpKind::Read, first, length, tag);
            return self.cut(read);
        }
        let fua = kind < flushes + deallocations + forced;
        let data = random_data(&mut self.rng);
        // Handles by address, and one that no drive has.
        let placement = (first % 9) as u8;
        let write = Op { fua, data, placement, ..self.op(OpKind::Write, first, length, tag) };
        self.cut(write)
    }

    /// A command of whole pages.
    fn op(&self, kind: OpKind, page: u64, pages: u64, tag: u32) -> Op {
        let len = pages as u32 * self.page_bytes;
        let offset = page * u64::from(self.page_bytes);
        Op { kind, data: Data::Incompressible, fua: false, placement: 0, len, tag, offset }
    }

    /// A command that touches the same pages, without a part of the first and of the last where they are large.
    fn cut(&mut self, whole: Op) -> Op {
        let parts = u64::from(self.page_bytes) / PAGE_BYTES;
        if parts == 1 {
            return whole;
        }
        let head = self.rng.below(parts);
        let tail = self.rng.below(parts - head);
        let [head_bytes, tail_bytes] = [head, tail].map(|parts| parts * PAGE_BYTES);
        let len = whole.len - (head_bytes + tail_bytes) as u32;
        Op { offset: whole.offset + head_bytes, len, ..whole }
    }

    /// The pages that a command touches.
    fn pages_of(&self, op: &Op) -> Range<u64> {
        let page_bytes = u64::from(self.page_bytes);
        let end = op.offset + u64::from(op.len);
        op.offset / page_bytes..end.div_ceil(page_bytes)
    }

    fn fill_queue(&mut self, device: &mut Device<Contents>) {
        for tag in 0..self.sent.len() {
            if self.sent[tag].is_none() {
                let op = self.next_op(tag as u32);
                self.send(device, op);
            }
        }
    }

    fn send(&mut self, device: &mut Device<Contents>, op: Op) {
        let mark = self.oracle.mark();
        if matches!(op.kind, OpKind::Write | OpKind::Deallocate) {
            let pages = self.pages_of(&op);
            self.oracle.sent(op.kind, pages);
        }
        self.sent[op.tag as usize] = Some(Sent { op, mark });
        device.submit(&op);
    }

    fn acknowledge(&mut self, device: &Device<Contents>, end: &Completion) {
        let Some(Sent { op, mark }) = self.sent[end.tag as usize].take() else { return };
        let pages = self.pages_of(&op);
        let report = &mut self.report;
        match op.kind {
            OpKind::Flush => {
                report.flushes += 1;
                return self.oracle.flushed(mark);
            }
            OpKind::Read => {
                report.reads += 1;
                return;
            }
            OpKind::Deallocate => report.deallocations += 1,
            OpKind::Write => report.writes += 1,
        }
        report.forced_writes += u64::from(op.fua);
        let config = device.config();
        let forgets = op.kind == OpKind::Deallocate
            && config.interface.deallocate == DeallocateSupport::Works;
        let is_empty = |page| forgets && !device.keeps(page);
        let version = |page| device.probe().version(page).filter(|_| !is_empty(page));
        let is_safe = op.fua || config.power_loss_protected;
        self.oracle.ended(pages, is_safe, version);
    }
}

/// The content of a page, from NAND.
fn read(device: &Device<Contents>, page: u64) -> Found {
    let physical = device.ftl().l2p.get(page);
    if physical == NO_PAGE {
        return Found::Nothing;
    }
    match device.probe().nand().read_whole(physical) {
        None => Found::Unreadable,
        Some(spare) if spare.logical != page => Found::Other(spare.logical),
        Some(spare) => Found::Version(spare.version),
    }
}

/// Data of any kind that a compressing drive may be given.
fn random_data(rng: &mut Rng) -> Data {
    match rng.below(4) {
        0 => Data::Incompressible,
        1 => Data::Repeating,
        _ => Data::Compressible { physical_percent: 1 + rng.below(100) as u8 },
    }
}
