//! Placement handles: the handle whose superblocks are collected next.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use sim::ftl::StreamId;
use sim::ftl::gc::handle_choice::HandleChoice;
use sim::ftl::placement::Isolation;

use super::Reference;

/// Those of these superblocks that the chosen handle wrote, or all where no handle is chosen.
pub(super) fn of_chosen_handle(reference: &Reference, closed: Vec<u32>) -> Vec<u32> {
    let placement = reference.config.options.placement;
    let Some((choice, isolation)) =
        placement.and_then(|all| Some((all.victim_handle?, all.isolation)))
    else {
        return closed;
    };
    let mut by_handle: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    for superblock in closed {
        let handle = handle_of(reference.writers[&superblock], isolation);
        by_handle.entry(handle).or_default().push(superblock);
    }
    let geometry = &reference.config.geometry;
    let pages = u64::from(geometry.superblock_data_pages() - geometry.gap_pages());
    let pressure = |superblocks: &Vec<u32>| {
        let valid: usize = superblocks.iter().map(|&each| reference.valid_count(each)).sum();
        let all = superblocks.len() as u64 * pages;
        let garbage = all - valid as u64;
        match choice {
            HandleChoice::MostGarbage => garbage,
            HandleChoice::LeastValid if garbage == 0 => 0,
            // The drive compares whole millionths.
            HandleChoice::LeastValid => (garbage * 1_000_000 / all).max(1),
        }
    };
    let first = by_handle.into_iter().min_by_key(|(handle, all)| (Reverse(pressure(all)), *handle));
    first.map_or_else(Vec::new, |(_, superblocks)| superblocks)
}

/// The handle that a stream belongs to; moved data that mixes comes behind all.
fn handle_of(writer: StreamId, isolation: Isolation) -> usize {
    let place = |streams: [StreamId; 8]| streams.into_iter().position(|stream| stream == writer);
    match (place(StreamId::HOSTS), isolation) {
        (Some(handle), _) => handle,
        (None, Isolation::Initial) => usize::MAX,
        (None, Isolation::Persistent) => place(StreamId::COLLECTED).unwrap_or(0),
    }
}
