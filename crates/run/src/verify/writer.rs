//! Writes batches of random blocks, flushes, notes, until it is told to stop.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use base::{Nanos, OpKind, Rng};
use target::capability::{Diagnose, Flush, Guarded};

use super::journal::Journal;
use super::{Layout, all};
use crate::error::RunError;

/// Writes between two flushes. Many, so that the drive's cache has something to lose.
const BATCH_BLOCKS: usize = 1024;

/// The numbers of writes and flushes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Writes that were acknowledged.
    pub writes: u64,
    /// Flushes that were acknowledged and noted.
    pub flushes: u64,
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub struct Stop<'a> {
    /// After this time on the target's clock.
    pub duration: Nanos,
    /// After this many writes.
    pub writes_max: u64,
    /// When the user says so.
    pub interrupted: &'a AtomicBool,
}

/// Writes to a target that was opened with `OpenOptions::verifiable`, and fresh: generations count its
/// write commands from 1.
///
/// # Errors
/// If the target fails or is no longer the one that was opened, or the journal cannot be written.
/// The notes made until then stand.
pub fn write(
    target: &mut (impl Guarded + Flush + Diagnose),
    layout: &Layout,
    seed: u64,
    journal: &mut Journal,
    stop: &Stop<'_>,
) -> Result<Written, RunError> {
    let mut rng = Rng::split(seed, "verify-blocks");
    let depth = target.limits().queue_depth_max as usize;
    let deadline = Nanos(target.now().0.saturating_add(stop.duration.0));
    let mut written = Written::default();
    while written.writes < stop.writes_max
        && target.now() < deadline
        && !stop.interrupted.load(Ordering::Relaxed)
    {
        let left = usize::try_from(stop.writes_max - written.writes).unwrap_or(usize::MAX);
        let blocks = batch(&mut rng, layout.blocks(), left.min(BATCH_BLOCKS));
        target.confirm_identity()?;
        for piece in blocks.chunks(depth) {
            for ended in all(target, layout, OpKind::Write, piece)? {
                ended.require_ok(target)?;
            }
        }
        target.flush()?;
        let generations = written.writes + 1..;
        journal.flushed(&blocks.iter().copied().zip(generations).collect::<Vec<_>>())?;
        written.writes += blocks.len() as u64;
        written.flushes += 1;
    }
    Ok(written)
}

/// So many blocks, no two equal: of two writes to a block at the same time either may win.
fn batch(rng: &mut Rng, blocks: u64, wanted: usize) -> Vec<u64> {
    let wanted = wanted.min(usize::try_from(blocks / 2).unwrap_or(usize::MAX).max(1));
    let (mut seen, mut chosen) = (BTreeSet::new(), Vec::with_capacity(wanted));
    while chosen.len() < wanted {
        let block = rng.below(blocks);
        if seen.insert(block) {
            chosen.push(block);
        }
    }
    chosen
}
