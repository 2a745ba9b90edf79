//! A client of NBD for tests, written from the protocol and not from the server, and small drives.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::ops::Range;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::{Ratio, Rng};
use expose::nbd::Export;
use expose::plan::Shape;
use expose::request::Action;
use expose::server::Clients;
use expose::shared::RequestToken;
use expose::{Address, Contents, Disk, Pace, Server, Service, SharedDisk};
use sim::{Config, Model};

/// The number in a variable, or `None` if it has none.
pub(crate) fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Seeds of random cases: that of `SSDLAB_TEST_SEED`, else as many as `SSDLAB_TEST_CASES` says, `full` of them in a
/// full check, and else the `usual` number.
pub(crate) fn seeds(usual: u64, full: u64) -> Range<u64> {
    let count = if number("SSDLAB_TEST_FULL") == Some(1) { full } else { usual };
    let count = number("SSDLAB_TEST_CASES").unwrap_or(count);
    number("SSDLAB_TEST_SEED").map_or(0..count, |seed| seed..seed + 1)
}

/// A drive of about 120 MB with these changes to its model.
pub(crate) fn config(changes: &[(&str, &str)]) -> Config {
    config_of("corsair-neutron-240gb", changes, 2000)
}

/// A drive of about 200 MB that can lose its power, with these changes to its model.
pub(crate) fn cuttable(changes: &[(&str, &str)]) -> Config {
    let mapping = [
        ("mapping.entry_bytes", "8"),
        ("mapping.map_entry_bytes", "4"),
        ("mapping.journal_superblocks", "4"),
        ("capacity_gb", "200"),
    ];
    config_of("samsung-840-pro-256gb", &[&mapping, changes].concat(), 1024)
}

pub(crate) fn config_of(name: &str, changes: &[(&str, &str)], divisor: u64) -> Config {
    let text = sim::model::built_in(name).expect("a built-in model");
    let changes: Vec<_> =
        changes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let model = Model::load(name, text, &changes).expect("a valid model");
    model.resolve(Ratio::new(1, divisor).expect("a ratio")).expect("a drive")
}

/// An empty disk in memory.
pub(crate) fn disk<T>(config: Config) -> Disk<T> {
    let shape = Shape::of(&config);
    let contents = Contents::in_memory(shape, shape.capacity_bytes).expect("memory");
    Disk::new(config, contents)
}

/// One of several drives with other blocks and pages, with and without TRIM.
pub(crate) fn disk_of(rng: &mut Rng) -> Disk<RequestToken> {
    let block = ("interface.logical_block_bytes", ["512", "4096"][rng.below(2) as usize]);
    let page = ("map.unit_bytes", ["4096", "16384"][rng.below(2) as usize]);
    let trim = ("interface.deallocate", ["works", "works", "ignored"][rng.below(3) as usize]);
    disk(config(&[block, page, trim]))
}

/// Serves a disk at a path while `work` lasts.
pub(crate) fn serve(
    disk: Disk<RequestToken>,
    pace: Pace,
    work: impl FnOnce(&Path),
) -> Disk<RequestToken> {
    let shared = Arc::new(SharedDisk::new(disk, pace));
    serve_to(&shared, 16, work);
    Arc::into_inner(shared).expect("nobody else has it").into_disk()
}

/// The same to so many connections at a time; returns an account of them.
pub(crate) fn serve_to(shared: &Arc<SharedDisk>, most: usize, work: impl FnOnce(&Path)) -> Clients {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("nbd");
    let address = Address::Unix(path.clone());
    let shape = shared.with(|disk| *disk.shape());
    let service = Service::Nbd(Export::of(&shape, "a test".to_owned()));
    serve_at(&address, service, shared, most, || work(&path))
}

