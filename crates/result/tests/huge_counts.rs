//! Parquet files of a run directory with huge counts: refused by name, and without the memory that
//! they ask for.

#[path = "all/common.rs"]
mod common;

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use common::{add_phase, load_rows, run_named, without_checksums};
use parquet::file::metadata::{
    ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use result::compare::{Question, compare};
use result::report::build;
use result::schema::RunStatus;
use result::store::{LATENCY_FILE, RUN_FILE, RunDir, RunWriter, SERIES_FILE};
use rustix::process::{Resource, Rlimit, setrlimit};

/// Enough for the program and for a sound run.
const ADDRESS_SPACE_BYTES: u64 = 2 << 30;

/// A complete run without checksums, which would stop every change at the door.
fn write_run(library: &Path) -> PathBuf {
    let mut run = run_named("r");
    let mut writer = RunWriter::create(library, &run).unwrap();
    add_phase(&mut writer, &mut run, "load", &load_rows(5, 2));
    run.status = RunStatus::Complete;
    run.metrics.insert("iops_mean".to_owned(), Some(131.5));
    writer.finish(&run).unwrap();
    let path = writer.path().join(RUN_FILE);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, without_checksums(&text)).unwrap();
    writer.path().to_owned()
}

/// The place of the description, which ends with its length and `PAR1`.
fn footer_at(whole: &[u8]) -> usize {
    let end = whole.len() - 8;
    end - u32::from_le_bytes(whole[end..end + 4].try_into().unwrap()) as usize
}

/// Writes another description behind the data of a file.
fn describe(path: &Path, change: impl FnOnce(ParquetMetaData) -> ParquetMetaData) {
    let metadata = SerializedFileReader::new(File::open(path).unwrap()).unwrap().metadata().clone();
    let whole = fs::read(path).unwrap();
    let mut changed = whole[..footer_at(&whole)].to_vec();
    let metadata = change(metadata);
    ParquetMetaDataWriter::new(&mut changed, &metadata).finish().unwrap();
    fs::write(path, changed).unwrap();
}

/// The description with other row groups.
fn groups(
    metadata: ParquetMetaData,
    change: impl Fn(RowGroupMetaData) -> RowGroupMetaData,
) -> ParquetMetaData {
    let changed = metadata.row_groups().iter().cloned().map(change).collect();
    metadata.into_builder().set_row_groups(changed).build()
}

fn columns(
    group: RowGroupMetaData,
    change: impl Fn(ColumnChunkMetaData) -> ColumnChunkMetaData,
) -> RowGroupMetaData {
    let changed = group.columns().iter().cloned().map(change).collect();
    group.into_builder().set_column_metadata(changed).build().unwrap()
}

/// The refusals of every reader: rows, check, page.
fn refusals(dir: &Path) -> Vec<String> {
    let dir = RunDir::open(dir).unwrap();
    let told = [
        dir.rows(0).err().map(|error| error.to_string()),
        dir.check().err().map(|error| error.to_string()),
        build("title", std::slice::from_ref(&dir)).err().map(|error| error.to_string()),
    ];
    // A comparison reads no rows.
    compare(&[dir.run()], &[dir.run()], &Question::default()).unwrap();
    told.into_iter().map(|error| error.expect("a refusal")).collect()
}

/// One test, because the limit holds for the whole program.
#[test]
fn huge_counts_are_refused_within_bounded_memory() {
    let limit = Rlimit { current: Some(ADDRESS_SPACE_BYTES), maximum: Some(ADDRESS_SPACE_BYTES) };
    setrlimit(Resource::As, limit).unwrap();
    let refused = |file: &str, what: &str, change: &dyn Fn(&Path)| {
        let library = tempfile::tempdir().unwrap();
        let dir = write_run(library.path());
        RunDir::open(&dir).unwrap().check().unwrap();
        change(&dir.join(file));
        for told in refusals(&dir) {
            assert!(told.contains(file) && told.contains(what), "{file}, {what}: {told}");
        }
    };
    for file in [SERIES_FILE, LATENCY_FILE] {
        for rows in [i64::MAX, i64::MIN, -1, 1 << 40] {
            refused(file, "rows, in a file of", &|path| {
                describe(path, |metadata| {
                    groups(metadata, |group| {
                        group.into_builder().set_num_rows(rows).build().unwrap()
                    })
                });
            });
        }
        // An empty part makes the file as long as its rows.
        refused(file, "no run has more than", &|path| {
            let rows = 1_i64 << 33;
            describe(path, |metadata| {
                groups(metadata, |group| group.into_builder().set_num_rows(rows).build().unwrap())
            });
            let changed = fs::read(path).unwrap();
            let (_, footer) = changed.split_at(footer_at(&changed));
            let file = OpenOptions::new().write(true).open(path).unwrap();
            file.write_all_at(footer, rows as u64).unwrap();
        });
        // Few more rows than there are, so that only the data can tell.
        refused(file, "values", &|path| {
            describe(path, |metadata| {
                groups(metadata, |group| {
                    let rows = group.num_rows();
                    group.into_builder().set_num_rows(rows + 3).build().unwrap()
                })
            });
        });
        for place in [i64::MAX, i64::MIN, -1, 1 << 40] {
            let at_place = |column: ColumnChunkMetaData| {
                let builder = column.into_builder().set_dictionary_page_offset(None);
                builder.set_data_page_offset(place).build().unwrap()
            };
            // The writer adds the lengths of all columns.
            let length = place.clamp(-(1 << 50), 1 << 50);
            let of_length = |column: ColumnChunkMetaData| {
                column.into_builder().set_total_compressed_size(length).build().unwrap()
            };
            refused(file, "lies outside the file", &|path| {
                describe(path, |metadata| groups(metadata, |group| columns(group, at_place)));
            });
            refused(file, "lies outside the file", &|path| {
                describe(path, |metadata| groups(metadata, |group| columns(group, of_length)));
            });
        }
        refused(file, "no run has more than 33554432", &|path| {
            let whole = fs::read(path).unwrap();
            let file = OpenOptions::new().write(true).open(path).unwrap();
            let tail = [&0x7fff_ffff_u32.to_le_bytes(), b"PAR1".as_slice()].concat();
            // The description begins before the file, and in it, if an empty part makes it long.
            file.write_all_at(&tail, whole.len() as u64 - 8).unwrap();
        });
    }
}

/// The first page of each column claims the largest size: its header is a field of a few bytes.
#[test]
fn pages_that_claim_gigabytes_are_refused() {
    let library = tempfile::tempdir().unwrap();
    let dir = write_run(library.path());
    for file in [SERIES_FILE, LATENCY_FILE] {
        let path = dir.join(file);
        let whole = fs::read(&path).unwrap();
        let metadata = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        let mut refused = 0;
        for column in metadata.metadata().row_group(0).columns() {
            let (start, _) = column.byte_range();
            // Compact Thrift: kind, size and packed size as i32 of variable length in bytes 1, 3 and 5.
            for at in [3, 5] {
                let mut changed = whole.clone();
                let place = start as usize + at;
                changed.splice(place..=place, [0xfe, 0xff, 0xff, 0xff, 0x0f]);
                changed.drain(place + 5..place + 9);
                fs::write(&path, &changed).unwrap();
                refused += usize::from(RunDir::open(&dir).unwrap().check().is_err());
            }
        }
        fs::write(&path, &whole).unwrap();
        // Nobody reads the names of the phases.
        assert!(refused >= 10, "{file}: {refused}");
    }
}
