//! The optional features of the NAND: does each take the time in its description? Latencies of the
//! small drive compared with the sum of its parts, as in `timing.rs`.

use base::{Nanos, OpKind, Rng};
use sim::Device;

use crate::common::{alone, closed_loop, fill, op, random_writes, secs, small};

const READ_COMMAND: u64 = 5_000;
const WRITE_COMMAND: u64 = 6_000;
const LINK_PAGE: u64 = 8_000;
const CHANNEL_PAGE: u64 = 10_000;
const READ: u64 = 50_000;
const PROGRAM: u64 = 600_000;

const DAY: u64 = 24 * 3_600 * Nanos::SECOND.0;

/// Program times of single units in turn: a page, then a flush that completes its unit and waits.
fn program_times(device: &mut Device, count: u64) -> Vec<u64> {
    let before_program = WRITE_COMMAND + 4 * CHANNEL_PAGE;
    let mut time = |page| {
        alone(device, &op(OpKind::Write, page, 1, 0));
        alone(device, &op(OpKind::Flush, 0, 0, 0)) - before_program
    };
    (0..count).map(&mut time).collect()
}

#[test]
fn lower_and_upper_pages_take_turns_as_they_are_paired() {
    let times =
        [("nand.pages.program_lower_ns", "200_000"), ("nand.pages.program_upper_ns", "1_000_000")];
    let mut device = small(&times);
    // A row of pages is one unit on each of four dies. Pages of a block: two lower, then upper and
    // lower in turn, as in a table of pairs (0, 2), (1, 4), (3, 6), ...; 32 pages end with two upper.
    let mut rows = vec![200_000, 200_000];
    rows.extend([1_000_000, 200_000].repeat(14));
    rows.extend([1_000_000, 1_000_000]);
    let want: Vec<u64> = rows.iter().flat_map(|&row| [row; 4]).collect();
    assert_eq!(program_times(&mut device, 128), want);
    assert_eq!(program_times(&mut device, 4), [200_000; 4], "the next superblock begins anew");
}

#[test]
fn three_bits_have_a_middle_page() {
    let mut device = small(&[
        ("nand.pages.program_lower_ns", "200_000"),
        ("nand.pages.program_middle_ns", "600_000"),
        ("nand.pages.program_upper_ns", "1_000_000"),
    ]);
    let times = program_times(&mut device, 128);
    let rows: Vec<_> = times.chunks(4).map(|row| row[0] / 100_000).collect();
    assert_eq!(rows[..9], [2, 2, 6, 2, 6, 10, 2, 6, 10]);
    // 32 pages are ten word lines, and two pages that take the mean.
    assert_eq!(rows[27..], [6, 10, 10, 6, 6]);
}

#[test]
fn each_kind_of_page_has_its_time_to_read() {
    let mut device = small(&[
        ("nand.pages.program_lower_ns", "200_000"),
        ("nand.pages.program_middle_ns", "600_000"),
        ("nand.pages.program_upper_ns", "1_000_000"),
        ("nand.pages.read_lower_ns", "30_000"),
        ("nand.pages.read_middle_ns", "48_000"),
        ("nand.pages.read_upper_ns", "72_000"),
    ]);
    fill(&mut device, 512);
    device.run_until(secs(1));
    let around = READ_COMMAND + CHANNEL_PAGE + LINK_PAGE;
    // The first page of each row of 16, in the order of `three_bits_have_a_middle_page`.
    let mut time =
        |row: u64| (alone(&mut device, &op(OpKind::Read, 16 * row, 1, 0)) - around) / 1_000;
    let rows: Vec<_> = (0..9).map(&mut time).collect();
    assert_eq!(rows, [30, 30, 48, 30, 48, 72, 30, 48, 72]);
    assert_eq!(time(31), 50, "pages without a word line take the mean");
}

/// The latency of reads of single pages, one after the other, less what all of them take.
fn senses_ns(device: &mut Device, pages: &[u64]) -> Vec<u64> {
    let around = READ_COMMAND + CHANNEL_PAGE + LINK_PAGE;
    pages.iter().map(|&page| alone(device, &op(OpKind::Read, page, 1, 0)) - around).collect()
}

