//! Shared by the integration tests: driving a target by hand.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part")]

pub mod loops;

use base::{Completion, Data, Op, OpKind, Status};
use io::{OpenOptions, RealTarget};
use target::Target;

/// Options for a writing run with small buffers.
pub fn writing(queue_depth: u32) -> OpenOptions {
    OpenOptions {
        queue_depth,
        transfer_bytes_max: 128 << 10,
        write: true,
        ..OpenOptions::default()
    }
}

pub fn op(kind: OpKind, tag: u32, offset: u64, len: u32) -> Op {
    Op { kind, data: Data::Incompressible, fua: false, placement: 0, len, tag, offset }
}

/// Submits `ops` (fewer than the queue depth) and waits for all of them.
pub fn run(target: &mut RealTarget, ops: &[Op]) -> Vec<Completion> {
    target.submit(ops);
    let mut out = Vec::new();
    while out.len() < ops.len() {
        let missing = ops.len() - out.len();
        target.reap(missing, &mut out).expect("the target stays alive");
    }
    out.sort_by_key(|completion| completion.tag);
    out
}

pub fn run_ok(target: &mut RealTarget, ops: &[Op]) {
    for completion in run(target, ops) {
        assert_eq!(completion.status, Status::Ok, "{completion:?}");
        assert!(completion.done >= completion.submitted);
    }
}

pub fn errno(target: &mut RealTarget, op: Op) -> i32 {
    match run(target, &[op])[0].status {
        Status::Failed { errno } => errno,
        Status::Ok => 0,
    }
}
