//! `ssdlab library`: the runs of a library, and what is made of them.

pub mod build;
pub mod export;
pub mod import;
pub mod list;
pub mod note;
pub mod push;
pub mod rm;
pub mod serve;
pub mod site;
