//! The bytes of a disk: in a sparse file, or in memory.
//!
//! A bitmap tells the pages that hold data. Their bytes lie in the file at the same offset; those of all others are
//! holes in it, and zero. The file is therefore an image of the disk at any moment, also after the end of the program.

mod memory;
mod store;

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};

use base::Bytes;
use rustix::fs::SeekFrom;
use rustix::io::Errno;
use thiserror::Error;

use crate::plan::Shape;
use crate::request::Extent;
use memory::Memory;
use store::Store;

/// Bytes that are copied at once.
const COPY_BYTES: u64 = 1 << 20;

/// An error of the file behind the contents of a disk.
#[derive(Debug, Error)]
pub enum ContentsError {
    /// The system refuses the file.
    #[error("the contents file `{}`: {source}", path.display())]
    File {
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The system gives no memory for the contents.
    #[error("the contents in memory: {0}")]
    Memory(io::Error),
    /// It is no regular file.
    #[error("the contents file `{}` is no regular file; give the path of one, or of none", .0.display())]
    NotRegular(PathBuf),
    /// Another program has it locked.
    #[error("the contents file `{}` is in use by another disk", .0.display())]
    InUse(PathBuf),
    /// It is the image of a disk of another size.
    #[error(
        "the contents file `{}` has {found} bytes, and the disk has {expected}; give a file of that size, an empty \
         one, or the path of none",
        path.display()
    )]
    Size {
        path: PathBuf,
        /// Its size in bytes.
        found: u64,
        /// Bytes of the disk.
        expected: u64,
    },
    /// It holds more data than permitted.
    #[error("the contents hold {}, and at most {} are permitted", Bytes(*.found).rounded(), Bytes(*.most).rounded())]
    Full {
        /// Bytes in pages with data.
        found: u64,
        /// The limit in bytes.
        most: u64,
    },
}

/// The bytes of a disk.
#[derive(Debug)]
pub struct Contents {
    store: Store,
    shape: Shape,
    /// One bit for each page that holds data.
    pages: Vec<u64>,
    count: u64,
    count_max: u64,
}

impl Contents {
    /// Contents in memory: all zero, at most `bytes_max` of data.
    ///
    /// # Errors
    /// [`ContentsError::Memory`].
    pub fn in_memory(shape: Shape, bytes_max: u64) -> Result<Self, ContentsError> {
        let pages = shape.capacity_bytes.div_ceil(shape.page_bytes);
        let memory = Memory::new(pages, shape.page_bytes).map_err(ContentsError::Memory)?;
        Ok(Self::new(Store::Memory(memory), shape, bytes_max))
    }

    /// Contents in an open file of this path, which is empty or holds the data of the disk. The caller has made sure
    /// that nobody else uses it. It is locked until the end.
    ///
    /// # Errors
    /// [`ContentsError`], and nothing has changed.
    pub fn in_file(
        file: File,
        path: &Path,
        shape: Shape,
        bytes_max: u64,
    ) -> Result<Self, ContentsError> {
        let fail = |source| ContentsError::File { path: path.to_owned(), source };
        if !file.metadata().map_err(fail)?.is_file() {
            return Err(ContentsError::NotRegular(path.to_owned()));
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(ContentsError::InUse(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(fail(error)),
        }
        let (found, expected) = (file.metadata().map_err(fail)?.len(), shape.capacity_bytes);
        if found != 0 && found != expected {
            return Err(ContentsError::Size { path: path.to_owned(), found, expected });
        }
        file.set_len(expected).map_err(fail)?;
        let parts = parts_with_data(&file, expected).map_err(fail)?;
        let mut contents = Self::new(Store::File(file), shape, bytes_max);
        parts.into_iter().for_each(|bytes| contents.mark(shape.pages_touched(&bytes)));
        let (found, most) = (contents.count * shape.page_bytes, bytes_max);
        if found > most {
            return Err(ContentsError::Full { found, most });
        }
        Ok(contents)
    }

    fn new(store: Store, shape: Shape, bytes_max: u64) -> Self {
        let pages = shape.capacity_bytes.div_ceil(shape.page_bytes);
        let words = pages.div_ceil(u64::from(u64::BITS));
        let count_max = bytes_max / shape.page_bytes;
        Self { store, shape, pages: vec![0; words as usize], count: 0, count_max }
    }

    /// The units of the disk.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Number of pages that hold data.
    pub fn pages(&self) -> u64 {
        self.count
    }

    /// Whether so many pages more may hold data.
    pub fn has_room(&self, pages: u64) -> bool {
        self.count + pages <= self.count_max
    }

    /// Whether so many pages in all may hold data.
    pub fn is_large_enough(&self, pages: u64) -> bool {
        pages <= self.count_max
    }

    /// Number of these pages that hold no data.
    pub fn holes_among(&self, pages: Range<u64>) -> u64 {
        pages.filter(|&page| !self.has(page)).count() as u64
    }

    /// Whether a page holds data; false for one outside the disk.
    pub fn has(&self, page: u64) -> bool {
        let (word, bit) = place(page);
        self.pages.get(word).is_some_and(|word| word & bit != 0)
    }

    fn mark(&mut self, pages: Range<u64>) {
        for page in pages {
            let (word, bit) = place(page);
            self.count += u64::from(self.pages[word] & bit == 0);
            self.pages[word] |= bit;
        }
    }

    /// The bytes from `offset` on.
    ///
    /// # Errors
    /// That of the file.
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.store.read(offset, bytes)
    }

    /// The bytes of these ranges, one behind the other.
    ///
    /// # Errors
    /// That of the file.
    pub fn gather(&self, ranges: &[Range<u64>]) -> io::Result<Vec<u8>> {
        let mut data = Vec::new();
        for range in ranges {
            let at = data.len();
            data.resize(at + (range.end - range.start) as usize, 0);
            self.read(range.start, &mut data[at..])?;
        }
        Ok(data)
    }

    /// Replaces the bytes from `offset` on.
    ///
    /// # Errors
    /// That of the file; then a part may be replaced.
    pub fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.mark(self.shape.pages_touched(&(offset..offset + bytes.len() as u64)));
        self.store.write(offset, bytes)
    }

