//! Drives that lose their power again and again, and an oracle that knows what each LBA may read then.

use base::{Completion, Nanos, Op, OpKind, Rng};
use sim::host::DeallocateSupport;
use sim::power_loss::{Contents, PoweredOff, Recovery};
use sim::{Config, Device};

use super::op;
use super::swarm::{Draft, is_small, random_data};

/// A drive that can lose its power.
pub type Cuttable = Device<Contents>;

/// What may be done to NAND while the power is off, to see whether the oracle notices. It is told of the
/// superblocks whose erase was still to come.
pub type Sabotage = fn(&mut PoweredOff, emptied: &[u32]);

/// A tiny random drive whose map is written to NAND; none where the values do not fit.
pub fn random_drive(rng: &mut Rng) -> Option<Config> {
    Draft::random(rng, &["mapping"]).resolve().ok().filter(is_small)
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
    pub folded_pages: u64,
    pub saved_pages: u64,
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
        self.folded_pages += other.folded_pages;
        self.saved_pages += other.saved_pages;
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
        let depth = 1 + rng.below(u64::from(config.queue_depth.min(8))) as usize;
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
        let data = random_data(&mut self.rng);
        Op { fua, data, ..op(OpKind::Write, first, length, tag) }
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
        let deallocate = self.device().config().interface.deallocate;
        let forgets_nothing = deallocate != DeallocateSupport::Works;
        for index in Self::range(&op) {
            let version = self.device().probe().version(index as u32);
            let page = &mut self.pages[index];
            page.in_flight = None;
            page.states.push(version.filter(|_| op.kind == OpKind::Write || forgets_nothing));
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
        self.seen.folded_pages += totals.folded_pages;
        self.seen.saved_pages += totals.saved_pages;
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
                let spare = device.probe().nand().read_whole(physical);
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
