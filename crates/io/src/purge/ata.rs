//! Purging with ATA SECURITY ERASE UNIT.

use std::fs::File;

use super::PurgeOption;
use crate::ata::{Drive, security};
use crate::error::IoError;
use crate::target::PurgeMethod;

pub(super) fn options(file: &File, name: &str) -> Vec<PurgeOption> {
    let obstacle = match Drive::new(file, name).identify() {
        Ok(id) => security::obstacle(&id.security).map(str::to_owned),
        Err(error) => Some(format!("the drive did not say whether it can: {error}")),
    };
    vec![PurgeOption::new(PurgeMethod::AtaSecurityErase, obstacle)]
}

pub(super) fn security_erase(file: &File, name: &str) -> Result<(), IoError> {
    security::erase(&mut Drive::new(file, name))
}
