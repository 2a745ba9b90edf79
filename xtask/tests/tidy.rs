//! The house rules that no compiler checks. Each failure names the file, the line and the rule.

mod tidy {
    pub(crate) mod circles;
    pub(crate) mod dependencies;
    pub(crate) mod links;
    pub(crate) mod mechanisms;
    pub(crate) mod names;
    pub(crate) mod source;
    pub(crate) mod tables;
    pub(crate) mod text;
    pub(crate) mod writers;
}
