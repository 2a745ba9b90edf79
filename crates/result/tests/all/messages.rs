//! Every word of every error of the store.

use std::io;
use std::path::PathBuf;

use result::store::StoreError;

#[test]
fn every_error_of_the_store() {
    let path = || PathBuf::from("runs/a/run.json");
    let of_system = |number| io::Error::from_raw_os_error(number);
    let io = |action, number| StoreError::Io { action, path: path(), source: of_system(number) };
    let text = || "the reason".to_owned();
    let names = || ["20261121-a", "20261121-b"].map(str::to_owned).to_vec();
    let library = || PathBuf::from("runs");
    let errors = [
        io("read", errno::EIO),
        io("write", errno::ENOSPC),
        io("create", errno::EACCES),
        StoreError::RunExists { path: path() },
        StoreError::LibraryNotDirectory { path: library() },
        StoreError::NoSpace { library: library(), free_bytes: 1_000_000, needed_bytes: 6_194_304 },
        StoreError::NotARun { path: library() },
        StoreError::Json { path: path(), reason: text() },
        StoreError::VersionTooNew { path: path(), found: 7, supported: 1 },
        StoreError::Parquet { path: path(), reason: text() },
        StoreError::Contradiction { path: path(), what: text() },
        StoreError::FileChanged { path: path() },
        StoreError::RowsChanged { path: path(), what: text() },
        StoreError::RunChanged { path: path() },
        StoreError::Column { path: path(), column: "errors".to_owned(), reason: text() },
        StoreError::PhaseUnknown { phase: "load".to_owned(), known: "fill, idle".to_owned() },
        StoreError::ValueTooLarge { column: "errors", value: u64::MAX },
        StoreError::Encode { phase: "load".to_owned(), reason: text() },
        StoreError::NoSuchRun { name: "x".to_owned(), library: library(), near: Vec::new() },
        StoreError::NoSuchRun { name: "x".repeat(100), library: library(), near: names() },
        StoreError::AmbiguousRun { name: "2026".to_owned(), matches: names() },
    ];
    let lines: Vec<_> = errors.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

/// Numbers of errors on Linux.
mod errno {
    pub(crate) const EIO: i32 = 5;
    pub(crate) const EACCES: i32 = 13;
    pub(crate) const ENOSPC: i32 = 28;
}
