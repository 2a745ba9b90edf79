//! Protocol data units of NVMe/TCP.
//!
//! ```text
//! common header (8) | header of the kind | header digest (4) | padding | data | data digest (4)
//! ```
//!
//! A digest is the CRC-32C of the header, or of the data. Both sides agree on digests in the first two units, which have
//! none themselves.

use base::bytes::{array, u8_at, u16_at, u32_at};
use thiserror::Error;

use crate::bytes::put;
use crate::command::{COMMAND_BYTES, Command, Completion};

/// Bytes of the common header.
pub const COMMON_BYTES: usize = 8;
/// Bytes of a digest.
const DIGEST_BYTES: usize = 4;
/// Most bytes of a header that a termination repeats.
const REPEATED_BYTES_MAX: usize = 128;

mod kind {
    pub(super) const CONNECTION_REQUEST: u8 = 0;
    pub(super) const CONNECTION_RESPONSE: u8 = 1;
    pub(super) const HOST_TERMINATION: u8 = 2;
    pub(super) const CONTROLLER_TERMINATION: u8 = 3;
    pub(super) const COMMAND: u8 = 4;
    pub(super) const COMPLETION: u8 = 5;
    pub(super) const HOST_DATA: u8 = 6;
    pub(super) const CONTROLLER_DATA: u8 = 7;
    pub(super) const READY: u8 = 9;
}

mod flag {
    pub(super) const HEADER_DIGEST: u8 = 1;
    pub(super) const DATA_DIGEST: u8 = 1 << 1;
    pub(super) const LAST: u8 = 1 << 2;
}

/// Digests that both sides have agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digests {
    /// Whether headers have one.
    pub header: bool,
    /// Whether data has one.
    pub data: bool,
}

/// The parameters of a connection, as one side offers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionParameters {
    /// Version of the format of units; 0 is the only one.
    pub format: u16,
    /// Alignment of data that this side receives, in dwords counted from 0.
    pub alignment: u8,
    pub digests: Digests,
    /// Of a host: transfers per command that may be ready, counted from 0. Of a controller: most bytes of data in a unit.
    pub limit: u32,
}

/// A part of the data of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataTransfer<'a> {
    /// The number that the host gave the command.
    pub command_id: u16,
    /// The number that the controller gave the transfer; 0 in data of the controller.
    pub tag: u16,
    /// Place in the data of the command.
    pub offset: u32,
    /// Whether it is the last one of its transfer.
    pub is_last: bool,
    pub data: &'a [u8],
}

/// The end of a connection because of an error that leaves no other way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Termination<'a> {
    /// The kind of error.
    pub status: TerminationStatus,
    /// Further information, as the place of a field.
    pub detail: u32,
    /// The begin of the unit with the error.
    pub header: &'a [u8],
}

/// Kind of an error that ends a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminationStatus(pub u16);

impl TerminationStatus {
    /// A field of a header has a value that is not valid.
    pub const FIELD: Self = Self(1);
    /// A unit came at the wrong time.
    pub const SEQUENCE: Self = Self(2);
    /// The digest of a header is wrong.
    pub const HEADER_DIGEST: Self = Self(3);
    /// Data lies outside its transfer.
    pub const RANGE: Self = Self(4);
    /// More data came than permitted.
    pub const LIMIT: Self = Self(5);
    /// The other side asks for an unsupported parameter.
    pub const UNSUPPORTED: Self = Self(6);
}

