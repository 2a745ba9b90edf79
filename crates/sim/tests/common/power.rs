//! Drives that lose their power again and again, and an oracle that knows what each LBA may read then.

use base::{Completion, Nanos, Op, OpKind, Ratio, Rng};
use sim::power_loss::{Contents, PoweredOff, Recovery};
use sim::{Config, Device, Model};

use super::{SMALL, op};

/// A drive that can lose its power.
pub type Cuttable = Device<Contents>;

/// What may be done to NAND while the power is off, to see whether the oracle notices. It is told of the
/// superblocks whose erase was still to come.
pub type Sabotage = fn(&mut PoweredOff, emptied: &[u32]);

/// Optional sections of a model, each on one drive in four.
const SECTIONS: [&[(&str, &str)]; 8] = [
    &[("parity.stripe_units", "2")],
    &[("nand.pages.program_lower_ns", "200000"), ("nand.pages.program_upper_ns", "900000")],
    &[
        ("nand.suspend.suspend_ns", "20000"),
        ("nand.suspend.resume_ns", "30000"),
        ("nand.suspend.per_operation_max", "3"),
    ],
    &[("nand.cache_program", "true")],
    &[("nand.multi_plane", "false")],
    &[("streams.cold", "survivor")],
    &[("background_gc.free_target", "7")],
    &[("buffer.power_loss_protected", "true")],
];

fn pick<'a>(rng: &mut Rng, values: &[&'a str]) -> &'a str {
    values[rng.below(values.len() as u64) as usize]
}

/// A tiny random drive of 238 LBA pages whose map is written to NAND; none where the values do not fit.
pub fn random_drive(rng: &mut Rng) -> Option<Config> {
    let dies_per_channel = 1 + rng.below(2);
    let channels = 1 + rng.below(2);
    let planes = 1 + rng.below(2);
    let page_kib = pick(rng, &["4096", "8192"]);
    let pages_per_block = 2 + rng.below(8);
    let unit_pages = planes * page_kib.parse::<u64>().expect("a number") / 4096;
    let units = dies_per_channel * channels * pages_per_block;
    let needed = 238_u64.div_ceil(units * unit_pages);
    let free_low = 2 + rng.below(2);
    let free_high = free_low + 1 + rng.below(3);
    let reserved = 150;
    // More than four units of spare space for each superblock.
    let least = (4 * needed).checked_div(units.saturating_sub(4))? + 1;
    let blocks = needed + least.max(free_high + 4) + rng.below(4) + reserved;
    let mut changes = vec![
        ("nand.channels", channels.to_string()),
        ("nand.dies_per_channel", dies_per_channel.to_string()),
        ("nand.planes", planes.to_string()),
        ("nand.page_bytes", page_kib.to_owned()),
        ("nand.pages_per_block", (1024 * pages_per_block).to_string()),
        ("nand.blocks_per_plane", blocks.to_string()),
        ("nand.reserved_superblocks", reserved.to_string()),
        ("gc.free_low", free_low.to_string()),
        ("gc.free_high", free_high.to_string()),
        ("gc.policy", pick(rng, &["greedy", "fifo", "d-choices", "cost-benefit"]).to_owned()),
        ("gc.pacing", pick(rng, &["watermark", "proportional", "token"]).to_owned()),
        ("buffer.write_bytes", pick(rng, &["65536", "262144"]).to_owned()),
        ("mapping.entry_bytes", pick(rng, &["8", "64", "256", "1024"]).to_owned()),
        ("mapping.map_entry_bytes", pick(rng, &["4", "64", "256", "1024"]).to_owned()),
        ("mapping.journal_superblocks", pick(rng, &["3", "5", "9", "16"]).to_owned()),
    ];
    for section in SECTIONS {
        if rng.chance(1, 4) {
            changes.extend(section.iter().map(|(key, value)| (*key, (*value).to_owned())));
        }
    }
    let changes: Vec<_> = changes.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
    let model = Model::load("power loss", SMALL, &changes).ok()?;
    model.resolve(Ratio::new(1, 1024)?).ok()
}

/// What an LBA page may read: the last state that is certain, and those acknowledged after it.
#[derive(Clone, Debug)]
struct Page {
    /// Number of the first state in `states`, counted from the beginning.
    first: usize,
    /// Versions, or nothing.
    states: Vec<Option<u64>>,
    in_flight: Option<OpKind>,
}

impl Page {
    fn certain(state: Option<u64>) -> Self {
        Self { first: 0, states: vec![state], in_flight: None }
    }

