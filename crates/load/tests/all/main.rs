//! Tests of the crate through its public items, as one program: it is linked once.

mod fio_jobs;
mod patterns;
mod trace_formats;
mod trace_streams;
mod workload_files;
