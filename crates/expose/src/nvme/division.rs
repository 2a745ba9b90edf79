//! Namespace Management and Namespace Attachment: hosts divide the drive.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use nvme::command::{ALL_NAMESPACES, Command};
use nvme::identify::{IDENTIFY_BYTES, IdentifyNamespace, number_list};
use nvme::log::SanitizeState;
use nvme::self_test::outcome;
use nvme::status::CommandStatus;

use super::channel::{CommandReply, CommandResult, End};
use super::controller::Controller;
use super::erasure;
use super::self_tests::Scope;
use super::subsystem::{BLOCK_BYTES, NVM_COMMAND_SET, Subsystem};

/// Operations of Namespace Management.
pub(super) const CREATE: u32 = 0;
pub(super) const DELETE: u32 = 1;

/// Creates a namespace, whose number is the result.
///
/// # Errors
/// A status: the drive cannot be divided, a field is wrong, or there is no room.
pub(super) fn create(subsystem: &Subsystem, command: &Command, data: &[u8]) -> CommandResult {
    check(subsystem)?;
    if data.len() < IDENTIFY_BYTES {
        return Err(CommandStatus::DATA_LENGTH);
    }
    if (command.dwords[1] >> 24) as u8 != NVM_COMMAND_SET {
        return Err(CommandStatus::COMMAND_SET);
    }
    let wanted = IdentifyNamespace::decode(data);
    if wanted.size_blocks != wanted.capacity_blocks {
        return Err(CommandStatus::THIN);
    }
    let block_bytes = BLOCK_BYTES.get(usize::from(wanted.format.lba_format));
    if block_bytes != Some(&subsystem.block_bytes())
        || wanted.format.extended_metadata
        || wanted.format.protection != 0
    {
        return Err(CommandStatus::INVALID_FORMAT);
    }
    let bytes = wanted.size_blocks.checked_mul(subsystem.block_bytes().into());
    let bytes = bytes.ok_or(CommandStatus::NAMESPACE_CAPACITY)?;
    Ok(u64::from(subsystem.namespaces_mut().create(bytes)?).into())
}

/// Deletes a namespace, or all of them, and empties their pages, which ends the command. The hosts of all controllers but
/// this one hear of it.
///
/// # Errors
/// A status: the drive cannot be divided, or there is no such namespace.
pub(super) fn delete(
    subsystem: &Arc<Subsystem>,
    controller: &Controller,
    command: &Command,
    end: End,
) -> Result<(), CommandStatus> {
    check(subsystem)?;
    let (bytes, deleted) = match command.namespace_id {
        ALL_NAMESPACES => subsystem.namespaces_mut().delete_all(),
        id => {
            let only = subsystem.namespaces_mut().delete(id);
            let only = only.ok_or(CommandStatus::INVALID_NAMESPACE)?;
            (only.bytes.clone(), BTreeMap::from([(id, only)]))
        }
    };
    for (id, namespace) in deleted {
        let has = |other: &Controller| namespace.is_attached(&other.host);
        subsystem.tell_of_namespace(id, controller.id, has);
    }
    subsystem.abort_self_test(outcome::NAMESPACE, Scope::Namespace);
    let drive = Arc::clone(subsystem);
    erasure::erase(subsystem, bytes.clone(), move |result| {
        drive.namespaces_mut().release(&bytes);
        end(erasure::ended(result));
    });
    Ok(())
}

/// Attaches a namespace to the hosts of these controllers, or detaches it. They hear of it, but for this one.
///
/// # Errors
/// A status: the drive cannot be divided, there is no such namespace or controller, or it is so already.
pub(super) fn attach(
    subsystem: &Subsystem,
    controller: &Controller,
    command: &Command,
    data: &[u8],
) -> CommandResult {
    const ATTACH: u32 = 0;
    const DETACH: u32 = 1;
    check(subsystem)?;
    let is_attached = match command.dwords[0] & 0xf {
        ATTACH => true,
        DETACH => false,
        _ => return Err(CommandStatus::INVALID_FIELD),
    };
    let numbers = number_list(data).filter(|numbers| {
        !numbers.is_empty() && numbers.is_sorted_by(|before, next| before < next)
    });
    let numbers = numbers.ok_or(CommandStatus::CONTROLLER_LIST)?;
    let controllers = subsystem.controllers();
    let named: Option<Vec<&Arc<Controller>>> = numbers
        .iter()
        .map(|id| controllers.iter().find(|it| it.id == *id && !it.is_discovery))
        .collect();
    let named = named.ok_or(CommandStatus::CONTROLLER_LIST)?;
    let hosts: BTreeSet<&str> = named.iter().map(|controller| controller.host.as_str()).collect();
    let id = command.namespace_id;
    subsystem.namespaces_mut().attach(id, &hosts, is_attached)?;
    let is_named = |other: &Controller| hosts.contains(other.host.as_str());
    subsystem.tell_of_namespace(id, controller.id, is_named);
    Ok(CommandReply::default())
}

fn check(subsystem: &Subsystem) -> Result<(), CommandStatus> {
    if !subsystem.can_be_divided() {
        return Err(CommandStatus::INVALID_OPCODE);
    }
    if subsystem.sanitize_log().state == SanitizeState::InProgress {
        return Err(CommandStatus::SANITIZING);
    }
    Ok(())
}
