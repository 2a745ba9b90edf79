//! Random sequences of requests over the wire give the contents of an oracle in memory.
//!
//! Several connections write, trim and zero parts of blocks, each in a region of its own, because requests of several
//! connections have no order. Each of them keeps several requests outstanding and knows its region.
//! `SSDLAB_TEST_SEED=N` repeats one sequence, `SSDLAB_TEST_CASES=N` tries more.

use std::ops::Range;

use base::Rng;
use expose::Pace;
use expose::request::Action;

use crate::client::{Client, Sent, disk_of, seeds, serve};

/// Sequences without another wish.
const CASES: u64 = 40;
/// Those of a full check.
const CASES_FULL: u64 = 1000;
/// Requests of a sequence for each connection.
const REQUESTS: u64 = 60;

/// Most bytes of a request.
const BYTES_MAX: u64 = 40_000;

#[test]
fn random_sequences_give_the_contents_of_the_oracle() {
    seeds(CASES, CASES_FULL).for_each(sequence);
}

/// One server with a small drive and one to three connections at the same time.
fn sequence(seed: u64) {
    let mut rng = Rng::split(seed, "nbd oracle");
    let disk = disk_of(&mut rng);
    let capacity_bytes = disk.shape().capacity_bytes;
    let connections = 1 + rng.below(3);
    let region_bytes = capacity_bytes / connections;
    let pace = if rng.below(4) == 0 { Pace::Real { slowdown: 1 } } else { Pace::Fast };
    let disk = serve(disk, pace, |path| {
        std::thread::scope(|scope| {
            for connection in 0..connections {
                let first = connection * region_bytes;
                let rng = Rng::split(seed, &format!("connection {connection}"));
                let region = first..first + region_bytes;
                scope.spawn(move || Region::new(path, region, rng, seed).work());
            }
        });
    });
    disk.drive().check().unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
}

/// A region of the disk and what it must contain.
struct Region {
    client: Client,
    bytes: Range<u64>,
    oracle: Vec<u8>,
    rng: Rng,
    seed: u64,
}

impl Region {
    fn new(path: &std::path::Path, bytes: Range<u64>, rng: Rng, seed: u64) -> Self {
        let client = Client::connect(path);
        // Long enough for all kinds of partial pages, and short enough to be hit again.
        let bytes = bytes.start..bytes.end.min(bytes.start + 600_000);
        let oracle = vec![0; (bytes.end - bytes.start) as usize];
        Self { client, bytes, oracle, rng, seed }
    }

    fn work(mut self) {
        for _ in 0..REQUESTS {
            let requests = 1 + self.rng.below(6);
            let mut sent: Vec<Sent> = Vec::new();
            for _ in 0..requests {
                let range = self.range();
                // The order of requests that are outstanding together is open.
                if sent
                    .iter()
                    .all(|other| other.range.end <= range.start || range.end <= other.range.start)
                {
                    sent.push(self.send(range));
                }
            }
            self.client.push();
            let replies = self.client.replies(&sent);
            for (sent, data) in sent.iter().zip(replies) {
                self.check(sent, &data);
            }
        }
        let whole = self.bytes.clone();
        let sent = [self.client.send(Action::Read, whole, false, &[])];
        self.client.push();
        let replies = self.client.replies(&sent);
        self.check(&sent[0], &replies[0]);
    }

    /// Bytes of the region, on the borders of blocks and pages as often as not.
    fn range(&mut self) -> Range<u64> {
        let step = [1, 512, 4096, 16384][self.rng.below(4) as usize];
        let room = self.bytes.end - self.bytes.start;
        let start = self.rng.below(room / step) * step;
        let most = (room - start).min(BYTES_MAX);
        let bytes = (1 + self.rng.below(most)).next_multiple_of(step).min(room - start);
        self.bytes.start + start..self.bytes.start + start + bytes
    }

    fn send(&mut self, range: Range<u64>) -> Sent {
        let fua = self.rng.chance(1, 8);
        let place =
            (range.start - self.bytes.start) as usize..(range.end - self.bytes.start) as usize;
        let keeps_pages = self.rng.chance(1, 2);
        match self.rng.below(10) {
            0 => self.client.send(Action::Flush, range, fua, &[]),
            1 => self.client.send(Action::Fetch, range, fua, &[]),
            2 => {
                let sent = self.client.send(Action::Trim, range, fua, &[]);
                // A trimmed byte may be zero or what it was: the disk decides by pages.
                let whole = self.client.trimmed(&sent.range);
                let first = self.bytes.start;
                self.oracle[(whole.start - first) as usize..(whole.end - first) as usize].fill(0);
                sent
            }
            3 => {
                self.oracle[place].fill(0);
                self.client.send(Action::Zero { keeps_pages }, range, fua, &[])
            }
            4..8 => {
                let mut data = vec![0; place.len()];
                data.iter_mut().for_each(|byte| *byte = self.rng.next_u64() as u8);
                self.oracle[place].copy_from_slice(&data);
                self.client.send(Action::Write, range, fua, &data)
            }
            _ => self.client.send(Action::Read, range, fua, &[]),
        }
    }

    fn check(&self, sent: &Sent, data: &[u8]) {
        if sent.action != Action::Read {
            return;
        }
        let first = (sent.range.start - self.bytes.start) as usize;
        let expected = &self.oracle[first..first + (sent.range.end - sent.range.start) as usize];
        let wrong = data.iter().zip(expected).position(|(found, expected)| found != expected);
        assert!(
            wrong.is_none() && data.len() == expected.len(),
            "seed {}: byte {:?} of {:?} is wrong",
            self.seed,
            wrong,
            sent.range
        );
    }
}
