//! Do the watches beside a run leave its commands alone, and end it where they must?

#[path = "../common/mod.rs"]
mod common;
mod health;
mod in_use;
