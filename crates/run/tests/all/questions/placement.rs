//! Does `placement` find the write amplification of separated pools where handles stay apart, and more where firmware
//! mixes what they keep apart?

use base::Bytes;
use run::{Outcome, Request, SpanRequest};

use super::must_refuse;
use crate::common::{metric, request, run_quietly, settings, simulated, test};

/// A drive of some 900 superblocks of 2 MiB.
const HANDLES: [(&str, &str); 4] = [
    ("scale", "1/256"),
    ("interface.kind", "nvme"),
    ("interface.placement_handles", "3"),
    ("interface.queue_depth", "128"),
];

/// Superblocks of the drive at this scale that the span fills.
fn run_on(superblocks: u64, more: &[(&str, &str)], own: &str) -> Outcome {
    let keys = [&HANDLES, more].concat();
    let mut drive = simulated("sandisk-extreme-ii-480gb", &keys);
    let library = tempfile::tempdir().unwrap();
    let request = Request {
        span: SpanRequest::Bytes(Bytes(superblocks * (2 << 20))),
        ..request(library.path(), test("placement"), &settings(own))
    };
    let outcome = run_quietly(&mut drive, &request).unwrap();
    println!("seed {}", outcome.run.seed);
    outcome
}

#[test]
fn handles_that_stay_apart_cost_what_separated_pools_cost() {
    let outcome = run_on(750, &[], "sequential=30");
    let of = |name: &str| metric(&outcome, &format!("placement.{name}"));
    let (apart, pools) = (of("apart.waf"), of("apart.waf_of_pools"));
    let (together, uniform, noisy) = (of("together.waf"), of("uniform.waf"), of("noisy.waf"));
    println!("apart {apart:.3}, pools {pools:.3}, together {together:.3}");
    println!("uniform {uniform:.3}, noisy {noisy:.3}");
    assert!((apart / pools - 1.0).abs() < 0.01, "{apart} against {pools}");
    assert!(together > 1.05 * apart && noisy > 1.1 * apart, "{together} and {noisy}");
}

#[test]
fn firmware_that_mixes_what_handles_keep_apart_is_seen() {
    let step = |more: &[(&str, &str)], name: &str| {
        let outcome = run_on(880, more, "sequential=80 overwrites=2 queue_depth=4");
        metric(&outcome, &format!("placement.{name}.waf"))
    };
    let early = [("gc.early_used_percent", "80"), ("gc.early_valid_percent", "40")];
    let (apart, early) = (step(&[], "apart"), step(&early, "apart"));
    println!("apart {apart:.3}, with early collection {early:.3}");
    assert!(early > 1.1 * apart, "{early} against {apart}");
    let by_handle = [("gc.victim_handle", "most-garbage")];
    let (noisy, by_handle) = (step(&[], "noisy"), step(&by_handle, "noisy"));
    println!("noisy {noisy:.3}, a handle first {by_handle:.3}");
    assert!(by_handle > 1.1 * noisy, "{by_handle} against {noisy}");
}

#[test]
fn a_target_without_handles_is_refused() {
    must_refuse(&[
        ("placement", "", "no placement handles"),
        ("placement", "sequential=100", "99"),
    ]);
}
