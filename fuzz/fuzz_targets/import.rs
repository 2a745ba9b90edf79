#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::Target::find("import")
    .expect("a target")
    .run(data));
