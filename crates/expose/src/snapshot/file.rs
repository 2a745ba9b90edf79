//! A snapshot in a file: drive, account, faults and data of a disk without outstanding requests.
//!
//! ```text
//! HEAD  JSON: of which drive, by which program (Header)
//! DISK  drive, data that a cut may bring back, faults, account, as postcard encodes them
//! PAGE  runs of pages with data: first page and number of pages, u64 each
//! DATA  the bytes of these pages, in the same order
//! ```
//!
//! A file is complete or not there: it is written under another name and renamed. The encoding follows the types of
//! the simulator, so that a file is read only by a program with the same simulator (its source has the same hash).
//! Checksums find damage. They are no signature: whoever writes a file with intent can make a drive that fails.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use base::Fnv;
use base::file::open_regular;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sim::Config;

use super::FileFault;
use super::sections::{Name, Section, Writer, sections};
use crate::contents::Contents;
use crate::disk::{Disk, State, StateRef};
use crate::plan::Shape;

const NAMES: [Name; 4] = [*b"HEAD", *b"DISK", *b"PAGE", *b"DATA"];
/// Most bytes of a header.
const HEADER_BYTES_MAX: u64 = 64 << 10;
/// Bytes of all names of marks in an account.
const WORDS_BYTES: usize = 64 << 10;
/// Bytes of data that are copied at once.
const COPY_BYTES: u64 = 1 << 20;
/// Bytes of a run of pages in the file.
const RUN_BYTES: u64 = 16;

/// The simulator of this program: a hash of its source.
pub(super) const SIMULATOR: &str = env!("SSDLAB_SIMULATOR");

/// The account that a state file gives of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Version of the program that wrote it.
    pub ssdlab: String,
    /// Hash of the source of its simulator.
    pub simulator: String,
    /// Name of the drive, with the settings that make it another one than its model.
    pub drive: String,
    /// Hash of the resolved model.
    pub config: String,
    /// Size of the disk.
    pub capacity_bytes: u64,
    /// Time of the drive.
    pub simulated_ns: u64,
    /// Data in it.
    pub data_bytes: u64,
}

impl Header {
    fn of<T>(disk: &Disk<T>, drive: &str) -> Self {
        let shape = disk.shape();
        Self {
            ssdlab: env!("CARGO_PKG_VERSION").to_owned(),
            simulator: SIMULATOR.to_owned(),
            drive: drive.to_owned(),
            config: hash(disk.drive().config()),
            capacity_bytes: shape.capacity_bytes,
            simulated_ns: disk.drive().now().0,
            data_bytes: disk.contents().pages() * shape.page_bytes,
        }
    }
}

/// A hash of a resolved model, seed included.
pub(super) fn hash(config: &Config) -> String {
    let mut hash = Fnv::EMPTY;
    hash.add(format!("{config:?}").bytes().map(u64::from));
    format!("{:016x}", hash.value())
}

/// Whether a file may take the place of one of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    /// There must be none.
    Nothing,
    /// It may be another state file.
    State,
}

impl Replace {
    /// Checks the place of a file before its content exists.
    ///
    /// # Errors
    /// [`FileFault::Exists`].
    pub fn check(self, path: &Path) -> Result<(), FileFault> {
        let is_free = path.symlink_metadata().is_err();
        let may_go = || self == Self::State && path.is_file() && header(path).is_ok();
        if is_free || may_go() { Ok(()) } else { Err(FileFault::Exists) }
    }
}

/// Writes the state of a disk, after the end of all outstanding requests.
///
/// # Errors
/// [`FileFault`]; then there is no new file, and a former one is as it was.
pub fn save<T>(
    disk: &mut Disk<T>,
    drive: &str,
    path: &Path,
    replace: Replace,
) -> Result<Header, FileFault> {
    replace.check(path)?;
    disk.drain();
    let header = Header::of(disk, drive);
    put(path, replace, |file| write(disk, &header, file))?;
    Ok(header)
}

/// Puts a file at its place when it is complete.
pub(super) fn put(
    path: &Path,
    replace: Replace,
    write: impl FnOnce(File) -> io::Result<File>,
) -> Result<(), FileFault> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let partial = tempfile::NamedTempFile::new_in(folder)?;
    write(partial.as_file().try_clone()?)?.sync_all()?;
    match replace {
        Replace::Nothing => partial.persist_noclobber(path),
        Replace::State => partial.persist(path),
    }
    .map_err(|error| error.error)?;
    Ok(File::open(folder)?.sync_all()?)
}

