//! The compiled part of the Python package `ssdlab`: drives, runs, results and traces as Python objects.
//!
//! It converts arguments, releases the GIL during long work, and turns errors into exceptions; the
//! Python files beside it in `python/ssdlab` are the public interface. Documents cross the border as JSON,
//! rows as NumPy arrays.
//!
//! Reading order: [`errors`], [`background`] (work that Ctrl-C can stop), [`device`] (a drive step
//! by step), [`runs`], [`results`].
#![allow(clippy::needless_pass_by_value, reason = "the interpreter passes every argument by value")]
#![allow(
    unsafe_code,
    reason = "the macros of PyO3 write the unsafe functions that the interpreter calls"
)]

mod background;
mod catalogue;
mod device;
mod errors;
mod fits;
mod policies;
mod results;
mod rows;
mod runs;
mod sweeps;
mod traces;

/// The maps of simulated drives are accessed at random; huge pages make that 10 to 20% faster.
#[global_allocator]
static ALLOCATOR: io::huge_pages::HugePages = io::huge_pages::HugePages;

/// The compiled part of `ssdlab`.
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use super::catalogue::{check_model, describe, devices, drives, metrics, tests};
    #[pymodule_export]
    use super::device::{Device, saved_drive};
    #[pymodule_export]
    use super::fits::{fit_model, fit_toml, write_amplification};
    #[pymodule_export]
    use super::policies::{Blocks, Level, Writes};
    #[pymodule_export]
    use super::results::{compare, list_runs, resolve_run, run_json};
    #[pymodule_export]
    use super::rows::{latency, series};
    #[pymodule_export]
    use super::runs::perform;
    #[pymodule_export]
    use super::sweeps::{Book, carry_out_task, free_memory_bytes, version};
    #[pymodule_export]
    use super::traces::{read_trace, write_trace};
}
