//! ATA commands as plain data, and their wrapping for the SCSI layer.

use base::bytes::{array, u8_at};

/// An answer that needs no NAND comes at once, or the drive hangs.
const QUICK_MS: u32 = 20_000;

/// Data of a command, always one block of 512 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// Nothing.
    None,
    /// The drive returns a block.
    FromDrive,
    /// The drive gets a block.
    ToDrive(Box<[u8; 512]>),
}

/// One command: the registers of a drive and the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Its name in the standard, for messages.
    pub name: &'static str,
    /// Command register.
    pub command: u8,
    /// Features register.
    pub features: u16,
    /// Count register.
    pub count: u16,
    /// The 48 bits of the LBA registers.
    pub lba: u64,
    /// Device register.
    pub device: u8,
    /// Whether the registers are 16 bits wide.
    pub extended: bool,
    /// Data.
    pub data: Data,
    /// Time after which the kernel gives the command up.
    pub timeout_ms: u32,
}

/// The constant that every SMART command must carry in its LBA registers.
const SMART_LBA: u64 = 0xc2_4f00;

impl Command {
    const fn new(name: &'static str, command: u8, data: Data) -> Self {
        let count = if matches!(data, Data::None) { 0 } else { 1 };
        Self {
            name,
            command,
            features: 0,
            count,
            lba: 0,
            device: 0,
            extended: false,
            data,
            timeout_ms: QUICK_MS,
        }
    }

    /// IDENTIFY DEVICE (ECh).
    pub const fn identify() -> Self {
        Self::new("IDENTIFY DEVICE", 0xec, Data::FromDrive)
    }

    /// SMART READ DATA (B0h, D0h): the vendor's attributes.
    pub const fn smart_read_data() -> Self {
        let mut command = Self::new("SMART READ DATA", 0xb0, Data::FromDrive);
        command.features = 0xd0;
        command.lba = SMART_LBA;
        command
    }

    /// READ LOG EXT (2Fh) of a page of the Device Statistics log (04h).
    pub const fn statistics_page(page: u8) -> Self {
        let mut command = Self::new("READ LOG EXT (Device Statistics)", 0x2f, Data::FromDrive);
        command.lba = 0x04 | (page as u64) << 8;
        command.extended = true;
        command
    }

    /// SECURITY SET PASSWORD (F1h): the user password, security level high.
    pub fn security_set_password(password: &str) -> Self {
        Self::security("SECURITY SET PASSWORD", 0xf1, Data::ToDrive(password_block(password)))
    }

    /// SECURITY ERASE PREPARE (F3h): must come right before the erase.
    pub fn security_erase_prepare() -> Self {
        Self::security("SECURITY ERASE PREPARE", 0xf3, Data::None)
    }

    /// SECURITY ERASE UNIT (F4h), normal mode, with the user password, which it also removes.
    pub fn security_erase_unit(password: &str, timeout_ms: u32) -> Self {
        let data = Data::ToDrive(password_block(password));
        Self { timeout_ms, ..Self::security("SECURITY ERASE UNIT", 0xf4, data) }
    }

    /// SECURITY DISABLE PASSWORD (F6h).
    pub fn security_disable_password(password: &str) -> Self {
        Self::security("SECURITY DISABLE PASSWORD", 0xf6, Data::ToDrive(password_block(password)))
    }

    fn security(name: &'static str, command: u8, data: Data) -> Self {
        // Bit 6 is obsolete in newer drives; old drives required it.
        Self { device: 0x40, ..Self::new(name, command, data) }
    }

    /// ATA PASS-THROUGH (16), SAT-3 section 12.2.2.3.
    pub fn to_scsi(&self) -> [u8; 16] {
        const NO_DATA: u8 = 3;
        const PIO_IN: u8 = 4;
        const PIO_OUT: u8 = 5;
        // The length is the count register, in blocks. A command without data asks for the
        // registers.
        const LENGTH_IN_COUNT: u8 = 0x06;
        const FROM_DRIVE: u8 = 0x08;
        const CHECK_CONDITION: u8 = 0x20;
        let (protocol, transfer) = match self.data {
            Data::None => (NO_DATA, CHECK_CONDITION),
            Data::FromDrive => (PIO_IN, LENGTH_IN_COUNT | FROM_DRIVE),
            Data::ToDrive(_) => (PIO_OUT, LENGTH_IN_COUNT),
        };
        let [features_low, features_high] = self.features.to_le_bytes();
        let [count_low, count_high] = self.count.to_le_bytes();
        let lba = self.lba.to_le_bytes();
        [
            0x85,
            protocol << 1 | u8::from(self.extended),
            transfer,
            features_high,
            features_low,
            count_high,
            count_low,
            lba[3],
            lba[0],
            lba[4],
            lba[1],
            lba[5],
            lba[2],
            self.device,
            self.command,
            0,
        ]
    }
}

/// Word 0: user password, security level high (bit 8 clear), normal erase (bit 1 clear); then the
/// password, padded with zeros.
fn password_block(password: &str) -> Box<[u8; 512]> {
    const PASSWORD_BYTES: usize = 32;
    let mut block = Box::new([0; 512]);
    let password = array::<PASSWORD_BYTES>(password.as_bytes(), 0);
    block[2..2 + PASSWORD_BYTES].copy_from_slice(&password);
    block
}