/// A protocol data unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pdu<'a> {
    /// First unit of a host (ICReq).
    ConnectionRequest(ConnectionParameters),
    /// Its answer (ICResp).
    ConnectionResponse(ConnectionParameters),
    /// The host ends the connection (H2CTermReq).
    HostTermination(Termination<'a>),
    /// The controller ends the connection (C2HTermReq).
    ControllerTermination(Termination<'a>),
    /// A command with the data in its capsule (CapsuleCmd).
    Command(Command, &'a [u8]),
    /// A completion (CapsuleResp).
    Completion(Completion),
    /// Data of a write (H2CData).
    HostData(DataTransfer<'a>),
    /// Data of a read (C2HData).
    ControllerData(DataTransfer<'a>),
    /// The controller takes data of a write (R2T).
    Ready {
        /// The number that the host gave the command.
        command_id: u16,
        /// The number of the transfer.
        tag: u16,
        /// Place in the data of the command.
        offset: u32,
        /// Number of bytes.
        bytes: u32,
    },
}

/// The begin of the bytes that the other side has sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PduState<'a> {
    /// A unit needs so many bytes in all, and they are not there yet.
    Incomplete(usize),
    /// A unit.
    Complete {
        /// Its length.
        bytes: usize,
        pdu: Pdu<'a>,
        /// Whether its data has the right digest, or none.
        is_intact: bool,
    },
}

/// An error after which the end of a unit is unknown, or nothing in it can be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PduError {
    /// A field of the header is not valid.
    #[error("byte {at} of the header of a unit of type {kind} is not valid")]
    Field {
        /// Type of the unit.
        kind: u8,
        /// Place of the field.
        at: u32,
    },
    /// The header has another digest than it says.
    #[error("a header has the digest {found:#010x}, and says {expected:#010x}")]
    HeaderDigest {
        /// That of the bytes.
        found: u32,
        /// That in the unit.
        expected: u32,
    },
}

impl PduError {
    /// The same for the other side: status and detail.
    pub const fn termination(&self) -> (TerminationStatus, u32) {
        match self {
            Self::Field { at, .. } => (TerminationStatus::FIELD, *at),
            Self::HeaderDigest { expected, .. } => (TerminationStatus::HEADER_DIGEST, *expected),
        }
    }
}

/// The first unit in `input`, which has at most `data_bytes_max` bytes of data.
///
/// # Errors
/// [`PduError`].
pub fn parse(
    input: &[u8],
    digests: Digests,
    data_bytes_max: usize,
) -> Result<PduState<'_>, PduError> {
    if input.len() < COMMON_BYTES {
        return Ok(PduState::Incomplete(COMMON_BYTES));
    }
    let layout = Layout::of(input, digests, data_bytes_max)?;
    let Some(unit) = input.get(..layout.unit_bytes) else {
        return Ok(PduState::Incomplete(layout.unit_bytes));
    };
    let header = &unit[..layout.header_bytes];
    if layout.has_header_digest {
        let (found, expected) = (crc32c::crc32c(header), u32_at(unit, layout.header_bytes));
        if found != expected {
            return Err(PduError::HeaderDigest { found, expected });
        }
    }
    let data = &unit[layout.data_start..layout.data_end];
    let is_intact =
        layout.data_end == unit.len() || crc32c::crc32c(data) == u32_at(unit, layout.data_end);
    Ok(PduState::Complete { bytes: unit.len(), pdu: decode(header, data)?, is_intact })
}

/// The places of the parts of a unit.
struct Layout {
    header_bytes: usize,
    has_header_digest: bool,
    data_start: usize,
    data_end: usize,
    unit_bytes: usize,
}

impl Layout {
    fn of(input: &[u8], digests: Digests, data_bytes_max: usize) -> Result<Self, PduError> {
        let [kind, flags, header_bytes, data_start] = array(input, 0);
        let unit_bytes = u32_at(input, 4) as usize;
        let wrong = |at| Err(PduError::Field { kind, at });
        let Some((expected_bytes, carries_data)) = shape(kind) else { return wrong(0) };
        if usize::from(header_bytes) != expected_bytes {
            return wrong(2);
        }
        let header_bytes = expected_bytes;
        let has_digests = !matches!(kind, kind::CONNECTION_REQUEST..=kind::CONTROLLER_TERMINATION);
        let has_header_digest = has_digests && digests.header;
        if (flags & flag::HEADER_DIGEST != 0) != has_header_digest {
            return wrong(1);
        }
        let header_end = header_bytes + if has_header_digest { DIGEST_BYTES } else { 0 };
        let has_data = carries_data && unit_bytes > header_end;
        let data_start = match (has_data, usize::from(data_start)) {
            (false, _) => header_end,
            // A termination has no place for data: it follows the header.
            (true, _) if !has_digests => header_end,
            (true, start) if start >= header_end && start % 4 == 0 => start,
            (true, _) => return wrong(3),
        };
        let has_data_digest = has_digests && digests.data && has_data;
        if has_digests && (flags & flag::DATA_DIGEST != 0) != has_data_digest {
            return wrong(1);
        }
        let data_digest_bytes = if has_data_digest { DIGEST_BYTES } else { 0 };
        let Some(data_end) =
            unit_bytes.checked_sub(data_digest_bytes).filter(|&end| end >= data_start)
        else {
            return wrong(4);
        };
        let most = if has_digests { data_bytes_max } else { REPEATED_BYTES_MAX };
        if data_end - data_start > if has_data { most } else { 0 } {
            return wrong(4);
        }
        Ok(Self { header_bytes, has_header_digest, data_start, data_end, unit_bytes })
    }
}

/// Bytes of the header of a kind, and whether data may follow; `None` for an unknown kind.
const fn shape(kind: u8) -> Option<(usize, bool)> {
    Some(match kind {
        kind::CONNECTION_REQUEST | kind::CONNECTION_RESPONSE => (128, false),
        kind::HOST_TERMINATION | kind::CONTROLLER_TERMINATION => (24, true),
        kind::COMMAND => (COMMON_BYTES + COMMAND_BYTES, true),
        kind::COMPLETION | kind::READY => (24, false),
        kind::HOST_DATA | kind::CONTROLLER_DATA => (24, true),
        _ => return None,
    })
}

fn decode<'a>(header: &[u8], data: &'a [u8]) -> Result<Pdu<'a>, PduError> {
    let [kind, flags] = array(header, 0);
    let parameters = || {
        let digests = u8_at(header, 11);
        ConnectionParameters {
            format: u16_at(header, 8),
            alignment: u8_at(header, 10),
            digests: Digests { header: digests & 1 != 0, data: digests & 2 != 0 },
            limit: u32_at(header, 12),
        }
    };
    let termination = || Termination {
        status: TerminationStatus(u16_at(header, 8)),
        detail: u32_at(header, 10),
        header: data,
    };
    let (command_id, tag) = (u16_at(header, 8), u16_at(header, 10));
    let (offset, bytes) = (u32_at(header, 12), u32_at(header, 16));
    let transfer =
        || DataTransfer { command_id, tag, offset, is_last: flags & flag::LAST != 0, data };
    Ok(match kind {
        kind::CONNECTION_REQUEST => Pdu::ConnectionRequest(parameters()),
        kind::CONNECTION_RESPONSE => Pdu::ConnectionResponse(parameters()),
        kind::HOST_TERMINATION => Pdu::HostTermination(termination()),
        kind::CONTROLLER_TERMINATION => Pdu::ControllerTermination(termination()),
        kind::COMMAND => Pdu::Command(Command::decode(&header[COMMON_BYTES..]), data),
        kind::COMPLETION => Pdu::Completion(Completion::decode(&header[COMMON_BYTES..])),
        kind::READY => Pdu::Ready { command_id, tag, offset, bytes },
        _ if bytes as usize != data.len() => return Err(PduError::Field { kind, at: 16 }),
        kind::HOST_DATA => Pdu::HostData(transfer()),
        _ => Pdu::ControllerData(transfer()),
    })
}

