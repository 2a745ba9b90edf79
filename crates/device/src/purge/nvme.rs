//! Purging with NVMe Format NVM and Sanitize.

use std::fs::File;
use std::thread::sleep;
use std::time::Duration;

use nvme::command::ALL_NAMESPACES;
use target::PurgeMethod;
use target::TargetError;

use super::waiter::told_why_not;
use super::{PurgeOption, Waiter};
use crate::nvme::Controller;
use crate::nvme::command::{AdminCommand, FormatErase, SanitizeAction};
use crate::nvme::identify::IdentifyController;
use crate::nvme::log::{SanitizeLog, SanitizeState};

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

/// The reason why a controller with this number of namespaces cannot, or must not, be purged with this
/// method.
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

pub(super) fn purge(
    method: PurgeMethod,
    file: &File,
    name: &str,
    waiter: &dyn Waiter,
) -> Result<(), TargetError> {
    let controller = Controller::new(file, name);
    match method {
        PurgeMethod::NvmeFormatCrypto => format(&controller, name, FormatErase::Crypto, waiter),
        PurgeMethod::NvmeFormat => format(&controller, name, FormatErase::UserData, waiter),
        PurgeMethod::NvmeSanitizeBlock => {
            sanitize(&controller, name, SanitizeAction::Block, waiter)
        }
        PurgeMethod::NvmeSanitizeCrypto => {
            sanitize(&controller, name, SanitizeAction::Crypto, waiter)
        }
        _ => Err(TargetError::Unsupported(format!("{name} has no command for {}", method.name()))),
    }
}

/// Formats the namespace as it is formatted already.
fn format(
    controller: &Controller<'_>,
    name: &str,
    erase: FormatErase,
    waiter: &dyn Waiter,
) -> Result<(), TargetError> {
    let namespace_id = controller.namespace_id()?;
    let layout = controller.identify_namespace(namespace_id)?.format;
    // There is just one namespace then; such a controller requires the number for all.
    let all = controller.identify()?.format_hits_all;
    let namespace_id = if all { ALL_NAMESPACES } else { namespace_id };
    let words = format!(
        "{name} is formatting itself and cannot stop; waiting for its end. If ssdlab is killed now, the drive \
         still formats to the end: leave it its power, or format it anew before it is used"
    );
    let command = AdminCommand::format(namespace_id, layout, erase);
    told_why_not(waiter, &words, || controller.execute(&command).map(drop))
}

/// Starts a sanitize and waits for its end; it continues by itself, even over a loss of power.
fn sanitize(
    controller: &Controller<'_>,
    name: &str,
    action: SanitizeAction,
    waiter: &dyn Waiter,
) -> Result<(), TargetError> {
    const PAUSE: Duration = Duration::from_secs(1);
    controller.execute(&AdminCommand::sanitize(action))?;
    sanitized(name, PAUSE, waiter, || controller.sanitize_log())
}

/// Reads the log until it reports the end of the sanitize.
fn sanitized(
    name: &str,
    pause: Duration,
    waiter: &dyn Waiter,
    mut log: impl FnMut() -> Result<SanitizeLog, TargetError>,
) -> Result<(), TargetError> {
    loop {
        let log = log()?;
        match log.state {
            SanitizeState::InProgress if waiter.wants_to_stop() => {
                return Err(TargetError::Interrupted(format!(
                    "stopped waiting for NVMe Sanitize with {:.0}% done: it cannot be stopped, not even by \
                     taking the power away; {name} takes no reads and writes until `nvme sanitize-log \
                     {name}` says that it is over",
                    100.0 * f64::from(log.progress) / 65_536.0
                )));
            }
            SanitizeState::InProgress => sleep(pause),
            SanitizeState::Completed => return Ok(()),
            other => {
                return Err(TargetError::Device {
                    context: "NVMe Sanitize did not complete".to_owned(),
                    source: std::io::Error::other(format!("its log says: {other:?}")),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::waiter::tests::Impatient;
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
    fn wait(waiter: &dyn Waiter, states: &[SanitizeState]) -> Result<(), TargetError> {
        let mut states = states.iter();
        sanitized("/dev/nvme0n1", Duration::ZERO, waiter, || {
            let state = *states.next().expect("nobody looks on after the end");
            Ok(SanitizeLog { progress: 16_384, state, ..SanitizeLog::NEVER })
        })
    }

    #[test]
    fn a_sanitize_is_waited_for_until_it_is_over() {
        use SanitizeState::{Completed, Failed, InProgress};
        let patient = &target::Patient;
        assert!(wait(patient, &[InProgress, InProgress, Completed]).is_ok());
        let error = wait(patient, &[InProgress, Failed]).unwrap_err();
        assert!(matches!(error, TargetError::Device { .. }), "{error}");
    }

    #[test]
    fn who_stops_waiting_for_a_sanitize_hears_that_it_goes_on() {
        let waiter = Impatient::after(1);
        let looks = [SanitizeState::InProgress; 2];
        let Err(TargetError::Interrupted(words)) = wait(&waiter, &looks) else {
            panic!("it waited on")
        };
        assert!(
            words.contains("25% done") && words.contains("sanitize-log /dev/nvme0n1"),
            "{words}"
        );
    }
}
