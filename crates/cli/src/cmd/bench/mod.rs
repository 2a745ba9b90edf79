//! A library in the browser: `serve`, `site` and `push`.

pub mod push;
pub mod serve;
pub mod site;
