//! Do placement handles keep data apart, and is write amplification that of separate pools?

use base::{Op, OpKind, Ratio, Rng};
use sim::ftl::{StreamId, SuperblockState};
use sim::{Config, Device};

use crate::common::{closed_loop, fill, op, small_config, waf_greedy, waf_of_moves};

const PERSISTENT: [(&str, &str); 3] = [
    ("interface.kind", "nvme"),
    ("interface.placement_handles", "2"),
    ("gc.handle_isolation", "persistent"),
];
const INITIAL: [(&str, &str); 2] =
    [("interface.kind", "nvme"), ("interface.placement_handles", "2")];

/// A fifth of the data gets four fifths of the writes.
const HOT_PERCENT: u64 = 20;
const HOT_WRITES_PERCENT: u64 = 80;
/// Part of the LBAs in use: with ample spare a drive settles soon.
const USED_PERCENT: u64 = 75;

fn config(changes: &[(&str, &str)]) -> Config {
    small_config(Ratio::ONE, changes)
}

#[test]
fn a_superblock_holds_the_data_of_one_handle() {
    let eight = [("interface.kind", "nvme"), ("interface.placement_handles", "8")];
    let mut device = Device::new(config(&eight));
    let mut rng = Rng::new(1);
    // Handle 9 is none of the drive, and counts as 0.
    let handle_of = |page: u64| [0, 1, 2, 3, 4, 5, 6, 7, 9][(page % 9) as usize];
    closed_loop(&mut device, 32, 60_000, |tag| {
        let page = rng.below(200_000);
        Op { placement: handle_of(page), ..op(OpKind::Write, page, 1, tag) }
    });
    let ftl = device.ftl();
    let mut seen = [0; 8];
    for (page, physical) in (0..).zip(ftl.l2p.iter()) {
        if physical == sim::ftl::NO_PAGE {
            continue;
        }
        let handle = usize::from(handle_of(page)) % 9;
        let stream = ftl.written_by[ftl.superblock_of(physical) as usize];
        assert_eq!(stream, StreamId::HOSTS[handle], "page {page}");
        seen[handle] += 1;
    }
    assert!(seen.iter().all(|&pages| pages > 4_000), "{seen:?}");
    device.check().unwrap();
}

/// A drive under hot and cold writes, each with its handle, or all with the first.
struct Skewed {
    device: Device,
    rng: Rng,
    with_handles: bool,
}

impl Skewed {
    fn new(changes: &[(&str, &str)], with_handles: bool) -> Self {
        let mut device = Device::new(config(changes));
        let pages = device.config().geometry.logical_pages * USED_PERCENT / 100;
        fill(&mut device, pages);
        let mut drive = Self { device, rng: Rng::split(1, "addresses"), with_handles };
        drive.write(6 * pages);
        drive
    }

    fn pages(&self) -> u64 {
        self.device.config().geometry.logical_pages * USED_PERCENT / 100
    }

    fn hot_pages(&self) -> u64 {
        self.pages() * HOT_PERCENT / 100
    }

    fn write(&mut self, count: u64) {
        let (pages, hot_pages) = (self.pages(), self.hot_pages());
        let Self { device, rng, with_handles } = self;
        closed_loop(device, 32, count, |tag| {
            let is_hot = rng.chance(HOT_WRITES_PERCENT, 100);
            let page = if is_hot {
                rng.below(hot_pages)
            } else {
                hot_pages + rng.below(pages - hot_pages)
            };
            let placement = u8::from(is_hot && *with_handles);
            Op { placement, ..op(OpKind::Write, page, 1, tag) }
        });
    }

    /// Pages of the log that hold data of a handle, valid or not: half of what is open or being moved counts, and
    /// nothing of what waits for its erase.
    fn log_pages(&self, handle: usize) -> f64 {
        let ftl = self.device.ftl();
        let is_of_handle = |superblock: usize| {
            let by = ftl.written_by[superblock];
            by == StreamId::HOSTS[handle] || by == StreamId::COLLECTED[handle]
        };
        let halves = (0..ftl.states.len()).filter(|&superblock| is_of_handle(superblock)).map(
            |superblock| match ftl.states[superblock] {
                SuperblockState::Closed | SuperblockState::Cached => 2,
                SuperblockState::Victim if ftl.valid_pages[superblock] == 0 => 0,
                SuperblockState::Open | SuperblockState::Victim => 1,
                SuperblockState::Free => 0,
            },
        );
        f64::from(halves.sum::<u32>()) / 2.0 * f64::from(ftl.geometry.superblock_pages())
    }

