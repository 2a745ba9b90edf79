//! The permitted states of each LBA page after a loss of power, for a host that remembers the
//! promises of its drive.
//!
//! A page has one certain state, and the states acknowledged after it: a flush, forced unit access
//! or capacitors make those certain in their turn. A state is a version ([`Contents::version`]) or
//! nothing. Promises to a host: `docs/reference/power-loss.md`.
//!
//! [`Contents::version`]: sim::power_loss::Contents::version

use std::collections::BTreeMap;
use std::ops::Range;

use base::OpKind;

/// The state without data; no version is so high.
const NOTHING: u64 = u64::MAX;

/// The content of a page after a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing was ever written, or it was deallocated.
    Nothing,
    /// This version of its data.
    Version(u64),
    /// The data of another page.
    Other(u64),
    /// The drive cannot read the place of the page.
    Unreadable,
}

/// A way to break a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The page is empty, although data was promised.
    Lost,
    /// The page has older data than promised.
    Stale,
    /// The page has data again that were deallocated for good, or that an earlier recovery had
    /// given up.
    Returned,
    /// The page has the data of another page.
    Misdirected,
    /// The map points to an unreadable place.
    Unreadable,
}

impl Finding {
    /// The word used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Stale => "stale",
            Self::Returned => "returned",
            Self::Misdirected => "misdirected",
            Self::Unreadable => "unreadable",
        }
    }
}

/// A page without its promised content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The LBA page.
    pub page: u64,
    /// The broken promise.
    pub finding: Finding,
    /// The promised version, or `None` if the promise was an empty page.
    pub promised: Option<u64>,
    /// The actual content.
    pub found: Found,
}

/// The effect of a recovery on unflushed commands and on the promises.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// Acknowledged writes that lost a page; this is permitted.
    pub writes_not_durable: u64,
    /// Writes, acknowledged or not, of which only some pages survived.
    pub writes_torn: u64,
    /// The first broken pages.
    pub broken: Vec<Broken>,
    /// Number of all broken pages.
    pub broken_pages: u64,
}

/// Broken pages that the report lists.
const TOLD_MAX: usize = 20;

/// An acknowledged state.
#[derive(Clone, Copy, Debug)]
struct State {
    /// The version, or [`NOTHING`].
    version: u64,
    command: Command,
    /// Number of commands acknowledged up to then, its own included.
    acknowledged: u64,
}

/// The command that made a state.
#[derive(Clone, Copy, Debug)]
struct Command {
    number: u64,
    kind: OpKind,
}

/// Numbers of surviving and of lost pages of a write.
#[derive(Clone, Copy, Debug, Default)]
struct Survival {
    survived: u64,
    lost: u64,
    is_acknowledged: bool,
}

/// The permitted states.
#[derive(Debug)]
pub struct Oracle {
    /// The certain state of each page.
    certain: Vec<u64>,
    /// The states acknowledged after it, oldest first.
    since: BTreeMap<u64, Vec<State>>,
    under_way: BTreeMap<u64, Command>,
    sent: u64,
    acknowledged: u64,
}

impl Oracle {
    /// Memory of the oracle for each LBA page.
    pub const PAGE_BYTES: u64 = size_of::<u64>() as u64;

    /// The oracle of a fresh drive.
    pub fn new(pages: u64) -> Self {
        Self {
            certain: vec![NOTHING; pages as usize],
            since: BTreeMap::new(),
            under_way: BTreeMap::new(),
            sent: 0,
            acknowledged: 0,
        }
    }

    /// Number of LBA pages.
    pub fn pages(&self) -> u64 {
        self.certain.len() as u64
    }

    /// Whether a command for one of these pages is outstanding.
    pub fn is_busy(&self, pages: Range<u64>) -> bool {
        self.under_way.range(pages).next().is_some()
    }

    /// Records a write or a deallocation that the host sends; no other command for its pages is
    /// outstanding.
    pub fn sent(&mut self, kind: OpKind, pages: Range<u64>) {
        self.sent += 1;
        let command = Command { number: self.sent, kind };
        self.under_way.extend(pages.map(|page| (page, command)));
    }

    /// Number of commands acknowledged so far: a flush sent now must make them certain.
    pub fn mark(&self) -> u64 {
        self.acknowledged
    }

