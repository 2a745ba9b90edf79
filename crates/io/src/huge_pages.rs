//! A global allocator that asks for huge pages where they pay.
//!
//! The maps of a simulated drive are accessed at random: with 4 KiB pages every access also misses the
//! TLB. Kernels in `madvise` mode give huge pages only on request, and the simulator itself is
//! free of `unsafe`; a program that wants speed says
//! `#[global_allocator] static ALLOCATOR: io::huge_pages::HugePages = io::huge_pages::HugePages;`.

#![expect(unsafe_code, reason = "an allocator cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::OnceLock;

use rustix::mm::{Advice, madvise};

/// Size of a huge page on x86-64 and most of arm64.
const HUGE_PAGE_BYTES: usize = 2 << 20;
/// Smaller allocations are left alone.
const LARGE_BYTES: usize = 2 * HUGE_PAGE_BYTES;

/// The function that ends the program if the system has no memory left.
static ON_EXHAUSTED: OnceLock<fn(usize) -> !> = OnceLock::new();

/// From now on an allocation that fails ends the program through `end`, which gets the number of
/// bytes requested and must allocate nothing. Without `end`, the standard library aborts the
/// program. Only the first call counts.
pub fn on_exhausted(end: fn(usize) -> !) {
    // The first destructor of a thread takes memory of the C library, which aborts the program if there is none: now,
    // and not when `end` prints.
    thread_local!(static FIRST: Vec<u8> = const { Vec::new() });
    FIRST.with(|_| ());
    let _ = ON_EXHAUSTED.set(end);
}

/// The system's allocator, with huge pages for allocations of 4 MiB and more.
#[derive(Debug)]
pub struct HugePages;

/// Large allocations start at a huge page; others are unchanged.
fn adjusted(layout: Layout) -> Layout {
    if layout.size() < LARGE_BYTES {
        return layout;
    }
    layout.align_to(HUGE_PAGE_BYTES).unwrap_or(layout)
}

// SAFETY: every call is passed to the system's allocator with a layout that is a pure function of
// the caller's, so allocation and release always agree; the advice changes no content.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let layout = adjusted(layout);
        // SAFETY: the caller upholds the contract of `alloc`; a stricter alignment keeps it.
        let memory = unsafe { System.alloc(layout) };
        if memory.is_null()
            && let Some(end) = ON_EXHAUSTED.get()
        {
            end(layout.size());
        }
        if layout.size() >= LARGE_BYTES && !memory.is_null() {
            // SAFETY: the range was just allocated and is ours. Where the kernel has no huge pages,
            // small ones do as well, so the result does not matter.
            let _ = unsafe { madvise(memory.cast(), layout.size(), Advice::LinuxHugepage) };
        }
        memory
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: `memory` came from `alloc` with the same layout, adjusted in the same way.
        unsafe { System.dealloc(memory, adjusted(layout)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_memory_is_aligned_usable_and_returned() {
        for size in [64, LARGE_BYTES, LARGE_BYTES + 4096] {
            let layout = Layout::from_size_align(size, 8).unwrap();
            // SAFETY: the layout is not empty, and the memory is released with the same layout.
            unsafe {
                let memory = HugePages.alloc(layout);
                assert!(!memory.is_null());
                assert!(size < LARGE_BYTES || memory.addr().is_multiple_of(HUGE_PAGE_BYTES));
                memory.write_bytes(7, size);
                assert_eq!(*memory.add(size - 1), 7);
                HugePages.dealloc(memory, layout);
            }
        }
    }
}
