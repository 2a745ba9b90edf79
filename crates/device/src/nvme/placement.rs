//! Flexible data placement of a namespace: the placement identifiers that its writes may name, and the bytes that its
//! endurance group counts.
//!
//! Source: NVM Express TP4146, part of the base specification 2.1. Simplifications: of several reclaim groups the first is
//! named, and of its handles the first 127 that the drive lists.

use std::fs::File;

use base::Bytes;
use nvme::fdp::{self, Configuration, HandleStatus, Statistics};
use target::TargetError;

use super::Controller;
use super::command::AdminCommand;
use super::generic;
use super::io_command::IoCommand;
use crate::describe::DeviceReport;
use crate::host::sysfs::System;

/// Room for the states of 127 handles: one page, which every controller transfers.
const STATUS_BYTES: u32 = 4096;

/// The placement handles of a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacementHandles {
    /// Their placement identifiers in ascending order, at least two. The first is that of writes that name none.
    pub identifiers: Vec<u16>,
    /// The configuration of the endurance group, or `None` if the drive does not tell it.
    pub configuration: Option<Configuration>,
}

impl PlacementHandles {
    /// The handles of the open namespace, or the reason why there are none, with a command that helps.
    pub fn find(file: &File, report: &DeviceReport) -> Result<Self, String> {
        generic::locate(&System::live(), report)?;
        let node = report.node.display().to_string();
        let controller = Controller::new(file, &node);
        let namespace_id = controller.namespace_id().map_err(|error| error.with_cause())?;
        let Some(group) =
            controller.placement_group(namespace_id).map_err(|error| error.with_cause())?
        else {
            return Err(
                "the drive has no flexible data placement: bit 19 of ctratt in `nvme id-ctrl`, or \
                        endgid in `nvme id-ns`, is 0"
                    .into(),
            );
        };
        let Some(index) =
            controller.configuration_in_force(group).map_err(|error| error.with_cause())?
        else {
            return Err(format!(
                "flexible data placement is off in endurance group {group}: delete its namespaces, then \
                 `nvme fdp feature {node} --endgrp-id={group} --enable-conf-idx=0`, then `nvme create-ns` with handles"
            ));
        };
        let configurations = controller.execute(&AdminCommand::placement_configurations(group));
        let configuration = configurations.ok().and_then(|log| Configuration::decode(&log, index));
        let handles = controller.handles(namespace_id).map_err(|error| error.with_cause())?;
        Self::of(&handles, configuration)
    }

    fn of(handles: &[HandleStatus], configuration: Option<Configuration>) -> Result<Self, String> {
        let group_bits = configuration.map_or(0, |found| found.group_bits);
        let identifiers = fdp::identifiers(handles, group_bits);
        if identifiers.len() < 2 {
            return Err(format!(
                "the namespace has {} placement handle(s), and only two keep data apart: `nvme create-ns` makes one \
                 with more (`nvme fdp status` lists them)",
                identifiers.len()
            ));
        }
        Ok(Self { identifiers, configuration })
    }

    /// Their number and the way in which they keep data apart.
    pub fn words(&self) -> String {
        let count = format!("{} placement handles", self.identifiers.len());
        let Some(configuration) = self.configuration else { return count };
        let Configuration { groups, is_persistent, unit_bytes, .. } = configuration;
        let isolation = if is_persistent { "persistently" } else { "initially" };
        let group =
            if groups > 1 { format!(", the first of {groups} groups") } else { String::new() };
        format!("{count}, {isolation} isolated, in units of {}{group}", Bytes(unit_bytes))
    }
}

impl Controller<'_> {
    /// The endurance group of a namespace that may have placement, or `None` if the drive has none.
    ///
    /// # Errors
    /// As [`Controller::execute`].
    pub(crate) fn placement_group(&self, namespace_id: u32) -> Result<Option<u16>, TargetError> {
        if !self.identify()?.placement {
            return Ok(None);
        }
        let group = self.identify_namespace(namespace_id)?.endurance_group;
        Ok((group != 0).then_some(group))
    }

    /// The configuration of an endurance group, or `None` if placement is off.
    fn configuration_in_force(&self, group: u16) -> Result<Option<u8>, TargetError> {
        let (_, result) = self.exchange(&AdminCommand::get_placement(group))?;
        Ok(fdp::configuration_in_force(result))
    }

    /// The states of the handles of a namespace.
    fn handles(&self, namespace_id: u32) -> Result<Vec<HandleStatus>, TargetError> {
        let command = IoCommand::placement_handles(namespace_id, STATUS_BYTES);
        let name = "I/O Management Receive (Reclaim Unit Handle Status)";
        Ok(HandleStatus::decode_all(&self.ask(name, &command, STATUS_BYTES)?))
    }

    /// Bytes that an endurance group counts.
    ///
    /// # Errors
    /// As [`Controller::execute`].
    pub(crate) fn placement_statistics(&self, group: u16) -> Result<Statistics, TargetError> {
        Ok(Statistics::decode(&self.execute(&AdminCommand::placement_statistics(group))?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(placements: &[u16]) -> Result<PlacementHandles, String> {
        let status = |&placement: &u16| HandleStatus { placement, left_blocks: 0 };
        let handles: Vec<_> = placements.iter().map(status).collect();
        let answer = HandleStatus::encode_all(&handles);
        PlacementHandles::of(&HandleStatus::decode_all(&answer), None)
    }

    #[test]
    fn fewer_than_two_different_handles_are_none() {
        for (placements, expected) in [(&[][..], "0 placement"), (&[3, 3, 3], "1 placement")] {
            let why = of(placements).unwrap_err();
            assert!(why.contains(expected) && why.contains("nvme create-ns"), "{why}");
        }
        assert_eq!(of(&[5, 0, 5]).unwrap().identifiers, [0, 5]);
    }

    #[test]
    fn handles_are_told_with_their_isolation() {
        let mut found = of(&[0, 1]).unwrap();
        assert_eq!(found.words(), "2 placement handles");
        found.configuration = Some(Configuration {
            groups: 4,
            group_bits: 2,
            handles: 2,
            is_persistent: true,
            unit_bytes: 6 << 30,
            namespaces: 1,
        });
        let expected =
            "2 placement handles, persistently isolated, in units of 6GiB, the first of 4 groups";
        assert_eq!(found.words(), expected);
    }
}