/// Serves at an address to so many connections at a time while `work` lasts. Returns an account of them.
pub(crate) fn serve_at(
    address: &Address,
    service: Service,
    shared: &Arc<SharedDisk>,
    most: usize,
    work: impl FnOnce(),
) -> Clients {
    let server = Server::bind(address, false, most, service, Arc::clone(shared));
    let server = server.expect("a path");
    let (stop, over) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let timekeeper = scope.spawn(|| shared.keep_time(&over));
        let server = scope.spawn(|| server.run(&stop));
        let worked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        stop.store(true, Ordering::Relaxed);
        let served = server.join().expect("the server does not panic");
        over.store(true, Ordering::Relaxed);
        timekeeper.join().expect("the timekeeper does not panic");
        worked.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        served
    })
}

/// A request that was sent.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) cookie: u64,
    pub(crate) action: Action,
    pub(crate) range: Range<u64>,
}

/// A connection with structured replies.
pub(crate) struct Client {
    stream: UnixStream,
    out: Vec<u8>,
    cookie: u64,
    page_bytes: u64,
    can_trim: bool,
}

fn string(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_be_bytes(), bytes].concat()
}

/// An option as a client sends it.
pub(crate) fn option(number: u32, data: &[u8]) -> Vec<u8> {
    [b"IHAVEOPT", &number.to_be_bytes()[..], &string(data)].concat()
}

/// The words of a client before its requests: structured replies, `base:allocation`, and go.
pub(crate) fn hello() -> Vec<u8> {
    let contexts = [string(b""), 1_u32.to_be_bytes().to_vec(), string(b"base:allocation")].concat();
    let go = [string(b""), 0_u16.to_be_bytes().to_vec()].concat();
    [3_u32.to_be_bytes().to_vec(), option(8, b""), option(10, &contexts), option(7, &go)].concat()
}

/// The head of a request.
pub(crate) fn head(command: u16, flags: u16, cookie: u64, offset: u64, bytes: u32) -> Vec<u8> {
    let mut head = 0x2560_9513_u32.to_be_bytes().to_vec();
    head.extend(flags.to_be_bytes());
    head.extend(command.to_be_bytes());
    head.extend(cookie.to_be_bytes());
    head.extend(offset.to_be_bytes());
    head.extend(bytes.to_be_bytes());
    head
}

impl Client {
    pub(crate) fn connect(path: &Path) -> Self {
        let mut stream = UnixStream::connect(path).expect("a server");
        stream.write_all(&hello()).expect("it listens");
        let mut client =
            Self { stream, out: Vec::new(), cookie: 0, page_bytes: 0, can_trim: false };
        assert_eq!(&client.take(16), b"NBDMAGICIHAVEOPT");
        client.take(2);
        loop {
            let head = client.take(20);
            let number = |at: usize| u32::from_be_bytes(head[at..at + 4].try_into().unwrap());
            let (option, kind) = (number(8), number(12));
            let data = client.take(number(16) as usize);
            match (option, kind, &data[..]) {
                (7, 1, _) => return client,
                (7, 3, [0, 0, _, _, _, _, _, _, _, _, flags @ ..]) => {
                    client.can_trim = flags[1] & 32 != 0;
                }
                (7, 3, [0, 3, sizes @ ..]) => {
                    client.page_bytes = u32::from_be_bytes(sizes[4..8].try_into().unwrap()).into();
                }
                (_, kind, _) => assert!(kind >> 31 == 0, "option {option} fails: {data:?}"),
            }
        }
    }

    pub(crate) fn take(&mut self, bytes: usize) -> Vec<u8> {
        let mut taken = vec![0; bytes];
        self.stream.read_exact(&mut taken).expect("a reply");
        taken
    }

    /// Bytes that a trim of this range empties.
    pub(crate) fn trimmed(&self, range: &Range<u64>) -> Range<u64> {
        let first = range.start.next_multiple_of(self.page_bytes);
        let end = range.end / self.page_bytes * self.page_bytes;
        if self.can_trim && first < end { first..end } else { range.start..range.start }
    }