    /// The bytes of a page, or `None` if it holds no data.
    ///
    /// # Errors
    /// That of the file.
    pub fn page(&self, page: u64) -> io::Result<Option<Box<[u8]>>> {
        if !self.has(page) {
            return Ok(None);
        }
        let offset = page * self.shape.page_bytes;
        let bytes = self.shape.page_bytes.min(self.shape.capacity_bytes - offset);
        let mut data = vec![0; bytes as usize].into_boxed_slice();
        self.read(offset, &mut data)?;
        Ok(Some(data))
    }

    /// Gives a page these bytes, or none.
    ///
    /// # Errors
    /// That of the file.
    pub fn set_page(&mut self, page: u64, data: Option<&[u8]>) -> io::Result<()> {
        match data {
            Some(data) => self.write(page * self.shape.page_bytes, data),
            None => self.forget(page..page + 1),
        }
    }

    /// A copy in memory.
    ///
    /// # Errors
    /// [`ContentsError::Memory`].
    pub fn copy(&self) -> Result<Self, ContentsError> {
        let mut copy = Self::in_memory(self.shape, self.count_max * self.shape.page_bytes)?;
        copy.take_over(self).map_err(ContentsError::Memory)?;
        Ok(copy)
    }

    /// Makes the bytes those of another disk of the same shape.
    ///
    /// # Errors
    /// That of the file; then the bytes are a mixture.
    pub fn take_over(&mut self, other: &Self) -> io::Result<()> {
        let all = 0..self.shape.capacity_bytes;
        self.forget(self.shape.pages_touched(&all))?;
        let mut offset = 0;
        for extent in other.extents(all, usize::MAX) {
            let end = offset + extent.bytes;
            while !extent.is_hole && offset < end {
                let mut bytes = vec![0; COPY_BYTES.min(end - offset) as usize];
                other.read(offset, &mut bytes)?;
                self.write(offset, &bytes)?;
                offset += bytes.len() as u64;
            }
            offset = end;
        }
        Ok(())
    }

    /// Makes bytes zero; the pages that they touch hold data.
    ///
    /// # Errors
    /// That of the file.
    pub fn zero(&mut self, bytes: Range<u64>) -> io::Result<()> {
        self.mark(self.shape.pages_touched(&bytes));
        self.store.punch(bytes)
    }

    /// Empties pages.
    ///
    /// # Errors
    /// That of the file.
    pub fn forget(&mut self, pages: Range<u64>) -> io::Result<()> {
        let mut page = pages.start;
        while page < pages.end {
            let end = self.run_end(page, pages.end);
            if self.has(page) {
                self.empty(page..end)?;
            }
            page = end;
        }
        Ok(())
    }

    /// Empties pages that all hold data.
    fn empty(&mut self, pages: Range<u64>) -> io::Result<()> {
        for page in pages.clone() {
            let (word, bit) = place(page);
            self.pages[word] &= !bit;
        }
        self.count -= pages.end - pages.start;
        let page_bytes = self.shape.page_bytes;
        let end = (pages.end * page_bytes).min(self.shape.capacity_bytes);
        self.store.punch(pages.start * page_bytes..end)
    }

    /// These bytes in extents, the first ones if there are more than `most`.
    pub fn extents(&self, bytes: Range<u64>, most: usize) -> Vec<Extent> {
        let page_bytes = self.shape.page_bytes;
        let pages = self.shape.pages_touched(&bytes);
        let mut extents = Vec::with_capacity(1);
        let mut page = pages.start;
        while page < pages.end && extents.len() < most {
            let end = self.run_end(page, pages.end);
            let (first, behind) = (page * page_bytes, end * page_bytes);
            let length = behind.min(bytes.end) - first.max(bytes.start);
            extents.push(Extent { bytes: length, is_hole: !self.has(page) });
            page = end;
        }
        extents
    }

