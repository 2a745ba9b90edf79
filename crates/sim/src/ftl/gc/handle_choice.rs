//! The placement handle whose superblocks are collected next (`gc.victim_handle`).
//!
//! Phenomenon: noisy handles. What the host invalidates with one handle lies in the superblocks of another, and that one
//! pays: it holds the most garbage of all handles, so it is collected, though each of its superblocks is nearly full.
//! Source: WARP (FAST 2026): garbage collection decides first on a handle and then on a unit of it, by a policy such as
//! greed for the handle under the highest pressure, or the ratio of live to free space; on two drives invalidations in
//! one handle raise the write amplification of others. Simplifications: the paper does not say what pressure is, and no
//! vendor says what its drives do. Here it is the garbage of the closed superblocks of a handle, as a sum or as a share,
//! counted anew for each victim. A share costs a stream of random writes even alone. Moved data of drives that are
//! initially isolated counts as a handle of its own. Test: `tests/mechanisms/noisy_handles.rs`.

use std::cmp::Reverse;

use serde::Deserialize;

use super::scope::{Scope, closed, full_pages};
use crate::ftl::{Ftl, StreamId};

/// Rule for the handle of the next victim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HandleChoice {
    /// The most garbage in all its superblocks.
    MostGarbage,
    /// The smallest share of valid pages in all its superblocks.
    LeastValid,
}

impl HandleChoice {
    /// The word used in drive models.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MostGarbage => "most-garbage",
            Self::LeastValid => "least-valid",
        }
    }
}

/// The first decision of a drive whose collection chooses a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct HandleFirst {
    /// Its rule.
    pub choice: HandleChoice,
    /// Whether moved data counts as a handle of its own.
    pub is_moved_apart: bool,
}

/// Closed superblocks of a handle.
#[derive(Clone, Copy, Default)]
struct Holding {
    superblocks: u64,
    valid_pages: u64,
}

impl HandleFirst {
    /// The superblocks of the handle to collect next; of equals the first handle, and moved data last.
    pub(super) fn scope(self, ftl: &Ftl, group: u32) -> Scope {
        let mut holdings = [Holding::default(); StreamId::HOSTS.len() + 1];
        for superblock in closed(ftl, Scope::of_group(group)) {
            let holding = &mut holdings[self.place(ftl.written_by[superblock as usize])];
            holding.superblocks += 1;
            holding.valid_pages += u64::from(ftl.valid_pages[superblock as usize]);
        }
        let pages = u64::from(full_pages(ftl));
        let pressure = |holding: Holding| {
            let garbage_pages = holding.superblocks * pages - holding.valid_pages;
            let share = garbage_pages * 1_000_000 / (holding.superblocks * pages).max(1);
            match self.choice {
                HandleChoice::MostGarbage => garbage_pages,
                // In millionths, so that an integer keeps the order.
                HandleChoice::LeastValid => share.max(u64::from(garbage_pages > 0)),
            }
        };
        let place = (0..holdings.len()).min_by_key(|&place| Reverse(pressure(holdings[place])));
        let of_handle = |stream: &&StreamId| Some(self.place(**stream)) == place;
        let streams = StreamId::ALL.iter().filter(of_handle);
        Scope { group, streams: streams.fold(0, |bits, &stream| bits | 1 << stream as u32) }
    }

    /// The handle of a stream by number, or the number behind them for moved data if that counts apart.
    fn place(self, stream: StreamId) -> usize {
        if self.is_moved_apart && stream.is_moved() {
            return StreamId::HOSTS.len();
        }
        usize::from(stream.handle())
    }
}
