//! Zones that sequential streams write.

use base::Rng;

/// Pages of a command of a stream.
pub(super) const STREAM_PAGES: u64 = 128;

/// Zones and the streams that write them.
pub(super) struct ZoneStreams {
    free: Vec<u64>,
    /// Zone and next page in it, of each stream.
    active: Vec<(u64, u64)>,
    zone_pages: u64,
    rng: Rng,
}

impl ZoneStreams {
    pub(super) fn new(count: u64, streams: u64, zone_pages: u64, rng: Rng) -> Self {
        let mut zones = Self { free: (0..count).collect(), active: Vec::new(), zone_pages, rng };
        zones.active = (0..streams).map(|_| (zones.take(), 0)).collect();
        zones
    }

    fn take(&mut self) -> u64 {
        let index = self.rng.below(self.free.len() as u64) as usize;
        self.free.swap_remove(index)
    }

    /// The place of the next command, of a random stream.
    pub(super) fn next_page(&mut self) -> u64 {
        let stream = self.rng.below(self.active.len() as u64) as usize;
        let (zone, page) = self.active[stream];
        let place = zone * self.zone_pages + page;
        self.active[stream].1 = page + STREAM_PAGES;
        if page + STREAM_PAGES == self.zone_pages {
            self.free.push(zone);
            self.active[stream] = (self.take(), 0);
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_written_in_order_and_none_by_two_streams() {
        let mut zones = ZoneStreams::new(6, 3, 4 * STREAM_PAGES, Rng::new(7));
        let mut next = [0; 6];
        for _ in 0..1_000 {
            let page = zones.next_page();
            let zone = (page / zones.zone_pages) as usize;
            assert_eq!(page % zones.zone_pages, next[zone], "in order");
            next[zone] = (next[zone] + STREAM_PAGES) % zones.zone_pages;
            let mut active: Vec<_> = zones.active.iter().map(|(zone, _)| *zone).collect();
            active.sort_unstable();
            active.dedup();
            assert_eq!((active.len(), zones.free.len()), (3, 3));
        }
    }
}
