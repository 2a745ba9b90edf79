//! A choice of victims of one's own.

use std::fmt::Debug;

use super::scope::{Scope, closed, full_pages};
use crate::ftl::{Ftl, StreamId};

/// The superblocks that may be collected now, in the order of their numbers: an entry of each list is one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidates {
    /// Their numbers.
    pub superblocks: Vec<u32>,
    /// Their valid pages; those would move.
    pub valid_pages: Vec<u32>,
    /// Superblocks that have been closed since they were, themselves included.
    pub ages: Vec<u64>,
    /// Their erases.
    pub erases: Vec<u32>,
    /// The streams that wrote them.
    pub streams: Vec<StreamId>,
    /// Pages of data in each.
    pub superblock_pages: u32,
}

/// A choice of victims; it is asked once for each.
///
/// ```
/// use sim::ftl::gc::own::{Candidates, VictimChoice};
///
/// #[derive(Clone, Debug)]
/// struct Oldest;
///
/// impl VictimChoice for Oldest {
///     fn choose(&mut self, candidates: Candidates) -> Result<usize, String> {
///         let oldest = (0..candidates.ages.len()).max_by_key(|&index| candidates.ages[index]);
///         oldest.ok_or_else(|| "there is no candidate".to_owned())
///     }
///
///     fn copied(&self) -> Box<dyn VictimChoice> {
///         Box::new(self.clone())
///     }
/// }
/// ```
pub trait VictimChoice: Debug + Send + Sync {
    /// The index of the victim in the lists. There is at least one candidate, and at least one of them gives room.
    ///
    /// # Errors
    /// The reason against any choice, in words.
    fn choose(&mut self, candidates: Candidates) -> Result<usize, String>;

    /// The same policy in the same state, for a copy of the drive: `Box::new(self.clone())`.
    fn copied(&self) -> Box<dyn VictimChoice>;
}

/// A choice of victims in a drive.
#[derive(Debug)]
pub(crate) struct OwnVictims {
    choice: Box<dyn VictimChoice>,
    /// Victims since the last one that gave room.
    full_in_succession: usize,
}

impl Clone for OwnVictims {
    fn clone(&self) -> Self {
        Self { choice: self.choice.copied(), ..*self }
    }
}

impl OwnVictims {
    pub(in crate::ftl) fn new(choice: Box<dyn VictimChoice>) -> Self {
        Self { choice, full_in_succession: 0 }
    }

    /// The victim in a group of which at least one superblock gives room. One that gives none costs, but ends; as
    /// many in succession as there are candidates would never end.
    pub(crate) fn select(&mut self, ftl: &Ftl, group: u32) -> Result<u32, String> {
        let full_pages = full_pages(ftl);
        let superblocks: Vec<u32> = closed(ftl, Scope::of_group(group)).collect();
        let of_each = superblocks.iter().map(|&superblock| superblock as usize);
        let candidates = Candidates {
            valid_pages: of_each.clone().map(|each| ftl.valid_pages[each]).collect(),
            ages: of_each.clone().map(|each| ftl.closed_total - ftl.closed_at[each]).collect(),
            erases: of_each.clone().map(|each| ftl.erase_counts[each]).collect(),
            streams: of_each.map(|each| ftl.written_by[each]).collect(),
            superblock_pages: full_pages,
            superblocks: superblocks.clone(),
        };
        let index = self.choice.choose(candidates)?;
        let Some(&victim) = superblocks.get(index) else {
            let last = superblocks.len() - 1;
            return Err(format!(
                "the policy chose victim {index}; expected an index from 0 to {last}"
            ));
        };
        let is_full = ftl.valid_pages[victim as usize] >= full_pages;
        self.full_in_succession = if is_full { self.full_in_succession + 1 } else { 0 };
        if self.full_in_succession > superblocks.len() {
            return Err(format!(
                "the policy chose victim {index} (superblock {victim}), the {}th in succession whose \
                 {full_pages} pages are all valid; others would give room",
                self.full_in_succession
            ));
        }
        Ok(victim)
    }
}