#[test]
fn what_a_die_has_in_its_register_is_not_sensed_again() {
    // Units of four pages, the first and the fifth of them on die 0.
    let pages = [0, 1, 2, 3, 3, 16, 17, 0, 4, 1, 5];
    let mut device = busy_die(&[("nand.page_register", "true")]);
    device.run_until(secs(2));
    let before = device.operations();
    let (held, sensed) = (0, READ);
    assert_eq!(
        senses_ns(&mut device, &pages),
        [sensed, held, held, held, held, sensed, held, sensed, sensed, held, held]
    );
    let after = device.operations();
    assert_eq!((after.reads - before.reads, after.transfers - before.transfers), (4, 11));
    let mut without = busy_die(&[("nand.page_register", "false")]);
    without.run_until(secs(2));
    assert_eq!(senses_ns(&mut without, &pages), [sensed; 11]);
}

#[test]
fn other_work_takes_the_register_of_its_die_and_of_no_other() {
    let mut device = busy_die(&[("nand.page_register", "true")]);
    device.run_until(secs(2));
    assert_eq!(senses_ns(&mut device, &[0, 4, 1, 5]), [READ, READ, 0, 0]);
    // The next unit to be written is the sixth: on die 1.
    alone(&mut device, &op(OpKind::Write, 20, 4, 0));
    device.run_until(secs(3));
    assert_eq!(senses_ns(&mut device, &[2, 6, 7]), [0, READ, 0]);
}

#[test]
fn a_program_that_goes_on_after_reads_takes_the_register_back() {
    let changes = [SUSPEND.as_slice(), &[("nand.page_register", "true")]].concat();
    let mut device = busy_die(&changes);
    assert_eq!(senses_ns(&mut device, &[0]), [20_000 + READ]);
    device.run_until(secs(2));
    assert_eq!(senses_ns(&mut device, &[1, 2]), [READ, 0]);
}

/// The times at which reads of single pages of die 0 end that are submitted together, after the
/// command, the first sense and the first transfer.
fn ends_ns(device: &mut Device, pages: &[u64]) -> Vec<u64> {
    let (start_ns, mut ended) = (device.now().0, Vec::new());
    for (tag, &page) in (0..).zip(pages) {
        device.submit(&op(OpKind::Read, page, 1, tag));
    }
    while ended.len() < pages.len() {
        device.reap(1, &mut ended);
    }
    ended.sort_by_key(|end| end.tag);
    let first_ns = start_ns + READ_COMMAND + READ + CHANNEL_PAGE + LINK_PAGE;
    ended.iter().map(|end| end.done.0 - first_ns).collect()
}

#[test]
fn an_independent_plane_senses_while_another_does() {
    // Units of two planes of two pages; pages 0 to 3 and 16 to 19 are on die 0. The second command
    // is decoded 5 us after the first, so that its sense ends 5 us later, and its data crosses the
    // channel after that of the first.
    let ends_ns = |changes: &[(&str, &str)], pages: &[u64]| {
        let mut device = busy_die(changes);
        device.run_until(secs(2));
        ends_ns(&mut device, pages)
    };
    let independent = [("nand.independent_planes", "true")];
    let next = CHANNEL_PAGE;
    assert_eq!(ends_ns(&independent, &[0, 2]), [0, next]);
    assert_eq!(ends_ns(&[], &[0, 2]), [0, READ + next]);
    // The same plane has one sense at a time, and the third read, which another plane has sensed, overtakes it.
    assert_eq!(ends_ns(&independent, &[0, 1]), [0, READ + next]);
    assert_eq!(ends_ns(&independent, &[0, 1, 18]), [0, READ + next, next]);
    // The fourth begins when the plane of the second is free: at the end of its transfer.
    assert_eq!(ends_ns(&independent, &[0, 2, 16, 18]), [0, next, READ + next, READ + 2 * next]);
    // Several pages of a unit take all planes.
    let mut device = busy_die(&independent);
    device.run_until(secs(2));
    device.submit(&op(OpKind::Read, 0, 3, 0));
    device.submit(&op(OpKind::Read, 16, 1, 1));
    let mut ended = Vec::new();
    while ended.len() < 2 {
        device.reap(1, &mut ended);
    }
    let last_ns = secs(2).0 + READ_COMMAND + 2 * READ + 4 * CHANNEL_PAGE + LINK_PAGE;
    assert_eq!(ended[1].done.0, last_ns);
}

