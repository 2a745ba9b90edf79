//! Admin commands: identify, features, logs, events, erasure.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use nvme::command::{ALL_NAMESPACES, Command, admin};
use nvme::fdp;
use nvme::identify::{self, IDENTIFY_BYTES, IdentifyController, structure};
use nvme::log::page;
use nvme::status::CommandStatus;
use nvme::zns;

use super::channel::{Channel, CommandReply, CommandResult, End};
use super::controller::{Controller, EVENT_REQUESTS_MAX, Event};
use super::errors::ERRORS_MAX;
use super::logs::{self, WARNING_READ_ONLY, WARNING_TEMPERATURE};
use super::namespaces::NAMESPACE;
use super::subsystem::{
    CAPSULE_DATA_BYTES, NVM_COMMAND_SET, QUEUE_ENTRIES, Subsystem, TRANSFER_BYTES_MAX,
    TRANSFER_PAGES_LOG2, VERSION,
};
use super::{division, erasure, features, placement, self_test, zones};

/// Unit of the keep-alive time: a second.
const KEEP_ALIVE_100MS: u16 = 10;
/// Compare, Write Uncorrectable, Dataset Management, Write Zeroes, Verify, Copy.
const NVM_COMMANDS: u16 = 1 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 7 | 1 << 8;
/// The same on a drive with zones: Compare, Write Zeroes, Verify.
const ZONED_COMMANDS: u16 = 1 | 1 << 3 | 1 << 7;

/// The surroundings of an admin command.
#[derive(Clone, Copy, Debug)]
pub struct AdminQueue<'a> {
    /// The drive.
    pub subsystem: &'a Arc<Subsystem>,
    /// The controller of the queue.
    pub controller: &'a Controller,
    /// The way back.
    pub channel: &'a Arc<Channel>,
    /// Address that the host has found the drive at, or `None` over a Unix socket.
    pub address: Option<SocketAddr>,
}

