//! Does a command take the sum of its stages, and does depth hide the time that occupies nothing?
//! The small drive as in `timing`: command 5,000 (read) or 6,000 ns, link 8,000 ns per page,
//! channel 10,000 ns per page, tR 50,000.

use base::{Nanos, OpKind, Ratio, Rng};
use sim::Device;
use sim::host::system::HostSystem;
use sim::model::{HOSTS, HostProfile};

use crate::common::{alone, closed_loop, op, small, small_config};

const READ_NS: u64 = 5_000 + 50_000 + 10_000 + 8_000;
const WRITE_NS: u64 = 6_000 + 8_000;
const PIPELINE: [(&str, &str); 2] =
    [("controller.read_latency_ns", "21_000"), ("controller.write_latency_ns", "33_000")];

/// The small drive behind a host, with one page in NAND.
fn behind(host: HostSystem, changes: &[(&str, &str)]) -> Device {
    let mut device = Device::new(small_config(Ratio::ONE, changes).behind(Some(host)));
    alone(&mut device, &op(OpKind::Write, 0, 4, 0));
    device.run_until(Nanos(device.now().0 + 10_000_000));
    device
}

/// Commands per second of reads of pages in NAND, `queue_depth` of them outstanding.
fn reads_per_s(device: &mut Device, queue_depth: u32, count: u64) -> f64 {
    let begin = device.now().0;
    let mut rng = Rng::new(7);
    closed_loop(device, queue_depth, count, |tag| op(OpKind::Read, rng.below(4_000), 1, tag));
    count as f64 * 1e9 / (device.now().0 - begin) as f64
}

#[test]
fn one_command_takes_the_sum_of_its_stages_to_the_nanosecond() {
    for (name, text) in HOSTS {
        let host = HostProfile::load(name, text).expect("sound").system();
        let way_ns = host.submit_ns + host.complete_ns;
        let mut device = behind(host, &PIPELINE);
        let read_ns = alone(&mut device, &op(OpKind::Read, 0, 1, 0));
        assert_eq!(read_ns, way_ns + READ_NS + 21_000, "{name}");
        let write_ns = alone(&mut device, &op(OpKind::Write, 8, 1, 0));
        assert_eq!(write_ns, way_ns + WRITE_NS + 33_000, "{name}");
    }
}

#[test]
fn depth_hides_latency_up_to_the_slowest_stage() {
    // Reads of what holds nothing: command 5,000 and link 8,000 ns are the only work.
    let latency_ns = 5_000.0 + 8_000.0 + 87_000.0;
    for queue_depth in [1, 2, 4, 8, 16, 32] {
        let mut device = small(&[("controller.read_latency_ns", "87_000")]);
        let measured = reads_per_s(&mut device, queue_depth, 4_000);
        let formula = (f64::from(queue_depth) * 1e9 / latency_ns).min(1e9 / 8_000.0);
        let ratio = measured / formula;
        assert!((0.99..1.01).contains(&ratio), "QD {queue_depth}: {measured} against {formula}");
    }
}

/// A stage that takes as long as this for a command bounds what depth can hide.
const STAGE_NS: u64 = 40_000;

/// A drive of which one stage is slow, the kind and pages of the commands that meet it, and the latency of one alone.
struct Slow {
    stage: &'static str,
    host: HostSystem,
    changes: &'static [(&'static str, &'static str)],
    kind: OpKind,
    /// The page of the command with each tag.
    page: fn(u32) -> u64,
    latency_ns: u64,
}

/// Every stage in the order in which a command meets it. A write takes its time in the buffer: NAND is fast there.
fn slow_stages() -> [Slow; 9] {
    const NO_HOST: HostSystem = HostSystem { queue_depth: 32, ..HostSystem::NONE };
    const WAY: HostSystem = HostSystem { complete_ns: 90_000, ..NO_HOST };
    let empty = |tag: u32| 100_000 + u64::from(tag);
    let slow = |stage, changes, kind, page, latency_ns: u64| Slow {
        stage,
        host: WAY,
        changes,
        kind,
        page,
        latency_ns: 90_000 + latency_ns,
    };
    let (read, write) = (OpKind::Read, OpKind::Write);
    let submitting = HostSystem { submit_ns: STAGE_NS, ..WAY };
    let port = HostSystem { port_ns: STAGE_NS, ..WAY };
    [
        Slow { host: submitting, ..slow("processor of the host", &[], read, empty, 53_000) },
        Slow { host: port, ..slow("port", &[], read, empty, 13_000) },
        slow("controller", &[("controller.read_command_ns", "40_000")], read, empty, 48_000),
        slow(
            "two processors of the controller",
            &[("controller.read_command_ns", "80_000"), ("controller.processors", "2")],
            read,
            empty,
            88_000,
        ),
        slow("link", &[("interface.link_bytes_per_s", "102_400_000")], read, empty, 45_000),
        slow(
            "controller, writes",
            &[("controller.write_command_ns", "40_000"), ("nand.program_ns", "1")],
            write,
            empty,
            48_000,
        ),
        slow(
            "link to the drive",
            &[("interface.link_write_bytes_per_s", "102_400_000"), ("nand.program_ns", "1")],
            write,
            empty,
            46_000,
        ),
        // The first page lies on die 0, and the ninth on die 2 of the same channel.
        slow("die", &[("nand.read_ns", "30_000")], read, |_| 0, 5_000 + 40_000 + 8_000),
        slow(
            "channel",
            &[("nand.channel_bytes_per_s", "102_400_000"), ("nand.read_ns", "10_000")],
            read,
            |tag| u64::from(tag % 2 * 8),
            5_000 + 50_000 + 8_000,
        ),
    ]
}

