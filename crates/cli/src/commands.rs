//! One file for each command: its arguments, its help, and its action, which returns the exit code.

pub mod advise;
pub mod compare;
pub mod completions;
pub mod lab;
pub mod library;
pub mod list;
pub mod man;
pub mod plan;
pub mod report;
pub mod restore_settings;
pub mod review;
pub mod run;
pub mod selftest;
pub mod show;
pub mod sim;
pub mod trace;
pub mod verify;
pub mod workload;
