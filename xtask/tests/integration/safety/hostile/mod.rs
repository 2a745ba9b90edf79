//! Hundreds of careless calls on a machine whose files and devices are mounted, swap, stacked, full
//! of data or free: does a byte change that the call did not release? Needs root.
//!
//! Each test draws its own seed and prints it. `SSDLAB_HOSTILE_SEED` repeats one,
//! `SSDLAB_HOSTILE_CALLS` makes it longer.

mod calls;
mod random;
mod things;
mod verbs;
mod world;
mod writers;

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use calls::{Call, End};
use random::Random;
use world::World;

const CALLS: u64 = 300;

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")))
}

fn fresh_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    u64::from(now.subsec_nanos()) ^ now.as_secs()
}

/// Number of calls by outcome.
#[derive(Debug, Default)]
struct Tally {
    done: u64,
    refused: u64,
    failed: u64,
    stopped: u64,
    /// Calls that served a drive until they were asked to end.
    served: u64,
    /// Things that calls changed with permission.
    given: u64,
}

#[test]
fn no_call_changes_what_it_was_not_given() {
    let seed = number("SSDLAB_HOSTILE_SEED").unwrap_or_else(fresh_seed);
    let calls = number("SSDLAB_HOSTILE_CALLS").unwrap_or(CALLS);
    println!("repeat with SSDLAB_HOSTILE_SEED={seed} SSDLAB_HOSTILE_CALLS={calls}");
    let mut random = Random::new(seed);
    let mut world = World::new();
    let (mut tally, begin) = (Tally::default(), Instant::now());
    for number in 0..calls {
        let call = Call::draw(&mut random, &world);
        let End { code, served } = call.make(&world);
        match code {
            Some(0 | 1 | 130) => tally.done += 1,
            Some(3) => tally.refused += 1,
            Some(_) => tally.failed += 1,
            None => tally.stopped += 1,
        }
        assert!(matches!(code, None | Some(0..=5 | 130)), "a panic? exit code {code:?} of {call}");
        tally.served += u64::from(served);
        assert!(!served || !call.must_not_serve, "call {number} of seed {seed} served: {call}");
        tally.given += world.check(&call, &format!("call {number} of seed {seed}"));
    }
    println!("{calls} calls in {:.0?}: {tally:?}", begin.elapsed());
    // A world in which nothing is allowed would be kept by a program that does nothing.
    // One in 40 is given something: fewer than one in 300 are not by chance.
    let enough = calls / 300;
    assert!(tally.given >= enough && tally.refused >= enough, "{tally:?}");
    assert!(begin.elapsed() < Duration::from_secs(3 * calls + 60), "calls take too long");
}
