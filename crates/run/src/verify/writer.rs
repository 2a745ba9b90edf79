//! Writes batches of random blocks, flushes and records them, until it is stopped.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use base::{Nanos, OpKind, Rng};
use target::Target;

use super::journal::Journal;
use super::{Layout, all};
use crate::error::RunError;

/// Writes between two flushes. Many, so that the drive's cache has data to lose.
const BATCH_BLOCKS: usize = 1024;

/// The numbers of writes and flushes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteCounts {
    /// Acknowledged writes.
    pub writes: u64,
    /// Acknowledged and recorded flushes.
    pub flushes: u64,
}

/// Conditions to stop.
#[derive(Clone, Copy, Debug)]
pub struct Stop<'a> {
    /// After this time on the target's clock.
    pub duration: Nanos,
    /// After this many writes.
    pub writes_max: u64,
    /// At the user's request.
    pub interrupted: &'a AtomicBool,
}

/// Writes to a fresh target that was opened with `OpenOptions::verifiable`: generations count its
/// write commands from 1.
///
/// # Errors
/// If the target fails or is no longer the opened one, or the journal cannot be written. The
/// records made until then remain.
pub fn write(
    target: &mut impl Target,
    layout: &Layout,
    seed: u64,
    journal: &mut Journal,
    stop: &Stop<'_>,
) -> Result<WriteCounts, RunError> {
    let mut rng = Rng::split(seed, "verify-blocks");
    let depth = target.limits().queue_depth_max as usize;
    let deadline = Nanos(target.now().0.saturating_add(stop.duration.0));
    let mut written = WriteCounts::default();
    let (uses, mut look) = (target.use_probe(), target.now());
    while written.writes < stop.writes_max
        && target.now() < deadline
        && !stop.interrupted.load(Ordering::Relaxed)
    {
        let left = usize::try_from(stop.writes_max - written.writes).unwrap_or(usize::MAX);
        let blocks = batch(&mut rng, layout.blocks(), left.min(BATCH_BLOCKS));
        target.confirm_identity()?;
        if let Some(probe) = uses.as_ref().filter(|_| target.now() >= look) {
            probe.require_unused()?;
            look = Nanos(target.now().0 + probe.interval().as_nanos() as u64);
        }
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

/// This number of different blocks: of two simultaneous writes to a block, either may win.
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
