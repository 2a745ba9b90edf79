//! Sections for work that no command asks for.

mod quantum;
