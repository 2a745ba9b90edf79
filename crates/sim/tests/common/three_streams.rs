//! The load with which WARP (FAST 2026) characterised drives with placement handles, each stream with its own.
//!
//! Its fio jobs are public: a sequential stream of 128 KiB at queue depth 1 goes over 90% of the LBAs (handle 0), random
//! pages of the other 10% are written (handle 1), and a third stream overwrites random pages of the sequential one
//! (handle 2), both in commands of 4 KiB at queue depth 32.

use base::{Op, OpKind, Rng};
use sim::ftl::StreamId;
use sim::{Config, Device, PAGE_BYTES, Probe};

use super::{closed_loop, op, waf_of_moves};

/// Pages of a sequential command.
const SEQUENTIAL_PAGES: u64 = 131_072 / PAGE_BYTES;
/// Commands between two looks at the volume.
const LOOK_COMMANDS: u64 = 2_000;

/// The pages that the third stream overwrites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrites {
    /// None: there is no third stream.
    Absent,
    /// Uniform.
    Uniform,
    /// 80% of the writes to the first 20% of the LBAs, 10% to the next 20%, 10% to the rest.
    EightyTwenty,
}

/// The keys of a small drive that takes the load: 8-MiB superblocks, so many that chance is small.
pub const DRIVE: [(&str, &str); 5] = [
    ("interface.kind", "nvme"),
    ("interface.placement_handles", "3"),
    ("interface.queue_depth", "128"),
    ("nand.pages_per_block", "128"),
    ("gc.free_high", "6"),
];

/// Moves of garbage collection, by the handle that wrote the data.
#[derive(Clone, Debug, Default)]
pub struct MovesByHandle {
    writers: Vec<u8>,
    pub moved_pages: [u64; StreamId::HOSTS.len()],
}

impl Probe for MovesByHandle {
    fn placed(&mut self, stream: StreamId, logical: u64, _: u64) {
        let page = logical as usize;
        if stream.is_moved() {
            self.moved_pages[usize::from(self.writers[page])] += 1;
            return;
        }
        self.writers.resize(self.writers.len().max(page + 1), 0);
        self.writers[page] = stream.handle();
    }
}

/// A drive under the load.
pub struct ThreeStreams {
    pub device: Device<MovesByHandle>,
    overwrites: Overwrites,
    /// Commands outstanding of each random stream.
    queue_depth: u32,
    next_page: u64,
    rng: Rng,
}

impl ThreeStreams {
    /// A drive that the first two streams have filled.
    pub fn new(config: Config, overwrites: Overwrites, queue_depth: u32) -> Self {
        let device = Device::with_probe(config, MovesByHandle::default());
        let rng = Rng::split(1, "addresses");
        let mut drive = Self { device, overwrites, queue_depth, next_page: 0, rng };
        let (pages, sequential) = (drive.pages(), drive.sequential());
        let mut page = 0;
        closed_loop(&mut drive.device, 32, pages.div_ceil(SEQUENTIAL_PAGES), |tag| {
            let length = SEQUENTIAL_PAGES.min(pages - page);
            page += length;
            let first = page - length;
            Op { placement: u8::from(first >= sequential), ..op(OpKind::Write, first, length, tag) }
        });
        drive
    }

    fn pages(&self) -> u64 {
        self.device.config().geometry.logical_pages
    }

    /// The pages of the sequential stream.
    fn sequential(&self) -> u64 {
        self.pages() * 9 / 10
    }

    /// Writes so many times the capacity, and returns the write amplification meanwhile.
    pub fn write(&mut self, capacities: u64) -> f64 {
        let before = self.device.telemetry();
        let end_pages = before.host_pages + capacities * self.pages();
        while self.device.telemetry().host_pages < end_pages {
            self.write_some();
        }
        let after = self.device.telemetry();
        self.device.check().unwrap();
        let by_handle: u64 = self.device.probe().moved_pages.iter().sum();
        assert_eq!(by_handle, after.gc_moved_pages, "each moved page has a handle");
        waf_of_moves(&before, &after)
    }

    fn write_some(&mut self) {
        let (pages, sequential) = (self.pages(), self.sequential());
        let Self { device, overwrites, queue_depth, next_page, rng } = self;
        let streams = if *overwrites == Overwrites::Absent { 1 } else { 2 };
        closed_loop(device, 1 + streams * *queue_depth, LOOK_COMMANDS, |tag| {
            let (handle, first, length) = if tag == 0 {
                let first = *next_page % sequential;
                let length = SEQUENTIAL_PAGES.min(sequential - first);
                *next_page = first + length;
                (0, first, length)
            } else if tag <= *queue_depth {
                (1, sequential + rng.below(pages - sequential), 1)
            } else {
                (2, overwrites.page(sequential, rng), 1)
            };
            Op { placement: handle, ..op(OpKind::Write, first, length, tag) }
        });
    }
}

impl Overwrites {
    fn page(self, pages: u64, rng: &mut Rng) -> u64 {
        if self == Self::Uniform {
            return rng.below(pages);
        }
        let (first, end) = match rng.below(100) {
            0..80 => (0, 20),
            80..90 => (20, 40),
            _ => (40, 100),
        };
        pages * first / 100 + rng.below(pages * (end - first) / 100)
    }
}
