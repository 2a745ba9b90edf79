//! The Zoned Namespace Command Set: orders to zones, reports of them, and the statuses of refusals.

use nvme::command::{Command, nvm};
use nvme::status::CommandStatus;
use nvme::zns::{self, ZoneDescriptor, ZonedNamespace, opcode, send, state};
use sim::host::ZoneAction;
use sim::mechanism::zones::{ZoneError, ZoneState, Zones, ZonesPlan};

use super::channel::CommandResult;
use super::subsystem::{BLOCK_BYTES, Subsystem, TRANSFER_BYTES_MAX};
use crate::request::{Action, Request};

/// Index of the only LBA format: a block is a page.
const LBA_FORMAT: u8 = BLOCK_BYTES.len() as u8 - 1;

/// Commands of drives with zones alone.
pub(super) const COMMANDS: [u8; 3] =
    [opcode::MANAGEMENT_SEND, opcode::MANAGEMENT_RECEIVE, opcode::APPEND];
/// Commands of drives without zones alone.
const WITHOUT: [u8; 3] = [nvm::DATASET_MANAGEMENT, nvm::WRITE_UNCORRECTABLE, nvm::COPY];

/// Whether a drive with these zones, or with none, has a command.
pub(super) fn permit(zones: Option<&ZonesPlan>, opcode: u8) -> bool {
    if zones.is_some() { !WITHOUT.contains(&opcode) } else { !COMMANDS.contains(&opcode) }
}

/// The structure of a namespace with these zones.
pub(super) fn namespace(zones: &ZonesPlan) -> ZonedNamespace {
    let ZonesPlan { active_max, open_max, size_pages, .. } = *zones;
    ZonedNamespace { active_max, open_max, zone_blocks: size_pages, lba_format: LBA_FORMAT }
}

/// The number of the zone that begins at the first block of a command.
fn zone_of(command: &Command, zones: &ZonesPlan) -> Result<u64, CommandStatus> {
    let start = command.u64_in(0);
    if start >= zones.lba_pages() {
        return Err(CommandStatus::LBA_OUT_OF_RANGE);
    }
    let is_begin = start.is_multiple_of(zones.size_pages);
    if is_begin { Ok(start / zones.size_pages) } else { Err(CommandStatus::INVALID_FIELD) }
}

/// Checks that an append names the begin of a zone.
pub(super) fn check_append(command: &Command, zones: &ZonesPlan) -> Result<(), CommandStatus> {
    zone_of(command, zones).map(drop)
}

/// Zone Management Send as a request, or `None` if there is nothing to do.
pub(super) fn order(
    subsystem: &Subsystem,
    zones: &ZonesPlan,
    command: &Command,
) -> Result<Option<Request>, CommandStatus> {
    const ALL: u32 = 1 << 8;
    let all = command.dwords[3] & ALL != 0;
    let zone = if all { 0 } else { zone_of(command, zones)? };
    let action = match command.dwords[3] as u8 {
        send::OPEN => ZoneAction::Open,
        send::CLOSE => ZoneAction::Close,
        send::FINISH => ZoneAction::Finish,
        send::RESET => ZoneAction::Reset,
        send::OFFLINE => return retire(subsystem, zone, all).map(|()| None),
        _ => return Err(CommandStatus::INVALID_FIELD),
    };
    let zone_bytes = zones.size_pages * sim::PAGE_BYTES;
    let bytes = if all { subsystem.capacity_bytes() } else { zone_bytes };
    let offset = zone * zone_bytes;
    let action = Action::Zone { action, all };
    Ok(Some(Request::new(action, offset, bytes)))
}