    /// The end of the pages from `page` on that all hold data, or none.
    fn run_end(&self, page: u64, end: u64) -> u64 {
        let flip = if self.has(page) { u64::MAX } else { 0 };
        let mut at = page;
        while at < end {
            let others = (self.pages[place(at).0] ^ flip) >> (at % u64::from(u64::BITS));
            if others != 0 {
                return end.min(at + u64::from(others.trailing_zeros()));
            }
            at = (at + 1).next_multiple_of(u64::from(u64::BITS));
        }
        end
    }

    /// Makes the file durable on the disk of this machine.
    ///
    /// # Errors
    /// That of the file.
    pub fn sync(&self) -> io::Result<()> {
        self.store.sync()
    }
}

/// Word and bit of a page in the bitmap.
fn place(page: u64) -> (usize, u64) {
    ((page / u64::from(u64::BITS)) as usize, 1 << (page % u64::from(u64::BITS)))
}

/// The parts of an existing file that have data, up to a size of so many bytes.
fn parts_with_data(file: &File, bytes: u64) -> io::Result<Vec<Range<u64>>> {
    let (mut parts, mut from) = (Vec::new(), 0);
    while let Some(data) = seek(file, SeekFrom::Data(from))? {
        from = seek(file, SeekFrom::Hole(data))?.unwrap_or(bytes);
        parts.push(data..from);
    }
    Ok(parts)
}

/// The offset of the next data or hole, or `None` if there is none.
fn seek(file: &File, to: SeekFrom) -> io::Result<Option<u64>> {
    match rustix::fs::seek(file, to) {
        Ok(offset) => Ok(Some(offset)),
        Err(Errno::NXIO) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// Whether an error of the file is a lack of space.
pub fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape =
        Shape { block_bytes: 512, page_bytes: 4096, capacity_bytes: 1 << 20, deallocates: true };

    fn holes(contents: &Contents, bytes: Range<u64>) -> Vec<(u64, bool)> {
        contents.extents(bytes, 9).iter().map(|extent| (extent.bytes, extent.is_hole)).collect()
    }

    #[test]
    fn extents_tell_the_pages_with_data() {
        let mut contents = Contents::in_memory(SHAPE, 1 << 20).expect("memory");
        contents.write(4000, &[7; 200]).expect("memory");
        contents.write(16 << 10, &[7; 1]).expect("memory");
        let all = [(8192, false), (8192, true), (4096, false), ((1 << 20) - 20480, true)];
        assert_eq!(holes(&contents, 0..1 << 20), all);
        assert_eq!(holes(&contents, 8000..8200), [(192, false), (8, true)]);
        assert_eq!(contents.extents(0..1 << 20, 2).len(), 2);
        contents.forget(0..1).expect("memory");
        assert_eq!(holes(&contents, 0..8192), [(4096, true), (4096, false)]);
        assert_eq!((contents.pages(), contents.holes_among(0..9)), (2, 7));
        let mut bytes = [1; 200];
        contents.read(4000, &mut bytes).expect("memory");
        assert_eq!((bytes[..96].to_vec(), bytes[96..].to_vec()), (vec![0; 96], vec![7; 104]));
        contents.forget(0..256).expect("memory");
        assert_eq!((contents.pages(), holes(&contents, 0..1 << 20)), (0, vec![(1 << 20, true)]));
    }

    #[test]
    fn a_file_is_found_again_and_not_by_two() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("disk.img");
        let file = |path: &Path| {
            let mut options = File::options();
            options.read(true).write(true).create(true).truncate(false).open(path).expect("a file")
        };
        let open = |most| Contents::in_file(file(&path), &path, SHAPE, most);
        let mut contents = open(1 << 20).expect("a new file");
        contents.write(8192, &[3; 4096]).expect("space");
        assert!(matches!(open(1 << 20), Err(ContentsError::InUse(_))));
        drop(contents);
        let found = open(1 << 20).expect("the same file");
        assert!(found.has(2) && !found.has(3), "the extents of the file");
        drop(found);
        assert!(matches!(open(0), Err(ContentsError::Full { .. })));
        std::fs::write(&path, b"short").expect("a file");
        let slip = open(1 << 20).expect_err("it has another size").to_string();
        assert!(slip.contains("has 5 bytes, and the disk has 1048576"), "{slip}");
        let directory = File::open(dir.path()).expect("a directory");
        let slip = Contents::in_file(directory, dir.path(), SHAPE, 1);
        let slip = slip.expect_err("a directory").to_string();
        assert!(slip.contains("is no regular file"), "{slip}");
    }
}
