//! Purging with NVMe Format NVM and Sanitize.

use std::fs::File;
use std::thread::sleep;
use std::time::Duration;

use super::PurgeOption;
use crate::error::IoError;
use crate::nvme::Controller;
use crate::nvme::command::{ALL_NAMESPACES, AdminCommand, FormatErase, SanitizeAction};
use crate::nvme::identify::IdentifyController;
use crate::nvme::log::SanitizeState;
use crate::target::PurgeMethod;

const METHODS: [PurgeMethod; 4] = [
    PurgeMethod::NvmeFormatCrypto,
    PurgeMethod::NvmeFormat,
    PurgeMethod::NvmeSanitizeBlock,
    PurgeMethod::NvmeSanitizeCrypto,
];

pub(super) fn options(file: &File, name: &str) -> Vec<PurgeOption> {
    let controller = Controller::new(file, name);
    let asked = controller.identify().and_then(|id| Ok((id, controller.namespaces()?.len())));
    let obstacle = |method| match &asked {
        Ok((id, namespaces)) => obstacle(method, id, *namespaces),
        Err(error) => Some(format!("the controller did not say whether it can: {error}")),
    };
    METHODS.map(|method| PurgeOption::new(method, obstacle(method))).to_vec()
}

/// Why a controller with so many namespaces cannot, or must not, be purged that way.
fn obstacle(method: PurgeMethod, id: &IdentifyController, namespaces: usize) -> Option<String> {
    let (able, hits_all) = match method {
        PurgeMethod::NvmeFormatCrypto => {
            (id.format && id.crypto_erase, id.format_hits_all || id.erase_hits_all)
        }
        PurgeMethod::NvmeFormat => (id.format, id.format_hits_all || id.erase_hits_all),
        PurgeMethod::NvmeSanitizeBlock => (id.sanitize_block, true),
        PurgeMethod::NvmeSanitizeCrypto => (id.sanitize_crypto, true),
        _ => (false, false),
    };
    if !able {
        return Some("the controller does not support it".to_owned());
    }
    (hits_all && namespaces > 1)
        .then(|| format!("it would erase all {namespaces} namespaces of the controller"))
}

pub(super) fn purge(method: PurgeMethod, file: &File, name: &str) -> Result<(), IoError> {
    let controller = Controller::new(file, name);
    match method {
        PurgeMethod::NvmeFormatCrypto => format(&controller, FormatErase::Crypto),
        PurgeMethod::NvmeFormat => format(&controller, FormatErase::UserData),
        PurgeMethod::NvmeSanitizeBlock => sanitize(&controller, SanitizeAction::Block),
        PurgeMethod::NvmeSanitizeCrypto => sanitize(&controller, SanitizeAction::Crypto),
        _ => Err(IoError::Unsupported(format!("{name} has no command for {}", method.name()))),
    }
}

/// Formats the namespace as it is formatted already.
fn format(controller: &Controller<'_>, erase: FormatErase) -> Result<(), IoError> {
    let namespace_id = controller.namespace_id()?;
    let layout = controller.identify_namespace(namespace_id)?.format;
    // There is just one namespace then; such a controller wants to hear that all are meant.
    let all = controller.identify()?.format_hits_all;
    let namespace_id = if all { ALL_NAMESPACES } else { namespace_id };
    controller.execute(&AdminCommand::format(namespace_id, layout, erase)).map(drop)
}

/// Starts a sanitize and waits for its end; it goes on by itself, even over a loss of power.
fn sanitize(controller: &Controller<'_>, action: SanitizeAction) -> Result<(), IoError> {
    const PAUSE: Duration = Duration::from_secs(1);
    controller.execute(&AdminCommand::sanitize(action))?;
    loop {
        match controller.sanitize_log()?.state {
            SanitizeState::InProgress => sleep(PAUSE),
            SanitizeState::Completed => return Ok(()),
            other => {
                return Err(IoError::Device {
                    context: "NVMe Sanitize did not complete".to_owned(),
                    source: std::io::Error::other(format!("its log says: {other:?}")),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A controller with these bits of OACS, FNA and SANICAP.
    fn controller(format: u8, attributes: u8, sanitize: u8) -> IdentifyController {
        let mut bytes = vec![0; 4096];
        bytes[256] = format;
        bytes[524] = attributes;
        bytes[328] = sanitize;
        IdentifyController::decode(&bytes)
    }

    fn free(id: &IdentifyController, namespaces: usize) -> Vec<PurgeMethod> {
        METHODS.into_iter().filter(|&m| obstacle(m, id, namespaces).is_none()).collect()
    }

    #[test]
    fn only_what_the_controller_can_do_is_offered() {
        assert_eq!(free(&controller(0, 0b100, 0), 1), []);
        assert_eq!(free(&controller(0b10, 0, 0), 1), [PurgeMethod::NvmeFormat]);
        let all = controller(0b10, 0b100, 0b11);
        assert_eq!(free(&all, 1), METHODS);
    }

    #[test]
    fn other_namespaces_are_never_hit() {
        let apart = controller(0b10, 0b100, 0b11);
        assert_eq!(free(&apart, 2), [PurgeMethod::NvmeFormatCrypto, PurgeMethod::NvmeFormat]);
        for attributes in [0b101, 0b110, 0b111] {
            let together = controller(0b10, attributes, 0b11);
            assert_eq!(free(&together, 2), []);
            let reason = obstacle(PurgeMethod::NvmeFormat, &together, 2).unwrap();
            assert!(reason.contains("all 2 namespaces"), "{reason}");
        }
    }
}