    /// Records the end of a flush that was sent at `mark`.
    pub fn flushed(&mut self, mark: u64) {
        for (page, states) in &mut self.since {
            let durable = states.partition_point(|state| state.acknowledged <= mark);
            if let Some(last) = states.drain(..durable).next_back() {
                self.certain[*page as usize] = last.version;
            }
        }
        self.since.retain(|_, states| !states.is_empty());
    }

    /// Records the end of the command for these pages; `version` gives the new version of each
    /// page.
    pub fn ended(
        &mut self,
        pages: Range<u64>,
        is_certain: bool,
        version: impl Fn(u64) -> Option<u64>,
    ) {
        self.acknowledged += 1;
        for page in pages {
            let Some(command) = self.under_way.remove(&page) else { continue };
            let version = version(page).unwrap_or(NOTHING);
            if is_certain {
                self.since.remove(&page);
                self.certain[page as usize] = version;
            } else {
                let state = State { version, command, acknowledged: self.acknowledged };
                self.since.entry(page).or_default().push(state);
            }
        }
    }

    /// Checks every page after a recovery. From now on the content is certain, and outstanding
    /// commands are forgotten.
    pub fn judge(&mut self, read: impl Fn(u64) -> Found) -> Judgement {
        let mut judgement = Judgement::default();
        let mut survivals = BTreeMap::new();
        for page in 0..self.certain.len() as u64 {
            let found = read(page);
            if let Some(finding) = self.finding(page, found) {
                let promised = self.certain[page as usize];
                let promised = (promised != NOTHING).then_some(promised);
                judgement.broken_pages += 1;
                if judgement.broken.len() < TOLD_MAX {
                    judgement.broken.push(Broken { page, finding, promised, found });
                }
            }
            self.count_survivals(page, found, &mut survivals);
            self.certain[page as usize] = version_of(found);
        }
        self.since.clear();
        self.under_way.clear();
        for Survival { survived, lost, is_acknowledged } in survivals.into_values() {
            judgement.writes_not_durable += u64::from(is_acknowledged && lost > 0);
            judgement.writes_torn += u64::from(survived > 0 && lost > 0);
        }
        judgement
    }

    /// The promise that a page breaks, or `None` if it keeps all.
    fn finding(&self, page: u64, found: Found) -> Option<Finding> {
        let certain = self.certain[page as usize];
        let since = self.since.get(&page).map_or(&[][..], Vec::as_slice);
        let version = match found {
            Found::Unreadable => return Some(Finding::Unreadable),
            Found::Other(_) => return Some(Finding::Misdirected),
            Found::Nothing => NOTHING,
            Found::Version(version) => version,
        };
        let is_acknowledged =
            certain == version || since.iter().any(|state| state.version == version);
        if is_acknowledged || self.is_under_way(page, version) {
            return None;
        }
        match certain {
            _ if version == NOTHING => Some(Finding::Lost),
            NOTHING => Some(Finding::Returned),
            promised if version < promised => Some(Finding::Stale),
            _ => Some(Finding::Returned),
        }
    }

    /// Whether a version can come from the outstanding command: it is higher than all earlier ones,
    /// or nothing.
    fn is_under_way(&self, page: u64, version: u64) -> bool {
        match self.under_way.get(&page).map(|command| command.kind) {
            Some(OpKind::Write) => {
                let since = self.since.get(&page).into_iter().flatten().map(|state| state.version);
                let mut before = since.chain([self.certain[page as usize]]);
                version != NOTHING && before.all(|other| other == NOTHING || other < version)
            }
            Some(OpKind::Deallocate) => version == NOTHING,
            _ => false,
        }
    }

    /// Counts the surviving pages among the unflushed writes to a page.
    fn count_survivals(&self, page: u64, found: Found, survivals: &mut BTreeMap<u64, Survival>) {
        let states = self.since.get(&page).map_or(&[][..], Vec::as_slice);
        let version = version_of(found);
        let newest = states.iter().rposition(|state| state.version == version);
        let under_way = self.under_way.get(&page);
        let is_newer = newest.is_none() && self.is_under_way(page, version);
        let mut count = |command: &Command, has_survived: bool, is_acknowledged| {
            if command.kind == OpKind::Write {
                let survival: &mut Survival = survivals.entry(command.number).or_default();
                survival.survived += u64::from(has_survived);
                survival.lost += u64::from(!has_survived);
                survival.is_acknowledged = is_acknowledged;
            }
        };
        for (index, state) in states.iter().enumerate() {
            // A state that a later one has replaced is not missed.
            let has_survived = is_newer || newest.is_some_and(|newest| index <= newest);
            count(&state.command, has_survived, true);
        }
        if let Some(command) = under_way {
            count(command, is_newer, false);
        }
    }
}

