//! The one `unsafe` helper of the simulator: a prefetch of a cache line.
//!
//! A map of 480 GB is half a gigabyte, so every random access misses all caches (67 to 97 ns). The
//! addresses are known tens of I/Os ahead; an early prefetch hides most of that time. It fills the
//! second-level cache: with the first level, the mapping without time takes a third longer
//! (`docs/evidence/benchmarks.md`).

/// Asks the CPU to load `slice[index]` soon. Out of range, or on other CPUs, it has no effect.
#[inline]
#[expect(unsafe_code, reason = "prefetch is an intrinsic without a safe form")]
pub fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        let line = slice.as_ptr().wrapping_add(index);
        // SAFETY: prefetch is a hint: no address faults, and nothing is read from it.
        unsafe { _mm_prefetch(line.cast::<i8>(), _MM_HINT_T1) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}
