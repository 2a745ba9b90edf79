//! Memory for transfers: aligned for `O_DIRECT`, allocated once, filled with data of a known kind.
//!
//! Every command slot owns two areas, one for reads and one for writes. In a single area a read
//! would overwrite the random bytes of the slot with the data of the drive (often zeros), and the
//! next "incompressible" write would not be incompressible.
//!
//! Random bytes are generated once per slot; each write then only stamps every 512-byte sector
//! with its address and a generation number. That is 16 bytes a sector instead of 512, and still
//! no two sectors ever written are equal, so neither compression nor deduplication shrinks them.

#![expect(unsafe_code, reason = "the transfer memory is shared with the kernel")]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use base::mix::{mix, unmix};
use base::{Bytes, Data, Rng, verifiable};
use target::TargetError;

/// Alignment of every transfer area: enough for `O_DIRECT` on any device with blocks to 4,096 bytes.
pub const AREA_ALIGN_BYTES: usize = 4096;

/// Largest size of one registered buffer of `io_uring`.
const ARENA_BYTES_MAX: usize = 1 << 30;

/// Arenas from this size on are aligned to, and backed by, huge pages if the kernel has them.
const HUGE_PAGE_BYTES: usize = 2 << 20;

const SECTOR_BYTES: usize = 512;
const COMPRESSION_BLOCK_BYTES: usize = 4096;
const REPEATING_BYTE: u8 = 0x5a;

/// Zeroed memory with a chosen alignment, freed on drop.
#[derive(Debug)]
pub struct AlignedBuffer {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the buffer owns its memory exclusively, like `Box<[u8]>`; nothing is tied to a thread.
unsafe impl Send for AlignedBuffer {}

impl AlignedBuffer {
    /// Allocates `len_bytes` zeroed bytes at a multiple of `align_bytes` (a power of two).
    ///
    /// # Errors
    /// [`TargetError::Unsupported`] if the memory is not available; [`TargetError::Usage`] for a size of
    /// zero or an impossible alignment.
    pub fn new(len_bytes: usize, align_bytes: usize) -> Result<Self, TargetError> {
        let layout = Layout::from_size_align(len_bytes, align_bytes)
            .ok()
            .filter(|layout| layout.size() > 0)
            .ok_or_else(|| {
                TargetError::Usage(format!(
                    "a transfer buffer of {len_bytes} bytes aligned to {align_bytes} is impossible; \
                     expected a size above zero and a power of two"
                ))
            })?;
        // SAFETY: the layout has a size above zero, checked above.
        let start = unsafe { alloc_zeroed(layout) };
        let start = NonNull::new(start).ok_or_else(|| {
            TargetError::Unsupported(format!(
                "cannot allocate {len_bytes} bytes of transfer memory"
            ))
        })?;
        Ok(Self { start, layout })
    }

    /// Size in bytes.
    pub fn len_bytes(&self) -> usize {
        self.layout.size()
    }

    /// The first byte, for handing to the kernel.
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// All bytes, for code that shares the buffer with nobody.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: start and size come from one allocation, zeroed (hence initialised) and owned
        // by self, which is borrowed exclusively for the life of the slice.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.layout.size()) }
    }
}