/// The failure that the sense data of a command report, or `None` if they only carry the registers
/// that were requested.
pub fn sense_objection(sense: &[u8]) -> Option<String> {
    const ERROR: u8 = 0x01;
    const FAULT: u8 = 0x20;
    const ABORTED: u8 = 0x04;
    let Some((key, error, status)) = registers(sense) else {
        return Some("the adapter did not say why".to_owned());
    };
    if status & (ERROR | FAULT) == 0 && key <= 1 {
        return None;
    }
    Some(if error & ABORTED != 0 {
        format!("the drive aborted it (error {error:#04x}, status {status:#04x})")
    } else {
        format!("sense key {key:#x}, error {error:#04x}, status {status:#04x}")
    })
}

/// Sense key, error and status register. SAT-3 section 12.2.2.6: in a descriptor of type 9, or in
/// the information field of fixed sense data, where older kernels write them four bytes too late.
fn registers(sense: &[u8]) -> Option<(u8, u8, u8)> {
    let byte = |at| u8_at(sense, at);
    match byte(0) & 0x7f {
        0x72 | 0x73 => {
            let descriptor = sense.get(8..).filter(|d| d.first() == Some(&0x09));
            let descriptor = descriptor.unwrap_or_default();
            Some((byte(1) & 0x0f, u8_at(descriptor, 3), u8_at(descriptor, 13)))
        }
        0x70 | 0x71 => {
            let at = if byte(4) == 0 { 8 } else { 3 };
            Some((byte(2) & 0x0f, byte(at), byte(at + 1)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
    }

    /// As printed by `sg_sat_identify -vvv` 1.48 and `smartctl -r ioctl,2` 7.3.
    #[test]
    fn reading_commands_are_those_of_sg3_utils_and_smartctl() {
        let printed = [
            (Command::identify(), "85 08 0e 00 00 00 01 00 00 00 00 00 00 00 ec 00"),
            (Command::smart_read_data(), "85 08 0e 00 d0 00 01 00 00 00 4f 00 c2 00 b0 00"),
        ];
        for (command, expected) in printed {
            assert_eq!(hex(&command.to_scsi()), expected, "{}", command.name);
        }
        // SAT-3: EXTEND is set, the page is in bits 15:8 of the LBA.
        let page = Command::statistics_page(7).to_scsi();
        assert_eq!(hex(&page), "85 09 0e 00 00 00 01 00 04 00 07 00 00 00 2f 00");
    }

    /// As printed by `hdparm --verbose` 9.65 for `--security-set-pass ssdlab`, `--security-erase`
    /// and `--security-disable`.
    #[test]
    fn security_commands_are_those_of_hdparm() {
        let printed = [
            (Command::security_set_password("ssdlab"), "85 0a 06", "f1"),
            (Command::security_erase_prepare(), "85 06 20", "f3"),
            (Command::security_erase_unit("ssdlab", 1), "85 0a 06", "f4"),
            (Command::security_disable_password("ssdlab"), "85 0a 06", "f6"),
        ];
        for (command, start, opcode) in printed {
            let count = if command.data == Data::None { "00" } else { "01" };
            let expected = format!("{start} 00 00 00 {count} 00 00 00 00 00 00 40 {opcode} 00");
            assert_eq!(hex(&command.to_scsi()), expected, "{}", command.name);
            if let Data::ToDrive(block) = &command.data {
                assert_eq!(hex(&block[..10]), "00 00 73 73 64 6c 61 62 00 00");
                assert!(block[10..].iter().all(|&byte| byte == 0));
            }
        }
    }

    #[test]
    fn a_long_password_is_cut_to_its_field() {
        let block = password_block(&"x".repeat(600));
        assert_eq!(block.iter().filter(|&&byte| byte == b'x').count(), 32);
    }

    #[test]
    fn registers_are_found_in_every_kind_of_sense_data() {
        let mut descriptor = [0; 22];
        descriptor[..4].copy_from_slice(&[0x72, 0x01, 0x00, 0x1d]);
        descriptor[8..10].copy_from_slice(&[0x09, 0x0c]);
        descriptor[21] = 0x50;
        assert_eq!(sense_objection(&descriptor), None, "registers, as asked for");
        descriptor[1] = 0x0b;
        descriptor[11] = 0x04;
        descriptor[21] = 0x51;
        assert!(sense_objection(&descriptor).unwrap().contains("aborted"));
        let mut fixed = [0; 18];
        fixed[..5].copy_from_slice(&[0x70, 0, 0x01, 0x00, 0x50]);
        assert_eq!(sense_objection(&fixed), None);
        fixed[2..5].copy_from_slice(&[0x0b, 0x04, 0x51]);
        assert!(sense_objection(&fixed).unwrap().contains("status 0x51"));
        assert!(sense_objection(&[]).is_some());
    }

    proptest! {
        #[test]
        fn no_sense_panics(bytes in prop::collection::vec(any::<u8>(), 0..70)) {
            let _ = sense_objection(&bytes);
        }
    }
}
