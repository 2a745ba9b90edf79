//! NVMe admin commands as plain data.

use nvme::command::{ALL_NAMESPACES, admin};
use nvme::fdp;
use nvme::identify::{IDENTIFY_BYTES, NamespaceFormat, structure};
use nvme::log::page;

/// Size of the SMART and of the OCP log.
const LOG_BYTES: u32 = 512;
/// Room for the configurations of placement; a descriptor takes 64 bytes and 4 for each handle.
const CONFIGURATIONS_BYTES: u32 = 4096;
/// Size of the table of autonomous power state transitions.
const AUTONOMOUS_POWER_BYTES: u32 = 256;
/// An answer that needs no NAND comes at once, or the controller hangs.
const QUICK_MS: u32 = 60_000;
/// A format that erases blocks may take minutes on a large drive; nvme-cli waits as long.
const FORMAT_MS: u32 = 600_000;

/// One admin command, without the place of its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdminCommand {
    /// Its name in the specification, for messages.
    pub name: &'static str,
    /// Opcode.
    pub opcode: u8,
    /// Namespace, 0 or [`ALL_NAMESPACES`].
    pub namespace_id: u32,
    /// Command dwords 10 to 15.
    pub dwords: [u32; 6],
    /// Bytes that the controller returns, or takes.
    pub answer_bytes: u32,
    /// Time after which the kernel gives the command up.
    pub timeout_ms: u32,
}

/// Effect of a format on user data (field SES).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatErase {
    /// All user data is erased; the content afterwards is not defined.
    UserData,
    /// The key of the encrypted user data is deleted.
    Crypto,
}

/// Action of a sanitize (field SANACT).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SanitizeAction {
    /// Erase all blocks.
    Block,
    /// Delete the key.
    Crypto,
}

impl AdminCommand {
    const fn new(name: &'static str, opcode: u8, namespace_id: u32) -> Self {
        Self { name, opcode, namespace_id, dwords: [0; 6], answer_bytes: 0, timeout_ms: QUICK_MS }
    }

    const fn identify(name: &'static str, namespace_id: u32, structure: u8) -> Self {
        let mut command = Self::new(name, admin::IDENTIFY, namespace_id);
        command.dwords[0] = structure as u32;
        command.answer_bytes = IDENTIFY_BYTES as u32;
        command
    }

    /// Identify Controller (CNS 01h).
    pub const fn identify_controller() -> Self {
        Self::identify("Identify Controller", 0, structure::CONTROLLER)
    }

    /// Identify Namespace (CNS 00h).
    pub const fn identify_namespace(namespace_id: u32) -> Self {
        Self::identify("Identify Namespace", namespace_id, structure::NAMESPACE)
    }

    /// Active Namespace ID list (CNS 02h), from the first one.
    pub const fn active_namespaces() -> Self {
        Self::identify("Identify Active Namespaces", 0, structure::ACTIVE_NAMESPACES)
    }

    const fn get_log(name: &'static str, log: u8, bytes: u32) -> Self {
        let mut command = Self::new(name, admin::GET_LOG_PAGE, ALL_NAMESPACES);
        // The number of dwords counts from 0.
        command.dwords[0] = log as u32 | (bytes / 4 - 1) << 16;
        command.answer_bytes = bytes;
        command
    }

    /// Get Log Page: SMART / Health Information (02h) of the controller.
    pub const fn smart_log() -> Self {
        Self::get_log("Get Log Page (SMART)", page::SMART, LOG_BYTES)
    }

    /// Get Log Page: Sanitize Status (81h).
    pub const fn sanitize_log() -> Self {
        Self::get_log("Get Log Page (Sanitize Status)", page::SANITIZE, LOG_BYTES)
    }

    /// Get Log Page: SMART Cloud Attributes (C0h) of the OCP Datacenter NVMe SSD specification.
    pub const fn ocp_smart_log() -> Self {
        Self::get_log("Get Log Page (OCP SMART)", page::OCP, LOG_BYTES)
    }

    const fn get_placement_log(name: &'static str, log: u8, group: u16, bytes: u32) -> Self {
        let mut command = Self::get_log(name, log, bytes);
        command.namespace_id = 0;
        // The endurance group is the identifier that belongs to the log.
        command.dwords[1] = (group as u32) << 16;
        command
    }

    /// Get Log Page: FDP Configurations (20h) of an endurance group.
    pub const fn placement_configurations(group: u16) -> Self {
        let name = "Get Log Page (FDP Configurations)";
        Self::get_placement_log(name, page::PLACEMENT_CONFIGURATIONS, group, CONFIGURATIONS_BYTES)
    }

    /// Get Log Page: FDP Statistics (22h) of an endurance group.
    pub const fn placement_statistics(group: u16) -> Self {
        let name = "Get Log Page (FDP Statistics)";
        let bytes = fdp::LOG_BYTES as u32;
        Self::get_placement_log(name, page::PLACEMENT_STATISTICS, group, bytes)
    }

    /// Get Features: Flexible Data Placement (1Dh) of an endurance group; the result says whether it is on.
    pub const fn get_placement(group: u16) -> Self {
        let name = "Get Features (Flexible Data Placement)";
        let mut command = Self::new(name, admin::GET_FEATURES, 0);
        command.dwords[0] = fdp::feature::PLACEMENT as u32;
        command.dwords[1] = group as u32;
        command
    }