/// Takes zones that are read only out of use.
fn retire(subsystem: &Subsystem, zone: u64, all: bool) -> Result<(), CommandStatus> {
    subsystem.shared.with(|disk| {
        let found = disk.drive().zones().map_or(&[][..], Zones::all);
        let read_only = |number: &u32| found[*number as usize].state == ZoneState::ReadOnly;
        let numbers: Vec<u32> = if all {
            (0..found.len() as u32).filter(read_only).collect()
        } else {
            vec![zone as u32]
        };
        if !numbers.iter().all(read_only) {
            return Err(CommandStatus::ZONE_TRANSITION);
        }
        disk.drain();
        numbers.into_iter().for_each(|number| {
            disk.drive_mut().retire_zone(number, true);
        });
        Ok(())
    })
}

/// Zone Management Receive.
pub(super) fn report(subsystem: &Subsystem, zones: &ZonesPlan, command: &Command) -> CommandResult {
    const REPORT: u8 = 0;
    let [.., dwords, choice, _, _] = command.dwords;
    let bytes = (u64::from(dwords) + 1) * 4;
    if bytes > TRANSFER_BYTES_MAX || choice as u8 != REPORT {
        return Err(CommandStatus::INVALID_FIELD);
    }
    if u64::from(command.data.bytes) < bytes {
        return Err(CommandStatus::DATA_LENGTH);
    }
    let wanted = match (choice >> 8) as u8 {
        0 => None,
        other => {
            let state = state::CHOICES.get(usize::from(other) - 1);
            Some(*state.ok_or(CommandStatus::INVALID_FIELD)?)
        }
    };
    let start = command.u64_in(0);
    if start >= zones.lba_pages() {
        return Err(CommandStatus::LBA_OUT_OF_RANGE);
    }
    let first = (start / zones.size_pages) as usize;
    let descriptors: Vec<_> = subsystem.shared.with(|disk| {
        let all = disk.drive().zones().map_or(&[][..], Zones::all);
        let described = (0..).zip(all).skip(first).map(|(number, zone)| {
            let start = number * zones.size_pages;
            let is_writable = zone.state.is_active() || zone.state == ZoneState::Empty;
            ZoneDescriptor {
                state: state_of(zone.state),
                capacity_blocks: zones.capacity_pages,
                start,
                write_pointer: is_writable.then_some(start + zone.written_pages),
            }
        });
        described.filter(|zone| wanted.is_none_or(|state| state == zone.state)).collect()
    });
    let counts_held = choice & 1 << 16 != 0;
    Ok(zns::report(&descriptors, bytes as usize, counts_held).into())
}

fn state_of(state: ZoneState) -> u8 {
    match state {
        ZoneState::Empty => state::EMPTY,
        ZoneState::ImplicitlyOpen => state::IMPLICITLY_OPEN,
        ZoneState::ExplicitlyOpen => state::EXPLICITLY_OPEN,
        ZoneState::Closed => state::CLOSED,
        ZoneState::Full => state::FULL,
        ZoneState::ReadOnly => state::READ_ONLY,
        ZoneState::Offline => state::OFFLINE,
    }
}

/// The status of a command that a zone refuses.
pub(super) fn status_of(reason: ZoneError) -> CommandStatus {
    match reason {
        ZoneError::OutOfRange => CommandStatus::LBA_OUT_OF_RANGE,
        ZoneError::Boundary => CommandStatus::ZONE_BOUNDARY,
        ZoneError::InvalidWrite => CommandStatus::ZONE_INVALID_WRITE,
        ZoneError::Full => CommandStatus::ZONE_FULL,
        ZoneError::ReadOnly => CommandStatus::ZONE_READ_ONLY,
        ZoneError::Offline => CommandStatus::ZONE_OFFLINE,
        ZoneError::TooManyOpen => CommandStatus::TOO_MANY_OPEN_ZONES,
        ZoneError::TooManyActive => CommandStatus::TOO_MANY_ACTIVE_ZONES,
        ZoneError::InvalidTransition => CommandStatus::ZONE_TRANSITION,
        ZoneError::Unsupported => CommandStatus::INVALID_OPCODE,
    }
}
