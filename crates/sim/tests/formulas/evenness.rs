//! Do size of cleaning's bursts and rate of the host's writes set the evenness of a drive, and nothing else?

use base::{Nanos, Rng};
use sim::Device;

use crate::common::{fill, random_writes, small, spread, steady_rows, writes_and_waf};

/// A drive with spare for large quanta: 4 dies that program 4 pages in 640 us, so 24,000 pages a second or so.
const ROOMY: [(&str, &str); 3] =
    [("nand.blocks_per_plane", "640"), ("gc.free_high", "60"), ("gc.pacing", "proportional")];

/// Steady state over some seconds.
struct Steady {
    waf: f64,
    iops: f64,
    most_iops: f64,
    /// Of writes per second.
    cv: f64,
}

fn steady(changes: &[(&str, &str)]) -> Steady {
    let mut device: Device = small(&[&ROOMY[..], changes].concat());
    let (iops, waf) = writes_and_waf(&steady_rows(&mut device, Nanos::SECOND));
    Steady {
        waf,
        iops: iops.iter().sum::<f64>() / iops.len() as f64,
        most_iops: iops.iter().fold(0.0, |most: f64, &iops| most.max(iops)),
        cv: spread(&iops),
    }
}

#[test]
fn larger_quanta_make_a_drive_uneven_at_the_same_work() {
    let plain = steady(&[]);
    println!("without: {:.0} IOPS, WAF {:.3}, cv {:.4}", plain.iops, plain.waf, plain.cv);
    let sizes = ["16_384", "1_000_000", "8_000_000", "24_000_000", "64_000_000"];
    let drives = sizes.map(|bytes| steady(&[("gc.quantum_bytes", bytes)]));
    for (bytes, drive) in sizes.iter().zip(&drives) {
        println!("{bytes}: WAF {:.3}, cv {:.4}", drive.waf, drive.cv);
        assert!((drive.waf / plain.waf - 1.0).abs() < 0.01, "{bytes}: WAF {}", drive.waf);
    }
    let [first, .., last] = &drives;
    assert!(first.cv < 0.01 && last.cv > 0.2, "from {} to {}", first.cv, last.cv);
    assert!(drives.windows(2).all(|pair| pair[1].cv > pair[0].cv));
}

#[test]
fn the_host_has_its_share_of_a_burst_and_the_drive_is_more_even_for_it() {
    let duties = ["100", "90", "80"];
    let drives =
        duties.map(|duty| steady(&[("gc.quantum_bytes", "64_000_000"), ("gc.duty_percent", duty)]));
    for (duty, drive) in duties.iter().zip(&drives) {
        println!("{duty}%: WAF {:.3}, cv {:.4}", drive.waf, drive.cv);
        assert!((drive.waf / drives[0].waf - 1.0).abs() < 0.01, "{duty}: WAF {}", drive.waf);
    }
    assert!(drives.windows(2).all(|pair| pair[1].cv < pair[0].cv));
}

/// With bursts that follow the debt a closed loop keeps its work and loses more than half of its variation: all its writes wait,
/// and enter as fast as collection pays for them. Below the limit nothing changes.
#[test]
fn a_crowd_of_writes_waits_evenly_where_bursts_follow_the_debt() {
    let burst = ("gc.quantum_bytes", "64_000_000");
    let all = steady(&[burst]);
    let [few, none] = ["8", "1000"].map(|most| steady(&[burst, ("gc.burst_waiting_writes", most)]));
    println!("cv {:.4}, {:.4} with a limit of 8, {:.4} of 1,000", all.cv, few.cv, none.cv);
    for drive in [&few, &none] {
        assert!((drive.waf / all.waf - 1.0).abs() < 0.01, "WAF {}", drive.waf);
        assert!((drive.iops / all.iops - 1.0).abs() < 0.02, "{} IOPS", drive.iops);
    }
    assert!(few.cv < all.cv / 2.0 && (none.cv / all.cv - 1.0).abs() < 0.1);
}

/// The rate is held to the page wherever collection costs something, and cleaning runs ahead of it.
#[test]
fn a_rate_below_what_the_drive_can_do_is_held_without_variation() {
    let plain = steady(&[]);
    for (rate, iops) in [("2_000", 2_000.0), ("5_000", 5_000.0), ("6_000", 6_000.0)] {
        let drive =
            steady(&[("gc.pacing", "rate"), ("gc.rate_iops", rate), ("gc.free_high", "56")]);
        println!(
            "{rate}: {:.1} IOPS at most {}, WAF {:.3}, cv {:.4}",
            drive.iops, drive.most_iops, drive.waf, drive.cv
        );
        assert!((drive.iops / iops - 1.0).abs() < 0.001 && drive.most_iops <= iops + 1.0);
        assert!(drive.cv < 0.001, "{rate}: cv {}", drive.cv);
        assert!((drive.waf / plain.waf - 1.0).abs() < 0.01, "{rate}: WAF {}", drive.waf);
    }
}

