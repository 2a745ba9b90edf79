//! Command lines drawn at random: sensible ones, careless ones and nonsense.

use std::fmt;
use std::fs;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::random::Random;
use super::things::Thing;
use super::verbs::{RESUME, SIGNATURES, Verb};
use super::world::World;
use super::writers::{Line, SERVED};
use crate::loop_device::tool;

/// Longer calls are killed, as by a user.
const TIME_MAX: Duration = Duration::from_secs(3);

/// Targets outside the world of the test.
const OTHERS: [&str; 7] = [
    "sim:ideal",
    "null:?size=8MiB",
    "file:own/new?size=8MiB",
    "file:own/kept?size=8MiB&keep=true",
    "/dev/ssdlab-no-such-device",
    "/dev/null",
    "file:own",
];

/// Places that calls may fill, emptied after each.
const OWN: [&str; 8] =
    ["own/new", "own/kept", "own/journal", "own/out", "own/dir", "own/state", "own/v", "own/nbd"];

const WORDS: [&str; 5] = ["", "/dev/sda", "S3RIAL", "own/new", "/"];

/// The end of a call.
pub(super) struct End {
    /// Its exit code, or `None` if it was killed.
    pub(super) code: Option<i32>,
    /// Whether it served a drive, and was asked to end.
    pub(super) served: bool,
}

/// One command line, with the things that it releases.
pub(super) struct Call {
    /// Whether it would serve a thing in use.
    pub(super) must_not_serve: bool,
    arguments: Vec<String>,
    targets: Vec<String>,
    words: Vec<String>,
    verb: &'static Verb,
}

impl Call {
    pub(super) fn draw(random: &mut Random, world: &World) -> Self {
        let (verb, must_not_serve) = (Verb::draw(random), false);
        let (targets, words) = (Vec::new(), Vec::new());
        let mut call = Self { must_not_serve, arguments: Vec::new(), targets, words, verb };
        if verb.words.is_empty() {
            let line = Line::draw(random, world);
            call.must_not_serve = line.names_used;
            call.arguments = line.words;
            return call;
        }
        call.say(verb.words);
        let wanted = *random.one_of(&[1, 1, 1, 1, 2, 2, 3]);
        for _ in 0..wanted.min(verb.targets_max) {
            call.target(random, world);
        }
        for flag in verb.flags {
            // It goes with a confirmation only.
            let is_second = flag[0] == SIGNATURES && !call.words.is_empty();
            if random.chance(if is_second { 60 } else { 8 }) {
                call.say(flag);
            }
        }
        call.outputs(random, world);
        call
    }

    fn say(&mut self, words: &[&str]) {
        self.arguments.extend(words.iter().map(|&word| word.to_owned()));
    }

    /// A target, by any of its names, and perhaps a confirmation for it or for another one.
    fn target(&mut self, random: &mut Random, world: &World) {
        if random.chance(12) {
            let other = (*random.one_of(&OTHERS)).to_owned();
            self.arguments.push(other.clone());
            self.targets.push(other);
            return;
        }
        let thing = random.one_of(&world.things);
        let name = random.one_of(&thing.names);
        let size = random.one_of(&["", "", "", "?size=4MiB", "?size=12MiB", "?keep=true"]);
        let query = if name.target.starts_with("file:") { *size } else { "" };
        self.targets.push(name.target.clone());
        self.arguments.push(format!("{}{query}", name.target));
        match random.below(10) {
            0 => {}
            1 => self.word(WORDS[random.below(WORDS.len())]),
            2 => {
                let wrong = random.one_of(&world.things);
                self.word(&random.one_of(&wrong.names).word);
            }
            3 => self.word(name.path()),
            4 => self.word(&random.one_of(&thing.names).word),
            _ => self.word(&name.word),
        }
    }

    fn word(&mut self, word: &str) {
        self.words.push(word.to_owned());
        self.say(&["--erase", word]);
    }

    /// Adds the destinations of results: unused places, and existing things.
    fn outputs(&mut self, random: &mut Random, world: &World) {
        let used: Vec<_> = world.things.iter().filter(|thing| thing.used).collect();
        let victim = random.one_of(&used);
        let path = random.one_of(&victim.names).path();
        let library = match random.below(8) {
            0 => path.to_owned(),
            1 => victim.mount_point(),
            _ => "own/runs".to_owned(),
        };
        let verb = self.verb.words[0];
        if verb == "verify" {
            self.say(&["--journal", if random.chance(20) { path } else { "own/journal" }]);
        } else {
            self.say(&["--library", &library]);
        }
        if ["review", "report"].contains(&verb) {
            self.say(&["-o", if random.chance(40) { path } else { "own/report.html" }]);
        }
    }

    /// Makes the call.
    pub(super) fn make(&self, world: &World) -> End {
        let mut command = Command::new(crate::lab::binary());
        command.args(&self.arguments).current_dir(world.dir());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("starts");
        let end = Instant::now() + TIME_MAX;
        let mut status = child.try_wait().expect("a child");
        let mut served = false;
        while status.is_none()
            && Instant::now() < end + if served { TIME_MAX } else { Duration::ZERO }
        {
            sleep(Duration::from_millis(5));
            status = child.try_wait().expect("a child");
            if !served && UnixStream::connect(world.dir().join(SERVED)).is_ok() {
                served = true;
                tool("kill", &["-TERM", &child.id().to_string()]);
            }
        }
        if status.is_none() {
            child.kill().expect("SIGKILL is sent");
            status = Some(child.wait().expect("ends"));
        }
        for left in OWN {
            // Most calls leave none.
            let _ = fs::remove_file(world.dir().join(left));
            let _ = fs::remove_dir_all(world.dir().join(left));
        }
        End { code: status.and_then(|status| status.code()), served }
    }

    /// Whether the call may have changed the thing: it is free, a target and confirmed, with a
    /// second consent if its content needs one.
    pub(super) fn was_given(&self, thing: &Thing) -> bool {
        if thing.used {
            return false;
        }
        if self.verb.words.contains(&RESUME) {
            return thing.was_given_before;
        }
        let signatures = self.arguments.iter().any(|word| word == SIGNATURES);
        let is_target = |target: &String| thing.names.iter().any(|name| name.target == *target);
        self.verb.writes
            && self.targets.iter().any(is_target)
            && self.words.iter().any(|word| thing.is_named_by(word))
            && (signatures || !thing.signed)
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ssdlab {}", self.arguments.join(" "))
    }
}
