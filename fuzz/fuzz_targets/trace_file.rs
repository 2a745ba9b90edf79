#![no_main]

// The Parquet decoder panics on damage, and its panics are caught and told as damage. libFuzzer's hook would end the
// program at the first of them; without it, only one that nobody catches does.
libfuzzer_sys::fuzz_target!(
    init: std::panic::set_hook(Box::new(|_| {})),
    |data: &[u8]| fuzz::Target::find("trace_file").expect("a target").run(data)
);