impl Drop for AlignedBuffer {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with exactly this layout, freed only here.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

/// Content of the write area of a slot: the kind, and the number of bytes present.
#[derive(Clone, Copy, Debug)]
struct Fill {
    data: Data,
    filled_bytes: usize,
}

/// The transfer areas of all command slots in one arena.
#[derive(Debug)]
pub struct BufferPool {
    arena: AlignedBuffer,
    area_bytes: usize,
    fills: Vec<Fill>,
    generation: u64,
    rng: Rng,
    /// The seed of verifiable data, or `None` if they are not wanted.
    verifiable_seed: Option<u64>,
}

impl BufferPool {
    /// Two areas of `area_bytes` (rounded up to [`AREA_ALIGN_BYTES`]) for each of `slots`
    /// commands. With `prefill`, all write areas are filled with random bytes of `seed` now, so
    /// that the first writes cost no more than the later ones.
    ///
    /// # Errors
    /// [`TargetError::Usage`] if the arena would be empty or above 1 GiB.
    pub fn new(slots: u32, area_bytes: u32, seed: u64, prefill: bool) -> Result<Self, TargetError> {
        let area = (area_bytes as usize).next_multiple_of(AREA_ALIGN_BYTES);
        let total = area.saturating_mul(2).saturating_mul(slots as usize);
        if total == 0 {
            return Err(TargetError::Usage(format!(
                "queue depth {slots} with transfers of {} leaves nothing to transfer; expected at least 1 of each",
                Bytes(u64::from(area_bytes)),
            )));
        }
        if total > ARENA_BYTES_MAX {
            return Err(TargetError::Usage(format!(
                "queue depth {slots} with transfers of {} needs {total} bytes of buffers; expected \
                 at most {}: use a smaller queue depth or transfer size",
                Bytes(u64::from(area_bytes)),
                Bytes(ARENA_BYTES_MAX as u64),
            )));
        }
        let fills = vec![Fill { data: Data::Incompressible, filled_bytes: 0 }; slots as usize];
        let rng = Rng::split(seed, "write-data");
        let mut pool = Self {
            arena: arena(total)?,
            area_bytes: area,
            fills,
            generation: 0,
            rng,
            verifiable_seed: None,
        };
        if prefill {
            for slot in 0..slots {
                pool.fill(slot, Data::Incompressible, area);
            }
        }
        Ok(pool)
    }

    /// From now on every write has data of [`base::verifiable`], for any requested kind; the
    /// generation counts the write commands from 1.
    pub(crate) fn make_verifiable(&mut self, seed: u64) {
        self.verifiable_seed = Some(seed);
    }

    /// The whole arena: first byte and size, for registration with the kernel.
    pub fn arena(&self) -> (*mut u8, usize) {
        (self.arena.as_ptr(), self.arena.len_bytes())
    }

    /// Number of transfer areas.
    pub(crate) fn areas(&self) -> u32 {
        // Slots are counted in 32 bits, and the arena is held to 1 GiB.
        2 * self.fills.len() as u32
    }

    /// The area for reads of `slot`, counted in areas from the start of the arena.
    #[inline]
    pub(crate) const fn read_area_number(slot: u32) -> u32 {
        slot * 2
    }

    /// The area for writes of `slot`, counted in areas from the start of the arena.
    #[inline]
    pub(crate) const fn write_area_number(slot: u32) -> u32 {
        slot * 2 + 1
    }

    /// Bytes in one transfer area.
    pub fn area_bytes(&self) -> usize {
        self.area_bytes
    }

    /// The area for reads of `slot`.
    ///
    /// # Panics
    /// If `slot` is not below the number of slots.
    #[inline]
    pub fn read_area(&self, slot: u32) -> *mut u8 {
        self.area(slot, Self::read_area_number(slot))
    }

    /// The area for writes of `slot`, as filled by [`BufferPool::prepare_write`].
    ///
    /// # Panics
    /// If `slot` is not below the number of slots.
    #[inline]
    pub(crate) fn write_area(&self, slot: u32) -> *const u8 {
        self.area(slot, Self::write_area_number(slot))
    }

    /// The first `len_bytes` of the data last read into `slot`.
    ///
    /// # Panics
    /// If `slot` or `len_bytes` is out of range. Takes `&mut self` because the kernel may be
    /// writing there unless the owner of the pool knows the slot to be idle.
    pub(crate) fn read_bytes(&mut self, slot: u32, len_bytes: usize) -> &mut [u8] {
        assert!(len_bytes <= self.area_bytes, "more than a transfer area was asked for");
        let start = self.read_area(slot);
        // SAFETY: `read_area` points at `area_bytes` initialised bytes of the arena, of which
        // `len_bytes` are asked for; the engines call this for idle slots only, so the kernel
        // holds no claim on them, and self is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(start, len_bytes) }
    }

    /// Makes the write area of `slot` hold `len_bytes` of `data` for `offset_bytes` on the
    /// target, and returns it. The slot must be idle.
    ///
    /// # Panics
    /// If `slot` or `len_bytes` is out of range.
    #[inline]
    pub fn prepare_write(
        &mut self,
        slot: u32,
        data: Data,
        offset_bytes: u64,
        len_bytes: usize,
    ) -> &[u8] {
        if let Some(seed) = self.verifiable_seed {
            return self.verifiable(seed, slot, offset_bytes, len_bytes);
        }
        let fill = self.fills[slot as usize];
        if fill.data != data || fill.filled_bytes < len_bytes {
            self.fill(slot, data, len_bytes);
        }
        self.generation += 1;
        let generation = self.generation;
        let area = self.write_bytes(slot, len_bytes);
        stamp(area, random_bytes_per_block(data), offset_bytes, generation);
        area
    }

