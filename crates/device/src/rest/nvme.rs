//! Power states of an NVMe controller.
//!
//! Source: NVM Express Base Specification 2.0, features Power Management (02h) and Autonomous Power
//! State Transition (0Ch), power state descriptors of Identify Controller. At rest is the deepest
//! state without I/O; awake is state 0 without autonomous transitions. The kernel controls the link
//! (ASPM), which stays unchanged.

use std::fs::File;

use serde::{Deserialize, Serialize};
use target::TargetError;

use crate::nvme::Controller;
use crate::nvme::identify::IdentifyController;

/// The power state and the autonomous transitions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Found {
    state: u8,
    /// The autonomous transitions, or `None` if the controller makes none.
    autonomous: Option<Autonomous>,
}

/// Autonomous transitions: whether they are on, and their table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Autonomous {
    enabled: bool,
    /// Bytes of the table, as the controller holds it.
    table: Vec<u8>,
}

impl Found {
    pub(super) fn words(&self) -> String {
        let own = self.autonomous.as_ref().is_some_and(|own| own.enabled);
        let own = if own { "with" } else { "without" };
        format!("power state {}, {own} transitions of its own", self.state)
    }
}

/// The deepest state without I/O.
fn deepest(id: &IdentifyController) -> Option<u8> {
    id.power_states.iter().rposition(|state| state.idle).and_then(|state| u8::try_from(state).ok())
}

/// Whether the controller reports a state to rest in.
pub(super) fn can_rest(file: &File, name: &str) -> bool {
    Controller::new(file, name).identify().is_ok_and(|id| deepest(&id).is_some())
}

pub(super) fn look(file: &File, name: &str) -> Result<Found, TargetError> {
    let controller = Controller::new(file, name);
    let autonomous = if controller.identify()?.autonomous_power {
        let (enabled, table) = controller.autonomous_power()?;
        Some(Autonomous { enabled, table })
    } else {
        None
    };
    let state = u8::try_from(controller.power_state()?).unwrap_or_default();
    Ok(Found { state, autonomous })
}

/// Puts the controller to rest, or keeps it awake.
pub(super) fn switch(file: &File, name: &str, allowed: bool) -> Result<String, TargetError> {
    let controller = Controller::new(file, name);
    let id = controller.identify()?;
    let deepest = deepest(&id).filter(|_| allowed);
    if id.autonomous_power && !allowed {
        let (_, table) = controller.autonomous_power()?;
        controller.set_autonomous_power(false, &table)?;
    }
    let state = deepest.unwrap_or(0);
    controller.set_power_state(state)?;
    let power_mw = id.power_states.get(usize::from(state)).map_or(0, |s| s.power_max_100uw / 10);
    Ok(format!("power state {state}, for which the drive says {power_mw} mW at most"))
}

pub(super) fn restore(file: &File, name: &str, found: &Found) -> Result<(), TargetError> {
    let controller = Controller::new(file, name);
    controller.set_power_state(found.state)?;
    match &found.autonomous {
        Some(own) => controller.set_autonomous_power(own.enabled, &own.table),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest_is_the_last_state_that_serves_no_io() {
        let mut bytes = vec![0; 4096];
        bytes[263] = 4;
        for (state, flags) in [(2, 0), (3, 2), (4, 2)] {
            bytes[2048 + 32 * state + 3] = flags;
        }
        assert_eq!(deepest(&IdentifyController::decode(&bytes)), Some(4));
        bytes[2048 + 32 * 4 + 3] = 0;
        assert_eq!(deepest(&IdentifyController::decode(&bytes)), Some(3));
        bytes[2048 + 32 * 3 + 3] = 0;
        assert_eq!(deepest(&IdentifyController::decode(&bytes)), None);
    }
}