    fn last(&self) -> usize {
        self.first + self.states.len() - 1
    }

    /// Nothing before this state may come back.
    fn settle(&mut self, number: usize) {
        if number > self.first {
            self.states.drain(..number - self.first);
            self.first = number;
        }
    }

    fn may_read(&self, state: Option<u64>) -> bool {
        let newest = self.states.iter().flatten().max();
        self.states.contains(&state)
            || match self.in_flight {
                Some(OpKind::Write) => state.is_some() && state.as_ref() > newest,
                Some(OpKind::Deallocate) => state.is_none(),
                _ => false,
            }
    }
}

/// What happened in a life.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    pub cuts: u64,
    pub protected_cuts: u64,
    pub pages_found: u64,
    pub lost_states: u64,
    pub gave_up_copies: u64,
    pub moved_pages: u64,
    pub metadata_pages: u64,
}

impl Seen {
    pub fn add(&mut self, other: &Self) {
        self.cuts += other.cuts;
        self.protected_cuts += other.protected_cuts;
        self.pages_found += other.pages_found;
        self.lost_states += other.lost_states;
        self.gave_up_copies += other.gave_up_copies;
        self.moved_pages += other.moved_pages;
        self.metadata_pages += other.metadata_pages;
    }
}

/// A command under way.
#[derive(Clone, Debug)]
struct Sent {
    op: Op,
    /// For a flush: the last acknowledged state of every page when it was sent.
    acknowledged: Vec<usize>,
}

/// One drive, its host and the oracle.
pub struct Life {
    rng: Rng,
    device: Option<Cuttable>,
    pages: Vec<Page>,
    sent: Vec<Option<Sent>>,
    /// Out of 100 commands.
    trims: u64,
    flushes: u64,
    forced: u64,
    pub seen: Seen,
}

impl Life {
    pub fn new(config: Config, rng: Rng) -> Self {
        let mut rng = rng;
        let pages = config.geometry.logical_pages as usize;
        let depth = 1 + rng.below(8) as usize;
        Self {
            device: Device::with_contents(config),
            pages: vec![Page::certain(None); pages],
            sent: vec![None; depth],
            trims: [0, 3, 20][rng.below(3) as usize],
            flushes: [1, 10][rng.below(2) as usize],
            forced: [0, 10][rng.below(2) as usize],
            seen: Seen::default(),
            rng,
        }
    }

    fn device(&mut self) -> &mut Cuttable {
        self.device.as_mut().expect("it has power")
    }

    fn is_protected(&mut self) -> bool {
        self.device().config().power_loss_protected
    }

    /// A command on pages that no other is at.
    fn next_op(&mut self, tag: u32) -> Op {
        let kind = self.rng.below(100);
        if kind < self.flushes {
            return op(OpKind::Flush, 0, 0, tag);
        }
        let length = 1 + self.rng.below(6);
        let first = self.rng.below(self.pages.len() as u64 - length + 1);
        let range = first as usize..(first + length) as usize;
        if self.pages[range].iter().any(|page| page.in_flight.is_some()) {
            return op(OpKind::Flush, 0, 0, tag);
        }
        if kind < self.flushes + self.trims {
            return op(OpKind::Deallocate, first, length, tag);
        }
        let fua = kind < self.flushes + self.trims + self.forced;
        Op { fua, ..op(OpKind::Write, first, length, tag) }
    }

    fn range(op: &Op) -> std::ops::Range<usize> {
        let first = (op.offset / 4096) as usize;
        first..first + (op.len / 4096) as usize
    }

    fn send(&mut self) {
        for tag in 0..self.sent.len() {
            if self.sent[tag].is_some() {
                continue;
            }
            let op = self.next_op(tag as u32);
            let is_flush = op.kind == OpKind::Flush;
            let acknowledged =
                if is_flush { self.pages.iter().map(Page::last).collect() } else { Vec::new() };
            for page in Self::range(&op) {
                self.pages[page].in_flight = Some(op.kind);
            }
            self.sent[tag] = Some(Sent { op, acknowledged });
            self.device().submit(&op);
        }
    }

    fn acknowledge(&mut self, end: &Completion) {
        let Sent { op, acknowledged } = self.sent[end.tag as usize].take().expect("it was sent");
        if op.kind == OpKind::Flush {
            for (page, number) in self.pages.iter_mut().zip(acknowledged) {
                page.settle(number);
            }
            return;
        }
        let is_certain = op.fua || self.is_protected();
        for index in Self::range(&op) {
            let version = self.device().probe().version(index as u32);
            let page = &mut self.pages[index];
            page.in_flight = None;
            page.states.push(version.filter(|_| op.kind == OpKind::Write));
            if is_certain {
                page.settle(page.last());
            }
        }
    }