fn write<T>(disk: &Disk<T>, header: &Header, file: File) -> io::Result<File> {
    let [head, state, pages, data] = NAMES;
    let mut writer = Writer::new(file)?;
    writer.section(head, |out| Ok(serde_json::to_writer(out, header)?))?;
    writer.section(state, |out| {
        postcard::to_io(&StateRef::of(disk), out).map(drop).map_err(io::Error::other)
    })?;
    let runs = runs(disk.contents());
    writer.section(pages, |out| {
        runs.iter().try_for_each(|run| {
            out.write_all(&run.start.to_le_bytes())?;
            out.write_all(&(run.end - run.start).to_le_bytes())
        })
    })?;
    writer.section(data, |out| {
        let shape = disk.shape();
        runs.iter().flat_map(|run| pieces(shape, run)).try_for_each(|piece| {
            let mut bytes = vec![0; (piece.end - piece.start) as usize];
            disk.contents().read(piece.start, &mut bytes)?;
            out.write_all(&bytes)
        })
    })?;
    writer.end()
}

/// Runs of pages with data.
fn runs(contents: &Contents) -> Vec<Range<u64>> {
    let shape = contents.shape();
    let mut offset = 0;
    let extents = contents.extents(0..shape.capacity_bytes, usize::MAX).into_iter();
    extents
        .filter_map(|extent| {
            let bytes = offset..offset + extent.bytes;
            offset = bytes.end;
            (!extent.is_hole).then(|| shape.pages_touched(&bytes))
        })
        .collect()
}

/// The bytes of a run of pages, in pieces.
fn pieces(shape: &Shape, run: &Range<u64>) -> impl Iterator<Item = Range<u64>> + use<> {
    let bytes = bytes_of(shape, run);
    let end = bytes.end;
    bytes.step_by(COPY_BYTES as usize).map(move |start| start..(start + COPY_BYTES).min(end))
}

/// The bytes of a run of pages; the last page of a disk may be a part of one.
fn bytes_of(shape: &Shape, run: &Range<u64>) -> Range<u64> {
    run.start * shape.page_bytes..(run.end * shape.page_bytes).min(shape.capacity_bytes)
}

/// Reads the header of a state file, whose checksums are all right.
///
/// # Errors
/// [`FileFault`].
pub fn header(path: &Path) -> Result<Header, FileFault> {
    let file = open_regular(path)?;
    let [head, ..] = sections(&file, NAMES)?;
    read_header(&file, head)
}

pub(super) fn read_header<H: DeserializeOwned>(file: &File, head: Section) -> Result<H, FileFault> {
    if head.bytes > HEADER_BYTES_MAX {
        return Err(FileFault::Damaged("its header"));
    }
    serde_json::from_reader(head.open(file)?).map_err(|_| FileFault::Damaged("its header"))
}

/// A state from a file, for a drive of this model; the data is still in the file.
#[derive(Debug)]
pub struct SavedState {
    header: Header,
    file: File,
    runs: Vec<Range<u64>>,
    data: Section,
    shape: Shape,
    /// The state, until a disk has taken it.
    state: State,
}

impl SavedState {
    /// Reads a state file, all of whose parts are checked.
    ///
    /// # Errors
    /// [`FileFault`].
    pub fn read(path: &Path, config: &Config) -> Result<Self, FileFault> {
        let file = open_regular(path)?;
        let [head, disk, pages, data] = sections(&file, NAMES)?;
        let header: Header = read_header(&file, head)?;
        if header.simulator != SIMULATOR {
            return Err(FileFault::Simulator { program: header.ssdlab });
        }
        if header.config != hash(config) {
            return Err(FileFault::OtherDrive { found: header.drive });
        }
        let shape = Shape::of(config);
        let runs = read_runs(&file, pages, data, &shape)?;
        let state = read_state(disk.open(&file)?, config)?;
        Ok(Self { header, file, runs, data, shape, state })
    }

    /// The account that the file gives of itself.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Number of pages with data.
    fn pages(&self) -> u64 {
        self.runs.iter().map(|run| run.end - run.start).sum()
    }