    #[cold]
    fn verifiable(&mut self, seed: u64, slot: u32, offset_bytes: u64, len_bytes: usize) -> &[u8] {
        self.generation += 1;
        let generation = self.generation;
        let area = self.write_bytes(slot, len_bytes);
        verifiable::fill(area, seed, offset_bytes, generation);
        area
    }

    #[inline]
    fn area(&self, slot: u32, number: u32) -> *mut u8 {
        assert!((slot as usize) < self.fills.len(), "slot {slot} is not in the pool");
        let start = number as usize * self.area_bytes;
        // SAFETY: the arena holds two areas for each slot and slot was checked, so the offset
        // stays inside the one allocation.
        unsafe { self.arena.as_ptr().add(start) }
    }

    #[inline]
    fn write_bytes(&mut self, slot: u32, len_bytes: usize) -> &mut [u8] {
        assert!(len_bytes <= self.area_bytes, "more than a transfer area was asked for");
        let start = self.area(slot, Self::write_area_number(slot));
        // SAFETY: `area` points at `area_bytes` initialised bytes of the arena, of which
        // `len_bytes` are asked for; the slot is idle (contract of `prepare_write`), so the
        // kernel is not reading them, and self is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(start, len_bytes) }
    }

    /// The slow path: new content for a slot.
    #[cold]
    fn fill(&mut self, slot: u32, data: Data, len_bytes: usize) {
        let mut rng = self.rng.clone();
        fill_with(self.write_bytes(slot, len_bytes), data, &mut rng);
        self.rng = rng;
        self.fills[slot as usize] = Fill { data, filled_bytes: len_bytes };
    }
}

/// Huge pages save TLB misses here and let the kernel merge the pages of a registered buffer.
fn arena(total_bytes: usize) -> Result<AlignedBuffer, TargetError> {
    if total_bytes < HUGE_PAGE_BYTES {
        return AlignedBuffer::new(total_bytes, AREA_ALIGN_BYTES);
    }
    AlignedBuffer::new(total_bytes, HUGE_PAGE_BYTES)
}

/// Number of random bytes at the start of each 4,096-byte block.
fn random_bytes_per_block(data: Data) -> usize {
    match data {
        Data::Incompressible => COMPRESSION_BLOCK_BYTES,
        Data::Repeating => 0,
        Data::Compressible { physical_percent } => {
            COMPRESSION_BLOCK_BYTES * usize::from(physical_percent.min(100)) / 100
        }
    }
}

fn fill_with(area: &mut [u8], data: Data, rng: &mut Rng) {
    let random_bytes = random_bytes_per_block(data);
    for block in area.chunks_mut(COMPRESSION_BLOCK_BYTES) {
        let (random, rest) = block.split_at_mut(random_bytes.min(block.len()));
        for word in random.chunks_mut(8) {
            word.copy_from_slice(&rng.next_u64().to_le_bytes()[..word.len()]);
        }
        rest.fill(REPEATING_BYTE);
    }
}

/// Stamps the random sectors. Both words are mixed, since plain counters would themselves compress.
#[inline]
fn stamp(area: &mut [u8], random_bytes: usize, offset_bytes: u64, generation: u64) {
    let mut position = 0;
    for sector in area.chunks_exact_mut(SECTOR_BYTES) {
        if position % COMPRESSION_BLOCK_BYTES + STAMP_BYTES <= random_bytes {
            let words = stamp_words(offset_bytes + position as u64, generation);
            sector[..8].copy_from_slice(&words[0].to_le_bytes());
            sector[8..STAMP_BYTES].copy_from_slice(&words[1].to_le_bytes());
        }
        position += SECTOR_BYTES;
    }
}

/// Bytes at the start of a sector that [`read_stamp`] understands.
pub const STAMP_BYTES: usize = 16;

const GENERATION_STEP: u64 = 0x9e37_79b9_7f4a_7c15;
#[inline]
fn stamp_words(offset_bytes: u64, generation: u64) -> [u64; 2] {
    let first = mix(offset_bytes.wrapping_add(generation.wrapping_mul(GENERATION_STEP)));
    [first, mix(first ^ generation)]
}

/// Reads the stamp of a sector: the byte offset it was written for and the generation, a number
/// that rises by one with each write command; or `None` if `sector` is shorter than a stamp. A
/// sector that was never stamped gives meaningless numbers.
pub fn read_stamp(sector: &[u8]) -> Option<(u64, u64)> {
    let (first, rest) = sector.split_first_chunk::<8>()?;
    let second = u64::from_le_bytes(*rest.first_chunk::<8>()?);
    let first = u64::from_le_bytes(*first);
    let generation = first ^ unmix(second);
    Some((unmix(first).wrapping_sub(generation.wrapping_mul(GENERATION_STEP)), generation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn areas_of(pool: &BufferPool, slot: u32) -> [usize; 2] {
        let numbers = [BufferPool::read_area_number(slot), BufferPool::write_area_number(slot)];
        numbers.map(|number| pool.area(slot, number) as usize)
    }

    #[test]
    fn areas_are_aligned_and_apart() {
        let pool = BufferPool::new(3, 5000, 1, false).unwrap();
        assert_eq!(pool.area_bytes(), 8192);
        let mut starts: Vec<usize> = (0..3).flat_map(|slot| areas_of(&pool, slot)).collect();
        starts.sort_unstable();
        assert!(starts.iter().all(|start| start % AREA_ALIGN_BYTES == 0));
        assert!(starts.windows(2).all(|pair| pair[1] - pair[0] == 8192));
    }

    #[test]
    fn no_sector_is_ever_written_twice() {
        let mut pool = BufferPool::new(2, 8192, 1, true).unwrap();
        let mut seen = HashSet::new();
        for round in 0..50 {
            for slot in 0..2 {
                let data = pool.prepare_write(slot, Data::Incompressible, 4096, 8192);
                for sector in data.chunks(512) {
                    assert!(seen.insert(sector.to_vec()), "round {round}");
                }
            }
        }
    }

    #[test]
    fn a_stamp_can_be_read_back() {
        let mut pool = BufferPool::new(1, 4096, 1, true).unwrap();
        pool.prepare_write(0, Data::Incompressible, 0, 512);
        let data = pool.prepare_write(0, Data::Incompressible, 1 << 40, 4096);
        assert_eq!(read_stamp(&data[512..]), Some(((1 << 40) + 512, 2)));
        assert_eq!(read_stamp(&data[..15]), None);
    }

    #[test]
    fn the_kind_of_data_is_what_was_asked_for() {
        let mut pool = BufferPool::new(1, 16384, 1, true).unwrap();
        let share_of_pattern = |data: &[u8]| {
            let count = data.iter().filter(|&&byte| byte == REPEATING_BYTE).count();
            count * 100 / data.len()
        };
        for (data, want) in [
            (Data::Repeating, 99..=100),
            (Data::Incompressible, 0..=1),
            (Data::Compressible { physical_percent: 50 }, 49..=51),
            (Data::Compressible { physical_percent: 10 }, 88..=91),
            (Data::Compressible { physical_percent: 255 }, 0..=1),
        ] {
            let share = share_of_pattern(pool.prepare_write(0, data, 0, 16384));
            assert!(want.contains(&share), "{data:?}: {share}");
        }
    }

    #[test]
    fn a_read_does_not_spoil_the_write_data() {
        let mut pool = BufferPool::new(1, 4096, 1, true).unwrap();
        let before = pool.prepare_write(0, Data::Incompressible, 0, 4096)[16..512].to_vec();
        pool.read_bytes(0, 4096).fill(0);
        assert_eq!(pool.prepare_write(0, Data::Incompressible, 0, 4096)[16..512], before);
    }

    #[test]
    fn too_much_memory_is_refused_with_the_way_out() {
        let error = BufferPool::new(4096, 1 << 20, 1, false).unwrap_err().to_string();
        assert!(error.contains("smaller queue depth"), "{error}");
        let error = BufferPool::new(0, 4096, 1, false).unwrap_err().to_string();
        assert_eq!(
            error,
            "queue depth 0 with transfers of 4KiB leaves nothing to transfer; expected at least 1 of each"
        );
    }
}
