//! Pages that firmware has to move at a rate of its own, and how far it is behind.
//!
//! A share of that work goes before the writes of the host: where so much of it is late that no more can be under
//! way, the host waits, as it does where it owes collection. What a mechanism does beyond its share counts for what
//! comes next, up to a limit, so that a rest does not keep it idle later.

/// Work of one mechanism that is late.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Backlog {
    /// In hundredths of a page; less than none where more was done than was due.
    page_percents: i64,
    /// Work ahead of time that counts, in pages.
    ahead_pages_max: u32,
}

impl Backlog {
    /// Nothing is late; so many pages may be moved ahead of time and count.
    pub fn new(ahead_pages_max: u32) -> Self {
        Self { page_percents: 0, ahead_pages_max }
    }

    /// A share of so many pages has become due.
    pub fn add(&mut self, pages: u64, share_percent: u32) {
        let page_percents = pages.saturating_mul(share_percent.into());
        self.page_percents = self.page_percents.saturating_add_unsigned(page_percents);
    }

    /// Pages are being moved.
    pub fn moved(&mut self, pages: u32) {
        let ahead = -100 * i64::from(self.ahead_pages_max);
        self.page_percents = (self.page_percents - 100 * i64::from(pages)).max(ahead);
    }

    /// Nothing is late any more; what was done ahead of time still counts.
    pub fn forgive(&mut self) {
        self.page_percents = self.page_percents.min(0);
    }

    /// Pages that are late.
    #[inline]
    pub fn pages(&self) -> u64 {
        u64::try_from(self.page_percents).unwrap_or(0).div_ceil(100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_late_until_it_has_moved_and_work_ahead_counts_up_to_a_limit() {
        let mut backlog = Backlog::new(8);
        backlog.add(10, 25);
        assert_eq!(backlog.pages(), 3, "a part of a page is moved as a whole one");
        backlog.moved(2);
        assert_eq!(backlog.pages(), 1);
        backlog.moved(50);
        backlog.add(8, 100);
        assert_eq!(backlog.pages(), 0);
        backlog.add(1, 100);
        assert_eq!(backlog.pages(), 1);
        backlog.add(u64::MAX, 100);
        backlog.moved(1);
        assert!(backlog.pages() > 1 << 50);
        backlog.forgive();
        assert_eq!(backlog.pages(), 0);
        backlog.moved(3);
        backlog.forgive();
        backlog.add(4, 100);
        assert_eq!(backlog.pages(), 1);
    }
}
