//! Does a sequential reader get the rate of the link, and what does that cost others? The small drive as in `timing`:
//! command 5,000 ns, link 8,000 ns a page, channel 10,000 ns a page, tR 50,000 ns; units of four pages, the first on
//! die 0, dies 0 and 2 on one channel.

use base::{Nanos, OpKind, Rng};
use sim::Device;

use crate::common::{alone, closed_loop, fill, op, small};

const COMMAND: u64 = 5_000;
const LINK_PAGE: u64 = 8_000;
const CHANNEL_PAGE: u64 = 10_000;
const READ: u64 = 50_000;
/// A read of one page that finds it in DRAM, or has to sense it.
const FROM_DRAM: u64 = COMMAND + LINK_PAGE;
const FROM_NAND: u64 = COMMAND + READ + CHANNEL_PAGE + LINK_PAGE;

/// Four streams, windows of 64 pages.
const AHEAD: [(&str, &str); 3] = [
    ("read_ahead.streams", "4"),
    ("read_ahead.window_bytes", "262144"),
    ("read_ahead.buffer_bytes", "1048576"),
];
const PAGES: u64 = 8_192;

/// The small drive with its first pages in NAND.
fn filled(changes: &[(&str, &str)]) -> Device {
    let mut device = small(changes);
    fill(&mut device, PAGES);
    device.run_until(Nanos(device.now().0 + Nanos::SECOND.0));
    device
}

fn ahead(changes: &[(&str, &str)]) -> Device {
    filled(&[AHEAD.as_slice(), changes].concat())
}

/// The time of a page in sequential reads of so many pages, one at a time.
fn page_ns(device: &mut Device, pages: u64) -> f64 {
    let begin = device.now().0;
    for read in 0..PAGES / pages {
        alone(device, &op(OpKind::Read, read * pages, pages, 0));
    }
    (device.now().0 - begin) as f64 / PAGES as f64
}

fn latencies(device: &mut Device, pages: &[u64]) -> Vec<u64> {
    pages.iter().map(|&page| alone(device, &op(OpKind::Read, page, 1, 0))).collect()
}

#[test]
fn one_sequential_read_at_a_time_comes_near_the_link() {
    for pages in [1, 8, 32] {
        let link_ns = (COMMAND as f64 + (pages * LINK_PAGE) as f64) / pages as f64;
        let ratio = page_ns(&mut ahead(&[]), pages) / link_ns;
        assert!((1.0..1.02).contains(&ratio), "{pages} pages take {ratio} of command and link");
    }
    // Without, each command waits for its units. Of the two on each die the second is sensed when the first has crossed
    // the channel; that of the other die on the channel crosses before and behind it.
    assert_eq!(page_ns(&mut filled(&[]), 1), FROM_NAND as f64);
    let nand_ns = 2 * READ + 3 * 4 * CHANNEL_PAGE;
    let waits_ns = COMMAND + nand_ns + 32 * LINK_PAGE;
    assert_eq!(page_ns(&mut filled(&[]), 32), waits_ns as f64 / 32.0);
}

#[test]
fn slow_channels_are_kept_busy() {
    // Two channels with 40,000 ns a page.
    let slow = [("nand.channel_bytes_per_s", "102_400_000")];
    // A window that begins within a unit senses the units at its borders twice.
    for (pages, most) in [(1, 1.09), (8, 1.03), (32, 1.03)] {
        let ratio = page_ns(&mut ahead(&slow), pages) / 20_000.0;
        assert!((1.0..most).contains(&ratio), "{pages} pages take {ratio} of the channels");
    }
}

#[test]
fn a_page_on_its_way_is_waited_for_to_the_nanosecond() {
    let mut device = ahead(&[]);
    // The second read begins a stream. Its page and unit 2 are sensed at once, and that page crosses first; then the
    // rest of unit 0 is sensed and crosses.
    let wait_ns = COMMAND + READ + CHANNEL_PAGE + READ + 2 * CHANNEL_PAGE - FROM_NAND;
    let third_ns = wait_ns + LINK_PAGE;
    assert_eq!(latencies(&mut device, &[0, 1, 2, 3]), [FROM_NAND, FROM_NAND, third_ns, FROM_DRAM]);
}

#[test]
fn as_many_streams_are_followed_as_the_drive_can_follow() {
    let alternating: Vec<_> = (0..400).flat_map(|page| [page, 4_000 + page]).collect();
    let mean_ns = |streams| {
        let times = latencies(&mut ahead(&[("read_ahead.streams", streams)]), &alternating);
        times.iter().sum::<u64>() / times.len() as u64
    };
    assert_eq!(mean_ns("1"), FROM_NAND);
    let followed_ns = mean_ns("2");
    assert!((FROM_DRAM..FROM_DRAM * 105 / 100).contains(&followed_ns), "{followed_ns} ns");
}

#[test]
fn what_is_written_or_deallocated_is_dropped() {
    let mut device = ahead(&[]);
    latencies(&mut device, &[0, 1]);
    alone(&mut device, &op(OpKind::Write, 3, 1, 0));
    alone(&mut device, &op(OpKind::Deallocate, 4, 1, 0));
    device.check().expect("nothing is kept that holds nothing");
    alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
    let sensed = device.operations().reads;
    assert_eq!(latencies(&mut device, &[2, 3, 4, 5]), [FROM_DRAM, FROM_NAND, FROM_DRAM, FROM_DRAM]);
    assert_eq!(device.operations().reads, sensed + 1);
}

#[test]
fn random_reads_pay_next_to_nothing() {
    // A read follows one of the last four by chance in 4 of 8,192 cases, and then 16 units, or 17, are read in vain:
    // 0.8% more senses.
    let load = |device: &mut Device| {
        let (begin, sensed) = (device.now().0, device.operations().reads);
        let mut rng = Rng::new(3);
        closed_loop(device, 8, 20_000, |tag| op(OpKind::Read, rng.below(PAGES), 1, tag));
        ((device.now().0 - begin) as f64, (device.operations().reads - sensed) as f64)
    };
    let (with_ns, with_senses) = load(&mut ahead(&[]));
    let (without_ns, without_senses) = load(&mut filled(&[]));
    let senses = with_senses / without_senses;
    assert!((1.001..1.012).contains(&senses), "{senses} times as many senses");
    assert!(with_ns / without_ns < 1.01, "{} times as long", with_ns / without_ns);
}

#[test]
fn a_read_of_the_host_goes_before_reads_ahead_and_a_program_behind_them() {
    let mut device = ahead(&[]);
    latencies(&mut device, &[0, 1]);
    // 16 units are being read ahead, four on each die. One may be under way on the die, another may hold the channel.
    let latency = alone(&mut device, &op(OpKind::Read, 4_096, 1, 0));
    assert!(latency <= FROM_NAND + READ + 3 * 4 * CHANNEL_PAGE, "{latency} ns");
    let mut device = ahead(&[]);
    latencies(&mut device, &[0, 1]);
    let sensed = device.operations().reads;
    alone(&mut device, &op(OpKind::Write, PAGES, 16, 0));
    alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
    // Four units on each of four dies, those that had begun before the write among them.
    assert!(device.operations().reads - sensed >= 12);
}
