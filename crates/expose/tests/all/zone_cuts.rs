//! The power of a drive with zones goes while a host appends, resets and finishes: what was acknowledged is there, the write
//! pointer stands behind it, and nothing stands behind the write pointer.
//!
//! `SSDLAB_TEST_SEED=N` repeats one case, `SSDLAB_TEST_CASES=N` tries more.

use std::collections::BTreeSet;

use base::Rng;
use expose::SharedDisk;
use nvme::command::nvm;
use nvme::status::CommandStatus;
use nvme::zns::{opcode, send, state};

use crate::client::seeds;
use crate::nvme_host::{Host, Queue, blocks, digests, serve_nvme};
use crate::nvme_zones::{drive, order, report, sizes};

/// Cases without another wish, and those of a full check, each with several cuts.
const CASES: [u64; 2] = [10, 50];
const CUTS: u64 = 4;
const ZONES: u64 = 4;
const BLOCK: usize = 4096;

/// A zone as the host knows it.
#[derive(Clone, Default)]
struct ZoneRecord {
    /// The byte of each block, or `None` for one that no answer has named.
    blocks: Vec<Option<u8>>,
    is_full: bool,
    /// Bytes of appends that were never answered.
    unanswered: BTreeSet<u8>,
    /// Whether a reset, or a finish, was never answered.
    may_be_reset: bool,
    may_be_full: bool,
}

impl ZoneRecord {
    /// An append has an answer.
    fn set(&mut self, place: usize, byte: u8, blocks: usize) {
        let end = self.blocks.len().max(place + blocks);
        self.blocks.resize(end, None);
        self.blocks[place..place + blocks].fill(Some(byte));
    }
}

#[test]
fn acknowledged_appends_stand_before_the_write_pointer_and_nothing_behind_it() {
    let (mut ahead, mut cut_short) = (0, 0);
    let seeds = seeds(CASES[0], CASES[1]);
    for seed in seeds.clone() {
        let shared = drive(if seed % 4 == 0 {
            expose::Pace::Real { slowdown: 1 }
        } else {
            expose::Pace::Fast
        });
        serve_nvme(&shared, &[], 8, |place| {
            let host = Host::connect(place, digests(false));
            let mut case = Case {
                queue: host.queue(1),
                rng: Rng::split(seed, "zone cuts"),
                zones: vec![ZoneRecord::default(); ZONES as usize],
                sizes: sizes(&shared),
                place: format!("seed {seed}"),
                cut_short: 0,
            };
            for _ in 0..CUTS {
                ahead += case.until_cut(&shared);
                case.check();
            }
            cut_short += case.cut_short;
        });
        shared.with(|disk| disk.drive().check()).unwrap_or_else(|fault| panic!("{seed}: {fault}"));
    }
    let is_one = seeds.count() == 1;
    assert!(is_one || ahead > 0 && cut_short > 0, "{ahead} pages unanswered, {cut_short} lost");
}

struct Case {
    queue: Queue,
    rng: Rng,
    zones: Vec<ZoneRecord>,
    sizes: (u64, u64),
    place: String,
    /// Zones of which appends were lost.
    cut_short: u64,
}

/// A command under way: its number, its zone, and the byte and the blocks of an append.
type Sent = (u16, usize, Option<(u8, usize)>, u8);