impl Pdu<'_> {
    const fn kind(&self) -> u8 {
        match self {
            Self::ConnectionRequest(_) => kind::CONNECTION_REQUEST,
            Self::ConnectionResponse(_) => kind::CONNECTION_RESPONSE,
            Self::HostTermination(_) => kind::HOST_TERMINATION,
            Self::ControllerTermination(_) => kind::CONTROLLER_TERMINATION,
            Self::Command(..) => kind::COMMAND,
            Self::Completion(_) => kind::COMPLETION,
            Self::HostData(_) => kind::HOST_DATA,
            Self::ControllerData(_) => kind::CONTROLLER_DATA,
            Self::Ready { .. } => kind::READY,
        }
    }

    /// Appends the bytes; data begins at a multiple of `alignment + 1` dwords.
    pub fn encode(&self, out: &mut Vec<u8>, digests: Digests, alignment: u8) {
        let kind = self.kind();
        let mut header = [0; 128];
        let (header_bytes, data) = self.put_header(&mut header);
        let header = &mut header[..header_bytes];
        let has_digests = kind > kind::CONTROLLER_TERMINATION;
        let has_header_digest = has_digests && digests.header;
        let has_data_digest = has_digests && digests.data && !data.is_empty();
        let header_end = header_bytes + if has_header_digest { DIGEST_BYTES } else { 0 };
        let is_aligned = has_digests && !data.is_empty();
        let data_start = if is_aligned {
            header_end.next_multiple_of(4 * (usize::from(alignment) + 1))
        } else {
            header_end
        };
        let unit_bytes = data_start + data.len() + if has_data_digest { DIGEST_BYTES } else { 0 };
        header[0] = kind;
        header[1] |= u8::from(has_header_digest) * flag::HEADER_DIGEST
            + u8::from(has_data_digest) * flag::DATA_DIGEST;
        header[2] = header_bytes as u8;
        header[3] = if is_aligned { data_start as u8 } else { 0 };
        put(header, 4, (unit_bytes as u32).to_le_bytes());
        out.extend(&*header);
        if has_header_digest {
            out.extend(crc32c::crc32c(header).to_le_bytes());
        }
        out.resize(out.len() + data_start - header_end, 0);
        out.extend(data);
        if has_data_digest {
            out.extend(crc32c::crc32c(data).to_le_bytes());
        }
    }

    /// Puts the fields of the kind and the flags; the length of the header, and the data.
    fn put_header(&self, header: &mut [u8; 128]) -> (usize, &[u8]) {
        match self {
            Self::ConnectionRequest(parameters) | Self::ConnectionResponse(parameters) => {
                let ConnectionParameters { format, alignment, digests, limit } = parameters;
                put(header, 8, format.to_le_bytes());
                put(
                    header,
                    10,
                    [*alignment, u8::from(digests.header) | u8::from(digests.data) << 1],
                );
                put(header, 12, limit.to_le_bytes());
                (128, &[])
            }
            Self::HostTermination(termination) | Self::ControllerTermination(termination) => {
                put(header, 8, termination.status.0.to_le_bytes());
                put(header, 10, termination.detail.to_le_bytes());
                (24, &termination.header[..termination.header.len().min(REPEATED_BYTES_MAX)])
            }
            Self::Command(command, data) => {
                put(header, COMMON_BYTES, command.encode());
                (COMMON_BYTES + COMMAND_BYTES, data)
            }
            Self::Completion(completion) => {
                put(header, COMMON_BYTES, completion.encode());
                (24, &[])
            }
            Self::HostData(transfer) | Self::ControllerData(transfer) => {
                let DataTransfer { command_id, tag, offset, is_last, data } = transfer;
                header[1] = u8::from(*is_last) * flag::LAST;
                put_transfer(header, (*command_id, *tag), *offset, data.len() as u32);
                (24, data)
            }
            Self::Ready { command_id, tag, offset, bytes } => {
                put_transfer(header, (*command_id, *tag), *offset, *bytes);
                (24, &[])
            }
        }
    }
}

