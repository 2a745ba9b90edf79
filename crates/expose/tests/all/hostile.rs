//! Hostile and careless clients: each loses its own connection at most, and the others go on.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use expose::request::Action;
use expose::{Pace, SharedDisk};

use crate::client::{Client, config, disk, head, hello, option, serve_to};

/// Serves `work`, and then a client that finds the disk in order, on each clock; at most two clients at a time. Returns
/// the account of the clients on the fast clock.
fn others_go_on(work: impl Fn(&Path, &mut Client)) -> expose::server::Clients {
    let [fast, real] = [Pace::Fast, Pace::Real { slowdown: 1 }].map(|pace| {
        let shared = Arc::new(SharedDisk::new(disk(config(&[])), pace));
        let clients = serve_to(&shared, 2, |path| {
            let mut good = Client::connect(path);
            work(path, &mut good);
            let write = good.send(Action::Write, 5000..9000, true, &[7; 4000]);
            good.push();
            good.replies(&[write]);
            let read = good.send(Action::Read, 4096..12288, false, &[]);
            good.push();
            let data = good.replies(&[read]).remove(0);
            assert_eq!(data[904..4904], [7; 4000]);
            assert!(data[..904].iter().chain(&data[4904..]).all(|&byte| byte == 0));
        });
        let disk = Arc::into_inner(shared).expect("nobody else has it").into_disk();
        disk.drive().check().expect("the drive is sound");
        clients
    });
    assert_eq!(fast.broken, real.broken, "{fast:?} {real:?}");
    fast
}

/// Sends these bytes and nothing more, and returns the end of what the server says.
fn answer(path: &Path, bytes: &[u8]) -> Vec<u8> {
    let mut stream = UnixStream::connect(path).expect("a server");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket");
    // The server may have ended the connection already.
    let _ = stream.write_all(bytes).and_then(|()| stream.shutdown(Shutdown::Write));
    let mut all = Vec::new();
    // So may the system, for bytes that nobody has read.
    let _ = stream.read_to_end(&mut all);
    all
}

/// Waits until the server has room for one more client, which it looks for after the end of another.
fn room(path: &Path) {
    let end = Instant::now() + Duration::from_secs(20);
    while answer(path, &[]).is_empty() {
        assert!(Instant::now() < end, "the server takes no more clients");
    }
}

#[test]
fn bytes_of_another_protocol_end_the_connection() {
    let clients = others_go_on(|path, _| {
        let greeting = 18;
        assert_eq!(answer(path, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").len(), greeting);
        room(path);
        let mut wrong = hello();
        wrong.extend(head(0, 0, 1, 0, 4096));
        wrong.extend([0xff; 28]);
        let all = answer(path, &wrong);
        assert!(all.len() > 4096 || all.len() > greeting + 100, "the first read has an answer");
        room(path);
        let long =
            [&3_u32.to_be_bytes()[..], b"IHAVEOPT", &7_u32.to_be_bytes(), &[0xff; 4]].concat();
        assert_eq!(answer(path, &long).len(), greeting);
        room(path);
        let endless = [3_u32.to_be_bytes().to_vec(), option(99, b"").repeat(2000)].concat();
        answer(path, &endless);
        room(path);
    });
    assert_eq!(clients.broken, 4, "{clients:?}");
}

#[test]
fn a_client_may_go_at_any_byte() {
    let mut all = hello();
    all.extend(head(1, 1, 1, 8192, 600));
    all.extend([1; 600]);
    all.extend(head(0, 0, 2, 8192, 4096));
    let clients = others_go_on(|path, _| {
        for end in (0..all.len()).step_by(7).chain(all.len() - 30..all.len()) {
            room(path);
            answer(path, &all[..end]);
        }
        room(path);
    });
    assert_eq!(clients.broken, 0, "to go is no fault: {clients:?}");
}

#[test]
fn lengths_and_places_outside_the_disk_are_refused() {
    others_go_on(|path, _| {
        let capacity_bytes = crate::client::disk::<u64>(config(&[])).shape().capacity_bytes;
        let cases = [
            (0, 0, capacity_bytes, 512, 22),
            (0, 0, u64::MAX, 512, 22),
            (0, 0, 0, 64 << 20, 75),
            (0, 0, 0, 0, 22),
            (4, 0, capacity_bytes - 1, 4096, 28),
            (6, 0, u64::MAX - 1, 4, 22),
            (6, 1 << 4, 0, 4096, 22),
            (7, 0, capacity_bytes, 1, 22),
            (8, 0, 0, 0, 22),
            (77, 0, 0, 0, 22),
        ];
        for (command, flags, offset, bytes, errno) in cases {
            room(path);
            let request = head(command, flags, 5, offset, bytes);
            let all = answer(path, &[hello(), request].concat());
            let reply = &all[all.len() - 26..];
            assert_eq!(reply[..4], 0x668e_33ef_u32.to_be_bytes(), "command {command}");
            assert_eq!(
                reply[20..24],
                u32::to_be_bytes(errno),
                "command {command} {offset} {bytes}"
            );
        }
        room(path);
        // Its data would never end; nothing is kept for it.
        answer(path, &[hello(), head(1, 0, 1, 0, u32::MAX)].concat());
        room(path);
    });
}

#[test]
fn who_reads_no_replies_stops_nobody() {
    others_go_on(|path, good| {
        let mut stream = UnixStream::connect(path).expect("a server");
        stream.write_all(&hello()).expect("it listens");
        stream.set_nonblocking(true).expect("a socket");
        let request = head(0, 0, 1, 0, 1 << 20);
        let (mut sent_bytes, since) = (0, Instant::now());
        while since.elapsed() < Duration::from_millis(500) {
            match stream.write(&request) {
                Ok(bytes) => sent_bytes += bytes,
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
        assert!(sent_bytes < 16 << 20, "the server takes requests without end");
        let read = good.send(Action::Read, 0..4096, false, &[]);
        good.push();
        assert_eq!(good.replies(&[read]), [vec![0; 4096]]);
        drop(stream);
        room(path);
    });
}

#[test]
fn ten_thousand_connections_are_bounded() {
    let clients = others_go_on(|path, _| {
        let mut held = Vec::new();
        for _ in 0..10_000 {
            held.extend(UnixStream::connect(path));
            if held.len() > 200 {
                held.clear();
            }
        }
        drop(held);
        room(path);
    });
    assert!(clients.turned_away > 5_000, "{clients:?}");
}
