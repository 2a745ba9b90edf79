//! Published claims about drives, beside the simulated drives.
//!
//! ```text
//! drives/fingerprints/*.toml, rated facts -> claim -> cell (a run of a test) -> figures
//!     -> verdict -> docs/evidence/drives.md
//! ```
//!
//! Reading order: [`claim`] (a fingerprint as data), [`figure`] and [`expectation`] (the closed
//! vocabulary), [`role`], [`cell`], [`store`] and [`rehearsal`] (runs, each done once), [`verdict`],
//! [`record`] (the figures of earlier versions), [`page`].

pub mod cell;
pub mod claim;
pub mod expectation;
pub mod experiment;
pub mod figure;
pub mod page;
pub mod rated;
pub mod record;
pub mod rehearsal;
pub mod role;
pub mod store;
pub mod verdict;
