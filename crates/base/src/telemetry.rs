//! Counters and levels of a simulated drive at work: the "why" under an IOPS graph.
//!
//! One table lists the columns. The code that cuts, stores, reads, hashes and describes rows
//! iterates it, so a new column takes a line here and the place in the simulator that counts it.

/// Meaning of a column's value for its interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// A count of events: a row holds the difference over its interval.
    Counter,
    /// A state: a row holds the state at the end of its interval.
    Level,
}

/// Unit of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnUnit {
    /// Pages of 4,096 bytes.
    Pages,
    /// Superblocks.
    Superblocks,
    /// Nanoseconds.
    Nanoseconds,
    /// Nanojoules.
    Nanojoules,
    /// Thousandths of a kelvin above absolute zero.
    Millikelvin,
}

impl ColumnUnit {
    /// The word in tables of columns.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pages => "pages",
            Self::Superblocks => "superblocks",
            Self::Nanoseconds => "ns",
            Self::Nanojoules => "nJ",
            Self::Millikelvin => "mK",
        }
    }
}

/// One column of [`TelemetryRow`].
#[derive(Clone, Copy, Debug)]
pub struct TelemetryColumn {
    /// Name of the field, and of the column in files.
    pub name: &'static str,
    /// Counter or level.
    pub kind: ColumnKind,
    /// Unit of the values.
    pub unit: ColumnUnit,
    /// Takes the value out of a row.
    pub get: fn(&TelemetryRow) -> u64,
    /// Puts the value into a row.
    pub set: fn(&mut TelemetryRow, u64),
}

macro_rules! telemetry_columns {
    ($($(#[doc = $doc:literal])+ $name:ident: $kind:ident, $unit:ident;)+) => {
        /// Internals of a simulated drive in one interval, or its totals since it was new. Counters
        /// are differences over the interval; levels are the values at its end. A page is 4,096
        /// bytes.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[derive(serde::Serialize, serde::Deserialize)]
        pub struct TelemetryRow {
            $($(#[doc = $doc])+ pub $name: u64,)+
        }

        impl TelemetryRow {
            /// Every column, in the order of the files.
            pub const COLUMNS: &'static [TelemetryColumn] = &[$(TelemetryColumn {
                name: stringify!($name),
                kind: ColumnKind::$kind,
                unit: ColumnUnit::$unit,
                get: |row| row.$name,
                set: |row, value| row.$name = value,
            }),+];
        }
    };
}

telemetry_columns! {
    /// Pages written by the host.
    host_pages: Counter, Pages;
    /// Pages programmed into NAND for any reason: over a long interval the sum of the pages written by
    /// host, GC, padding, metadata, folds and parity, less what compression saved.
    programmed_pages: Counter, Pages;
    /// Valid pages moved by garbage collection.
    gc_moved_pages: Counter, Pages;
    /// Pages programmed with no data to complete a program unit.
    padding_pages: Counter, Pages;
    /// Pages of mapping journal and checkpoints.
    metadata_pages: Counter, Pages;
    /// Pages moved out of the pSLC cache.
    folded_pages: Counter, Pages;
    /// Pages of parity.
    parity_pages: Counter, Pages;
    /// Pages that compression kept away from NAND.
    saved_pages: Counter, Pages;
    /// Superblocks erased.
    erased_superblocks: Counter, Superblocks;
    /// Erased superblocks ready for writing.
    free_superblocks: Level, Superblocks;
    /// Pages in the write buffer that are not yet in NAND.
    buffer_pages: Level, Pages;
    /// Valid pages in the pSLC cache.
    pslc_pages: Level, Pages;
    /// Time dies were busy, summed over all dies.
    die_busy_ns: Counter, Nanoseconds;
    /// Time channels were transferring, summed over all channels.
    channel_busy_ns: Counter, Nanoseconds;
    /// Time the controller's processor was busy with commands and with moved pages.
    controller_busy_ns: Counter, Nanoseconds;
    /// Energy taken from the supply.
    energy_nj: Counter, Nanojoules;
    /// Temperature of the drive; 0 if the model has none.
    temperature_mk: Level, Millikelvin;
}

impl TelemetryRow {
    /// The values, in the order of [`TelemetryRow::COLUMNS`].
    pub fn values(&self) -> impl Iterator<Item = u64> {
        Self::COLUMNS.iter().map(|column| (column.get)(self))
    }

    /// The row with each value replaced by the result of `value` for its column.
    #[must_use]
    pub fn map(mut self, value: impl Fn(&TelemetryColumn, u64) -> u64) -> Self {
        for column in Self::COLUMNS {
            let new = value(column, (column.get)(&self));
            (column.set)(&mut self, new);
        }
        self
    }

    /// The row between `earlier` totals and these: counters as differences, levels as they are now.
    #[must_use]
    pub fn since(self, earlier: &Self) -> Self {
        self.map(|column, value| match column.kind {
            ColumnKind::Counter => value - (column.get)(earlier),
            ColumnKind::Level => value,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_holds_differences_of_counters_and_levels_as_they_are() {
        let earlier = TelemetryRow::default().map(|_, _| 3);
        let row = TelemetryRow::default().map(|_, _| 10).since(&earlier);
        for column in TelemetryRow::COLUMNS {
            let expected = if column.kind == ColumnKind::Counter { 7 } else { 10 };
            assert_eq!((column.get)(&row), expected, "{}", column.name);
        }
        let levels = TelemetryRow::COLUMNS.iter().filter(|c| c.kind == ColumnKind::Level);
        let levels: Vec<_> = levels.map(|column| column.name).collect();
        assert_eq!(levels, ["free_superblocks", "buffer_pages", "pslc_pages", "temperature_mk"]);
    }

    #[test]
    fn each_column_is_a_field_of_its_own() {
        let mut row = TelemetryRow::default();
        for (column, value) in TelemetryRow::COLUMNS.iter().zip(1..) {
            (column.set)(&mut row, value);
        }
        assert!(row.values().eq(1..=TelemetryRow::COLUMNS.len() as u64));
    }
}