/// Each of the reads is sensed once, whatever is done beside it, also where programs are suspended.
#[test]
fn independent_planes_sense_every_page_once() {
    let changes = [SUSPEND.as_slice(), &[("nand.independent_planes", "true")]].concat();
    let mut rng = Rng::new(5);
    let mut sensed = |changes: &[(&str, &str)]| {
        let mut device = small(changes);
        fill(&mut device, 4_096);
        device.run_until(secs(10));
        let before = device.operations();
        let read = |tag| op(OpKind::Read, rng.below(4_096), 1, tag);
        closed_loop(&mut device, 32, 10_000, read);
        let (operations, took_ns) = (device.operations(), device.now().0 - secs(10).0);
        (operations.reads - before.reads, took_ns)
    };
    let (reads, side_by_side_ns) = sensed(&changes);
    let (reads_in_turn, in_turn_ns) = sensed(&SUSPEND);
    assert_eq!((reads, reads_in_turn), (10_000, 10_000));
    // Two planes: up to twice the rate, less for pairs of reads of the same plane.
    let gain = in_turn_ns as f64 / side_by_side_ns as f64;
    assert!((1.3..2.0).contains(&gain), "{gain}");
}

#[test]
fn planes_one_after_the_other_take_their_times_one_after_the_other() {
    // Ten pages: five units of one plane, two of them on die 0.
    let mut device = small(&[("nand.multi_plane", "false")]);
    alone(&mut device, &op(OpKind::Write, 0, 10, 0));
    let twice = 2 * (2 * CHANNEL_PAGE + PROGRAM);
    assert_eq!(alone(&mut device, &op(OpKind::Flush, 0, 0, 0)), twice);
    // Together: three units on dies 0, 1 and 2, of which 0 and 2 share a channel.
    let mut together = small(&[("nand.multi_plane", "true")]);
    alone(&mut together, &op(OpKind::Write, 0, 10, 0));
    let once = WRITE_COMMAND.max(8 * CHANNEL_PAGE + PROGRAM);
    let flush = alone(&mut together, &op(OpKind::Flush, 0, 0, 0));
    assert_eq!(flush, once);
    assert_eq!(device.config().nand.erase_ns, 2 * together.config().nand.erase_ns);
    assert_eq!(device.config().raw_bytes, together.config().raw_bytes);
}

#[test]
fn collection_senses_each_plane_of_a_unit_in_turn_where_the_drive_says_so() {
    let dies_busy_ns = |changes: &[(&str, &str)]| {
        let mut device = small(changes);
        let pages = device.config().geometry.logical_pages;
        fill(&mut device, pages);
        random_writes(&mut device, pages, pages, &mut Rng::new(3));
        let moved_pages = device.telemetry().gc_moved_pages as f64;
        // The same work, whatever the order in which it was done.
        let programs_ns = device.telemetry().programmed_pages * (PROGRAM / 4 + CHANNEL_PAGE);
        (device.telemetry().die_busy_ns - programs_ns) as f64 / moved_pages
    };
    let together_ns = dies_busy_ns(&[]);
    let in_turn_ns = dies_busy_ns(&[("nand.moves_by_plane", "true")]);
    // Two planes of two pages: most units of a victim have a valid page on both, so that a moved page costs up to half
    // a tR more.
    let more = (in_turn_ns - together_ns) / READ as f64;
    assert!((0.1..0.5).contains(&more), "{more} more senses a moved page");
}