    /// WAF over some writes, and the mean sizes of the pools of cold and hot data over those of the data.
    fn measure(&mut self) -> (f64, [f64; 2]) {
        const SAMPLES: u64 = 200;
        let before = self.device.telemetry();
        let mut log_pages = [0.0; 2];
        for _ in 0..SAMPLES {
            self.write(4 * self.pages() / SAMPLES);
            for (handle, pages) in log_pages.iter_mut().enumerate() {
                *pages += self.log_pages(handle) / SAMPLES as f64;
            }
        }
        let after = self.device.telemetry();
        self.device.check().unwrap();
        let waf = waf_of_moves(&before, &after);
        let hot_pages = self.hot_pages() as f64;
        let cold_pages = self.pages() as f64 - hot_pages;
        (waf, [log_pages[0] / cold_pages, log_pages[1] / hot_pages])
    }
}

/// Pools of their own: A = sum of p A(alpha_g) over handles, p their share of the writes, alpha_g the size of their
/// pool over that of their data (Desnoyers 2014).
#[test]
fn handles_that_stay_apart_have_the_waf_of_separate_pools() {
    let (measured, alphas) = Skewed::new(&PERSISTENT, true).measure();
    let shares = [100 - HOT_WRITES_PERCENT, HOT_WRITES_PERCENT].map(|share| share as f64 / 100.0);
    let of_pool = |(share, alpha): (f64, f64)| share * waf_greedy(alpha, 512);
    let theory: f64 = shares.into_iter().zip(alphas).map(of_pool).sum();
    println!("WAF {measured:.4}, of the pools {theory:.4}, alpha cold and hot {alphas:.3?}");
    assert!((measured / theory - 1.0).abs() < 0.01, "{measured} against {theory}");
    let (initial, _) = Skewed::new(&INITIAL, true).measure();
    let (mixed, _) = Skewed::new(&PERSISTENT, false).measure();
    println!("initially isolated {initial:.4}, without handles {mixed:.4}");
    assert!(measured < 0.99 * initial && initial < 0.99 * mixed);
}

/// A host that exchanges the unit of a handle after each page gives a superblock up for it: garbage collection keeps up,
/// and the other data stays.
#[test]
fn a_unit_that_ends_early_takes_its_room_until_it_is_erased() {
    for changes in [&INITIAL[..], &PERSISTENT] {
        let mut device = Device::new(config(changes));
        let pages = device.config().geometry.logical_pages * USED_PERCENT / 100;
        fill(&mut device, pages);
        let mut rng = Rng::new(1);
        let before = device.telemetry();
        let rounds = 4 * u64::from(device.config().geometry.superblocks);
        for _ in 0..rounds {
            let page = rng.below(pages);
            closed_loop(&mut device, 1, 1, |tag| Op {
                placement: 1,
                ..op(OpKind::Write, page, 1, tag)
            });
            assert!(device.end_reclaim_unit(1));
            assert!(!device.end_reclaim_unit(1), "the next one begins with a write");
        }
        assert!(!device.end_reclaim_unit(2), "there is no such handle");
        device.check().unwrap();
        let mapped = device.ftl().l2p.iter().filter(|&page| page != sim::ftl::NO_PAGE).count();
        assert_eq!(mapped as u64, pages);
        let after = device.telemetry();
        let erased = after.erased_superblocks - before.erased_superblocks;
        assert!(erased > rounds / 2, "{erased} erases for {rounds} exchanges");
        let unit_pages = u64::from(device.config().geometry.unit_pages);
        let padded = after.padding_pages - before.padding_pages;
        assert_eq!(padded, rounds * (unit_pages - 1), "each page fills a unit, and no more");
    }
}
