//! NVMe over Fabrics: connections, properties and discovery.

use base::bytes::{array, text, u16_at, u32_at};

use crate::bytes::{put, put_text};
use crate::command::Command;

/// Name of every discovery subsystem.
pub const DISCOVERY_NQN: &str = "nqn.2014-08.org.nvmexpress.discovery";
/// Longest name of a host or a subsystem, in bytes.
pub const NQN_BYTES_MAX: usize = 223;
/// Bytes of the data of Connect.
pub const CONNECT_BYTES: usize = 1024;
/// The number in Connect for a controller that is to be made.
pub const ANY_CONTROLLER: u16 = 0xffff;
/// Bytes of the head of the discovery log, and of each entry.
pub const DISCOVERY_BYTES: usize = 1024;

/// Types of the commands of fabrics.
pub mod kind {
    pub const PROPERTY_SET: u8 = 0x00;
    pub const CONNECT: u8 = 0x01;
    pub const PROPERTY_GET: u8 = 0x04;
    pub const DISCONNECT: u8 = 0x08;
}

/// Offsets of the properties of a controller.
pub mod property {
    pub const CAPABILITIES: u32 = 0x00;
    pub const VERSION: u32 = 0x08;
    pub const CONFIGURATION: u32 = 0x14;
    pub const STATUS: u32 = 0x1c;
}

/// The fields of Connect in the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connect {
    pub format: u16,
    /// Number of the queue; 0 is the admin queue.
    pub queue_id: u16,
    /// Entries of the queue, counted from 0.
    pub entries: u16,
    /// Attributes.
    pub attributes: u8,
    /// Time without a command after which the controller ends the association; 0 for never.
    pub keep_alive_ms: u32,
}

impl Connect {
    /// The attribute of a queue without flow control.
    pub const NO_FLOW_CONTROL: u8 = 1 << 2;

    /// The fields in a command.
    pub fn of(command: &Command) -> Self {
        let [first, second, keep_alive_ms, ..] = command.dwords;
        Self {
            format: first as u16,
            queue_id: (first >> 16) as u16,
            entries: second as u16,
            attributes: (second >> 16) as u8,
            keep_alive_ms,
        }
    }

    /// Command dwords 10 to 15.
    pub fn dwords(&self) -> [u32; 6] {
        let first = u32::from(self.format) | u32::from(self.queue_id) << 16;
        let second = u32::from(self.entries) | u32::from(self.attributes) << 16;
        [first, second, self.keep_alive_ms, 0, 0, 0]
    }
}

/// The data of Connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectData {
    /// Number that the host has for itself.
    pub host_id: [u8; 16],
    /// Number of the controller, or [`ANY_CONTROLLER`].
    pub controller_id: u16,
    /// Name of the subsystem.
    pub subsystem: String,
    /// Name of the host.
    pub host: String,
}

impl ConnectData {
    /// Decodes the data. Missing bytes count as zero.
    pub fn decode(bytes: &[u8]) -> Self {
        Self {
            host_id: array(bytes, 0),
            controller_id: u16_at(bytes, 16),
            subsystem: text(&array::<256>(bytes, 256)),
            host: text(&array::<256>(bytes, 512)),
        }
    }

    /// The data.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; CONNECT_BYTES];
        put(&mut bytes, 0, self.host_id);
        put(&mut bytes, 16, self.controller_id.to_le_bytes());
        put_text(&mut bytes, 256..512, &self.subsystem, 0);
        put_text(&mut bytes, 512..768, &self.host, 0);
        bytes
    }
}

/// A command for a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PropertyAccess {
    /// Whether the property has 8 bytes, else 4.
    pub is_long: bool,
    /// Its offset.
    pub offset: u32,
    /// The new value, of a set.
    pub value: u64,
}

impl PropertyAccess {
    /// The fields in a command.
    pub fn of(command: &Command) -> Self {
        let is_long = command.dwords[0] & 0b111 == 1;
        Self { is_long, offset: command.dwords[1], value: command.u64_in(2) }
    }

    /// Command dwords 10 to 15.
    pub fn dwords(&self) -> [u32; 6] {
        [self.is_long.into(), self.offset, self.value as u32, (self.value >> 32) as u32, 0, 0]
    }
}

