//! Figures and sentences from rows. Floats live here and in drawing, nowhere else.
//!
//! [`rates`], [`latency`] and [`summary`] serve any test; [`steady`] says whether a figure has settled,
//! [`changepoint`] finds regimes in any series and [`mixture`] means that hide them; [`consistency`] gives the figures of one test, [`findings`]
//! puts them into sentences with the numbers of [`words`], [`notice`] says whether a person would
//! notice, [`difference`] whether of two runs, [`power`] what was drawn, [`busy`] what the parts of a simulated drive did with
//! their time and [`health`] what the drive itself counted.

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
pub mod steady;
pub mod summary;
pub mod words;
