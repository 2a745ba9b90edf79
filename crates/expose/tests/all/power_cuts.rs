//! The power goes while clients write, and the data keep the promises of the drive: what was flushed or forced is there,
//! what was not may be older, and nothing else has changed.
//!
//! The oracle knows the blocks as their writer does: the certain state of each, and those acknowledged or sent after
//! it. `SSDLAB_TEST_SEED=N` repeats one case, `SSDLAB_TEST_CASES=N` tries more.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::Rng;
use expose::request::Action;
use expose::{Pace, SharedDisk};

use crate::client::{Client, Sent, config, cuttable, disk, seeds, serve_to};

/// Cases without another wish; each with several cuts.
const CASES: u64 = 10;
/// Those of a full check: 200 cuts.
const CASES_FULL: u64 = 25;
/// Cuts of a case.
const CUTS: u64 = 4;
/// Pages that the client uses.
const PAGES: u64 = 300;
const PAGE_BYTES: u64 = 4096;

/// The number in every word of a page, which names the write that made it; 0 for an empty page.
type State = u64;

/// Permitted states of a page: the certain one, then those that a cut may leave or take.
#[derive(Clone, Debug)]
struct Page {
    certain: State,
    since: Vec<State>,
}

struct Oracle {
    pages: BTreeMap<u64, Page>,
    writes: u64,
}

impl Oracle {
    fn new() -> Self {
        let page = Page { certain: 0, since: Vec::new() };
        Self { pages: (0..PAGES).map(|number| (number, page.clone())).collect(), writes: 0 }
    }

    fn page(&mut self, number: u64) -> &mut Page {
        self.pages.get_mut(&number).expect("a page of the client")
    }

    /// The broken promise of a page with this state, or `None` if it has a permitted one.
    fn broken_promise(&self, number: u64, found: State) -> Option<String> {
        let Page { certain, since } = &self.pages[&number];
        let is_permitted = found == *certain || since.contains(&found);
        (!is_permitted).then(|| {
            format!(
                "page {number} has write {found}; flushed or forced was write {certain}, and after it came {since:?}"
            )
        })
    }
}

fn data(state: State, pages: u64) -> Vec<u8> {
    (0..pages * PAGE_BYTES / 8).flat_map(|_| state.to_le_bytes()).collect()
}

#[test]
fn flushed_and_forced_data_survives_and_nothing_older_is_damaged() {
    let seeds = seeds(CASES, CASES_FULL);
    let mut taken_back = [0, 0];
    for seed in seeds.clone() {
        for (protected, taken_back) in [false, true].into_iter().zip(&mut taken_back) {
            *taken_back += case(seed, protected);
        }
    }
    assert_eq!(taken_back[1], 0, "capacitors keep what was acknowledged");
    assert!(taken_back[0] > 0 || seeds.count() == 1, "no cut ever took a write back");
}

/// Cuts the power of one drive several times; returns the number of pages that went back to an older state.
fn case(seed: u64, protected: bool) -> u64 {
    let capacitors = [("buffer.power_loss_protected", if protected { "true" } else { "false" })];
    let mut rng = Rng::split(seed, "power cuts");
    let pace = if rng.below(4) == 0 { Pace::Real { slowdown: 1 } } else { Pace::Fast };
    let shared = Arc::new(SharedDisk::new(disk(cuttable(&capacitors)), pace));
    let mut taken_back = 0;
    serve_to(&shared, 4, |path| {
        let mut host = Host { client: Client::connect(path), oracle: Oracle::new(), rng, seed };
        for _ in 0..CUTS {
            let after = 1 + host.rng.below(400);
            assert!(shared.with(|disk| disk.order_cut(after)), "it has a map in NAND");
            while shared.with(|disk| disk.cuts_made()) == 0 {
                host.work();
            }
            for cut in shared.with(expose::Disk::take_cuts) {
                taken_back += cut.pages_taken_back;
                assert_eq!(cut.broken_pages, 0, "seed {seed}: {:?}", cut.broken);
            }
            host.check();
        }
    });
    let disk = Arc::into_inner(shared).expect("nobody else has it").into_disk();
    disk.drive().check().unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
    taken_back
}

struct Host {
    client: Client,
    oracle: Oracle,
    rng: Rng,
    seed: u64,
}

