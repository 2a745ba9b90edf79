//! What a simulated drive counts while it works: the "why" under an IOPS graph.

/// One interval of a simulated drive's inner life. Counts are differences over the interval; levels
/// (`free_superblocks`, `buffer_pages`, `pslc_pages`) are as they stood at its end. A page is 4,096 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TelemetryRow {
    /// Pages written by the host.
    pub host_pages: u64,
    /// Pages programmed into NAND for any reason: over a long interval the sum of the pages written by
    /// host, GC, padding, metadata, folds and parity, less what compression saved.
    pub programmed_pages: u64,
    /// Valid pages moved by garbage collection.
    pub gc_moved_pages: u64,
    /// Pages programmed with no data to complete a program unit.
    pub padding_pages: u64,
    /// Pages of mapping journal and checkpoints.
    pub metadata_pages: u64,
    /// Pages moved out of the pSLC cache.
    pub folded_pages: u64,
    /// Pages of parity.
    pub parity_pages: u64,
    /// Pages that compression kept away from NAND.
    pub saved_pages: u64,
    /// Superblocks erased.
    pub erased_superblocks: u64,
    /// Level: erased superblocks ready for writing.
    pub free_superblocks: u64,
    /// Level: pages in the write buffer that are not yet in NAND.
    pub buffer_pages: u64,
    /// Level: valid pages in the pSLC cache.
    pub pslc_pages: u64,
    /// Time dies were busy, summed over all dies.
    pub die_busy_ns: u64,
    /// Time channels were transferring, summed over all channels.
    pub channel_busy_ns: u64,
    /// Time the controller's processor was busy with commands and with moved pages.
    pub controller_busy_ns: u64,
    /// Energy taken from the supply, in nanojoules.
    pub energy_nj: u64,
}