const SUSPEND: [(&str, &str); 3] = [
    ("nand.suspend.suspend_ns", "20_000"),
    ("nand.suspend.resume_ns", "30_000"),
    ("nand.suspend.per_operation_max", "2"),
];

/// A drive with page 0 in NAND on die 0, and a program in progress there for 100,000 ns.
fn busy_die(changes: &[(&str, &str)]) -> Device {
    let mut device = small(changes);
    alone(&mut device, &op(OpKind::Write, 0, 16, 0));
    device.run_until(secs(1));
    // The fifth unit is on die 0 again.
    alone(&mut device, &op(OpKind::Write, 16, 4, 0));
    let until = device.now().0 + 4 * CHANNEL_PAGE + 100_000;
    device.run_until(Nanos(until));
    device
}

#[test]
fn a_read_waits_for_a_program_unless_it_may_suspend_it() {
    let read = op(OpKind::Read, 0, 1, 0);
    let flush = op(OpKind::Flush, 0, 0, 0);
    let after_die = CHANNEL_PAGE + LINK_PAGE;
    let mut waits = busy_die(&[]);
    assert_eq!(alone(&mut waits, &read), PROGRAM - 100_000 + READ + after_die);
    let mut suspends = busy_die(&SUSPEND);
    let start = suspends.now().0;
    assert_eq!(alone(&mut suspends, &read), READ_COMMAND + 20_000 + READ + after_die);
    alone(&mut suspends, &flush);
    // The program had 495,000 ns to go when the read came to the die.
    let program_end = READ_COMMAND + 20_000 + READ + CHANNEL_PAGE + 30_000 + 495_000;
    assert_eq!(suspends.now().0 - start, program_end);
}

/// A held die reads at once, and its program goes on when the time of the first batch has passed.
#[test]
fn a_held_die_takes_a_read_at_once_and_resumes_at_its_time() {
    let mut device = busy_die(&[&SUSPEND[..], &[("nand.suspend.hold_ns", "100_000")]].concat());
    let start = device.now().0;
    let read = op(OpKind::Read, 0, 1, 0);
    let read_ns = READ_COMMAND + READ + CHANNEL_PAGE + LINK_PAGE;
    assert_eq!(alone(&mut device, &read), read_ns + 20_000, "it suspends the program");
    assert_eq!(alone(&mut device, &read), read_ns, "the die is held");
    alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
    let first_batch = READ_COMMAND + 20_000 + READ + CHANNEL_PAGE;
    assert_eq!(device.now().0 - start, first_batch + 100_000 + 30_000 + 495_000);
}

#[test]
fn suspensions_spread_by_an_exponential_addition() {
    let tail = [&SUSPEND[..], &[("nand.suspend.tail_ns", "10_000")]].concat();
    let mut device = busy_die(&tail);
    let fixed_ns = READ_COMMAND + 20_000 + READ + CHANNEL_PAGE + LINK_PAGE;
    let mut draws: Vec<u64> = (0..1_000)
        .map(|_| {
            let drawn_ns = alone(&mut device, &op(OpKind::Read, 0, 1, 0)) - fixed_ns;
            device.run_until(Nanos(device.now().0 + 1_000_000));
            // Each die programs one of four units.
            alone(&mut device, &op(OpKind::Write, 20, 16, 0));
            device.run_until(Nanos(device.now().0 + 200_000));
            drawn_ns
        })
        .collect();
    draws.sort_unstable();
    let mean = draws.iter().sum::<u64>() as f64 / draws.len() as f64;
    // Four deviations of the mean of so many: 4 x 10,000 / sqrt(1,000) = 1,265 ns.
    assert!((8_735.0..11_265.0).contains(&mean), "{mean}");
    assert!((5_500..8_000).contains(&draws[500]) && draws[990] > 35_000, "{draws:?}");
}

