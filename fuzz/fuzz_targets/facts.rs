#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::Target::find("facts").expect("a target").run(data));
