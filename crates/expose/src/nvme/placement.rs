//! Flexible data placement: the placement handles of the drive as reclaim unit handles of one reclaim group.
//!
//! A reclaim unit is a superblock.

use nvme::command::Command;
use nvme::fdp::{self, Configuration, HandleStatus, PlacementEvent, Statistics, event};
use nvme::identify::IDENTIFY_BYTES;
use nvme::log::page;
use nvme::status::CommandStatus;
use sim::PAGE_BYTES;
use sim::ftl::placement::{Isolation, Placement};

use super::channel::{CommandReply, CommandResult};
use super::namespaces::NAMESPACE;
use super::subsystem::Subsystem;
use crate::disk::Disk;
use crate::shared::locked;

/// Log pages of drives with handles.
pub(super) const PAGES: [u8; 4] = [
    page::PLACEMENT_CONFIGURATIONS,
    page::PLACEMENT_USAGE,
    page::PLACEMENT_STATISTICS,
    page::PLACEMENT_EVENTS,
];
/// Features of drives with handles.
pub(super) const FEATURES: [u8; 2] = [fdp::feature::PLACEMENT, fdp::feature::EVENTS];

/// The handle that a write names, or the first one for an unknown identifier, which is an event.
///
/// # Errors
/// A status: the drive has no such directive.
pub(super) fn handle_of(subsystem: &Subsystem, command: &Command) -> Result<u8, CommandStatus> {
    let placement = subsystem.placement();
    match (command.dwords[2] >> 20 & 0xf, placement) {
        (0, _) => Ok(0),
        (kind, Some(Placement { handles, .. })) if kind == u32::from(fdp::DIRECTIVE) => {
            let identifier = (command.dwords[3] >> 16) as u16;
            if u32::from(identifier) < handles {
                return Ok(identifier as u8);
            }
            note(subsystem, event::INVALID_PLACEMENT, identifier);
            Ok(0)
        }
        _ => Err(CommandStatus::INVALID_FIELD),
    }
}

/// Adds an event of this moment.
fn note(subsystem: &Subsystem, kind: u8, placement: u16) {
    let time_ms = subsystem.shared.with(|disk| disk.drive().now().0) / 1_000_000;
    let event = PlacementEvent { kind, placement, time_ms, namespace_id: NAMESPACE };
    locked(&subsystem.placement_events).add(event);
}

/// A log page of the endurance group, or `None` on a drive without handles.
///
/// # Errors
/// A status: there is no such endurance group.
pub(super) fn log(
    subsystem: &Subsystem,
    page: u8,
    [first, second]: [u32; 2],
) -> Result<Option<Vec<u8>>, CommandStatus> {
    const OF_HOST: u32 = 1 << 8;
    let Some(placement) = subsystem.placement() else { return Ok(None) };
    if (second >> 16) as u16 != fdp::ENDURANCE_GROUP {
        return Err(CommandStatus::INVALID_FIELD);
    }
    let handles = placement.handles as u16;
    Ok(Some(match page {
        page::PLACEMENT_CONFIGURATIONS => {
            let geometry = subsystem.shared.with(|disk| disk.drive().config().geometry);
            Configuration {
                groups: 1,
                group_bits: 0,
                handles,
                is_persistent: placement.isolation == Isolation::Persistent,
                unit_bytes: u64::from(geometry.superblock_data_pages()) * PAGE_BYTES,
                namespaces: NAMESPACE,
            }
            .encode()
        }
        page::PLACEMENT_USAGE => fdp::usage(handles),
        page::PLACEMENT_STATISTICS => statistics(subsystem).encode().to_vec(),
        _ => {
            let mut log = locked(&subsystem.placement_events);
            let events = if first & OF_HOST == 0 { &[][..] } else { log.all() };
            PlacementEvent::encode_all(events)
        }
    }))
}

/// From the books of the drive.
fn statistics(subsystem: &Subsystem) -> Statistics {
    subsystem.shared.with(|disk| {
        let row = disk.totals().telemetry;
        let superblock_bytes = disk.drive().config().geometry.superblock_bytes();
        Statistics {
            host_written_bytes: u128::from(row.host_pages * PAGE_BYTES),
            media_written_bytes: u128::from(row.programmed_pages * PAGE_BYTES),
            media_erased_bytes: u128::from(row.erased_superblocks * superblock_bytes),
        }
    })
}