#[test]
fn a_program_that_ends_soon_is_not_suspended() {
    // So much is left when the read comes: as much as the suspension takes, and less.
    for left_ns in [20_000, 5_000] {
        let mut device = busy_die(&SUSPEND);
        let start = device.now().0;
        device.run_until(Nanos(start + PROGRAM - 100_000 - READ_COMMAND - left_ns));
        let latency = alone(&mut device, &op(OpKind::Read, 0, 1, 0));
        assert_eq!(latency, READ_COMMAND + left_ns + READ + CHANNEL_PAGE + LINK_PAGE);
        let flush = alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
        assert_eq!(flush, WRITE_COMMAND, "the program ended before the read began");
    }
}

/// A drive of one die has a program in progress and two more in its queue. A read waits for the
/// first and goes before the others, with one register or two.
#[test]
fn a_host_read_goes_before_the_programs_that_wait_for_its_die() {
    let one_die =
        [("nand.channels", "1"), ("nand.dies_per_channel", "1"), ("nand.blocks_per_plane", "2240")];
    let read_ns = READ + CHANNEL_PAGE;
    for cache_program in ["false", "true"] {
        let mut device = small(&[&one_die[..], &[("nand.cache_program", cache_program)]].concat());
        alone(&mut device, &op(OpKind::Write, 0, 4, 0));
        device.run_until(secs(1));
        // Three units go to the die at once when the last of their data is there.
        alone(&mut device, &op(OpKind::Write, 4, 12, 0));
        let start = device.now().0;
        let latency = alone(&mut device, &op(OpKind::Read, 0, 1, 0));
        assert_eq!(latency, 4 * CHANNEL_PAGE + PROGRAM + read_ns + LINK_PAGE, "{cache_program}");
        alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
        let transfers = if cache_program == "true" { 1 } else { 3 };
        let all_ns = transfers * 4 * CHANNEL_PAGE + 3 * PROGRAM + read_ns;
        assert_eq!(device.now().0 - start, all_ns, "the programs end later by the read");
    }
}

/// Of three programs on a die two wait behind the one that a read could suspend.
#[test]
fn a_die_with_too_many_writes_waiting_suspends_no_more() {
    let one_die =
        [("nand.channels", "1"), ("nand.dies_per_channel", "1"), ("nand.blocks_per_plane", "2240")];
    for (waiting_max, wait_ns) in [("1", PROGRAM), ("2", 20_000)] {
        let limit = [("nand.suspend.waiting_max", waiting_max)];
        let mut device = small(&[&one_die[..], &SUSPEND, &limit].concat());
        alone(&mut device, &op(OpKind::Write, 0, 4, 0));
        device.run_until(secs(1));
        alone(&mut device, &op(OpKind::Write, 4, 12, 0));
        let latency = alone(&mut device, &op(OpKind::Read, 0, 1, 0));
        let served_ns = READ + CHANNEL_PAGE + LINK_PAGE;
        assert_eq!(latency, 4 * CHANNEL_PAGE + wait_ns + served_ns, "{waiting_max}");
    }
}

/// Only the array's work can be suspended: a read that comes while the data of the program crosses
/// the channel, or during the resumption of the program, waits for the end of that first.
#[test]
fn a_suspension_begins_with_the_work_of_the_array() {
    let mut device = small(&SUSPEND);
    alone(&mut device, &op(OpKind::Write, 0, 16, 0));
    device.run_until(secs(1));
    alone(&mut device, &op(OpKind::Write, 16, 4, 0));
    let start = device.now().0;
    device.run_until(Nanos(start + 2 * CHANNEL_PAGE));
    let (read, served) = (op(OpKind::Read, 0, 1, 0), 20_000 + READ + CHANNEL_PAGE);
    // Half of the transfer is left.
    assert_eq!(alone(&mut device, &read), 2 * CHANNEL_PAGE + served + LINK_PAGE);
    // The die takes the program up again while the page crosses the link and the next command is read.
    let resumed = 30_000 - LINK_PAGE - READ_COMMAND;
    assert_eq!(alone(&mut device, &read), READ_COMMAND + resumed + served + LINK_PAGE);
    alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
    let program = 4 * CHANNEL_PAGE + PROGRAM + 2 * (served + 30_000);
    assert_eq!(device.now().0 - start, program, "nothing done is lost, nothing is done twice");
}

