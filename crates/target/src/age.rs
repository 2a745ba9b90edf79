//! The past that a simulated drive gets at once: time without power, wear and reads.

use std::fmt;

use crate::error::TargetError;
use base::Identity;

/// Time without power, cycles and reads that a target gets at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Past {
    /// Days without power, after an orderly shutdown: all data is as much older.
    pub days: u32,
    /// Program/erase cycles that every block gets in addition.
    pub cycles: u32,
    /// Reads that every block gets in addition.
    pub reads: u32,
}

/// The parts of a past that have an effect on a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ages {
    /// Whether data becomes slower to read with time.
    pub by_days: bool,
    /// Whether blocks change with cycles.
    pub by_cycles: bool,
    /// Whether blocks change with reads.
    pub by_reads: bool,
}

impl Ages {
    /// A target that lives in real time, or whose model does not age.
    pub const NOT_AT_ALL: Self = Self { by_days: false, by_cycles: false, by_reads: false };

    /// The part of a past that would have no effect, with the keys of a drive model that give it one; `None` if all
    /// of it has one.
    fn lacks(self, past: Past) -> Option<(&'static str, &'static str)> {
        let parts = [
            (past.days, self.by_days, "days without power", "[nand.retry]"),
            (past.cycles, self.by_cycles, "cycles", "[nand.retry] or [nand.wear]"),
            (past.reads, self.by_reads, "reads", "nand.retry.per_kiloread_ppb or reclaim_reads"),
        ];
        let is_lacking = |(amount, has_effect, ..): &(u32, bool, _, _)| *amount > 0 && !has_effect;
        parts.into_iter().find(is_lacking).map(|(_, _, part, keys)| (part, keys))
    }
}

impl Past {
    /// Refuses a past that the target cannot have.
    ///
    /// # Errors
    /// [`TargetError::Unsupported`] if the target lives in real time, or if a part of the past has no effect on it.
    pub fn check(self, identity: &Identity, ages: Ages) -> Result<(), TargetError> {
        let Some((part, keys)) = ages.lacks(self) else { return Ok(()) };
        let name = &identity.name;
        let reason = if identity.kind.is_simulated() {
            format!("{part} would have no effect on {name}: its model lacks {keys}")
        } else {
            format!(
                "{name} lives in real time and cannot be given a past ({self}): only a simulated drive can"
            )
        };
        let example = "sim:samsung-840-evo-250gb-2013-firmware";
        Err(TargetError::Unsupported(format!(
            "{reason}; take one whose data ages, such as {example}"
        )))
    }
}

impl fmt::Display for Past {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (self.days, "days without power"),
            (self.cycles, "cycles of every block"),
            (self.reads, "reads of every block"),
        ];
        let known = parts.iter().filter(|(amount, _)| *amount > 0);
        let words: Vec<_> = known.map(|(amount, what)| format!("{amount} {what}")).collect();
        f.write_str(if words.is_empty() { "nothing" } else { "" })?;
        f.write_str(&words.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_past_is_told_in_words_and_by_what_has_no_effect() {
        let past = Past { days: 30, cycles: 0, reads: 500 };
        assert_eq!(past.to_string(), "30 days without power, 500 reads of every block");
        assert_eq!(Past::default().to_string(), "nothing");
        let ages = Ages { by_days: true, ..Ages::NOT_AT_ALL };
        assert_eq!(ages.lacks(past).map(|(part, _)| part), Some("reads"));
        assert_eq!(ages.lacks(Past { reads: 0, ..past }), None);
        assert_eq!(Ages::NOT_AT_ALL.lacks(Past::default()), None);
    }
}
