//! Roles of published figures and claims: how far they are evidence for the simulator.

use std::fmt;

use serde::Deserialize;

/// The part that a published figure or claim had in making the model of its drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The model states it.
    Input,
    /// A value of the model was fitted to it.
    Fitted,
    /// A mechanism or a value of the model was chosen so that the model does as it says.
    Chosen,
    /// None of these: it shows what the simulator knows.
    Predicted,
    /// Predicted, and nobody here has seen it.
    Withheld,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 5] =
        [Self::Input, Self::Fitted, Self::Chosen, Self::Predicted, Self::Withheld];

    /// Its word in files and on pages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Fitted => "fitted",
            Self::Chosen => "chosen",
            Self::Predicted => "predicted",
            Self::Withheld => "withheld",
        }
    }

    /// The role of this name, or `None` if there is none.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