    /// Gives the data to contents, which have none.
    fn pour(&self, contents: &mut Contents) -> io::Result<()> {
        self.each_piece(|start, bytes| contents.write(start, bytes).map(|()| true)).map(drop)
    }

    /// Whether contents have these data and no others.
    fn agrees(&self, contents: &Contents) -> io::Result<bool> {
        if runs(contents) != self.runs {
            return Ok(false);
        }
        self.each_piece(|start, bytes| {
            let mut found = vec![0; bytes.len()];
            contents.read(start, &mut found)?;
            Ok(found == bytes)
        })
    }

    /// Gives each piece of the data with its place on the disk to `take`, until that returns false.
    fn each_piece(&self, mut take: impl FnMut(u64, &[u8]) -> io::Result<bool>) -> io::Result<bool> {
        let mut position = self.data.start;
        for piece in self.runs.iter().flat_map(|run| pieces(&self.shape, run)) {
            let mut bytes = vec![0; (piece.end - piece.start) as usize];
            self.file.read_exact_at(&mut bytes, position)?;
            position += bytes.len() as u64;
            if !take(piece.start, &bytes)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A disk with this state. Contents with data must have that of the state.
    ///
    /// # Errors
    /// [`FileFault::OtherContents`], and [`FileFault::Full`] if the data has no room.
    pub fn into_disk<T>(self, mut contents: Contents) -> Result<Disk<T>, FileFault> {
        if contents.pages() == 0 {
            self.check_room(&contents)?;
            self.pour(&mut contents)?;
        } else if !self.agrees(&contents)? {
            return Err(FileFault::OtherContents);
        }
        Ok(Disk::with(self.state, contents))
    }

    fn check_room(&self, contents: &Contents) -> Result<(), FileFault> {
        if contents.is_large_enough(self.pages()) { Ok(()) } else { Err(FileFault::Full) }
    }

    /// Gives a disk this state, after the end of all outstanding requests. The account of requests and work goes on.
    ///
    /// # Errors
    /// [`FileFault::Full`], and nothing has changed; those of the files behind it or the contents, and the data of the
    /// disk is a mixture.
    pub fn restore<T>(self, disk: &mut Disk<T>) -> Result<(), FileFault> {
        disk.drain();
        self.check_room(disk.contents())?;
        disk.empty_contents()?;
        self.pour(disk.contents_mut())?;
        disk.go_on_from(self.state);
        Ok(())
    }
}

/// The runs of pages, which are within the disk, in order, and as long as the data.
fn read_runs(
    file: &File,
    pages: Section,
    data: Section,
    shape: &Shape,
) -> Result<Vec<Range<u64>>, FileFault> {
    const FAULT: FileFault = FileFault::Damaged("the list of its pages");
    let disk_pages = shape.capacity_bytes.div_ceil(shape.page_bytes);
    let mut input = BufReader::new(pages.open(file)?);
    let (mut runs, mut last, mut bytes) = (Vec::new(), 0, 0);
    while !input.fill_buf()?.is_empty() {
        let mut run = [0; RUN_BYTES as usize];
        input.read_exact(&mut run).map_err(|_| FAULT)?;
        let (start, length) = run.split_at(RUN_BYTES as usize / 2);
        let number = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes).map_err(|_| FAULT);
        let (start, length) = (number(start)?, number(length)?);
        let end = start.checked_add(length).filter(|&end| end <= disk_pages && length > 0);
        let run = start..end.filter(|_| start >= last).ok_or(FAULT)?;
        let of_run = bytes_of(shape, &run);
        bytes += of_run.end - of_run.start;
        last = run.end;
        runs.push(run);
    }
    if bytes == data.bytes { Ok(runs) } else { Err(FAULT) }
}

/// The state of the disk, which is one of this drive.
fn read_state(input: impl Read, config: &Config) -> Result<State, FileFault> {
    const FAULT: FileFault = FileFault::Damaged("its state of the drive");
    let mut words = vec![0; WORDS_BYTES];
    let (state, (mut input, _)): (State, _) =
        postcard::from_io((input, &mut words)).map_err(|_| FAULT)?;
    let is_whole = input.read(&mut [0])? == 0;
    if is_whole && state.is_sound(config) { Ok(state) } else { Err(FAULT) }
}
