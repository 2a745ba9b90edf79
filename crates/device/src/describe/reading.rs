//! Reading the contents of a device or file up to a known end.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A mark at a fixed place: name, offset, bytes.
pub(crate) type Mark = (&'static str, u64, &'static [u8]);

/// Reads exactly `len` bytes at an offset.
pub(crate) trait ReadAt {
    fn read_at(&self, offset_bytes: u64, len: usize) -> io::Result<Vec<u8>>;
}

impl ReadAt for File {
    fn read_at(&self, offset_bytes: u64, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        self.read_exact_at(&mut bytes, offset_bytes)?;
        Ok(bytes)
    }
}

/// A source that begins at an offset in another one, such as a partition on its disk.
pub(crate) struct Shifted<'a, D> {
    pub(crate) device: &'a D,
    pub(crate) start_bytes: u64,
}

impl<D: ReadAt> ReadAt for Shifted<'_, D> {
    fn read_at(&self, offset_bytes: u64, len: usize) -> io::Result<Vec<u8>> {
        self.device.read_at(self.start_bytes.saturating_add(offset_bytes), len)
    }
}

/// A device with a known end, so that marks beyond it are simply absent.
pub(crate) struct Bounded<'a, D> {
    pub(crate) device: &'a D,
    pub(crate) size_bytes: u64,
}

impl<D: ReadAt> Bounded<'_, D> {
    /// `len` bytes, or `None` if they are not wholly on the device.
    pub(crate) fn get(&self, offset_bytes: u64, len: usize) -> io::Result<Option<Vec<u8>>> {
        match offset_bytes.checked_add(len as u64) {
            Some(end) if end <= self.size_bytes => self.device.read_at(offset_bytes, len).map(Some),
            _ => Ok(None),
        }
    }

    pub(crate) fn has(&self, offset_bytes: u64, bytes: &[u8]) -> io::Result<bool> {
        Ok(self.get(offset_bytes, bytes.len())?.is_some_and(|found| found == bytes))
    }

    /// The first bytes, with zeros after the end.
    pub(crate) fn head<const LEN: usize>(&self) -> io::Result<[u8; LEN]> {
        let mut head = [0; LEN];
        let len = usize::try_from(self.size_bytes).unwrap_or(LEN).min(LEN);
        head[..len].copy_from_slice(&self.device.read_at(0, len)?);
        Ok(head)
    }
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|b| b.try_into().ok()).map_or(0, u16::from_le_bytes)
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
}

#[cfg(test)]
impl ReadAt for Vec<u8> {
    fn read_at(&self, offset_bytes: u64, len: usize) -> io::Result<Vec<u8>> {
        let start = usize::try_from(offset_bytes).map_err(io::Error::other)?;
        Ok(self[start..start + len].to_vec())
    }
}
