//! The commands of fabrics: queues and properties.

use nvme::command::Command;
use nvme::fabrics::{PropertyAccess, property};
use nvme::status::CommandStatus;

use super::channel::{CommandReply, CommandResult};
use super::controller::Controller;
use super::subsystem::{QUEUE_ENTRIES, Subsystem, VERSION};

/// Enable, in the property CC.
const ENABLE: u32 = 1;
/// Ready, in the property CSTS.
const READY: u32 = 1;
/// The shutdown is complete, in the property CSTS.
const SHUTDOWN_COMPLETE: u32 = 0b10 << 2;
/// Command sets that CC may select: the NVM command set, or all.
const COMMAND_SETS: [u32; 2] = [0b000, 0b110];

/// The property CAP: contiguous queues, ready within 2 s, the NVM command set and the choice of command sets.
const CAPABILITIES: u64 = QUEUE_ENTRIES as u64 | 1 << 16 | 4 << 24 | 1 << 37 | 1 << 43;

/// Reads a property.
pub(super) fn get_property(controller: &Controller, command: &Command) -> CommandResult {
    let access = PropertyAccess::of(command);
    let state = controller.state();
    let (major, minor, tertiary) = VERSION;
    let (value, is_long) = match access.offset {
        property::CAPABILITIES => (CAPABILITIES, true),
        property::VERSION => {
            (u64::from(major) << 16 | u64::from(minor) << 8 | u64::from(tertiary), false)
        }
        property::CONFIGURATION => (state.configuration.into(), false),
        property::STATUS => (state.status.into(), false),
        _ => return Err(CommandStatus::INVALID_FIELD),
    };
    if is_long != access.is_long {
        return Err(CommandStatus::INVALID_FIELD);
    }
    Ok(value.into())
}

/// Changes the property CC, the only one that can be changed.
pub(super) fn set_property(
    subsystem: &Subsystem,
    controller: &Controller,
    command: &Command,
) -> CommandResult {
    let access = PropertyAccess::of(command);
    if access.offset != property::CONFIGURATION || access.is_long {
        return Err(CommandStatus::INVALID_FIELD);
    }
    let mut state = controller.state();
    let wanted = access.value as u32;
    let is_enabled = wanted & ENABLE != 0;
    if is_enabled && !COMMAND_SETS.contains(&(wanted >> 4 & 0b111)) {
        return Err(CommandStatus::INVALID_FIELD);
    }
    let is_shut = wanted >> 14 & 0b11 != 0;
    state.configuration = wanted;
    state.status = if is_enabled { READY } else { 0 } | if is_shut { SHUTDOWN_COMPLETE } else { 0 };
    if !is_enabled {
        state.features.clear();
        state.events_wanted = 0;
        drop(state);
        subsystem.reset(controller.id);
    }
    Ok(CommandReply::default())
}

/// Whether the host has enabled the controller.
pub(super) fn is_enabled(controller: &Controller) -> bool {
    controller.state().configuration & ENABLE != 0
}
