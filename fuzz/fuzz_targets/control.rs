#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::Target::find("control")
    .expect("a target")
    .run(data));
