//! Lower and upper pages: how long a read or a program takes depends on the place of its page in the block.
//!
//! Phenomenon: the pages of a word line share cells; the lower page is programmed fast (two states),
//! the upper ones slowly (four or eight). A block alternates between them, so a burst ends fast or slow
//! with the place of the write frontier. A page that shares its cells with more pages is sensed more often.
//! Source: paired-page tables of MLC datasheets (pages 0 and 2, 1
//! and 4, 3 and 6, ...), measured times in Grupp et al., "Characterizing flash memory" (MICRO 2009); for three
//! bits the same staircase with one more step (assumed); read times of 56, 78 and 106 us of the pages of planar
//! TLC (SimpleSSD), 48 and 64 us of 16 nm MLC (FEMU). Simplification: one time for each kind of page; a
//! page that a shortened block leaves over takes the mean; a superblock written fast is read as any other. Test:
//! `tests/device/nand.rs`.

/// Times of one kind of page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct KindTimes {
    /// Array to register.
    pub read_ns: u64,
    /// Register to array.
    pub program_ns: u64,
}

/// Times of every row of a superblock: the rows are the pages of its blocks.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PageTimes {
    row_units: u32,
    rows: Vec<KindTimes>,
}

impl PageTimes {
    /// `kinds` from the lowest page of a word line to the highest. A row is as many units as lie
    /// side by side over all dies; there are `rows` of them.
    pub fn new(row_units: u32, rows: u32, kinds: &[KindTimes]) -> Self {
        let order = staircase(rows, kinds.len() as u32);
        let mut times: Vec<KindTimes> = order.map(|kind| kinds[kind as usize]).collect();
        times.resize(rows as usize, mean(kinds));
        Self { row_units, rows: times }
    }

    /// Times of a unit, counted within its superblock.
    #[inline]
    pub fn of_unit(&self, unit: u32) -> KindTimes {
        self.rows[(unit / self.row_units) as usize]
    }
}

/// The average times of a page, rounded down.
pub fn mean(kinds: &[KindTimes]) -> KindTimes {
    let of = |time: fn(&KindTimes) -> u64| {
        kinds.iter().map(time).sum::<u64>() / kinds.len().max(1) as u64
    };
    KindTimes { read_ns: of(|kind| kind.read_ns), program_ns: of(|kind| kind.program_ns) }
}

/// The kind (0: lowest) of each page of a block in programming order, without the pages beyond whole
/// word lines. Word line 0 begins; each step down a diagonal programs the lower page of one word line
/// after the next higher page of the word line before it.
fn staircase(pages: u32, kinds: u32) -> impl Iterator<Item = u32> {
    let word_lines = pages / kinds;
    // On diagonal d lie the pages (word line d - kind, kind).
    (0..word_lines + kinds - 1)
        .flat_map(move |d| (0..kinds).filter(move |&kind| d >= kind && d - kind < word_lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(pages: u32, kinds: u32) -> Vec<u32> {
        staircase(pages, kinds).collect()
    }

    #[test]
    fn two_bits_follow_the_paired_page_table() {
        // Pairs (0, 2), (1, 4), (3, 6), (5, 8), ..., and the last page is an upper one.
        assert_eq!(kinds(12, 2), [0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1]);
        assert_eq!(kinds(128, 2).iter().filter(|&&kind| kind == 1).count(), 64);
        assert_eq!(kinds(2, 2), [0, 1]);
        assert!(kinds(1, 2).is_empty());
    }

    #[test]
    fn three_bits_add_a_step() {
        assert_eq!(kinds(12, 3), [0, 0, 1, 0, 1, 2, 0, 1, 2, 1, 2, 2]);
        assert_eq!(kinds(3, 3), [0, 1, 2]);
    }

    #[test]
    fn pages_without_a_word_line_take_the_mean() {
        let kind = |read_ns, program_ns| KindTimes { read_ns, program_ns };
        let times = PageTimes::new(4, 5, &[kind(10, 100), kind(15, 300)]);
        let rows: Vec<_> = (0..5).map(|row| times.of_unit(4 * row + 3)).collect();
        let [lower, upper] = [kind(10, 100), kind(15, 300)];
        assert_eq!(rows, [lower, lower, upper, upper, kind(12, 200)]);
    }
}
