//! Do the host's reads take the turn that their rank gives them? One die, to the nanosecond.

use base::Ratio;
use sim::ftl::StreamId;
use sim::nand::rank::ReadRank;
use sim::nand::{DieOp, Nand, NandFeatures, SuspendLimits};

use crate::common::small_config;

const READ: u64 = 50_000;
const PROGRAM: u64 = 600_000;
const ERASE: u64 = 3_000_000;
const CHANNEL: u64 = 10_000;

const fn read(tag: u32) -> DieOp {
    DieOp::HostRead { tag, unit: 0, transfers: 1, page: None }
}

const fn program(stream: StreamId) -> DieOp {
    DieOp::Program { unit: 0, stream, sequence: 0 }
}

const MOVE: DieOp = DieOp::GcRead { unit: 0, pages: 1, valid: 1 };

/// The operations of a die in the order of their ends, with these; all but the first come to a busy die.
fn ends(read_rank: ReadRank, suspend: Option<SuspendLimits>, ops: &[DieOp]) -> Vec<(u64, DieOp)> {
    let config = small_config(Ratio::ONE, &[]);
    let features = NandFeatures { read_rank, suspend, ..NandFeatures::default() };
    let mut nand: Nand = Nand::new(&config.geometry, config.nand, &features, 0);
    for &op in ops {
        nand.enqueue(0, op, 0);
    }
    let mut ends = Vec::new();
    while ends.len() < ops.len() {
        let now_ns = nand.next_event_ns();
        ends.extend(nand.on_event(now_ns).map(|(_, op)| (now_ns, op)));
    }
    ends
}

#[test]
fn reads_pass_all_that_waits_or_only_what_is_no_cleaning() {
    let erase = DieOp::Erase { superblock: 0 };
    let host = program(StreamId::Host);
    let moved = program(StreamId::Gc);
    let queued = [erase, host, MOVE, host, read(1), moved, read(2)];
    let order = |rank| ends(rank, None, &queued).into_iter().map(|(_, op)| op).collect::<Vec<_>>();
    assert_eq!(order(ReadRank::First), [erase, read(1), read(2), host, MOVE, host, moved]);
    assert_eq!(order(ReadRank::InTurn), [erase, host, MOVE, read(1), host, moved, read(2)]);
    let no_cleaning = [host, host, read(1), read(2)];
    let [first, in_turn] =
        [ReadRank::First, ReadRank::InTurn].map(|rank| ends(rank, None, &no_cleaning));
    assert_eq!(first, in_turn);
    let program_ns = 4 * CHANNEL + PROGRAM;
    let times: Vec<u64> = first.into_iter().map(|(end_ns, _)| end_ns).collect();
    let read_ns = READ + CHANNEL;
    let reads = [1, 2].map(|reads| program_ns + reads * read_ns);
    assert_eq!(times, [program_ns, reads[0], reads[1], reads[1] + program_ns]);
}

#[test]
fn reads_in_turn_suspend_the_programs_of_the_host_and_no_cleaning() {
    let limits = SuspendLimits {
        suspend_ns: 20_000,
        tail_ns: 0,
        hold_ns: 0,
        resume_ns: 30_000,
        per_operation_max: 3,
        waiting_max: u32::MAX,
    };
    let end_of_read = |rank, op| {
        let ends = ends(rank, Some(limits), &[op, read(1)]);
        let read = ends.into_iter().find(|(_, ended)| *ended == read(1));
        read.expect("it ends").0
    };
    let suspended_ns = |begin_ns: u64| begin_ns + 20_000 + READ + CHANNEL;
    let erase = DieOp::Erase { superblock: 0 };
    assert_eq!(end_of_read(ReadRank::First, erase), suspended_ns(0));
    assert_eq!(end_of_read(ReadRank::InTurn, erase), ERASE + READ + CHANNEL);
    for (rank, stream, expected_ns) in [
        (ReadRank::First, StreamId::Gc, suspended_ns(4 * CHANNEL)),
        (ReadRank::InTurn, StreamId::Gc, 4 * CHANNEL + PROGRAM + READ + CHANNEL),
        (ReadRank::InTurn, StreamId::Host, suspended_ns(4 * CHANNEL)),
    ] {
        assert_eq!(end_of_read(rank, program(stream)), expected_ns, "{rank:?}, {stream:?}");
    }
}