/// I/O Management Receive: the states of the handles.
pub(super) fn status(
    subsystem: &Subsystem,
    placement: Placement,
    command: &Command,
) -> CommandResult {
    let [operation, dwords, ..] = command.dwords;
    let bytes = (u64::from(dwords) + 1) * 4;
    if operation as u8 != fdp::HANDLE_STATUS || bytes > super::subsystem::TRANSFER_BYTES_MAX {
        return Err(CommandStatus::INVALID_FIELD);
    }
    if u64::from(command.data.bytes) < bytes {
        return Err(CommandStatus::DATA_LENGTH);
    }
    let pages = subsystem.shared.with(|disk| disk.drive().pages_left(placement.handles));
    let block_bytes = u64::from(subsystem.block_bytes());
    let handles: Vec<_> = (0..)
        .zip(pages)
        .map(|(placement, pages)| HandleStatus {
            placement,
            left_blocks: pages * PAGE_BYTES / block_bytes,
        })
        .collect();
    let mut data = HandleStatus::encode_all(&handles);
    data.resize(bytes as usize, 0);
    Ok(data.into())
}

/// Bytes of the placement identifiers of an I/O Management Send.
pub(super) fn update_bytes(command: &Command) -> u64 {
    (u64::from(command.dwords[0] >> 16) + 1) * 2
}

/// I/O Management Send: the handles of these identifiers begin new reclaim units.
pub(super) fn update(
    subsystem: &Subsystem,
    placement: Placement,
    command: &Command,
    data: &[u8],
) -> CommandResult {
    const HANDLE_UPDATE: u8 = 1;
    let identifiers: Vec<_> =
        data.chunks_exact(2).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]])).collect();
    if command.dwords[0] as u8 != HANDLE_UPDATE
        || identifiers.iter().any(|&identifier| u32::from(identifier) >= placement.handles)
    {
        return Err(CommandStatus::INVALID_FIELD);
    }
    for identifier in identifiers {
        let end = |disk: &mut Disk<_>| disk.drive_mut().end_reclaim_unit(identifier as u8);
        if subsystem.shared.with(end) {
            note(subsystem, event::UNIT_NOT_FULL, identifier);
        }
    }
    Ok(CommandReply::default())
}

/// Directive Receive: identify and data placement are supported, enabled, and outlive a reset.
pub(super) fn directives(subsystem: &Subsystem, command: &Command) -> CommandResult {
    const RETURN_PARAMETERS: u32 = 1;
    let Some(_) = subsystem.placement() else { return Err(CommandStatus::INVALID_OPCODE) };
    // Operation in bits 7:0, type 0 in bits 15:8.
    if command.dwords[1] & 0xffff != RETURN_PARAMETERS {
        return Err(CommandStatus::INVALID_FIELD);
    }
    let mut data = vec![0; IDENTIFY_BYTES];
    for at in [0, 32, 64] {
        data[at] = 1 | 1 << fdp::DIRECTIVE;
    }
    let bytes = (command.dwords[0] as usize).saturating_add(1).saturating_mul(4);
    if bytes > IDENTIFY_BYTES || (command.data.bytes as usize) < bytes {
        return Err(CommandStatus::DATA_LENGTH);
    }
    data.truncate(bytes);
    Ok(data.into())
}

/// Reads a feature of the endurance group, or of a handle.
pub(super) fn feature(subsystem: &Subsystem, feature: u8, command: &Command) -> CommandResult {
    const ENABLED: u64 = 1;
    let Some(placement) = subsystem.placement() else { return Err(CommandStatus::INVALID_FIELD) };
    let of = command.dwords[1] as u16;
    match feature {
        fdp::feature::PLACEMENT if of == fdp::ENDURANCE_GROUP => Ok(ENABLED.into()),
        fdp::feature::EVENTS if u32::from(of) < placement.handles => {
            let switches = *locked(&subsystem.placement_events).switches();
            let mut data: Vec<_> =
                switches.iter().flat_map(|&(kind, is_on)| [kind, u8::from(is_on)]).collect();
            data.resize((command.data.bytes as usize).min(IDENTIFY_BYTES), 0);
            Ok(CommandReply { result: switches.len() as u64, data })
        }
        _ => Err(CommandStatus::INVALID_FIELD),
    }
}

/// Switches the events of all handles; placement itself is always on.
pub(super) fn set_feature(
    subsystem: &Subsystem,
    feature: u8,
    command: &Command,
    data: &[u8],
) -> CommandResult {
    let Some(placement) = subsystem.placement() else { return Err(CommandStatus::INVALID_FIELD) };
    if feature == fdp::feature::PLACEMENT {
        return Err(CommandStatus::NOT_CHANGEABLE);
    }
    let [_, of, switch, ..] = command.dwords;
    let kinds = data.get(..(of >> 16 & 0xff) as usize).ok_or(CommandStatus::DATA_LENGTH)?;
    let is_done = of & 0xffff < placement.handles
        && locked(&subsystem.placement_events).switch(kinds, switch & 1 != 0);
    if is_done { Ok(CommandReply::default()) } else { Err(CommandStatus::INVALID_FIELD) }
}
