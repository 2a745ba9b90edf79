//! On the real clock answers come at their simulated times and idle time passes; on the fast one neither.

use std::sync::Arc;
use std::time::{Duration, Instant};

use expose::request::Action;
use expose::{Disk, Pace, SharedDisk};

use crate::client::{Client, config, disk, serve_to};

/// The time that reads one after the other take on the clock of the machine and on that of the drive.
fn reads(pace: Pace, count: u64) -> (Duration, Duration, Arc<SharedDisk>) {
    let shared = Arc::new(SharedDisk::new(disk(config(&[])), pace));
    let mut times = None;
    serve_to(&shared, 1, |path| {
        let mut client = Client::connect(path);
        let fill = client.send(Action::Write, 0..1 << 20, true, &[7; 1 << 20]);
        client.push();
        client.replies(&[fill]);
        let (start, drive_start) = (Instant::now(), shared.with(|disk| disk.drive().now()));
        for index in 0..count {
            let offset = index % 256 * 4096;
            let read = client.send(Action::Read, offset..offset + 4096, false, &[]);
            client.push();
            assert_eq!(client.replies(&[read])[0], [7; 4096]);
        }
        let drive_end = shared.with(|disk| disk.drive().now());
        times = Some((start.elapsed(), Duration::from_nanos(drive_end.0 - drive_start.0)));
    });
    let (machine, drive) = times.expect("it was served");
    (machine, drive, shared)
}

#[test]
fn answers_on_the_real_clock_are_never_early() {
    for slowdown in [1, 10] {
        let (machine, drive, shared) = reads(Pace::Real { slowdown }, 200);
        let on_drive = drive * slowdown;
        assert!(machine + Duration::from_millis(1) >= on_drive, "{machine:?} for {on_drive:?}");
        let lateness = shared.lateness();
        assert_eq!(lateness.count(), 201, "each answer has its lateness");
        assert!(lateness.max().is_some_and(|ns| ns > 0));
    }
}

#[test]
fn nobody_keeps_the_time_awake_when_no_event_is_near() {
    let shared = Arc::new(SharedDisk::new(disk(config(&[])), Pace::Real { slowdown: 1 }));
    serve_to(&shared, 2, |path| {
        let mut clients = [Client::connect(path), Client::connect(path)];
        for client in &mut clients {
            let read = client.send(Action::Read, 0..4096, false, &[]);
            client.push();
            client.replies(&[read]);
        }
        // Both stay connected. Whoever has the turn to keep the time spins; the timekeeper takes it for a moment.
        let end = Instant::now() + Duration::from_secs(20);
        while shared.take_turn().is_none() {
            assert!(Instant::now() < end, "somebody spins");
            std::thread::sleep(Duration::from_millis(1));
        }
    });
}

#[test]
fn time_without_requests_passes_on_the_real_clock_only() {
    for (pace, passes) in [(Pace::Real { slowdown: 1 }, true), (Pace::Fast, false)] {
        let shared = SharedDisk::new(disk(config(&[])), pace);
        let now = |shared: &SharedDisk| shared.with(|disk| disk.drive().now());
        let before = now(&shared);
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(now(&shared).0 - before.0 >= 20_000_000, passes, "{pace}");
    }
}

#[test]
fn requests_of_several_clients_are_outstanding_together_on_the_real_clock() {
    let shared = Arc::new(SharedDisk::new(disk(config(&[])), Pace::Real { slowdown: 1000 }));
    serve_to(&shared, 4, |path| {
        let mut clients: Vec<_> = (0..4).map(|_| Client::connect(path)).collect();
        let sent: Vec<_> = clients
            .iter_mut()
            .map(|client| {
                let read = client.send(Action::Read, 0..4096, false, &[]);
                client.push();
                read
            })
            .collect();
        let end = Instant::now() + Duration::from_secs(20);
        while shared.with(|disk| disk.outstanding()) < 4 {
            assert!(Instant::now() < end, "they are served one after the other");
            std::thread::sleep(Duration::from_millis(1));
        }
        for (client, sent) in clients.iter_mut().zip(sent) {
            client.replies(&[sent]);
        }
    });
    assert_eq!(shared.with(|disk: &mut Disk<_>| disk.outstanding()), 0);
}
