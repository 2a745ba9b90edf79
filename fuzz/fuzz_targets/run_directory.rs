#![no_main]

// As in `trace_file`: panics of the Parquet decoder that are caught are no findings.
libfuzzer_sys::fuzz_target!(
    init: std::panic::set_hook(Box::new(|_| {})),
    |data: &[u8]| fuzz::Target::find("run_directory").expect("a target").run(data)
);
