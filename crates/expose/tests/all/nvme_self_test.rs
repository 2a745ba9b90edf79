//! Self-tests of a drive over NVMe/TCP: their results, their progress, and the events that end them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use expose::{Pace, SharedDisk};
use nvme::command::{Command, admin, nvm};
use nvme::identify::{IdentifyController, structure};
use nvme::log::{SmartLog, page};
use nvme::self_test::{Failure, LOG_BYTES, SelfTestLog, SelfTestResult, code, outcome};
use nvme::status::CommandStatus;

use crate::client::{config, disk};
use crate::nvme_host::{Host, Place, blocks, command, digests, serve_nvme};

/// A slowdown at which an extended test takes half a minute and a short one a second.
const SLOW: Pace = Pace::Real { slowdown: 100 };
/// Longest wait for an event.
const PATIENCE: Duration = Duration::from_secs(60);

fn with_drive(pace: Pace, work: impl FnOnce(&Place, &SharedDisk)) {
    let config = config(&[("interface.logical_block_bytes", "512")]);
    let shared = Arc::new(SharedDisk::new(disk(config), pace));
    serve_nvme(&shared, &[], 8, |place| work(place, &shared));
}

fn test(code: u8, namespace_id: u32) -> Command {
    command(admin::SELF_TEST, namespace_id, [code.into(), 0, 0, 0, 0, 0], 0)
}

fn start(host: &mut Host, code: u8) {
    assert_eq!(host.admin.execute(test(code, 1), &[]), Ok((0, Vec::new())), "{code:#x}");
}

fn log(host: &mut Host) -> SelfTestLog {
    SelfTestLog::decode(&host.log(page::SELF_TEST, LOG_BYTES as u32).expect("a log"))
}

/// Codes and outcomes, the newest first.
fn ends(host: &mut Host) -> Vec<(u8, u8)> {
    let SelfTestLog { running, results } = log(host);
    assert_eq!(running, None);
    results.iter().map(|result| (result.code, result.outcome)).collect()
}

#[test]
fn both_tests_pass_and_read_what_they_say() {
    with_drive(Pace::Fast, |place, shared| {
        let mut host = Host::connect(place, digests(true));
        let mut queue = host.queue(1);
        let controller = host.identify(structure::CONTROLLER, 0).expect("an answer");
        // OACS, and one test at a time in the subsystem.
        assert_eq!((controller[256] & 1 << 4, controller[318]), (1 << 4, 1));
        assert_eq!(IdentifyController::decode(&controller).extended_self_test_min, 1);
        assert_eq!(log(&mut host), SelfTestLog::default());
        let data = vec![3; 1 << 20];
        let blocks_all = shared.with(|disk| disk.shape().capacity_bytes) / 512;
        for start in (0..blocks_all - 2048).step_by(2048) {
            queue.execute(blocks(nvm::WRITE, start, 2048, 0, 0), &data).expect("it is written");
        }
        queue.execute(command(nvm::FLUSH, 1, [0; 6], 0), &[]).expect("it is in NAND");
        let reads = |shared: &SharedDisk| {
            shared.with(|disk| (disk.totals().telemetry.die_busy_ns, disk.drive().now().0))
        };
        let smart = SmartLog::decode(&host.log(page::SMART, 512).expect("a log"));
        let before = reads(shared);
        start(&mut host, code::SHORT);
        let between = reads(shared);
        start(&mut host, code::EXTENDED);
        let after = reads(shared);
        let (short, extended) = (between.0 - before.0, after.0 - between.0);
        let (short_ns, extended_ns) = (between.1 - before.1, after.1 - between.1);
        assert!(short > 0 && extended > 20 * short, "{before:?} {between:?} {after:?}");
        assert!(extended_ns > 10 * short_ns, "{before:?} {between:?} {after:?}");
        let result = |code| SelfTestResult {
            code,
            outcome: outcome::PASSED,
            power_on_hours: 0,
            namespace_id: 1,
            failure: None,
        };
        let results = [result(code::EXTENDED), result(code::SHORT)].to_vec();
        assert_eq!(log(&mut host), SelfTestLog { running: None, results });
        let later = SmartLog::decode(&host.log(page::SMART, 512).expect("a log"));
        assert_eq!(later.host_reads, smart.host_reads, "no host has read");

        // A test of the controller alone reads nothing.
        assert_eq!(host.admin.execute(test(code::EXTENDED, 0), &[]), Ok((0, Vec::new())));
        assert_eq!((reads(shared), log(&mut host).results[0].namespace_id), (after, 0));
        for _ in 0..30 {
            start(&mut host, code::SHORT);
        }
        assert_eq!(
            ends(&mut host),
            [(code::SHORT, outcome::PASSED); 20],
            "as many as it has room for"
        );
    });
}

