#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::Target::find("nvme").expect("a target").run(data));
