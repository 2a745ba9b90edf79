//! Does the drive as a whole take the time, keep the books and refuse the models that it should?
#![allow(missing_docs, reason = "tests")]

#[path = "../common/mod.rs"]
mod common;

mod host;
mod latency;
mod models;
mod nand;
mod power;
mod read_ahead;
mod reset;
mod telemetry;
mod timing;