/// Throughput at depth is min(depth / latency, bottleneck).
#[test]
fn depth_hides_latency_up_to_every_slow_stage() {
    for Slow { stage, host, changes, kind, page, latency_ns } in slow_stages() {
        for queue_depth in [1, 2, 3, 4, 8, 16, 32] {
            let mut device = Device::new(small_config(Ratio::ONE, changes).behind(Some(host)));
            closed_loop(&mut device, 32, 8, |tag| op(OpKind::Write, 4 * u64::from(tag), 4, tag));
            device.run_until(Nanos(device.now().0 + Nanos::SECOND.0));
            let begin = device.now().0;
            let next = |tag| op(kind, page(tag), 1, tag);
            closed_loop(&mut device, queue_depth, 4_000, next);
            let measured = 4_000.0 * 1e9 / (device.now().0 - begin) as f64;
            let formula =
                (f64::from(queue_depth) * 1e9 / latency_ns as f64).min(1e9 / STAGE_NS as f64);
            let ratio = measured / formula;
            assert!(
                (0.99..1.01).contains(&ratio),
                "{stage}, QD {queue_depth}: {measured} of {formula}"
            );
        }
    }
}

#[test]
fn the_slower_of_processor_and_port_bounds_what_the_host_passes() {
    for (submit_ns, port_ns) in [(20_000, 13_000), (9_000, 40_000)] {
        let host = HostSystem {
            submit_ns,
            port_ns,
            complete_ns: 60_000,
            queue_depth: 32,
            ..HostSystem::NONE
        };
        let mut device = Device::new(small_config(Ratio::ONE, &[]).behind(Some(host)));
        let measured = reads_per_s(&mut device, 32, 4_000);
        let formula = 1e9 / submit_ns.max(port_ns) as f64;
        let ratio = measured / formula;
        assert!((0.99..1.01).contains(&ratio), "{measured} against {formula}");
    }
}

#[test]
fn the_operating_system_keeps_back_what_the_drive_cannot_take() {
    let host = HostSystem { queue_depth: 64, ..HostSystem::NONE };
    let shallow = [("interface.queue_depth", "2"), ("controller.read_latency_ns", "187_000")];
    let config = small_config(Ratio::ONE, &shallow).behind(Some(host));
    assert_eq!(config.queue_depth, 64, "the host takes more than the drive");
    let mut device = Device::new(config);
    let measured = reads_per_s(&mut device, 64, 4_000);
    let formula = 2.0 * 1e9 / 200_000.0;
    assert!((0.99..1.01).contains(&(measured / formula)), "{measured} against {formula}");
}

#[test]
fn the_spread_is_drawn_from_nothing_to_its_largest_value() {
    let spread = [("controller.latency_spread_ns", "1_000")];
    let mut device = small(&spread);
    let fixed_ns = 5_000 + 8_000;
    let draws: Vec<u64> = (0..4_000)
        .map(|page| alone(&mut device, &op(OpKind::Read, page, 1, 0)) - fixed_ns)
        .collect();
    assert_eq!((draws.iter().min(), draws.iter().max()), (Some(&0), Some(&1_000)));
    let mean = draws.iter().sum::<u64>() as f64 / draws.len() as f64;
    assert!((480.0..520.0).contains(&mean), "{mean}");
    let mut again = small(&spread);
    let second: Vec<u64> = (0..4_000)
        .map(|page| alone(&mut again, &op(OpKind::Read, page, 1, 0)) - fixed_ns)
        .collect();
    assert_eq!(draws, second, "the same seed draws the same lots");
}