    /// Sends commands until so many have ended.
    fn work(&mut self, commands: u64) -> Result<(), String> {
        let mut ended = 0;
        let mut out = Vec::new();
        while ended < commands {
            self.send();
            self.device().reap(1, &mut out);
            if out.is_empty() {
                return Err("the drive came to a standstill".to_owned());
            }
            for end in out.drain(..) {
                self.acknowledge(&end);
                ended += 1;
            }
        }
        Ok(())
    }

    /// Takes the power away in the middle of whatever is going on, gives it back and looks at every page.
    fn cut(&mut self, sabotage: Option<Sabotage>) -> Result<Recovery, String> {
        self.send();
        let range_ns = [1_000, 100_000, 2_000_000, 20_000_000][self.rng.below(4) as usize];
        let later = Nanos(self.device().now().0 + self.rng.below(range_ns));
        let mut out = Vec::new();
        self.device().run_until(later);
        self.device().reap(0, &mut out);
        out.iter().for_each(|end| self.acknowledge(end));
        self.device().check()?;
        let device = self.device.take().expect("it has power");
        let totals = device.telemetry();
        self.seen.moved_pages += totals.gc_moved_pages;
        self.seen.metadata_pages += totals.metadata_pages;
        self.seen.protected_cuts += u64::from(device.config().power_loss_protected);
        let emptied = emptied(&device);
        let mut off = device.power_cut();
        if let Some(sabotage) = sabotage {
            sabotage(&mut off, &emptied);
        }
        let (device, recovery) = off.power_on();
        self.device = Some(device);
        self.sent.fill(None);
        self.seen.cuts += 1;
        self.seen.pages_found += recovery.pages_found;
        self.seen.gave_up_copies += u64::from(recovery.gave_up_copies);
        self.look()?;
        Ok(recovery)
    }

    /// Every page must read a state that is allowed, from NAND, and that state is certain from now on.
    fn look(&mut self) -> Result<(), String> {
        let device = self.device.as_ref().expect("it has power");
        device.check()?;
        for (index, page) in self.pages.iter_mut().enumerate() {
            let physical = device.ftl().l2p[index];
            let spare = if physical == sim::ftl::NO_PAGE {
                None
            } else {
                let spare = device.probe().nand().read(physical);
                let spare =
                    spare.ok_or(format!("page {index} is mapped to what cannot be read"))?;
                if spare.logical != index as u32 {
                    return Err(format!("page {index} reads the data of page {}", spare.logical));
                }
                Some(spare)
            };
            let state = spare.map(|spare| spare.version);
            if !page.may_read(state) {
                return Err(format!("page {index} reads {state:?}, which is none of {page:?}"));
            }
            self.seen.lost_states += u64::from(page.states.last() != Some(&state));
            *page = Page::certain(state);
        }
        Ok(())
    }
}

/// Superblocks whose pages have been moved but which are not erased yet.
fn emptied(device: &Cuttable) -> Vec<u32> {
    let ftl = device.ftl();
    let is_emptied = |&superblock: &u32| {
        ftl.states[superblock as usize] == sim::ftl::SuperblockState::Victim
            && ftl.valid_pages[superblock as usize] == 0
    };
    (0..ftl.geometry.superblocks).filter(is_emptied).collect()
}

/// How hard a life is.
#[derive(Clone, Copy, Debug)]
pub struct Fate {
    pub cuts: u64,
    /// Commands between two cuts, one of these.
    pub commands: [u64; 4],
    /// Happens at every cut.
    pub sabotage: Option<Sabotage>,
}

/// The life of one drive; none where the seed gives no drive.
pub fn live(seed: u64, fate: Fate) -> Option<Result<Seen, String>> {
    let mut rng = Rng::split(seed, "power loss");
    let config = random_drive(&mut rng)?;
    let mut life = Life::new(config, rng);
    for _ in 0..fate.cuts {
        let commands = fate.commands[life.rng.below(4) as usize];
        if let Err(broken) = life.work(commands).and_then(|()| life.cut(fate.sabotage).map(|_| ()))
        {
            return Some(Err(format!("seed {seed}, cut {}: {broken}", life.seen.cuts)));
        }
    }
    Some(Ok(life.seen))
}
