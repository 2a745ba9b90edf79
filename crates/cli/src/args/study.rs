//! Arguments of the commands that simulate many runs for one answer.

pub mod fit;
pub mod lab;
pub mod sweep;
