//! The fields of a message, taken one after the other.

/// The rest of a message; a field that it has not is `None`.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    fn number<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.number().map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.number().map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.number().map(u64::from_be_bytes)
    }

    pub(super) fn text(&mut self) -> Option<&'a [u8]> {
        let count = self.u32()?;
        self.bytes(count as usize)
    }

    pub(super) fn texts(&mut self) -> Option<Vec<&'a [u8]>> {
        let count = self.u32()?;
        (0..count).map(|_| self.text()).collect()
    }

    pub(super) fn kinds_of_info(&mut self) -> Option<Vec<u16>> {
        let count = self.u16()?;
        (0..count).map(|_| self.u16()).collect()
    }
}
