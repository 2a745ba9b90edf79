//! The channels: each moves the data of one die at a time, in the order in which transfers become
//! ready.
//!
//! The data of a program is ready at once, that of a read after the sense of the array. A transfer
//! is claimed when its operation begins, so that its end is known from then on and the moment of
//! readiness needs no event. A claim that is ready before earlier claims delays those.

use crate::geometry::Geometry;

/// A future transfer.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Claim {
    ready_ns: u64,
    length_ns: u64,
    /// End of the earlier transfers of the channel.
    free_ns: u64,
}

impl Claim {
    #[inline]
    pub(super) fn end_ns(self) -> u64 {
        self.free_ns.max(self.ready_ns) + self.length_ns
    }
}

#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Channel {
    /// End of its last transfer.
    free_ns: u64,
    /// Time at which its last transfer is ready.
    last_ready_ns: u64,
}

/// All channels of a drive.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Channels {
    transfer_ns: u64,
    channels: Vec<Channel>,
    /// The last claim of each die; consecutive dies are on different channels.
    claims: Vec<Claim>,
    /// Delayed dies; empty between calls.
    later: Vec<u32>,
    /// Transfers since the start, counted when they are claimed.
    pub(super) transfers: u64,
}

impl Channels {
    pub(super) fn new(geometry: &Geometry, transfer_ns: u64) -> Self {
        let (channels, dies) = (geometry.channels as usize, geometry.dies as usize);
        Self {
            transfer_ns,
            channels: vec![Channel::default(); channels],
            claims: vec![Claim::default(); dies],
            later: Vec::with_capacity(dies.div_ceil(channels)),
            transfers: 0,
        }
    }

    /// Time of transfers since the start, summed, counted at the time of their claim.
    pub(super) fn busy_ns(&self) -> u64 {
        self.transfers * self.transfer_ns
    }

    /// Claims a channel for transfers that are ready at a moment. `put_off` is told each die whose transfer ends later because
    /// of that, with how much later and when.
    #[inline]
    pub(super) fn claim(
        &mut self,
        channel: u32,
        transfers: u32,
        ready_ns: u64,
        put_off: impl FnMut(u32, u64, u64),
    ) -> Claim {
        self.transfers += u64::from(transfers);
        let length_ns = u64::from(transfers) * self.transfer_ns;
        let Channel { free_ns, last_ready_ns } = &mut self.channels[channel as usize];
        let mut claim = Claim { ready_ns, length_ns, free_ns: *free_ns };
        if ready_ns < *last_ready_ns {
            claim.free_ns = self.overtake(channel, claim, put_off);
        } else {
            *last_ready_ns = ready_ns;
            *free_ns = claim.end_ns();
        }
        claim
    }

    /// Records the claim of a die that is ready only later, so that others can delay it.
    #[inline]
    pub(super) fn keep(&mut self, die: u32, claim: Claim) {
        self.claims[die as usize] = claim;
    }

    /// Delays the claims that are ready later than a new one; returns the end of the claims before
    /// it.
    #[cold]
    #[inline(never)]
    fn overtake(
        &mut self,
        channel: u32,
        new: Claim,
        mut put_off: impl FnMut(u32, u64, u64),
    ) -> u64 {
        let Self { channels, claims, later, .. } = self;
        let dies = (channel..claims.len() as u32).step_by(channels.len());
        later.extend(dies.filter(|&die| claims[die as usize].ready_ns > new.ready_ns));
        later.sort_unstable_by_key(|&die| claims[die as usize].end_ns());
        let before_ns = later.first().map_or(new.free_ns, |&die| claims[die as usize].free_ns);
        let mut free_ns = Claim { free_ns: before_ns, ..new }.end_ns();
        for die in later.drain(..) {
            let claim = &mut claims[die as usize];
            let end_ns = claim.end_ns();
            claim.free_ns = free_ns;
            free_ns = claim.end_ns();
            if free_ns > end_ns {
                put_off(die, free_ns - end_ns, free_ns);
            }
        }
        channels[channel as usize].free_ns = free_ns;
        before_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE_NS: u64 = 10;

    /// Two channels with two dies each.
    fn channels() -> Channels {
        let geometry = Geometry { channels: 2, dies: 4, superblocks: 8, ..Geometry::small() };
        Channels::new(&geometry, PAGE_NS)
    }

    fn nobody(die: u32, later_ns: u64, _: u64) {
        panic!("die {die} was put off by {later_ns} ns");
    }

    fn read(channels: &mut Channels, die: u32, pages: u32, ready_ns: u64) -> u64 {
        let claim = channels.claim(die % 2, pages, ready_ns, nobody);
        channels.keep(die, claim);
        claim.end_ns()
    }

    #[test]
    fn transfers_follow_each_other_as_they_become_ready() {
        let mut channels = channels();
        assert_eq!(read(&mut channels, 0, 2, 100), 120);
        assert_eq!(read(&mut channels, 2, 2, 100), 140, "the first to claim is the first to cross");
        assert_eq!(channels.claim(0, 1, 145, nobody).end_ns(), 155);
        assert_eq!(read(&mut channels, 1, 2, 100), 120, "the other channel is free");
        assert_eq!((channels.transfers, channels.busy_ns()), (7, 70));
    }

    #[test]
    fn who_is_ready_earlier_puts_off_those_that_claimed_before() {
        let mut channels = channels();
        read(&mut channels, 0, 1, 100);
        read(&mut channels, 2, 1, 105);
        let mut put_off = Vec::new();
        let mut tell = |die, later_ns, end_ns| put_off.push((die, later_ns, end_ns));
        // A program's data crosses from 60 to 100: nobody waits for it.
        assert_eq!(channels.claim(0, 4, 60, &mut tell).end_ns(), 100);
        // The next from 100 to 120, because it was ready before those that come at 100 and 105.
        assert_eq!(channels.claim(0, 2, 90, &mut tell).end_ns(), 120);
        // And one from 120 to 130, between the two.
        assert_eq!(channels.claim(0, 1, 102, &mut tell).end_ns(), 140);
        assert_eq!(channels.claim(0, 1, 110, &mut tell).end_ns(), 160);
        assert_eq!(put_off, [(0, 20, 130), (2, 20, 140), (2, 10, 150)]);
    }
}