/// A request and the states that it may make.
struct Done {
    sent: Sent,
    pages: std::ops::Range<u64>,
    state: State,
    fua: bool,
}

impl Host {
    /// Sends some requests for different pages together, then takes their answers, and may flush.
    fn work(&mut self) {
        let mut sent = Vec::new();
        let mut busy: Vec<std::ops::Range<u64>> = Vec::new();
        for _ in 0..1 + self.rng.below(16) {
            let pages = 1 + self.rng.below(6);
            let first = self.rng.below(PAGES - pages);
            let range = first..first + pages;
            if busy.iter().any(|other| range.start < other.end && other.start < range.end) {
                continue;
            }
            busy.push(range.clone());
            sent.push(self.send(range));
        }
        self.client.push();
        let requests: Vec<_> = sent.iter().map(|done| done.sent.clone()).collect();
        let outcomes = self.client.outcomes(&requests);
        for (done, outcome) in sent.iter().zip(&outcomes) {
            self.ended(done, outcome.is_ok());
        }
        // A flush after a cut says nothing about what came before it.
        let is_uncut = outcomes.iter().all(Result::is_ok);
        if is_uncut && self.rng.below(5) == 0 {
            let flush = self.client.send(Action::Flush, 0..0, false, &[]);
            self.client.push();
            if self.client.outcomes(&[flush])[0].is_ok() {
                self.flushed();
            }
        }
    }

    fn send(&mut self, pages: std::ops::Range<u64>) -> Done {
        self.oracle.writes += 1;
        let kind = self.rng.below(10);
        let fua = self.rng.below(8) == 0;
        let bytes = pages.start * PAGE_BYTES..pages.end * PAGE_BYTES;
        let number = self.oracle.writes;
        let (action, state) = match kind {
            0 => (Action::Trim, 0),
            1 => (Action::Zero { keeps_pages: self.rng.below(2) == 0 }, 0),
            _ => (Action::Write, number),
        };
        let data = if state > 0 { data(state, pages.end - pages.start) } else { Vec::new() };
        // From now on each page may have it.
        pages.clone().for_each(|page| self.oracle.page(page).since.push(state));
        let sent = self.client.send(action, bytes, fua, &data);
        Done { sent, pages, state, fua }
    }

    fn ended(&mut self, done: &Done, is_ok: bool) {
        for page in done.pages.clone().filter(|_| is_ok && done.fua) {
            *self.oracle.page(page) = Page { certain: done.state, since: Vec::new() };
        }
    }

    /// Every acknowledged state is certain: the last one of each page, for none is outstanding.
    fn flushed(&mut self) {
        for page in self.oracle.pages.values_mut() {
            page.certain = page.since.last().copied().unwrap_or(page.certain);
            page.since.clear();
        }
    }

    /// Reads all pages; their states are certain from now on.
    fn check(&mut self) {
        let read = self.client.send(Action::Read, 0..PAGES * PAGE_BYTES, false, &[]);
        self.client.push();
        let bytes = self.client.replies(&[read]).remove(0);
        for (number, page) in (0..).zip(bytes.chunks(PAGE_BYTES as usize)) {
            let found = u64::from_le_bytes(page[..8].try_into().expect("8 bytes"));
            let is_whole = page.chunks(8).all(|word| word == found.to_le_bytes());
            assert!(is_whole, "seed {}: page {number} is a mixture", self.seed);
            if let Some(broken) = self.oracle.broken_promise(number, found) {
                panic!("seed {}: {broken}", self.seed);
            }
            *self.oracle.page(number) = Page { certain: found, since: Vec::new() };
        }
    }
}

#[test]
fn the_oracle_notices_data_that_is_lost_or_old() {
    let mut oracle = Oracle::new();
    *oracle.page(7) = Page { certain: 5, since: vec![6] };
    assert_eq!(oracle.broken_promise(7, 5), None);
    assert_eq!(oracle.broken_promise(7, 6), None);
    for wrong in [0, 4, 8] {
        let words = oracle.broken_promise(7, wrong).expect("a broken promise");
        assert!(words.contains("page 7") && words.contains("write 5"), "{words}");
    }
}

#[test]
fn a_drive_without_a_map_in_nand_refuses_a_cut() {
    let mut disk = disk::<u64>(config(&[]));
    assert!(!disk.order_cut(1) && disk.cut_power().is_none());
}