    /// Format NVM of one namespace: same LBA format, all data gone.
    pub const fn format(namespace_id: u32, format: NamespaceFormat, erase: FormatErase) -> Self {
        let mut command = Self::new("Format NVM", admin::FORMAT, namespace_id);
        let erase = match erase {
            FormatErase::UserData => 1,
            FormatErase::Crypto => 2,
        };
        command.dwords[0] = (format.lba_format as u32 & 0x0f)
            | (format.extended_metadata as u32) << 4
            | (format.protection as u32 & 0x07) << 5
            | (format.protection_first as u32) << 8
            | erase << 9
            | (format.lba_format as u32 >> 4 & 0x03) << 12;
        command.timeout_ms = FORMAT_MS;
        command
    }

    /// Starts a sanitize of the whole NVM subsystem. After a failed one the drive serves no data
    /// until another succeeds, which is the restricted (safer to recover) kind.
    pub const fn sanitize(action: SanitizeAction) -> Self {
        let mut command = Self::new("Sanitize", admin::SANITIZE, 0);
        command.dwords[0] = match action {
            SanitizeAction::Block => 2,
            SanitizeAction::Crypto => 4,
        };
        command
    }

    /// Get Features: Power Management (02h), the power state in force; it is the command's result.
    pub const fn get_power_state() -> Self {
        let mut command = Self::new("Get Features (Power Management)", admin::GET_FEATURES, 0);
        command.dwords[0] = 0x02;
        command
    }

    /// Get Features: Autonomous Power State Transition (0Ch): the result says whether it is on, the data when.
    pub const fn get_autonomous_power() -> Self {
        let mut command =
            Self::new("Get Features (Autonomous Power State Transition)", admin::GET_FEATURES, 0);
        command.dwords[0] = 0x0c;
        command.answer_bytes = AUTONOMOUS_POWER_BYTES;
        command
    }

    /// Set Features: Autonomous Power State Transition (0Ch), until the next reset; takes a table.
    pub const fn set_autonomous_power(enabled: bool) -> Self {
        let mut command =
            Self::new("Set Features (Autonomous Power State Transition)", admin::SET_FEATURES, 0);
        command.dwords[0] = 0x0c;
        command.dwords[1] = enabled as u32;
        command.answer_bytes = AUTONOMOUS_POWER_BYTES;
        command
    }

    /// Set Features: Power Management (02h), until the next reset.
    pub const fn set_power_state(state: u8) -> Self {
        let mut command = Self::new("Set Features (Power Management)", admin::SET_FEATURES, 0);
        command.dwords[0] = 0x02;
        command.dwords[1] = state as u32 & 0x1f;
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Opcode, namespace, dwords 10 and 11, bytes, as `nvme-cli` 2.3 sends them (kernel tracepoint
    /// `nvme_setup_cmd`). The features differ: there `nvme-cli` names all namespaces, and the
    /// specification none.
    fn fields(command: &AdminCommand) -> (u8, u32, u32, u32, u32) {
        let AdminCommand { opcode, namespace_id, dwords, answer_bytes, .. } = command;
        (*opcode, *namespace_id, dwords[0], dwords[1], *answer_bytes)
    }

    #[test]
    fn commands_are_those_of_nvme_cli() {
        let sent = [
            (AdminCommand::identify_controller(), (0x06, 0, 0x1, 0, 4096)),
            (AdminCommand::identify_namespace(1), (0x06, 1, 0, 0, 4096)),
            (AdminCommand::active_namespaces(), (0x06, 0, 0x2, 0, 4096)),
            (AdminCommand::smart_log(), (0x02, 0xffff_ffff, 0x007f_0002, 0, 512)),
            (AdminCommand::ocp_smart_log(), (0x02, 0xffff_ffff, 0x007f_00c0, 0, 512)),
            (AdminCommand::placement_configurations(1), (0x02, 0, 0x03ff_0020, 0x1_0000, 4096)),
            (AdminCommand::placement_statistics(1), (0x02, 0, 0x000f_0022, 0x1_0000, 64)),
            (AdminCommand::get_placement(1), (0x0a, 0, 0x1d, 1, 0)),
            (AdminCommand::get_power_state(), (0x0a, 0, 0x2, 0, 0)),
            (AdminCommand::set_power_state(0), (0x09, 0, 0x2, 0, 0)),
            (AdminCommand::get_autonomous_power(), (0x0a, 0, 0xc, 0, 256)),
            (AdminCommand::set_autonomous_power(true), (0x09, 0, 0xc, 1, 256)),
            (AdminCommand::sanitize(SanitizeAction::Block), (0x84, 0, 0x2, 0, 0)),
            (AdminCommand::sanitize(SanitizeAction::Crypto), (0x84, 0, 0x4, 0, 0)),
        ];
        for (command, expected) in sent {
            assert_eq!(fields(&command), expected, "{}", command.name);
        }
        let plain = NamespaceFormat::default();
        for (erase, dword) in [(FormatErase::UserData, 0x200), (FormatErase::Crypto, 0x400)] {
            let command = AdminCommand::format(1, plain, erase);
            assert_eq!(fields(&command), (0x80, 1, dword, 0, 0));
            assert_eq!(command.timeout_ms, 600_000);
        }
    }

    #[test]
    fn a_format_says_again_how_the_namespace_is_laid_out() {
        let format = NamespaceFormat {
            lba_format: 0x25,
            extended_metadata: true,
            protection: 2,
            protection_first: true,
        };
        let command = AdminCommand::format(7, format, FormatErase::UserData);
        let fields = [(2, 12), (1, 9), (1, 8), (2, 5), (1, 4), (5, 0)];
        let expected = fields.iter().fold(0, |dword, (value, shift)| dword | value << shift);
        assert_eq!(command.dwords[0], expected, "LBAFU, SES, PIL, PI, MSET, LBAFL");
    }
}