fn version_of(found: Found) -> u64 {
    match found {
        Found::Version(version) => version,
        Found::Nothing | Found::Other(_) | Found::Unreadable => NOTHING,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An oracle whose pages 0 to 3 hold version 1 for certain.
    fn written() -> Oracle {
        let mut oracle = Oracle::new(8);
        oracle.sent(OpKind::Write, 0..4);
        oracle.ended(0..4, true, |_| Some(1));
        oracle
    }

    fn findings(oracle: &mut Oracle, reads: &[(u64, Found)]) -> Vec<(u64, Finding)> {
        let reads: BTreeMap<u64, Found> = reads.iter().copied().collect();
        let usual = |page| if page < 4 { Found::Version(1) } else { Found::Nothing };
        let judged = oracle.judge(|page| reads.get(&page).copied().unwrap_or_else(|| usual(page)));
        assert_eq!(judged.broken_pages, judged.broken.len() as u64);
        judged.broken.iter().map(|broken| (broken.page, broken.finding)).collect()
    }

    #[test]
    fn each_kind_of_damage_has_its_name() {
        let mut oracle = written();
        oracle.sent(OpKind::Write, 0..1);
        oracle.ended(0..1, true, |_| Some(5));
        let reads = [
            (0, Found::Version(1)),
            (1, Found::Nothing),
            (2, Found::Other(7)),
            (3, Found::Unreadable),
            (4, Found::Version(3)),
        ];
        let broken = findings(&mut oracle, &reads);
        let names = ["stale", "lost", "misdirected", "unreadable", "returned"];
        assert!(broken.iter().map(|(_, finding)| finding.name()).eq(names), "{broken:?}");
    }

    #[test]
    fn what_no_flush_covers_may_be_lost_and_what_one_covers_may_not() {
        let rewritten = |is_flushed: bool| {
            let mut oracle = written();
            oracle.sent(OpKind::Write, 0..2);
            let too_early = oracle.mark();
            oracle.ended(0..2, false, |_| Some(9));
            oracle.flushed(if is_flushed { oracle.mark() } else { too_early });
            oracle
        };
        let old = [(0, Found::Version(9)), (1, Found::Version(1))];
        assert_eq!(findings(&mut rewritten(false), &old), []);
        assert_eq!(findings(&mut rewritten(true), &old), [(1, Finding::Stale)]);
        // Contents that were given up stay away.
        let mut oracle = rewritten(false);
        findings(&mut oracle, &[]);
        assert_eq!(findings(&mut oracle, &[(0, Found::Version(9))]), [(0, Finding::Returned)]);
    }

    #[test]
    fn half_a_write_is_torn_and_a_replaced_one_is_not_missed() {
        let mut oracle = written();
        for version in [9, 10] {
            oracle.sent(OpKind::Write, 0..2);
            oracle.ended(0..2, false, |_| Some(version));
        }
        oracle.sent(OpKind::Write, 2..4);
        let judged = oracle.judge(|page| match page {
            0 => Found::Version(10),
            1 => Found::Version(9),
            2 => Found::Version(11),
            3 => Found::Version(1),
            _ => Found::Nothing,
        });
        assert_eq!(judged.broken_pages, 0, "{judged:?}");
        assert_eq!((judged.writes_not_durable, judged.writes_torn), (1, 2));
    }

    #[test]
    fn a_deallocation_under_way_may_have_happened() {
        for (reads, is_allowed) in [(Found::Nothing, true), (Found::Version(2), false)] {
            let mut oracle = written();
            oracle.sent(OpKind::Deallocate, 0..1);
            assert!(oracle.is_busy(0..4) && !oracle.is_busy(1..4));
            assert_eq!(findings(&mut oracle, &[(0, reads)]).is_empty(), is_allowed);
        }
    }
}
