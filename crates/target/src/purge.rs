//! The terms of purge: its methods, the choice among them, and the waiter for its end.

use std::str::FromStr;

use crate::error::TargetError;

/// Method that brought a target to its fresh state; the result records its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PurgeMethod {
    /// NVMe Format NVM that deletes the encryption key.
    NvmeFormatCrypto,
    /// NVMe Format NVM that erases user data.
    NvmeFormat,
    /// NVMe Sanitize that erases all blocks.
    NvmeSanitizeBlock,
    /// NVMe Sanitize that deletes the encryption key.
    NvmeSanitizeCrypto,
    /// ATA SECURITY ERASE UNIT.
    AtaSecurityErase,
    /// Every zone was reset.
    ZoneReset,
    /// Every block was deallocated (BLKDISCARD, punched hole).
    Deallocate,
    /// Every block was written once. No fresh state, but at least the same one each time.
    Overwrite,
    /// A simulated drive was built anew.
    FreshSimulatedDrive,
    /// Nothing to purge (null target).
    None,
}

impl PurgeMethod {
    /// The methods for real targets, the best first.
    pub const REAL: [Self; 8] = [
        Self::NvmeFormatCrypto,
        Self::NvmeFormat,
        Self::NvmeSanitizeBlock,
        Self::NvmeSanitizeCrypto,
        Self::AtaSecurityErase,
        Self::ZoneReset,
        Self::Deallocate,
        Self::Overwrite,
    ];

    /// The name used on the command line and in result files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NvmeFormatCrypto => "nvme-format-crypto",
            Self::NvmeFormat => "nvme-format",
            Self::NvmeSanitizeBlock => "nvme-sanitize-block",
            Self::NvmeSanitizeCrypto => "nvme-sanitize-crypto",
            Self::AtaSecurityErase => "ata-security-erase",
            Self::ZoneReset => "zone-reset",
            Self::Deallocate => "deallocate",
            Self::Overwrite => "overwrite",
            Self::FreshSimulatedDrive => "fresh-simulated-drive",
            Self::None => "none",
        }
    }
}

impl FromStr for PurgeMethod {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        Self::REAL.into_iter().find(|method| method.name() == text).ok_or_else(|| {
            let names = Self::REAL.map(Self::name).join(", ");
            TargetError::Usage(format!("there is no purge method `{text}`; known are {names}"))
        })
    }
}

/// One method to purge a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurgeOption {
    /// The command or the work that erases.
    pub method: PurgeMethod,
    /// The obstacle to it, or `None` if there is none.
    pub obstacle: Option<String>,
}

impl PurgeOption {
    /// The method `method` with its obstacle.
    pub const fn new(method: PurgeMethod, obstacle: Option<String>) -> Self {
        Self { method, obstacle }
    }
}

/// Waits for the end of a purge.
pub trait Waiter {
    /// Whether the purge is to stop as soon as that is safe.
    fn wants_to_stop(&self) -> bool;

    /// Takes a message: the work of the drive, and the reason why it cannot stop now.
    fn hear(&self, words: &str);
}

/// Waits as long as it takes.
#[derive(Clone, Copy, Debug)]
pub struct Patient;

impl Waiter for Patient {
    fn wants_to_stop(&self) -> bool {
        false
    }

    fn hear(&self, _words: &str) {}
}

/// The requested method, else the first without an obstacle.
///
/// # Errors
/// [`TargetError::Unsupported`] if that method, or every method, has an obstacle.
pub fn choose(
    options: &[PurgeOption],
    wanted: Option<PurgeMethod>,
    target: &str,
) -> Result<PurgeMethod, TargetError> {
    let free = |option: &&PurgeOption| option.obstacle.is_none();
    let Some(wanted) = wanted else {
        return options.iter().find(free).map(|option| option.method).ok_or_else(|| {
            TargetError::Unsupported(format!(
                "there is no way to purge {target}: {}",
                list(options)
            ))
        });
    };
    let option = options.iter().find(|option| option.method == wanted);
    let obstacle = match option {
        Some(PurgeOption { obstacle: None, .. }) => return Ok(wanted),
        Some(PurgeOption { obstacle: Some(obstacle), .. }) => obstacle.as_str(),
        None => "it is not that kind of device",
    };
    let others: Vec<_> = options.iter().filter(free).map(|option| option.method.name()).collect();
    Err(TargetError::Unsupported(format!(
        "{target} cannot be purged with --purge {}: {obstacle}; possible are: {}",
        wanted.name(),
        if others.is_empty() { "none".to_owned() } else { others.join(", ") }
    )))
}

fn list(options: &[PurgeOption]) -> String {
    let line = |option: &PurgeOption| {
        format!("{}: {}", option.method.name(), option.obstacle.as_deref().unwrap_or("possible"))
    };
    options.iter().map(line).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Vec<PurgeOption> {
        vec![
            PurgeOption::new(PurgeMethod::NvmeFormat, Some("two namespaces".to_owned())),
            PurgeOption::new(PurgeMethod::Deallocate, None),
            PurgeOption::new(PurgeMethod::Overwrite, None),
        ]
    }

    #[test]
    fn the_best_way_without_an_obstacle_is_taken() {
        assert_eq!(choose(&options(), None, "it").unwrap(), PurgeMethod::Deallocate);
        let wanted = Some(PurgeMethod::Overwrite);
        assert_eq!(choose(&options(), wanted, "it").unwrap(), PurgeMethod::Overwrite);
        assert!(choose(&[], None, "it").unwrap_err().to_string().contains("no way to purge it"));
    }

    #[test]
    fn a_way_that_is_asked_for_and_closed_is_explained() {
        let message = |wanted| choose(&options(), Some(wanted), "it").unwrap_err().to_string();
        let closed = message(PurgeMethod::NvmeFormat);
        assert!(closed.contains("--purge nvme-format: two namespaces"), "{closed}");
        assert!(closed.contains("possible are: deallocate, overwrite"), "{closed}");
        assert!(message(PurgeMethod::AtaSecurityErase).contains("not that kind of device"));
    }

    #[test]
    fn every_method_is_found_by_its_name() {
        for method in PurgeMethod::REAL {
            assert_eq!(method.name().parse::<PurgeMethod>().unwrap(), method);
        }
        let error = "shred".parse::<PurgeMethod>().unwrap_err().to_string();
        assert!(error.contains("`shred`") && error.contains("nvme-format-crypto"), "{error}");
    }
}
