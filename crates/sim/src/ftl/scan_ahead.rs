//! Which map lines are asked for ahead of the scan of a victim: a few with each event of the drive.
//!
//! Pacing lets several units be read at once, each time the host has filled one of its own. Asked for at that moment,
//! their lines are more than a processor fetches in parallel, and it stands still; spread over the events between
//! two such moments they come for nothing. One or two at once are best: even a line that nobody waits for yet holds
//! its processor up while its address is translated. The simulated drive knows nothing of this. Test: below, and what it brings
//! is in `docs/benchmarks.md`.

use std::ops::Range;

/// How many units ahead of the scan lines are asked for.
const MOST_UNITS: u32 = 12;
/// How many units ahead of it all lines have been asked for, also where the host writes nothing.
const LEAST_UNITS: u32 = 3;

/// Events between two bursts of the scan, somewhat less than there are: the host fills a unit of eight pages and what
/// was read for it is moved and programmed.
const EVENTS: u32 = 24;

/// How far lines have been asked for; all numbers are physical pages.
#[derive(Debug, Default)]
pub struct ScanAhead {
    next: u32,
    end: u32,
    /// Pages to ask for with each event.
    per_event: u32,
}

impl ScanAhead {
    /// The scan has come to a unit: the pages whose owners are to be asked for now.
    #[inline]
    pub fn scan(&mut self, unit: u32, unit_pages: u32) -> Range<u32> {
        let behind = (unit + 1) * unit_pages;
        self.end = behind.saturating_add(MOST_UNITS * unit_pages);
        if !(behind..=self.end).contains(&self.next) {
            self.next = behind;
        }
        let pages = self.ask(behind.saturating_add(LEAST_UNITS * unit_pages));
        self.per_event = (self.end - self.next).div_ceil(EVENTS);
        pages
    }

    /// Something has happened in the drive: the pages whose owners are to be asked for now.
    #[inline]
    pub fn event(&mut self) -> Range<u32> {
        self.ask(self.next.saturating_add(self.per_event).min(self.end))
    }

    #[inline]
    fn ask(&mut self, end: u32) -> Range<u32> {
        let first = self.next;
        self.next = end.max(first);
        first..self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT_PAGES: u32 = 8;

    /// Scans five units each time the host has written one, as pacing does at a WAF of about 5.
    #[test]
    fn asks_for_each_page_once_and_a_few_at_a_time() {
        let mut ahead = ScanAhead::default();
        let mut asked = ahead.scan(0, UNIT_PAGES);
        let mut most = 0;
        for burst in 0..100 {
            for unit in burst * 5 + 1..=burst * 5 + 5 {
                let pages = ahead.scan(unit, UNIT_PAGES);
                assert_eq!(pages.start, asked.end);
                asked.end = pages.end;
                assert!(asked.end >= (unit + 1 + LEAST_UNITS) * UNIT_PAGES, "late for unit {unit}");
                assert!(asked.end <= (unit + 1 + MOST_UNITS) * UNIT_PAGES);
            }
            for _ in 0..EVENTS {
                let pages = ahead.event();
                assert_eq!(pages.start, asked.end);
                asked.end = pages.end;
                // It had nothing to go on with before the first scan.
                if burst > 0 {
                    most = most.max(pages.len());
                }
            }
        }
        assert_eq!(most, 2, "all that a burst takes, spread over the events between two");
    }

    #[test]
    fn begins_anew_with_another_victim_and_keeps_up_without_the_host() {
        let mut ahead = ScanAhead::default();
        for first in [1_000, 10, 500_000] {
            let mut start = (first + 1) * UNIT_PAGES;
            for unit in first..first + 20 {
                let end = (unit + 1 + LEAST_UNITS) * UNIT_PAGES;
                assert_eq!(ahead.scan(unit, UNIT_PAGES), start..end);
                start = end;
            }
        }
    }

    #[test]
    fn ends_with_the_last_page_that_there_can_be() {
        let mut ahead = ScanAhead::default();
        assert_eq!(ahead.scan(u32::MAX / UNIT_PAGES - 1, UNIT_PAGES).end, u32::MAX);
        assert!(ahead.event().is_empty());
    }

    #[test]
    fn asks_for_nothing_more_where_the_scan_rests() {
        let mut ahead = ScanAhead::default();
        ahead.scan(0, UNIT_PAGES);
        let end = (1 + MOST_UNITS) * UNIT_PAGES;
        let asked: u32 = (0..EVENTS).map(|_| ahead.event().len() as u32).sum();
        assert_eq!(asked, (MOST_UNITS - LEAST_UNITS) * UNIT_PAGES);
        assert_eq!(ahead.event(), end..end);
    }
}
