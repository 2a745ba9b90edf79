//! Figures and sentences from rows. Only this module and drawing use floats.
//!
//! [`rates`], [`latency`] and [`summary`] serve any test. [`steady`] tells whether a figure has
//! settled, [`changepoint`] finds regimes in any series, and [`mixture`] finds means that hide
//! them. [`consistency`] computes the figures of one test, and [`findings`] puts them into
//! sentences with the numbers of [`words`]. [`notice`] tells whether a person would notice a run,
//! and [`difference`] whether the difference between two. [`scale`] finds the figures of a small
//! simulated drive that do not hold for the whole one. [`power`] computes power, [`busy`] the
//! use of time by the parts of a simulated drive, and [`health`] the changes of the drive's own
//! counters. [`student`] widens intervals of few runs.

pub mod busy;
pub mod changepoint;
pub mod consistency;
pub mod difference;
pub mod findings;
pub mod health;
pub mod latency;
pub mod mixture;
pub mod notice;
pub mod power;
pub mod rates;
pub mod scale;
pub mod steady;
pub mod student;
pub mod summary;
pub mod words;
