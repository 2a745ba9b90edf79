//! Tries a target for a while with changed seeds, on any toolchain: no coverage to guide it, but the same targets and
//! the same verdict as with libFuzzer. An input that panics, or takes too long, is written to `fuzz/artifacts/` and
//! the exit code says so; the address space is limited, so that one that asks for much memory ends the program too.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base::Rng;
use fuzz::{TARGETS, Target, mutate::mutate};
use rustix::process::{Resource, Rlimit, setrlimit};

/// The most time that an input may take.
const INPUT_SECONDS_MAX: u64 = 10;
const ADDRESS_SPACE_BYTES: u64 = 4 << 30;

/// The input under way and when it began.
type UnderWay = Arc<Mutex<(Instant, Vec<u8>)>>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, default: u64| {
        args.get(index).map_or(Some(default), |text| text.parse().ok())
    };
    let target = args.first().and_then(|name| Target::find(name));
    let (Some(target), Some(seconds), Some(seed)) = (target, number(1, 60), number(2, 1)) else {
        let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
        eprintln!("usage: driver TARGET [SECONDS [SEED]]; targets are {}", names.join(", "));
        return ExitCode::from(2);
    };
    let limit = Rlimit { current: Some(ADDRESS_SPACE_BYTES), maximum: Some(ADDRESS_SPACE_BYTES) };
    setrlimit(Resource::As, limit).expect("a limit may always be lowered");
    // Panics are expected in decoders that are guarded; only those that come through count.
    std::panic::set_hook(Box::new(|_| {}));
    drive(target, Duration::from_secs(seconds), seed)
}

fn drive(target: &'static Target, time: Duration, seed: u64) -> ExitCode {
    let seeds = target.seeds();
    let mut rng = Rng::new(seed);
    let under_way: UnderWay = Arc::new(Mutex::new((Instant::now(), Vec::new())));
    watch(target.name, Arc::clone(&under_way));
    let start = Instant::now();
    let mut inputs = 0_u64;
    while start.elapsed() < time {
        let mut input = seeds[rng.below(seeds.len() as u64) as usize].clone();
        let other = &seeds[rng.below(seeds.len() as u64) as usize];
        if inputs >= seeds.len() as u64 {
            mutate(&mut input, other, &mut rng);
        }
        *under_way.lock().expect("no panic while it is held") = (Instant::now(), input.clone());
        if catch_unwind(AssertUnwindSafe(|| target.run(&input))).is_err() {
            return failed(target.name, "panicked", &input);
        }
        inputs += 1;
    }
    println!("{}: {inputs} inputs in {:.0?}, seed {seed}", target.name, start.elapsed());
    ExitCode::SUCCESS
}

/// Ends the program where an input takes too long.
fn watch(name: &'static str, under_way: UnderWay) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(500));
            let (began, input) = &*under_way.lock().expect("no panic while it is held");
            if began.elapsed() > Duration::from_secs(INPUT_SECONDS_MAX) {
                failed(name, "takes too long", input);
                std::process::exit(1);
            }
        }
    });
}

fn failed(name: &str, how: &str, input: &[u8]) -> ExitCode {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts").join(name);
    let path = dir.join(format!("input-{}", input.len()));
    let written = std::fs::create_dir_all(&dir).and_then(|()| std::fs::write(&path, input));
    eprintln!("{name} {how}; the input is {} ({written:?})", path.display());
    ExitCode::FAILURE
}