    /// Puts a request into the queue; a trim becomes a read where there is none.
    pub(crate) fn send(
        &mut self,
        action: Action,
        range: Range<u64>,
        fua: bool,
        data: &[u8],
    ) -> Sent {
        let action = if action == Action::Trim && !self.can_trim { Action::Read } else { action };
        let (command, mut flags) = match action {
            Action::Read => (0, 0),
            Action::Write => (1, 0),
            Action::Flush => (3, 0),
            Action::Trim => (4, 0),
            Action::Fetch => (5, 0),
            Action::Zero { keeps_pages } => (6, 2 * u16::from(keeps_pages)),
            _ => panic!("NBD has no such command"),
        };
        flags |= u16::from(fua);
        self.cookie += 1;
        let cookie = self.cookie;
        let (offset, bytes) =
            if action == Action::Flush { (0, 0) } else { (range.start, range.end - range.start) };
        self.out.extend(head(command, flags, cookie, offset, bytes as u32));
        self.out.extend(data);
        Sent { cookie, action, range }
    }

    /// Sends the queue.
    pub(crate) fn push(&mut self) {
        self.stream.write_all(&self.out).expect("the server listens");
        self.out.clear();
    }

    /// The data that each of these has read, in their order; all must succeed.
    pub(crate) fn replies(&mut self, sent: &[Sent]) -> Vec<Vec<u8>> {
        let data = self.outcomes(sent).into_iter();
        data.map(|data| data.unwrap_or_else(|errno| panic!("errno {errno}"))).collect()
    }

    /// The data that each of these has read, in their order, or its errno.
    pub(crate) fn outcomes(&mut self, sent: &[Sent]) -> Vec<Result<Vec<u8>, u32>> {
        let bytes = |sent: &Sent| match sent.action {
            Action::Read => vec![0xee; (sent.range.end - sent.range.start) as usize],
            _ => Vec::new(),
        };
        let mut open: HashMap<u64, usize> =
            sent.iter().enumerate().map(|(index, sent)| (sent.cookie, index)).collect();
        let mut data: Vec<Result<_, _>> = sent.iter().map(|sent| Ok(bytes(sent))).collect();
        while !open.is_empty() {
            let (cookie, is_done, chunk) = self.chunk();
            let index = open[&cookie];
            if let Chunk::Data(offset, chunk) = &chunk
                && let Ok(data) = &mut data[index]
            {
                let place = (offset - sent[index].range.start) as usize;
                data[place..place + chunk.len()].copy_from_slice(chunk);
            }
            if let Chunk::Error(errno) = chunk {
                data[index] = Err(errno);
            }
            if is_done {
                open.remove(&cookie);
            }
        }
        data
    }

    /// The next reply: cookie, whether it is the last of its request, and content.
    fn chunk(&mut self) -> (u64, bool, Chunk) {
        let number = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().unwrap());
        let magic = self.take(4);
        if magic == 0x6744_6698_u32.to_be_bytes() {
            let rest = self.take(12);
            let cookie = u64::from_be_bytes(rest[4..].try_into().unwrap());
            let errno = number(&rest[..4]);
            return (cookie, true, if errno == 0 { Chunk::Nothing } else { Chunk::Error(errno) });
        }
        assert_eq!(magic, 0x668e_33ef_u32.to_be_bytes());
        let head = self.take(16);
        let cookie = u64::from_be_bytes(head[4..12].try_into().unwrap());
        let data = self.take(number(&head[12..]) as usize);
        let is_done = head[1] & 1 != 0;
        let offset = || u64::from_be_bytes(data[..8].try_into().unwrap());
        let chunk = match (head[2], head[3]) {
            (0, 1) => Chunk::Data(offset(), data[8..].to_vec()),
            (0, 2) => Chunk::Data(offset(), vec![0; number(&data[8..12]) as usize]),
            (0, 0) => Chunk::Nothing,
            (0x80, 1) => Chunk::Error(number(&data[..4])),
            kind => panic!("a reply of kind {kind:?}: {data:?}"),
        };
        (cookie, is_done, chunk)
    }
}

/// The content of a reply.
enum Chunk {
    /// Bytes from an offset on.
    Data(u64, Vec<u8>),
    /// An errno.
    Error(u32),
    /// That it is done.
    Nothing,
}