/// Suspension and resumption occupy the die like the operations themselves.
#[test]
fn a_suspension_costs_the_die_its_time() {
    let mut device = busy_die(&SUSPEND);
    alone(&mut device, &op(OpKind::Read, 0, 1, 0));
    alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
    let programs_ns = 5 * (4 * CHANNEL_PAGE + PROGRAM);
    // Two dies shared each channel when the first four units were written at once.
    let bus_wait_ns = 2 * 4 * CHANNEL_PAGE;
    let read_ns = 20_000 + READ + CHANNEL_PAGE + 30_000;
    assert_eq!(device.telemetry().die_busy_ns, programs_ns + bus_wait_ns + read_ns);
}

/// The data of a read crosses the channel after the sense of the array: a program that begins on
/// another die of the channel before that moves its data first, one that begins after it moves it
/// later.
#[test]
fn a_page_that_is_still_sensed_does_not_keep_the_channel() {
    const READ_AFTER: u64 = 20_000;
    for (write_after, program_first) in [(READ_AFTER + 30_000, true), (READ_AFTER + 50_000, false)]
    {
        // Units 0 and 2 lie on the dies of one channel; the last page of unit 2 is missing.
        let mut device = small(&[]);
        alone(&mut device, &op(OpKind::Write, 0, 11, 0));
        device.run_until(secs(1));
        let start = device.now().0;
        let at = |after_ns| Nanos(start + after_ns);
        let (busy_ns, mut out) = (device.telemetry().die_busy_ns, Vec::new());
        device.run_until(at(READ_AFTER));
        device.submit(&op(OpKind::Read, 0, 1, 1));
        device.run_until(at(write_after));
        device.submit(&op(OpKind::Write, 11, 1, 2));
        device.run_until(secs(3));
        device.reap(0, &mut out);
        let sensed = READ_AFTER + READ_COMMAND + READ;
        let loading = write_after + WRITE_COMMAND + LINK_PAGE;
        let loaded = loading + 4 * CHANNEL_PAGE;
        let moved = if program_first { loaded } else { sensed } + CHANNEL_PAGE;
        let programmed = if program_first { loaded } else { loaded.max(moved + 4 * CHANNEL_PAGE) };
        assert_eq!(loading < sensed, program_first, "as the test means it");
        let read = out.iter().find(|end| end.tag == 1).expect("the read has ended");
        assert_eq!(read.done.0 - start, moved + LINK_PAGE, "{write_after}");
        let read_busy_ns = moved - (READ_AFTER + READ_COMMAND);
        let program_busy_ns = programmed + PROGRAM - loading;
        assert_eq!(device.telemetry().die_busy_ns - busy_ns, read_busy_ns + program_busy_ns);
    }
}

#[test]
fn reads_can_hold_a_program_up_only_so_often() {
    let program_end = |per_operation_max: &str| {
        let mut device = busy_die(&[
            SUSPEND[0],
            SUSPEND[1],
            ("nand.suspend.per_operation_max", per_operation_max),
        ]);
        device.submit(&op(OpKind::Flush, 0, 0, 31));
        let mut out = Vec::new();
        for tag in 0..8 {
            device.submit(&op(OpKind::Read, 0, 1, tag));
        }
        let mut reads = 8;
        loop {
            device.reap(1, &mut out);
            for end in out.drain(..) {
                if end.tag == 31 {
                    return (end.latency().0, reads);
                }
                reads += 1;
                device.submit(&op(OpKind::Read, 0, 1, end.tag));
            }
        }
    };
    let batch = 8 * (READ + CHANNEL_PAGE);
    for max in [1, 2, 5] {
        let (end, _) = program_end(&max.to_string());
        assert!(end <= PROGRAM + 20_000 + max * batch + 30_000, "{max}: {end}");
        assert!(end > PROGRAM - 100_000, "{max}: {end}");
    }
    let (end, reads) = program_end("1000");
    assert!(end > 900 * READ && reads > 900, "{reads} reads went before the program: {end}");
}

