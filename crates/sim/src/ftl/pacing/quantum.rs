//! Quanta: owed moves are saved up and made in one burst, in which the host's writes wait.
//!
//! Phenomenon: firmware collects in pieces of its own choice, a unit, a row of dies or whole blocks at a time, and the
//! host's writes stand still or share the dies meanwhile: the same work makes a drive even or uneven. Source: settled
//! data-centre drives vary by 1% to 80% from second to second at like WAF (published measurements). Simplifications: the
//! share of collection in a burst counts pages, not time; reads of the host keep their place before both; collection for
//! lack of erased superblocks does not wait for a quantum. Test: `tests/formulas/evenness.rs`.

/// Size and sharpness of bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Quantum {
    /// Owed pages that begin a burst.
    pub pages: u64,
    /// Share of moved pages in all that are written during a burst; 100: the host waits for its end.
    pub duty_percent: u32,
}

/// The bursts of one drive.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Bursts {
    quantum: Quantum,
    /// Owed pages that no burst has taken up.
    saved_pages: u64,
    /// Pages that the host may write now, in hundredths; less than none where it wrote more at once.
    allowed_page_percents: i64,
}

impl Bursts {
    /// No burst yet.
    pub fn new(quantum: Quantum) -> Self {
        Self { quantum, saved_pages: 0, allowed_page_percents: 0 }
    }

    /// Saves owed pages up; returns those to move now: none, or all at the begin of a burst.
    #[inline]
    pub fn owe(&mut self, pages: u64) -> u64 {
        self.saved_pages += pages;
        if self.saved_pages < self.quantum.pages {
            return 0;
        }
        self.allowed_page_percents = 0;
        std::mem::take(&mut self.saved_pages)
    }

    /// Pages have been taken up for a move: the host may write its share for them.
    #[inline]
    pub fn moving(&mut self, pages: u32) {
        let host_percent = i64::from(100 - self.quantum.duty_percent);
        self.allowed_page_percents +=
            i64::from(pages) * 100 * host_percent / i64::from(self.quantum.duty_percent);
    }

    /// The host has written pages in a burst.
    #[inline]
    pub fn written(&mut self, pages: u32) {
        self.allowed_page_percents -= 100 * i64::from(pages);
    }

    /// Whether the host may write although a burst goes on.
    #[inline]
    pub fn admits(&self) -> bool {
        self.allowed_page_percents > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debts_wait_for_a_quantum_and_the_host_for_its_share() {
        let mut bursts = Bursts::new(Quantum { pages: 10, duty_percent: 80 });
        assert_eq!([bursts.owe(4), bursts.owe(5), bursts.owe(3), bursts.owe(3)], [0, 0, 12, 0]);
        assert!(!bursts.admits());
        // Of five pages one is the host's.
        bursts.moving(4);
        assert!(bursts.admits());
        bursts.written(4);
        bursts.moving(12);
        assert!(!bursts.admits());
        bursts.moving(1);
        assert!(bursts.admits());
        let mut alone = Bursts::new(Quantum { pages: 1, duty_percent: 100 });
        assert_eq!(alone.owe(1), 1);
        alone.moving(1_000);
        assert!(!alone.admits());
    }
}
