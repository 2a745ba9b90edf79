//! Quanta: owed moves are saved up and made in one burst, in which the host's writes wait.
//!
//! Phenomenon: firmware collects in pieces of its own choice, a unit, a row of dies or whole blocks at a time, and the
//! host's writes stand still or share the dies meanwhile: the same work makes a drive even or uneven. Firmware that sees
//! its queues fill serves the host beside the burst, so that each write waits as long as the full queue takes at the
//! rate of the host. Source: settled
//! data-centre drives vary by 1% to 80% from second to second at like WAF (published measurements); the longest writes of
//! a Micron 7450 wait for 448 outstanding commands at the offered rate, from 45,000 to 115,000 a second, and in overload
//! all do (SSD-iq). Simplifications: the
//! share of collection in a burst counts pages, not time; reads of the host keep their place before both; collection for
//! lack of erased superblocks does not wait for a quantum. Test: `tests/formulas/evenness.rs`.

/// Size and sharpness of bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Quantum {
    /// Owed pages that begin a burst.
    pub pages: u64,
    /// Share of moved pages in all that are written during a burst; 100: the host waits for its end.
    pub duty_percent: u32,
    /// Most writes of the host that wait for the end of a burst: while there are more, they enter beside it at the pace of
    /// collection; `None` if all wait.
    pub waiting_writes_max: Option<u32>,
}

/// The bursts of one drive.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Bursts {
    quantum: Quantum,
    /// Owed pages that no burst has taken up.
    saved_pages: u64,
    /// Pages that the host may write now, in hundredths; less than none where it wrote more at once.
    allowed_page_percents: i64,
    /// Pages moved since the burst began, on a drive whose bursts take up the debts of the host that enters beside them.
    moved_pages: u64,
    /// Pages owed since then.
    owed_pages: u64,
}

/// Of this many moved pages all but one may pay for what the host writes beside a burst (assumed). The rest ends it.
const MOVED_PAGES_PER_OLD: u64 = 8;

impl Bursts {
    /// No burst yet.
    pub fn new(quantum: Quantum) -> Self {
        let (moved_pages, owed_pages) = (0, 0);
        Self { quantum, saved_pages: 0, allowed_page_percents: 0, moved_pages, owed_pages }
    }

    /// Saves owed pages up; returns those to move now: none, or all at the begin of a burst, or those owed during one
    /// that follows the debt.
    #[inline]
    pub fn owe(&mut self, pages: u64, is_burst: bool) -> u64 {
        if is_burst && self.quantum.waiting_writes_max.is_some() {
            self.owed_pages += pages;
            return pages;
        }
        self.saved_pages += pages;
        if self.saved_pages < self.quantum.pages {
            return 0;
        }
        self.allowed_page_percents = 0;
        (self.moved_pages, self.owed_pages) = (0, 0);
        std::mem::take(&mut self.saved_pages)
    }

    /// Pages have been taken up for a move: the host may write its share for them.
    #[inline]
    pub fn moving(&mut self, pages: u32) {
        self.moved_pages += u64::from(pages);
        let host_percent = i64::from(100 - self.quantum.duty_percent);
        self.allowed_page_percents +=
            i64::from(pages) * 100 * host_percent / i64::from(self.quantum.duty_percent);
    }

    /// The host has written pages in a burst.
    #[inline]
    pub fn written(&mut self, pages: u32) {
        self.allowed_page_percents -= 100 * i64::from(pages);
    }

    /// Whether the host may write although a burst goes on and so many of its writes wait.
    #[inline]
    pub fn admits(&self, waiting_writes: usize) -> bool {
        let is_crowd = |max: u32| waiting_writes > max as usize;
        let is_paid =
            self.owed_pages * MOVED_PAGES_PER_OLD <= self.moved_pages * (MOVED_PAGES_PER_OLD - 1);
        self.allowed_page_percents > 0
            || self.quantum.waiting_writes_max.is_some_and(is_crowd) && is_paid
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debts_wait_for_a_quantum_and_the_host_for_its_share() {
        let mut bursts =
            Bursts::new(Quantum { pages: 10, duty_percent: 80, waiting_writes_max: None });
        let owed = [4, 5, 3, 3].map(|pages| bursts.owe(pages, false));
        assert_eq!(owed, [0, 0, 12, 0]);
        assert!(!bursts.admits(1_000));
        // Of five pages one is the host's.
        bursts.moving(4);
        assert!(bursts.admits(1));
        bursts.written(4);
        bursts.moving(12);
        assert!(!bursts.admits(1));
        bursts.moving(1);
        assert!(bursts.admits(1));
        let alone = Quantum { pages: 1, duty_percent: 100, waiting_writes_max: None };
        let mut alone = Bursts::new(alone);
        assert_eq!([alone.owe(1, false), alone.owe(2, true)], [1, 2], "a quantum each time");
        alone.moving(1_000);
        assert!(!alone.admits(1_000));
    }

    #[test]
    fn a_crowd_of_writes_enters_beside_a_burst_as_long_as_its_debts_are_paid() {
        let follows = Quantum { pages: 100, duty_percent: 100, waiting_writes_max: Some(9) };
        let mut bursts = Bursts::new(follows);
        assert_eq!([bursts.owe(99, false), bursts.owe(1, false)], [0, 100]);
        assert!(!bursts.admits(9) && bursts.admits(10), "nobody owes anything yet");
        assert_eq!(bursts.owe(7, true), 7, "it is moved in the same burst");
        assert!(!bursts.admits(10));
        bursts.moving(8);
        assert!(bursts.admits(10) && !bursts.admits(9));
        assert_eq!(bursts.owe(3, false), 0, "after its end debts are saved up again");
    }
}