impl AdminQueue<'_> {
    /// Carries a command out. `None` if it ends later.
    pub fn carry_out(&self, command: &Command, data: &[u8]) -> Option<CommandResult> {
        let is_discovery = self.controller.is_discovery;
        Some(match command.opcode {
            admin::IDENTIFY => self.identify(command),
            admin::GET_LOG_PAGE => self.get_log(command),
            admin::KEEP_ALIVE => {
                self.controller.state().heard = Instant::now();
                Ok(CommandReply::default())
            }
            admin::SET_FEATURES => features::set(self.subsystem, self.controller, command, data),
            admin::GET_FEATURES => features::get(self.subsystem, self.controller, command),
            admin::ASYNC_EVENT => {
                return self.controller.hold(self.channel, command).err().map(Err);
            }
            admin::ABORT if !is_discovery => {
                let [queue_id, command_id] =
                    [command.dwords[0] as u16, (command.dwords[0] >> 16) as u16];
                let is_aborted = queue_id == 0 && self.controller.abort(command_id);
                Ok(u64::from(!is_aborted).into())
            }
            admin::DIRECTIVE_RECEIVE if !is_discovery => {
                placement::directives(self.subsystem, command)
            }
            admin::FORMAT if !is_discovery => return self.later(command, erasure::format),
            admin::SELF_TEST if !is_discovery => {
                self_test::command(self.subsystem, self.controller, command)
            }
            admin::NAMESPACE_MANAGEMENT if !is_discovery => match command.dwords[0] & 0xf {
                division::CREATE => division::create(self.subsystem, command, data),
                division::DELETE => return self.later(command, division::delete),
                _ => Err(CommandStatus::INVALID_FIELD),
            },
            admin::NAMESPACE_ATTACHMENT if !is_discovery => {
                division::attach(self.subsystem, self.controller, command, data)
            }
            admin::SANITIZE if !is_discovery => erasure::sanitize(self.subsystem, command),
            _ => Err(CommandStatus::INVALID_OPCODE),
        })
    }

    /// Begins an erasure, which ends when all pages are empty: `None`, or its status if it does not begin.
    fn later(
        &self,
        command: &Command,
        begin: fn(&Arc<Subsystem>, &Controller, &Command, End) -> Result<(), CommandStatus>,
    ) -> Option<CommandResult> {
        let (channel, command) = (Arc::clone(self.channel), *command);
        let end = move |result| channel.complete(&command, 0, result);
        begin(self.subsystem, self.controller, &command, Box::new(end)).err().map(Err)
    }

    fn identify(&self, command: &Command) -> CommandResult {
        let Command { namespace_id, dwords: [first, second, ..], .. } = *command;
        let (structure, command_set) = (first as u8, (second >> 24) as u8);
        if (command.data.bytes as usize) < IDENTIFY_BYTES {
            return Err(CommandStatus::DATA_LENGTH);
        }
        if self.controller.is_discovery && structure != structure::CONTROLLER {
            return Err(CommandStatus::INVALID_FIELD);
        }
        let with_command_set = [
            structure::NAMESPACE_OF_COMMAND_SET,
            structure::CONTROLLER_OF_COMMAND_SET,
            structure::ACTIVE_NAMESPACES_OF_COMMAND_SET,
        ];
        let command_sets = [NVM_COMMAND_SET, self.subsystem.command_set()];
        if with_command_set.contains(&structure) && !command_sets.contains(&command_set) {
            return Err(CommandStatus::INVALID_FIELD);
        }
        match structure {
            structure::CONTROLLER => Ok(self.controller().encode().into()),
            structure::ACTIVE_NAMESPACES_OF_COMMAND_SET
                if command_set != self.subsystem.command_set() =>
            {
                Ok(identify::namespace_list_of(&[]).into())
            }
            structure::ACTIVE_NAMESPACES | structure::ACTIVE_NAMESPACES_OF_COMMAND_SET => {
                self.namespaces(namespace_id, Some(&self.controller.host))
            }
            structure::ALLOCATED_NAMESPACES if self.subsystem.can_be_divided() => {
                self.namespaces(namespace_id, None)
            }
            structure::CONTROLLERS | structure::CONTROLLERS_OF_NAMESPACE
                if self.subsystem.can_be_divided() =>
            {
                self.controllers(structure, namespace_id, (first >> 16) as u16)
            }
            structure::CONTROLLER_OF_COMMAND_SET => Ok(vec![0; IDENTIFY_BYTES].into()),
            structure::ENDURANCE_GROUPS if self.subsystem.placement().is_some() => {
                Ok(identify::number_list_of(&[fdp::ENDURANCE_GROUP]).into())
            }
            structure::COMMAND_SETS => {
                Ok(identify::command_sets(1 << NVM_COMMAND_SET | 1 << self.subsystem.command_set())
                    .into())
            }
            _ => self.namespace(structure, namespace_id, command_set),
        }
    }

    /// A structure of a namespace. One that the controller does not have is all zeros, where a host may ask for it.
    fn namespace(&self, structure: u8, id: u32, command_set: u8) -> CommandResult {
        let Self { subsystem, controller, .. } = self;
        let known = [
            structure::NAMESPACE,
            structure::NAMESPACE_OF_COMMAND_SET,
            structure::DESCRIPTORS,
            structure::INDEPENDENT_NAMESPACE,
            structure::ALLOCATED_NAMESPACE,
        ];
        let is_of_allocated = structure == structure::ALLOCATED_NAMESPACE;
        if !known.contains(&structure) || is_of_allocated && !subsystem.can_be_divided() {
            return Err(CommandStatus::INVALID_FIELD);
        }
        if !(1..=subsystem.namespaces_max()).contains(&id) {
            return Err(CommandStatus::INVALID_NAMESPACE);
        }
        // A copy: the disk has a lock of its own, and is asked below.
        let found = subsystem.namespaces().get(id).cloned();
        let found = found.filter(|it| is_of_allocated || it.is_attached(&controller.host));
        Ok(match (structure, &found) {
            (structure::NAMESPACE | structure::ALLOCATED_NAMESPACE, Some(found)) => {
                subsystem.namespace(found).encode()
            }
            (structure::DESCRIPTORS, Some(found)) => {
                identify::descriptors(found.guid, subsystem.command_set())
            }
            (structure::INDEPENDENT_NAMESPACE, Some(_)) => identify::independent_namespace(),
            (structure::DESCRIPTORS | structure::INDEPENDENT_NAMESPACE, None) => {
                return Err(CommandStatus::INVALID_NAMESPACE);
            }
            (structure::NAMESPACE_OF_COMMAND_SET, Some(_)) if command_set == zns::COMMAND_SET => {
                let plan = subsystem.zones().ok_or(CommandStatus::INVALID_FIELD)?;
                zones::namespace(plan).encode()
            }
            _ => vec![0; IDENTIFY_BYTES],
        }
        .into())
    }

    /// The namespaces behind this one, all of them or those of a host.
    fn namespaces(&self, behind: u32, host: Option<&str>) -> CommandResult {
        if behind >= ALL_NAMESPACES - 1 {
            return Err(CommandStatus::INVALID_NAMESPACE);
        }
        let mut ids = self.subsystem.namespaces().ids(host);
        ids.retain(|&id| id > behind);
        Ok(identify::namespace_list_of(&ids).into())
    }

    /// The controllers from this one on, all of them or those that have a namespace.
    fn controllers(&self, structure: u8, id: u32, from: u16) -> CommandResult {
        let is_of_all = structure == structure::CONTROLLERS;
        if !is_of_all && self.subsystem.namespaces().get(id).is_none() {
            return Err(CommandStatus::INVALID_NAMESPACE);
        }
        let has = |controller: &Controller| {
            is_of_all || self.subsystem.namespace_of(id, controller).is_some()
        };
        let controllers = self.subsystem.controllers().into_iter();
        let named = controllers.filter(|it| it.id >= from && !it.is_discovery && has(it));
        let ids: Vec<_> = named.map(|controller| controller.id).collect();
        Ok(identify::number_list_of(&ids).into())
    }

    fn controller(&self) -> IdentifyController {
        let Self { subsystem, controller, .. } = self;
        let names = &subsystem.names;
        let is_discovery = controller.is_discovery;
        let thermal = subsystem.shared.with(|disk| disk.drive().config().options.thermal);
        let limits = thermal.map_or([None; 2], |thermal| thermal.steps);
        let [warning, critical] =
            limits.map(|step| step.map_or(0, |step| (step.hot_mk / 1000) as u16));
        let common = IdentifyController {
            serial: names.serial.clone(),
            model: names.model.clone(),
            firmware: names.firmware.clone(),
            version: VERSION,
            controller_id: controller.id,
            discovery: is_discovery,
            transfer_pages_log2: TRANSFER_PAGES_LOG2,
            outstanding_max: [3, EVENT_REQUESTS_MAX as u8 - 1],
            error_log_entries: ERRORS_MAX as u8 - 1,
            keep_alive_100ms: KEEP_ALIVE_100MS,
            commands_max: QUEUE_ENTRIES + 1,
            power_states: subsystem.power_states(),
            autonomous_power: !is_discovery && !subsystem.transitions().is_empty(),
            capsule_16_bytes: ((nvme::command::COMMAND_BYTES + CAPSULE_DATA_BYTES) / 16) as u32,
            subsystem: if is_discovery { nvme::fabrics::DISCOVERY_NQN } else { &names.nqn }
                .to_owned(),
            ..IdentifyController::default()
        };
        if is_discovery {
            return common;
        }
        let can_erase = subsystem.can_erase();
        let can_be_divided = subsystem.can_be_divided();
        let free_bytes = subsystem.namespaces().free_bytes();
        IdentifyController {
            total_nvm_bytes: subsystem.capacity_bytes().into(),
            free_nvm_bytes: free_bytes.into(),
            namespace_management: can_be_divided,
            format_hits_all: can_be_divided,
            erase_hits_all: can_be_divided,
            format: can_erase,
            crypto_erase: can_erase,
            sanitize_block: can_erase,
            sanitize_crypto: can_erase,
            sanitize_overwrite: can_erase && subsystem.zones().is_none(),
            extended_self_test_min: subsystem.reading_min(),
            warning_temperature_k: warning,
            critical_temperature_k: critical,
            volatile_write_cache: true,
            events: Event::NAMESPACE_CHANGED.mask
                | subsystem.zones().map_or(0, |_| Event::zone_changed(NAMESPACE).mask),
            namespaces: subsystem.namespaces_max(),
            placement: subsystem.placement().is_some(),
            nvm_commands: if subsystem.zones().is_some() { ZONED_COMMANDS } else { NVM_COMMANDS },
            copy_formats: u16::from(subsystem.zones().is_none()),
            ..common
        }
    }

    fn get_log(&self, command: &Command) -> CommandResult {
        let Command { namespace_id, dwords: [first, second, ..], .. } = *command;
        let page = first as u8;
        let keeps_events = first & 1 << 15 != 0;
        let bytes = (u64::from(first >> 16) | u64::from(second & 0xffff) << 16).wrapping_add(1) * 4;
        let offset = command.u64_in(2);
        if u64::from(command.data.bytes) < bytes {
            return Err(CommandStatus::DATA_LENGTH);
        }
        if bytes > TRANSFER_BYTES_MAX || !offset.is_multiple_of(4) {
            return Err(CommandStatus::INVALID_FIELD);
        }
        let has = |id| self.subsystem.namespace_of(id, self.controller).is_some();
        if ![0, ALL_NAMESPACES].contains(&namespace_id) && !has(namespace_id) {
            return Err(CommandStatus::INVALID_NAMESPACE);
        }
        let log = match (self.controller.is_discovery, page) {
            (true, page::DISCOVERY) => Some(logs::discovery(self.subsystem, self.address)),
            (true, _) => None,
            (false, page) if placement::PAGES.contains(&page) => {
                placement::log(self.subsystem, page, [first, second])?
            }
            // The only page of a namespace.
            (false, page::CHANGED_ZONES) if namespace_id != NAMESPACE => {
                return Err(CommandStatus::INVALID_FIELD);
            }
            (false, page) => logs::read(self.subsystem, self.controller, page),
        };
        let log = log.ok_or(CommandStatus::INVALID_LOG)?;
        let rest = usize::try_from(offset).ok().and_then(|offset| log.get(offset..));
        let mut data = rest.ok_or(CommandStatus::INVALID_FIELD)?.to_vec();
        data.resize(bytes as usize, 0);
        if !keeps_events {
            self.controller.page_read(page);
        }
        Ok(data.into())
    }

    /// Looks for new critical warnings, and tells the host of them.
    pub fn look_for_warnings(&self) {
        if self.subsystem.zones().is_some() {
            self.subsystem.look_for_changed_zones();
        }
        let warnings = logs::smart(self.subsystem, self.controller).critical_warning;
        let new = warnings & !std::mem::replace(&mut self.controller.state().warnings, warnings);
        for (warning, event) in
            [(WARNING_TEMPERATURE, Event::HOT), (WARNING_READ_ONLY, Event::READ_ONLY)]
        {
            if new & warning != 0 {
                self.controller.tell(event);
            }
        }
    }
}
