//! Purging with ATA SECURITY ERASE UNIT.

use std::fs::File;

use target::PurgeMethod;
use target::TargetError;

use super::waiter::told_why_not;
use super::{PurgeOption, Waiter};
use crate::ata::{Drive, security};

pub(super) fn options(file: &File, name: &str) -> Vec<PurgeOption> {
    let obstacle = match Drive::new(file, name).identify() {
        Ok(id) => security::obstacle(&id.security).map(str::to_owned),
        Err(error) => Some(format!("the drive did not say whether it can: {error}")),
    };
    vec![PurgeOption::new(PurgeMethod::AtaSecurityErase, obstacle)]
}

pub(super) fn security_erase(
    file: &File,
    name: &str,
    waiter: &dyn Waiter,
) -> Result<(), TargetError> {
    let words = format!(
        "{name} is erasing itself and cannot stop; waiting for its end. If ssdlab is killed now, leave the \
         drive its power until it answers again; should it then be locked: hdparm --security-disable {} {name}",
        security::PASSWORD
    );
    told_why_not(waiter, &words, || security::erase(&mut Drive::new(file, name)))
}