#[test]
fn the_tail_is_long_for_one_command_in_a_hundred() {
    let mut device = small(&[("controller.latency_tail_ns", "3_000")]);
    let mut draws: Vec<u64> = (0..8_000)
        .map(|page| alone(&mut device, &op(OpKind::Read, page, 1, 0)) - 5_000 - 8_000)
        .collect();
    draws.sort_unstable();
    let mean = draws.iter().sum::<u64>() as f64 / draws.len() as f64;
    // Four deviations of the mean of so many: 4 x 3,000 / sqrt(8,000) = 134 ns.
    assert!((2_866.0..3_134.0).contains(&mean), "{mean}");
    // 50, 75 and 99% lie below 1, 2 and 6.7 halvings of the probability, at 2,000 ns each.
    for (percent, want_ns) in [(50, 2_000.0), (75, 4_000.0), (99, 13_440.0)] {
        let drawn_ns = draws[draws.len() / 100 * percent] as f64;
        assert!((0.9..1.1).contains(&(drawn_ns / want_ns)), "{percent}%: {drawn_ns}");
    }
}

#[test]
fn a_pause_delays_writes_and_no_read() {
    // NAND faster than the controller, so that the buffer has room whenever the host comes.
    let fast = ("nand.program_ns", "1_000");
    let pauses =
        [("controller.pause_interval_ns", "20_000_000"), ("controller.pause_ns", "500_000")];
    let times = |kind, changes: &[(&str, &str)]| {
        let mut device = small(&[&[fast][..], changes].concat());
        (0..200_000).map(|page| alone(&mut device, &op(kind, page % 8, 1, 0))).collect::<Vec<_>>()
    };
    assert_eq!(times(OpKind::Read, &pauses), times(OpKind::Read, &[]));
    let sum_ns = |changes| times(OpKind::Write, changes).into_iter().sum::<u64>() as f64;
    let ratio = sum_ns(&pauses) / sum_ns(&[]);
    // A pause of 0.5 ms behind 20 ms of work each time.
    assert!((1.015..1.035).contains(&ratio), "{ratio} times as long");
}

#[test]
fn a_host_that_makes_its_data_bounds_a_fill_at_qd_1() {
    let text = HOSTS.iter().find(|(name, _)| *name == "nvme-2024-checksums").expect("built in").1;
    let host = HostProfile::load("checksums", text).expect("sound").system();
    let alike = HostSystem { data_bytes_per_s: None, ..host };
    // 512 KiB less the first page at 3.6 GB/s.
    for (pages, data_ns) in [(1, 0), (128, 144_498)] {
        let time_ns = |host, kind| alone(&mut behind(host, &[]), &op(kind, 1_024, pages, 0));
        let more_ns = |kind| time_ns(host, kind) - time_ns(alike, kind);
        assert_eq!([OpKind::Write, OpKind::Read].map(more_ns), [data_ns, 0], "{pages} pages");
    }
}

#[test]
fn several_processors_share_the_commands() {
    for processors in [1, 2, 3] {
        // Commands cost far more than anything else.
        let mut device = small(&[
            ("controller.read_command_ns", "100_000"),
            ("controller.processors", &processors.to_string()),
        ]);
        let measured = reads_per_s(&mut device, 32, 4_000);
        let formula = f64::from(processors) * 1e9 / 100_000.0;
        let ratio = measured / formula;
        assert!((0.99..1.01).contains(&ratio), "{processors}: {measured} against {formula}");
    }
}

#[test]
fn an_interrupt_waits_for_its_number_or_its_time() {
    let coalesced = [
        ("interface.kind", "nvme"),
        ("interface.coalesced_commands", "4"),
        ("interface.coalesced_ns", "100_000"),
    ];
    let mut device = small(&coalesced);
    let alone_ns = 5_000 + 8_000;
    assert_eq!(alone(&mut device, &op(OpKind::Read, 0, 1, 0)), alone_ns + 100_000, "its time");
    let mut out = Vec::new();
    let begin = device.now().0;
    (0..5).for_each(|tag| device.submit(&op(OpKind::Read, tag.into(), 1, tag)));
    while out.len() < 5 {
        device.reap(1, &mut out);
    }
    let done: Vec<u64> = out.iter().map(|end| end.done.0 - begin).collect();
    let link_ns = |commands: u64| 5_000 + commands * 8_000;
    assert_eq!(done[..4], [link_ns(4); 4], "four raise one interrupt");
    assert_eq!(done[4], link_ns(5) + 100_000, "the fifth waits for the time");
}
