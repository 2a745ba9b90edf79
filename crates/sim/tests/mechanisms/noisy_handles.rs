//! Do invalidations in one placement handle move the data of others where collection chooses a handle first, and do
//! three streams cost two drives what was measured?

use base::{Ratio, Rng};
use sim::{Config, Device};

use crate::common::three_streams::{DRIVE, Overwrites, ThreeStreams};
use crate::common::{fill, random_writes, small_config, waf_of_moves};

/// The random streams together write half as much as the sequential one.
const FEWER_COMMANDS: u32 = 8;
/// As in the jobs for drives.
const QUEUE_DEPTH: u32 = 32;
/// A drive whose write amplification under random writes is that of the worse of the two drives.
const LITTLE_SPARE: (&str, &str) = ("nand.blocks_per_plane", "148");
/// The same of the better one.
const MUCH_SPARE: (&str, &str) = ("nand.blocks_per_plane", "173");

fn config(changes: &[(&str, &str)]) -> Config {
    small_config(Ratio::ONE, &[&DRIVE, changes].concat())
}

/// Write amplification under three streams, and pages moved for each page of the host, by handle.
fn three_streams(changes: &[(&str, &str)], overwrites: Overwrites, depth: u32) -> (f64, [f64; 3]) {
    let mut drive = ThreeStreams::new(config(changes), overwrites, depth);
    drive.write(2);
    let before = (drive.device.probe().moved_pages, drive.device.telemetry().host_pages);
    let waf = drive.write(4);
    let after = (drive.device.probe().moved_pages, drive.device.telemetry().host_pages);
    let host_pages = (after.1 - before.1) as f64;
    let share = |handle: usize| (after.0[handle] - before.0[handle]) as f64 / host_pages;
    (waf, [share(0), share(1), share(2)])
}

/// Steady write amplification of random writes over the whole drive.
fn one_stream(changes: &[(&str, &str)]) -> f64 {
    let mut device = Device::new(config(changes));
    let pages = device.config().geometry.logical_pages;
    let mut rng = Rng::split(1, "addresses");
    fill(&mut device, pages);
    random_writes(&mut device, pages, 2 * pages, &mut rng);
    let before = device.telemetry();
    random_writes(&mut device, pages, 2 * pages, &mut rng);
    waf_of_moves(&before, &device.telemetry())
}

/// With ample spare space three streams stay apart at hardly any cost. If the handle with the most garbage comes first,
/// overwrites by the third stream make the sequential one move, although that has written nothing more.
#[test]
fn a_noisy_handle_moves_the_data_of_others_where_a_handle_is_chosen_first() {
    let by_handle = [MUCH_SPARE, ("gc.victim_handle", "most-garbage")];
    let (waf_of_all, _) = three_streams(&[MUCH_SPARE], Overwrites::Uniform, FEWER_COMMANDS);
    let (waf_calm, calm) = three_streams(&by_handle, Overwrites::Absent, FEWER_COMMANDS);
    let (waf_noisy, noisy) = three_streams(&by_handle, Overwrites::Uniform, FEWER_COMMANDS);
    println!("{waf_of_all:.3}; handle first {waf_noisy:.3}, without the third {waf_calm:.3}");
    println!("moved by handle: {noisy:.3?}, without the third {calm:.3?}");
    assert!(waf_of_all < 1.05 && waf_calm < 1.03, "{waf_of_all} and {waf_calm}");
    assert!(waf_noisy > 1.3, "{waf_noisy}");
    assert!(calm[0] < 0.001 && noisy[0] > 0.2, "{calm:?} and {noisy:?}");
}

/// Spare space is fitted to the published write amplification of one stream of random writes, 2.0 and 3.5; all else
/// follows. Published for three streams: 2.58 and 4.49 (uniform), 1.69 and 3.12 (80/20).
#[test]
fn drives_with_the_spare_of_two_measured_ones_have_their_order_under_three_streams() {
    let rules: [&[(&str, &str)]; 3] =
        [&[], &[("gc.victim_handle", "most-garbage")], &[("gc.victim_handle", "least-valid")]];
    let mut uniform = Vec::new();
    for rule in rules {
        let of_drive = |spare: (&str, &str)| {
            let changes = [&[spare], rule].concat();
            let three = |overwrites| three_streams(&changes, overwrites, QUEUE_DEPTH).0;
            (one_stream(&changes), three(Overwrites::Uniform), three(Overwrites::EightyTwenty))
        };
        let (better, worse) = (of_drive(MUCH_SPARE), of_drive(LITTLE_SPARE));
        println!("{rule:?}: one stream, uniform, 80/20: {better:.2?} and {worse:.2?}");
        assert!((better.0 / 2.0 - 1.0).abs() < 0.03, "{better:?}");
        assert!((worse.0 / 3.5 - 1.0).abs() < 0.07, "{worse:?}");
        assert!(worse.1 > 1.5 * better.1, "{worse:?} and {better:?}");
        assert!(better.2 < better.1 && worse.2 < worse.1, "{better:?} and {worse:?}");
        uniform.push((worse.1, better.2));
    }
    let [all, most_garbage, least_valid] = uniform[..] else { unreachable!("three rules") };
    assert!(most_garbage.0 > 1.15 * all.0, "{most_garbage:?} against {all:?}");
    assert!(least_valid.1 > 1.15 * all.1, "{least_valid:?} against {all:?}");
}
