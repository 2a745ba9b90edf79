//! Tests of the crate through its public items, as one program: it is linked once.

mod common;
mod compare;
mod compat;
mod damage;
mod difference;
mod disk_full;
mod each_check;
mod findings;
mod import;
mod import_cases;
mod import_others;
mod messages;
mod runs;
mod scale;
mod site;
mod steady;
mod store;
mod words;