impl Case {
    /// Works until the power has gone. Returns the pages of requests that had no answer.
    fn until_cut(&mut self, shared: &SharedDisk) -> u64 {
        let after = 1 + self.rng.below(60);
        assert!(shared.with(|disk| disk.order_cut(after)), "it can lose its power");
        while shared.with(|disk| disk.cuts_made()) == 0 {
            let sent: Vec<Sent> = (0..1 + self.rng.below(12)).map(|_| self.send()).collect();
            for _ in 0..sent.len() {
                let (id, outcome) = self.queue.end();
                let (_, zone, append, action) =
                    *sent.iter().find(|(sent, ..)| *sent == id).expect("it was sent");
                let start = zone as u64 * self.sizes.0;
                let known = &mut self.zones[zone];
                match (outcome, append) {
                    (Ok((at, _)), Some((byte, blocks))) => {
                        known.set((at - start) as usize, byte, blocks);
                    }
                    (Ok(_), None) if action == send::RESET => *known = ZoneRecord::default(),
                    (Ok(_), None) => known.is_full = true,
                    (Err(CommandStatus::WRITE_FAULT), Some((byte, _))) => {
                        known.unanswered.insert(byte);
                    }
                    (Err(CommandStatus::WRITE_FAULT), None) => {
                        known.may_be_reset |= action == send::RESET;
                        known.may_be_full |= action == send::FINISH;
                    }
                    // A zone that is full, or has no room for so much, or is being reset or finished.
                    (Err(_), _) => {}
                }
            }
        }
        let cuts = shared.with(expose::Disk::take_cuts);
        assert!(cuts.iter().all(|cut| cut.broken_pages == 0), "{}: {cuts:?}", self.place);
        cuts.iter().map(|cut| cut.pages_ahead).sum()
    }

    /// An append, or an order to a zone with nothing under way in this batch: resets and finishes come alone.
    fn send(&mut self) -> Sent {
        let zone = self.rng.below(ZONES) as usize;
        let start = zone as u64 * self.sizes.0;
        let action = match self.rng.below(20) {
            0 | 1 => send::RESET,
            2 => send::FINISH,
            _ => {
                let byte = 1 + self.rng.below(255) as u8;
                let count = 1 + self.rng.below(60) as usize;
                let append = blocks(opcode::APPEND, start, count as u32, 0, 0);
                let data = vec![byte; count * BLOCK];
                let id = self.queue.send(append, &data, count <= 2);
                return (id, zone, Some((byte, count)), 0);
            }
        };
        (self.queue.send(order(start, action, false), &[], false), zone, None, action)
    }

    /// Compares every zone with what the host knows; it knows the zones as they are from then on.
    fn check(&mut self) {
        let (size, capacity) = self.sizes;
        for zone in 0..ZONES {
            let start = zone * size;
            let found = report(&mut self.queue, start, 0, 128).1.remove(0);
            let is_full = found.state == state::FULL;
            let read = blocks(nvm::READ, start, size as u32, 0, (size as usize * BLOCK) as u32);
            let bytes = self.queue.execute(read, &[]).expect("it can be read").1;
            let blocks: Vec<u8> = bytes.chunks(BLOCK).map(|block| block[0]).collect();
            assert!(bytes.chunks(BLOCK).all(|block| block.iter().all(|&byte| byte == block[0])));
            let written = blocks.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
            let known = std::mem::take(&mut self.zones[zone as usize]);
            let place = format!("{}, zone {zone}, {:?}", self.place, found);
            assert!(!blocks[..written].contains(&0), "{place}: a gap");
            if let Some(pointer) = found.write_pointer {
                assert_eq!(written as u64, pointer - start, "{place}");
                assert!(known.may_be_reset || !known.is_full, "{place}: it was full");
            } else {
                let is_written = written as u64 == capacity;
                assert!(known.is_full || known.may_be_full || is_written, "{place}: full");
            }
            // After a reset without an answer it is open which data is gone.
            let expected = if known.may_be_reset { &[][..] } else { &known.blocks };
            assert!(expected.len() <= written, "{place}: {} acknowledged", expected.len());
            let expected = expected.iter().copied().chain(std::iter::repeat(None));
            for (at, (&byte, expected)) in blocks[..written].iter().zip(expected).enumerate() {
                let is_right = match expected {
                    Some(expected) => byte == expected,
                    None => known.may_be_reset || known.unanswered.contains(&byte),
                };
                assert!(is_right, "{place}: block {at} has {byte}, expected {expected:?}");
            }
            let has = |byte: &u8| blocks.contains(byte);
            self.cut_short += u64::from(!known.unanswered.iter().all(has));
            let blocks = blocks[..written].iter().map(|&byte| Some(byte)).collect();
            self.zones[zone as usize] = ZoneRecord { blocks, is_full, ..ZoneRecord::default() };
        }
    }
}
