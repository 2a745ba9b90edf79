//! One file per command; each returns the exit code.

pub mod about;
pub mod advise;
pub mod bench;
pub mod drives;
pub mod expose;
pub mod import;
pub mod library;
pub mod plan;
pub mod report;
pub mod restore;
pub mod review;
pub mod run;
pub mod selftest;
pub mod show;
pub mod trace;
pub mod verify;
pub mod workload;