/// An entry of the discovery log: a subsystem at an address of TCP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoveryEntry {
    /// Whether the address is of the internet protocol 6, else 4.
    pub is_v6: bool,
    /// Number of the port within the subsystem.
    pub port_id: u16,
    /// Name of the subsystem.
    pub subsystem: String,
    /// The address.
    pub address: String,
    /// The port.
    pub service: String,
}

impl DiscoveryEntry {
    const TRANSPORT_TCP: u8 = 3;
    /// The subsystem has namespaces.
    const NVM_SUBSYSTEM: u8 = 2;

    /// The bytes of the entry.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; DISCOVERY_BYTES];
        let family = if self.is_v6 { 2 } else { 1 };
        put(&mut bytes, 0, [Self::TRANSPORT_TCP, family, Self::NVM_SUBSYSTEM]);
        put(&mut bytes, 4, self.port_id.to_le_bytes());
        put(&mut bytes, 6, ANY_CONTROLLER.to_le_bytes());
        // Entries of an admin queue: the smallest permitted number.
        put(&mut bytes, 8, 32_u16.to_le_bytes());
        put_text(&mut bytes, 32..64, &self.service, b' ');
        put_text(&mut bytes, 256..512, &self.subsystem, 0);
        put_text(&mut bytes, 512..768, &self.address, b' ');
        bytes
    }

    /// Decodes an entry. Missing bytes count as zero.
    pub fn decode(bytes: &[u8]) -> Self {
        Self {
            is_v6: array::<1>(bytes, 1)[0] == 2,
            port_id: u16_at(bytes, 4),
            subsystem: text(&array::<256>(bytes, 256)),
            address: text(&array::<256>(bytes, 512)),
            service: text(&array::<32>(bytes, 32)),
        }
    }
}

/// The whole discovery log with these entries.
pub fn discovery_log(generation: u64, entries: &[DiscoveryEntry]) -> Vec<u8> {
    let mut log = vec![0; DISCOVERY_BYTES];
    put(&mut log, 0, generation.to_le_bytes());
    put(&mut log, 8, (entries.len() as u64).to_le_bytes());
    entries.iter().for_each(|entry| log.extend(entry.encode()));
    log
}

/// The entries of a discovery log, as far as it has them.
pub fn discovery_entries(log: &[u8]) -> Vec<DiscoveryEntry> {
    let count = u32_at(log, 8) as usize;
    log.chunks_exact(DISCOVERY_BYTES).skip(1).take(count).map(DiscoveryEntry::decode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{DataDescriptor, FABRICS};
    use proptest::prelude::*;

    fn command(dwords: [u32; 6]) -> Command {
        let data = DataDescriptor { offset: 0, bytes: 0, kind: 0 };
        Command { opcode: FABRICS, flags: 0, id: 0, namespace_id: 0, data, dwords }
    }

    proptest! {
        #[test]
        fn commands_of_fabrics_survive_the_wire(
            (format, queue_id, entries) in any::<(u16, u16, u16)>(),
            (attributes, keep_alive_ms) in any::<(u8, u32)>(),
            (is_long, offset, value) in any::<(bool, u32, u64)>(),
        ) {
            let connect = Connect { format, queue_id, entries, attributes, keep_alive_ms };
            prop_assert_eq!(Connect::of(&command(connect.dwords())), connect);
            let access = PropertyAccess { is_long, offset, value };
            prop_assert_eq!(PropertyAccess::of(&command(access.dwords())), access);
        }

        #[test]
        fn data_of_fabrics_survives_the_wire(
            host_id in any::<[u8; 16]>(),
            controller_id in any::<u16>(),
            [subsystem, host, address, service] in ["[a-z0-9:.]{1,223}", "[a-z0-9:.]{1,223}", "[0-9.]{1,256}", "[0-9]{1,32}"],
        ) {
            let data = ConnectData { host_id, controller_id, subsystem: subsystem.clone(), host };
            prop_assert_eq!(ConnectData::decode(&data.encode()), data);
            let entry = DiscoveryEntry { is_v6: controller_id & 1 == 0, port_id: 7, subsystem, address, service };
            prop_assert_eq!(discovery_entries(&discovery_log(3, std::slice::from_ref(&entry))), [entry]);
        }

        #[test]
        fn no_data_panics(bytes in prop::collection::vec(any::<u8>(), 0..3000)) {
            let _ = ConnectData::decode(&bytes);
            let _ = discovery_entries(&bytes);
        }
    }
}
