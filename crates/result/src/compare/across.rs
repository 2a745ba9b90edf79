//! The one condition in which two groups may differ, if the user names it.

use std::str::FromStr;

use serde::Serialize;

use super::conditions::{Condition, Facet};
use crate::schema::Run;

/// A condition to compare across.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Across {
    /// The share of the drive that is left to it.
    Spare,
    /// The used part of the drive, in whatever way it was asked for.
    Span,
    /// The drive, with all that comes with it.
    Drive,
    /// The firmware of one drive.
    Firmware,
    /// The host: its profile for a simulated drive, otherwise the machine.
    Host,
}

impl Across {
    /// The words of the command line.
    pub const NAMES: [&'static str; 5] = ["spare", "span", "drive", "firmware", "host"];

    /// The word of the command line.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The condition in words.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Spare => "the spare area",
            Self::Span => "the span",
            Self::Drive => "the drive",
            Self::Firmware => "the firmware",
            Self::Host => "the host",
        }
    }

    /// Whether runs of several spans belong together.
    pub(super) const fn is_of_spans(self) -> bool {
        matches!(self, Self::Spare | Self::Span)
    }

    /// Whether a condition of this facet is the one that differs.
    const fn contains(self, facet: Facet) -> bool {
        match self {
            Self::Spare | Self::Span => matches!(facet, Facet::Span),
            Self::Drive => matches!(facet, Facet::Drive),
            Self::Firmware => matches!(facet, Facet::Firmware),
            Self::Host => matches!(facet, Facet::Host | Facet::Machine),
        }
    }

    /// Whether a difference of this facet is named, but no reason to refuse.
    const fn permits(self, facet: Facet) -> bool {
        let is_by_the_way = matches!(facet, Facet::Machine | Facet::Other);
        is_by_the_way
            || matches!((self, facet), (Self::Drive, Facet::Firmware | Facet::Host))
            || self.contains(facet)
    }

    /// Makes sure that the groups differ in this condition, and in no other that tests depend on;
    /// otherwise the reason in words.
    pub(super) fn check(
        self,
        (a, b): (&[&Run], &[&Run]),
        conditions: &[Condition],
    ) -> Result<(), String> {
        let test = &a[0].test;
        if let Some(run) =
            a.iter().chain(b).find(|run| self == Self::Spare && run.span.base == "bytes")
        {
            let variant = &run.span.variant;
            return Err(format!(
                "{} used the first {variant} of its drive, which `--across span` compares",
                run.run_id
            ));
        }
        let own = || conditions.iter().filter(|one| self.contains(one.facet));
        if own().next().is_none() {
            return Err(format!("A and B of `{test}` do not differ in it"));
        }
        let is_mixed =
            |one: &&Condition| one.facet != Facet::Machine && (one.a.len() > 1 || one.b.len() > 1);
        if let Some(mixed) = own().filter(is_mixed).min_by_key(|one| one.name != "drive") {
            let [a, b] = [&mixed.a, &mixed.b].map(|side| mixed.words(side));
            return Err(format!("a side of `{test}` has several: A has {a}; B has {b}"));
        }
        let others: Vec<String> = conditions
            .iter()
            .filter(|one| !self.permits(one.facet))
            .map(|one| format!("{} ({} | {})", one.label, one.words(&one.a), one.words(&one.b)))
            .collect();
        if others.is_empty() {
            return Ok(());
        }
        Err(format!("A and B of `{test}` also differ in: {}", others.join("; ")))
    }
}

impl FromStr for Across {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = [Self::Spare, Self::Span, Self::Drive, Self::Firmware, Self::Host];
        let found = known.into_iter().find(|across| across.name() == text);
        found.ok_or_else(|| format!("`{text}` is none of {}", Self::NAMES.join(", ")))
    }
}
