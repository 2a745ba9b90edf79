//! ATA secure erase: set a password, erase with it; the erase removes the password again.
//!
//! Most BIOSes freeze the security feature set of the drives they find, so that no program can lock them;
//! the freeze lasts until the drive loses power. A drive that is left with the password (power cut
//! during the erase) is opened again with `hdparm --security-disable ssdlab DEVICE`.

use target::TargetError;

use super::command::Command;
use super::identify::Security;
use super::{Port, identify};

/// The password during an erase. It is no secret: anybody who finds the drive locked must know it.
pub const PASSWORD: &str = "ssdlab";

/// Time to wait beyond the drive's own estimate, and time to wait if it gives none.
const PATIENCE_MIN: u32 = 10;
const UNKNOWN_MIN: u32 = 12 * 60;

/// The reason why the drive cannot be erased now, or `None` if it can.
pub fn obstacle(security: &Security) -> Option<&'static str> {
    if !security.supported {
        return Some("the drive has no security feature set");
    }
    if security.locked {
        return Some(
            "the drive is locked with a password; unlock it first (hdparm --security-unlock)",
        );
    }
    if security.enabled {
        return Some(
            "a password is already set on the drive; remove it first (hdparm --security-disable)",
        );
    }
    if security.frozen {
        return Some(
            "the security feature set is frozen, most likely by the BIOS; suspend the machine to memory \
             and wake it, or unplug the drive and plug it in again while the machine runs",
        );
    }
    security.exhausted.then_some("too many wrong passwords; switch the drive off and on")
}

/// Erases the whole drive. Blocks until the drive is done, which may take minutes to hours.
///
/// # Errors
/// [`TargetError::Unsupported`] with the reason of [`obstacle`]; [`TargetError::Device`] if a command
/// fails. The password has then been removed again, unless the message says otherwise.
pub fn erase(port: &mut impl Port) -> Result<(), TargetError> {
    let security = identify(port)?.security;
    if let Some(reason) = obstacle(&security) {
        return Err(TargetError::Unsupported(format!("ATA security erase: {reason}")));
    }
    let minutes = security.erase_min.unwrap_or(UNKNOWN_MIN).saturating_add(PATIENCE_MIN);
    let timeout_ms = minutes.saturating_mul(60_000);
    port.execute(&Command::security_set_password(PASSWORD))?;
    let erased = port
        .execute(&Command::security_erase_prepare())
        .and_then(|_| port.execute(&Command::security_erase_unit(PASSWORD, timeout_ms)));
    let Err(failed) = erased else { return Ok(()) };
    if port.execute(&Command::security_disable_password(PASSWORD)).is_ok() {
        return Err(failed);
    }
    Err(TargetError::Device {
        context: format!(
            "the secure erase failed and the drive keeps the password {PASSWORD:?}: once it answers again, \
             remove it with: hdparm --security-disable {PASSWORD} DEVICE"
        ),
        source: std::io::Error::other(failed),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ata::command::Data;

    /// A drive with nothing but the security state machine of ACS-3, section 4.20.
    #[derive(Default)]
    struct Played {
        word_128: u16,
        password: Option<Vec<u8>>,
        prepared: bool,
        erased: bool,
        fails: &'static [u8],
        timeout_ms: u32,
    }

    impl Played {
        fn identify(&self) -> Vec<u8> {
            let mut bytes = vec![0; 512];
            bytes[164] = 0b10;
            bytes[178] = 2;
            bytes[256] = self.word_128 as u8 | u8::from(self.password.is_some()) << 1;
            bytes
        }

        fn obey(&mut self, command: &Command) -> Option<Vec<u8>> {
            let given = match &command.data {
                Data::ToDrive(block) => block[2..34].to_vec(),
                _ => Vec::new(),
            };
            let prepared = std::mem::take(&mut self.prepared);
            match command.command {
                _ if self.fails.contains(&command.command) => return None,
                0xec => return Some(self.identify()),
                0xf1 => self.password = Some(given),
                0xf3 => self.prepared = true,
                0xf4 if prepared && self.password == Some(given.clone()) => {
                    self.erased = true;
                    self.password = None;
                    self.timeout_ms = command.timeout_ms;
                }
                0xf6 if self.password == Some(given) => self.password = None,
                _ => return None,
            }
            Some(Vec::new())
        }
    }

    impl Port for Played {
        fn execute(&mut self, command: &Command) -> Result<Vec<u8>, TargetError> {
            self.obey(command).ok_or_else(|| TargetError::Device {
                context: format!("ATA {} failed", command.name),
                source: std::io::Error::other("aborted"),
            })
        }
    }

    fn drive(word_128: u16, fails: &'static [u8]) -> Played {
        Played { word_128, fails, ..Played::default() }
    }

    #[test]
    fn an_erase_leaves_no_data_and_no_password() {
        let mut drive = drive(1, &[]);
        erase(&mut drive).unwrap();
        assert!(drive.erased && drive.password.is_none());
        // Its own estimate of 4 minutes, and ten more.
        assert_eq!(drive.timeout_ms, 14 * 60_000);
    }

    #[test]
    fn an_obstacle_is_explained_before_anything_is_sent() {
        for (word_128, reason) in [(0, "no security"), (0b1001, "frozen"), (0b111, "locked")] {
            let mut drive = drive(word_128, &[0xf1]);
            let error = erase(&mut drive).unwrap_err();
            assert!(matches!(error, TargetError::Unsupported(_)));
            assert!(error.to_string().contains(reason), "{error}");
            assert!(!drive.erased);
        }
        let reason = |word_128| {
            let security = identify(&mut drive(word_128, &[])).unwrap().security;
            obstacle(&security).unwrap()
        };
        assert!(reason(0b11).contains("--security-disable"));
        assert!(reason(0b1_0001).contains("wrong passwords"));
    }

    #[test]
    fn a_failed_erase_takes_the_password_off_again() {
        let mut drive = drive(1, &[0xf4]);
        let error = erase(&mut drive).unwrap_err();
        assert!(error.to_string().contains("SECURITY ERASE UNIT"), "{error}");
        assert!(drive.password.is_none() && !drive.erased);
    }

    #[test]
    fn a_drive_that_stays_locked_is_said_to_be() {
        let mut drive = drive(1, &[0xf4, 0xf6]);
        let error = erase(&mut drive).unwrap_err();
        assert!(error.to_string().contains("--security-disable ssdlab"), "{error}");
        assert!(drive.password.is_some());
    }
}
