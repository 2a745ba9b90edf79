//! A fingerprint of many numbers in one, for runs that must come out the same.

/// FNV-1a (Fowler, Noll and Vo), over whole words where its authors take bytes.
///
/// The fingerprint of the same words is the same for ever: seeds of old results and recorded
/// fingerprints depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fnv(u64);

impl Fnv {
    /// The fingerprint of nothing.
    pub const EMPTY: Self = Self(0xcbf2_9ce4_8422_2325);

    /// Takes in words, in order.
    #[inline]
    pub fn add(&mut self, words: impl IntoIterator<Item = u64>) {
        for word in words {
            self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// The fingerprint so far.
    #[inline]
    pub const fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Over bytes it is the published function; the value is that of its authors' test vectors.
    #[test]
    fn bytes_give_the_published_fingerprint() {
        let mut fnv = Fnv::EMPTY;
        fnv.add(b"foobar".map(u64::from));
        assert_eq!(fnv.value(), 0x8594_4171_f739_67e8);
    }
}