/// Victims of this drive hold more than half of their pages: with a threshold above their share the rate grows as the
/// room that they give, with one below it nothing changes.
#[test]
fn a_rate_grows_with_the_room_that_victims_give() {
    let of = |percent: &str| {
        let changes = [("gc.pacing", "rate"), ("gc.rate_iops", "2_000"), ("gc.free_high", "56")];
        steady(&[&changes[..], &[("gc.rate_valid_percent", percent)]].concat())
    };
    let plain = of("0");
    assert!((plain.iops / 2_000.0 - 1.0).abs() < 0.001, "{} IOPS", plain.iops);
    let share = 1.0 - 1.0 / plain.waf;
    for percent in ["75", "80"] {
        let drive = of(percent);
        let room = 1.0 - percent.parse::<f64>().unwrap() / 100.0;
        let expected = 2_000.0 * (1.0 - share) / room;
        println!("{percent}%: {:.1} IOPS, by the room of victims {expected:.1}", drive.iops);
        assert!((drive.iops / expected - 1.0).abs() < 0.01);
    }
}

/// After a pause a burst enters at once, and a host without pauses gets the rate all the same.
#[test]
fn a_burst_passes_the_rate_after_a_pause_and_the_rate_holds() {
    let longest = |burst: &str| {
        let changes = [("gc.rate_burst_bytes", burst), ("gc.rate_iops", "2_000")];
        let changes = [&changes[..], &[("gc.pacing", "rate"), ("gc.free_high", "56")]].concat();
        let drive = steady(&changes);
        assert!((drive.iops / 2_000.0 - 1.0).abs() < 0.001, "{burst}: {} IOPS", drive.iops);
        let mut device = small(&changes);
        let pages = device.config().geometry.logical_pages;
        fill(&mut device, pages);
        let mut rng = Rng::new(5);
        random_writes(&mut device, pages, 2 * pages, &mut rng);
        let rested = device.now().0 + 1_000_000_000;
        device.run_until(Nanos(rested));
        let begin = device.now().0;
        random_writes(&mut device, pages, 16, &mut rng);
        device.now().0 - begin
    };
    let (page, burst) = (longest("4096"), longest("65536"));
    println!("16 writes after a pause: {page} ns a page at a time, {burst} ns at once");
    assert!(page >= 14 * 500_000 && burst < 2_000_000);
}

/// Nothing limits a drive whose cleaning moves nothing: a new one, or one written in order.
#[test]
fn a_rate_does_not_limit_a_drive_without_valid_data_in_its_victims() {
    let rate = [("gc.pacing", "rate"), ("gc.rate_iops", "100")];
    let time = |changes: &[(&str, &str)]| {
        let mut device = small(changes);
        let pages = device.config().geometry.logical_pages;
        fill(&mut device, pages);
        fill(&mut device, pages);
        device.now().0 as f64
    };
    let (limited, free) = (time(&rate), time(&[]));
    println!("{limited} ns with the rate, {free} ns without");
    assert!((limited / free - 1.0).abs() < 0.02);
}

/// Seconds scatter by the time that pauses of the controller take: 2 a second of 5 to 15 ms are 20 ms with a deviation
/// of sqrt(2 x 13 / 12) x 10 = 14.7 ms. Each scatters by itself: no second tells the next one.
#[test]
fn pauses_of_the_controller_make_seconds_scatter_without_ringing() {
    // The controller is the slowest part, so that nothing makes up for a pause.
    let seconds = |changes: &[(&str, &str)]| {
        let slow = ("controller.write_command_ns", "200_000");
        let mut device: Device = small(&[&ROOMY[..], &[slow], changes].concat());
        writes_and_waf(&steady_rows(&mut device, Nanos::SECOND)).0
    };
    let pauses =
        [("controller.pause_interval_ns", "500_000_000"), ("controller.pause_ns", "10_000_000")];
    let (plain, paused) = (seconds(&[]), seconds(&pauses));
    let mean = paused.iter().sum::<f64>() / paused.len() as f64;
    let products = paused.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum::<f64>();
    let echo = products / paused.iter().map(|iops| (iops - mean).powi(2)).sum::<f64>();
    let limit = 3.0 / (paused.len() as f64).sqrt();
    println!(
        "{} s: cv {:.4} without, {:.4} with, lag 1 {echo:.3}, limit {limit:.3}, mean {mean:.0}",
        paused.len(),
        spread(&plain),
        spread(&paused)
    );
    assert!(spread(&plain) < 0.005 && (0.011..0.019).contains(&spread(&paused)));
    let ratio = mean * plain.len() as f64 / plain.iter().sum::<f64>();
    assert!(echo.abs() < limit && (0.97..0.99).contains(&ratio), "{ratio} of the rate");
}