/// Longest read among random writes and reads on a full drive whose erase takes 50 ms.
fn longest_read_ns(suspend: &[(&str, &str)]) -> u64 {
    let mut changes = vec![("nand.erase_ns", "50_000_000")];
    changes.extend(suspend);
    let mut device = small(&changes);
    let pages = device.config().geometry.logical_pages;
    fill(&mut device, pages);
    let (mut rng, mut state) = (Rng::new(1), Rng::new(2));
    let mut longest = 0;
    for _ in 0..2_000 {
        closed_loop(&mut device, 8, 40, |tag| op(OpKind::Write, rng.below(pages), 1, tag));
        let read = op(OpKind::Read, state.below(pages), 1, 0);
        longest = longest.max(alone(&mut device, &read));
    }
    device.check().unwrap();
    longest
}

#[test]
fn erases_are_suspended_too() {
    let (without, with) = (longest_read_ns(&[]), longest_read_ns(&SUSPEND));
    println!("longest read: {without} ns without suspend, {with} ns with it");
    assert!(without > 40_000_000);
    assert!(with < 2_000_000);
}

#[test]
fn a_cache_program_hides_the_transfer_behind_the_program_before() {
    // Nine units: three on die 0.
    let mut plain = small(&[]);
    alone(&mut plain, &op(OpKind::Write, 0, 36, 0));
    let flush = op(OpKind::Flush, 0, 0, 0);
    assert_eq!(alone(&mut plain, &flush), 3 * (4 * CHANNEL_PAGE + PROGRAM));
    let mut cached = small(&[("nand.cache_program", "true")]);
    alone(&mut cached, &op(OpKind::Write, 0, 36, 0));
    assert_eq!(alone(&mut cached, &flush), 4 * CHANNEL_PAGE + 3 * PROGRAM);
}

#[test]
fn sequential_writes_with_cache_program_take_tprog_and_nothing_else() {
    // Bytes per second = dies x unit / max(tPROG, transfer x dies per channel).
    for (program_ns, limit_ns) in [("600_000", 600_000), ("50_000", 2 * 4 * CHANNEL_PAGE)] {
        let mut device = small(&[
            ("nand.cache_program", "true"),
            ("nand.program_ns", program_ns),
            ("interface.link_bytes_per_s", "2_000_000_000"),
        ]);
        let mut page = 0;
        let mut write = |device: &mut Device, count| {
            closed_loop(device, 32, count, |tag| {
                page += 32;
                op(OpKind::Write, page - 32, 32, tag)
            });
        };
        write(&mut device, 200);
        let start = device.now().0;
        write(&mut device, 4_000);
        let measured_ns = (device.now().0 - start) as f64 / (4_000.0 * 8.0 / 4.0);
        println!("{program_ns}: {measured_ns} ns a unit and die of {limit_ns}");
        assert!((measured_ns / f64::from(limit_ns as u32) - 1.0).abs() < 0.01, "{measured_ns}");
    }
}

#[test]
fn old_and_worn_pages_are_sensed_again() {
    let days = |days: u64, cycles| {
        let mut device = small(&[
            ("nand.retry.initial_cycles", cycles),
            ("nand.retry.fresh_ppb", "1_000"),
            ("nand.retry.per_kilocycle_ppb", "500"),
            ("nand.retry.per_day_ppb", "10"),
            ("nand.retry.per_day_per_kilocycle_ppb", "30"),
            ("nand.retry.corrected_ppb", "2_000"),
            ("nand.retry.retries_max", "4"),
        ]);
        alone(&mut device, &op(OpKind::Write, 0, 4, 0));
        device.run_until(Nanos(days * DAY));
        let senses = |device: &mut Device| {
            let latency = alone(device, &op(OpKind::Read, 0, 1, 0));
            let rest = READ_COMMAND + CHANNEL_PAGE + LINK_PAGE;
            assert_eq!((latency - rest) % READ, 0);
            (latency - rest) / READ
        };
        let old = senses(&mut device);
        alone(&mut device, &op(OpKind::Write, 0, 4, 0));
        device.run_until(Nanos(days * DAY + DAY));
        (old, senses(&mut device))
    };
    // Rate after d days: 1,000 + 500 K + (10 + 30 K) d with K thousand cycles; 2,000 a sense.
    assert_eq!(days(90, "0"), (1, 1), "1,900");
    assert_eq!(days(120, "0"), (2, 1), "2,200; new data is new");
    assert_eq!(days(90, "3000"), (5, 2), "11,500: more than four retries would be needed; 2,600");
    assert_eq!(days(30, "3000"), (3, 2), "5,500");
}

