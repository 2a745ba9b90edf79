//! Command lines that write to a place of the user's choice: outputs, contents, states, sockets,
//! journals, libraries, directories.

use super::random::Random;
use super::world::World;

/// A drive of 250 MB.
pub(super) const DRIVE: &str = "sim:samsung-840-pro-256gb?scale=1/1024";

/// Socket of a drive that a call serves.
pub(super) const SERVED: &str = "own/nbd";

/// `OUT` stands for a file, `DIR` for a directory, `NODE` for a device, `URL` for a server.
const LINES: &[&str] = &[
    "report latest --library own/runs --web page.html -o OUT",
    "library export latest --library own/runs --as csv -o OUT",
    "library export latest --library own/runs --as parquet -o OUT",
    "library export latest --library own/runs --as fio-json --split -o OUT",
    "library export latest --library own/runs --as fio-json --split -o DIR",
    "trace import two.trace -o OUT",
    "trace model two.trace -o OUT",
    "trace convert two.trace --to iolog -o OUT",
    "trace synth light-2011 --scale 1/1000 -o OUT",
    "trace record NODE --duration 100ms -o OUT",
    "workload import job.fio -o OUT",
    "workload export log --as fio -o OUT",
    "review DRIVE --quick --only latency --library own/runs --web page.html -o OUT",
    "sim expose DRIVE --no-run --nbd own/nbd --contents OUT",
    "sim expose DRIVE --no-run --nbd own/nbd --contents OUT --state own/state",
    "sim expose DRIVE --no-run --nbd own/nbd --state OUT",
    "sim expose DRIVE --no-run --nbd own/nbd --control OUT",
    "sim expose DRIVE --no-run --nbd own/nbd --fuse DIR",
    "sim expose DRIVE --nbd own/nbd --library DIR",
    "sim expose DRIVE --no-run --nbd OUT",
    "sim save control OUT",
    "sim load control OUT",
    "verify file:own/v?size=1MiB --writes 16 --journal OUT",
    "run latency null:?size=8MiB --set time=1s --library DIR",
    "run latency null:?size=8MiB --set time=1s --library own/runs",
    "library import fio fio.json --library DIR",
    "library import fio OUT --library own/runs",
    "library build --drives *840-pro-256gb --tests latency --scale 1/1024 --library DIR",
    "library rm latest --library own/runs",
    "library rm OUT --library own/runs",
    "library note latest --note x --library DIR",
    "library rm a-run --library linked",
    "library rm linked/a-run --library own/runs",
    "library rm a-run --library other",
    "library site DIR --library own/runs",
    "library push URL latest --library own/runs --token-file token",
    "library push URL OUT --library own/runs --token-file token",
    "library push URL a-run --library linked --token-file OUT",
    "library serve --library DIR --listen 127.0.0.1:0 --token-file token --web page.html",
    "man DIR",
    "sim sweep sweep.toml --output DIR --quiet",
];

/// One line with its places.
pub(super) struct Line {
    pub(super) words: Vec<String>,
    /// Whether one of the places is a thing in use, which must not be served.
    pub(super) names_used: bool,
}

impl Line {
    pub(super) fn draw(random: &mut Random, world: &World) -> Self {
        let line = random.one_of(LINES);
        let used: Vec<_> = world.things.iter().filter(|thing| thing.used).collect();
        let thing = random.one_of(&used);
        let path = random.one_of(&thing.names).path().to_owned();
        let (out, names_used) = match random.below(8) {
            0 => ("own/out".to_owned(), false),
            1 => (random.one_of(&world.sockets).path.to_string_lossy().into_owned(), true),
            _ => (path, true),
        };
        let dir = match random.below(6) {
            0 => "own/dir".to_owned(),
            1 => "foreign".to_owned(),
            2 => thing.file.to_string_lossy().into_owned(),
            _ => thing.mount_point(),
        };
        let nodes: Vec<_> = world.things.iter().flat_map(|thing| &thing.nodes).collect();
        let node = random.one_of(&nodes).to_string_lossy().into_owned();
        let places = [
            ("OUT", &*out),
            ("DIR", &*dir),
            ("NODE", &*node),
            ("URL", &*world.url),
            ("DRIVE", DRIVE),
        ];
        let word = |word: &str| {
            let place = |word: String, (name, place): &(&str, &str)| word.replace(name, place);
            places.iter().fold(word.to_owned(), place)
        };
        let names_used = names_used && line.contains("OUT");
        Self { words: line.split(' ').map(word).collect(), names_used }
    }
}