fn put_transfer(header: &mut [u8; 128], (command_id, tag): (u16, u16), offset: u32, bytes: u32) {
    put(header, 8, command_id.to_le_bytes());
    put(header, 10, tag.to_le_bytes());
    put(header, 12, offset.to_le_bytes());
    put(header, 16, bytes.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::DataDescriptor;
    use crate::status::CommandStatus;
    use proptest::prelude::*;

    const DATA_BYTES_MAX: usize = 4096;

    fn digests() -> impl Strategy<Value = Digests> {
        any::<(bool, bool)>().prop_map(|(header, data)| Digests { header, data })
    }

    /// One unit of each kind with these numbers and this data.
    fn pdus(numbers: [u16; 4], wide: [u32; 2], digests: Digests, data: &[u8]) -> Vec<Pdu<'_>> {
        let [command_id, tag, format, status] = numbers;
        let [offset, limit] = wide;
        let alignment = format as u8;
        let parameters = ConnectionParameters { format, alignment, digests, limit };
        let header = &data[..data.len().min(REPEATED_BYTES_MAX)];
        let termination = Termination { status: TerminationStatus(status), detail: offset, header };
        let command = Command {
            opcode: 1,
            flags: 0x40,
            id: command_id,
            namespace_id: offset,
            data: DataDescriptor { offset: 0, bytes: limit, kind: 1 },
            dwords: [limit; 6],
        };
        let completion = Completion {
            result: offset.into(),
            queue_head: tag,
            queue_id: format,
            command_id,
            status: CommandStatus(status >> 1),
        };
        let transfer = DataTransfer { command_id, tag, offset, is_last: status & 1 == 0, data };
        vec![
            Pdu::ConnectionRequest(parameters),
            Pdu::ConnectionResponse(parameters),
            Pdu::HostTermination(termination),
            Pdu::ControllerTermination(termination),
            Pdu::Command(command, data),
            Pdu::Completion(completion),
            Pdu::HostData(transfer),
            Pdu::ControllerData(transfer),
            Pdu::Ready { command_id, tag, offset, bytes: limit },
        ]
    }

    proptest! {
        #[test]
        fn every_unit_survives_the_wire(
            (numbers, wide, digests) in (any::<[u16; 4]>(), any::<[u32; 2]>(), digests()),
            data in prop::collection::vec(any::<u8>(), 0..300),
            alignment in 0_u8..32,
        ) {
            for pdu in pdus(numbers, wide, digests, &data) {
                let mut bytes = Vec::new();
                pdu.encode(&mut bytes, digests, alignment);
                let whole = bytes.len();
                for end in 0..whole {
                    let state = parse(&bytes[..end], digests, DATA_BYTES_MAX);
                    prop_assert!(matches!(state, Ok(PduState::Incomplete(needs)) if needs > end && needs <= whole), "{:?}", state);
                }
                bytes.extend([0xee; 9]);
                let expected = PduState::Complete { bytes: whole, pdu, is_intact: true };
                prop_assert_eq!(parse(&bytes, digests, DATA_BYTES_MAX), Ok(expected));
            }
        }

        #[test]
        fn digests_find_a_changed_bit(
            (numbers, wide) in (any::<[u16; 4]>(), any::<[u32; 2]>()),
            data in prop::collection::vec(any::<u8>(), 1..300),
            place in any::<prop::sample::Index>(),
            bit in 0_u8..8,
        ) {
            let digests = Digests { header: true, data: true };
            let pdu = pdus(numbers, wide, digests, &data)[6];
            let mut bytes = Vec::new();
            pdu.encode(&mut bytes, digests, 0);
            let at = 8 + place.index(bytes.len() - 8);
            bytes[at] ^= 1 << bit;
            match parse(&bytes, digests, DATA_BYTES_MAX) {
                Err(PduError::HeaderDigest { .. }) => prop_assert!(at < 28),
                Ok(PduState::Complete { is_intact, .. }) => prop_assert!(!is_intact && at >= 28),
                other => prop_assert!(false, "{:?}", other),
            }
        }

        #[test]
        fn no_bytes_panic_or_ask_for_more_than_a_unit(
            bytes in prop::collection::vec(any::<u8>(), 0..400),
            (kind, header_bytes, digests) in (0_u8..12, prop::sample::select(vec![24_u8, 72, 128]), digests()),
        ) {
            let mut bytes = bytes;
            if bytes.len() > 3 {
                (bytes[0], bytes[2]) = (kind, header_bytes);
            }
            if let Ok(PduState::Incomplete(needs)) = parse(&bytes, digests, DATA_BYTES_MAX) {
                prop_assert!(needs <= usize::from(u8::MAX) + DATA_BYTES_MAX + DIGEST_BYTES);
            }
        }
    }

    /// The check value of CRC-32C, and the digest of 32 zeros in RFC 3720, B.4.
    #[test]
    fn digests_are_those_of_the_standard() {
        assert_eq!(crc32c::crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c::crc32c(&[0; 32]), 0x8a91_36aa);
    }

    #[test]
    fn a_capsule_is_what_the_kernel_sends() {
        let data = DataDescriptor { offset: 0, bytes: 4, kind: DataDescriptor::IN_CAPSULE };
        let command =
            Command { opcode: 1, flags: 0x40, id: 9, namespace_id: 1, data, dwords: [0; 6] };
        let mut bytes = Vec::new();
        Pdu::Command(command, &[1, 2, 3, 4]).encode(
            &mut bytes,
            Digests { header: true, data: true },
            0,
        );
        assert_eq!(bytes[..8], [4, 3, 72, 76, 84, 0, 0, 0]);
        assert_eq!((bytes.len(), &bytes[76..80]), (84, &[1, 2, 3, 4][..]));
    }

    #[test]
    fn wrong_lengths_are_refused_with_their_place() {
        let place = |bytes: &[u8]| match parse(bytes, Digests::default(), DATA_BYTES_MAX) {
            Err(PduError::Field { at, .. }) => at,
            other => panic!("{other:?}"),
        };
        assert_eq!(place(&[8, 0, 24, 0, 24, 0, 0, 0]), 0, "there is no such type");
        assert_eq!(place(&[4, 1, 72, 0, 72, 0, 0, 0]), 1, "no digest is agreed on");
        assert_eq!(place(&[4, 0, 71, 0, 72, 0, 0, 0]), 2);
        assert_eq!(place(&[4, 0, 72, 70, 80, 0, 0, 0]), 3, "data begins in the header");
        assert_eq!(place(&[4, 0, 72, 74, 80, 0, 0, 0]), 3, "data begins within a dword");
        assert_eq!(place(&[4, 0, 72, 72, 71, 0, 0, 0]), 4);
        assert_eq!(place(&[6, 0, 24, 24, 0, 0, 0, 255]), 4, "it is too long");
        assert_eq!(place(&[5, 0, 24, 0, 25, 0, 0, 0]), 4, "a completion has no data");
        let mut data = Vec::new();
        let transfer =
            DataTransfer { command_id: 1, tag: 0, offset: 0, is_last: true, data: &[1; 8] };
        Pdu::HostData(transfer).encode(&mut data, Digests::default(), 0);
        data[16] = 7;
        assert_eq!(place(&data), 16);
    }
}