/// Every erase of a superblock is a cycle: the senses of a page depend on the wear of its own
/// superblock.
#[test]
fn a_page_is_sensed_as_often_as_its_superblock_was_erased() {
    // Each cycle adds what one sense copes with; eleven senses are all.
    let mut device = small(&[
        ("nand.retry.initial_cycles", "0"),
        ("nand.retry.fresh_ppb", "0"),
        ("nand.retry.per_kilocycle_ppb", "1_000_000"),
        ("nand.retry.per_day_ppb", "0"),
        ("nand.retry.per_day_per_kilocycle_ppb", "0"),
        ("nand.retry.corrected_ppb", "1_000"),
        ("nand.retry.retries_max", "10"),
    ]);
    let geometry = device.config().geometry;
    let pages = geometry.logical_pages;
    let mut rng = Rng::new(1);
    fill(&mut device, pages);
    closed_loop(&mut device, 32, pages, |tag| op(OpKind::Write, rng.below(pages), 1, tag));
    alone(&mut device, &op(OpKind::Flush, 0, 0, 0));
    device.run_until(Nanos(device.now().0 + secs(10).0));
    let mut seen = [0; 12];
    for _ in 0..1_000 {
        let page = rng.below(pages);
        let superblock = device.ftl().superblock_of(device.ftl().l2p.get(page));
        let erases = device.ftl().erase_counts[superblock as usize];
        let senses = u64::from(erases.clamp(1, 11));
        let latency = alone(&mut device, &op(OpKind::Read, page, 1, 0));
        assert_eq!(latency, READ_COMMAND + senses * READ + CHANNEL_PAGE + LINK_PAGE, "{erases}");
        seen[senses as usize] += 1;
    }
    assert!(seen.iter().filter(|&&pages| pages > 0).count() >= 3, "{seen:?} pages by senses");
}

/// Time of a sequential pass over the small drive with longer blocks and a short buffer, in ns for each unit of a die.
fn pass_ns(changes: &[(&str, &str)]) -> f64 {
    let shape = [
        ("nand.pages_per_block", "256"),
        ("nand.blocks_per_plane", "80"),
        ("buffer.write_bytes", "131072"),
        ("gc.free_high", "4"),
    ];
    let mut device = small(&[shape.as_slice(), changes].concat());
    let superblock_pages = u64::from(device.config().geometry.superblock_pages());
    let pages = 56 * superblock_pages;
    fill(&mut device, pages);
    device.now().0 as f64 / (pages / 16) as f64
}

#[test]
fn a_superblock_is_as_slow_as_the_slowest_of_its_blocks() {
    let changes = [
        ("nand.spread.program_percent", "30"),
        ("nand.spread.erase_percent", "0"),
        ("nand.spread.layer_percent", "0"),
    ];
    let even = pass_ns(&[]);
    let program_ns = PROGRAM as f64;
    let around = even / (program_ns + 4.0 * CHANNEL_PAGE as f64);
    assert!((0.99..1.02).contains(&around), "a die takes a unit after the other: {around}");
    // Of four even draws between -30% and 30% the largest is 30% x 3 / 5 on average; the deviation of a mean of 56
    // is 30% x 0.33 / sqrt(56) = 1.3%.
    let slower = (pass_ns(&changes) - even) / program_ns;
    assert!((slower - 0.18).abs() < 0.026, "slower by {slower}");
}