#[test]
fn a_block_that_cannot_be_read_fails_the_test_that_reads_it() {
    with_drive(Pace::Fast, |place, shared| {
        let mut host = Host::connect(place, digests(false));
        let mut queue = host.queue(1);
        let bytes = shared.with(|disk| disk.shape().capacity_bytes);
        // In the middle of the 43rd part, of which the short test reads the begin.
        let block = (bytes / 100 * 42 + bytes / 200) / 512;
        queue.execute(blocks(nvm::WRITE_UNCORRECTABLE, block, 1, 0, 0), &[]).expect("a block");
        start(&mut host, code::SHORT);
        start(&mut host, code::EXTENDED);
        assert_eq!(
            ends(&mut host),
            [(code::EXTENDED, outcome::FAILED), (code::SHORT, outcome::PASSED)]
        );
        let failure = Failure { segment: 43, block, status: CommandStatus(0x0281) };
        assert_eq!(log(&mut host).results[0].failure, Some(failure));
        queue.execute(blocks(nvm::WRITE, block, 1, 0, 0), &[1; 512]).expect("it is written");
        start(&mut host, code::EXTENDED);
        assert_eq!(ends(&mut host)[0], (code::EXTENDED, outcome::PASSED));
    });
}

#[test]
fn wrong_fields_of_a_test_have_their_status() {
    with_drive(Pace::Fast, |place, _| {
        let mut host = Host::connect(place, digests(false));
        for (test, status) in [
            (test(code::SHORT, 2), CommandStatus::INVALID_NAMESPACE),
            (test(0, 1), CommandStatus::INVALID_FIELD),
            (test(3, 1), CommandStatus::INVALID_FIELD),
        ] {
            assert_eq!(host.admin.execute(test, &[]), Err(status), "{test:?}");
        }
        // Nothing is there to end, which is no fault.
        start(&mut host, code::ABORT);
        assert_eq!(ends(&mut host), []);
    });
}

#[test]
fn a_test_tells_its_progress_and_ends_by_the_events_of_the_specification() {
    with_drive(SLOW, |place, _| {
        let mut host = Host::connect(place, digests(false));
        let mut queue = host.queue(1);
        start(&mut host, code::EXTENDED);
        let refused = host.admin.execute(test(code::SHORT, 1), &[]);
        assert_eq!(refused, Err(CommandStatus::SELF_TEST));
        let end = Instant::now() + PATIENCE;
        let mut seen = Vec::new();
        while seen.len() < 4 {
            let (code, percent) = log(&mut host).running.expect("it goes on");
            assert_eq!(code, code::EXTENDED);
            if seen.last() != Some(&percent) {
                seen.push(percent);
            }
            assert!(Instant::now() < end, "{seen:?}");
        }
        assert!(seen.is_sorted() && seen[3] < 100, "{seen:?}");
        // The host is served meanwhile.
        assert_eq!(queue.execute(blocks(nvm::READ, 0, 8, 0, 4096), &[]), Ok((0, vec![0; 4096])));
        start(&mut host, code::ABORT);
        let mut expected = vec![(code::EXTENDED, outcome::ABORTED)];
        assert_eq!(ends(&mut host), expected);

        start(&mut host, code::EXTENDED);
        let format = command(admin::FORMAT, 1, [0; 6], 0);
        assert_eq!(host.admin.execute(format, &[]), Ok((0, Vec::new())));
        expected.insert(0, (code::EXTENDED, outcome::FORMATTED));
        assert_eq!(ends(&mut host), expected);

        // A reset ends the short one alone.
        start(&mut host, code::EXTENDED);
        host.enable(false);
        host.enable(true);
        assert!(log(&mut host).running.is_some());
        start(&mut host, code::ABORT);
        start(&mut host, code::SHORT);
        host.enable(false);
        host.enable(true);
        expected.insert(0, (code::EXTENDED, outcome::ABORTED));
        expected.insert(0, (code::SHORT, outcome::RESET));
        assert_eq!(ends(&mut host), expected);

        // And so does the end of the association.
        let mut other = Host::connect(place, digests(false));
        start(&mut other, code::SHORT);
        drop(other);
        expected.insert(0, (code::SHORT, outcome::RESET));
        while log(&mut host).running.is_some() {
            assert!(Instant::now() < end, "the server has not noticed");
        }
        assert_eq!(ends(&mut host), expected);

        start(&mut host, code::SHORT);
        let sanitize = command(admin::SANITIZE, 0, [2, 0, 0, 0, 0, 0], 0);
        assert_eq!(host.admin.execute(sanitize, &[]), Ok((0, Vec::new())));
        expected.insert(0, (code::SHORT, outcome::SANITIZED));
        assert_eq!(ends(&mut host), expected);
    });
}

/// Zones are read as far as they can be written, and one that is out of use is left out.
#[test]
fn a_drive_with_zones_tests_itself() {
    let shared = crate::nvme_zones::drive(Pace::Fast);
    serve_nvme(&shared, &[], 8, |place| {
        let mut host = Host::connect(place, digests(false));
        assert!(shared.with(|disk| disk.drive_mut().retire_zone(7, true)));
        start(&mut host, code::SHORT);
        start(&mut host, code::EXTENDED);
        assert_eq!(
            ends(&mut host),
            [(code::EXTENDED, outcome::PASSED), (code::SHORT, outcome::PASSED)]
        );
    });
}
