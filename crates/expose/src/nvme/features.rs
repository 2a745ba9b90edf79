//! Features of a controller.

use std::time::Instant;

use nvme::command::Command;
use nvme::power;
use nvme::status::CommandStatus;

use super::channel::{CommandReply, CommandResult};
use super::controller::Controller;
use super::placement;
use super::subsystem::Subsystem;

/// Bytes of the data of Host Behavior Support.
const HOST_BEHAVIOR_BYTES: usize = 512;

/// Features by their numbers.
mod feature {
    pub(super) const POWER_STATE: u8 = 0x02;
    pub(super) const TEMPERATURE: u8 = 0x04;
    pub(super) const WRITE_CACHE: u8 = 0x06;
    pub(super) const QUEUES: u8 = 0x07;
    pub(super) const EVENTS: u8 = 0x0b;
    pub(super) const KEEP_ALIVE: u8 = 0x0f;
    pub(super) const HOST_BEHAVIOR: u8 = 0x16;
    pub(super) const COMMAND_SET: u8 = 0x19;
    pub(super) const HOST_ID: u8 = 0x81;
}

/// Changes a feature until the host disables the controller.
pub(super) fn set(
    subsystem: &Subsystem,
    controller: &Controller,
    command: &Command,
    data: &[u8],
) -> CommandResult {
    let [first, value, ..] = command.dwords;
    let feature = first as u8;
    if first >> 31 != 0 {
        return Err(CommandStatus::NOT_SAVEABLE);
    }
    if placement::FEATURES.contains(&feature) && !controller.is_discovery {
        return placement::set_feature(subsystem, feature, command, data);
    }
    if feature == power::FEATURE && !controller.is_discovery {
        set_transitions(subsystem, value & 1 != 0, data)?;
    }
    let is_known = if controller.is_discovery {
        matches!(feature, feature::KEEP_ALIVE | feature::EVENTS)
    } else {
        default_of(feature).is_some()
    };
    if !is_known {
        return Err(CommandStatus::INVALID_FIELD);
    }
    let power_states = subsystem.power_states().len();
    let mut state = controller.state();
    match feature {
        feature::QUEUES => {
            if value & 0xffff == 0xffff || value >> 16 == 0xffff {
                return Err(CommandStatus::INVALID_FIELD);
            }
            return Ok(queues(subsystem, value).into());
        }
        feature::KEEP_ALIVE => {
            (state.keep_alive_ms, state.heard) = (value, Instant::now());
            return Ok(CommandReply::default());
        }
        feature::EVENTS => state.events_wanted = value,
        feature::POWER_STATE if value as usize & 0x1f >= power_states => {
            return Err(CommandStatus::INVALID_FIELD);
        }
        feature::COMMAND_SET if value != 0 => return Err(CommandStatus::INVALID_FIELD),
        feature::HOST_ID => return Err(CommandStatus::NOT_CHANGEABLE),
        feature::HOST_BEHAVIOR if data.len() < HOST_BEHAVIOR_BYTES => {
            return Err(CommandStatus::DATA_LENGTH);
        }
        // Only the threshold above which the composite temperature is too high.
        feature::TEMPERATURE if value >> 16 & 0x3f != 0 => return Ok(CommandReply::default()),
        _ => {}
    }
    state.features.insert(feature, value);
    Ok(CommandReply::default())
}

/// Reads a feature.
pub(super) fn get(
    subsystem: &Subsystem,
    controller: &Controller,
    command: &Command,
) -> CommandResult {
    let feature = command.dwords[0] as u8;
    if placement::FEATURES.contains(&feature) {
        return placement::feature(subsystem, feature, command);
    }
    if feature == power::FEATURE && subsystem.transitions().is_empty() {
        return Err(CommandStatus::INVALID_FIELD);
    }
    let state = controller.state();
    let value = default_of(feature).ok_or(CommandStatus::INVALID_FIELD)?;
    Ok(match feature {
        feature::QUEUES => queues(subsystem, u32::MAX).into(),
        feature::KEEP_ALIVE => u64::from(state.keep_alive_ms).into(),
        feature::HOST_ID => controller.host_id.to_vec().into(),
        feature::HOST_BEHAVIOR => vec![0; HOST_BEHAVIOR_BYTES].into(),
        power::FEATURE => {
            let result = state.features.get(&feature).copied().unwrap_or(value).into();
            CommandReply { result, data: power::table(&subsystem.transitions()).to_vec() }
        }
        _ => u64::from(state.features.get(&feature).copied().unwrap_or(value)).into(),
    })
}

/// Lets the drive enter its idle power states by itself, or keeps it awake. Its timers are its own: a table with others is
/// refused.
fn set_transitions(subsystem: &Subsystem, is_on: bool, data: &[u8]) -> Result<(), CommandStatus> {
    let own = subsystem.transitions();
    if own.is_empty() {
        return Err(CommandStatus::INVALID_FIELD);
    }
    let table = data.get(..power::TABLE_BYTES).ok_or(CommandStatus::DATA_LENGTH)?;
    if is_on && table != power::table(&own) {
        return Err(CommandStatus::NOT_CHANGEABLE);
    }
    subsystem.keep_awake(!is_on);
    Ok(())
}

/// Queues that the host gets, counted from 0, of those that it wants.
fn queues(subsystem: &Subsystem, wanted: u32) -> u64 {
    let most = u32::from(subsystem.io_queues_max) - 1;
    u64::from((wanted & 0xffff).min(most) | (wanted >> 16).min(most) << 16)
}

/// The value of a feature before anybody sets it; `None` if there is no such feature.
fn default_of(feature: u8) -> Option<u32> {
    Some(match feature {
        feature::WRITE_CACHE | power::FEATURE => 1,
        feature::TEMPERATURE => 0xffff,
        feature::POWER_STATE
        | feature::QUEUES
        | feature::EVENTS
        | feature::KEEP_ALIVE
        | feature::HOST_BEHAVIOR
        | feature::COMMAND_SET
        | feature::HOST_ID => 0,
        _ => return None,
    })
}

/// Temperature in kelvin above which the host wants to be warned, or `None` if it has not said.
pub(super) fn temperature_threshold(controller: &Controller) -> Option<u16> {
    controller.state().features.get(&feature::TEMPERATURE).map(|&value| value as u16)
}

/// Whether the host lets the drive acknowledge writes that are not durable.
pub(super) fn has_write_cache(controller: &Controller) -> bool {
    controller.state().features.get(&feature::WRITE_CACHE).is_none_or(|&value| value & 1 != 0)
}
